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
mod keyed;
#[cfg(test)]
mod tests;

use crate::cipher::Permutation;
use crate::purposes;
use divisi_core::{Expands, PartyId, Session};
use keyed::{Aes, Keyed};

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
pub struct CallSeries(u32);

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

impl CallSeries {
    /// The calls of this step from one party to another.
    #[must_use]
    pub fn new(step: u8, from: PartyId, to: PartyId) -> CallSeries {
        CallSeries(u32::from_le_bytes([step, from.number(), to.number(), 0]))
    }

    /// The name of the key of one block of units: unique in a session.
    fn key(self, block: u64) -> u128 {
        u128::from(self.0) << 64 | u128::from(block)
    }
}

/// The call's number within its [`CallSeries`] \[W12, W19\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tweak {
    /// The number of a gate, a triple or a position, below 2^56. No two calls of one series in a session have
    /// the same number and `row`.
    pub unit: u64,
    /// Which of the unit's inputs this is.
    pub row: u8,
}

impl Tweak {
    /// The word that the hash adds between the two permutations, for the first block; the number of a later
    /// block is added to it.
    #[inline]
    fn word(self, place: CallSeries) -> u128 {
        u128::from(place.0 | u32::from(self.row) << 24) << 64 | u128::from(self.unit << 8)
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

    /// A separate hash, for what `name` names within this session. Different names have different keys. A
    /// party that does not know a secret part of the name cannot compute anything in advance.
    #[must_use]
    pub fn named(session: &Session, name: &[u8; 32]) -> TweakableHash {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash of a name v1");
        hasher.update(session.id().as_bytes()).update(name);
        let mut key = [0; 16];
        hasher.expand(purposes::NAMED_HASH_KEY).fill(&mut key);
        TweakableHash(Aes(Permutation::new(&key)))
    }

    /// The calls of a series. `targets` is the number of targets that each unit has: pairs of inputs, times
    /// the blocks of each. The meter is told the bits of security that remain under one key.
    ///
    /// # Panics
    /// If a unit has no target, or more than [`TARGETS`].
    #[must_use]
    pub fn calls(&self, session: &Session, place: CallSeries, targets: u64) -> Calls<'_> {
        session.meter().computational(remaining_bits(units_of_a_key(targets) * targets));
        Calls::new(&self.0, place, targets)
    }
}

/// Calls of one series, in the order of their units. A key serves a block of units, and is made when its
/// first unit comes.
pub struct Calls<'a>(Keyed<'a, Aes>);

impl<'a> Calls<'a> {
    fn new(family: &'a Aes, place: CallSeries, targets: u64) -> Calls<'a> {
        Calls(Keyed::new(family, place, units_of_a_key(targets)))
    }

    /// Replaces each `x[i]` by its hash under `tweak(i)`; units must not decrease.
    pub fn hash(&mut self, x: &mut [u128], tweak: impl Fn(usize) -> Tweak) {
        self.0.hash(x, tweak);
    }

    /// The same for whole units, one after the other from `first` on, each of `ROWS` rows of `EACH` inputs:
    /// the tweaks of an input take less time than its hash.
    ///
    /// # Panics
    /// If the inputs are not whole units.
    pub fn hash_units<const ROWS: usize, const EACH: usize>(&mut self, x: &mut [u128], first: u64) {
        self.0.hash_units::<ROWS, EACH>(x, first);
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
