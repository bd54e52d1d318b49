//! The tweakable circular correlation-robust hash: TMMO over AES-128 (Guo, Katz, Wang, Yu 2020, ePrint
//! 2019/074): H(x, i) = pi(pi(x) + i) + pi(x), under another key of pi for every few calls.
//!
//! Circular correlation robustness: for a secret Delta the values H(x + Delta, i) + b Delta look random, even
//! for chosen x and b, as long as no tweak i comes twice. The feed-forward of pi(x) makes the hash one-way.
//!
//! *Why many keys.* With c = pi(x) + i, a known hash h satisfies h + i = pi(c) + c. An adversary that knows p
//! hashes under one key puts all h + i into one table, and looks up pi(c) + c for random c. After about 2^128
//! / p tries it finds one, and x = pi^-1(c + i) reveals Delta. So no key serves more than [`TARGETS`] such
//! hashes. A key has a name: the session, the step, both parties, and a block of gates or inputs. The key is
//! its name, encrypted under a key of the session; the session's id has fresh randomness of every party. So
//! two names never have the same key, nor do two sessions.

#[cfg(test)]
mod attack;

use crate::cipher::{Permutation, hash_by};
use crate::wipe;
use divisi_core::{PartyId, Session};

/// How many blocks go through the cipher together.
const BATCH: usize = 128;

/// The largest number of targets under one key. A target is a hash whose value an adversary may know and
/// whose input it searches for. It knows one of the two inputs of a pair that differ by Delta; so each pair
/// is one target for each block that is hashed from it.
pub const TARGETS: u64 = 1 << 11;

/// The largest number of gates or inputs under one key, even if each has few targets.
const UNITS: u64 = 1 << 10;

/// The computational security in bits of a label of 128 bits, with [`TARGETS`] targets under a key.
pub const COMPUTATIONAL_BITS: u32 = 128 - TARGETS.ilog2();

/// The bits of security that remain of 128 with this number of targets under one key: minus the binary
/// logarithm of the probability that one guess succeeds.
#[must_use]
pub fn remaining_bits(targets: u64) -> f64 {
    128.0 - (targets.max(1) as f64).log2()
}

/// How many gates or inputs share one key, if each has this number of targets: a power of two.
///
/// # Panics
/// If a gate or input has no target, or more than [`TARGETS`].
#[must_use]
pub fn units_of_a_key(targets: u64) -> u64 {
    assert!((1..=TARGETS).contains(&targets), "a gate with more targets than a key may have");
    1 << (TARGETS / targets).min(UNITS).ilog2()
}

/// A series of calls: those of one protocol step, from one party to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(u32);

/// Step numbers of this crate. `BASE`: base OTs from a first extension. `CHECKED` and `SEMI_HONEST`: pads of
/// rows that passed the check, and of rows without a check; each has one step for each of [`CLASSES`] sizes
/// of payloads. Steps of other crates begin at [`FIRST_STEP`].
pub(crate) const BASE: u8 = 1;
pub(crate) const CHECKED: u8 = 2;
pub(crate) const SEMI_HONEST: u8 = CHECKED + CLASSES;
/// A payload of class c takes at most 2^c blocks of the hash.
pub(crate) const CLASSES: u8 = 7;
const _: () = assert!(SEMI_HONEST + CLASSES <= FIRST_STEP);

/// The first step number that crates above may use.
pub const FIRST_STEP: u8 = 16;

impl Place {
    /// The calls of this step from one party to another.
    #[must_use]
    pub fn new(step: u8, from: PartyId, to: PartyId) -> Place {
        Place(u32::from_le_bytes([step, from.number(), to.number(), 0]))
    }

    /// The name of the key of one block of units: unique in a session.
    fn key(self, block: u64) -> u128 {
        u128::from(self.0) << 64 | u128::from(block)
    }
}

/// The call's number within its [`Place`] \[W12, W19\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tweak {
    /// The number of a gate, a triple or a position, below 2^56. No two calls at one place in a session have
    /// the same number and `row`.
    pub unit: u64,
    /// Which of the unit's inputs this is.
    pub row: u8,
}

impl Tweak {
    /// The word that the hash adds between the two permutations, for the first block; the number of a later
    /// block is added to it.
    #[inline]
    fn word(self, place: Place) -> u128 {
        u128::from(place.0 | u32::from(self.row) << 24) << 64 | u128::from(self.unit << 8)
    }
}

/// A family of permutations, one for each name.
pub(crate) trait Family {
    /// A permutation of the family.
    type Cipher: Cipher;
    /// The permutation of this name.
    fn under(&self, name: u128) -> Self::Cipher;
}

/// A permutation of blocks.
pub(crate) trait Cipher {
    /// Replaces each block by its image.
    fn permute(&self, x: &mut [u128]);

    /// Replaces each x by pi(pi(x) + t) + pi(x), where t is the tweak at the same place.
    fn hash(&self, x: &mut [u128], tweaks: &[u128]) {
        hash_by(|x| self.permute(x), x, tweaks);
    }
}

/// A session's permutations: AES, whose key is the encryption of the name.
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

    #[inline]
    fn hash(&self, x: &mut [u128], tweaks: &[u128]) {
        Permutation::hash(self, x, tweaks);
    }
}

/// The hash of one session.
#[derive(Clone)]
pub struct TweakableHash(Aes);

impl TweakableHash {
    /// The hash of this session: the same at all parties and in all strands.
    #[must_use]
    pub fn new(session: &Session) -> TweakableHash {
        TweakableHash(Aes::new(session.id().as_bytes()))
    }

    /// A separate hash, for what `name` names within this session. Different names have different keys.
    /// Whoever does not know a secret part of the name cannot compute anything ahead.
    #[must_use]
    pub fn named(session: &Session, name: &[u8; 32]) -> TweakableHash {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash of a name v1");
        hasher.update(session.id().as_bytes()).update(name);
        let mut key = [0; 16];
        hasher.finalize_xof().fill(&mut key);
        TweakableHash(Aes(Permutation::new(&key)))
    }

    /// The calls at a place. `targets` is the number of targets that each unit has: pairs of inputs, times
    /// the blocks of each. The meter is told the bits of security that remain under one key.
    ///
    /// # Panics
    /// If a unit has no target, or more than [`TARGETS`].
    #[must_use]
    pub fn calls(&self, session: &Session, place: Place, targets: u64) -> Calls<'_> {
        session.meter().computational(remaining_bits(units_of_a_key(targets) * targets));
        Calls::new(&self.0, place, targets)
    }
}

/// Calls at one place, in the order of their units. A key serves a block of units, and is made when its first
/// unit comes.
pub struct Calls<'a>(Keyed<'a, Aes>);

impl<'a> Calls<'a> {
    fn new(family: &'a Aes, place: Place, targets: u64) -> Calls<'a> {
        Calls(Keyed::new(family, place, units_of_a_key(targets)))
    }

    /// Replaces each `x[i]` by its hash under `tweak(i)`; units must not decrease.
    pub fn hash(&mut self, x: &mut [u128], tweak: impl Fn(usize) -> Tweak) {
        self.0.hash(x, tweak);
    }

    /// The first `blocks` blocks (at most 256) of the hash of each `x[i]` under `tweak(i)`, input by input;
    /// units must not decrease. pi(x) is computed once for all blocks of an input.
    ///
    /// # Panics
    /// If `out` does not have `blocks` words for each input.
    pub fn expand(&mut self, x: &[u128], blocks: usize, tweak: impl Fn(usize) -> Tweak, out: &mut [u128]) {
        self.0.expand(x, blocks, tweak, out);
    }
}

/// Calls at one place, over a family of permutations.
pub(crate) struct Keyed<'a, F: Family> {
    family: &'a F,
    place: Place,
    /// The binary logarithm of the number of units under one key.
    shift: u32,
    /// The current key: the number of its block of units, and its permutation.
    current: Option<(u64, F::Cipher)>,
    /// Scratch for the tweaks of a batch.
    words: Vec<u128>,
}

impl<'a, F: Family> Keyed<'a, F> {
    /// The hash at one place of a protocol. Its key changes after every `units` units of the tweak; that is a
    /// power of two.
    pub(crate) fn new(family: &'a F, place: Place, units: u64) -> Keyed<'a, F> {
        Keyed { family, place, shift: units.ilog2(), current: None, words: Vec::with_capacity(BATCH) }
    }

    fn hash(&mut self, x: &mut [u128], tweak: impl Fn(usize) -> Tweak) {
        let mut from = 0;
        while from < x.len() {
            let to = self.run(from, x.len(), &tweak);
            let (x, place, block) = (&mut x[from..to], self.place, tweak(from).unit >> self.shift);
            self.note(x, 1, block, |i| tweak(from + i));
            self.words.clear();
            self.words.extend((from..to).map(|i| tweak(i).word(place)));
            turned(&mut self.current, self.family, place, block).hash(x, &self.words);
            from = to;
        }
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

    /// The end of the run that begins at `from`: consecutive calls under one key, at most a batch.
    #[inline]
    fn run(&self, from: usize, len: usize, tweak: &impl Fn(usize) -> Tweak) -> usize {
        let block = |i: usize| tweak(i).unit >> self.shift;
        let mut to = len.min(from + BATCH);
        while block(to - 1) != block(from) {
            to -= 1;
        }
        // a unit of another block in between would be hashed under the wrong key
        debug_assert!((from..to).all(|i| block(i) == block(from)), "units do not decrease");
        to
    }

    /// A test's record of the calls of one run.
    #[inline]
    fn note(&self, inputs: &[u128], blocks: usize, block: u64, tweak: impl Fn(usize) -> Tweak) {
        #[cfg(feature = "testing")]
        crate::record::note(|records| {
            let place = self.place;
            for (i, input) in inputs.iter().enumerate() {
                let call = |b| crate::record::Call {
                    key: place.key(block),
                    tweak: tweak(i).word(place) + b as u128,
                    input: *input,
                };
                records.calls.extend((0..blocks).map(call));
            }
        });
        #[cfg(not(feature = "testing"))]
        let _ = (inputs, blocks, block, tweak);
    }

    /// The hashes of one run of this many blocks for each input; `pi` holds the inputs, and then pi(x) of
    /// each.
    #[inline]
    fn after(&mut self, pi: &mut [u128], blocks: usize, tweak: impl Fn(usize) -> Tweak, out: &mut [u128]) {
        let (place, block) = (self.place, tweak(0).unit >> self.shift);
        self.note(pi, blocks, block, &tweak);
        let cipher = turned(&mut self.current, self.family, place, block);
        cipher.permute(pi);
        let word = |i: usize| tweak(i).word(place);
        // the usual numbers of blocks are constants here, so that the compiler makes faster code
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

/// The permutation of this block of units; the one before is gone if it is another's.
#[inline]
fn turned<'c, F: Family>(
    current: &'c mut Option<(u64, F::Cipher)>,
    family: &F,
    place: Place,
    block: u64,
) -> &'c F::Cipher {
    if current.as_ref().is_some_and(|(of, _)| *of != block) {
        *current = None;
    }
    &current.get_or_insert_with(|| (block, family.under(place.key(block)))).1
}

/// pi(x) + i, for each input and each of its blocks.
#[inline(always)]
fn with_tweaks(pi: &[u128], blocks: usize, word: impl Fn(usize) -> u128, out: &mut [u128]) {
    for (i, (pi, out)) in pi.iter().zip(out.chunks_exact_mut(blocks)).enumerate() {
        // the block's number is in the lowest eight bits
        let first = pi ^ word(i);
        for (block, out) in out.iter_mut().enumerate() {
            *out = first ^ block as u128;
        }
    }
}

/// Adds pi(x) to each block of its input.
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

    /// A run ends before a unit of another block.
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
            // the same in two calls as in one
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

    /// Without the feed-forward everybody who knows the key (and all parties do) could invert the hash.
    #[test]
    fn undoing_the_permutation_does_not_undo_the_hash() {
        // the session's key, and from it the key of one name
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
        // it is TMMO: the rest follows once pi(x) is known
        let mut pi: Block = x.to_le_bytes().into();
        back.encrypt_block(&mut pi);
        let pi = u128::from_le_bytes(pi.into());
        assert_eq!(undo(y ^ pi) ^ tweak, pi);
    }

    /// Each part of a name changes the hash; no two names have one key, and no two tweaks of a name are
    /// equal.
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
                    // the 256 blocks of one tweak lie below the next tweak
                    assert!((0..256).all(|block| words.insert(tweak.word(place) + block)));
                    assert!(outputs.insert(one(1, place, 1, 1, tweak)));
                }
            }
        }
        for session in 2..100 {
            assert!(outputs.insert(one(session, place(16, 1, 2), 1, 1, Tweak { unit: 0, row: 0 })));
        }
    }

    /// Under no key are there more targets than the reported security allows.
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
