//! Base OTs of a pair: endemic OT over Ristretto, batched and tagged, in one round.
//!
//! Form: Bellare and Micali 1989, Naor and Pinkas 2001, with a group element C that is the output of a random
//! oracle. The OT is one of four instead of one of two, so that one scalar multiplication on either side
//! serves two base OTs. Functionality: endemic OT (Masny, Rindal 2019, ePrint 2019/706): a corrupt party can
//! choose its own outputs, and no protocol of this crate needs them to be uniform. One message of the sender
//! serves the whole batch, with the tags that this requires (McQuoid, Rosulek, Roy 2021, ePrint 2021/682).
//! Adversary: malicious, either party. Security: gap-CDH and random oracles; docs/garbling.md, 1, has the
//! argument.
//!
//! C = H(session, sender, receiver). Sender with scalar a; receiver with random choices e_i out of four and
//! scalars b_i:
//!
//! 1. The sender sends A = a G. The receiver sends T_i = b_i G - e_i C, so that f_i(e) = T_i + e C has
//!    f_i(e_i) = b_i G. Both messages may cross.
//! 2. The receiver's pad is KDF(i, e_i, A, T_i, b_i A), the sender's four pads are p_e = KDF(i, e, A, T_i, a
//!    f_i(e)).
//! 3. Two OTs of two keys: with e = c + 2 c' the parts of p_0 are both keys of choice 0, those of p_3 both
//!    keys of choice 1; the sender sends p_1 and p_2 plus the keys that the choices e = 1 and e = 2 must
//!    give.
//!
//! T_i is uniform whatever e_i is. A receiver that can compute two of the four pads of an index can compute a
//! multiple of a C from A and C, which solves the Diffie-Hellman problem.
//!
//! The following is rejected \[O1\]: an encoding that is not the canonical encoding of a group element
//! (Ristretto has prime order, so there are no small subgroups); the neutral element, also as any f_i(e); and
//! our own A, sent back to us.
//!
//! Cost: the sender sends 32 bytes and then 32 for each base OT, the receiver 16 for each base OT. The
//! elements in messages are twice the computed ones, because a whole batch of doubles can be encoded with one
//! inversion.

use crate::delta::mask;
use crate::purposes;
use crate::softspoken::layout::Key;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use divisi_core::{Expands, PartyId, Session, Step, step, taint};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

/// The step in which the sender makes its message.
const ELEMENT_SENT: Step = step!("element");
/// The step in which the receiver chooses.
const CHOICES_MADE: Step = step!("choices");

/// The number of base OTs for each direction of a pair whose Deltas are for labels: one for each bit of
/// Delta. The base OT at index 0 is not used, because the lowest bit of Delta is public. If Delta is a field
/// element, there is one base OT for each of its bits and 128 for pads, all of them used.
pub const COUNT: usize = 128;

/// The number of base OTs in one direction of a pair, which is even, and whether the one at index 0 is
/// unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) count: usize,
    pub(crate) public: bool,
}

impl Batch {
    /// How many choices out of four these base OTs take.
    fn choices(self) -> usize {
        self.count / 2
    }

    /// The length in bytes of the receiver's message: a T for each choice.
    pub(crate) fn programs(self) -> usize {
        self.choices() * ELEMENT
    }

    /// The length in bytes of the sender's second message: two blocks for each of p_1 and p_2.
    pub(crate) fn table(self) -> usize {
        self.choices() * 64
    }

    /// Sets the key at the index of a public bit to zero.
    fn clear<T: Default>(self, keys: &mut [T]) {
        if let (true, Some(first)) = (self.public, keys.first_mut()) {
            *first = T::default();
        }
    }
}

/// The length in bytes of the sender's first message.
pub(crate) const ELEMENT: usize = 32;

/// The error for a peer's message that is not a valid base OT message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejected;

/// The random oracles of one direction of a pair in one session.
struct Oracles {
    /// Half of C.
    half: RistrettoPoint,
    key: blake3::Hasher,
}

impl Oracles {
    #[cfg_attr(feature = "testing", track_caller)]
    fn new(session: &Session, sender: PartyId, receiver: PartyId) -> Oracles {
        let tagged = |context: &str| {
            let mut hasher = blake3::Hasher::new_derive_key(context);
            hasher.update(session.id().as_bytes()).update(&session.number().to_le_bytes());
            hasher.update(&[sender.number(), receiver.number()]);
            hasher
        };
        let mut uniform = [0; 64];
        tagged("divisi 2026 base ot element v1").expand(purposes::BASE_ELEMENT).fill(&mut uniform);
        Oracles {
            half: RistrettoPoint::from_uniform_bytes(&uniform),
            key: tagged("divisi 2026 base ot key v1"),
        }
    }

    /// KDF(i, e, A, T_i, `agreed`), where `agreed` is the point that both parties compute.
    fn pad(&self, index: usize, e: u8, a: &[u8; 32], t: &[u8], agreed: &CompressedRistretto) -> [u128; 2] {
        let mut out = [0; 32];
        let mut hasher = self.key.clone();
        hasher.update(&(index as u64).to_le_bytes()).update(&[e]).update(a).update(t);
        hasher.update(agreed.as_bytes()).expand(purposes::BASE_PAD).fill(&mut out);
        hasher.zeroize();
        words(&out)
    }
}

/// 32 bytes as two blocks.
fn words(bytes: &[u8]) -> [u128; 2] {
    let mut words = [0; 2];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u128::from_le_bytes(*bytes);
    }
    words
}

/// Decodes a group element; rejects the neutral element.
fn read(bytes: &[u8]) -> Result<RistrettoPoint, Rejected> {
    let encoded = CompressedRistretto::from_slice(bytes).map_err(|_| Rejected)?;
    let element = encoded.decompress().ok_or(Rejected)?;
    if element == RistrettoPoint::identity() { Err(Rejected) } else { Ok(element) }
}

/// A scalar from 64 uniform bytes.
fn scalar(bytes: &mut [u8; 64]) -> Zeroizing<Scalar> {
    let scalar = Zeroizing::new(Scalar::from_bytes_mod_order_wide(bytes));
    bytes.zeroize();
    scalar
}

/// The sender's state after its first message.
pub(crate) struct Sender {
    oracles: Oracles,
    /// Half of a.
    half: Zeroizing<Scalar>,
    pub(crate) element: [u8; ELEMENT],
}

impl Sender {
    pub(crate) fn new(session: &Session, receiver: PartyId) -> Sender {
        let mut uniform = [0; 64];
        session.entropy(purposes::BASE_SENDER, &mut uniform);
        let half = scalar(&mut uniform);
        let mut element = RistrettoPoint::mul_base(&(*half + *half)).compress().to_bytes();
        taint::public(ELEMENT_SENT, &mut element);
        Sender { oracles: Oracles::new(session, session.me(), receiver), half, element }
    }

    /// From the receiver's message, which has a T for each choice: both keys for each index (zeros at the
    /// index of a public bit), and the second message, from which the receiver derives its keys.
    pub(crate) fn keys(self, batch: Batch, programs: &[u8]) -> Result<SenderKeys, Rejected> {
        let c = self.oracles.half + self.oracles.half;
        let between = *self.half * c;
        let mut agreed = Vec::with_capacity(4 * batch.choices());
        for t in programs.chunks_exact(ELEMENT) {
            let mut f = read(t)?;
            let mut point = *self.half * f;
            for _ in 0..4 {
                if f == RistrettoPoint::identity() {
                    return Err(Rejected);
                }
                agreed.push(point);
                (f, point) = (f + c, point + between);
            }
        }
        let agreed = encode(&mut agreed);
        let mut keys = Zeroizing::new(vec![[0; 2]; batch.count]);
        let mut table = vec![0; batch.table()];
        let rows = programs.chunks_exact(ELEMENT).zip(agreed.chunks_exact(4)).zip(table.chunks_exact_mut(64));
        for (i, ((t, agreed), out)) in rows.enumerate() {
            let pad = |e: usize| self.oracles.pad(i, e as u8, &self.element, t, &agreed[e]);
            let pads = Zeroizing::new([pad(0), pad(1), pad(2), pad(3)]);
            let (zero, one) = (pads[0], pads[3]);
            keys[2 * i] = [zero[0], one[0]];
            keys[2 * i + 1] = [zero[1], one[1]];
            let said = [pads[1][0] ^ one[0], pads[1][1] ^ zero[1], pads[2][0] ^ zero[0], pads[2][1] ^ one[1]];
            for (out, said) in out.as_chunks_mut().0.iter_mut().zip(said) {
                *out = said.to_le_bytes();
            }
        }
        purposes::BASE_KEYS.drawn(|| {
            let words = keys.iter().flatten().flat_map(|key| key.to_le_bytes());
            Zeroizing::new(words.collect::<Vec<u8>>())
        });
        batch.clear(&mut keys);
        Ok((keys, table))
    }
}

/// The sender's keys, and its second message.
pub(crate) type SenderKeys = (Zeroizing<Vec<[u128; 2]>>, Vec<u8>);

/// The receiver's state after its message.
pub(crate) struct Receiver {
    batch: Batch,
    oracles: Oracles,
    /// The choices as the bits of a key: bit i is the choice at index i.
    pub(crate) choices: Zeroizing<Key>,
    /// The scalars b_i, halved.
    halves: Zeroizing<Vec<Scalar>>,
    pub(crate) programs: Vec<u8>,
}

impl Receiver {
    pub(crate) fn new(session: &Session, sender: PartyId, batch: Batch) -> Receiver {
        let oracles = Oracles::new(session, sender, session.me());
        let mut seed = Zeroizing::new([0; 32]);
        session.entropy(purposes::BASE_RECEIVER_SEED, seed.as_mut_slice());
        let mut source = blake3::Hasher::new_keyed(&seed).expand(purposes::BASE_RECEIVER);
        let mut choices = Zeroizing::new([0; 2]);
        for word in choices.iter_mut().take(batch.count.div_ceil(128)) {
            let mut bytes = Zeroizing::new([0; 16]);
            source.fill(bytes.as_mut_slice());
            *word = u128::from_le_bytes(*bytes);
        }
        taint::leak(CHOICES_MADE, choices[0] as u8);
        let mut halves = Zeroizing::new(Vec::with_capacity(batch.choices()));
        let mut elements = Vec::with_capacity(batch.choices());
        let (none, once) = (RistrettoPoint::identity(), oracles.half);
        for i in 0..batch.choices() {
            let mut uniform = [0; 64];
            source.fill(&mut uniform);
            let half = scalar(&mut uniform);
            let e = choice(&choices, i);
            let low = RistrettoPoint::conditional_select(&none, &once, Choice::from(e & 1));
            let high = RistrettoPoint::conditional_select(&none, &(once + once), Choice::from(e >> 1));
            elements.push(RistrettoPoint::mul_base(&half) - low - high);
            halves.push(*half);
        }
        let mut programs = vec![0; batch.programs()];
        for (t, encoded) in programs.chunks_exact_mut(ELEMENT).zip(encode(&mut elements)) {
            t.copy_from_slice(encoded.as_bytes());
        }
        Receiver { batch, oracles, choices, halves, programs }
    }

    /// Our pad for each choice out of four.
    pub(crate) fn pads(&self, element: &[u8; ELEMENT]) -> Result<Zeroizing<Vec<[u128; 2]>>, Rejected> {
        let a = read(element)?;
        let mut agreed: Vec<RistrettoPoint> = self.halves.iter().map(|half| half * a).collect();
        let agreed = encode(&mut agreed);
        let rows = self.programs.chunks_exact(ELEMENT).zip(&agreed).enumerate();
        let pad = |(i, (t, agreed))| self.oracles.pad(i, choice(&self.choices, i), element, t, agreed);
        Ok(Zeroizing::new(rows.map(pad).collect()))
    }

    /// The key of our choice for each index (zero at the index of a public bit), from our pads and the
    /// sender's second message.
    pub(crate) fn keys(&self, pads: &[[u128; 2]], table: &[u8]) -> Zeroizing<Vec<u128>> {
        let mut keys = Zeroizing::new(Vec::with_capacity(self.batch.count));
        for (i, (pad, said)) in pads.iter().zip(table.chunks_exact(64)).enumerate() {
            let e = u64::from(choice(&self.choices, i));
            let one = mask(e & !(e >> 1));
            let two = mask(e >> 1 & !e);
            let (first, second) = (words(&said[..32]), words(&said[32..]));
            keys.extend((0..2).map(|part| pad[part] ^ first[part] & one ^ second[part] & two));
        }
        self.batch.clear(&mut keys);
        keys
    }
}

/// The choice out of four that combines two choices out of two.
fn choice(choices: &Key, i: usize) -> u8 {
    (choices[i / 64] >> (2 * (i % 64))) as u8 & 3
}

/// Encodes twice each element, all with one inversion, and wipes the elements.
fn encode(halves: &mut [RistrettoPoint]) -> Vec<CompressedRistretto> {
    let encoded = RistrettoPoint::double_and_compress_batch(&*halves);
    halves.iter_mut().for_each(Zeroize::zeroize);
    encoded
}

#[cfg(test)]
mod fuzz;

#[cfg(test)]
#[cfg(feature = "testing")]
mod oracles;

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
