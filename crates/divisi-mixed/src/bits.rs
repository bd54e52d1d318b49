//! Random bits shared in both worlds: shares of r modulo 2, r = r_1 xor .. xor r_n, and shares of the number
//! r modulo p.
//!
//! GYKW, Figure 6, with the table T = (0, 1), and with signs in place of rotations. Each party multiplies by
//! its sign 1 - 2 r_i; the product of all signs is 1 - 2 r, which gives r. Adversary: semi-honest, all
//! parties but one. docs/bgv.md, 5, 6 and 9, shows why it is private.
//!
//! The fourth form, `cot`, uses no ciphertexts: [`crate::cot`].
//!
//! | form | order of the parties | rounds | what hides the signs at each hop |
//! |---|---|---|---|
//! | paper | a ring | n + 1, two more for each refresh | a flood on both components |
//! | lean-ring | a ring | the same | a fresh encryption of zero on both |
//! | lean-tree | a tree of products | at most ceil(log2 n) + 2 | the same, at its first product |
//!
//! Cost for a batch of N bits, in polynomials that all parties send together. Rings: 2 (n - 1), of falling
//! levels. The E2A: c_1 to n - 1 parties (in the paper's form both components), and n - 1 answers (tests
//! `cost`). Parties exchange their roles from batch to batch.

use crate::bit::GmwBit;
use crate::circle::{self, Order};
use crate::pipeline;
use crate::tree;
use divisi_bgv::hidden::Hidden;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Sampler, encode};
use divisi_core::{Abort, Lanes, Session, Step, step, taint};

const FORM: Step = step!("form");
const SIGNS: Step = step!("signs");
/// The name under which batches are counted; the parties' roles in a batch follow from its number.
const BATCHES: &str = "random bits";

/// One party's shares of random bits. Using them consumes them \[G7\]: they are neither copied nor cloned.
///
/// ```compile_fail,E0382
/// fn twice(bits: divisi_mixed::bits::RandomBits) {
///     let first = bits.open();
///     let second = bits.open();
/// }
/// ```
pub struct RandomBits {
    /// The shares modulo 2: a lane for each bit.
    bits: GmwBit,
    numbers: Hidden<u64>,
}

impl RandomBits {
    /// The shares of a list of bits that this session made.
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

    /// Removes the last `count` bits and returns them; `None` if there are fewer.
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

    /// A copy of `count` bits from `from` on, or of as many as there are.
    fn part(&self, from: usize, count: usize) -> RandomBits {
        let (from, end) = (from.min(self.len()), from.saturating_add(count).min(self.len()));
        let bits = self.bits.slice(from, end - from);
        RandomBits { bits, numbers: Hidden::from(&self.numbers[from..end]) }
    }

    /// The first `count` bits; the others are dropped.
    pub(crate) fn first(self, count: usize) -> RandomBits {
        self.part(0, count)
    }

    /// All parts in one list.
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

    /// A copy of the last `count` bits, for a mutant.
    pub(crate) fn copy(&self, count: usize) -> RandomBits {
        self.part(self.len().saturating_sub(count), count)
    }

    /// Demands that this session accepts them.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if another session made them.
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

    /// The same, with the shares modulo 2 packed.
    pub(crate) fn packed(self) -> (GmwBit, Hidden<u64>) {
        (self.bits, self.numbers)
    }
}

/// Makes a batch of N random bits, in the form of the keys' parameters. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if the keys are for another operation; otherwise as [`Keys::to_shares`] and
/// [`divisi_bgv::wire::receive`].
pub fn random_bits(session: &mut Session, keys: &Keys, sampler: &mut Sampler) -> Result<RandomBits, Abort> {
    let batch = session.count(BATCHES);
    random_batch(session, keys, sampler, batch)
}

/// Makes `count` batches, several at a time.
///
/// # Errors
/// As [`random_bits`].
pub(crate) fn batches(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    count: usize,
) -> Result<Vec<RandomBits>, Abort> {
    pipeline::batches(
        session,
        keys,
        sampler,
        (count, BATCHES, pipeline::MANY),
        |session, keys, sampler, (_, batch)| random_batch(session, keys, sampler, batch),
    )
}

fn random_batch(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    batch: u64,
) -> Result<RandomBits, Abort> {
    // 1. <r>: each party draws its own bits
    let mut bits = Hidden::zeros(keys.ring().dimension());
    sampler.bits(&mut bits);
    share(session, keys, sampler, bits, batch)
}

/// The same for bits that every party chooses. They are shares modulo 2; the protocol makes shares modulo p
/// of the same bits.
///
/// # Errors
/// As [`random_bits`]; [`Abort::Misuse`] if there are not N bits.
pub(crate) fn chosen_bits(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    bits: Hidden<u64>,
) -> Result<RandomBits, Abort> {
    let batch = session.count(BATCHES);
    share(session, keys, sampler, bits, batch)
}

/// Steps 2 to 5 for one batch.
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
    bits.first().into_iter().for_each(|bit| taint::leak(SIGNS, *bit as u8));
    let signs = encode::signs(ring, &bits);
    // 2. and 3. [1 - 2 r], at the last party of the ring or at the root of the tree
    let order = Order::new(session, batch);
    let (holder, product, factor) = match ring.parameters().form() {
        Form::Paper | Form::LeanRing => {
            // (a) c_1 := [m]; the first party encrypts its own signs
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
