//! The processes of parties on this machine: they run this same program, communicate through their standard
//! input and output, and end with the process that started them.
//!
//! A party ends when its standard input ends, so that it does not outlive the process that started it, and
//! then removes the directory that the command had made. Its standard error becomes part of the message of
//! its failure.

mod blame;
mod frame;
mod here;
pub mod loopback;
mod pipes;
mod processes;
mod program;
pub mod servers;

pub use divisi_engine::usage::Usage;
pub(crate) use divisi_engine::usage::peak_rss;
pub use here::ServersHere;
pub use pipes::Pipes;
pub use processes::Processes;
pub use program::{PartyProgram, this_program};

use crate::cleanup::{Cleanup, Entry};
use crate::failure::Failure;
use std::path::Path;

/// The name of the subcommand by which this program runs one party.
pub const PARTY: &str = "party";
/// The prefix of the names of directories that commands make for themselves.
const PREFIX: &str = "divisi-";

/// A directory for the parties' files, which only this user can read, and which is removed at the end of the
/// command.
pub struct PrivateDir {
    dir: tempfile::TempDir,
    entry: Entry,
}

impl PrivateDir {
    /// Make a new private directory.
    ///
    /// # Errors
    /// [`Failure`] if no directory can be made.
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

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Remove the directory with its contents.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be removed.
    pub fn close(self) -> Result<(), Failure> {
        let path = self.dir.path().to_owned();
        self.entry.keep();
        match self.dir.close() {
            // A party may have removed it already.
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
        let folder = PrivateDir::new(&Cleanup::new()).unwrap();
        let path = folder.path().to_owned();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::write(path.join("file"), "x").unwrap();
        folder.close().unwrap();
        assert!(!path.exists());
    }
}
