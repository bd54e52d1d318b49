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
//! Cost for a batch of N bits, in polynomials that all parties together send: in a ring or a tree 2 (n - 1),
//! of falling levels; for the E2A c_1 to n - 1 parties (in the paper's form both components), and n - 1
//! answers (tests `bits_are_the_same_in_both_worlds`, `polynomials_of_the_papers_form`). Parties exchange
//! their roles from batch to batch.

use crate::bit::GmwBit;
use crate::circle::{self, Order};
use crate::pipeline;
pub use crate::random::RandomBits;
use crate::tree;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Sampler, encode};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Session, Step, step, taint};

const FORM: Step = step!("form");
const SIGNS: Step = step!("signs");
/// The name under which batches are counted; the parties' roles in a batch follow from its number.
const BATCHES: &str = "random bits";

/// Makes a batch of N random bits, in the form of the keys' parameters. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if the keys are for another operation; otherwise it fails as [`Keys::to_shares`] and
/// [`divisi_bgv::wire::receive`] do.
pub fn random_bits(session: &mut Session, keys: &Keys, sampler: &mut Sampler) -> Result<RandomBits, Abort> {
    let batch = session.count(BATCHES);
    random_batch(session, keys, sampler, batch)
}

/// Makes `count` batches, several at a time.
///
/// # Errors
/// It fails as [`random_bits`] does.
pub(crate) fn batches(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    count: usize,
) -> Result<RandomBits, Abort> {
    let made = pipeline::batches(
        session,
        keys,
        sampler,
        (count, BATCHES, pipeline::MANY),
        |session, keys, sampler, (_, batch)| random_batch(session, keys, sampler, batch),
    )?;
    let mut all = RandomBits::default();
    made.into_iter().for_each(|batch| all.append(batch));
    Ok(all)
}

fn random_batch(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    batch: u64,
) -> Result<RandomBits, Abort> {
    // 1. <r>: each party draws its own bits
    let mut bits = WipedVec::zeros(keys.ring().dimension());
    sampler.bits(&mut bits);
    share(session, keys, sampler, bits, batch)
}

/// The same for bits that every party chooses. They are shares modulo 2; the protocol makes shares modulo p
/// of the same bits.
///
/// # Errors
/// [`Abort::Misuse`] if there are not N bits; otherwise it fails as [`random_bits`] does.
pub(crate) fn chosen_bits(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    bits: WipedVec<u64>,
) -> Result<RandomBits, Abort> {
    let batch = session.count(BATCHES);
    share(session, keys, sampler, bits, batch)
}

/// Steps 2 to 5 for one batch.
fn share(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    bits: WipedVec<u64>,
    batch: u64,
) -> Result<RandomBits, Abort> {
    let ring = keys.ring();
    if bits.len() != ring.dimension() {
        return Err(session.misuse(FORM, Misuse::CountsDiffer));
    }
    if ring.parameters().operation() != Operation::Bits {
        return Err(session.misuse(FORM, Misuse::KeyUnfit));
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
        _ => return Err(session.misuse(FORM, Misuse::Unsupported)),
    };
    // 4. E2A; 5. r = (1 - (1 - 2 r)) / 2
    let mut numbers = keys.to_shares(session, sampler, holder, product.as_ref(), factor)?;
    let plain = ring.plain();
    let half = plain.invert(2);
    plain.scale(&mut numbers, plain.neg(half));
    if session.me() == holder {
        numbers.iter_mut().for_each(|x| *x = plain.add(*x, half));
    }
    Ok(RandomBits::of(session, plain, GmwBit::of(bits.iter().copied()), &numbers))
}
