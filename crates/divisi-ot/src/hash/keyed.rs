//! Calls of the hash under keyed permutations: one permutation for each block of units, changed as the units
//! continue.

use super::{CallSeries, Tweak};
use crate::cipher::{Permutation, hash_by};
use crate::purposes;
use divisi_core::{Expands, wipe};

/// How many blocks go through the cipher together.
const BATCH: usize = 128;

/// A family of permutations, one for each name.
pub(super) trait Family {
    /// A permutation of the family.
    type Cipher: Cipher;
    /// The permutation of this name.
    fn under(&self, name: u128) -> Self::Cipher;
}

/// A permutation of blocks.
pub(super) trait Cipher {
    /// Replaces each block by its image.
    fn permute(&self, x: &mut [u128]);

    /// Replaces each x by pi(pi(x) + t) + pi(x), where t is the tweak at the same index.
    fn hash(&self, x: &mut [u128], tweaks: &[u128]) {
        hash_by(|x| self.permute(x), x, tweaks);
    }
}

/// A session's permutations: AES, whose key is the encryption of the name.
#[derive(Clone)]
pub(super) struct Aes(pub(super) Permutation);

impl Aes {
    pub(super) fn new(id: &[u8; 32]) -> Aes {
        let mut key = [0; 16];
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash v2");
        hasher.update(id).expand(purposes::HASH_KEY).fill(&mut key);
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

/// The calls of one series, over a family of permutations.
pub(super) struct Keyed<'a, F: Family> {
    family: &'a F,
    place: CallSeries,
    /// The binary logarithm of the number of units under one key.
    shift: u32,
    /// The current key: the number of its block of units, and its permutation.
    pub(super) current: Option<(u64, F::Cipher)>,
    /// Scratch for the tweaks of a batch.
    words: Vec<u128>,
}

impl<'a, F: Family> Keyed<'a, F> {
    /// The calls of this series. Their key changes after every `units` units; this number must be a power of
    /// two.
    pub(super) fn new(family: &'a F, place: CallSeries, units: u64) -> Keyed<'a, F> {
        Keyed { family, place, shift: units.ilog2(), current: None, words: Vec::with_capacity(BATCH) }
    }

    pub(super) fn hash(&mut self, x: &mut [u128], tweak: impl Fn(usize) -> Tweak) {
        let mut from = 0;
        while from < x.len() {
            let to = self.run(from, x.len(), &tweak);
            let (x, place, block) = (&mut x[from..to], self.place, tweak(from).unit >> self.shift);
            self.recorded(x, 1, block, |i| tweak(from + i));
            self.words.clear();
            self.words.extend((from..to).map(|i| tweak(i).word(place)));
            turned(&mut self.current, self.family, place, block).hash(x, &self.words);
            from = to;
        }
    }

    /// The same for whole units, from this one on, each of `ROWS` rows of `EACH` inputs.
    pub(super) fn hash_units<const ROWS: usize, const EACH: usize>(&mut self, x: &mut [u128], first: u64) {
        assert_eq!(x.len() % (ROWS * EACH), 0, "whole units");
        let place = self.place;
        let rows: [u128; ROWS] = std::array::from_fn(|row| Tweak { unit: 0, row: row as u8 }.word(place));
        let (mut unit, mut rest) = (first, x);
        while !rest.is_empty() {
            let block = unit >> self.shift;
            let under_this_key = ((block + 1) << self.shift) - unit;
            let most = (BATCH / (ROWS * EACH)).min(usize::try_from(under_this_key).unwrap_or(BATCH));
            let n = most.min(rest.len() / (ROWS * EACH));
            let (now, later) = rest.split_at_mut(n * ROWS * EACH);
            let of =
                |i: usize| Tweak { unit: unit + (i / (ROWS * EACH)) as u64, row: (i / EACH % ROWS) as u8 };
            self.recorded(now, 1, block, of);
            if self.words.len() < now.len() {
                self.words.resize(now.len(), 0);
            }
            let words = &mut self.words[..now.len()];
            for (unit, words) in (unit..).zip(words.as_chunks_mut::<EACH>().0.as_chunks_mut::<ROWS>().0) {
                let low = u128::from(unit << 8);
                for (words, row) in words.iter_mut().zip(&rows) {
                    words.fill(row | low);
                }
            }
            turned(&mut self.current, self.family, place, block).hash(now, words);
            (unit, rest) = (unit + n as u64, later);
        }
    }

    pub(super) fn expand(
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
    fn recorded(&self, inputs: &[u128], blocks: usize, block: u64, tweak: impl Fn(usize) -> Tweak) {
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
        self.recorded(pi, blocks, block, &tweak);
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
    place: CallSeries,
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
