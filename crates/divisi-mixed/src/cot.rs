//! Random bits shared in both worlds (modulo 2 and modulo p) by correlated oblivious transfer, without
//! ciphertexts.
//!
//! x begins at 0, and each party in turn makes it x xor r_i = x + r_i - 2 r_i x. The parties that had their
//! turn share x. P_i chooses with r_i in transfers whose payloads are their shares of x, and gets shares of
//! r_i x. Adversary: semi-honest, all parties but one. The products are those of [`divisi_ot::correlate`] on
//! semi-honest rows \[G14\]. Pads are within 2^-64 of uniform, so P_i and P_j see only uniform values of each
//! other.
//!
//! Cost for an item at k = 4, sent by a party on average over n batches: (n - 1) (32 + 32) / 2 bits, because
//! each pair sends a row one way and a number the other; n rounds (test `cost_of_bits_by_transfers`). Among
//! few parties this is less than with any ciphertexts. Each batch begins with another party.

use crate::bit::GmwBit;
use crate::bits::RandomBits;
use divisi_bgv::hidden::Hidden;
use divisi_core::{Abort, PartyId, Session, Step, step, taint};
use divisi_field::kernel::vectorize;
use divisi_field::zp::Modulus;
use divisi_ot::correlate::Numbers;
use divisi_ot::{Bits, Links, Setup};

const FORM: Step = step!("cot");
const CHOICES: Step = step!("choices");

/// Makes `count` random bits, shared modulo 2 and modulo p. All parties call it.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if `count` is zero, or if the set-up's rows are
/// checked.
pub fn random_bits(
    session: &mut Session,
    setup: &mut Setup,
    plain: Modulus,
    count: usize,
) -> Result<RandomBits, Abort> {
    of_bits(session, setup, plain, Bits::Random(count))
}

/// The same for bits that every party may choose. They are shares modulo 2; the protocol makes shares modulo
/// p of the same bits.
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
    // 1. each party's bits, in rows towards the parties before it
    let mut pads = setup.semi_honest_rows(session, bits, Links::Before(first))?;
    let bits = GmwBit::new(count, pads.bits());
    bits.words().first().into_iter().for_each(|bits| taint::leak(CHOICES, *bits as u8));
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
            let all = x.iter_mut().zip(products.iter());
            vectorize(
                #[inline(always)]
                || all.for_each(|(x, product)| *x = plain.sub(*x, plain.add(*product, *product))),
            );
        }
        if me == chooser {
            let all = x.chunks_mut(64).zip(bits.words());
            vectorize(
                #[inline(always)]
                || {
                    all.for_each(|(x, word)| {
                        (0..).zip(x).for_each(|(i, x): (u64, _)| *x = plain.add(*x, word >> i & 1));
                    });
                },
            );
        }
    }
    Ok(RandomBits::of(session, bits, x))
}
