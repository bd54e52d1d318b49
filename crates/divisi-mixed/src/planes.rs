//! Bits of numbers, place by place, and their weighted sums: the steps of GYKW's Figures 8 and 9 for the
//! table T = (0, 1), which need no messages.
//!
//! With T'\[j\] = T\[r xor j\] and a public u: T\[x\] = T'\[u\] = T\[u\] + r (T\[1 - u\] - T\[u\]). So shares
//! of r serve any public table of two entries. B2A ([`Mixed::b2a`](crate::Mixed::b2a)) is the sum of 2^j
//! T\[x_j\] with T = (0, 1).

use crate::bit::{Dense, GmwBit};
use crate::random::{NARROW, Numbers, RandomBits, Residue};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, Session, Step, step};
use divisi_field::kernel::vectorize;
use divisi_field::zp::Modulus;

const LOOKUP: Step = step!("lookup");

/// Figure 9, step 2, up to the opening (Figure 8, step 1), for numbers as a circuit has them: x has a share
/// for each of their binary places, all with the same lanes. Returns u = x xor r, all lanes of one place
/// behind those of the place before; and the shares of r modulo p, in the same order.
///
/// # Errors
/// [`Abort::Misuse`] if there is no mask for each bit.
pub(crate) fn mask_planes(
    session: &Session,
    x: &[GmwBit],
    masks: RandomBits,
) -> Result<(Dense, Numbers), Abort> {
    masks.admit(session, LOOKUP)?;
    let lanes = x.first().map_or(0, Lanes::lanes);
    if masks.len() != x.len() * lanes {
        return Err(session.misuse(LOOKUP, Misuse::CountsDiffer));
    }
    let (r, numbers) = masks.packed();
    let mut u = Dense::with_capacity(x.len() * lanes);
    x.iter().for_each(|bit| u.push(bit.words(), lanes));
    u.add(r.words());
    Ok((u, numbers))
}

/// Figure 9, step 2 from the opening on (Figure 8, step 3), and step 3, in one pass: x = sum of 2^j t_j for
/// the opened u, where t_j is T'\[u_j\]: 1 - r_j if u_j is one, and r_j otherwise.
pub(crate) fn number_of_planes(
    session: &Session,
    plain: Modulus,
    lanes: usize,
    u: &Dense,
    numbers: &Numbers,
) -> WipedVec<u64> {
    let first = session.me().index() == 0;
    sum_of_places(plain, lanes, u.len() / lanes.max(1), numbers, Some((u, first)))
}

/// The sum of 2^j r_j in each lane, for at most 32 places j, or any number of them if p has more bits.
/// `numbers` has the shares of r_j, all lanes of one place behind those of the place before.
pub(crate) fn weigh(plain: Modulus, lanes: usize, places: usize, numbers: &Numbers) -> WipedVec<u64> {
    sum_of_places(plain, lanes, places, numbers, None)
}

/// How many lanes are summed up together: their sums stay in the nearest cache.
const LANES: usize = 512;

/// The sum of 2^j t_j: t_j is r_j, or our share of 1 - r_j where the public u_j is one. `flipped` is u, and
/// whether we are the first party. Terms are at most p + 1. For p below 2^32 and at most 32 places sums are
/// below 2^64, and are reduced once, at their end; for another p they are reduced after each place.
fn sum_of_places(
    plain: Modulus,
    lanes: usize,
    places: usize,
    numbers: &Numbers,
    flipped: Option<(&Dense, bool)>,
) -> WipedVec<u64> {
    if plain.bits() > NARROW {
        let add = |sum, term| plain.add(plain.add(sum, sum), plain.once(term));
        return summed::<u64>(plain, lanes, places, numbers, flipped, add);
    }
    summed::<u32>(plain, lanes, places, numbers, flipped, |sum, term| sum + sum + term)
}

/// The same, where `add` adds a term to twice a sum.
fn summed<W: Residue>(
    plain: Modulus,
    lanes: usize,
    places: usize,
    numbers: &Numbers,
    flipped: Option<(&Dense, bool)>,
    add: impl Fn(u64, u64) -> u64,
) -> WipedVec<u64> {
    let one = plain.get() + u64::from(flipped.is_some_and(|(_, first)| first));
    let mut out = WipedVec::zeros(lanes);
    let (mut scratch, mut plane) = (WipedVec::<W>::zeros(LANES), [0; LANES / 64]);
    for (first, out) in (0..).step_by(LANES).zip(out.chunks_mut(LANES)) {
        for j in (0..places).rev() {
            if let Some((u, _)) = flipped {
                u.pull(j * lanes + first, out.len(), &mut plane[..out.len().div_ceil(64)]);
            }
            let r = numbers.at(j * lanes + first, &mut scratch[..out.len()]);
            let words = out.chunks_mut(64).zip(r.chunks(64)).zip(&plane);
            vectorize(
                #[inline(always)]
                || {
                    words.for_each(|((out, r), u)| {
                        (0..).zip(out.iter_mut().zip(r)).for_each(|(lane, (out, r)): (u64, _)| {
                            let (r, u): (u64, u64) = ((*r).into(), (u >> lane & 1).wrapping_neg());
                            *out = add(*out, r ^ (r ^ (one - r)) & u);
                        });
                    });
                },
            );
        }
        vectorize(
            #[inline(always)]
            || out.iter_mut().for_each(|sum| *sum = plain.reduce(*sum)),
        );
    }
    out
}
