//! The program that runs the parties of a command.

use crate::failure::Failure;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A program by its file, with the arguments that stand before those of a party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyProgram {
    path: PathBuf,
    leading: Vec<OsString>,
}

/// The program that a language binding has named.
static NAMED: OnceLock<PartyProgram> = OnceLock::new();

impl PartyProgram {
    /// The program in this file, which takes the arguments of `divisi`.
    pub fn at(path: impl Into<PathBuf>) -> PartyProgram {
        PartyProgram { path: path.into(), leading: Vec::new() }
    }

    /// A program that takes the arguments of `divisi` after these: an interpreter, for example.
    #[must_use]
    pub fn with_leading(self, leading: impl IntoIterator<Item = impl Into<OsString>>) -> PartyProgram {
        PartyProgram { leading: leading.into_iter().map(Into::into).collect(), ..self }
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The command that runs it with these arguments.
    #[must_use]
    pub fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.leading).args(arguments);
        command
    }

    /// Let this program run the parties of all commands of this process: for a process that is not the
    /// program `divisi`, as that of an interpreter. Returns whether it does; the first one that is named
    /// stays.
    pub fn name(self) -> bool {
        NAMED.get_or_init(|| self.clone()) == &self
    }
}

/// The program that runs the parties: this program, unless a test or a language binding names another one
/// ([`PartyProgram::name`]).
///
/// # Errors
/// [`Failure`] if the system does not tell the path.
pub fn this_program() -> Result<PartyProgram, Failure> {
    if let Some(named) = NAMED.get() {
        return Ok(named.clone());
    }
    let path = std::env::current_exe().map_err(|e| {
        Failure::unavailable(format!("this program cannot find its own file ({e}): start it by its path"))
    })?;
    Ok(PartyProgram::at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_a_party_follow_those_of_the_program() {
        let program = PartyProgram::at("/bin/sh").with_leading(["-c", "code"]);
        let command = program.command(["party", "run"]);
        let arguments: Vec<_> = command.get_args().map(|argument| argument.to_str().unwrap()).collect();
        assert_eq!(arguments, ["-c", "code", "party", "run"]);
        assert_eq!((command.get_program(), program.path()), ("/bin/sh".as_ref(), Path::new("/bin/sh")));
    }
}
