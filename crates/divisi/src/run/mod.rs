//! Any circuit among parties: all of them processes on this machine, or one of them here and the others elsewhere.
//!
//! Trust: with all parties on one machine that machine knows everything, and shows how it goes; with one party here the others learn
//! nothing of its inputs but what the outputs tell: one of three corrupt ([`divisi_rep3`]; `protocol` has the steps), or all others
//! ([`divisi_garble`]; `garble` has the steps).

pub mod garble;
mod local;
pub mod protocol;

pub(crate) use local::READ_TOO;
pub use local::{ROLE, local, run_party};

use crate::circuit::{self, Held};
use crate::failure::{Failure, Kind};
use crate::garbling::Garbling;
use crate::local::seat;
use divisi_net::{Config, Door, Identity, Machine, Mesh, Options as Net, PartyId};
use divisi_rep3::Security;
use divisi_symmetric::gates::Adder;
use protocol::{Outcome, PARTIES, Task};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

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
    /// Where it listens, if not at the configuration's address.
    pub listen: Option<String>,
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
    let (identity, world) = (Arc::new(identity), Arc::new(Machine));
    let door = match &membership.listen {
        Some(address) => Door::open_on(address, config, me, identity, world),
        None => Door::open(config, me, identity, world),
    };
    let door = door.map_err(usage)?;
    let mesh = seat::join(&door, within, &net)?;
    let start = Instant::now();
    let outcome = work.run(&mesh, &options.of(me))?;
    if options.receivers.contains(&me) != outcome.outputs.is_some() {
        return Err(Failure::new(Kind::Abort, "no output came to a party that was to learn it: report this"));
    }
    report(options, vec![(me, Told::new(&outcome, start.elapsed().as_secs_f64()))])
}
