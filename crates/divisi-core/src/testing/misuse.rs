//! Programs that must not compile: what the types alone forbid (M0.7).
//!
//! Each program is a function, in a file with others that begin alike. Above it stands the code of the error
//! that the compiler must report, in `// [..]`. The programs are compiled one by one, against the very
//! libraries that the calling test was built with; only the error's code is compared, which is the same in
//! every version of the compiler. One program, `right_use.rs`, does right what the others get wrong, and must
//! compile.

#![allow(clippy::panic, clippy::unwrap_used)]

use super::many;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file of the program that must compile.
const RIGHT_USE: &str = "right_use.rs";

/// The programs of a crate, and what is needed to compile them.
pub struct MisusePrograms<'a> {
    /// The folder of their files.
    pub files: &'a Path,
    /// The libraries that they use; the last one is that of the caller.
    pub libraries: &'a [&'a str],
    /// The folder for programs and for what the compiler writes: `CARGO_TARGET_TMPDIR`.
    pub folder: &'a Path,
    /// The path of cargo: `CARGO`.
    pub cargo: &'a Path,
}

/// The builds of a library beside this test, the latest first.
fn builds(of: &str) -> Vec<PathBuf> {
    let here = std::env::current_exe().unwrap_or_default();
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        name.starts_with(&format!("lib{of}-")) && name.ends_with(".rlib")
    };
    let dir = here.parent().and_then(|dir| fs::read_dir(dir).ok());
    let mut all: Vec<PathBuf> = dir.into_iter().flatten().flatten().map(|e| e.path()).filter(ours).collect();
    all.sort_by_key(|path| std::cmp::Reverse(path.metadata().and_then(|m| m.modified()).ok()));
    all
}

/// Whether a library was built with this build of another one: the library then contains the end of the
/// build's file name, by which the compiler finds it again.
fn was_built_with(library: &[u8], other: &Path) -> bool {
    let name = other.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let end = name.rfind('-').map_or("", |at| &name[at..]).as_bytes();
    !end.is_empty() && library.windows(end.len()).any(|window| window == end)
}

impl MisusePrograms<'_> {
    /// Write each function as a program of its own: with what its file begins with, and under the error that
    /// stands above it. Returns their folder.
    fn take_apart(&self) -> PathBuf {
        let programs = self.folder.join(format!("{}-misuse", self.libraries.last().unwrap_or(&"")));
        let _ = fs::remove_dir_all(&programs);
        fs::create_dir_all(&programs).unwrap();
        for file in fs::read_dir(self.files).unwrap().map(|file| file.unwrap().path()) {
            if file.ends_with(RIGHT_USE) {
                fs::copy(&file, programs.join(RIGHT_USE)).unwrap();
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            let (common, functions) = text.split_once("\n\n// [").unwrap();
            for part in functions.split("\n\n// [") {
                let (error, function) = part.split_once('\n').unwrap();
                let name = function.strip_prefix("fn ").and_then(|rest| rest.split('(').next()).unwrap();
                let name = format!("{}_{name}.rs", file.file_stem().unwrap().display());
                let head = format!("//! [{error}\n#![allow(unused_imports)]\n{common}");
                fs::write(programs.join(name), format!("{head}\n\n{function}\n\nfn main() {{}}\n")).unwrap();
            }
        }
        programs
    }

    /// Compile one program against these builds; the error is what the compiler says.
    fn check(&self, program: &Path, builds: &[PathBuf]) -> Result<(), String> {
        let beside = self.cargo.with_file_name("rustc");
        let name = program.file_stem().unwrap_or_default();
        let mut rustc = Command::new(if beside.exists() { beside } else { "rustc".into() });
        rustc.args(["--edition=2024", "--crate-type=bin", "--emit=metadata", "--error-format=short", "-o"]);
        rustc.arg(self.folder.join(format!("{}.rmeta", name.display())));
        for (library, build) in self.libraries.iter().zip(builds) {
            let dir = build.parent().unwrap_or(Path::new(".")).display();
            rustc.args(["-L", &format!("dependency={dir}")]);
            rustc.args(["--extern", &format!("{library}={}", build.display())]);
        }
        let output = rustc.arg(program).output().map_err(|e| e.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Builds of the libraries that belong together: `right_use.rs` compiles against them.
    fn together(&self, control: &Path) -> Vec<PathBuf> {
        let (last, others) = self.libraries.split_last().unwrap_or((&"", &[]));
        let mut said = String::new();
        for own in builds(last).into_iter().take(8) {
            let bytes = fs::read(&own).unwrap_or_default();
            let found = others.iter().map(|of| builds(of).into_iter().find(|b| was_built_with(&bytes, b)));
            let Some(mut set) = found.collect::<Option<Vec<_>>>() else { continue };
            set.push(own);
            match self.check(control, &set) {
                Ok(()) => return set,
                Err(why) => said.push_str(&why),
            }
        }
        panic!("no builds against which right use compiles: {said}");
    }

    /// Demands that every program gets its error, and that there are at least this many.
    ///
    /// # Panics
    /// If a program compiles or gets another error, if there are fewer programs than `least`, or if
    /// `right_use.rs` does not compile.
    pub fn does_not_compile(&self, least: usize) {
        let programs = self.take_apart();
        let together = self.together(&programs.join(RIGHT_USE));
        let all = fs::read_dir(programs).into_iter().flatten().flatten().map(|entry| entry.path());
        let programs: Vec<PathBuf> = all.filter(|path| !path.ends_with(RIGHT_USE)).collect();
        many(programs.len(), 3, |i| {
            let path = &programs[i];
            let text = fs::read_to_string(path).unwrap_or_default();
            let expected = text.strip_prefix("//! [").and_then(|rest| rest.split(']').next());
            let (Some(expected), Err(said)) = (expected, self.check(path, &together)) else {
                panic!("{}: compiles, or names no error", path.display());
            };
            let here = path.display().to_string();
            let mut errors = said.lines().filter(|l| l.contains(": error") && l.contains(&here));
            assert!(errors.any(|e| e.contains(expected)), "{here}: {said}");
            // these are names that cannot be resolved: a program with a mistyped name would prove nothing
            assert!(!said.contains("E0432") && !said.contains("E0433"), "{here}: {said}");
        });
        assert!(programs.len() >= least, "{} programs", programs.len());
    }
}
