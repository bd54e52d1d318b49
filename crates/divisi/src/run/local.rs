//! All parties as processes on this machine, under the orders of the process that was asked.
//!
//! Trust: that process knows all inputs and outputs.

use super::{Options, Report, Told, compute, report};
use crate::cleanup::Cleanup;
use crate::engine::Own;
use crate::failure::Failure;
use crate::local::{Processes, Room};
use crate::party::{Joined, Links, MARGIN, be, begin};
use divisi_net::{Options as Net, PartyId};
use std::path::Path;
use std::time::Instant;

/// The name by which a process learns that it is a party of a run.
pub const ROLE: &str = "run";

/// Run it with all parties as processes on this machine.
///
/// # Errors
/// A party's failure.
pub fn local(options: &Options, program: &Path, cleanup: &Cleanup) -> Result<Report, Failure> {
    let timeout = options.timeout.unwrap_or(Net::default().timeout);
    // what makes no sense is refused before anything is there
    let job = options.job();
    let prepared = options.engine.prepare(&job, &options.settings)?;
    let parties = prepared.parties();
    let room = Room::new(cleanup)?;
    let mut processes = Processes::start(program, ROLE, parties, cleanup)?;
    let links = Links { timeout, rtt_ms: None, rate_mbit: None, permits: false };
    begin(&mut processes, &room, "run/listen", options.engine, &options.settings, &job, links)?;
    for party in PartyId::all(parties) {
        processes.order(party, &options.receivers.contains(&party))?;
        processes.bytes(party, &options.of(party))?;
    }
    let told: Vec<Told> = processes.reports("run", timeout + MARGIN)?;
    processes.close(timeout)?;
    room.close()?;
    report(options, prepared.facts(), PartyId::all(parties).zip(told).collect())
}

/// Be a party of a local run. Failures are reported, not printed.
///
/// # Errors
/// The fault that was reported, or why none could be.
pub fn run_party() -> Result<(), Failure> {
    be(|Joined { pipes, prepared, mesh, .. }| {
        let learns: bool = pipes.order()?;
        let own = Own::new(pipes.bytes()?);
        let start = Instant::now();
        let outcome = compute(mesh, *prepared, &own, learns)?;
        pipes.report(Ok(Told::new(&outcome, start.elapsed().as_secs_f64())))?;
        // the orders end with the process: whoever gave them closes our standard input
        pipes.bytes().map(drop)
    })
}
