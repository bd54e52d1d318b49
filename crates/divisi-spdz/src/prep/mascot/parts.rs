//! Products whose factors are in a part of the field, by their type. They are made of products of elements
//! and random bits, so that an opening online is as short as an element of the part.
//!
//! For a random r of the part and a product c = a b of elements, e = r + a is opened: r b = c + e b. If the
//! product is in a part of the field, each party projects its own share to that part.

use super::super::rows::Rows;
use super::triple::{add_times, triples};
use crate::part::{Embeds, Mac, Projects, Shareable, places};
use crate::party::Party;
use crate::share::Auth;
use crate::source::{BitTriples, Triples};
use divisi_core::{Abort, Step, step};
use divisi_field::{BigField, Field, Gf2};

const E: Step = step!("parts.e");
const D: Step = step!("parts.d");

/// Products of a bit and an element.
///
/// Cost: a product of elements, and f' + f bits.
pub(super) fn element_triples<F: Mac>(
    rows: &mut Rows,
    party: &mut Party<F>,
    count: usize,
) -> Result<BitTriples<F>, Abort> {
    let Triples { mut a, b, mut c } = triples(rows, party, count)?;
    let r = rows.bits(party, count)?;
    add(&mut a, r.x.iter().map(|bit| F::embedded(*bit)), &r.m);
    let e = party.open(E, &a.x, &a.m)?;
    add_times(&mut c, &b, &e);
    party.check_opened()?;
    Ok(BitTriples { a: r, b, c })
}

/// Products of elements of a small field of w bits.
///
/// Cost: a product of elements, and 2 w f' + 2 f bits.
pub(super) fn field_triples<V: Shareable + Field, F: Mac + Projects<V>>(
    rows: &mut Rows,
    party: &mut Party<F>,
    count: usize,
) -> Result<Triples<V, F>, Abort> {
    let w = <V as Field>::BITS;
    let mut drawn = || rows.bits(party, w * count);
    let (x, y) = (drawn()?, drawn()?);
    let [x, y] = [&x, &y].map(|bits| elements::<V, F>(bits, count));
    products(rows, party, x, y, Projects::projected)
}

/// The elements of bits that lie plane by plane.
fn elements<V: Shareable + Field, F: Mac + Embeds<V>>(bits: &Auth<Gf2, F>, lanes: usize) -> Auth<V, F> {
    let mut out = Auth::<V, F>::zeros(lanes);
    for (k, plane) in bits.x.chunks(lanes.max(1)).enumerate() {
        out.x.iter_mut().zip(plane).for_each(|(x, bit)| *x += V::from_low_bits(bit.to_bits() << k));
    }
    let of: Vec<&[F]> = bits.m.chunks(lanes.max(1)).collect();
    if lanes > 0 {
        F::combine(&mut out.m, &places::<V, F>(), &of);
    }
    out
}

/// Products of bits. The projection of an element is its coefficient of 1.
///
/// Cost: a product of elements, and 2 f' + 2 f bits.
pub(super) fn bit_triples<F: Mac>(
    rows: &mut Rows,
    party: &mut Party<F>,
    count: usize,
) -> Result<Triples<Gf2, F>, Abort> {
    let (x, y) = (rows.bits(party, count)?, rows.bits(party, count)?);
    products(rows, party, x, y, |c| Gf2::from_low_bits(c.to_bits()))
}

/// \[\[x y\]\] for random x and y of a subfield: for a product of elements c = a b, e = x + a and d = y + b
/// are opened, and x y = c + e b + d x.
fn products<V: Shareable + Field, F: Mac + Embeds<V>>(
    rows: &mut Rows,
    party: &mut Party<F>,
    x: Auth<V, F>,
    y: Auth<V, F>,
    project: impl Fn(F) -> V,
) -> Result<Triples<V, F>, Abort> {
    let Triples { mut a, mut b, mut c } = triples(rows, party, x.len())?;
    let factor = b.clone();
    add(&mut a, x.x.iter().map(|x| F::embedded(*x)), &x.m);
    add(&mut b, y.x.iter().map(|y| F::embedded(*y)), &y.m);
    let (sent_e, sent_d) = (party.send_shares(E, &a.x)?, party.send_shares(D, &b.x)?);
    let (e, d) = (party.receive(sent_e, &a.m)?, party.receive(sent_d, &b.m)?);
    add_times(&mut c, &factor, &e);
    let x_in_field = Auth::<F, F>::new(x.x.iter().map(|x| F::embedded(*x)).collect(), x.m.clone());
    add_times(&mut c, &x_in_field, &d);
    party.check_opened()?;
    let projected = c.x.iter().map(|c| project(*c)).collect();
    Ok(Triples { a: x, b: y, c: Auth::new(projected, c.m.clone()) })
}

fn add<F: Mac>(to: &mut Auth<F, F>, x: impl Iterator<Item = F>, m: &[F]) {
    to.x.iter_mut().zip(x).for_each(|(to, x)| *to += x);
    <F as BigField>::add_assign(&mut to.m, m);
}
