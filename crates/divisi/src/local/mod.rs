//! The processes of parties on this machine: started from this same program, reached through their standard
//! input and output, and gone with whoever started them.
//!
//! A party ends when its standard input ends, so it does not outlive the process that started it, whatever
//! happened to that one, and it takes the directory with it that the command had made. What it wrote to
//! standard error goes into the message of its failure.

mod frame;
mod pipes;
mod processes;
pub mod seat;
pub mod servers;
mod usage;

pub use pipes::Pipes;
pub use processes::Processes;
pub use usage::Usage;
pub(crate) use usage::{cpu_seconds, peak_rss};

use crate::cleanup::{Cleanup, Entry};
use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// The name of the subcommand by which this program runs one party.
pub const PARTY: &str = "party";
/// How the names of directories begin that commands make for themselves.
const PREFIX: &str = "divisi-";

/// The program that runs the parties: this one, unless a test or another language's binding names it.
///
/// # Errors
/// If the system does not tell.
pub fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|e| {
        Failure::unavailable(format!("this program cannot find its own file ({e}): start it by its path"))
    })
}

/// A directory for what the parties need, that only this user can read, and that goes with the command.
pub struct PrivateDir {
    dir: tempfile::TempDir,
    entry: Entry,
}

impl PrivateDir {
    /// Make a new private directory.
    ///
    /// # Errors
    /// If no directory can be made.
    pub fn new(cleanup: &Cleanup) -> Result<Self, Failure> {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let dir = tempfile::Builder::new().prefix(PREFIX).permissions(mode).tempdir().map_err(|e| {
            Failure::usage(format!(
                "no directory can be made in {} ({e}): set TMPDIR to one that you can write",
                std::env::temp_dir().display()
            ))
        })?;
        let entry = cleanup.path(dir.path());
        Ok(PrivateDir { dir, entry })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Remove it and all that is in it.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn close(self) -> Result<(), Failure> {
        let path = self.dir.path().to_owned();
        self.entry.keep();
        match self.dir.close() {
            // A party may have been faster.
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                let error = format!("{} cannot be removed ({e}): remove it by hand", path.display());
                Err(Failure::unavailable(error))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_private_and_goes() {
        use std::os::unix::fs::PermissionsExt;
        let room = PrivateDir::new(&Cleanup::new()).unwrap();
        let path = room.path().to_owned();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::write(path.join("file"), "x").unwrap();
        room.close().unwrap();
        assert!(!path.exists());
    }
}
