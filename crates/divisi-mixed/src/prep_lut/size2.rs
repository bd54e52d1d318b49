//! Protocol Pi_prep-LUT for tables of two entries: GYKW, Figure 6, with the table T = (0, 1), and with signs
//! in place of rotations.
//!
//! T'\[j\] = T\[r xor j\] is r xor j, so that the masked table is the number r, which serves any public table
//! of two entries ([`Mixed::lookup_pairs`](crate::Mixed::lookup_pairs)). Each party multiplies by its sign
//! 1 - 2 r_i; the product of all signs is 1 - 2 r, which gives r. So a ciphertext has N tables, where the
//! figure has N / 2. Adversary: semi-honest, all parties but one. docs/bgv.md, 5, 6 and 9, shows why it is
//! private; [`crate::dabit`] has the forms and what they cost.

use crate::bit::GmwBit;
use crate::circle::{self, Order};
use crate::random::RandomBits;
use crate::tree;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Sampler, encode};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Session, Step, step, taint};

const FORM: Step = step!("form");
const SIGNS: Step = step!("signs");

/// The N bits r, shared modulo 2 and modulo p: those that every party has chosen, or random ones. The
/// parties' roles follow from the number of the batch.
///
/// # Errors
/// [`Abort::Misuse`] if the keys are for another operation, or if there are not N chosen bits; otherwise it
/// fails as [`Keys::e2a`] and [`divisi_bgv::wire::receive`] do.
pub(crate) fn prep_lut_size2(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    batch: u64,
    chosen: Option<WipedVec<u64>>,
) -> Result<RandomBits, Abort> {
    let (ring, plain) = (keys.ring(), keys.ring().plain());
    // 1. <r>: each party draws its own bits
    let r = chosen.unwrap_or_else(|| {
        let mut r = WipedVec::zeros(ring.dimension());
        sampler.bits(&mut r);
        r
    });
    if r.len() != ring.dimension() {
        return Err(session.misuse(FORM, Misuse::CountsDiffer));
    }
    if ring.parameters().operation() != Operation::Bits {
        return Err(session.misuse(FORM, Misuse::KeyUnfit));
    }
    r.first().into_iter().for_each(|bit| taint::leak(SIGNS, *bit as u8));
    let signs = encode::signs(ring, &r);
    // 2. [m] at P_1, and 3. (a) to (e) at every party: [1 - 2 r], at P_n or at the root of the tree
    let order = Order::new(session, batch);
    let (holder, c_n, factor) = match ring.parameters().form() {
        Form::Paper | Form::LeanRing => {
            // m has the signs of P_1, so that its own turn needs no product
            let m = (order.me == 0).then(|| tree::encrypt(keys, sampler, &signs));
            circle::permute(session, keys, sampler, &order, m, &signs)?
        }
        Form::LeanTree => tree::permute(session, keys, sampler, &order, &signs)?,
        _ => return Err(session.misuse(FORM, Misuse::Unsupported)),
    };
    // 4. E2A
    let mut masked = keys.e2a(session, sampler, holder, c_n.as_ref(), factor)?;
    // 5. <r> modulo p: r = (1 - (1 - 2 r)) / 2
    let half = plain.invert(2);
    plain.scale(&mut masked, plain.neg(half));
    if session.me() == holder {
        masked.iter_mut().for_each(|x| *x = plain.add(*x, half));
    }
    Ok(RandomBits::of(session, plain, GmwBit::of(r.iter().copied()), &masked))
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_bgv::Ring;
    use divisi_bgv::parameters::Parameters;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{refused_for, run};
    use divisi_field::zp::P32;
    use std::sync::{Arc, Barrier};

    /// Every party refuses by itself chosen bits that are not as many as there are slots. (256 more are as
    /// many in eight bits.)
    #[test]
    fn chosen_bits_are_as_many_as_slots() {
        let parameters = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 2, P32).unwrap();
        let ring = Arc::new(Ring::new(parameters).unwrap());
        let agreed = ring.parameters().describe(PublicParameters::new("chosen bits"));
        let (all, slots) = (Barrier::new(2), ring.dimension());
        let ends = run(2, &agreed, |mut session| {
            let keys = Keys::generate(&mut session, &ring);
            let mut sampler = Sampler::new(&session);
            let mut make = |keys: &Keys, count| {
                let bits = Some(WipedVec::zeros(count));
                prep_lut_size2(&mut session, keys, &mut sampler, 0, bits).map(drop)
            };
            let made = keys.and_then(|keys| make(&keys, slots).map(|()| keys));
            all.wait();
            let keys = made?;
            for count in [slots + 256, slots - 256, 0, slots - 1, slots + 1] {
                refused_for([(Misuse::CountsDiffer, make(&keys, count))]);
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }
}
