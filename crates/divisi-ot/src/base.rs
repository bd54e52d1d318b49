//! Base OTs of a pair: endemic OT over Ristretto, batched and tagged, in one round.
//!
//! Form: Bellare and Micali 1989, Naor and Pinkas 2001, with an element C of the group that comes from a random oracle.
//! Functionality: endemic OT (Masny, Rindal 2019, ePrint 2019/706): a corrupt party can choose its own outputs, and nothing here
//! depends on their being uniform. One message of the sender serves the batch, with the tags that this needs (McQuoid, Rosulek, Roy
//! 2021, ePrint 2021/682). Adversary: malicious, either one. Security: gap-CDH, random oracles; the argument is in docs/garbling.md.
//!
//! C = H(session, sender, receiver). Sender with scalar a; receiver with random choices c_i and scalars b_i:
//!
//! 1. The sender sends A = a G. The receiver sends T_i = b_i G - c_i C, so that f_i(e) = T_i + e C has f_i(c_i) = b_i G. Both messages
//!    may cross.
//! 2. The receiver's key is KDF(i, c_i, A, T_i, b_i A), the sender's two keys are KDF(i, e, A, T_i, a f_i(e)), e = 0, 1.
//!
//! T_i is uniform whatever c_i is. Whoever can compute both keys of an index has computed a C from A and C.
//!
//! What is rejected \[O1\]: an encoding that is not the one canonical encoding of a group element (Ristretto has prime order, so there
//! are no small subgroups), the neutral element, also as f_i(1), and our own A sent back to us.
//!
//! Cost: 32 bytes one way, 127 times 32 bytes the other. Elements are sent as doubles of what is computed, so that a whole batch is
//! encoded with one inversion.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use divisi_core::{PartyId, Session};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

/// How many base OTs a direction of a pair has: one for each bit of Delta. The one at index 0 is not used, as the lowest bit of Delta is
/// public.
pub const COUNT: usize = 128;

/// The receiver's message: T_1 to T_127.
pub(crate) const PROGRAMS: usize = (COUNT - 1) * ELEMENT;
/// The sender's message.
pub(crate) const ELEMENT: usize = 32;

/// A peer sent something that is no base OT message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejected;

/// The oracles of one direction of a pair in one session.
struct Oracles {
    /// Half of C.
    half: RistrettoPoint,
    key: blake3::Hasher,
}

impl Oracles {
    fn new(session: &Session, sender: PartyId, receiver: PartyId) -> Oracles {
        let tagged = |context: &str| {
            let mut hasher = blake3::Hasher::new_derive_key(context);
            hasher.update(session.id().as_bytes()).update(&session.number().to_le_bytes());
            hasher.update(&[sender.number(), receiver.number()]);
            hasher
        };
        let mut uniform = [0; 64];
        tagged("divisi 2026 base ot element v1").finalize_xof().fill(&mut uniform);
        Oracles {
            half: RistrettoPoint::from_uniform_bytes(&uniform),
            key: tagged("divisi 2026 base ot key v1"),
        }
    }

    /// KDF(i, e, A, T_i, what was agreed).
    fn key(&self, index: usize, e: u8, a: &[u8; 32], t: &[u8], agreed: &CompressedRistretto) -> u128 {
        let mut out = [0; 16];
        let mut hasher = self.key.clone();
        hasher.update(&(index as u64).to_le_bytes()).update(&[e]).update(a).update(t);
        hasher.update(agreed.as_bytes()).finalize_xof().fill(&mut out);
        hasher.zeroize();
        u128::from_le_bytes(out)
    }
}

/// Read a group element that may be used.
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

/// The sender after its message.
pub(crate) struct Sender {
    oracles: Oracles,
    /// Half of a.
    half: Zeroizing<Scalar>,
    pub(crate) element: [u8; ELEMENT],
}

impl Sender {
    pub(crate) fn new(session: &Session, receiver: PartyId) -> Sender {
        let mut uniform = [0; 64];
        session.entropy(&mut uniform);
        let half = scalar(&mut uniform);
        let element = RistrettoPoint::mul_base(&(*half + *half)).compress().to_bytes();
        Sender { oracles: Oracles::new(session, session.me(), receiver), half, element }
    }

    /// Both keys for each index; zeros at index 0.
    pub(crate) fn keys(self, programs: &[u8; PROGRAMS]) -> Result<Zeroizing<Vec<[u128; 2]>>, Rejected> {
        let c = self.oracles.half + self.oracles.half;
        let between = *self.half * c;
        let mut agreed = Vec::with_capacity(2 * COUNT);
        for t in programs.chunks_exact(ELEMENT) {
            let t = read(t)?;
            if t + c == RistrettoPoint::identity() {
                return Err(Rejected);
            }
            let zero = *self.half * t;
            agreed.extend([zero, zero + between]);
        }
        let agreed = encode(&mut agreed);
        let mut keys = Zeroizing::new(vec![[0; 2]; COUNT]);
        for (i, (t, agreed)) in programs.chunks_exact(ELEMENT).zip(agreed.chunks_exact(2)).enumerate() {
            for (e, key) in keys[i + 1].iter_mut().enumerate() {
                *key = self.oracles.key(i + 1, e as u8, &self.element, t, &agreed[e]);
            }
        }
        Ok(keys)
    }
}

/// The receiver after its message.
pub(crate) struct Receiver {
    oracles: Oracles,
    /// The choices, bit i for index i.
    pub(crate) choices: Zeroizing<u128>,
    /// Halves of the b_i.
    halves: Zeroizing<Vec<Scalar>>,
    pub(crate) programs: Box<[u8; PROGRAMS]>,
}

impl Receiver {
    pub(crate) fn new(session: &Session, sender: PartyId) -> Receiver {
        let oracles = Oracles::new(session, sender, session.me());
        let mut seed = Zeroizing::new([0; 32]);
        session.entropy(seed.as_mut_slice());
        let mut source = blake3::Hasher::new_keyed(&seed).finalize_xof();
        let mut bytes = Zeroizing::new([0; 16]);
        source.fill(bytes.as_mut_slice());
        let choices = Zeroizing::new(u128::from_le_bytes(*bytes));
        let mut halves = Zeroizing::new(Vec::with_capacity(COUNT - 1));
        let mut elements = Vec::with_capacity(COUNT - 1);
        for i in 1..COUNT {
            let mut uniform = [0; 64];
            source.fill(&mut uniform);
            let half = scalar(&mut uniform);
            let c = Choice::from(choice(&choices, i));
            let less = RistrettoPoint::conditional_select(&RistrettoPoint::identity(), &oracles.half, c);
            elements.push(RistrettoPoint::mul_base(&half) - less);
            halves.push(*half);
        }
        let mut programs = Box::new([0; PROGRAMS]);
        for (t, encoded) in programs.chunks_exact_mut(ELEMENT).zip(encode(&mut elements)) {
            t.copy_from_slice(encoded.as_bytes());
        }
        Receiver { oracles, choices, halves, programs }
    }

    /// The key of our choice for each index; zero at index 0.
    pub(crate) fn keys(&self, element: &[u8; ELEMENT]) -> Result<Zeroizing<Vec<u128>>, Rejected> {
        let a = read(element)?;
        let mut agreed: Vec<RistrettoPoint> = self.halves.iter().map(|half| half * a).collect();
        let agreed = encode(&mut agreed);
        let mut keys = Zeroizing::new(vec![0; COUNT]);
        for (i, (t, agreed)) in self.programs.chunks_exact(ELEMENT).zip(&agreed).enumerate() {
            keys[i + 1] = self.oracles.key(i + 1, choice(&self.choices, i + 1), element, t, agreed);
        }
        Ok(keys)
    }
}

/// The choice at an index, as a byte.
fn choice(choices: &u128, index: usize) -> u8 {
    (choices >> index) as u8 & 1
}

/// Encode the doubles of secret elements, and forget these.
fn encode(halves: &mut [RistrettoPoint]) -> Vec<CompressedRistretto> {
    let encoded = RistrettoPoint::double_and_compress_batch(&*halves);
    halves.iter_mut().for_each(Zeroize::zeroize);
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;
    use divisi_core::{Parameters, step};

    /// Both ends of the base OTs of a pair, P_1 the sender, after `change` of their messages.
    fn pair(
        change: impl Fn(&mut [u8; ELEMENT], &mut [u8; PROGRAMS]) + Sync,
    ) -> Result<(Vec<[u128; 2]>, Vec<u128>, u128), Rejected> {
        let parties = run(2, &Parameters::new("base ot tests"), |mut session| {
            let peer = session.peers()[0];
            if session.me().index() == 0 {
                let mut programs = Box::new([0; PROGRAMS]);
                let sender = Sender::new(&session, peer);
                let mut element = sender.element;
                change(&mut element, &mut programs);
                session.send(step!("a"), peer, &element, 0)?;
                session.recv(step!("f"), peer, programs.as_mut_slice())?;
                let keys = sender.keys(&programs).map(|keys| keys.to_vec());
                return Ok(keys.map(|keys| (keys, Vec::new(), 0)));
            }
            let receiver = Receiver::new(&session, peer);
            let mut element = [0; ELEMENT];
            session.recv(step!("a"), peer, &mut element)?;
            let mut programs = receiver.programs.clone();
            change(&mut element, &mut programs);
            session.send(step!("f"), peer, programs.as_slice(), 0)?;
            let keys = receiver.keys(&element).map(|keys| keys.to_vec());
            Ok(keys.map(|keys| (Vec::new(), keys, *receiver.choices)))
        });
        let [sender, receiver]: [_; 2] = parties.try_into().unwrap_or_else(|_| unreachable!());
        let (sender, receiver) = (sender.unwrap()?, receiver.unwrap()?);
        Ok((sender.0, receiver.1, receiver.2))
    }

    #[test]
    fn the_receiver_has_the_key_of_its_choice_and_not_the_other() {
        let (sender, receiver, choices) = pair(|_, _| ()).unwrap();
        assert_eq!((sender[0], receiver[0]), ([0; 2], 0));
        for i in 1..COUNT {
            let c = (choices >> i & 1) as usize;
            assert_eq!(sender[i][c], receiver[i], "{i}");
            assert_ne!(sender[i][1 - c], receiver[i], "{i}");
        }
        let mut all: Vec<u128> = sender[1..].iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * (COUNT - 1));
        assert!((30..98).contains(&choices.count_ones()));
    }

    /// Another element in place of T gives other keys at its index, and fails nothing: the trees on top notice.
    #[test]
    fn keys_depend_on_the_message_of_their_index() {
        let (sender, receiver, choices) = pair(|_, f| f.copy_within(..ELEMENT, 5 * ELEMENT)).unwrap();
        assert!(!sender[6].contains(&receiver[6]));
        assert_eq!(sender[7][(choices >> 7 & 1) as usize], receiver[7]);
        assert!(!sender[6].iter().any(|key| sender[1].contains(key)), "the index is in the key");
    }

    /// The points of small order of Ed25519, as they are encoded there, and encodings that are not reduced or negative (RFC 9496,
    /// appendix A.2 has more).
    const BAD: [&str; 14] = [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20",
    ];

    #[test]
    fn bad_elements_are_rejected_from_either_side() {
        for bad in BAD {
            let bytes: Vec<u8> =
                (0..32).map(|i| u8::from_str_radix(&bad[2 * i..2 * i + 2], 16).unwrap()).collect();
            assert!(read(&bytes).is_err(), "{bad}");
            assert_eq!(pair(|a, _| a.copy_from_slice(&bytes)).err(), Some(Rejected), "{bad}");
            assert_eq!(pair(|_, t| t[..32].copy_from_slice(&bytes)).err(), Some(Rejected), "{bad}");
            assert_eq!(pair(|_, t| t[126 * 32..].copy_from_slice(&bytes)).err(), Some(Rejected), "{bad}");
        }
    }

    #[test]
    #[ignore = "a measurement"]
    fn speed() {
        let results = run(2, &Parameters::new("base ot tests"), |session| {
            let peer = session.peers()[0];
            let mut times = Vec::new();
            if session.me().index() == 0 {
                for _ in 0..20 {
                    let now = std::time::Instant::now();
                    let receiver = Receiver::new(&session, peer);
                    times.push(now.elapsed());
                    let sender = Sender::new(&session, peer);
                    let now = std::time::Instant::now();
                    receiver.keys(&sender.element).unwrap();
                    times.push(now.elapsed());
                    let now = std::time::Instant::now();
                    sender.keys(&receiver.programs).unwrap();
                    times.push(now.elapsed());
                }
            }
            Ok(times)
        });
        let times = results.into_iter().next().unwrap().unwrap();
        for (i, name) in ["programs", "receiver's keys", "sender's keys"].into_iter().enumerate() {
            println!("{name}: {:?}", times.iter().skip(i).step_by(3).min().unwrap());
        }
    }
}
