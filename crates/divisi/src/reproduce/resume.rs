//! The finished runs in the directory of a reproduction: each a file, so that an interrupted one goes on.

use crate::failure::Failure;
use rustix::fs::statvfs;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The room that there has to be before the first run, in MiB.
const ROOM: u64 = 64;

/// The directory with its runs.
pub struct RunStore {
    dir: PathBuf,
    /// The program, and the digest of the catalogue, by which its runs are made.
    of: [String; 2],
}

impl RunStore {
    /// Open the directory, and make it if it does not exist. With `resume`, runs in it are taken up.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be written, has no room, or has runs that are another program's, or any
    /// without `resume`.
    pub fn open(dir: &Path, program: &str, catalogue: &str, resume: bool) -> Result<RunStore, Failure> {
        let store = RunStore { dir: dir.to_owned(), of: [program.to_owned(), catalogue.to_owned()] };
        let runs = dir.join("runs");
        fs::create_dir_all(&runs).map_err(|e| store.unwritten(&e))?;
        tempfile::tempfile_in(dir).map_err(|e| store.unwritten(&e))?;
        let room = statvfs(dir).map_err(|e| store.unwritten(&e.into()))?;
        let free = room.f_bavail.saturating_mul(room.f_frsize) >> 20;
        if free < ROOM {
            return Err(Failure::usage(format!(
                "{} has room for {free} MiB, and {ROOM} are needed: make room, or give another directory with --out",
                dir.display()
            )));
        }
        for entry in fs::read_dir(&runs).map_err(|e| store.unwritten(&e))? {
            let path = entry.map_err(|e| store.unwritten(&e))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                store.check(&path, resume)?;
            }
        }
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
        let names = ["program", "catalogue"];
        for ((name, own), what) in names.iter().zip(&self.of).zip(["commit", "a catalogue of SHA-256"]) {
            let theirs = found.get(name).and_then(Value::as_str).unwrap_or("unknown");
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
    #[must_use]
    pub fn file(command: &str) -> String {
        let digest = hex::encode(Sha256::digest(command.as_bytes()));
        format!("runs/{}.json", digest.get(..16).unwrap_or(&digest))
    }

    /// The report of a command that has run, and the seconds that it took.
    #[must_use]
    pub fn load(&self, command: &str) -> Option<(Value, f64)> {
        let mut found = read(&self.dir.join(Self::file(command)))?;
        // a file that was copied to another's name is no run of this command
        let same = found.get("command").is_some_and(|of| of == command);
        let seconds = found.get("seconds").and_then(Value::as_f64).filter(|_| same)?;
        found.get_mut("report").map(|report| (report.take(), seconds))
    }

    /// Keep the report of a command.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be written.
    pub fn keep(&self, command: &str, report: &Value, seconds: f64) -> Result<(), Failure> {
        let [program, catalogue] = &self.of;
        let run = json!({
            "schema": 1,
            "program": program,
            "catalogue": catalogue,
            "command": command,
            "seconds": seconds,
            "report": report,
        });
        self.write(&Self::file(command), &format!("{run:#}\n")).map(|_| ())
    }

    /// Write a file of the directory, which appears whole and in place of an earlier one.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be written.
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

fn read(path: &Path) -> Option<Value> {
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
        let full = RunStore { dir: file, of: ["a".into(), "b".into()] };
        let refused = full.unwritten(&io::Error::from(io::ErrorKind::StorageFull));
        assert!(refused.error.contains("no room") && refused.error.contains("--resume"), "{refused}");
    }
}
