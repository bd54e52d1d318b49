//! Derivation of the chain of moduli: from the top, each step of the computation is followed by a modulus
//! switch that reduces the noise to about what rounding adds anyway.

use super::answers::answer_bits;
use super::cuts::{cut, cut_bottom};
use super::noise::{Noise, plus};
use super::{BLOCK, DIGIT_BITS, Level, MOST_WEIGHT, PRIME_BITS, Parameters, needed, needed_of_hop, security};
use crate::flood::Width;
use divisi_field::zp::{PLAIN_BITS, prime};
use std::fmt;

/// The computation on ciphertexts for which parameters are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Random bits shared modulo 2 and modulo p, and lookups in public tables of size 2.
    Bits,
    /// Lookups in private tables of size 2.
    PrivateTables,
    /// Arithmetic triples.
    Triples,
    /// Shares that become ciphertexts, and ciphertexts that become shares, with no product in between.
    Conversions,
    /// The same, with linear combinations in between ([`crate::linear`]).
    Linear {
        /// How much a combination may weigh: the sum of the absolute values of its multiples. A public addend
        /// weighs as much as a ciphertext.
        weight: u32,
    },
    /// Products of shared vectors of 1,024 numbers by shared numbers, four for each vector, as they stand in
    /// the keys of garbled ANDs ([`crate::blocks`]).
    BlockProducts,
    /// Lookups in private tables of two entries, each of which is a vector of N numbers.
    VectorTables,
}

/// How ciphertexts pass from party to party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The ring of parties of Figure 6, with flooding at every hop.
    Paper,
    /// A ring of parties, with a fresh encryption of zero at every hop, and flooding at decryptions only.
    LeanRing,
    /// Products of signs along a binary tree.
    LeanTree,
}

/// The reason why there are no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterError {
    /// The number of parties is not 2 to 255.
    Parties,
    /// The plaintext modulus has no number-theoretic transform of this dimension.
    Transform {
        /// The dimension.
        n: usize,
    },
    /// The plaintext modulus is not a prime below 2^62.
    Plain,
    /// The weight of linear combinations is not 1 to 2^16.
    Weight,
    /// The modulus is too large for every ring of the security table.
    TooLarge,
}

impl Operation {
    /// The label of this operation's keys, of which a session has one set.
    pub(crate) fn keys(self) -> &'static str {
        match self {
            Operation::Bits => "bgv keys for random bits",
            Operation::PrivateTables => "bgv keys for private tables",
            Operation::Triples => "bgv keys for triples",
            Operation::Conversions => "bgv keys for conversions",
            Operation::Linear { .. } => "bgv keys for linear combinations",
            Operation::BlockProducts => "bgv keys for products of vectors",
            Operation::VectorTables => "bgv keys for tables of vectors",
        }
    }

    /// The operation's name; it is the one of the command line if `divisi params` knows the operation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Operation::Bits => "dabit",
            Operation::PrivateTables => "lookup",
            Operation::Triples => "triple-arith",
            Operation::Conversions => "conversions",
            Operation::Linear { .. } => "linear",
            Operation::BlockProducts => "vector-product",
            Operation::VectorTables => "vector-lookup",
        }
    }

    /// The weight that linear combinations may have; `None` for other operations.
    #[must_use]
    pub fn weight(self) -> Option<u32> {
        match self {
            Operation::Linear { weight } => Some(weight),
            _ => None,
        }
    }
}

impl Form {
    /// The form's name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Form::Paper => "paper",
            Form::LeanRing => "lean-ring",
            Form::LeanTree => "lean-tree",
        }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterError::Parties => write!(f, "the number of parties must be from 2 to 255"),
            ParameterError::Transform { n } => {
                write!(f, "the plaintext modulus must be 1 modulo {} to fill {n} slots", 2 * n)
            }
            ParameterError::Plain => {
                write!(f, "the plaintext modulus must be a prime below 2^{PLAIN_BITS}")
            }
            ParameterError::Weight => {
                write!(f, "a linear combination weighs from 1 to {MOST_WEIGHT}: declare such a weight")
            }
            ParameterError::TooLarge => {
                write!(
                    f,
                    "no ring of dimension up to 65536 has space for the modulus that this needs: take fewer parties, another form, or a smaller plaintext modulus"
                )
            }
        }
    }
}

impl std::error::Error for ParameterError {}

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
    fn start(&self) -> f64 {
        let first = match (self.operation, self.form) {
            (Operation::Triples | Operation::Conversions | Operation::BlockProducts, _) => {
                self.noise.shared()
            }
            // whatever ciphertexts are added, also the same one again
            (Operation::Linear { weight }, _) => self.noise.shared() + f64::from(weight).log2(),
            // an encryption of zero by each party; signs leave the size of noise as it is
            (Operation::VectorTables, _) => plus(self.noise.shared(), self.noise.fresh_by_all()),
            (Operation::PrivateTables, Form::LeanRing) => self.noise.shared(),
            // each party adds one encryption under the public key; their plaintexts' sum wraps around as a
            // sum of shares does
            (Operation::PrivateTables, Form::Paper) => {
                let wraps = self.noise.root() + (self.noise.parties() / 2.0).log2();
                plus(self.noise.fresh_by_all(), wraps)
            }
            _ => self.noise.fresh(),
        };
        first.max(self.refreshed())
    }

    /// The bound on the noise of a refreshed ciphertext, at any level but the bottom; minus infinity if none
    /// is refreshed.
    fn refreshed(&self) -> f64 {
        if self.refreshes { self.noise.shared() } else { f64::NEG_INFINITY }
    }

    /// The bound on the noise after a step, and the floods that the step adds.
    fn after(&self, step: Step, noise: f64) -> Option<(f64, Option<[Width; 2]>)> {
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
    fn switched(&self, step: Step, noise: f64, drop: f64) -> f64 {
        self.noise.switched_with(self.rounding(step), noise, drop)
    }

    /// The flood at the bottom, and the bits of modulus that decryption needs, for this noise.
    fn bottom(&self, noise: f64) -> Option<(Width, f64)> {
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
    fn most_above(&self, n: usize) -> i8 {
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

/// The parameters in the ring of dimension n, with a chain that has all steps.
pub(super) fn at(
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    n: usize,
    insecure: bool,
) -> Result<Parameters, ParameterError> {
    let run = steps(operation, form, parties.max(1)).len();
    in_runs(operation, form, parties, plain, [n, run], insecure)
}

/// The parameters with as few refreshes as the ring for refreshing allows, and with the shortest chain that
/// this number of refreshes permits. Only rings of parties need it: the number of their hops grows with that
/// of the parties.
pub(super) fn refreshing(
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    insecure: bool,
) -> Result<Parameters, ParameterError> {
    let hops = steps(operation, form, parties.max(1)).len();
    let n = if insecure { security::INSECURE_TEST } else { security::REFRESHING };
    let mut tried = hops;
    for runs in 2..=hops {
        let run = hops.div_ceil(runs);
        if run == tried {
            continue;
        }
        tried = run;
        match in_runs(operation, form, parties, plain, [n, run], insecure) {
            Err(ParameterError::TooLarge) => {}
            other => return other,
        }
    }
    Err(ParameterError::TooLarge)
}

/// The parameters in the ring of dimension n, with at most `run` steps between a fresh ciphertext and the
/// bottom.
pub(super) fn in_runs(
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    [n, run]: [usize; 2],
    insecure: bool,
) -> Result<Parameters, ParameterError> {
    if !(2..=255).contains(&parties) {
        return Err(ParameterError::Parties);
    }
    if plain < 3 || plain >> PLAIN_BITS != 0 || !prime::is_prime(plain) {
        return Err(ParameterError::Plain);
    }
    if operation.weight().is_some_and(|weight| !(1..=MOST_WEIGHT).contains(&weight)) {
        return Err(ParameterError::Weight);
    }
    if !(plain - 1).is_multiple_of(2 * n as u64) {
        return Err(ParameterError::Transform { n });
    }
    let mut steps = steps(operation, form, parties);
    let refreshes = (1..steps.len()).contains(&run);
    if refreshes && !refreshable(operation, form) {
        return Err(ParameterError::TooLarge);
    }
    if refreshes {
        steps.truncate(run);
    }
    let course = Course { noise: Noise::new(parties, n, plain), operation, form, steps, refreshes };
    // as few primes as possible, for speed, then as few bits
    let primes = |(drops, bottom): &(Vec<f64>, f64)| {
        drops.iter().chain([bottom]).map(|bits| cut(*bits, 0.0).len()).sum::<usize>()
    };
    // products of vectors send a fifth of their polynomials at the top
    let blocks = operation == Operation::BlockProducts;
    let share = if blocks { 0.2 } else { 1.0 };
    let sum = |(drops, bottom): &(Vec<f64>, f64)| share * drops.iter().sum::<f64>() + bottom;
    let (drops, bottom) = (-8..=course.most_above(n))
        .filter_map(|quarters| course.bits(f64::from(quarters) / 4.0))
        .min_by(|x, y| primes(x).cmp(&primes(y)).then(sum(x).total_cmp(&sum(y))))
        .ok_or(ParameterError::TooLarge)?;
    let answer = answer_bits(&course.noise);
    let mut cuts = vec![match cut(bottom, 0.0) {
        // answers are as short as the other prime allows
        two if two.len() == 2 && blocks => {
            let first = answer.max(bottom - PRIME_BITS);
            vec![first, bottom - first]
        }
        _ => cut_bottom(bottom, answer),
    }];
    cuts.extend(drops.iter().rev().map(|drop| cut(*drop, 0.0)));
    let limit = security::limit(n).unwrap_or(security::limit_of_tests(refreshes));
    if cuts.iter().flatten().sum::<f64>() > limit {
        return Err(ParameterError::TooLarge);
    }
    let parameters = build(&course, cuts, parties, plain, n, insecure).ok_or(ParameterError::TooLarge)?;
    if parameters.fits() && parameters.floods() { Ok(parameters) } else { Err(ParameterError::TooLarge) }
}

/// Finds the primes, and computes all bounds again with the primes that were found.
fn build(
    course: &Course,
    cuts: Vec<Vec<f64>>,
    parties: usize,
    plain: u64,
    n: usize,
    insecure: bool,
) -> Option<Parameters> {
    let (mut chain, mut limbs) = (Vec::new(), Vec::new());
    for bits in cuts {
        for bits in bits {
            let taken: Vec<u64> = chain.iter().copied().chain([plain]).collect();
            chain.push(prime::next_prime(bits.exp2().ceil() as u64, 2 * n as u64, &taken)?);
        }
        limbs.push(chain.len());
    }
    let multiplies = course.steps.iter().any(|step| step.multiplies());
    let taken: Vec<u64> = chain.iter().copied().chain([plain]).collect();
    let special = if multiplies {
        Some(prime::next_prime(PRIME_BITS.exp2().ceil() as u64, 2 * n as u64, &taken)?)
    } else {
        None
    };
    let log2 = |limbs: usize| chain.iter().take(limbs).map(|q| (*q as f64).log2()).sum::<f64>();
    let mut levels = Vec::new();
    let mut noise = course.start();
    let mut lower = limbs.iter().rev().skip(1).copied();
    let steps = course.steps.iter().copied().chain([Step::Decryption]);
    for (step, limbs) in steps.zip(limbs.iter().rev().copied()) {
        let log2_q = log2(limbs);
        let (after, floods) = course.after(step, noise)?;
        levels.push(Level { step, limbs, log2_q, noise, after, floods });
        let below = log2(lower.next().unwrap_or(0));
        noise = course.switched(step, after, log2_q - below);
        // ciphertexts may be refreshed to any level above the bottom
        if levels.len() < course.steps.len() {
            noise = noise.max(course.refreshed());
        }
    }
    levels.reverse();
    let flood = course.bottom(levels.first()?.noise)?.0;
    let (operation, form) = (course.operation, course.form);
    Some(Parameters { operation, form, parties, plain, n, chain, special, levels, flood, insecure })
}
