//! Any circuit among parties: all of them processes on this machine, or one of them here and the others elsewhere.
//!
//! Trust: with all parties on one machine that machine knows everything, and shows how it goes; with one party here the others learn
//! nothing of its inputs but what the outputs tell: one of three corrupt ([`divisi_rep3`]; `protocol` has the steps), or all others
//! ([`divisi_garble`]; `garble` has the steps).

pub mod garble;
pub mod protocol;

use crate::circuit::{self, Held};
use crate::cleanup::Cleanup;
use crate::failure::{Failure, Kind};
use crate::garbling::{Garbling, Told as Manner};
use crate::local::{Pipes, Processes, Room, seat};
use divisi_net::{Config, Door, Identity, Machine, Mesh, Options as Net, PartyId};
use divisi_rep3::Security;
use divisi_symmetric::gates::Adder;
use protocol::{Outcome, PARTIES, Task};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeroize::{Zeroize, Zeroizing};

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

/// An input value as it was given: whose it is, and its digits; none of another party's.
#[derive(Clone)]
pub struct Input {
    /// Whose it is.
    pub owner: PartyId,
    /// The wires, if the value is known here.
    pub bits: Option<Zeroizing<Vec<bool>>>,
}

/// What computes, and against whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Engine {
    /// Replicated sharing among three.
    Rep3(Security),
    /// Authenticated garbling.
    Garble(Garbling),
}

impl Engine {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Rep3(_) => "rep3",
            Engine::Garble(_) => "garble",
        }
    }

    /// How many parties.
    #[must_use]
    pub fn parties(&self) -> usize {
        match self {
            Engine::Rep3(_) => PARTIES,
            Engine::Garble(garbling) => garbling.parties,
        }
    }

    /// Against whom.
    #[must_use]
    pub fn security(&self) -> Security {
        match self {
            Engine::Rep3(security) => *security,
            Engine::Garble(_) => Security::Malicious,
        }
    }

    /// Whether a circuit may stay in its file.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        matches!(self, Engine::Garble(garbling) if garbling.streamed)
    }

    /// The party of that number.
    ///
    /// # Errors
    /// If there is none.
    pub fn party(&self, number: u8) -> Result<PartyId, Failure> {
        let party = PartyId::new(number).filter(|party| party.index() < self.parties());
        party.ok_or_else(|| {
            let (name, last) = (self.name(), self.parties());
            Failure::usage(format!(
                "there is no party {number}: the engine {name} has the parties 1 to {last}"
            ))
        })
    }
}

/// What to run.
pub struct Options {
    /// The circuit.
    pub circuit: Held,
    /// How its words are added, if it is one of this program's own.
    pub adder: Adder,
    /// One for each input value, in the circuit's order.
    pub inputs: Vec<Input>,
    /// Whether wire 0 is the first bit of a value, as in most files of the format before Bristol Fashion.
    pub first_bit_first: bool,
    /// Who learns the outputs.
    pub receivers: Vec<PartyId>,
    /// What computes.
    pub engine: Engine,
    /// The time limit of a receive.
    pub timeout: Option<Duration>,
}

/// One real party of a mesh.
pub struct Membership {
    /// Which one.
    pub party: PartyId,
    /// The configuration's file.
    pub config: PathBuf,
    /// The identity's file.
    pub identity: PathBuf,
}

/// What came of it.
pub struct Report {
    /// The output values, in the circuit's order, of each receiver that is known here.
    pub outputs: Vec<(PartyId, Vec<String>)>,
    /// From the first input to the last output.
    pub seconds: f64,
    /// What a party sent: the most of any known here.
    pub bits_sent: u64,
    /// Likewise, as bytes handed to TLS.
    pub bytes_sent: u64,
    /// The longest chain of dependent messages.
    pub rounds: u32,
}

/// The inputs of a circuit from `P=HEX`, one for each value. Those of `known` have digits (all of them if nobody is named), the others'
/// have none.
///
/// # Errors
/// The first that is not as it must be.
pub fn inputs(
    circuit: &Held,
    given: &[String],
    parties: usize,
    known: Option<PartyId>,
) -> Result<Vec<Input>, Failure> {
    let widths = circuit.inputs();
    if given.len() != widths.len() {
        let widths: Vec<String> = widths.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(format!(
            "{} takes {} input values, of {} bits, and {} are given: give an --input P=HEX for each, in this order",
            circuit.name(),
            widths.len(),
            widths.join(", "),
            given.len()
        )));
    }
    given
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(i, (given, width))| input(i + 1, given, *width, parties, known))
        .collect()
}

fn input(
    number: usize,
    given: &str,
    width: usize,
    parties: usize,
    known: Option<PartyId>,
) -> Result<Input, Failure> {
    let wrong = |what: String| Failure::usage(format!("input {number} {what}"));
    let form = || {
        wrong(format!(
            "is not of the form P=HEX: give its one owner, 1 to {parties}, and its value as the standard prints it"
        ))
    };
    let (owner, digits) = given.split_once('=').ok_or_else(form)?;
    let owner: u8 = owner.trim().parse().map_err(|_| form())?;
    let owner = PartyId::new(owner).filter(|owner| owner.index() < parties);
    let owner = owner.ok_or_else(|| wrong(format!("belongs to nobody: the parties are 1 to {parties}")))?;
    if known.is_some_and(|known| known != owner) {
        if !digits.is_empty() {
            return Err(wrong(format!(
                "is {owner}'s, and its value is given: write {}= and nothing after it",
                owner.number()
            )));
        }
        return Ok(Input { owner, bits: None });
    }
    let bits =
        circuit::from_hex(digits.trim(), width).map_err(|what| wrong(format!("{what}: give all of it")))?;
    Ok(Input { owner, bits: Some(bits) })
}

impl Options {
    /// What the parties have to agree on.
    ///
    /// # Errors
    /// What does not fit the engine.
    fn task(&self) -> Result<Work<'_>, Failure> {
        let owners: Vec<PartyId> = self.inputs.iter().map(|input| input.owner).collect();
        Work::new(&self.circuit, self.engine, owners, self.receivers.clone())
    }

    /// The input wires of a party.
    fn of(&self, party: PartyId) -> Zeroizing<Vec<bool>> {
        let own =
            self.inputs.iter().filter(|input| input.owner == party).filter_map(|input| input.bits.as_ref());
        let wires = own.map(|bits| circuit::ordered(bits, self.first_bit_first));
        Zeroizing::new(wires.flat_map(|bits| bits.to_vec()).collect())
    }

    fn values(&self, bits: &[bool]) -> Vec<String> {
        let values = circuit::cut(bits, self.circuit.outputs());
        values.iter().map(|bits| circuit::to_hex(&circuit::ordered(bits, self.first_bit_first))).collect()
    }
}

/// What an engine is to do.
enum Work<'c> {
    Rep3(Task<'c>),
    Garble(Box<garble::Task<'c>>),
}

impl<'c> Work<'c> {
    fn new(
        circuit: &'c Held,
        engine: Engine,
        owners: Vec<PartyId>,
        receivers: Vec<PartyId>,
    ) -> Result<Self, Failure> {
        Ok(match engine {
            Engine::Rep3(security) => {
                let (program, digest) = (circuit.program()?, circuit.digest());
                Work::Rep3(Task { program, digest, owners, receivers, security })
            }
            Engine::Garble(garbling) => {
                let plan = garbling.plan_of(circuit, &owners, &receivers, 1)?;
                Work::Garble(Box::new(garble::Task { plan, garbling }))
            }
        })
    }

    fn run(&self, mesh: &Arc<Mesh>, own: &[bool]) -> Result<Outcome, Failure> {
        match self {
            Work::Rep3(task) => Ok(protocol::run(mesh, 1, task, own)?),
            Work::Garble(task) => garble::run(mesh, task, own),
        }
    }
}

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

/// What a party says in the end.
#[derive(Serialize, Deserialize)]
struct Told {
    outputs: Option<Vec<bool>>,
    seconds: f64,
    bits: u64,
    bytes: u64,
    rounds: u32,
}

impl Told {
    fn new(outcome: &Outcome, seconds: f64) -> Self {
        let phases = || outcome.counts.phases.values();
        Told {
            outputs: outcome.outputs.as_deref().cloned(),
            seconds,
            bits: phases().map(|phase| phase.bits).sum(),
            bytes: phases().map(|phase| phase.bytes).sum(),
            rounds: phases().map(|phase| phase.rounds).sum(),
        }
    }
}

fn report(options: &Options, told: Vec<(PartyId, Told)>) -> Result<Report, Failure> {
    let mut report = Report { outputs: Vec::new(), seconds: 0.0, bits_sent: 0, bytes_sent: 0, rounds: 0 };
    for (party, told) in told {
        report.outputs.extend(told.outputs.map(|bits| (party, options.values(&bits))));
        report.seconds = report.seconds.max(told.seconds);
        report.bits_sent = report.bits_sent.max(told.bits);
        report.bytes_sent = report.bytes_sent.max(told.bytes);
        report.rounds = report.rounds.max(told.rounds);
    }
    if report.outputs.windows(2).any(|pair| pair.first().map(|p| &p.1) != pair.last().map(|p| &p.1)) {
        let error = "the parties learned different outputs: they are worth nothing; report this";
        return Err(Failure::mismatch(error));
    }
    Ok(report)
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

/// Be one of the parties of a mesh, whose others run elsewhere, each the same command with its own number.
///
/// # Errors
/// What is wrong with the files; the failure of the run.
pub fn one(options: &Options, membership: &Membership) -> Result<Report, Failure> {
    let usage = |e: divisi_net::ConfigError| Failure::usage(e.to_string());
    let config = Config::load(&membership.config).map_err(usage)?;
    let (engine, parties) = (options.engine.name(), options.engine.parties());
    if config.parties().len() != parties {
        return Err(Failure::usage(format!(
            "the engine {engine} has {parties} parties, and {} has {}: give the configuration of a mesh of {parties}",
            membership.config.display(),
            config.parties().len()
        )));
    }
    let work = options.task()?;
    let identity = Identity::load(&membership.identity).map_err(|e| Failure::usage(e.to_string()))?;
    let me = membership.party;
    config.check_identity(me, &identity).map_err(usage)?;
    let net = Net { timeout: options.timeout.unwrap_or(config.timeout()), ..Net::default() };
    let within = config.connect();
    let door = Door::open(config, me, Arc::new(identity), Arc::new(Machine)).map_err(usage)?;
    let mesh = seat::join(&door, within, &net)?;
    let start = Instant::now();
    let outcome = work.run(&mesh, &options.of(me))?;
    if options.receivers.contains(&me) != outcome.outputs.is_some() {
        return Err(Failure::new(Kind::Abort, "no output came to a party that was to learn it: report this"));
    }
    report(options, vec![(me, Told::new(&outcome, start.elapsed().as_secs_f64()))])
}
