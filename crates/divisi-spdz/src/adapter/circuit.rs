//! A circuit among any number of parties: inputs of any party, outputs to chosen ones.
//!
//! Adversary: that of [`divisi_spdz`]; all parties but one may deviate, as owners, as computing parties and
//! as receivers.
//!
//! 1. The owner of a value broadcasts it masked by bits that it alone knows.
//! 2. The circuit runs as a Boolean program over products of bits, and everything opened is checked.
//! 3. Each output value goes to its own receivers. Values for all parties are opened to all and checked; for
//!    a value to some, its sum with bits that the receiver alone knows is opened, and the receiver checks it,
//!    too \[K24\]. Each receiver has bits of its own, so that what is opened for one tells others nothing.

use super::begin::{ONLINE, OUTPUTS, SETUP, engine, phase};
use super::by_field;
use super::how::{How, Task};
use super::needs::Needs;
use crate::{AuthBit, Host, Spdz, SpdzProtocol, VERIFICATION_PHASE};
use divisi_circuit::Program;
use divisi_core::{
    Abort, Boolean, Counts, Lanes, Opens, PartyId, ProgramRun, PublicParameters, Session, Settles, Step,
    Verified, step,
};
use divisi_engine::circuit::HeldCircuit;
use divisi_engine::job::{self, OutputGroup, Own};
use divisi_engine::{BenchSchedule, Differ, EngineParty, Prepared, Rows, Unsupported, Watch};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use serde_json::{Map, json};
use zeroize::Zeroizing;

const INPUT: Step = step!("run.input");

/// The largest number of products of bits that a party holds at once, unless one evaluation has more.
const BATCH_ANDS: usize = 1 << 20;

/// Evaluations of a circuit.
pub(super) struct Circuit<'j> {
    job: &'j job::CircuitJob,
    program: &'j Program,
    owners: &'j [PartyId],
    how: How,
}

impl<'j> Circuit<'j> {
    /// # Errors
    /// [`Unsupported`] for a circuit that stays in its file, inputs that a client deals, a protocol of
    /// another task, or an owner or receiver that is not a party.
    pub fn new(job: &'j job::CircuitJob, how: How) -> Result<Self, Unsupported> {
        let HeldCircuit::Program(circuit) = &*job.circuit else {
            return Err(Unsupported::new(
                "--streamed keeps the circuit in its file, and the engine spdz needs it in memory: leave --streamed out",
            ));
        };
        let job::Between::Parties { owners, .. } = &job.between else {
            return Err(Unsupported::new("inputs dealt by a client, which the engine spdz does not support"));
        };
        if how.named().is_some() {
            how.protocol_for(Task::Circuits)?;
        }
        job.check_parties(how.parties)?;
        Ok(Circuit { job, program: &circuit.program, owners, how })
    }

    fn begin<'p, F: Host + 'p>(
        &'p self,
        session: Session,
        count: usize,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        let groups = self.job.output_groups();
        let mut needs = Needs::default().ands(self.program.and_count() * count);
        for party in PartyId::all(self.how.parties) {
            let bits = self.job.wires_of(party).len() + told_to(&groups, self.how.parties, party);
            needs = needs.known_bits(Some(party), bits * count);
        }
        let engine = engine::<F>(session, &self.how, SpdzProtocol::Lookup, &needs.plan())?;
        let ahead = self.how.ahead();
        Ok(Box::new(Owner { of: self, engine, ahead, openings: 0, bucket: None }))
    }
}

impl Prepared for Circuit<'_> {
    fn facts(&self) -> Map<String, serde_json::Value> {
        divisi_engine::members(json!({
            "k": self.how.config.k,
            "statistical_bits": self.how.statistical_bits(),
            "computational_bits": COMPUTATIONAL_BITS,
        }))
    }

    fn parties(&self) -> usize {
        self.how.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let numbers = |parties: &[PartyId]| parties.iter().map(|party| party.number()).collect::<Vec<u8>>();
        let parameters = PublicParameters::new("spdz circuit")
            .with("circuit", &self.job.circuit.digest())
            .with("owners", &numbers(self.owners));
        let parameters = self.job.describe_receivers(parameters).with("count", &(count as u64).to_le_bytes());
        self.how.describe(parameters)
    }

    fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
        let parties = format!("{:?} {:?}", self.owners, self.job.receivers());
        let how = blake3::hash(format!("{} {parties}", self.how.common()).as_bytes());
        vec![("another circuit", self.job.circuit.digest()), ("with other options", *how.as_bytes())]
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        let batch = (BATCH_ANDS / self.program.and_count().max(1)).max(1);
        BenchSchedule { batch, warmup: (warmup.min(1), self.job.count.min(batch)), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.job.owned(self.how.parties, inputs)
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        self.job.learned(count, &outputs)
    }

    fn start<'p>(
        &'p self,
        session: Session,
        count: usize,
        _: &Own,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        by_field!(self.how.field, F => self.begin::<F>(session, count))
    }
}

/// One party, whose inputs are its own.
struct Owner<'p, F: Host> {
    of: &'p Circuit<'p>,
    engine: Spdz<F>,
    /// The phase in which products are made or read.
    ahead: &'static str,
    openings: u64,
    bucket: Option<usize>,
}

impl<F: Host> EngineParty for Owner<'_, F> {
    /// `own` has this party's input wires, evaluation after evaluation, one to a byte. The outputs have the
    /// same form: the wires of the values that this party learns.
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let (of, e) = (self.of, &mut self.engine);
        let wires = phase(e, watch, SETUP, |e| inputs(e, of, count, own))?;
        phase(e, watch, self.ahead, |e| e.preprocess_ands(of.program.and_count() * count))?;
        let before = e.session().meter().read().openings;
        let out = phase(e, watch, ONLINE, |e| {
            let mut jobs = [ProgramRun::new(of.program, wires)];
            e.run(&mut jobs)?;
            let [job] = jobs;
            Ok(job.wires)
        })?;
        self.openings += e.session().meter().read().openings - before;
        let verified = phase(e, watch, VERIFICATION_PHASE, |e| e.settled(out))?;
        watch.meet(OUTPUTS)?;
        e.session().phase(OUTPUTS);
        let learned = outputs(e, of, count, verified)?;
        e.rest()?;
        self.bucket = e.bucket();
        Ok(learned)
    }

    fn meter(&mut self) -> Counts {
        self.engine.session().meter().read()
    }

    fn facts(&self) -> Map<String, serde_json::Value> {
        divisi_engine::members(json!({ "openings": self.openings, "bucket": self.bucket }))
    }
}

/// All parties' inputs in the order of the wires, with a lane for each evaluation.
fn inputs<F: Host>(
    e: &mut Spdz<F>,
    of: &Circuit<'_>,
    count: usize,
    own: &Own,
) -> Result<Vec<AuthBit<F>>, Abort> {
    let misfit = || Abort::Misuse { step: INPUT, what: "not as many bits as this party's input values have" };
    let me = e.session().me();
    if own.len() != of.job.wires_of(me).len() * count {
        return Err(misfit());
    }
    let owned = |owner: PartyId| (owner, of.job.wires_of(owner).len() * count);
    e.preprocess_known(&PartyId::all(of.how.parties).map(owned).collect::<Vec<_>>())?;
    let mut wires: Vec<Option<AuthBit<F>>> = vec![None; of.program.input_bits()];
    for owner in PartyId::all(of.how.parties) {
        let places = of.job.wires_of(owner);
        if places.is_empty() {
            continue;
        }
        // wire by wire, and of each wire all evaluations
        let bit = |at: usize| own.get(at % count.max(1) * places.len() + at / count.max(1)) == Some(&1);
        let mine: Option<Zeroizing<Vec<bool>>> =
            (owner == me).then(|| Zeroizing::new((0..places.len() * count).map(bit).collect()));
        let all = e.input_bits(owner, mine.as_ref().map(|bits| bits.as_slice()), places.len() * count)?;
        for (i, place) in places.into_iter().enumerate() {
            let lanes: Vec<usize> = (i * count..(i + 1) * count).collect();
            if let Some(wire) = wires.get_mut(place) {
                *wire = all.gather(&lanes);
            }
        }
    }
    wires.into_iter().collect::<Option<_>>().ok_or_else(misfit)
}

/// The number of output bits that this party learns and not all parties do: each takes a mask of its own.
fn told_to(groups: &[OutputGroup], parties: usize, receiver: PartyId) -> usize {
    let to_some = groups.iter().filter(|group| group.receivers.len() < parties);
    to_some.filter(|group| group.receivers.contains(&receiver)).map(|group| group.wires.len()).sum()
}

/// Open each output to its receivers; returns what this party learns.
fn outputs<F: Host>(
    e: &mut Spdz<F>,
    of: &Circuit<'_>,
    count: usize,
    out: Verified<Vec<AuthBit<F>>>,
) -> Result<Own, Abort> {
    let in_rows = |wires: Vec<Vec<bool>>| {
        let row = |lane: usize| wires.iter().filter_map(move |wire| wire.get(lane)).map(|bit| u8::from(*bit));
        Own::new((0..count).flat_map(row).collect())
    };
    let me = e.session().me();
    let groups = of.job.output_groups();
    let (to_all, to_some): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|group| group.receivers.len() == of.how.parties);
    // one request for the masks of all receivers, before anything is opened
    let told = |receiver: PartyId| (receiver, told_to(&to_some, of.how.parties, receiver) * count);
    e.preprocess_known(&PartyId::all(of.how.parties).map(told).collect::<Vec<_>>())?;
    let mut learned = Vec::with_capacity(to_all.len() + 1);
    for group in to_all {
        let wires: Vec<Vec<bool>> = Opens::<Vec<AuthBit<F>>>::open(e, out.select(&group.wires))?;
        learned.push((group, in_rows(wires)));
    }
    for receiver in PartyId::all(of.how.parties) {
        let own = to_some.iter().filter(|group| group.receivers.contains(&receiver));
        let wires: Vec<usize> = own.flat_map(|group| group.wires.iter().copied()).collect();
        if wires.is_empty() {
            continue;
        }
        let bits = out.select(&wires).into_inner();
        let all = e.join_bits(&bits.iter().collect::<Vec<_>>());
        // joining only reorders wires that were settled, so nothing is owed
        let verified = e.settled(all)?;
        if let Some(bits) = e.output_bits_to(receiver, verified)? {
            let rows = in_rows(bits.chunks(count.max(1)).map(<[bool]>::to_vec).collect());
            learned.push((OutputGroup { receivers: vec![receiver], wires }, rows));
        }
    }
    Ok(of.job.join_groups(me, count, learned))
}
