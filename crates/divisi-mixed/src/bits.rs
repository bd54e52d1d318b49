//! Random bits shared in both worlds: r = r_1 xor .. xor r_n, and shares of the number r modulo p.
//!
//! GYKW, Figure 6, with T = (0, 1) and signs in place of rotations: the difference of a table of size 2 is
//! multiplied by 1 - 2 r_i at each party, so that 1 - 2 r is the product of all signs, and r is half of what
//! it lacks to 1.
//! Adversary: semi-honest, all but one. Why it is private: docs/bgv.md, 5, 6 and 9.
//!
//! The fourth form, `cot`, has no ciphertexts: [`crate::cot`].
//!
//! | form | way | rounds | what leaves each hop |
//! |---|---|---|---|
//! | paper | a ring | n + 1, two more a refresh | a flood on both components |
//! | lean-ring | a ring | the same | a fresh encryption of zero on both |
//! | lean-tree | products along a tree, first by plaintexts | at most ceil(log2 n) + 2 | the same, first |
//!
//! Cost a batch of N bits, by all parties together, in polynomials: rings 2 (n - 1), of falling levels, and
//! for the E2A n - 1 of c_1 (in the paper's form 2 (n - 1) of both) and n - 1 answers (tests `cost`). Roles
//! rotate from batch to batch.

use crate::bit::GmwBit;
use crate::circle::{self, Order};
use crate::pipeline;
use crate::tree;
use divisi_bgv::hidden::Hidden;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Sampler, encode};
use divisi_core::{Abort, Lanes, Session, Step, step};

const FORM: Step = step!("form");
/// What batches are counted under: with the number the roles go round.
const BATCHES: &str = "random bits";

/// One party's shares of N random bits. Used by value, once \[G7\]: it is neither copied nor cloned.
///
/// ```compile_fail,E0382
/// fn twice(bits: divisi_mixed::bits::RandomBits) {
///     let first = bits.open();
///     let second = bits.open();
/// }
/// ```
pub struct RandomBits {
    /// A lane for each.
    bits: GmwBit,
    numbers: Hidden<u64>,
}

impl RandomBits {
    /// These shares of one list of bits, made in this session.
    pub(crate) fn of(session: &Session, bits: GmwBit, numbers: Hidden<u64>) -> RandomBits {
        RandomBits { bits: bits.made(session), numbers }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The last so many of them, which are here no more; `None` if there are fewer.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<RandomBits> {
        let left = self.len().checked_sub(count)?;
        if left == 0 {
            let empty = RandomBits { bits: self.bits.slice(0, 0), numbers: Hidden::zeros(0) };
            return Some(std::mem::replace(self, empty));
        }
        let taken = self.part(left, count);
        *self = self.part(0, left);
        Some(taken)
    }

    /// So many of them from one on, as far as they are there.
    fn part(&self, from: usize, count: usize) -> RandomBits {
        let (from, end) = (from.min(self.len()), from.saturating_add(count).min(self.len()));
        let bits = self.bits.slice(from, end - from);
        RandomBits { bits, numbers: Hidden::from(&self.numbers[from..end]) }
    }

    /// The first so many of them; what is behind is dropped.
    pub(crate) fn first(self, count: usize) -> RandomBits {
        self.part(0, count)
    }

    /// All of these, one list behind the other.
    pub(crate) fn join(mut parts: Vec<RandomBits>) -> RandomBits {
        if parts.len() == 1
            && let Some(one) = parts.pop()
        {
            return one;
        }
        let bits = GmwBit::join(&parts.iter().map(|part| &part.bits).collect::<Vec<_>>());
        let mut numbers = Hidden::zeros(bits.lanes());
        let mut rest = &mut numbers[..];
        for part in &parts {
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(part.len());
            here.copy_from_slice(&part.numbers);
            rest = behind;
        }
        RandomBits { bits, numbers }
    }

    /// The last so many of them once more: for a mutant.
    pub(crate) fn copy(&self, count: usize) -> RandomBits {
        self.part(self.len().saturating_sub(count), count)
    }

    /// That this session takes them.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for what another session made.
    pub(crate) fn admit(&self, session: &Session, step: Step) -> Result<(), Abort> {
        self.bits.admit(session, step)
    }

    /// The shares modulo 2, each 0 or 1, and modulo p.
    #[must_use]
    pub fn open(self) -> (Hidden<u64>, Hidden<u64>) {
        let mut bits = Hidden::zeros(self.len());
        self.bits.spread(&mut bits);
        (bits, self.numbers)
    }

    /// The same with the bits packed.
    pub(crate) fn packed(self) -> (GmwBit, Hidden<u64>) {
        (self.bits, self.numbers)
    }
}

/// A batch of N random bits, in the form that the keys' parameters are for. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] for keys of another operation; as [`Keys::to_shares`] and [`divisi_bgv::wire::receive`].
pub fn random_bits(session: &mut Session, keys: &Keys, sampler: &mut Sampler) -> Result<RandomBits, Abort> {
    let batch = session.count(BATCHES);
    random_batch(session, keys, sampler, batch)
}

/// So many batches, several at once.
///
/// # Errors
/// As [`random_bits`].
pub(crate) fn batches(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    count: usize,
) -> Result<Vec<RandomBits>, Abort> {
    pipeline::batches(session, keys, sampler, (count, BATCHES), |session, keys, sampler, (_, batch)| {
        random_batch(session, keys, sampler, batch)
    })
}

fn random_batch(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    batch: u64,
) -> Result<RandomBits, Abort> {
    // 1. <r>: each party's own bits
    let mut bits = Hidden::zeros(keys.ring().dimension());
    sampler.bits(&mut bits);
    share(session, keys, sampler, bits, batch)
}

/// The same of bits that every party chooses: shares of them modulo 2, made to be shares modulo p too.
///
/// # Errors
/// As [`random_bits`]; [`Abort::Misuse`] for another number than N.
pub(crate) fn chosen_bits(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    bits: Hidden<u64>,
) -> Result<RandomBits, Abort> {
    let batch = session.count(BATCHES);
    share(session, keys, sampler, bits, batch)
}

/// Steps 2 to 5, of one batch.
fn share(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    bits: Hidden<u64>,
    batch: u64,
) -> Result<RandomBits, Abort> {
    let ring = keys.ring();
    if bits.len() != ring.dimension() {
        return Err(session.misuse(FORM, "not one bit for each slot"));
    }
    if ring.parameters().operation() != Operation::Bits {
        return Err(session.misuse(FORM, "keys for another operation"));
    }
    let signs = encode::signs(ring, &bits);
    // 2. and 3. [1 - 2 r], at the last of the ring or the root of the tree
    let order = Order::new(session, batch);
    let (holder, product, factor) = match ring.parameters().form() {
        Form::Paper | Form::LeanRing => {
            // (a) c_1 := [m], in which the first has put its own bits already
            let first = (order.me == 0).then(|| tree::begin(keys, sampler, &signs));
            circle::around(session, keys, sampler, &order, first, &signs)?
        }
        Form::LeanTree => tree::along(session, keys, sampler, &order, &signs)?,
        _ => return Err(session.misuse(FORM, "a form without ciphertexts")),
    };
    // 4. E2A; 5. r = (1 - (1 - 2 r)) / 2
    let mut numbers = keys.to_shares(session, sampler, holder, product.as_ref(), factor)?;
    let plain = ring.plain();
    let half = plain.invert(2);
    plain.scale(&mut numbers, plain.neg(half));
    if session.me() == holder {
        numbers.iter_mut().for_each(|x| *x = plain.add(*x, half));
    }
    Ok(RandomBits::of(session, GmwBit::of(bits.iter().copied()), numbers))
}
