//! All parties as processes on this machine, which the calling process starts and commands.
//!
//! Trust: that process knows all inputs and outputs.

use super::{OwnedJob, PartyReport, RunOptions, RunReport, compute, report};
use crate::cleanup::Cleanup;
use crate::engine::Own;
use crate::failure::Failure;
use crate::local::{PartyProgram, PrivateDir, Processes};
use crate::party::{Joined, Links, MARGIN, be, begin};
use divisi_net::{Options as Net, PartyId};
use serde_json::{Map, Value};
use std::time::Instant;

/// The role of a process that is a party of a run.
pub const ROLE: &str = "run";

/// Run the job with all parties as processes on this machine.
///
/// # Errors
/// [`Failure`] if the job cannot be prepared, or a party fails.
pub fn local(options: &RunOptions, program: &PartyProgram, cleanup: &Cleanup) -> Result<RunReport, Failure> {
    let (facts, reports) = across(&options.owned(), program, cleanup)?;
    report(options, facts, reports)
}

/// Run any job with all parties as processes on this machine. Returns the engine's facts about it, and each
/// party's report.
pub(super) fn across(
    owned: &OwnedJob<'_>,
    program: &PartyProgram,
    cleanup: &Cleanup,
) -> Result<(Map<String, Value>, Vec<(PartyId, PartyReport)>), Failure> {
    let timeout = owned.timeout.unwrap_or(Net::default().timeout);
    // a job that makes no sense is refused before anything is started
    let prepared = crate::engine::prepare(owned.engine, &owned.job, owned.settings)?;
    let parties = prepared.parties();
    let folder = PrivateDir::new(cleanup)?;
    let mut processes = Processes::start(program, ROLE, parties, cleanup)?;
    let links = Links { timeout, rtt_ms: None, rate_mbit: None, permits: false };
    begin(&mut processes, &folder, "run/listen", owned.engine, owned.settings, &owned.job, links)?;
    for party in PartyId::all(parties) {
        processes.order(party, &(owned.learns)(party))?;
        processes.bytes(party, &(owned.own)(party))?;
    }
    let reports: Vec<PartyReport> = processes.reports("run", timeout + MARGIN)?;
    processes.close(timeout)?;
    folder.close()?;
    Ok((prepared.facts(), PartyId::all(parties).zip(reports).collect()))
}

/// Act as a party of a local run. Failures are reported, not printed.
///
/// # Errors
/// [`Failure`] if a step fails; unless standard input could not be taken over, it has been reported.
pub fn run_party() -> Result<(), Failure> {
    be(|Joined { pipes, prepared, mesh, .. }| {
        let learns: bool = pipes.order()?;
        let own = Own::new(pipes.bytes()?);
        let start = Instant::now();
        let outcome = compute(mesh, *prepared, &own, learns)?;
        pipes.report(Ok(PartyReport::new(&outcome, start.elapsed().as_secs_f64())))?;
        // this process ends here, when the one that started it closes its standard input
        pipes.bytes().map(drop)
    })
}
