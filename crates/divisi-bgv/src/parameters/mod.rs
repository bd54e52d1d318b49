//! Parameters: the ring, the chain of moduli, and the floods. They are derived for the computation that is
//! wanted, and checked before it begins.
//!
//! A ciphertext starts at the top level. Each step ends with a modulus switch to the level below, and at
//! level 0 the parties decrypt. docs/bgv.md derives the bounds.

mod answers;
mod course;
mod cuts;
mod derive;
mod hardness;
pub mod noise;
mod operation;
mod report;
mod runs;
pub mod security;

pub use hardness::Hardness;
pub use operation::{Form, Operation, ParameterError};
pub use report::{LevelReport, ParametersReport};

use crate::flood::{INFORMATION, Width};
use course::Step;
use divisi_core::PublicParameters as Agreed;
use divisi_field::zp::MODULUS_BITS;
use noise::{Noise, plus};
use std::ops::Range;

/// log2 of the largest number of partial decryptions and flooded hops together in a session \[G12\].
pub const DECRYPTION_BITS: u32 = 20;
/// Bits of statistical security of all decryptions of a session together.
pub const STATISTICAL_BITS: u32 = 40;
/// The most that a linear combination of ciphertexts may weigh ([`Operation::Linear`]).
pub const MOST_WEIGHT: u32 = 1 << 16;
/// The numbers of a vector of [`Operation::BlockProducts`]: the slots of a block.
pub const BLOCK: usize = 1024;
/// By how many numbers each vector of [`Operation::BlockProducts`] is multiplied.
pub const FACTORS: usize = 4;
/// The largest size of a prime, in bits.
const PRIME_BITS: f64 = 49.9;
/// The largest size of a digit of relinearisation, in bits. Neighbouring primes of one level share a digit if
/// their product is not larger, so that there are fewer digits.
const DIGIT_BITS: f64 = 52.0;

/// One level of the chain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Level {
    /// The step that ciphertexts at this level take; at the bottom it is the decryption.
    step: Step,
    /// How many primes of the chain are left.
    pub(crate) limbs: usize,
    /// log2 of their product.
    log2_q: f64,
    /// The bound on the noise of ciphertexts that arrive at this level ([`noise`]).
    pub(crate) noise: f64,
    /// The bound after this level's step, before the switch.
    pub(crate) after: f64,
    /// The floods of this level's hop in the paper's form, on both components.
    pub(crate) floods: Option<[Width; 2]>,
}

/// The parameters, which must be the same at all parties.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    n: usize,
    /// The primes, beginning with the one that is dropped last.
    chain: Vec<u64>,
    special: Option<u64>,
    /// The levels, beginning with the bottom.
    levels: Vec<Level>,
    flood: Width,
    insecure: bool,
}

impl Parameters {
    /// The parameters with the smallest ring that carries this computation among `parties` parties, over
    /// plaintexts modulo `plain`. If no ring does, and the form is a ring of parties, ciphertexts are
    /// refreshed on their way ([`Parameters::bootstraps`]).
    ///
    /// # Errors
    /// A [`ParameterError`] that says why there are none.
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

    /// The same in a ring of dimension 1024, which protects nothing: for tests, and for users who ask for it
    /// by its name.
    ///
    /// # Errors
    /// It fails as [`Parameters::derive`] does.
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

    /// The same with at most `run` hops before a ciphertext is refreshed, if more hops follow.
    ///
    /// # Errors
    /// It fails as [`Parameters::derive`] does.
    pub fn danger_insecure_in_runs(
        operation: Operation,
        form: Form,
        parties: usize,
        plain: u64,
        run: usize,
    ) -> Result<Parameters, ParameterError> {
        derive::in_runs(operation, form, parties, plain, [security::INSECURE_TEST, run], true)
    }

    /// The number of parties.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// The computation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The form of the computation.
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

    /// The primes of ciphertexts, beginning with the one that is dropped last.
    #[must_use]
    pub fn chain(&self) -> &[u64] {
        &self.chain
    }

    /// The prime that occurs in the relinearisation key alone, if there is one.
    #[must_use]
    pub fn special(&self) -> Option<u64> {
        self.special
    }

    /// How many primes of the chain the relinearisation key is over, from the one that is dropped last: those
    /// of the highest level at which ciphertexts are multiplied; zero if none are.
    #[must_use]
    pub fn limbs_of_products(&self) -> usize {
        self.levels.iter().rfind(|level| level.step.multiplies()).map_or(0, |level| level.limbs)
    }

    /// The digits of relinearisation: ranges of primes of the chain, each within the primes that one level
    /// drops.
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

    /// How many primes a level has; zero for a level above the top.
    #[must_use]
    pub fn limbs(&self, level: usize) -> usize {
        self.levels.get(level).map_or(0, |level| level.limbs)
    }

    /// The bound on log2 of the 2-norm of E / p of ciphertexts that arrive at a level.
    #[must_use]
    pub fn noise_at(&self, level: usize) -> f64 {
        self.levels.get(level).map_or(f64::NEG_INFINITY, |level| level.noise)
    }

    /// Whether the flood of decryptions hides noise of this size \[G2\].
    #[must_use]
    pub fn hides(&self, noise: f64) -> bool {
        self.plans(0, noise)
    }

    /// Whether noise of this size is planned at this level: bounds, and the floods of the paper's form, rest
    /// on it.
    pub(crate) fn plans(&self, level: usize, noise: f64) -> bool {
        // the tolerance is for logarithms that were added in another order
        noise <= self.noise_at(level) + 1e-6
    }

    /// How many vectors of [`Operation::BlockProducts`] a ciphertext has.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.n / BLOCK
    }

    /// The bounds on noise for these parties in this ring.
    pub(crate) fn bounds(&self) -> Noise {
        Noise::new(self.parties, self.n, self.plain)
    }

    /// The bound on the noise of the product of two ciphertexts with noise x and y.
    pub(crate) fn noise_of_product(&self, x: f64, y: f64) -> f64 {
        course::product(&self.bounds(), x, y)
    }

    /// The bound after a level's step, before the switch.
    #[must_use]
    pub fn noise_after(&self, level: usize) -> f64 {
        self.levels.get(level).map_or(f64::NEG_INFINITY, |level| level.after)
    }

    /// The flood of partial decryptions.
    #[must_use]
    pub fn flood(&self) -> Width {
        self.flood
    }

    /// The floods of both components at a hop that begins at this level, in the paper's form; `None` in the
    /// other forms, and at the bottom. Multiplied by the key, the second one is as large as the first. It is
    /// the error of an encryption of zero, which hides the second component, so it only has to hide an
    /// ordinary error (docs/bgv.md, 6, D4).
    #[must_use]
    pub fn hop_floods(&self, level: usize) -> Option<[Width; 2]> {
        self.levels.get(level).and_then(|level| level.floods)
    }

    /// Whether the ring is the insecure one for tests.
    #[must_use]
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// log2 of the product of the primes of ciphertexts.
    #[must_use]
    pub fn log2_q(&self) -> f64 {
        self.chain.iter().map(|q| (*q as f64).log2()).sum()
    }

    /// log2 of the product of all primes, with the special one.
    #[must_use]
    pub fn log2_whole(&self) -> f64 {
        self.log2_q() + self.special.map_or(0.0, |q| (q as f64).log2())
    }

    /// Whether the whole modulus is small enough for the ring, all primes are suitable, and decryption works
    /// at every level, with noise, floods and roundings, except with probability 2^-64 in a session \[G5\].
    #[must_use]
    pub fn fits(&self) -> bool {
        let table = match security::limit(self.n) {
            Some(limit) => self.log2_whole() <= limit,
            None => self.insecure && self.n == security::INSECURE_TEST,
        };
        let serves = |q: &u64| {
            *q != self.plain
                && *q >> MODULUS_BITS == 0
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
        // above the bottom, each coefficient of the ciphertext's noise is below its 2-norm
        let above = self.levels.iter().all(|level| noise.plain() + level.after < level.log2_q - 1.0);
        table
            && primes_serve
            && plain_serves
            && primes.len() == count
            && above
            && self.ends_where_it_may()
            && self.decrypts(&noise)
    }

    /// Whether the sum of all answers decrypts correctly.
    fn decrypts(&self, noise: &Noise) -> bool {
        self.part_of_modulus(noise) < 0.5
    }

    /// The part of the modulus at the bottom that the noise of a ciphertext takes when all answers are added
    /// up: with n - 1 floods, and with the roundings of n answers, which are switched to the first primes.
    fn part_of_modulus(&self, noise: &Noise) -> f64 {
        let Some(bottom) = self.levels.first() else { return f64::INFINITY };
        let answers = self.answer_log2();
        let most = self.flood.deviation() + noise.tail(self.parties - 1);
        let whole = noise.plain() + plus(bottom.noise, most) - bottom.log2_q;
        let rounding = (self.parties as f64 * 0.51).log2() + noise.plain() - answers;
        whole.exp2() + rounding.exp2()
    }

    /// Whether every flood is at least 2^39 sqrt(1.03 Q) times the 2-norm of what it has to hide \[G2\]. At a
    /// hop the first flood hides the noise of the product and of the encryption of zero, and an ordinary
    /// error times the key; the second flood hides an ordinary error.
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

    /// Adds the parameters to those that the parties compare at the start of a session \[M0.4\].
    #[must_use]
    pub fn describe(&self, agreed: Agreed) -> Agreed {
        let mut chain = Vec::new();
        self.chain.iter().chain(&self.special).for_each(|q| chain.extend_from_slice(&q.to_le_bytes()));
        let floods = self.levels.iter().filter_map(|level| level.floods).flatten().chain([self.flood]);
        let floods: Vec<u8> = floods.flat_map(|flood| flood.describe()).collect();
        let limbs: Vec<u8> = self.levels.iter().map(|level| level.limbs as u8).collect();
        agreed
            .with("bgv operation", self.operation.name().as_bytes())
            .with("bgv weight", &self.operation.weight().unwrap_or(0).to_le_bytes())
            .with("bgv form", self.form.name().as_bytes())
            .with("bgv plain modulus", &self.plain.to_le_bytes())
            .with("bgv dimension", &(self.n as u64).to_le_bytes())
            .with("bgv primes", &chain)
            .with("bgv special", &[u8::from(self.special.is_some())])
            .with("bgv levels", &limbs)
            .with("bgv floods", &floods)
    }
}

/// log2 of the deviation that hides noise of this size: 2^39 sqrt(1.03 Q) times the sum of its norm and that
/// of the wraps of plaintexts.
fn needed(noise: &Noise, hidden: f64) -> f64 {
    let wraps = noise.root() + 1.5_f64.log2();
    hides(plus(hidden, wraps))
}

/// The same for noise without wraps.
fn hides(norm: f64) -> f64 {
    f64::from(STATISTICAL_BITS - 1) + f64::from(DECRYPTION_BITS) / 2.0 + INFORMATION.log2() / 2.0 + norm
}

/// log2 of the deviations that both floods of a hop need, for noise of this size (docs/bgv.md, 6, D4).
fn needed_of_hop(noise: &Noise, before: f64) -> [f64; 2] {
    let hidden = plus(noise.times_plain(before), noise.fresh());
    let first = needed(noise, hidden).max(hides(noise.error_times_key()));
    [first, hides(noise.error())]
}

/// Unsound parameters, for tests of the checks that refuse them.
#[cfg(feature = "testing")]
impl Parameters {
    /// With another flood for decryptions.
    #[must_use]
    pub fn with_flood(mut self, flood: Width) -> Self {
        self.flood = flood;
        self
    }

    /// With bounds on noise that refreshed ciphertexts exceed.
    #[must_use]
    pub fn without_room_for_refreshes(mut self) -> Self {
        let refreshed = self.bounds().shared();
        self.levels.iter_mut().skip(1).for_each(|level| level.noise = refreshed - 1.0);
        self
    }

    /// With half the dimension, for which the modulus is too large.
    #[must_use]
    pub fn in_smaller_ring(mut self) -> Self {
        self.n /= 2;
        self
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_sizes;
