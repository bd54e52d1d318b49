//! The tweakable circular correlation-robust hash, keyed for each session: TMMO over AES-128 (Guo, Katz, Wang, Yu 2020, ePrint
//! 2019/074): H(x, i) = pi(pi(x) + i) + pi(x).
//!
//! Circular correlation robustness: for a secret Delta the values H(x + Delta, i) + b Delta look random, even for chosen x and b,
//! as long as no tweak i comes twice. The key of pi is a hash of the session's id, which has fresh randomness of every party, so
//! that the gates of different sessions do not add up against one permutation; the feed-forward of pi(x) makes
//! the hash one-way.

use crate::cipher::Permutation;
use crate::wipe;
use divisi_core::{PartyId, Session};

/// How many blocks go through the cipher together.
const BATCH: usize = 64;

/// Where a hash is used: no two calls of one session have the same tweak \[W12, W19\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tweak(u128);

/// The step of this crate's own use of the hash: base OTs from a first extension. Steps of other crates are at least [`FIRST_STEP`].
pub(crate) const BASE: u8 = 1;

/// The first step number that crates above may use.
pub const FIRST_STEP: u8 = 16;

impl Tweak {
    /// The tweak of a step of a protocol: from whom, to whom, which of several hashes there, and a number that never returns in the
    /// session (position, gate).
    #[must_use]
    pub fn new(step: u8, from: PartyId, to: PartyId, row: u8, index: u64) -> Tweak {
        let place = u128::from(u32::from_le_bytes([step, from.number(), to.number(), row]));
        Tweak(place << 64 | u128::from(index))
    }

    /// The same place at another index.
    #[must_use]
    pub fn at(self, index: u64) -> Tweak {
        Tweak(self.0 >> 64 << 64 | u128::from(index))
    }
}

/// The hash of one session.
#[derive(Clone)]
pub struct Hash(Permutation);

impl Hash {
    /// The hash of this session, the same at all parties and in all strands.
    #[must_use]
    pub fn new(session: &Session) -> Hash {
        Hash::keyed(session.id().as_bytes())
    }

    fn keyed(id: &[u8; 32]) -> Hash {
        let mut key = [0; 16];
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash v1");
        hasher.update(id).finalize_xof().fill(&mut key);
        Hash(Permutation::new(&key))
    }

    /// Replace each `x[i]` by its hash under `tweak(i)`.
    pub fn hash(&self, x: &mut [u128], tweak: impl Fn(usize) -> Tweak) {
        let mut pi = [0; BATCH];
        let used = x.len().min(BATCH);
        for (chunk, x) in x.chunks_mut(BATCH).enumerate() {
            let pi = &mut pi[..x.len()];
            pi.copy_from_slice(x);
            self.after(pi, 1, |i| tweak(chunk * BATCH + i), x);
        }
        wipe::words(&mut pi[..used]);
    }

    /// The hashes of each `x[i]` under `blocks` tweaks, `tweak(i)` and those at the next indices, input by input: pi(x) is computed once
    /// for all of them.
    ///
    /// # Panics
    /// If `out` has not `blocks` words for each input.
    pub fn expand(&self, x: &[u128], blocks: usize, tweak: impl Fn(usize) -> Tweak, out: &mut [u128]) {
        assert!(blocks > 0 && out.len() == x.len() * blocks, "a word for each hash");
        let mut pi = [0; BATCH];
        let used = x.len().min(BATCH);
        for (chunk, (x, out)) in x.chunks(BATCH).zip(out.chunks_mut(BATCH * blocks)).enumerate() {
            let pi = &mut pi[..x.len()];
            pi.copy_from_slice(x);
            self.after(pi, blocks, |i| tweak(chunk * BATCH + i), out);
        }
        wipe::words(&mut pi[..used]);
    }

    /// The same for one batch, whose inputs are in `pi`.
    #[inline]
    fn after(&self, pi: &mut [u128], blocks: usize, tweak: impl Fn(usize) -> Tweak, out: &mut [u128]) {
        self.0.permute(pi);
        for (i, (pi, out)) in pi.iter().zip(out.chunks_exact_mut(blocks)).enumerate() {
            let Tweak(tweak) = tweak(i);
            for (block, out) in out.iter_mut().enumerate() {
                *out = pi ^ (tweak + block as u128);
            }
        }
        self.0.permute(out);
        for (pi, out) in pi.iter().zip(out.chunks_exact_mut(blocks)) {
            out.iter_mut().for_each(|out| *out ^= pi);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::Block;
    use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
    use std::collections::HashSet;

    fn party(number: u8) -> PartyId {
        PartyId::new(number).unwrap()
    }

    #[test]
    fn a_batch_of_any_length_is_the_hash_of_each() {
        let hash = Hash::keyed(&[7; 32]);
        let tweak = |i: usize| Tweak::new(FIRST_STEP, party(1), party(2), 3, i as u64);
        let x: Vec<u128> =
            (0..200).map(|i| (i as u128).wrapping_mul(0x1234_5678_9abc_def0_0fed_cba9)).collect();
        let mut whole = x.clone();
        hash.hash(&mut whole, tweak);
        for (i, x) in x.iter().enumerate() {
            let mut one = [*x];
            hash.hash(&mut one, |_| tweak(i));
            assert_eq!(one[0], whole[i]);
        }
        assert_eq!(whole.iter().collect::<HashSet<_>>().len(), 200);
    }

    #[test]
    fn an_expansion_is_the_hash_at_each_index() {
        let hash = Hash::keyed(&[8; 32]);
        let tweak = |i: usize| Tweak::new(FIRST_STEP, party(2), party(1), 1, (i as u64 + 5) << 8);
        for (inputs, blocks) in [(0, 3), (1, 1), (64, 2), (65, 3), (150, 5)] {
            let x: Vec<u128> = (0..inputs).map(|i| i as u128 * 0x1234_5678_9abc_def0_0fed_cba9).collect();
            let mut out = vec![0; inputs * blocks];
            hash.expand(&x, blocks, tweak, &mut out);
            for (i, out) in out.iter().enumerate() {
                let mut one = [x[i / blocks]];
                let index = ((i / blocks) as u64 + 5) << 8 | (i % blocks) as u64;
                hash.hash(&mut one, |_| tweak(0).at(index));
                assert_eq!(one[0], *out, "{inputs} {blocks} {i}");
            }
        }
    }

    /// Without the feed-forward the hash could be undone by whoever knows the key, and everybody does.
    #[test]
    fn undoing_the_permutation_does_not_undo_the_hash() {
        let mut key = [0; 16];
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash v1");
        hasher.update(&[9; 32]).finalize_xof().fill(&mut key);
        let back = aes::Aes128::new(&key.into());
        let undo = |y: u128| {
            let mut block: Block = y.to_le_bytes().into();
            back.decrypt_block(&mut block);
            u128::from_le_bytes(block.into())
        };
        let hash = Hash::keyed(&[9; 32]);
        let Tweak(tweak) = Tweak::new(FIRST_STEP, party(1), party(2), 0, 5);
        let x = 0x0123_4567_89ab_cdef_u128;
        let mut y = [x];
        hash.hash(&mut y, |_| Tweak(tweak));
        assert_ne!(undo(undo(y[0]) ^ tweak), x);
        assert_ne!(undo(y[0] ^ tweak), x);
        // it is TMMO: with pi(x) known the rest can be checked
        let mut pi: Block = x.to_le_bytes().into();
        back.encrypt_block(&mut pi);
        let pi = u128::from_le_bytes(pi.into());
        assert_eq!(undo(y[0] ^ pi) ^ tweak, pi);
    }

    #[test]
    fn no_key_and_tweak_come_twice() {
        let mut tweaks = HashSet::new();
        for (step, from, to, row) in
            [(16, 1, 2, 0), (17, 1, 2, 0), (16, 2, 1, 0), (16, 1, 3, 0), (16, 1, 2, 1)]
        {
            for index in [0, 1, u64::MAX] {
                assert!(tweaks.insert(Tweak::new(step, party(from), party(to), row, index)));
            }
        }
        assert_eq!(Tweak::new(16, party(1), party(2), 3, 4), Tweak::new(16, party(1), party(2), 3, 9).at(4));
        let outputs: HashSet<u128> = (0..100_u8)
            .map(|session| {
                let mut x = [1];
                Hash::keyed(&[session; 32]).hash(&mut x, |_| Tweak::new(16, party(1), party(2), 0, 0));
                x[0]
            })
            .collect();
        assert_eq!(outputs.len(), 100);
    }
}
