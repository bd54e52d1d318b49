//! `instructions`: counts the instructions of each kernel and of a small run of each protocol, and compares
//! them with the counts in the file.

use crate::ledger::{Change, Ledger};
use crate::noise::NoiseSource;
use crate::runs::{EngineRun, RunWork};
use crate::{Failure, machine, subjects, valgrind};
use divisi_core::Direction;
use divisi_field::kernel;
use divisi_rep3::{Protocol, Security};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};

/// The argument with which this program runs under callgrind.
pub const CHILD: &str = "child-instructions";

/// The same under a counter that counts between marks and knows no names (`qemu/count.c`): the program prints
/// the names in the order of the counts.
pub const MARKED_CHILD: &str = "child-marked";

/// How often a kernel runs for one count.
const CALLS: usize = 8;
/// The number of blocks in a run of a protocol, and of messages of a hash: one tile of 512 lanes.
const BLOCKS: usize = 512;
/// Bytes of a message sealed and opened.
const BYTES: usize = 4096;

/// The file of the counts that are kept.
fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt")
}

/// Fails if a measurement executes more instructions than the file and the tolerance allow, or is only in the
/// file or not in it.
pub fn check() -> Result<(), Failure> {
    let path = file();
    let unreadable = |what: String| Failure::Unable(format!("{}: {what}", path.display()));
    let kept = std::fs::read_to_string(&path).map_err(|e| unreadable(e.to_string()))?;
    let kept = Ledger::parse(&kept).map_err(unreadable)?;
    let found = measure()?;
    let mut other = String::new();
    for (kept, found) in [(&kept.compiler, &found.compiler), (&kept.valgrind, &found.valgrind)] {
        if kept != found {
            other += &format!(
                "the file was made with {kept}, this is {found}: counts may differ for that reason\n"
            );
        }
    }
    let changes = kept.compare(&found.counts);
    changes.iter().for_each(|change| println!("{change}"));
    print!("{other}");
    let failed = changes.iter().filter(|change| change.fails()).count();
    if failed > 0 {
        return Err(Failure::Broken(format!(
            "{failed} of {} measurements differ from {}; if that is meant: just instructions-update",
            found.counts.len(),
            path.display()
        )));
    }
    if changes.iter().any(Change::is_better) {
        println!("what improved is guarded only when the file says so: just instructions-update");
    }
    println!("{} measurements, none above what the file allows", found.counts.len());
    Ok(())
}

/// Write the file again.
pub fn update() -> Result<(), Failure> {
    let path = file();
    let found = measure()?;
    let kept = std::fs::read_to_string(&path).ok().and_then(|text| Ledger::parse(&text).ok());
    kept.unwrap_or_default().compare(&found.counts).iter().for_each(|change| println!("{change}"));
    std::fs::write(&path, found.to_string())
        .map_err(|e| Failure::Unable(format!("{}: {e}", path.display())))?;
    println!("{} measurements written to {}", found.counts.len(), path.display());
    Ok(())
}

fn measure() -> Result<Ledger, Failure> {
    let valgrind = valgrind::version()?;
    let compiler = valgrind::compiler()?;
    let program = valgrind::build(&valgrind::own_lab(), "release")?;
    let mut counts = BTreeMap::new();
    for kernel in valgrind::KERNELS {
        eprintln!("instructions of the kernel {kernel}");
        for (name, count) in under_callgrind(&program, kernel, "all")? {
            counts.insert(format!("{kernel} {name}"), count);
        }
    }
    Ok(Ledger { compiler, valgrind, counts })
}

/// The counts of a program run with [`CHILD`].
fn under_callgrind(
    program: &Path,
    kernel: kernel::Kernel,
    what: &str,
) -> Result<BTreeMap<String, u64>, Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::Unable(format!("a temporary directory: {e}")))?;
    let out = format!("--callgrind-out-file={}", folder.path().join("out").display());
    let tool = ["--tool=callgrind", "--fair-sched=yes", out.as_str()];
    valgrind::run(&tool, kernel, &folder.path().join("log"), program, &[CHILD, what])?;
    let unable = |what: String| Failure::Unable(format!("what callgrind wrote: {what}"));
    let mut counts = BTreeMap::new();
    for entry in std::fs::read_dir(folder.path()).map_err(|e| unable(e.to_string()))? {
        let path = entry.map_err(|e| unable(e.to_string()))?.path();
        let text = std::fs::read(&path).map_err(|e| unable(e.to_string()))?;
        counts.extend(dumped(&valgrind::text(&text)));
    }
    if counts.is_empty() {
        return Err(unable("no counts".to_owned()));
    }
    Ok(counts)
}

/// The name and the count of a dump that was asked for by name.
fn dumped(text: &str) -> Option<(String, u64)> {
    let after = |prefix: &str| text.lines().find_map(|line| line.strip_prefix(prefix));
    let name = after("desc: Trigger: Client Request: ")?.trim();
    let count = after("summary: ").or_else(|| after("totals: "))?;
    Some((name.to_owned(), count.trim().parse().ok()?))
}

/// Measure, under callgrind.
pub fn child(what: &str) -> Result<(), Failure> {
    if !machine::under_valgrind() {
        return Err(Failure::Unable("this is for valgrind to run".to_owned()));
    }
    each(what, &mut |_| {})
}

/// Measure, under an emulator with the plugin of `qemu/count.c` (`.ci/arm-instructions`).
pub fn marked_child(what: &str) -> Result<(), Failure> {
    each(what, &mut |name| println!("{name}"))
}

/// Measures everything, or the kernel of this name, and passes each name to `tell` after its count.
fn each(what: &str, tell: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    kernel::select().map_err(|e| Failure::Unable(e.to_string()))?;
    let unable = |name: &str, what: String| Failure::Unable(format!("{name}: {what}"));
    let mut counted = |name: &str, f: &mut dyn FnMut() -> Result<(), String>| {
        let label = CString::new(name).map_err(|e| unable(name, e.to_string()))?;
        machine::zero_counts();
        let result = f();
        machine::dump_counts(&label);
        tell(name);
        result.map_err(|e| unable(name, e))
    };
    for entry in subjects::ALL.iter().filter(|entry| ["all", entry.name].contains(&what)) {
        let mut subject = (entry.make)();
        let mut secret = vec![0; subject.words()];
        NoiseSource::new(1).fill(&mut secret);
        subject.load(&secret);
        subject.run();
        counted(entry.name, &mut || {
            (0..CALLS).for_each(|_| subject.run());
            Ok(())
        })?;
    }
    if what != "all" {
        return Ok(());
    }
    let mut runs = Vec::new();
    for protocol in Protocol::ALL {
        for security in [Security::SemiHonest, Security::Malicious] {
            runs.push(EngineRun {
                protocol: *protocol,
                security,
                work: RunWork::Aes(Direction::Encrypt, BLOCKS),
            });
        }
    }
    let functions = [RunWork::Function("sha256", BLOCKS), RunWork::Function("sha3-256", BLOCKS)];
    for work in [RunWork::Gcm(BYTES), RunWork::Openings(BYTES)].into_iter().chain(functions) {
        runs.push(EngineRun { protocol: Protocol::Gf4Circuit, security: Security::Malicious, work });
    }
    for run in runs {
        let prepared = run.prepare().map_err(|e| unable(&run.name(), e))?;
        counted(&run.name(), &mut || prepared.execute(&|_| {}).map(drop))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn dumps_are_read() {
        let text = "version: 1\ndesc: Trigger: Client Request: gf64 dot\n\nevents: Ir\nsummary: 4711\n\ntotals: 4711\n";
        assert_eq!(dumped(text), Some(("gf64 dot".to_owned(), 4711)));
        assert_eq!(dumped("desc: Trigger: Program termination\nsummary: 5\n"), None);
    }
}
