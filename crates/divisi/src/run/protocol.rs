//! A circuit among three: inputs of any party, outputs to chosen ones.
//!
//! Adversary: that of [`divisi_rep3`]; any one party may deviate, as owner of an input, as computing party and as receiver.
//!
//! 1. The owner of values splits them for the three and sends the two others their parts; the holders of each component compare it
//!    before its first use \[A24\], so that nobody's input is two different values ([`owner::bring`]).
//! 2. The circuit runs as a Boolean program, and all its products are verified.
//! 3. Each receiver has two components of the outputs. The third comes from one of its two holders and a digest of it from the
//!    other: if they differ one of them lies, and the receiver takes nothing \[A1\]. Nobody else learns anything.

use divisi_circuit::Program;
use divisi_core::{
    Abort, Boolean, Check, Convert, Job, Parameters, PartyId, Session, Step, Verified, settle, step,
};
use divisi_net::Mesh;
use divisi_node::owner;
use divisi_rep3::deal::Part;
use divisi_rep3::open::component_digest;
use divisi_rep3::{Bit, Byte, Protocol, Rep3, Security, Trio};
use std::sync::Arc;
use zeroize::Zeroizing;

const INPUT: Step = step!("run.input");
const OUTPUT: Step = step!("run.output");
const DIGEST: Step = step!("run.digest");

/// The parties of the engine.
pub const PARTIES: usize = 3;

/// What all parties must agree on.
pub struct Task<'c> {
    /// The circuit.
    pub program: &'c Program,
    /// A digest of it.
    pub digest: [u8; 32],
    /// Whose each input value is.
    pub owners: Vec<PartyId>,
    /// Who learns the outputs.
    pub receivers: Vec<PartyId>,
    /// Against whom.
    pub security: Security,
}

/// What a party found out.
pub struct Outcome {
    /// The output wires, at a receiver.
    pub outputs: Option<Zeroizing<Vec<bool>>>,
    /// What it cost.
    pub counts: divisi_core::Counts,
}

impl Task<'_> {
    fn parameters(&self) -> Parameters {
        let numbers = |parties: &[PartyId]| parties.iter().map(|party| party.number()).collect::<Vec<u8>>();
        Parameters::new("run")
            .with("circuit", &self.digest)
            .with("owners", &numbers(&self.owners))
            .with("receivers", &numbers(&self.receivers))
            .with("security", self.security.name().as_bytes())
    }

    /// The widths of a party's values, and where they stand among all input wires.
    fn values_of(&self, party: PartyId) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut next = 0;
        let places = self.program.inputs().iter().map(move |width| {
            next += width;
            next - width..next
        });
        places.zip(&self.owners).filter(move |(_, owner)| **owner == party).map(|(place, _)| place)
    }

    fn bytes_of(&self, party: PartyId) -> usize {
        self.values_of(party).map(|place| place.len()).sum::<usize>().div_ceil(8)
    }
}

/// Run the circuit in a session of its own. `own` has this party's input wires, value after value.
///
/// # Errors
/// Whatever ends the session; [`Abort::Disagreement`] if the others run something else.
pub fn run(mesh: &Arc<Mesh>, number: u32, task: &Task<'_>, own: &[bool]) -> Result<Outcome, Abort> {
    let session = Session::start(mesh, number, &task.parameters())?;
    let mut rep = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, task.security);
    rep.trio().session().phase("online");
    let wires = inputs(&mut rep, task, own)?;
    let mut jobs = [Job::new(task.program, wires)];
    rep.run(&mut jobs)?;
    let [job] = jobs;
    let out = bytes(&mut rep, job.wires)?;
    rep.trio().session().phase("verification");
    let pending = if rep.owes() { rep.close(out) } else { rep.close_linear(out)? };
    let verified = settle(&mut rep, pending)?;
    rep.trio().session().phase("outputs");
    let outputs = outputs(&mut rep, task, &verified)?;
    let counts = rep.trio().session().meter().read();
    Ok(Outcome { outputs, counts })
}

/// All parties' inputs, as secrets of one lane each, in the order of the wires.
fn inputs(rep: &mut Rep3, task: &Task<'_>, own: &[bool]) -> Result<Vec<Bit>, Abort> {
    let me = rep.trio().me();
    if own.len() != task.values_of(me).map(|place| place.len()).sum::<usize>() {
        return Err(rep.trio().session().misuse(INPUT, "not as many bits as this party's input values have"));
    }
    let packed: Zeroizing<Vec<u8>> = Zeroizing::new(
        own.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect(),
    );
    let bytes = [0, 1, 2].map(|i| PartyId::from_index(i).map_or(0, |owner| task.bytes_of(owner)));
    let all = owner::bring(rep, &task.digest, bytes, &packed)?;
    let mut wires: Vec<Option<Bit>> = vec![None; task.program.input_bits()];
    let mut at = 0;
    for owner in PartyId::all(PARTIES) {
        let mut places = task.values_of(owner).flatten();
        for _ in 0..task.bytes_of(owner) {
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

/// The outputs, at each receiver.
fn outputs(
    rep: &mut Rep3,
    task: &Task<'_>,
    verified: &Verified<Vec<Byte>>,
) -> Result<Option<Zeroizing<Vec<bool>>>, Abort> {
    let me = rep.trio().me();
    let mut learned = None;
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
            learned = Some(sum(rep, verified, &missing, task.program.output_bits())?);
        }
    }
    Ok(learned)
}

/// The values' bits, from our two components and the third.
fn sum(
    rep: &mut Rep3,
    verified: &Verified<Vec<Byte>>,
    missing: &[u8],
    wires: usize,
) -> Result<Zeroizing<Vec<bool>>, Abort> {
    let mut bits = Zeroizing::new(Vec::with_capacity(8 * missing.len()));
    for (byte, missing) in verified.clone().each().iter().zip(missing) {
        let part = rep.trio().part(byte)?;
        for (first, second) in part.first.iter().zip(&part.second) {
            let value = first ^ second ^ missing;
            bits.extend((0..8).map(|i| value >> i & 1 == 1));
        }
    }
    bits.truncate(wires);
    Ok(bits)
}
