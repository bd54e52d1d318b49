//! All parties as processes on this machine, under the orders of the process that was asked.
//!
//! Trust: that process knows all inputs and outputs.

use super::{Engine, Options, Report, Told, Work, report};
use crate::circuit;
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::garbling::Told as Manner;
use crate::local::{Pipes, Processes, Room, seat};
use divisi_net::{Options as Net, PartyId};
use divisi_rep3::Security;
use divisi_symmetric::gates::Adder;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};
use zeroize::Zeroize;

/// The name by which a process learns that it is a party of a run.
pub const ROLE: &str = "run";
/// How long parties of one machine may take to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// How much longer for each of them, for many share few processors.
const CONNECT_EACH: Duration = Duration::from_millis(100);
/// How many times longer than a party its peers may take to read the circuit: many share few processors.
pub(crate) const READ_TOO: u32 = 4;
/// How much longer this process waits than the parties, who know more about what they wait for.
const MARGIN: Duration = Duration::from_millis(300);

/// How long so many parties of one machine may take to connect.
fn connect(parties: usize) -> Duration {
    CONNECT + CONNECT_EACH * u32::try_from(parties).unwrap_or(u32::MAX)
}

/// An engine between processes of this program.
#[derive(Serialize, Deserialize)]
enum Chosen {
    Rep3 { malicious: bool },
    Garble(Manner),
}

/// What a party of a local run learns.
#[derive(Serialize, Deserialize)]
struct Plan {
    seat: seat::Seat,
    circuit: String,
    low_depth: bool,
    digest: [u8; 32],
    owners: Vec<u8>,
    receivers: Vec<u8>,
    engine: Chosen,
    own: Vec<bool>,
    timeout_ms: u64,
}

impl Drop for Plan {
    fn drop(&mut self) {
        self.own.zeroize();
    }
}

/// Run it with all parties as processes on this machine.
///
/// # Errors
/// A party's failure.
pub fn local(options: &Options, program: &Path, cleanup: &Cleanup) -> Result<Report, Failure> {
    let timeout = options.timeout.unwrap_or(Net::default().timeout);
    // what makes no sense is refused before anything is there
    options.task()?;
    let parties = options.engine.parties();
    let room = Room::new(cleanup)?;
    let mut processes = Processes::start(program, ROLE, parties, cleanup)?;
    let seats = seat::seats(&mut processes, &room, "run/listen", connect(parties) + MARGIN)?;
    for (party, seat) in PartyId::all(parties).zip(seats) {
        let plan = Plan {
            seat,
            circuit: options.circuit.name().to_owned(),
            low_depth: options.adder == Adder::LowDepth,
            digest: options.circuit.digest(),
            owners: options.inputs.iter().map(|input| input.owner.number()).collect(),
            receivers: options.receivers.iter().map(|party| party.number()).collect(),
            engine: match &options.engine {
                Engine::Rep3(security) => Chosen::Rep3 { malicious: *security == Security::Malicious },
                Engine::Garble(garbling) => Chosen::Garble(garbling.into()),
            },
            own: options.of(party).to_vec(),
            timeout_ms: timeout.as_millis() as u64,
        };
        processes.order(party, &plan)?;
    }
    let told: Vec<Told> = processes.reports("run", timeout + MARGIN)?;
    processes.close(timeout)?;
    room.close()?;
    report(options, PartyId::all(parties).zip(told).collect())
}

/// Be a party of a local run. Failures are reported, not printed.
///
/// # Errors
/// What was reported, or could not be.
pub fn run_party() -> Result<(), Failure> {
    let pipes = Pipes::take()?;
    let failed = match serve(&pipes) {
        Ok(()) => return Ok(()),
        Err(failure) => failure,
    };
    // whoever gave the orders may be gone; then nobody is to be told
    let _ = pipes.report::<()>(Err(failed.clone()));
    Err(failed)
}

fn serve(pipes: &Pipes) -> Result<(), Failure> {
    let listener = seat::listen(pipes)?;
    let plan: Plan = pipes.order()?;
    let adder = if plan.low_depth { Adder::LowDepth } else { Adder::FewestAnds };
    let engine = match plan.engine {
        Chosen::Rep3 { malicious: true } => Engine::Rep3(Security::Malicious),
        Chosen::Rep3 { malicious: false } => Engine::Rep3(Security::SemiHonest),
        Chosen::Garble(manner) => Engine::Garble(manner.into()),
    };
    let start = Instant::now();
    let circuit = circuit::hold(&plan.circuit, adder, engine.is_streamed())?;
    let read = start.elapsed();
    if circuit.digest() != plan.digest {
        return Err(Failure::usage(format!("{} has changed meanwhile: leave it as it is", circuit.name())));
    }
    let parties = |numbers: &[u8]| numbers.iter().filter_map(|number| PartyId::new(*number)).collect();
    let work = Work::new(&circuit, engine, parties(&plan.owners), parties(&plan.receivers))?;
    let net = Net { timeout: Duration::from_millis(plan.timeout_ms), ..Net::default() };
    let (_door, mesh) = plan.seat.join(pipes, listener, &net, connect(engine.parties()) + READ_TOO * read)?;
    let start = Instant::now();
    let outcome = work.run(&mesh, &plan.own)?;
    pipes.report(Ok(Told::new(&outcome, start.elapsed().as_secs_f64())))?;
    // the orders end with the process: whoever gave them closes our standard input
    pipes.bytes().map(drop)
}
