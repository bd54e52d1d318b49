//! A circuit among three: inputs of any party, outputs to chosen ones.
//!
//! Adversary: that of [`divisi_rep3`]; any one party may deviate, as owner of an input, as computing
//! party and as receiver.
//!
//! 1. The owner of values splits them for the three and sends the two others their parts; the holders of each
//!    component compare it before its first use \[A24\], so that no input can be one value to one party and
//!    another to the next ([`owner::bring`]).
//! 2. The circuit runs as a Boolean program, and all its products are verified.
//! 3. Each output value goes to its own receivers. A receiver has two components of its values. The third
//!    comes from one of its two holders and a digest of it from the other: if they differ one of them lies,
//!    and the receiver takes nothing \[A1\]. Of other values it gets no component. Nobody else learns
//!    anything.

use crate::close;
use crate::owner::{self, Public};
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, Convert, Misuse, PartyId, ProgramRun, Step, Verified, step};
use divisi_rep3::checks;
use divisi_rep3::deal::Part;
use divisi_rep3::open::component_digest;
use divisi_rep3::{Bit, Byte, Rep3};
use std::ops::Range;
use zeroize::Zeroizing;

const INPUT: Step = step!("input");
const OUTPUT: Step = step!("output");
const DIGEST: Step = step!("output.digest");

/// The parties of the engine.
const PARTIES: usize = 3;

/// Output wires that go to the same receivers. They are packed into bytes by themselves, so that no byte has
/// wires of different receivers.
struct Group {
    receivers: Vec<PartyId>,
    wires: Vec<usize>,
    /// The positions of its bytes among those of all groups.
    bytes: Range<usize>,
}

/// A circuit, the owners of its inputs, and the receivers of its outputs: the same at all three parties.
pub struct OwnedCircuit<'c> {
    program: &'c Program,
    /// The input wires of each party, value after value.
    wires: [Vec<usize>; PARTIES],
    /// The outputs by their receivers.
    groups: Vec<Group>,
    /// A digest of everything public about the computation.
    digest: [u8; 32],
}

impl<'c> OwnedCircuit<'c> {
    /// A circuit with the owner of each input value, in the circuit's order, and the parties that learn all
    /// outputs. `digest` is a digest of the circuit, which the parties compare.
    ///
    /// # Errors
    /// Those of [`OwnedCircuit::with_receivers`].
    pub fn new(
        program: &'c Program,
        digest: &[u8; 32],
        owners: &[PartyId],
        receivers: &[PartyId],
    ) -> Result<OwnedCircuit<'c>, Abort> {
        let all = vec![receivers.to_vec(); program.outputs().len()];
        OwnedCircuit::with_receivers(program, digest, owners, &all)
    }

    /// A circuit with the owner of each input value and the receivers of each output value, in the circuit's
    /// order. `digest` is a digest of the circuit, which the parties compare.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless each input value has an owner, each output value a list of receivers, and all
    /// parties that are named are among the three.
    pub fn with_receivers(
        program: &'c Program,
        digest: &[u8; 32],
        owners: &[PartyId],
        receivers: &[Vec<PartyId>],
    ) -> Result<OwnedCircuit<'c>, Abort> {
        let known = |party: &PartyId| party.index() < PARTIES;
        if owners.len() != program.inputs().len() || !owners.iter().all(known) {
            return Err(Abort::Misuse { step: INPUT, what: Misuse::PartyUnknown });
        }
        if receivers.len() != program.outputs().len() || !receivers.iter().flatten().all(known) {
            return Err(Abort::Misuse { step: OUTPUT, what: Misuse::PartyUnknown });
        }
        let mut wires: [Vec<usize>; PARTIES] = Default::default();
        let mut next = 0;
        for (owner, width) in owners.iter().zip(program.inputs()) {
            wires[owner.index()].extend(next..next + width);
            next += width;
        }
        let party = |public: Public, party: &PartyId| public.number(party.index());
        let public = Public::new(INPUT).bytes(digest).list(owners, party);
        let public = with_lists(public, receivers);
        let groups = groups(program, receivers);
        Ok(OwnedCircuit { program, wires, groups, digest: public.digest() })
    }

    /// The steps 1 and 2: `own` has this party's input wires, value after value, one to a byte. The output
    /// wires that are returned, eight to a byte, those of different receivers apart, are not verified yet:
    /// [`close`] does that.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::CheckFailed`] with A24 if somebody's parts do not fit
    /// together, with A25 if the parties mean different circuits; [`Abort::Misuse`] if `own` has another
    /// length.
    pub fn compute(&self, rep: &mut Rep3, own: &[u8]) -> Result<Vec<Byte>, Abort> {
        let wires = self.inputs(rep, own)?;
        let mut jobs = [ProgramRun::new(self.program, wires)];
        rep.run(&mut jobs)?;
        let [job] = jobs;
        let mut out = Vec::new();
        for group in &self.groups {
            let wires = group.wires.iter().filter_map(|wire| job.wires.get(*wire)).cloned();
            out.extend(bytes(rep, wires.collect())?);
        }
        Ok(out)
    }

    /// All parties' inputs, as shared bits of one lane each, in the order of the wires.
    fn inputs(&self, rep: &mut Rep3, own: &[u8]) -> Result<Vec<Bit>, Abort> {
        let me = rep.trio().me();
        if own.len() != self.wires[me.index()].len() {
            return Err(rep.trio().session().misuse(INPUT, Misuse::LengthDiffers));
        }
        let packed: Zeroizing<Vec<u8>> = Zeroizing::new(
            own.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1)).collect(),
        );
        let lengths = self.wires.each_ref().map(|wires| wires.len().div_ceil(8));
        let all = owner::bring(rep, &self.digest, lengths, &packed)?;
        let mut wires: Vec<Option<Bit>> = vec![None; self.program.input_bits()];
        let mut at = 0;
        for (places, bytes) in self.wires.iter().zip(lengths) {
            let mut places = places.iter();
            for _ in 0..bytes {
                let one = |side: &[u8]| side.get(at).map_or(Vec::new(), |byte| vec![*byte]);
                let byte = rep.trio().input(&Part { first: one(&all.first), second: one(&all.second) })?;
                at += 1;
                let bits: [Bit; 8] = rep.convert(byte)?;
                for (bit, place) in bits.into_iter().zip(places.by_ref().take(8)) {
                    if let Some(wire) = wires.get_mut(*place) {
                        *wire = Some(bit);
                    }
                }
            }
        }
        let wires: Option<Vec<Bit>> = wires.into_iter().collect();
        wires.ok_or_else(|| rep.trio().session().misuse(INPUT, Misuse::PartyUnknown))
    }

    /// The step 3: returns the wires of the values that this party learns, one to a byte, value after value.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::CheckFailed`] with A1 if the holders of a component
    /// disagree.
    pub fn deliver(
        &self,
        rep: &mut Rep3,
        verified: &Verified<Vec<Byte>>,
    ) -> Result<Zeroizing<Vec<u8>>, Abort> {
        let me = rep.trio().me();
        let mut learned = Zeroizing::default();
        for receiver in PartyId::all(PARTIES) {
            let groups: Vec<&Group> =
                self.groups.iter().filter(|group| group.receivers.contains(&receiver)).collect();
            let places: Vec<usize> = groups.iter().flat_map(|group| group.bytes.clone()).collect();
            if groups.is_empty() {
                continue;
            }
            // the values of this receiver, and nothing of others
            let verified = &verified.select(&places);
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
                session.require(checks::A1, OUTPUT, same, None)?; // [A1]
                learned = in_order(&groups, &sum(rep, verified, &missing)?);
            }
        }
        Ok(learned)
    }

    /// All three steps: returns the wires of the values that this party learns, one to a byte.
    ///
    /// # Errors
    /// The errors of [`OwnedCircuit::compute`] and [`OwnedCircuit::deliver`], and the abort of a failed
    /// verification.
    pub fn evaluate(&self, rep: &mut Rep3, own: &[u8]) -> Result<Zeroizing<Vec<u8>>, Abort> {
        let outputs = self.compute(rep, own)?;
        let verified = close(rep, outputs)?;
        self.deliver(rep, &verified)
    }
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

/// The values' bits, from this party's two components and the third.
fn sum(rep: &mut Rep3, verified: &Verified<Vec<Byte>>, missing: &[u8]) -> Result<Zeroizing<Vec<u8>>, Abort> {
    let mut bits = Zeroizing::new(Vec::with_capacity(8 * missing.len()));
    for (byte, missing) in verified.clone().each().iter().zip(missing) {
        let part = rep.trio().part(byte)?;
        for (first, second) in part.first.iter().zip(&part.second) {
            let value = first ^ second ^ missing;
            bits.extend((0..8).map(|i| value >> i & 1));
        }
    }
    Ok(bits)
}

/// Add the receivers of each output value. Those that all values have in common are hashed once, as when
/// there were no others.
fn with_lists(public: Public, receivers: &[Vec<PartyId>]) -> Public {
    let party = |public: Public, party: &PartyId| public.number(party.index());
    match receivers.first() {
        Some(first) if receivers.iter().any(|other| other != first) => {
            let public = public.bytes(b"receivers of each value");
            public.list(receivers, |public, list| public.list(list, party))
        }
        first => public.list(first.map_or(&[][..], Vec::as_slice), party),
    }
}

/// The outputs by their receivers, in the order of their first values.
fn groups(program: &Program, receivers: &[Vec<PartyId>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut next = 0;
    for (width, receivers) in program.outputs().iter().zip(receivers) {
        let mut receivers = receivers.clone();
        receivers.sort_unstable();
        receivers.dedup();
        let wires = next..next + width;
        next += width;
        match groups.iter_mut().find(|group| group.receivers == receivers) {
            Some(group) => group.wires.extend(wires),
            None => groups.push(Group { receivers, wires: wires.collect(), bytes: 0..0 }),
        }
    }
    let mut next = 0;
    for group in &mut groups {
        group.bytes = next..next + group.wires.len().div_ceil(8);
        next = group.bytes.end;
    }
    groups
}

/// The bits of all bytes of these groups, in the order of their wires in the circuit.
fn in_order(groups: &[&Group], bits: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut all = Zeroizing::new(Vec::with_capacity(bits.len()));
    let mut rest = bits;
    for group in groups {
        let (own, others) = rest.split_at(rest.len().min(8 * group.bytes.len()));
        rest = others;
        all.extend(group.wires.iter().copied().zip(own.iter().copied()));
    }
    all.sort_unstable_by_key(|(wire, _)| *wire);
    Zeroizing::new(all.iter().map(|(_, bit)| *bit).collect())
}
