//! The tweakable circular correlation-robust hash: TMMO over AES-128 (Guo, Katz, Wang, Yu 2020, ePrint
//! 2019/074): H(x, i) = pi(pi(x) + i) + pi(x), under another key of pi for every few calls.
//!
//! Circular correlation robustness: for a secret Delta the values H(x + Delta, i) + b Delta look random, even
//! for chosen x and b, as long as no tweak i comes twice. The feed-forward of pi(x) makes the hash one-way.
//!
//! *Why many keys.* With c = pi(x) + i a known hash h fulfils h + i = pi(c) + c. Whoever knows p hashes under
//! one key puts all h + i into one table and looks pi(c) + c up for random c: after 2^128 / p of them one is
//! found, and x = pi^-1(c + i) gives Delta away. So no key has more than [`TARGETS`] of them: the key names
//! the session, the step, both parties, and a block of gates or inputs. It is that name, encrypted under a
//! key of the session, in whose id there is fresh randomness of every party: no two names have one key, and
//! keys of other sessions are others.

#[cfg(test)]
mod attack;

use crate::cipher::Permutation;
use crate::wipe;
use divisi_core::{PartyId, Session};

/// How many blocks go through the cipher together.
const BATCH: usize = 64;

/// The most hashes under one key of which an adversary may know the value and seeks the input. Of the two
/// inputs of a pair, which differ by Delta, it knows one; so a target is a pair, once for each block that is
/// made of it.
pub const TARGETS: u64 = 1 << 11;

/// The most gates or inputs of one key, however few targets each has.
const UNITS: u64 = 1 << 10;

/// The computational security that [`TARGETS`] leaves of the 128 bits of a label.
pub const COMPUTATIONAL_BITS: u32 = 128 - TARGETS.ilog2();

/// What so many targets under one key leave of 128 bits: minus the binary logarithm of the chance of one
/// guess.
#[must_use]
pub fn remaining_bits(targets: u64) -> f64 {
    128.0 - (targets.max(1) as f64).log2()
}

/// How many gates or inputs have one key, if each has so many targets: a power of two.
///
/// # Panics
/// If one of them has too many.
#[must_use]
pub fn units_of_a_key(targets: u64) -> u64 {
    assert!((1..=TARGETS).contains(&targets), "a gate with more targets than a key may have");
    1 << (TARGETS / targets).min(UNITS).ilog2()
}

/// Which calls: those of a step of a protocol, from one party to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(u32);

/// The steps of this crate's own uses of the hash: base OTs from a first extension; pads of rows that passed
/// the check, and of those that no check stands behind, one step for each of [`CLASSES`] sizes of payloads.
/// Steps of other crates are at least [`FIRST_STEP`].
pub(crate) const BASE: u8 = 1;
pub(crate) const CHECKED: u8 = 2;
pub(crate) const SEMI_HONEST: u8 = CHECKED + CLASSES;
/// A payload of class c takes at most 2^c blocks of the hash.
pub(crate) const CLASSES: u8 = 7;
const _: () = assert!(SEMI_HONEST + CLASSES <= FIRST_STEP);

/// The first step number that crates above may use.
pub const FIRST_STEP: u8 = 16;

impl Place {
    /// The calls of a step, from whom, to whom.
    #[must_use]
    pub fn new(step: u8, from: PartyId, to: PartyId) -> Place {
        Place(u32::from_le_bytes([step, from.number(), to.number(), 0]))
    }

    /// The name of the key of one block of units: no two are equal in a session.
    fn key(self, block: u64) -> u128 {
        u128::from(self.0) << 64 | u128::from(block)
    }
}

/// Which call at a place \[W12, W19\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tweak {
    /// A number that never returns at this place in the session: of a gate, a triple, a position. Below 2^56.
    pub unit: u64,
    /// Which of several inputs of it.
    pub row: u8,
}

impl Tweak {
    /// What is added in the hash, for the first block; the number of another block is added to it.
    #[inline]
    fn word(self, place: Place) -> u128 {
        u128::from(place.0 | u32::from(self.row) << 24) << 64 | u128::from(self.unit << 8)
    }
}

/// Permutations under any number of keys.
pub(crate) trait Family {
    /// One of them.
    type Cipher: Cipher;
    /// The one of a name.
    fn under(&self, name: u128) -> Self::Cipher;
}

/// One permutation.
pub(crate) trait Cipher {
    /// Replace each block.
    fn permute(&self, x: &mut [u128]);
}

/// The permutations of a session: AES under the encryption of the name.
#[derive(Clone)]
pub(crate) struct Aes(Permutation);

impl Aes {
    fn new(id: &[u8; 32]) -> Aes {
        let mut key = [0; 16];
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash v2");
        hasher.update(id).finalize_xof().fill(&mut key);
        Aes(Permutation::new(&key))
    }
}

impl Family for Aes {
    type Cipher = Permutation;

    fn under(&self, name: u128) -> Permutation {
        let mut key = [name];
        self.0.permute(&mut key);
        Permutation::new(&key[0].to_le_bytes())
    }
}

impl Cipher for Permutation {
    #[inline]
    fn permute(&self, x: &mut [u128]) {
        Permutation::permute(self, x);
    }
}

/// The hash of one session.
#[derive(Clone)]
pub struct TweakableHash(Aes);

impl TweakableHash {
    /// The hash of this session, the same at all parties and in all strands.
    #[must_use]
    pub fn new(session: &Session) -> TweakableHash {
        TweakableHash(Aes::new(session.id().as_bytes()))
    }

    /// A hash of its own for what `name` names, within this session: no two names have one key, and nobody
    /// who lacks a secret part of a name computes anything ahead.
    #[must_use]
    pub fn named(session: &Session, name: &[u8; 32]) -> TweakableHash {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash of a name v1");
        hasher.update(session.id().as_bytes()).update(name);
        let mut key = [0; 16];
        hasher.finalize_xof().fill(&mut key);
        TweakableHash(Aes(Permutation::new(&key)))
    }

    /// Calls at a place, where each unit has so many targets: pairs of inputs, times blocks of each. The
    /// meter is told what one key of them leaves of 128 bits.
    ///
    /// # Panics
    /// If a unit has more targets than a key may have.
    #[must_use]
    pub fn calls(&self, session: &Session, place: Place, targets: u64) -> Calls<'_> {
        session.meter().computational(remaining_bits(units_of_a_key(targets) * targets));
        Calls::new(&self.0, place, targets)
    }
}

/// Calls at one place, the units in order. A key serves a block of them, and is made when its first one
/// comes.
pub struct Calls<'a>(Keyed<'a, Aes>);

impl<'a> Calls<'a> {
    fn new(family: &'a Aes, place: Place, targets: u64) -> Calls<'a> {
        Calls(Keyed::new(family, place, units_of_a_key(targets)))
    }

    /// Replace each `x[i]` by its hash under `tweak(i)`, whose units do not decrease.
    pub fn hash(&mut self, x: &mut [u128], tweak: impl Fn(usize) -> Tweak) {
        self.0.hash(x, tweak);
    }

    /// The hashes of each `x[i]` under `tweak(i)`, whose units do not decrease: `blocks` of them, at most
    /// 256, input by input. pi(x) is computed once for all of them.
    ///
    /// # Panics
    /// If `out` has not `blocks` words for each input.
    pub fn expand(&mut self, x: &[u128], blocks: usize, tweak: impl Fn(usize) -> Tweak, out: &mut [u128]) {
        self.0.expand(x, blocks, tweak, out);
    }
}

/// Calls at one place, over some family of permutations.
pub(crate) struct Keyed<'a, F: Family> {
    family: &'a F,
    place: Place,
    /// The binary logarithm of the units of a key.
    shift: u32,
    /// The block whose key is there.
    current: Option<(u64, F::Cipher)>,
}

impl<'a, F: Family> Keyed<'a, F> {
    /// Calls at a place with so many units to a key, a power of two.
    pub(crate) fn new(family: &'a F, place: Place, units: u64) -> Keyed<'a, F> {
        Keyed { family, place, shift: units.ilog2(), current: None }
    }

    fn hash(&mut self, x: &mut [u128], tweak: impl Fn(usize) -> Tweak) {
        let mut pi = [0; BATCH];
        let used = x.len().min(BATCH);
        let mut from = 0;
        while from < x.len() {
            let to = self.run(from, x.len(), &tweak);
            let (pi, x) = (&mut pi[..to - from], &mut x[from..to]);
            pi.copy_from_slice(x);
            self.after(pi, 1, |i| tweak(from + i), x);
            from = to;
        }
        wipe::words(&mut pi[..used]);
    }

    pub(crate) fn expand(
        &mut self,
        x: &[u128],
        blocks: usize,
        tweak: impl Fn(usize) -> Tweak,
        out: &mut [u128],
    ) {
        assert!((1..=256).contains(&blocks) && out.len() == x.len() * blocks, "a word for each hash");
        let mut pi = [0; BATCH];
        let used = x.len().min(BATCH);
        let mut from = 0;
        while from < x.len() {
            let to = self.run(from, x.len(), &tweak);
            let pi = &mut pi[..to - from];
            pi.copy_from_slice(&x[from..to]);
            self.after(pi, blocks, |i| tweak(from + i), &mut out[from * blocks..to * blocks]);
            from = to;
        }
        wipe::words(&mut pi[..used]);
    }

    /// The end of the calls from `from` on that are made together: a batch at most, under one key.
    #[inline]
    fn run(&self, from: usize, len: usize, tweak: &impl Fn(usize) -> Tweak) -> usize {
        let block = |i: usize| tweak(i).unit >> self.shift;
        let mut to = len.min(from + BATCH);
        while block(to - 1) != block(from) {
            to -= 1;
        }
        // one between two of the same block would be hashed under their key
        debug_assert!((from..to).all(|i| block(i) == block(from)), "units do not decrease");
        to
    }

    /// The hashes of one run, whose inputs are in `pi`.
    #[inline]
    fn after(&mut self, pi: &mut [u128], blocks: usize, tweak: impl Fn(usize) -> Tweak, out: &mut [u128]) {
        let (family, place, block) = (self.family, self.place, tweak(0).unit >> self.shift);
        if self.current.as_ref().is_some_and(|(of, _)| *of != block) {
            self.current = None;
        }
        let (_, cipher) = self.current.get_or_insert_with(|| (block, family.under(place.key(block))));
        #[cfg(feature = "testing")]
        crate::record::note(|records| {
            for (i, input) in pi.iter().enumerate() {
                let call = |b| crate::record::Call {
                    key: place.key(block),
                    tweak: tweak(i).word(place) + b as u128,
                    input: *input,
                };
                records.calls.extend((0..blocks).map(call));
            }
        });
        cipher.permute(pi);
        let word = |i: usize| tweak(i).word(place);
        // the usual numbers of blocks have code of their own
        match blocks {
            1 => with_tweaks(pi, 1, word, out),
            2 => with_tweaks(pi, 2, word, out),
            3 => with_tweaks(pi, 3, word, out),
            _ => with_tweaks(pi, blocks, word, out),
        }
        cipher.permute(out);
        match blocks {
            1 => add_to_each(pi, 1, out),
            2 => add_to_each(pi, 2, out),
            3 => add_to_each(pi, 3, out),
            _ => add_to_each(pi, blocks, out),
        }
    }
}

/// pi(x) + i for each input and each block of it.
#[inline(always)]
fn with_tweaks(pi: &[u128], blocks: usize, word: impl Fn(usize) -> u128, out: &mut [u128]) {
    for (i, (pi, out)) in pi.iter().zip(out.chunks_exact_mut(blocks)).enumerate() {
        // the lowest eight bits are the block's
        let first = pi ^ word(i);
        for (block, out) in out.iter_mut().enumerate() {
            *out = first ^ block as u128;
        }
    }
}

/// Add pi(x) to each block of its input.
#[inline(always)]
fn add_to_each(pi: &[u128], blocks: usize, out: &mut [u128]) {
    for (pi, out) in pi.iter().zip(out.chunks_exact_mut(blocks)) {
        out.iter_mut().for_each(|out| *out ^= pi);
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

    fn place(step: u8, from: u8, to: u8) -> Place {
        Place::new(step, party(from), party(to))
    }

    fn one(session: u8, place: Place, targets: u64, x: u128, tweak: Tweak) -> u128 {
        let mut x = [x];
        Calls::new(&Aes::new(&[session; 32]), place, targets).hash(&mut x, |_| tweak);
        x[0]
    }

    #[test]
    fn a_batch_of_any_length_is_the_hash_of_each() {
        let (place, targets) = (place(FIRST_STEP, 1, 2), 512);
        for first in [0, 3, (1 << 40) - 5] {
            let tweak = |i: usize| Tweak { unit: first + i as u64 / 3, row: i as u8 % 3 };
            let x: Vec<u128> =
                (0..200).map(|i| (i as u128).wrapping_mul(0x1234_5678_9abc_def0_0fed_cba9)).collect();
            let mut whole = x.clone();
            Calls::new(&Aes::new(&[7; 32]), place, targets).hash(&mut whole, tweak);
            for (i, x) in x.iter().enumerate() {
                assert_eq!(one(7, place, targets, *x, tweak(i)), whole[i]);
            }
            assert_eq!(whole.iter().collect::<HashSet<_>>().len(), 200);
        }
    }

    /// A unit of another block between two of one block is no run.
    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "units do not decrease")]
    fn units_out_of_order_are_noticed() {
        let unit = |i: usize| [0, 5000, 0][i];
        Calls::new(&Aes::new(&[7; 32]), place(FIRST_STEP, 1, 2), 512)
            .hash(&mut [1, 2, 3], |i| Tweak { unit: unit(i), row: 0 });
    }

    #[test]
    fn an_expansion_is_the_hash_at_each_block() {
        let family = Aes::new(&[8; 32]);
        let place = place(FIRST_STEP, 2, 1);
        let tweak = |i: usize| Tweak { unit: i as u64 + 5, row: 1 };
        for (inputs, blocks) in [(0, 3), (1, 1), (64, 2), (65, 3), (150, 5), (40, 129)] {
            let targets = 2 * blocks as u64;
            let x: Vec<u128> = (0..inputs).map(|i| i as u128 * 0x1234_5678_9abc_def0_0fed_cba9).collect();
            let mut out = vec![0; inputs * blocks];
            // in two calls, as in one
            let (first, second) = out.split_at_mut(inputs / 2 * blocks);
            let mut calls = Calls::new(&family, place, targets);
            calls.expand(&x[..inputs / 2], blocks, tweak, first);
            calls.expand(&x[inputs / 2..], blocks, |i| tweak(inputs / 2 + i), second);
            for (i, out) in out.iter().enumerate() {
                let (unit, block) = (i / blocks + 5, i % blocks);
                let key = family.under(place.key(unit as u64 / units_of_a_key(targets)));
                let mut pi = [x[i / blocks]];
                key.permute(&mut pi);
                let mut word = [pi[0] ^ (tweak(i / blocks).word(place) + block as u128)];
                key.permute(&mut word);
                assert_eq!(word[0] ^ pi[0], *out, "{inputs} {blocks} {i}");
            }
        }
    }

    /// Without the feed-forward the hash could be undone by whoever knows the key, and everybody does.
    #[test]
    fn undoing_the_permutation_does_not_undo_the_hash() {
        // the session's key, and the key of one name
        let mut key = [0; 16];
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash v2");
        hasher.update(&[9; 32]).finalize_xof().fill(&mut key);
        let (place, tweak) = (place(FIRST_STEP, 1, 2), Tweak { unit: 1024 + 5, row: 3 });
        let mut name: Block = (u128::from(0x0002_0110_u32) << 64 | 1).to_le_bytes().into();
        aes::Aes128::new(&key.into()).encrypt_block(&mut name);
        let back = aes::Aes128::new(&name);
        let undo = |y: u128| {
            let mut block: Block = y.to_le_bytes().into();
            back.decrypt_block(&mut block);
            u128::from_le_bytes(block.into())
        };
        let x = 0x0123_4567_89ab_cdef_u128;
        let y = one(9, place, 1, x, tweak);
        let tweak = u128::from(0x0302_0110_u32) << 64 | (1024 + 5) << 8;
        assert_ne!(undo(undo(y) ^ tweak), x);
        assert_ne!(undo(y ^ tweak), x);
        // it is TMMO: with pi(x) known the rest can be checked
        let mut pi: Block = x.to_le_bytes().into();
        back.encrypt_block(&mut pi);
        let pi = u128::from_le_bytes(pi.into());
        assert_eq!(undo(y ^ pi) ^ tweak, pi);
    }

    /// Every part of a name makes another hash, and no two names, nor two tweaks of one name, are equal.
    #[test]
    fn no_key_and_tweak_come_twice() {
        let (mut names, mut words, mut outputs) = (HashSet::new(), HashSet::new(), HashSet::new());
        let places = [(16, 1, 2), (17, 1, 2), (16, 2, 1), (16, 1, 3), (1, 128, 127)];
        for place in places.map(|(step, from, to)| place(step, from, to)) {
            for block in [0, 1, 2, (1 << 46) - 1] {
                assert!(names.insert(place.key(block)));
            }
            for unit in [0, 1, 1023, 1024, (1 << 56) - 1] {
                for row in [0, 1, 7] {
                    let tweak = Tweak { unit, row };
                    // 256 blocks of one are below the next
                    assert!((0..256).all(|block| words.insert(tweak.word(place) + block)));
                    assert!(outputs.insert(one(1, place, 1, 1, tweak)));
                }
            }
        }
        for session in 2..100 {
            assert!(outputs.insert(one(session, place(16, 1, 2), 1, 1, Tweak { unit: 0, row: 0 })));
        }
    }

    /// No key has more targets than the printed security allows.
    #[test]
    fn every_key_keeps_its_bits() {
        assert_eq!(COMPUTATIONAL_BITS, 117);
        for targets in 1..=TARGETS {
            let of_a_key = units_of_a_key(targets) * targets;
            assert!(units_of_a_key(targets) <= 1024);
            assert!(remaining_bits(of_a_key) >= f64::from(COMPUTATIONAL_BITS), "{targets}");
        }
        assert_eq!(remaining_bits(1 << 11), 117.0);
        assert_eq!(remaining_bits(1), 128.0);
    }
}
