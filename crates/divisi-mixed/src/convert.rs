//! Conversion of bits to numbers: GYKW, Figures 8 and 9, for public tables of size 2.
//!
//! Adversary: semi-honest, all parties but one. The opened u = x xor r is uniform, because r is uniform and
//! used once \[G7\]. Cost online: one opening (section 3.1), in which each party sends one bit for each item
//! to one party, and this party sends a bit back; two rounds. With T'\[j\] = T\[r xor j\] and a public u:
//! T\[x\] = T'\[u\] = T\[u\] + r (T\[1 - u\] - T\[u\]). So shares of r serve any public table.

use crate::bit::{Dense, GmwBit};
use crate::open;
use crate::random::{Numbers, RandomBits};
use divisi_bgv::hidden::Hidden;
use divisi_core::{Abort, Lanes, Session, Step, step};
use divisi_field::kernel::vectorize;
use divisi_field::zp::Modulus;

const LOOKUP: Step = step!("lookup");

/// Opens shared bits, as in section 3.1: every party sends its shares to one party, which adds them up and
/// sends the result to all. Another party does so in each opening, or in each part of a large one.
///
/// # Errors
/// The abort that ends the session, also if bits after the last one are set.
pub fn open_bits(session: &mut Session, share: &[u64]) -> Result<Vec<u64>, Abort> {
    let packed = GmwBit::of(share.iter().copied());
    let opened = open::open_packed(session, Dense::of(packed.words().to_vec(), share.len()))?;
    Ok((0..share.len()).map(|i| opened.words().get(i / 64).map_or(0, |word| word >> (i % 64) & 1)).collect())
}

/// Figure 8, case 1: looks up shared bits in public tables, one for each bit of `x`. Returns shares of the
/// entries.
///
/// # Errors
/// [`Abort::Misuse`] if there is not one mask and one table for each bit, or if an entry is not below p;
/// otherwise as [`open_bits`].
pub fn lookup(
    session: &mut Session,
    plain: Modulus,
    tables: &[[u64; 2]],
    x: &[u64],
    masks: RandomBits,
) -> Result<Hidden<u64>, Abort> {
    masks.admit(session, LOOKUP)?;
    if tables.len() != x.len() || masks.len() != x.len() {
        return Err(session.misuse(LOOKUP, "not one table and one mask for each bit"));
    }
    if tables.as_flattened().iter().any(|entry| *entry >= plain.get()) {
        return Err(session.misuse(LOOKUP, "an entry of a table that is not below p"));
    }
    // 1. <u> = <x> xor <r>, opened
    let (r, mut shares) = masks.open();
    let masked: Hidden<u64> =
        Hidden::from(&*x.iter().zip(r.iter()).map(|(x, r)| (x ^ r) & 1).collect::<Vec<_>>());
    let u = open_bits(session, &masked)?;
    // 2. <T[x]> = <T'[u]>
    let first = session.me().index() == 0;
    for ((share, table), u) in shares.iter_mut().zip(tables).zip(u) {
        // u and the table are public, so this branch reveals nothing
        let (at, other) = if u == 0 { (table[0], table[1]) } else { (table[1], table[0]) };
        *share = plain.mul(*share, plain.sub(other, at));
        if first {
            *share = plain.add(*share, at);
        }
    }
    Ok(shares)
}

/// Figure 9, B2A: numbers given by `width` shared bits each, the lowest first, become shares modulo p.
///
/// # Errors
/// [`Abort::Misuse`] if the number of bits is not a multiple of `width`, or `width` is not 1 to 32; otherwise
/// as [`lookup`].
pub fn to_numbers(
    session: &mut Session,
    plain: Modulus,
    width: usize,
    x: &[u64],
    masks: RandomBits,
) -> Result<Hidden<u64>, Abort> {
    if !(1..=32).contains(&width) || !x.len().is_multiple_of(width) {
        return Err(session.misuse(LOOKUP, "numbers of different widths, or of more than 32 bits"));
    }
    // 1. T = (0, 1) for each bit; 2. <x> = sum of 2^j <T[x[j]]>
    let bits = lookup(session, plain, &vec![[0, 1]; x.len()], x, masks)?;
    let mut numbers = Hidden::zeros(x.len() / width);
    for (number, bits) in numbers.iter_mut().zip(bits.chunks_exact(width)) {
        *number = bits.iter().rev().fold(0, |sum, bit| plain.add(plain.add(sum, sum), *bit));
    }
    Ok(numbers)
}

/// Figure 9 on bits as they stand in a circuit, one for each place of the number, alike in lanes. Step 1: u =
/// x xor r, all lanes of one place behind those of another; and the shares of r modulo p.
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
        return Err(session.misuse(LOOKUP, "not one mask for each bit"));
    }
    let (r, numbers) = masks.packed();
    let mut u = Dense::with_capacity(x.len() * lanes);
    x.iter().for_each(|bit| u.push(bit.words(), lanes));
    u.add(r.words());
    Ok((u, numbers))
}

/// Step 2, of what was opened: x = sum of 2^j (1 - r_j where u_j is one, and r_j elsewhere).
pub(crate) fn of_planes(
    session: &Session,
    plain: Modulus,
    lanes: usize,
    u: &Dense,
    numbers: &Numbers,
) -> Hidden<u64> {
    let first = session.me().index() == 0;
    sum_of_places(plain, lanes, u.len() / lanes.max(1), numbers, Some((u, first)))
}

/// The sum of 2^j r_j in each lane: of a number of at most 32 places, all lanes of one place behind those of
/// another.
pub(crate) fn weigh(plain: Modulus, lanes: usize, places: usize, numbers: &Numbers) -> Hidden<u64> {
    sum_of_places(plain, lanes, places, numbers, None)
}

/// How many lanes are summed up together: their sums stay in the nearest cache.
const LANES: usize = 512;

/// The sum of 2^j t_j of at most 32 places: t_j is r_j, or our share of 1 - r_j where the public u_j is one;
/// with u comes whether we are the first party. Terms are at most p + 1, and p is below 2^32; so sums are
/// below 2^64, and are reduced once, at their end.
fn sum_of_places(
    plain: Modulus,
    lanes: usize,
    places: usize,
    numbers: &Numbers,
    flipped: Option<(&Dense, bool)>,
) -> Hidden<u64> {
    let one = plain.get() + u64::from(flipped.is_some_and(|(_, first)| first));
    let mut out = Hidden::zeros(lanes);
    let (mut room, mut plane) = (Hidden::zeros(LANES), [0; LANES / 64]);
    for (first, out) in (0..).step_by(LANES).zip(out.chunks_mut(LANES)) {
        for j in (0..places).rev() {
            if let Some((u, _)) = flipped {
                u.pull(j * lanes + first, out.len(), &mut plane[..out.len().div_ceil(64)]);
            }
            let r = numbers.at(j * lanes + first, &mut room[..out.len()]);
            let words = out.chunks_mut(64).zip(r.chunks(64)).zip(&plane);
            vectorize(
                #[inline(always)]
                || {
                    words.for_each(|((out, r), u)| {
                        (0..).zip(out.iter_mut().zip(r)).for_each(|(lane, (out, r)): (u64, _)| {
                            let (r, u) = (u64::from(*r), (u >> lane & 1).wrapping_neg());
                            *out = *out + *out + (r ^ (r ^ (one - r)) & u);
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
