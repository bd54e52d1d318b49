//! A circuit among three: inputs of any party, outputs to chosen ones.
//!
//! Adversary: that of [`divisi_rep3`]; any one party may deviate, as owner of an input, as computing party and as receiver.
//!
//! 1. The owner of values splits them for the three and sends the two others their parts; the holders of each component compare it
//!    before its first use \[A24\], so that nobody's input is two different values ([`owner::bring`]).
//! 2. The circuit runs as a Boolean program, and all its products are verified.
//! 3. Each receiver has two components of the outputs. The third comes from one of its two holders and a digest of it from the
//!    other: if they differ one of them lies, and the receiver takes nothing \[A1\]. Nobody else learns anything.

use super::super::job::{self, Own};
use super::super::{Course, Differ, Party, Prepared, Rows, Watch, timed};
use super::OUTPUTS;
use super::strands::{ONLINE, VERIFICATION};
use divisi_circuit::Program;
use divisi_core::{
    Abort, Boolean, Check, Convert, Counts, Job, Parameters, PartyId, Session, Step, Verified, settle, step,
};
use divisi_node::owner;
use divisi_rep3::deal::Part;
use divisi_rep3::open::component_digest;
use divisi_rep3::{Bit, Byte, Protocol, Rep3, Security, Trio};
use zeroize::Zeroizing;

const INPUT: Step = step!("run.input");
const OUTPUT: Step = step!("run.output");
const DIGEST: Step = step!("run.digest");

/// The parties of the engine.
const PARTIES: usize = 3;

/// What all parties must agree on.
pub(super) struct Task<'j> {
    pub job: &'j job::Circuit,
    pub program: &'j Program,
    /// A digest of the circuit.
    pub digest: [u8; 32],
    pub owners: &'j [PartyId],
    pub receivers: &'j [PartyId],
    pub security: Security,
}

impl Prepared for Task<'_> {
    fn parties(&self) -> usize {
        PARTIES
    }

    fn parameters(&self, _: usize) -> Parameters {
        let numbers = |parties: &[PartyId]| parties.iter().map(|party| party.number()).collect::<Vec<u8>>();
        Parameters::new("run")
            .with("circuit", &self.digest)
            .with("owners", &numbers(self.owners))
            .with("receivers", &numbers(self.receivers))
            .with("security", self.security.name().as_bytes())
    }

    fn course(&self, warmup: usize) -> Course {
        Course { batch: 1, warmup: (warmup, 1), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.job.owned(PARTIES, inputs)
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        self.job.learned(count, &outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> Result<Box<dyn Party + 'p>, Abort> {
        let rep = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, self.security);
        Ok(Box::new(Owner { task: self, rep }))
    }
}

/// One party, whose inputs are its own.
struct Owner<'p> {
    task: &'p Task<'p>,
    rep: Rep3,
}

impl Party for Owner<'_> {
    /// The steps 1 to 3. `own` has this party's input wires, value after value, one to a byte; so have the outputs, at a receiver.
    fn batch(&mut self, _: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let (rep, task) = (&mut self.rep, self.task);
        let out = timed(watch, ONLINE, || {
            rep.trio().session().phase(ONLINE);
            let wires = inputs(rep, task, own)?;
            let mut jobs = [Job::new(task.program, wires)];
            rep.run(&mut jobs)?;
            let [job] = jobs;
            bytes(rep, job.wires)
        })?;
        let verified = timed(watch, VERIFICATION, || {
            rep.trio().session().phase(VERIFICATION);
            let pending = if rep.owes() { rep.close(out) } else { rep.close_linear(out)? };
            settle(rep, pending)
        })?;
        rep.trio().session().phase(OUTPUTS);
        outputs(rep, task, &verified)
    }

    fn meter(&mut self) -> Counts {
        self.rep.trio().session().meter().read()
    }
}

/// How many bytes the bits of a party's own values fill.
fn bytes_of(task: &Task<'_>, party: PartyId) -> usize {
    task.job.wires_of(party).len().div_ceil(8)
}

/// All parties' inputs, as secrets of one lane each, in the order of the wires.
fn inputs(rep: &mut Rep3, task: &Task<'_>, own: &Own) -> Result<Vec<Bit>, Abort> {
    let me = rep.trio().me();
    if own.len() != task.job.wires_of(me).len() {
        return Err(rep.trio().session().misuse(INPUT, "not as many bits as this party's input values have"));
    }
    let packed: Zeroizing<Vec<u8>> = Zeroizing::new(
        own.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1)).collect(),
    );
    let bytes = [0, 1, 2].map(|i| PartyId::from_index(i).map_or(0, |owner| bytes_of(task, owner)));
    let all = owner::bring(rep, &task.digest, bytes, &packed)?;
    let mut wires: Vec<Option<Bit>> = vec![None; task.program.input_bits()];
    let mut at = 0;
    for owner in PartyId::all(PARTIES) {
        let mut places = task.job.wires_of(owner).into_iter();
        for _ in 0..bytes_of(task, owner) {
            let one = |side: &[u8]| side.get(at).map_or(Vec::new(), |byte| vec![*byte]);
            let byte = rep.trio().input(&Part { first: one(&all.first), second: one(&all.second) })?;
            at += 1;
            let bits: [Bit; 8] = rep.convert(byte)?;
            for (bit, place) in bits.into_iter().zip(places.by_ref().take(8)) {
                if let Some(wire) = wires.get_mut(place) {
                    *wire = Some(bit);
                }
            }
        }
    }
    let wires: Option<Vec<Bit>> = wires.into_iter().collect();
    wires.ok_or_else(|| rep.trio().session().misuse(INPUT, "an input value that belongs to nobody"))
}

/// Wires of one lane as bytes, the last one filled up with zeros.
fn bytes(rep: &mut Rep3, wires: Vec<Bit>) -> Result<Vec<Byte>, Abort> {
    let zero = rep.public_bit(&[false]);
    let mut out = Vec::with_capacity(wires.len().div_ceil(8));
    let mut wires = wires.into_iter().peekable();
    while wires.peek().is_some() {
        let bits: [Bit; 8] = std::array::from_fn(|_| wires.next().unwrap_or_else(|| zero.clone()));
        out.push(rep.convert(bits)?);
    }
    Ok(out)
}

/// The outputs, at each receiver, one wire to a byte; nothing at another party.
fn outputs(rep: &mut Rep3, task: &Task<'_>, verified: &Verified<Vec<Byte>>) -> Result<Own, Abort> {
    let me = rep.trio().me();
    let mut learned = Own::default();
    for receiver in task.receivers.iter().copied() {
        let context = [&rep.trio().session().id().as_bytes()[..], &[receiver.number()]].concat();
        let answer = rep.trio().answer(&context, verified)?;
        let bits = 8 * answer.component.len() as u64;
        let session = rep.trio().session();
        if me == receiver.prev(PARTIES) {
            session.send(OUTPUT, receiver, &answer.component, bits)?;
        } else if me != receiver {
            session.send(DIGEST, receiver, &answer.digest, 0)?;
        } else {
            let mut missing = Zeroizing::new(vec![0; answer.component.len()]);
            session.recv(OUTPUT, receiver.prev(PARTIES), &mut missing)?;
            let mut digest = [0; 32];
            session.recv(DIGEST, receiver.next(PARTIES), &mut digest)?;
            let same = session.same_digest(&component_digest(&context, &missing), &digest);
            session.require(Check::A1, OUTPUT, same, None)?; // [A1]
            learned = sum(rep, verified, &missing, task.program.output_bits())?;
        }
    }
    Ok(learned)
}

/// The values' bits, from our two components and the third.
fn sum(rep: &mut Rep3, verified: &Verified<Vec<Byte>>, missing: &[u8], wires: usize) -> Result<Own, Abort> {
    let mut bits = Zeroizing::new(Vec::with_capacity(8 * missing.len()));
    for (byte, missing) in verified.clone().each().iter().zip(missing) {
        let part = rep.trio().part(byte)?;
        for (first, second) in part.first.iter().zip(&part.second) {
            let value = first ^ second ^ missing;
            bits.extend((0..8).map(|i| value >> i & 1));
        }
    }
    bits.truncate(wires);
    Ok(bits)
}
