//! The command line of Divisi: reads arguments, calls the library [`divisi`], prints.
//!
//! The program `divisi` only calls [`main`]. A program that adds an engine of its own
//! ([`divisi::engine::add`]) and calls it has the same commands with that engine, too. A program that runs
//! commands within itself calls [`answer`].
#![forbid(unsafe_code)]

mod command;
mod help;
mod usage;

use clap::{CommandFactory, FromArgMatches};
use command::{Cli, CommandOutput};
use divisi::cleanup::Cleanup;
use divisi::failure::{Failure, Kind};
use divisi::output;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// Run the command that the arguments of this process describe.
///
/// Exit codes: 0 done; 1 aborted, refused or a wrong result; 2 wrong arguments, files or configuration.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os()))
}

/// The same with these arguments, of which the first is the program's name; returns the exit code.
#[must_use]
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // This comes before the arguments are parsed, so that a failure to parse them is printed as JSON, too, if
    // `--json` is given.
    let json = arguments.iter().any(|argument| argument == "--json");
    let cli = match parse(&arguments) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            let printed = error.print().and_then(|()| io::stdout().flush());
            return output::written(printed).map_or_else(|lost| say(&lost), |()| 0);
        }
        Err(error) => {
            return end(json, Err(refused(&error, &arguments)));
        }
    };
    end(json, kernel().and_then(|()| command::run(cli)))
}

/// Run the command of these arguments, without the program's name, in this process, and return the object
/// that it would print with `--json`. Processes that it starts run the program that
/// [`divisi::local::this_program`] names, and end when `cleanup` is emptied: then the command fails. Warnings
/// go to standard error. The example `commands_as_data` runs a benchmark, and a circuit with a time limit.
///
/// ```no_run
/// use divisi::cleanup::Cleanup;
/// use divisi::local::PartyProgram;
///
/// PartyProgram::at("/usr/bin/divisi").name(); // this program is none that runs parties
/// let words = ["bench", "aes", "--blocks", "1000", "--reps", "1"];
/// let report = divisi_cli::answer(words, &Cleanup::new())?;
/// println!("{} blocks a second", report["online_per_second"]);
/// # Ok::<(), divisi::failure::Failure>(())
/// ```
///
/// # Errors
/// [`Failure`] for arguments that make no sense, for a server or a party, which handle signals themselves and
/// need a process ([`main`]), and that of the command.
pub fn answer(
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
    cleanup: &Cleanup,
) -> Result<serde_json::Value, Failure> {
    let arguments = arguments.into_iter().map(Into::into);
    let arguments: Vec<OsString> = std::iter::once("divisi".into()).chain(arguments).collect();
    let cli = parse(&arguments).map_err(|error| refused(&error, &arguments))?;
    if cli.needs_a_process() {
        let error = "a server or a party needs a process of its own: start the program `divisi` for it";
        return Err(Failure::usage(error));
    }
    kernel()?;
    let done = command::run_with(cli, cleanup.clone())?;
    done.failure.map_or(Ok(done.json), Err)
}

/// The failure of arguments that cannot be parsed.
fn refused(error: &clap::Error, arguments: &[OsString]) -> Failure {
    let mut failure = usage::failure(error);
    if let Some(tip) = usage::smaller(error, arguments, parse) {
        failure.error = format!("{}\n{tip}", failure.error);
    }
    failure
}

/// Choose the machine code for this processor.
fn kernel() -> Result<(), Failure> {
    divisi_field::kernel::select().map(drop).map_err(|e| Failure::usage(e.to_string()))
}

/// The command of these arguments, the first of which is the program's name.
fn parse(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Cli, clap::Error> {
    let mut command = help::arranged(Cli::command());
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Print the outcome, and return the exit code. That standard output is closed is its reader's choice, and no
/// failure; a result that cannot be written for any other reason is lost, and the exit code says so.
fn end(json: bool, outcome: Result<CommandOutput, Failure>) -> u8 {
    let (done, failure) = match outcome {
        Ok(mut done) => {
            let failure = done.failure.take();
            (Some(done), failure)
        }
        Err(failure) => (None, Some(failure)),
    };
    let lost = output::written(print(json, done, failure.as_ref())).err();
    match (failure, lost) {
        (None, None) => 0,
        (Some(failure), None) | (None, Some(failure)) => say(&failure),
        (Some(failure), Some(lost)) => {
            let code = say(&failure);
            let _ = say(&lost);
            code
        }
    }
}

/// Print what standard output gets.
fn print(json: bool, done: Option<CommandOutput>, failure: Option<&Failure>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        let mut object = done.map_or_else(|| serde_json::json!({ "schema": 1 }), |done| done.json);
        if let (Some(object), Some(serde_json::Value::Object(told))) =
            (object.as_object_mut(), failure.map(Failure::to_json))
        {
            object.extend(told);
        }
        writeln!(out, "{object}")?;
    } else if let Some(done) = done.filter(|done| !done.text.is_empty()) {
        writeln!(out, "{}", done.text.trim_end())?;
    }
    out.flush()
}

/// Print a failure on standard error, and return its exit code.
fn say(failure: &Failure) -> u8 {
    let word = if failure.kind == Kind::Abort { "aborted: " } else { "" };
    let _ = writeln!(io::stderr(), "divisi: {word}{failure}");
    failure.kind.exit_code()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A report of which something is not right is a failure to whoever calls the command, too.
    #[test]
    fn a_report_with_a_failure_is_no_answer() {
        let dir = tempfile::tempdir().unwrap();
        let [mesh, config, identity] =
            ["mesh", "mesh/mesh.toml", "mesh/client-me.key"].map(|name| dir.path().join(name));
        let asked = |words: &str, files: &[(&str, &std::path::Path)]| {
            let files = files.iter().flat_map(|(name, file)| [OsString::from(name), file.into()]);
            answer(words.split(' ').map(OsString::from).chain(files), &Cleanup::new())
        };
        // nobody listens at ports that low
        let new = "mesh new --parties 2 --hosts 127.0.0.1:1,127.0.0.1:2 --clients me";
        asked(new, &[("--out", &mesh)]).unwrap();
        let checked = asked("mesh check", &[("--config", &config), ("--identity", &identity)]);
        let failure = checked.unwrap_err();
        assert!(failure.error.contains("2 of 2 links do not work"), "{failure}");
    }
}
