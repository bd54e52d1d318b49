//! The finished runs in the directory of a reproduction: each a file, so that an interrupted one goes on.

use crate::failure::Failure;
use rustix::fs::statvfs;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The room that there has to be before the first run, in MiB.
const ROOM: u64 = 64;

/// A finished run, as its file has it.
#[derive(Deserialize, Serialize)]
struct KeptRun {
    schema: u32,
    /// The program and the catalogue that it was made by.
    program: String,
    catalogue: String,
    command: String,
    seconds: f64,
    report: Value,
}

/// The directory with its runs.
pub struct RunStore {
    dir: PathBuf,
    program: String,
    /// The digest of the catalogue.
    catalogue: String,
}

impl RunStore {
    /// Open the directory, and make it if it does not exist. With `resume`, runs in it are taken up. It is
    /// refused if it cannot be written, has no room, or has runs that are another program's, or any without
    /// `resume`.
    pub fn open(dir: &Path, program: &str, catalogue: &str, resume: bool) -> Result<RunStore, Failure> {
        let [program, catalogue] = [program, catalogue].map(str::to_owned);
        let store = RunStore { dir: dir.to_owned(), program, catalogue };
        let runs = dir.join("runs");
        let opened = || -> io::Result<_> {
            fs::create_dir_all(&runs)?;
            tempfile::tempfile_in(dir)?;
            let paths =
                fs::read_dir(&runs)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
            Ok((statvfs(dir)?, paths))
        };
        let (room, paths) = opened().map_err(|e| store.unwritten(&e))?;
        let free = room.f_bavail.saturating_mul(room.f_frsize) >> 20;
        if free < ROOM {
            return Err(Failure::usage(format!(
                "{} has room for {free} MiB, and {ROOM} are needed: make room, or give another directory with --out",
                dir.display()
            )));
        }
        let mut kept = paths.iter().filter(|path| path.extension().is_some_and(|of| of == "json"));
        kept.try_for_each(|path| store.check(path, resume))?;
        Ok(store)
    }

    /// Refuse a run that was not made by this program, or any without `resume`.
    fn check(&self, path: &Path, resume: bool) -> Result<(), Failure> {
        let dir = self.dir.display();
        if !resume {
            return Err(Failure::usage(format!(
                "{dir} has runs of an earlier reproduction: give --resume to take them up, or another directory with --out"
            )));
        }
        let Some(found) = read(path) else {
            return Err(Failure::usage(format!("{} is no run: remove it", path.display())));
        };
        for (what, theirs, own) in [
            ("commit", &found.program, &self.program),
            ("a catalogue of SHA-256", &found.catalogue, &self.catalogue),
        ] {
            if theirs != own {
                return Err(Failure::usage(format!(
                    "{dir} has runs of {what} {theirs}, and this program is of {own}: give another directory with --out, or \
                     resume with the program that began there"
                )));
            }
        }
        Ok(())
    }

    /// The file of a command, beneath the directory.
    pub fn file(command: &str) -> String {
        let digest = hex::encode(Sha256::digest(command.as_bytes()));
        format!("runs/{}.json", digest.get(..16).unwrap_or(&digest))
    }

    /// The report of a command that has run, and the seconds that it took.
    pub fn load(&self, command: &str) -> Option<(Value, f64)> {
        // a file that was copied to another's name is no run of this command
        let found = read(&self.dir.join(Self::file(command))).filter(|found| found.command == command)?;
        Some((found.report, found.seconds))
    }

    /// Keep the report of a command.
    pub fn keep(&self, command: &str, report: &Value, seconds: f64) -> Result<(), Failure> {
        let run = KeptRun {
            schema: 1,
            program: self.program.clone(),
            catalogue: self.catalogue.clone(),
            command: command.to_owned(),
            seconds,
            report: report.clone(),
        };
        self.write(&Self::file(command), &format!("{:#}\n", json!(run))).map(|_| ())
    }

    /// Write a file of the directory, which appears whole and in place of an earlier one.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.dir.join(name);
        let put = || -> io::Result<()> {
            let readable = Permissions::from_mode(0o644);
            let folder = path.parent().unwrap_or(&self.dir);
            let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.persist(&path)?;
            Ok(())
        };
        put().map_err(|e| self.unwritten(&e))?;
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
        let open = |program: &str, catalogue: &str, resume| {
            RunStore::open(&dir.path().join("new/one"), program, catalogue, resume)
        };
        let store = open("abc", "1", false).unwrap();
        assert!(store.load("bench aes").is_none());
        store.keep("bench aes", &json!({ "count": 3 }), 1.5).unwrap();
        let again = open("abc", "1", true).unwrap();
        assert_eq!(again.load("bench aes"), Some((json!({ "count": 3 }), 1.5)));
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
        let [from, to] =
            ["bench aes", "bench des3"].map(|of| dir.path().join("new/one").join(RunStore::file(of)));
        fs::copy(from, &to).unwrap();
        assert!(open("abc", "1", true).unwrap().load("bench des3").is_none());
        fs::write(&to, "{").unwrap();
        assert!(open("abc", "1", true).err().unwrap().error.contains("is no run: remove it"));
    }

    #[test]
    fn a_place_for_no_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "x").unwrap();
        let refused = RunStore::open(&file, "a", "b", false).err().unwrap();
        assert!(refused.error.contains("--out") && refused.kind.exit_code() == 2, "{refused}");
        let full = RunStore { dir: file, program: "a".into(), catalogue: "b".into() };
        let refused = full.unwritten(&io::Error::from(io::ErrorKind::StorageFull));
        assert!(refused.error.contains("no room") && refused.error.contains("--resume"), "{refused}");
    }
}
