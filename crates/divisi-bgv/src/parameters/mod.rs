//! Parameters, computed from what is to be done and asserted before anything is: the ring, the chain of
//! moduli, the floods.
//!
//! A ciphertext starts at the top level; each step ends by a modulus switch to the level below, and at level
//! 0 it is decrypted among the parties. docs/bgv.md derives the bounds.

mod derive;
pub mod noise;
mod report;
mod runs;
pub mod security;

pub use derive::{Form, Operation, ParameterError};
pub use report::{LevelReport, ParametersReport};

use crate::flood::{INFORMATION, Width};
use derive::Step;
use divisi_core::PublicParameters as Agreed;
use noise::{Noise, plus};
use std::ops::Range;

/// log2 of how many partial decryptions a session makes at most, floods at hops included \[G12\].
pub const DECRYPTION_BITS: u32 = 20;
/// Bits of statistical security of all decryptions of a session together.
pub const STATISTICAL_BITS: u32 = 40;
/// The most bits of a prime.
const PRIME_BITS: f64 = 49.9;
/// The most bits of a digit of relinearisation: neighbours of one level share a digit where their product is
/// no longer, so that there are fewer digits.
const DIGIT_BITS: f64 = 52.0;
/// Bits of what an answer adds, p times its flood and a share: numbers of 128 bits with a sign hold them, and
/// the residues of twice as much.
const ANSWER_BITS: f64 = 126.0;
/// Part of the modulus of an answer that n roundings may take: n p / q' is at most 2 to this.
const ANSWER_ROOM: f64 = -4.0;

/// One level of the chain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Level {
    /// What ends here, or begins.
    step: Step,
    /// How many primes are left.
    pub(crate) limbs: usize,
    /// log2 of their product.
    log2_q: f64,
    /// The bound on what arrives here ([`noise`]).
    pub(crate) noise: f64,
    /// The bound after the step that begins here, before it is switched down.
    pub(crate) after: f64,
    /// The floods of a hop of the paper's form, on both components.
    pub(crate) floods: Option<[Width; 2]>,
}

/// Everything that the parties must have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    n: usize,
    /// From the one that stays longest.
    chain: Vec<u64>,
    special: Option<u64>,
    /// From the bottom.
    levels: Vec<Level>,
    flood: Width,
    insecure: bool,
}

impl Parameters {
    /// The smallest ring, with its chain, that does this for so many parties over plaintexts modulo `plain`;
    /// where none does, and the form is a ring of hops, one in which ciphertexts are refreshed on their way
    /// ([`Parameters::bootstraps`]).
    ///
    /// # Errors
    /// If there is none.
    pub fn derive(
        operation: Operation,
        form: Form,
        parties: usize,
        plain: u64,
    ) -> Result<Parameters, ParameterError> {
        let mut last = ParameterError::TooLarge;
        for (n, _) in security::LIMITS {
            match derive::at(operation, form, parties, plain, n, false) {
                Err(error @ (ParameterError::TooLarge | ParameterError::Transform { .. })) => last = error,
                other => return other,
            }
        }
        derive::refreshing(operation, form, parties, plain, false).map_err(|_| last)
    }

    /// The same in a ring of 1024, which protects nothing: for tests, and for whoever asks for danger by its
    /// name.
    ///
    /// # Errors
    /// As [`Parameters::derive`].
    pub fn danger_insecure(
        operation: Operation,
        form: Form,
        parties: usize,
        plain: u64,
    ) -> Result<Parameters, ParameterError> {
        match derive::at(operation, form, parties, plain, security::INSECURE_TEST, true) {
            Err(ParameterError::TooLarge) => derive::refreshing(operation, form, parties, plain, true),
            other => other,
        }
    }

    /// The same with at most so many hops before a ciphertext is refreshed.
    ///
    /// # Errors
    /// As [`Parameters::derive`].
    pub fn danger_insecure_in_runs(
        operation: Operation,
        form: Form,
        parties: usize,
        plain: u64,
        run: usize,
    ) -> Result<Parameters, ParameterError> {
        derive::in_runs(operation, form, parties, plain, [security::INSECURE_TEST, run], true)
    }

    /// How many parties.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// What is done.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// In which form.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The modulus of plaintexts.
    #[must_use]
    pub fn plain(&self) -> u64 {
        self.plain
    }

    /// The dimension of the ring, and the number of slots.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.n
    }

    /// The primes of ciphertexts, from the one that stays longest.
    #[must_use]
    pub fn chain(&self) -> &[u64] {
        &self.chain
    }

    /// The prime that only the relinearisation key has, if there is one.
    #[must_use]
    pub fn special(&self) -> Option<u64> {
        self.special
    }

    /// The primes that the relinearisation key is over, from the one that stays longest: those of the highest
    /// level at which ciphertexts are multiplied.
    #[must_use]
    pub fn limbs_of_products(&self) -> usize {
        let multiplies = |level: &&Level| matches!(level.step, Step::Product | Step::ProductWithShared);
        self.levels.iter().rfind(multiplies).map_or(0, |level| level.limbs)
    }

    /// The digits of relinearisation: ranges of the chain, each within what one level drops.
    #[must_use]
    pub fn digits(&self) -> Vec<Range<usize>> {
        let mut digits: Vec<Range<usize>> = Vec::new();
        let bits = |range: &Range<usize>| -> f64 {
            self.chain.iter().take(range.end).skip(range.start).map(|q| (*q as f64).log2()).sum()
        };
        for limb in 0..self.limbs_of_products() {
            let begins = self.levels.iter().any(|level| level.limbs == limb);
            let last =
                digits.last_mut().filter(|last| !begins && bits(&(last.start..limb + 1)) <= DIGIT_BITS);
            match last {
                Some(last) => last.end = limb + 1,
                None => digits.push(limb..limb + 1),
            }
        }
        digits
    }

    /// The level at which ciphertexts begin.
    #[must_use]
    pub fn top(&self) -> usize {
        self.levels.len() - 1
    }

    /// How many primes a level has; the bottom's beyond the top.
    #[must_use]
    pub fn limbs(&self, level: usize) -> usize {
        self.levels.get(level).map_or(0, |level| level.limbs)
    }

    /// The bound on log2 of the 2-norm of E / p of what arrives at a level.
    #[must_use]
    pub fn noise_at(&self, level: usize) -> f64 {
        self.levels.get(level).map_or(f64::NEG_INFINITY, |level| level.noise)
    }

    /// Whether the flood of decryptions hides noise of this bound \[G2\].
    #[must_use]
    pub fn hides(&self, noise: f64) -> bool {
        // sums of the same logarithms in another order
        noise <= self.noise_at(0) + 1e-6
    }

    /// Bounds for these parties in this ring.
    pub(crate) fn bounds(&self) -> Noise {
        Noise::new(self.parties, self.n, self.plain)
    }

    /// The bound on the product of two ciphertexts with these.
    pub(crate) fn noise_of_product(&self, x: f64, y: f64) -> f64 {
        derive::product(&self.bounds(), x, y)
    }

    /// The same after the step that begins there.
    #[must_use]
    pub fn noise_after(&self, level: usize) -> f64 {
        self.levels.get(level).map_or(f64::NEG_INFINITY, |level| level.after)
    }

    /// The flood of partial decryptions.
    #[must_use]
    pub fn flood(&self) -> Width {
        self.flood
    }

    /// The floods of both components at a hop that begins at this level, in the paper's form. The second one
    /// is so narrow that the key makes it as large as the first: nothing is hidden there by its width, but by
    /// the encryption of zero whose error it is (docs/bgv.md, 6, D4).
    #[must_use]
    pub fn hop_floods(&self, level: usize) -> Option<[Width; 2]> {
        self.levels.get(level).and_then(|level| level.floods)
    }

    /// Whether this ring is only for tests.
    #[must_use]
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// log2 of the product of the primes of ciphertexts.
    #[must_use]
    pub fn log2_q(&self) -> f64 {
        self.chain.iter().map(|q| (*q as f64).log2()).sum()
    }

    /// The same with the special prime.
    #[must_use]
    pub fn log2_whole(&self) -> f64 {
        self.log2_q() + self.special.map_or(0.0, |q| (q as f64).log2())
    }

    /// Whether the whole modulus is small enough for the ring, the primes serve it, and noise, floods and
    /// roundings fit at every level but for 2^-64 a session \[G5\].
    #[must_use]
    pub fn fits(&self) -> bool {
        let table = match security::limit(self.n) {
            Some(limit) => self.log2_whole() <= limit,
            None => self.insecure && self.n == security::INSECURE_TEST,
        };
        let serves = |q: &u64| {
            *q != self.plain
                && divisi_field::zp::prime::is_prime(*q)
                && (q - 1).is_multiple_of(2 * self.n as u64)
        };
        let mut primes: Vec<u64> = self.chain.iter().chain(&self.special).copied().collect();
        let primes_serve = primes.iter().all(serves);
        let plain_serves = divisi_field::zp::prime::is_prime(self.plain)
            && (self.plain - 1).is_multiple_of(2 * self.n as u64);
        let count = primes.len();
        primes.sort_unstable();
        primes.dedup();
        let noise = Noise::new(self.parties, self.n, self.plain);
        // of everything before the bottom the whole coefficient is below its 2-norm
        let above = self.levels.iter().all(|level| noise.plain() + level.after < level.log2_q - 1.0);
        // p times a flood, and less than p of a share
        let answers = plus(noise.plain() + self.flood.most(), noise.plain()) < ANSWER_BITS;
        table
            && primes_serve
            && plain_serves
            && primes.len() == count
            && above
            && self.ends_where_it_may()
            && answers
            && self.decrypts(&noise)
    }

    /// Whether the sum of all answers decrypts.
    fn decrypts(&self, noise: &Noise) -> bool {
        let (Some(bottom), Some(first)) = (self.levels.first(), self.chain.first()) else { return false };
        let most = self.flood.deviation() + noise.tail(self.parties - 1);
        let whole = noise.plain() + plus(bottom.noise, most) - bottom.log2_q;
        let rounding = (self.parties as f64 * 0.51).log2() + noise.plain() - (*first as f64).log2();
        whole.exp2() + rounding.exp2() < 0.5
    }

    /// Whether every flood is as wide as 2^39 sqrt(Q) times the 2-norm of what it hides \[G2\]: of a hop the
    /// first hides the noise of the product and of the encryption of zero, the second an ordinary error, and
    /// the first that error times the key.
    #[must_use]
    pub fn floods(&self) -> bool {
        let noise = Noise::new(self.parties, self.n, self.plain);
        let bottom = self.levels.first().is_some_and(|l| self.flood.deviation() >= needed(&noise, l.noise));
        let hops = self.levels.iter().skip(1).all(|level| {
            level.step != Step::FloodedHop
                || level.floods.is_some_and(|[first, second]| {
                    let [least, least_of_second] = needed_of_hop(&noise, level.noise);
                    first.deviation() >= least && second.deviation() >= least_of_second
                })
        });
        bottom && hops
    }

    /// What the parties compare at the start of a session \[M0.4\].
    #[must_use]
    pub fn describe(&self, agreed: Agreed) -> Agreed {
        let mut chain = Vec::new();
        self.chain.iter().chain(&self.special).for_each(|q| chain.extend_from_slice(&q.to_le_bytes()));
        let floods = self.levels.iter().filter_map(|level| level.floods).flatten().chain([self.flood]);
        let floods: Vec<u8> = floods.flat_map(|flood| flood.describe()).collect();
        let limbs: Vec<u8> = self.levels.iter().map(|level| level.limbs as u8).collect();
        agreed
            .with("bgv operation", self.operation.name().as_bytes())
            .with("bgv form", self.form.name().as_bytes())
            .with("bgv plain modulus", &self.plain.to_le_bytes())
            .with("bgv dimension", &(self.n as u64).to_le_bytes())
            .with("bgv primes", &chain)
            .with("bgv special", &[u8::from(self.special.is_some())])
            .with("bgv levels", &limbs)
            .with("bgv floods", &floods)
    }
}

/// log2 of the deviation that hides noise of this bound: 2^39 sqrt(Q) times its norm and that of the wraps.
fn needed(noise: &Noise, hidden: f64) -> f64 {
    let wraps = noise.root() + 1.5_f64.log2();
    hides(plus(hidden, wraps))
}

/// The same of what has no wraps.
fn hides(norm: f64) -> f64 {
    f64::from(STATISTICAL_BITS - 1) + f64::from(DECRYPTION_BITS) / 2.0 + INFORMATION.log2() / 2.0 + norm
}

/// log2 of the deviations of both floods of a hop on noise of this bound (docs/bgv.md, 6, D4).
fn needed_of_hop(noise: &Noise, before: f64) -> [f64; 2] {
    let hidden = plus(noise.times_plain(before), noise.fresh());
    let first = needed(noise, hidden).max(hides(noise.error_times_key()));
    [first, hides(noise.error())]
}

/// Ways to be wrong, for tests of what refuses them.
#[cfg(feature = "fault")]
impl Parameters {
    /// With another flood of decryptions.
    #[must_use]
    pub fn with_flood(mut self, flood: Width) -> Self {
        self.flood = flood;
        self
    }

    /// With another special prime.
    #[must_use]
    pub fn with_special(mut self, special: u64) -> Self {
        self.special = Some(special);
        self
    }

    /// As if for a ring of twice the dimension.
    #[must_use]
    pub fn in_smaller_ring(mut self) -> Self {
        self.n /= 2;
        self
    }
}

#[cfg(test)]
mod tests;
