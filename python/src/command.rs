//! The commands of `divisi`, within the interpreter's process or as the program itself.

use crate::raised::{of_command, usage};
use crate::waiting::Caught;
use divisi::cleanup::Cleanup;
use divisi::local::PartyProgram;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often a command that runs is asked whether it is still wanted.
const EVERY: Duration = Duration::from_millis(100);
/// How long a command that is interrupted may take to end its processes; after that it is left behind.
const END: Duration = Duration::from_millis(600);

/// Run a command, and return the object that it prints with `--json`, as text. It runs in a thread of its
/// own; Ctrl-C ends the processes that it has started, and with them the command.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<String> {
    let (cleanup, caught) = (Cleanup::new(), Caught::default());
    let interrupt = caught.interrupt();
    let (tell, told) = channel();
    let register = cleanup.clone();
    let run = move || {
        let done = divisi_cli::answer(arguments, &register);
        // an error means that the caller waits no more
        let _ = tell.send(done);
    };
    let thread = std::thread::Builder::new().name("command".into()).spawn(run);
    thread.map_err(|e| usage(py, &format!("no thread can be started ({e}): free some memory")))?;
    let done = py.detach(move || {
        let mut until: Option<Instant> = None;
        loop {
            match told.recv_timeout(EVERY) {
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if interrupt.is_due() => {
                    cleanup.end_all();
                    if Instant::now() >= *until.get_or_insert_with(|| Instant::now() + END) {
                        return None;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    });
    if let Some(raised) = caught.take() {
        return Err(raised);
    }
    match done {
        Some(Ok(json)) => Ok(json.to_string()),
        Some(Err(failure)) => Err(of_command(py, &failure)),
        None => Err(usage(py, "the command ended without a result: report this with its arguments")),
    }
}

/// Run the program `divisi` with these arguments, and return its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let named = std::iter::once(OsString::from("divisi")).chain(arguments).collect::<Vec<_>>();
    py.detach(|| divisi_cli::main_with(named))
}

/// Name the program that runs parties: an interpreter, and what stands before the arguments of a party.
#[pyfunction]
pub fn name_program(path: PathBuf, leading: Vec<OsString>) -> bool {
    PartyProgram::at(path).with_leading(leading).name()
}
