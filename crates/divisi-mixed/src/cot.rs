//! Random bits shared in both worlds by correlated oblivious transfer, without ciphertexts.
//!
//! x is 0, and each party in its turn makes it x xor r_i: x <- x + r_i - 2 r_i x. x is shared by those who
//! had their turn; P_i chooses with r_i, their shares of x are the payloads, and nobody sees anything but
//! pads. Adversary: semi-honest, all but one. The products are those of [`divisi_ot::correlate`] on
//! semi-honest rows \[G14\]: pads are within 2^-64 of uniform, so that all that P_i and P_j see of each other
//! is uniform.
//!
//! Cost an item at k = 4, sent by a party on average over n batches: (n - 1) (32 + 32) / 2 bits, a row one
//! way and a number the other for each pair; n rounds (test `cost_of_bits_by_transfers`). For few parties
//! that is less than any ciphertext. The circle begins with another party from batch to batch.

use crate::bit::GmwBit;
use crate::bits::RandomBits;
use divisi_bgv::hidden::Hidden;
use divisi_core::{Abort, PartyId, Session, Step, step};
use divisi_field::zp::Modulus;
use divisi_ot::correlate::Numbers;
use divisi_ot::{Bits, Links, Setup};

const FORM: Step = step!("cot");

/// So many random bits, shared modulo 2 and modulo p. All parties call it.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for none at all, and of a set-up whose rows are
/// checked.
pub fn random_bits(
    session: &mut Session,
    setup: &mut Setup,
    plain: Modulus,
    count: usize,
) -> Result<RandomBits, Abort> {
    of_bits(session, setup, plain, Bits::Random(count))
}

/// The same of bits that every party may choose: shares of them modulo 2, made to be shares modulo p too.
///
/// # Errors
/// As [`random_bits`].
pub(crate) fn of_bits(
    session: &mut Session,
    setup: &mut Setup,
    plain: Modulus,
    bits: Bits<'_>,
) -> Result<RandomBits, Abort> {
    let (n, count) = (session.parties(), bits.count());
    let first = (session.count("random bits by transfers") % n.max(1) as u64) as usize;
    // 1. each party's own bits, in rows towards those before it
    let mut pads = setup.semi_honest_rows(session, bits, Links::Before(first))?;
    let bits = GmwBit::new(count, pads.bits());
    // 2. x = 0, and then x <- x + r_i - 2 r_i x
    let me = session.me();
    let parties: Vec<PartyId> = PartyId::all(n).collect();
    let payload = Numbers { modulus: plain.get(), count: 1 };
    let mut x = Hidden::zeros(count);
    for turn in 0..n {
        let Some(chooser) = parties.get((first + turn) % n).copied() else {
            return Err(session.misuse(FORM, "a circle without parties"));
        };
        if turn > 0 {
            let products = setup.correlate(session, &mut pads, Some(chooser), &payload, &x)?; // [G14]
            for (x, product) in x.iter_mut().zip(products.iter()) {
                *x = plain.sub(*x, plain.add(*product, *product));
            }
        }
        if me == chooser {
            for (x, word) in x.chunks_mut(64).zip(bits.words()) {
                x.iter_mut().enumerate().for_each(|(i, x)| *x = plain.add(*x, word >> i & 1));
            }
        }
    }
    Ok(RandomBits::of(session, bits, x))
}
