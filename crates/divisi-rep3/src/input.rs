//! Inputs from outside of the protocol: parts from a client, stored keys \[A24, A25, A26\].
//!
//! Adversary: one malicious server, or any number of malicious clients. Before an input is used, both holders
//! of each secret component compare it by a digest under a key that only they hold, so that the third party
//! learns nothing; and all three compare a digest of everything public about it. In a second round all
//! parties exchange the outcome, so that honest servers continue or refuse together. A difference is not an
//! abort, because the client may be at fault as well as a server: it ends that request and nothing else. What
//! one honest server refuses, the other refuses too; but a corrupt server can turn "agreed" into a refusal at
//! one of them only. The outcome enters the view, so that this ends in an abort at the next barrier, before
//! any output.

use crate::checks;
use crate::deal::Part;
use crate::purposes;
use crate::share::Byte;
use crate::trio::Trio;
use divisi_core::{Abort, Check, ComparedDigest, Expands, PartyId, Step, step};

const DIGESTS: Step = step!("digests");
const VERDICT: Step = step!("verdict");
const LIST: Step = step!("list");
const KEPT: Step = step!("part");

/// The outcome of the comparison of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a comparison that ended badly must not be overlooked")]
pub enum Agreement {
    /// All three have the same public input, and the holders of each component the same component.
    Agreed,
    /// The public inputs differ: their sender gave different servers different ones \[A25\].
    PublicDiffers,
    /// The components differ: the parts are not a sharing of one value \[A24, A26\].
    SecretDiffers,
    /// A server has no such input, or refuses it.
    Missing(PartyId),
    /// A server has not received it yet, and may still.
    NotYet(PartyId),
}

/// One input, to be compared with the other two parties.
pub struct ComparedInput<'a> {
    /// [`checks::A24`] for a client's parts, [`checks::A26`] for stored ones, [`checks::A25`] for an input
    /// without secret part.
    pub check: Check,
    /// A digest of all public data of the input.
    pub public: [u8; 32],
    /// This party's secret part, empty if there is none; or why the party lacks it.
    pub part: Result<&'a Part, Lack>,
}

/// Why a server has no part of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lack {
    /// The server has no such input, or refuses it.
    Missing,
    /// The server has not received it yet, and may still.
    NotYet,
}

/// The code of each verdict on the wire: agreed, secret differs, public differs, missing, not yet. Of three
/// verdicts the worst counts ([`rank`]).
const CODES: [u8; 5] = [0, 1, 2, 3, 4];
/// The length in bytes of one input in a message of the first round: the public digest, the digest of a
/// component, and a byte that is [`HAVE`], [`NOT_YET`], or zero if the input is missing.
const ENTRY: usize = 65;
const HAVE: u8 = 1;
const NOT_YET: u8 = 2;

impl Trio {
    /// Compare one input with the other two parties, like [`Trio::agree_list`] does, without a digest of a
    /// list.
    ///
    /// # Errors
    /// The abort that ends the session. A difference is not an error but an [`Agreement`].
    pub fn agree_input(
        &mut self,
        check: Check,
        public: &[u8; 32],
        part: Option<&Part>,
    ) -> Result<Agreement, Abort> {
        let verdicts =
            self.agree_inputs(&[ComparedInput { check, public: *public, part: part.ok_or(Lack::Missing) }])?;
        Ok(verdicts.first().copied().unwrap_or(Agreement::PublicDiffers))
    }

    /// Compare a list of inputs with the other two parties; `list` is a digest of what is on the list.
    /// Returns a verdict for each input, the same at all three parties. Two rounds.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A25 if the lists differ: whoever made them gave the parties different
    /// ones, or another party lies about its own. Otherwise the abort that ends the session. A difference of
    /// inputs is not an error but an [`Agreement`].
    pub fn agree_list(
        &mut self,
        list: &[u8; 32],
        inputs: &[ComparedInput<'_>],
    ) -> Result<Vec<Agreement>, Abort> {
        let peers = [self.prev, self.next];
        for peer in peers {
            self.session.send(LIST, peer, list, 0)?;
        }
        self.send_digests(inputs)?;
        for peer in peers {
            let mut theirs = [0; 32];
            self.session.recv(LIST, peer, &mut theirs)?;
            let same = self.session.same_digest(list, &theirs);
            self.session.require(checks::A25, LIST, same, None)?; // [A25]
        }
        self.finish_agreement(inputs)
    }

    fn agree_inputs(&mut self, inputs: &[ComparedInput<'_>]) -> Result<Vec<Agreement>, Abort> {
        self.send_digests(inputs)?;
        self.finish_agreement(inputs)
    }

    fn send_digests(&mut self, inputs: &[ComparedInput<'_>]) -> Result<(), Abort> {
        let sides = [(self.prev, 0), (self.next, 1)];
        // round 1: the public digest to both, the digest of each component to its other holder
        for (peer, side) in sides {
            let mut message = Vec::with_capacity(ENTRY * inputs.len());
            for input in inputs {
                let mut body = [0; ENTRY];
                body[..32].copy_from_slice(&input.public);
                match component(input, side) {
                    Ok(component) => {
                        body[32..64].copy_from_slice(&self.input_digest(peer, component));
                        body[64] = HAVE;
                    }
                    Err(Lack::Missing) => {}
                    Err(Lack::NotYet) => body[64] = NOT_YET,
                }
                message.extend(body);
            }
            self.session.send(DIGESTS, peer, &message, 0)?;
        }
        Ok(())
    }

    fn finish_agreement(&mut self, inputs: &[ComparedInput<'_>]) -> Result<Vec<Agreement>, Abort> {
        let sides = [(self.prev, 0), (self.next, 1)];
        let me = self.me();
        let mut verdicts: Vec<Agreement> = inputs
            .iter()
            .map(|input| match input.part {
                Ok(_) => Agreement::Agreed,
                Err(Lack::Missing) => Agreement::Missing(me),
                Err(Lack::NotYet) => Agreement::NotYet(me),
            })
            .collect();
        for (peer, side) in sides {
            let mut message = vec![0; ENTRY * inputs.len()];
            self.session.recv(DIGESTS, peer, &mut message)?;
            for ((input, verdict), body) in inputs.iter().zip(&mut verdicts).zip(message.as_chunks().0) {
                self.session.observe(checks::A25); // [A25]
                self.session.observe(input.check); // [A24] [A26]
                let public = &input.public;
                let component = component(input, side).ok();
                let public_same = self.session.same_digest(public, &part_of(body, 0));
                let secret_same = component.is_some_and(|c| {
                    self.session.same_digest(&self.input_digest(peer, c), &part_of(body, 32))
                });
                let seen = match (body[64] == 1, public_same, secret_same) {
                    (false, ..) if body[64] == NOT_YET => Agreement::NotYet(peer),
                    (false, ..) => Agreement::Missing(peer),
                    // we have no component that could differ
                    _ if component.is_none() => *verdict,
                    (_, false, _) => Agreement::PublicDiffers,
                    (_, _, false) => Agreement::SecretDiffers,
                    _ => Agreement::Agreed,
                };
                if rank(encode(seen)) > rank(encode(*verdict)) {
                    *verdict = seen;
                }
            }
        }
        self.share_verdicts(inputs, &verdicts)
    }

    /// Round 2: everybody's verdicts to everybody; the worst counts, and is compared at the next barrier.
    fn share_verdicts(
        &mut self,
        inputs: &[ComparedInput<'_>],
        mine: &[Agreement],
    ) -> Result<Vec<Agreement>, Abort> {
        let mut worst_of_all: Vec<[u8; 2]> = mine.iter().map(|verdict| encode(*verdict)).collect();
        let encoded = worst_of_all.concat();
        for peer in [self.prev, self.next] {
            self.session.send(VERDICT, peer, &encoded, 0)?;
        }
        for peer in [self.prev, self.next] {
            let mut message = vec![0; encoded.len()];
            self.session.recv(VERDICT, peer, &mut message)?;
            for (worst, theirs) in worst_of_all.iter_mut().zip(message.as_chunks().0) {
                *worst = worse(*worst, *theirs);
            }
        }
        let worst = worst_of_all.concat();
        self.absorb("verdict", &worst); // [A2]
        let verdicts: Vec<Agreement> = worst_of_all.into_iter().map(decode).collect();
        for (input, verdict) in inputs.iter().zip(&verdicts) {
            if *verdict == Agreement::Agreed {
                self.absorb("agreed", &input.public);
            }
        }
        Ok(verdicts)
    }

    fn input_digest(&self, peer: PartyId, component: &[u8]) -> [u8; 32] {
        let key = self.session.key(peer, purposes::INPUT);
        let mut hasher = blake3::Hasher::new_keyed(&key);
        let digest = hasher.update(component).to_compare();
        zeroize::Zeroize::zeroize(&mut hasher);
        digest
    }

    /// This party's part of a fresh random string that nobody knows, to be stored: a new key. The two holders
    /// of a component draw it from BLAKE3 under their common 256-bit key, so that keys of up to 256 bits have
    /// their full strength. Local.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn random_part(&mut self, bytes: usize) -> Part {
        let number = self.session.count(purposes::KEPT.name()); // a number that never returns in this strand
        let first = self.random_component(self.prev, number, bytes);
        Part { first, second: self.random_component(self.next, number, bytes) }
    }

    /// The component that this party draws with a peer.
    #[cfg_attr(feature = "testing", track_caller)]
    fn random_component(&self, peer: PartyId, number: u64, bytes: usize) -> Vec<u8> {
        let mut hasher = blake3::Hasher::new_keyed(&self.session.key(peer, purposes::KEPT));
        hasher.update(&number.to_le_bytes());
        let mut component = vec![0; bytes];
        hasher.expand(purposes::KEPT).fill(&mut component);
        zeroize::Zeroize::zeroize(&mut hasher);
        component
    }

    /// A part on which its holders agreed, as a value: one byte in each lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the components differ in length.
    pub fn input(&mut self, part: &Part) -> Result<Byte, Abort> {
        let origin = self.origin();
        // the transposition leaves words of the input on the stack, which are wiped
        let byte = divisi_core::wipe::few_calls(|| Byte::from_components([&part.first, &part.second]));
        Ok(byte?.of(origin))
    }

    /// This party's part of a verified value, to be stored.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for a byte of an unfinished chain, or for one whose computation was not settled.
    pub fn part(&self, x: &divisi_core::Verified<Byte>) -> Result<Part, Abort> {
        self.demand_settled(KEPT, [x.get().origin])?;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        x.get().component(0, &mut first)?;
        x.get().component(1, &mut second)?;
        Ok(Part { first, second })
    }
}

/// The component that both we and the other party on that side have: 0 for the previous, 1 for the next.
fn component<'a>(input: &ComparedInput<'a>, side: usize) -> Result<&'a [u8], Lack> {
    input.part.map(|part| if side == 0 { &part.first[..] } else { &part.second[..] })
}

/// The digest that begins at `from`.
fn part_of(body: &[u8; ENTRY], from: usize) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(&body[from..from + 32]);
    digest
}

pub(crate) fn encode(verdict: Agreement) -> [u8; 2] {
    match verdict {
        Agreement::Agreed => [CODES[0], 0],
        Agreement::SecretDiffers => [CODES[1], 0],
        Agreement::PublicDiffers => [CODES[2], 0],
        Agreement::Missing(party) => [CODES[3], party.index() as u8],
        Agreement::NotYet(party) => [CODES[4], party.index() as u8],
    }
}

/// The rank of a verdict, by which the worse of two verdicts is chosen. An input that may still arrive ranks
/// below one that is refused.
fn rank([code, party]: [u8; 2]) -> (u8, u8) {
    if code == CODES[4] { (0, party.saturating_add(1)) } else { (code, party) }
}

/// The worse of our verdict and a peer's. A code that no honest party sends counts as a public difference:
/// otherwise an agreement that names a party would outrank an input that may still arrive.
pub(crate) fn worse(one: [u8; 2], other: [u8; 2]) -> [u8; 2] {
    let other = encode(decode(other));
    if rank(other) > rank(one) { other } else { one }
}

pub(crate) fn decode([code, party]: [u8; 2]) -> Agreement {
    match (code, PartyId::all(3).nth(party.into())) {
        (0, _) if party == 0 => Agreement::Agreed,
        (1, _) if party == 0 => Agreement::SecretDiffers,
        (3, Some(party)) => Agreement::Missing(party),
        (4, Some(party)) => Agreement::NotYet(party),
        _ => Agreement::PublicDiffers,
    }
}
