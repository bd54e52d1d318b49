//! The course of a ciphertext: its steps from the top to the bottom, and the bounds on its noise after each.

use super::noise::{Noise, plus};
use super::operation::{Form, Operation};
use super::{BLOCK, DIGIT_BITS, PRIME_BITS, needed, needed_of_hop, security};
use crate::flood::Width;

/// One operation on a ciphertext, after which it is switched one level down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A product with a party's signs, and a fresh encryption of zero.
    Hop,
    /// The same with floods in place of the errors of the encryption of zero.
    FloodedHop,
    /// A product of two ciphertexts that are at this level.
    Product,
    /// A product with an encryption of shared values.
    ProductWithShared,
    /// The sum of all parties' products with their shares of a number for each block of slots, and of their
    /// encryptions of zero.
    TimesShares,
    /// Decryption, at the bottom.
    Decryption,
}

impl Step {
    /// Whether two ciphertexts are multiplied.
    pub(super) fn multiplies(self) -> bool {
        matches!(self, Step::Product | Step::ProductWithShared)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Step::Hop => "hop",
            Step::FloodedHop => "flooded hop",
            Step::Product => "product",
            Step::ProductWithShared => "product with shared",
            Step::TimesShares => "product with shares",
            Step::Decryption => "decryption",
        }
    }
}

/// All steps of a ciphertext, from the first one to its decryption.
pub(super) fn steps(operation: Operation, form: Form, parties: usize) -> Vec<Step> {
    let levels = parties.next_power_of_two().trailing_zeros() as usize;
    let private = operation == Operation::PrivateTables;
    let hops = if private { parties } else { parties - 1 };
    match (operation, form) {
        (Operation::Triples, _) => vec![Step::ProductWithShared],
        (Operation::BlockProducts, _) => vec![Step::TimesShares],
        // conversions encrypt at the bottom, and decrypt there; so do tables of vectors, whose noise grows by
        // sums alone
        (Operation::Conversions | Operation::Linear { .. } | Operation::VectorTables, _) => Vec::new(),
        (_, Form::Paper) => vec![Step::FloodedHop; hops],
        (_, Form::LeanRing) => vec![Step::Hop; hops],
        (_, Form::LeanTree) => {
            let mut steps = vec![Step::Hop];
            steps.resize(levels.max(1), Step::Product);
            steps.extend(private.then_some(Step::ProductWithShared));
            steps
        }
    }
}

/// Whether a ciphertext of this operation may be refreshed at the bottom, which requires that all its steps
/// are hops.
pub(super) fn refreshable(operation: Operation, form: Form) -> bool {
    matches!(operation, Operation::Bits | Operation::PrivateTables) && form != Form::LeanTree
}

/// The bound on the noise of a product of two ciphertexts after relinearisation. A digit has at most 52 bits,
/// and one more if it is made of two primes. The special prime has at least 49.9 bits; no chain has 64
/// digits.
pub(super) fn product(noise: &Noise, x: f64, y: f64) -> f64 {
    plus(noise.times(x, y), noise.relinearised(64, DIGIT_BITS + 1.0, PRIME_BITS))
}

/// A computation, its steps, and the bounds on its noise.
pub(super) struct Course {
    pub(super) noise: Noise,
    pub(super) operation: Operation,
    pub(super) form: Form,
    /// The steps, from the top to the bottom.
    pub(super) steps: Vec<Step>,
    /// Whether more steps follow at the bottom, so that a ciphertext is refreshed there.
    pub(super) refreshes: bool,
}

impl Course {
    /// The bound on the noise of ciphertexts at the top.
    pub(super) fn start(&self) -> f64 {
        let first = match (self.operation, self.form) {
            (Operation::Triples | Operation::Conversions | Operation::BlockProducts, _) => {
                self.noise.shared()
            }
            // whatever ciphertexts are added, also the same one again
            (Operation::Linear { weight }, _) => self.noise.shared() + f64::from(weight).log2(),
            // an encryption of zero by each party; signs leave the size of noise as it is
            (Operation::VectorTables, _) => plus(self.noise.shared(), self.noise.fresh_by_all()),
            (Operation::PrivateTables, Form::LeanRing) => self.noise.shared(),
            // each party adds one encryption under the public key
            (Operation::PrivateTables, Form::Paper) => self.noise.gathered(),
            _ => self.noise.fresh(),
        };
        first.max(self.refreshed())
    }

    /// The bound on the noise of a refreshed ciphertext, at any level but the bottom; minus infinity if none
    /// is refreshed.
    pub(super) fn refreshed(&self) -> f64 {
        if self.refreshes { self.noise.shared() } else { f64::NEG_INFINITY }
    }

    /// The bound on the noise after a step, and the floods that the step adds.
    pub(super) fn after(&self, step: Step, noise: f64) -> Option<(f64, Option<[Width; 2]>)> {
        let n = &self.noise;
        Some(match step {
            Step::Decryption => (noise, None),
            Step::Hop => (plus(n.times_plain(noise), n.fresh()), None),
            Step::FloodedHop => {
                let product = n.times_plain(noise);
                let [least, least_of_second] = needed_of_hop(n, noise);
                let first = Width::at_least(least)?;
                let wanted = (first.deviation() - n.key_norm()).max(least_of_second);
                let second = Width::at_least(wanted)?;
                // widths grow in steps of a quarter of a bit at most
                let flooded = plus(n.fresh(), n.flooded(first.deviation(), wanted + 0.25));
                (plus(product, flooded), Some([first, second]))
            }
            Step::Product => (product(n, noise, noise), None),
            Step::TimesShares => (plus(n.times_shares(noise, BLOCK), n.fresh_by_all()), None),
            Step::ProductWithShared => {
                // in triples both factors are fresh; otherwise the other factor has been switched down to
                // this level
                let shared = if self.operation == Operation::Triples {
                    n.shared()
                } else {
                    plus(n.shared(), n.rounding())
                };
                (product(n, noise, shared), None)
            }
        })
    }

    /// The bound on the noise that the switch after a step adds.
    fn rounding(&self, step: Step) -> f64 {
        if step == Step::TimesShares { self.noise.rounding_by_all() } else { self.noise.rounding() }
    }

    /// The bound on the noise after the switch that follows a step.
    pub(super) fn switched(&self, step: Step, noise: f64, drop: f64) -> f64 {
        self.noise.switched_with(self.rounding(step), noise, drop)
    }

    /// The flood at the bottom, and the bits of modulus that decryption needs, for this noise.
    pub(super) fn bottom(&self, noise: f64) -> Option<(Width, f64)> {
        let n = &self.noise;
        let flood = Width::at_least(needed(n, noise))?;
        let most = plus(noise, flood.deviation() + n.tail(n.parties() as usize - 1));
        Some((flood, n.plain() + most + 1.0 + 0.1))
    }

    /// The most noise that a switch may leave in a ring of dimension n: by how many quarters of a bit it may
    /// exceed the bound on the rounding. With more, the chain would be a fraction of a bit a level shorter,
    /// but the bounds on the next step would lie more than 6 bits above all noise that is measured: in a
    /// product both ciphertexts have this excess, and in the small ring for tests the tails of the bounds are
    /// wider. The floods of a flooded hop are far above this noise, so there 4 bits are allowed.
    pub(super) fn most_above(&self, n: usize) -> i8 {
        match self.steps.first() {
            _ if self.steps.iter().any(|step| step.multiplies()) => {
                if n == security::INSECURE_TEST {
                    -6
                } else {
                    0
                }
            }
            Some(Step::Hop) => 3,
            _ => 16,
        }
    }

    /// The bits of each switch from the top on, and those of the bottom, if each switch reduces the noise to
    /// `above` bits above the rounding.
    pub(super) fn bits(&self, above: f64) -> Option<(Vec<f64>, f64)> {
        let (mut noise, mut drops) = (self.start(), Vec::new());
        for step in &self.steps {
            let (after, _) = self.after(*step, noise.max(self.refreshed()))?;
            let drop = (after - (self.rounding(*step) + above)).max(20.0);
            drops.push(drop);
            noise = self.switched(*step, after, drop);
        }
        Some((drops, self.bottom(noise)?.1))
    }
}
