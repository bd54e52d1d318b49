//! Random bits shared in both worlds ("daBits"): shares of r modulo 2, r = r_1 xor .. xor r_n, and shares of
//! the number r modulo p.
//!
//! They are the masked tables of GYKW's Figure 6 for T = (0, 1) (`prep_lut_size2`), made by ciphertexts in
//! three forms. Adversary: semi-honest, all parties but one. docs/bgv.md, 5, 6 and 9, shows why it is
//! private. The fourth form, `cot`, uses no ciphertexts: [`crate::cot`].
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

use crate::pipeline;
use crate::prep_lut::size2::prep_lut_size2;
pub use crate::random::RandomBits;
use divisi_bgv::{Keys, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Session};

/// The name under which batches are counted; the parties' roles in a batch follow from its number.
const BATCHES: &str = "random bits";

/// Makes a batch of N random bits, in the form of the keys' parameters. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if the keys are for another operation; otherwise it fails as [`Keys::e2a`] and
/// [`divisi_bgv::wire::receive`] do.
pub fn dabit(session: &mut Session, keys: &Keys, sampler: &mut Sampler) -> Result<RandomBits, Abort> {
    let batch = session.count(BATCHES);
    prep_lut_size2(session, keys, sampler, batch, None)
}

/// The same for N bits that every party chooses. They are shares modulo 2; the protocol makes shares modulo p
/// of the same bits.
///
/// # Errors
/// [`Abort::Misuse`] if there are not N bits; otherwise it fails as [`dabit`] does.
pub(crate) fn dabit_of(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    bits: WipedVec<u64>,
) -> Result<RandomBits, Abort> {
    let batch = session.count(BATCHES);
    prep_lut_size2(session, keys, sampler, batch, Some(bits))
}

/// Makes `count` batches, several at a time.
///
/// # Errors
/// It fails as [`dabit`] does.
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
        |session, keys, sampler, (_, batch)| prep_lut_size2(session, keys, sampler, batch, None),
    )?;
    let mut all = RandomBits::default();
    made.into_iter().for_each(|batch| all.append(batch));
    Ok(all)
}
