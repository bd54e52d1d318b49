//! Any circuit among parties: all of them processes on this machine, or one of them here and the others on
//! other machines.
//!
//! Trust: with all parties on one machine, that machine knows all secrets, and only demonstrates; with one
//! party here, the others learn nothing of its inputs but what the outputs reveal, as far as the engine
//! protects them ([`crate::engine`]).

mod local;
mod membership;
pub mod program;

pub use local::{ROLE, local, run_party};
pub use membership::Membership;

use crate::WireValue;
use crate::circuit::HeldCircuit;
use crate::engine::job::{Between, CircuitJob};
use crate::engine::{self, Engine, EngineSettings, JobSpec, Own, Prepared, Unwatched};
use crate::failure::{Failure, Kind};
use divisi_core::Counts;
use divisi_net::{Mesh, PartyId};
use divisi_symmetric::gates::Adder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An input value as given: its owner, and the value itself unless it belongs to another party.
#[derive(Clone)]
pub struct InputWires {
    /// The owner.
    pub owner: PartyId,
    /// The value, if it is known here.
    pub bits: Option<WireValue>,
}

/// The party of that number.
///
/// # Errors
/// [`Failure`] if there is none.
pub fn party(engine: &dyn Engine, settings: &EngineSettings, number: u8) -> Result<PartyId, Failure> {
    let (name, last) = (engine.name(), engine::parties(engine, settings));
    let party = PartyId::new(number).filter(|party| party.index() < last);
    party.ok_or_else(|| {
        Failure::usage(format!("there is no party {number}: the engine {name} has the parties 1 to {last}"))
    })
}

/// The options of a run.
pub struct RunOptions {
    /// The circuit.
    pub circuit: Arc<HeldCircuit>,
    /// How words are added in it, if it is a built-in circuit.
    pub adder: Adder,
    /// One for each input value, in the circuit's order.
    pub inputs: Vec<InputWires>,
    /// Whether wire 0 is the first bit of a value, as in most files in the older Bristol format. It need not
    /// be set for published files that are recognised.
    pub first_bit_first: bool,
    /// The parties that learn each output value ([`receivers`]).
    pub receivers: Vec<Vec<PartyId>>,
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The settings of the engine.
    pub settings: EngineSettings,
    /// How long a receive waits for a message.
    pub timeout: Option<Duration>,
}

/// The result of a run.
pub struct RunReport {
    /// The output values, in the circuit's order; `None` for one of which no receiver is known here.
    pub outputs: Vec<Option<String>>,
    /// Seconds from the first input to the last output.
    pub seconds: f64,
    /// Payload that a party sent, in bits: the maximum over the parties known here.
    pub bits_sent: u64,
    /// Bytes that a party handed to TLS: the maximum over the parties known here.
    pub bytes_sent: u64,
    /// The longest chain of dependent messages.
    pub rounds: u32,
    /// The engine's facts about the job, for JSON.
    pub facts: Map<String, Value>,
}

/// The inputs of a circuit from `P=HEX`, one for each value. Inputs of `known` must have digits (all inputs
/// if it is `None`), the others must not.
///
/// # Errors
/// [`Failure`] for the first input that is wrong.
pub fn inputs(
    circuit: &HeldCircuit,
    given: &[String],
    parties: usize,
    known: Option<PartyId>,
) -> Result<Vec<InputWires>, Failure> {
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
) -> Result<InputWires, Failure> {
    let wrong = |what: String| Failure::usage(format!("input {number} {what}"));
    let form = || {
        wrong(format!(
            "is not of the form P=HEX: give its one owner, 1 to {parties}, and its value as the standard prints it"
        ))
    };
    let (owner, digits) = given.split_once('=').ok_or_else(form)?;
    let owner: u64 = owner.trim().parse().map_err(|_| form())?;
    let party = u8::try_from(owner).ok().and_then(PartyId::new).filter(|party| party.index() < parties);
    let owner = party.ok_or_else(|| {
        wrong(format!("belongs to party {owner}, and there is none: the parties are 1 to {parties}"))
    })?;
    if known.is_some_and(|known| known != owner) {
        if !digits.is_empty() {
            return Err(wrong(format!(
                "belongs to {owner}, and its value is given: write {}= and nothing after it",
                owner.number()
            )));
        }
        return Ok(InputWires { owner, bits: None });
    }
    let bits = WireValue::from_hex(digits.trim(), width)
        .map_err(|what| wrong(format!("{what}: give the whole value")))?;
    Ok(InputWires { owner, bits: Some(bits) })
}

/// The parties that learn each output value, in order: from `P,...` for parties that learn all values, and
/// `VALUE=P,...` for those that learn one, which is counted from 1. If nothing is given all parties learn
/// all.
///
/// # Errors
/// [`Failure`] for the first of these that is wrong, or if nobody would learn a value.
pub fn receivers(
    circuit: &HeldCircuit,
    given: &[String],
    parties: usize,
    party: impl Fn(u8) -> Result<PartyId, Failure>,
) -> Result<Vec<Vec<PartyId>>, Failure> {
    let values = circuit.outputs().len();
    let list = |given: &str, list: &str| -> Result<Vec<PartyId>, Failure> {
        let number = |word: &str| {
            let number = word.trim().parse::<u64>().map_err(|_| {
                Failure::usage(format!(
                    "--output {given} is not of the form P,... or VALUE=P,...: give the numbers of the parties that \
                     learn all output values, or the number of a value and those of the parties that learn it"
                ))
            })?;
            let absent =
                || Failure::usage(format!("there is no party {number}: the parties are 1 to {parties}"));
            party(u8::try_from(number).map_err(|_| absent())?)
        };
        list.split(',').map(number).collect()
    };
    let mut all = if given.is_empty() { PartyId::all(parties).collect() } else { Vec::new() };
    let mut own: Vec<Option<Vec<PartyId>>> = vec![None; values];
    for given in given {
        let Some((value, parties)) = given.split_once('=') else {
            all.extend(list(given, given)?);
            continue;
        };
        let place = value.trim().parse::<usize>().ok().and_then(|value| value.checked_sub(1));
        let Some(place) = place.and_then(|place| own.get_mut(place)) else {
            return Err(Failure::usage(format!(
                "--output {given} names no output value: {} has the output values 1 to {values}",
                circuit.name()
            )));
        };
        if place.is_some() {
            return Err(Failure::usage(format!(
                "--output names the value {} twice: give all its parties at once, as {}=1,2",
                value.trim(),
                value.trim()
            )));
        }
        *place = Some(list(given, parties)?);
    }
    let mut receivers = Vec::with_capacity(values);
    for (value, own) in (1..).zip(own) {
        let mut own = own.unwrap_or_default();
        own.extend(&all);
        own.sort_unstable();
        own.dedup();
        if own.is_empty() {
            return Err(Failure::usage(format!(
                "no party learns the output value {value} of {values}: give --output {value}=P,... too"
            )));
        }
        receivers.push(own);
    }
    Ok(receivers)
}

/// A job, with the input of each party, and whether it learns an output.
struct OwnedJob<'o> {
    engine: &'static dyn Engine,
    settings: &'o EngineSettings,
    timeout: Option<Duration>,
    job: JobSpec,
    own: Box<dyn Fn(PartyId) -> Own + 'o>,
    learns: Box<dyn Fn(PartyId) -> bool + 'o>,
}

impl RunOptions {
    fn owned(&self) -> OwnedJob<'_> {
        OwnedJob {
            engine: self.engine,
            settings: &self.settings,
            timeout: self.timeout,
            job: self.job(),
            own: Box::new(|party| self.of(party)),
            learns: Box::new(|party| self.receivers.iter().any(|list| list.contains(&party))),
        }
    }

    /// The job, on which the parties have to agree.
    fn job(&self) -> JobSpec {
        let between = Between::Parties {
            owners: self.inputs.iter().map(|input| input.owner).collect(),
            receivers: self.receivers.clone(),
        };
        JobSpec::Circuit(CircuitJob {
            circuit: Arc::clone(&self.circuit),
            adder: self.adder,
            between,
            count: 1,
        })
    }

    /// The input wires of a party.
    fn of(&self, party: PartyId) -> Own {
        let own = self.inputs.iter().filter(|input| input.owner == party);
        let values = own.filter_map(|input| Some(input.bits.clone()?.ordered(self.is_first_bit_first())));
        Own::new(values.collect::<Vec<_>>().iter().flat_map(WireValue::bits).copied().collect())
    }

    fn is_first_bit_first(&self) -> bool {
        self.first_bit_first || self.circuit.is_first_bit_first()
    }

    /// The numbers of the output values that a party learns, from 0, with their widths.
    fn values_of(&self, party: PartyId) -> Vec<(usize, usize)> {
        let values = self.circuit.outputs().iter().zip(&self.receivers).enumerate();
        values.filter(|(_, (_, to))| to.contains(&party)).map(|(i, (width, _))| (i, *width)).collect()
    }

    /// The values that a party learned, with their numbers, from its output wires.
    fn values(&self, party: PartyId, wires: &[u8]) -> Vec<(usize, String)> {
        let (numbers, widths): (Vec<usize>, Vec<usize>) = self.values_of(party).into_iter().unzip();
        let values = WireValue::cut(wires, &widths).into_iter();
        numbers
            .into_iter()
            .zip(values.map(|value| value.ordered(self.is_first_bit_first()).to_hex()))
            .collect()
    }
}

/// The outcome for a party.
struct Outcome {
    /// The output wires of a receiver, one to a byte.
    outputs: Option<Own>,
    /// The costs.
    counts: Counts,
}

/// One evaluation, by one party: `own` has its input wires. If the engine has something to compare, parties
/// that were started separately first compare their jobs in a session of its own.
fn compute(mesh: &Arc<Mesh>, prepared: &dyn Prepared, own: &Own, learns: bool) -> Result<Outcome, Failure> {
    let session = engine::start(mesh, prepared, 1)?;
    let mut party = prepared.start(session, 1, &Own::default())?;
    let outputs = party.batch(1, own, &mut Unwatched)?;
    Ok(Outcome { outputs: learns.then_some(outputs), counts: party.meter() })
}

/// The report of a party when it has finished.
#[derive(Default, Serialize, Deserialize)]
struct PartyReport {
    outputs: Option<Vec<u8>>,
    seconds: f64,
    bits: u64,
    bytes: u64,
    rounds: u32,
}

impl PartyReport {
    fn new(outcome: &Outcome, seconds: f64) -> Self {
        let phases = || outcome.counts.phases.values();
        PartyReport {
            outputs: outcome.outputs.as_deref().cloned(),
            seconds,
            bits: phases().map(|phase| phase.bits).sum(),
            bytes: phases().map(|phase| phase.bytes).sum(),
            rounds: phases().map(|phase| phase.rounds).sum(),
        }
    }

    /// The largest costs of these reports.
    fn most(reports: &[(PartyId, PartyReport)]) -> PartyReport {
        reports.iter().fold(PartyReport::default(), |most, (_, own)| PartyReport {
            outputs: None,
            seconds: most.seconds.max(own.seconds),
            bits: most.bits.max(own.bits),
            bytes: most.bytes.max(own.bytes),
            rounds: most.rounds.max(own.rounds),
        })
    }
}

/// What two receivers of one output must not do.
fn differs() -> Failure {
    Failure::mismatch("the parties learned different outputs, so the outputs mean nothing: report this")
}

fn report(
    options: &RunOptions,
    facts: Map<String, Value>,
    reports: Vec<(PartyId, PartyReport)>,
) -> Result<RunReport, Failure> {
    let PartyReport { seconds, bits, bytes, rounds, .. } = PartyReport::most(&reports);
    let mut outputs: Vec<Option<String>> = vec![None; options.circuit.outputs().len()];
    for (party, own) in reports {
        let learned = own.outputs.map(Own::new).map(|wires| options.values(party, &wires));
        for (value, digits) in learned.into_iter().flatten() {
            match outputs.get_mut(value) {
                Some(known @ None) => *known = Some(digits),
                Some(Some(known)) if *known == digits => {}
                _ => return Err(differs()),
            }
        }
    }
    Ok(RunReport { outputs, seconds, bits_sent: bits, bytes_sent: bytes, rounds, facts })
}

/// Run as one party of a mesh; the other parties run the same command with their own numbers elsewhere.
///
/// # Errors
/// [`Failure`] if a file is wrong, or the run fails.
pub fn one(options: &RunOptions, membership: &Membership) -> Result<RunReport, Failure> {
    let (facts, own) = alone(&options.owned(), membership)?;
    let wires: usize = options.values_of(membership.party).iter().map(|(_, width)| width).sum();
    if own.outputs.as_ref().is_some_and(|outputs| outputs.len() != wires) {
        return Err(Failure::new(Kind::Abort, "a party did not receive its output: report this"));
    }
    report(options, facts, vec![(membership.party, own)])
}

/// Run any job as one of the parties of a mesh. Returns the engine's facts about it, and this party's report.
fn alone(
    owned: &OwnedJob<'_>,
    membership: &Membership,
) -> Result<(Map<String, Value>, PartyReport), Failure> {
    let config = membership.load()?;
    let (engine, settings) = (owned.engine, owned.settings);
    let (name, parties) = (engine.name(), engine::parties(engine, settings));
    if config.parties().len() != parties {
        return Err(Failure::usage(format!(
            "the engine {name} has {parties} parties, and {} has {}: give the configuration of a mesh of {parties}",
            membership.config.display(),
            config.parties().len()
        )));
    }
    let prepared = crate::engine::prepare(engine, &owned.job, settings)?;
    let (listener, mesh) = membership.identify(config)?.join(owned.timeout)?;
    let (me, start) = (membership.party, Instant::now());
    let outcome = compute(&mesh, &*prepared, &(owned.own)(me), (owned.learns)(me))?;
    drop(listener);
    Ok((prepared.facts(), PartyReport::new(&outcome, start.elapsed().as_secs_f64())))
}

#[cfg(test)]
mod tests;
