//! The finished runs in the directory of a reproduction: each a file, so that an interrupted one goes on.

use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::output::OutputFile;
use rustix::fs::statvfs;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A finished run, as its file has it.
#[derive(Deserialize, Serialize)]
pub struct KeptRun {
    schema: u32,
    /// The program and the catalogue that it was made by.
    program: String,
    catalogue: String,
    command: String,
    /// How long all its passes took.
    pub seconds: f64,
    /// How many passes are in the report.
    pub passes: u64,
    pub report: Value,
}

/// The directory with its runs.
pub struct RunStore<'c> {
    dir: PathBuf,
    /// The program, and the digest of the catalogue, by which its runs are made.
    of: [String; 2],
    cleanup: &'c Cleanup,
}

/// The file of a command, beneath the directory.
pub fn run_file(command: &str) -> String {
    format!("runs/{:.16}.json", hex::encode(Sha256::digest(command)))
}

impl<'c> RunStore<'c> {
    /// Open the directory, or make it. With `resume`, runs in it are taken up. It is refused if it cannot be
    /// written, has no room, or has runs that are another program's, or any without `resume`.
    pub fn open(dir: &Path, of: [&str; 2], resume: bool, cleanup: &'c Cleanup) -> Result<Self, Failure> {
        let store = RunStore { dir: dir.to_owned(), of: of.map(str::to_owned), cleanup };
        let runs = dir.join("runs");
        let opened = || -> io::Result<_> {
            fs::create_dir_all(&runs)?;
            tempfile::tempfile_in(dir)?;
            let entries = fs::read_dir(&runs)?.collect::<io::Result<Vec<_>>>()?;
            Ok((statvfs(dir)?, entries))
        };
        let (room, entries) = opened().map_err(|e| store.unwritten(&e))?;
        // in MiB; reports take less
        let (free, needed) = (room.f_bavail.saturating_mul(room.f_frsize) >> 20, 64);
        if free < needed {
            return Err(Failure::usage(format!(
                "{} has room for {free} MiB, and {needed} are needed: make room, or give another directory with --out",
                dir.display()
            )));
        }
        let paths = entries.iter().map(|entry| entry.path());
        let mut kept = paths.filter(|path| path.extension().is_some_and(|of| of == "json"));
        kept.try_for_each(|path| store.check(&path, resume))?;
        Ok(store)
    }

    /// Refuse a run that was not made by this program, or any without `resume`.
    fn check(&self, path: &Path, resume: bool) -> Result<(), Failure> {
        let (dir, [program, catalogue]) = (self.dir.display(), &self.of);
        let (what, theirs, own) = match read(path) {
            _ if !resume => {
                return Err(Failure::usage(format!(
                    "{dir} has runs of an earlier reproduction: give --resume to take them up, or another directory with \
                     --out"
                )));
            }
            None => return Err(Failure::usage(format!("{} is no run: remove it", path.display()))),
            Some(of) if of.program != *program => ("commit", of.program, program),
            Some(of) if of.catalogue != *catalogue => ("a catalogue of SHA-256", of.catalogue, catalogue),
            Some(_) => return Ok(()),
        };
        Err(Failure::usage(format!(
            "{dir} has runs of {what} {theirs}, and this program is of {own}: give another directory with --out, or \
             resume with the program that began there"
        )))
    }

    /// The run of a command that was kept.
    pub fn load(&self, command: &str) -> Option<KeptRun> {
        // a file that was copied to another's name is no run of this command
        read(&self.dir.join(run_file(command))).filter(|found| found.command == command)
    }

    /// Keep the report of a command, of so many passes.
    pub fn keep(&self, command: &str, report: &Value, seconds: f64, passes: u64) -> Result<(), Failure> {
        let (command, report, [program, catalogue]) = (command.to_owned(), report.clone(), self.of.clone());
        let run = KeptRun { schema: 1, program, catalogue, command, seconds, passes, report };
        self.write(&run_file(&run.command), &format!("{:#}\n", json!(run))).map(|_| ())
    }

    /// Write a file of the directory, which appears whole and in place of an earlier one.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.dir.join(name);
        let mut file = OutputFile::beside(&path, 0o644, self.cleanup)?;
        file.writer().write_all(text.as_bytes()).map_err(|e| self.unwritten(&e))?;
        file.put_in_place(&path)?;
        Ok(path)
    }

    fn unwritten(&self, e: &io::Error) -> Failure {
        let dir = self.dir.display();
        Failure::usage(match e.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!(
                "there is no room in {dir} ({e}): make room, and go on with --resume; finished runs are kept"
            ),
            _ => format!("no file can be written into {dir} ({e}): give another directory with --out"),
        })
    }
}

fn read(path: &Path) -> Option<KeptRun> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_taken_up_by_the_same_program_and_catalogue_alone() {
        let dir = tempfile::tempdir().unwrap();
        let cleanup = Cleanup::new();
        let open = |program: &str, catalogue: &str, resume| {
            RunStore::open(&dir.path().join("new/one"), [program, catalogue], resume, &cleanup)
        };
        let store = open("abc", "1", false).unwrap();
        assert!(store.load("bench aes").is_none());
        store.keep("bench aes", &json!({ "count": 3 }), 1.5, 2).unwrap();
        let again = open("abc", "1", true).unwrap();
        let kept = again.load("bench aes").unwrap();
        assert_eq!((kept.report, kept.seconds, kept.passes), (json!({ "count": 3 }), 1.5, 2));
        assert!(again.load("bench aes --blocks 2").is_none());
        for (program, catalogue, resume, part) in [
            ("abd", "1", true, "runs of commit abc, and this program is of abd"),
            ("abc", "2", true, "catalogue"),
            ("abc", "1", false, "--resume"),
        ] {
            let refused = open(program, catalogue, resume).err().unwrap();
            assert!(refused.error.contains(part) && refused.kind.exit_code() == 2, "{refused}");
        }
        // the report of another command under this name is not taken for it
        let [from, to] = ["bench aes", "bench des3"].map(|of| dir.path().join("new/one").join(run_file(of)));
        fs::copy(from, &to).unwrap();
        assert!(open("abc", "1", true).unwrap().load("bench des3").is_none());
        fs::write(&to, "{").unwrap();
        assert!(open("abc", "1", true).err().unwrap().error.contains("is no run: remove it"));
    }

    #[test]
    fn a_place_for_no_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (file, cleanup) = (dir.path().join("file"), Cleanup::new());
        fs::write(&file, "x").unwrap();
        let refused = RunStore::open(&file, ["a", "b"], false, &cleanup).err().unwrap();
        assert!(refused.error.contains("--out") && refused.kind.exit_code() == 2, "{refused}");
        let full = RunStore { dir: file, of: ["a".into(), "b".into()], cleanup: &cleanup };
        let refused = full.unwritten(&io::Error::from(io::ErrorKind::StorageFull));
        assert!(refused.error.contains("no room") && refused.error.contains("--resume"), "{refused}");
    }
}
