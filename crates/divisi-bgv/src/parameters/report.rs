//! The derivation of parameters as `divisi params` prints it.

use super::course::Step;
use super::{DECRYPTION_BITS, FACTORS, Form, Hardness, Operation, Parameters, noise::FAILURE_BITS, security};

/// One level of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelReport {
    /// The step at this level.
    pub step: &'static str,
    /// log2 of its modulus.
    pub log2_q: f64,
    /// The bound on log2 of the 2-norm of E after the step. At the decryption, the bound on log2 of a
    /// coefficient of the sum of E, all floods and the roundings of the answers; a rounding counts as the
    /// same part of the level's modulus that it is of that of the answers.
    pub noise_bits: f64,
    /// log2 of the limit for the noise: half of the modulus.
    pub bound_bits: f64,
}

/// The derivation, in the order and under the names of the JSON of `divisi params`.
#[derive(Clone, Debug, PartialEq)]
pub struct ParametersReport {
    /// The operation's name.
    pub op: &'static str,
    /// The form's name.
    pub form: &'static str,
    /// How much a linear combination may weigh; `None` for other operations.
    pub weight: Option<u32>,
    /// The number of parties.
    pub parties: usize,
    /// The plaintext modulus p.
    pub plain_modulus: u64,
    /// The ring dimension N.
    pub ring_dimension: usize,
    /// log2 of the product of the primes of ciphertexts.
    pub log2_q: f64,
    /// log2 of the product of all primes, with the special one.
    pub log2_whole: f64,
    /// The largest log2 of the whole modulus for 128 bits of security; `None` for the insecure ring.
    pub log2_limit: Option<f64>,
    /// The cost of the best known attack on this ring; `None` for the insecure ring.
    pub hardness: Option<Hardness>,
    /// All primes; the special one is the last.
    pub limbs: Vec<u64>,
    /// The levels, from the top.
    pub levels: Vec<LevelReport>,
    /// log2 of the deviation of a flooded coefficient at decryption.
    pub flooding_bits: f64,
    /// The largest number of partial decryptions in a session. (In the JSON of `divisi bench mixed` this name
    /// stands for the number that a party has made.)
    pub partial_decryptions: u64,
    /// A session fails with probability at most 2 to minus this.
    pub failure_bits: u32,
    /// How often a ciphertext is refreshed on its way.
    pub bootstraps: u32,
    /// Bytes that a party sends for each item, on average.
    pub bytes_per_item: f64,
    /// Rounds of one batch.
    pub rounds: usize,
    /// Whether the ring is the insecure one for tests.
    pub insecure: bool,
}

impl Parameters {
    /// A report of how these parameters were derived and what they cost.
    #[must_use]
    pub fn report(&self) -> ParametersReport {
        let noise = self.bounds();
        let levels = self.levels.iter().rev().map(|level| LevelReport {
            step: level.step.name(),
            log2_q: level.log2_q,
            noise_bits: match level.step {
                Step::Decryption => self.part_of_modulus(&noise).log2() + level.log2_q,
                _ => noise.plain() + level.after,
            },
            bound_bits: level.log2_q - 1.0,
        });
        ParametersReport {
            op: self.operation.name(),
            form: self.form.name(),
            weight: self.operation.weight(),
            parties: self.parties,
            plain_modulus: self.plain,
            ring_dimension: self.n,
            log2_q: self.log2_q(),
            log2_whole: self.log2_whole(),
            log2_limit: security::limit(self.n),
            hardness: self.hardness(),
            limbs: self.chain.iter().chain(&self.special).copied().collect(),
            levels: levels.collect(),
            flooding_bits: self.flood.deviation(),
            partial_decryptions: 1 << DECRYPTION_BITS,
            failure_bits: FAILURE_BITS,
            bootstraps: self.bootstraps() as u32,
            bytes_per_item: self.batch_bytes() as f64 / (self.parties * self.batch_items()) as f64,
            rounds: self.rounds(),
            insecure: self.insecure,
        }
    }

    /// The cost of the best known attack on the ring, with the whole modulus; `None` for the insecure ring.
    #[must_use]
    pub fn hardness(&self) -> Option<Hardness> {
        if self.insecure { None } else { Hardness::of(self.n, self.log2_whole()) }
    }

    /// The length in bytes of a polynomial at a level; each coefficient takes exactly the bits of its prime.
    #[must_use]
    pub fn poly_bytes(&self, level: usize) -> usize {
        self.bytes_over(self.limbs(level))
    }

    /// The length in bytes of an answer: one polynomial over the first primes
    /// ([`Parameters::answer_limbs`]).
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        self.bytes_over(self.answer_limbs())
    }

    fn bytes_over(&self, limbs: usize) -> usize {
        let bits = |q: &u64| (u64::BITS - q.leading_zeros()) as usize;
        self.chain.iter().take(limbs).map(|q| bits(q) * self.n / 8).sum()
    }

    /// The items of a batch: slots, or products of slots.
    fn batch_items(&self) -> usize {
        if self.operation == Operation::BlockProducts { FACTORS * self.n } else { self.n }
    }

    /// The bytes that all parties together send for one batch, payload only.
    #[must_use]
    pub fn batch_bytes(&self) -> usize {
        let (peers, top) = (self.parties - 1, self.top());
        if self.operation == Operation::BlockProducts {
            // an encryption of shares, whose first component goes to one party and from there to all; then
            // for each product the second component the same way, and an answer
            let product = 2 * self.poly_bytes(0) + self.answer_bytes();
            return peers * (2 * self.poly_bytes(top) + FACTORS * product);
        }
        // in Figure 6 the last party sends both components of its ciphertext to all; the lean forms send one
        let asked = if self.form == Form::Paper { 2 } else { 1 };
        let decryption = peers * (asked * self.poly_bytes(0) + self.answer_bytes());
        let pairs = |level: usize| 2 * self.poly_bytes(level);
        let given = match (self.operation, self.form) {
            (Operation::Triples, _) => 2 * peers * self.poly_bytes(top),
            (Operation::Conversions | Operation::Linear { .. }, _) => peers * self.poly_bytes(top),
            (Operation::VectorTables, _) => peers * self.poly_bytes(top),
            (Operation::PrivateTables, Form::Paper) => peers * pairs(top),
            (Operation::PrivateTables, _) => peers * self.poly_bytes(top),
            _ => 0,
        };
        let passed: usize = match (self.operation, self.form) {
            (Operation::Triples | Operation::Conversions | Operation::Linear { .. }, _) => 0,
            (Operation::VectorTables, _) => peers * pairs(0),
            // each party but the last sends on the ciphertext after its hop
            (_, Form::Paper | Form::LeanRing) => {
                (0..peers).map(|position| pairs(self.level_after(self.hop_of(position)))).sum()
            }
            (_, Form::LeanTree) => {
                // at each height one of two joined subtrees sends its ciphertext, which has come down that
                // many levels
                (0..self.parties.next_power_of_two().trailing_zeros())
                    .map(|height| self.joins(height) * pairs(top - height as usize))
                    .sum()
            }
        };
        // c_1 to every other party; from each of them an answer and an encryption
        let refreshed: usize = self
            .refreshed_hops()
            .map(|hop| self.poly_bytes(0) + self.answer_bytes() + self.poly_bytes(self.level_of(hop)))
            .sum();
        given + passed + peers * refreshed + decryption
    }

    /// How many pairs of subtrees of 2^height parties are joined.
    fn joins(&self, height: u32) -> usize {
        self.parties.div_ceil(1 << height) / 2
    }

    fn rounds(&self) -> usize {
        let levels = self.parties.next_power_of_two().trailing_zeros() as usize;
        // rounds in which the shares of private tables reach the first party
        let given = match (self.operation, self.form) {
            (Operation::PrivateTables, Form::Paper) => self.parties.max(1).ilog2() as usize,
            (Operation::PrivateTables, _) => 1,
            _ => 0,
        };
        match (self.operation, self.form) {
            (Operation::Triples | Operation::Conversions | Operation::Linear { .. }, _) => 3,
            (Operation::BlockProducts, _) => 5,
            (Operation::VectorTables, _) => self.parties + 2,
            // shares of a private table are sent to the first party while signs pass along the tree
            (_, Form::LeanTree) => joined(0, levels as u32, self.parties) + 2,
            _ => self.parties + 1 + given + 2 * self.bootstraps(),
        }
    }
}

/// The largest number of consecutive messages until the product of a subtree is made, given its first party
/// and its height.
fn joined(first: usize, height: u32, parties: usize) -> usize {
    let Some(below) = height.checked_sub(1) else { return 0 };
    let (left, partner) = (joined(first, below, parties), first + (1 << below));
    if partner < parties { left.max(joined(partner, below, parties) + 1) } else { left }
}
