//! Products of bytes and of bits: the products of each bit of x with y are one item of a bucket.

use super::super::rows::{self, Rows};
use super::buckets;
use super::items::{get, put};
use super::proof::Products;
use super::short;
use super::tables::{spread, sum};
use crate::part::{Embeds, Mac, Shareable, places};
use crate::party::Party;
use crate::share::{Auth, Wiped};
use crate::source::Triples;
use divisi_core::{Abort, Step, step};
use divisi_field::{BigField, Field};
use divisi_ot::correlate::BitVectors;
use divisi_ot::{MacShares, WideBits};
use zeroize::Zeroizing;

const DIFFERENCES: Step = step!("triples.d");

/// Lanes that are made at once.
const LANES: usize = 1 << 14;

/// x y for random x and y of a small field, of w bits: steps 1 to 3 of [`super`], x = sum g^m x_m, each x_m a
/// wide row, and x y = sum g^m (x_m y).
///
/// Whoever sends other payloads passes with probability 1/2 at most, for what makes the combination right is
/// a condition linear over GF(2) on the honest x_m: a lie about any of them spoils the item. D = y_1 + y_k
/// has w bits.
///
/// Cost: B (w (f' + p') + w f' + w (w + f)) + w (B - 1) bits each to each peer.
pub(super) fn triples<V: Shareable + Field, F: Mac + Embeds<V>>(
    rows: &mut Rows,
    party: &mut Party<F>,
    count: usize,
) -> Result<Triples<V, F>, Abort> {
    let empty =
        |room| Triples { a: Auth::with_room(room), b: Auth::with_room(room), c: Auth::with_room(room) };
    let mut all = empty(count);
    for from in (0..count).step_by(buckets::MOST) {
        let buckets = buckets::MOST.min(count - from);
        let size = buckets::size(buckets, rows.config().rho);
        let items = buckets * size;
        let mut made = empty(items);
        let batches = (0..items).step_by(LANES).map(|from| LANES.min(items - from));
        let (f, w) = (width::<F>(), width::<V>());
        let mut each = batches.clone();
        rows.batches(party, batches.map(|lanes| [w * lanes, w * lanes + f]), |rows, party, x, y| {
            let Some(lanes) = each.next() else { return Err(short(party)) };
            let Triples { a, b, c } = leaky(rows, party, lanes, (x, y))?;
            made.a.append(&a);
            made.b.append(&b);
            made.c.append(&c);
            buckets::relieve(party)
        })?;
        let Triples { a, b, c } = combined(party, made, buckets, size)?;
        all.a.append(&a);
        all.b.append(&b);
        all.c.append(&c);
    }
    Ok(all)
}

/// How many bits an element has.
fn width<V: Field>() -> usize {
    <V as Field>::BITS
}

/// g^m: the element of which only that bit is one.
fn power<V: Field>(m: usize) -> V {
    V::from_low_bits(1 << m)
}

/// Steps 1 and 2 for a batch, from its rows.
fn leaky<V: Shareable + Field, F: Mac + Embeds<V>>(
    rows: &mut Rows,
    party: &mut Party<F>,
    lanes: usize,
    (mut x_rows, y_rows): (WideBits, MacShares),
) -> Result<Triples<V, F>, Abort> {
    let (f, w) = (width::<F>(), width::<V>());
    let x_macs = rows.with(party, |_, setup| Ok(rows::macs_of_all::<F>(&x_rows.bits, setup)))?;
    let y_macs = Wiped::new(rows::macs::<F>(&y_rows, 0..w * lanes));
    let x: Auth<V, F> = elements(x_rows.bits.bits(), &x_macs, lanes);
    let y: Auth<V, F> = elements(y_rows.bits(), &y_macs, lanes);
    // 1. one payload for all bits of a lane: y and its MAC
    let payload = BitVectors { width: w + f };
    let mut one = Zeroizing::new(vec![0; lanes]);
    for (lane, word) in one.iter_mut().enumerate() {
        let mut at = 0;
        put(std::slice::from_mut(word), &mut at, y.x[lane].to_bits(), w);
        put(std::slice::from_mut(word), &mut at, y.m[lane].to_bits(), f);
    }
    let values = Zeroizing::new(one.repeat(w));
    let mut pads = x_rows.pads.take(w * lanes).ok_or_else(|| short(party))?;
    let shares =
        rows.with(party, |session, setup| setup.correlate(session, &mut pads, None, &payload, &values))?;
    let mut z = Auth::<V, F>::zeros(lanes);
    for (m, (mac, shares)) in places::<V, F>().into_iter().zip(shares.chunks_exact(lanes)).enumerate() {
        let mut macs = Zeroizing::new(Vec::with_capacity(lanes));
        for (z, share) in z.x.iter_mut().zip(shares) {
            let mut at = 0;
            *z += power::<V>(m) * V::from_low_bits(get(std::slice::from_ref(share), &mut at, w));
            macs.push(F::from_low_bits(get(std::slice::from_ref(share), &mut at, f)));
        }
        <F as BigField>::scale(&mut macs, mac);
        <F as BigField>::add_assign(&mut z.m, &macs);
    }
    // 2.
    let mut all = Products::with_room(lanes);
    all.extend(z.x.iter().map(|z| F::embedded(*z)), &z.m);
    all.prove(party, &rows::elements_of(&y_rows, w * lanes))?;
    Ok(Triples { a: x, b: y, c: z })
}

/// The elements of w rows each, whose k-th bits stand together.
fn elements<V: Shareable + Field, F: Mac + Embeds<V>>(own: &[u64], macs: &[F], lanes: usize) -> Auth<V, F> {
    let mut x = vec![V::default(); lanes];
    for k in 0..width::<V>() {
        let bits = Zeroizing::new(rows::shares(own, k * lanes..(k + 1) * lanes));
        x.iter_mut().zip(bits.iter()).for_each(|(x, bit)| *x += V::from_low_bits(bit.to_bits() << k));
    }
    let of: Vec<&[F]> = macs[..width::<V>() * lanes].chunks_exact(lanes).collect();
    let mut m = vec![F::ZERO; lanes];
    F::combine(&mut m, &places::<V, F>(), &of);
    Auth::new(x, m)
}

/// Step 3.
fn combined<V: Shareable + Field, F: Mac + Embeds<V>>(
    party: &mut Party<F>,
    items: Triples<V, F>,
    buckets: usize,
    size: usize,
) -> Result<Triples<V, F>, Abort> {
    let partition = buckets::partition(party, buckets, size)?;
    let of_firsts = |of: &Auth<V, F>| of.part(0..buckets);
    let [mut a, b, mut c] = [&items.a, &items.b, &items.c].map(of_firsts);
    let pairs: Vec<[usize; 2]> = partition.pairs().map(|pair| pair.map(|t| t as usize)).collect();
    for (pairs, from) in pairs.chunks(LANES).zip((buckets..).step_by(LANES)) {
        // the others stand in order behind the firsts
        let others = from..from + pairs.len();
        let [x, mut d, mut z] = [&items.a, &items.b, &items.c].map(|of| of.part(others.clone()));
        for (lane, [_, first]) in pairs.iter().enumerate() {
            d.x[lane] += b.x[*first];
            d.m[lane] += b.m[*first];
        }
        let d = party.open(DIFFERENCES, &d.x, &d.m)?;
        let mut product = x.clone();
        V::multiply_each(&mut product.x, &d);
        let factors: Vec<F> = d.iter().map(|d| F::embedded_public(*d)).collect();
        F::mul_assign(&mut product.m, &factors);
        sum(&mut z, &product);
        spread(&mut a, &x, pairs);
        spread(&mut c, &z, pairs);
        buckets::relieve(party)?;
    }
    // nothing is made of them before [K17]
    party.check_opened()?;
    Ok(Triples { a, b, c })
}
