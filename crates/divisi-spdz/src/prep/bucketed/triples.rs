//! Products of elements of small fields (bytes, GF(2^6), bits): the products of all bits of x with y are one
//! item of a bucket.

use super::super::rows::{self, Batches, Rows};
use super::buckets;
use super::proof::Products;
use super::short;
use super::tables::{spread, sum};
use crate::part::{Embeds, Mac, Shareable, places};
use crate::party::Party;
use crate::share::Auth;
use crate::source::Triples;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Step, step};
use divisi_field::{BigField, Field};
use divisi_ot::correlate::{BitVectors, PreprocessedProducts};
use divisi_ot::{Checked, MacShares, WideShares};
use zeroize::Zeroizing;

const DIFFERENCES: Step = step!("triples.d");

/// How many lanes are made at once.
const LANES: usize = 1 << 14;

/// x y for random x and y of a small field, of w bits: steps 1 to 3 of [`super`], x = sum g^m x_m, each x_m a
/// wide row, and x y = sum g^m (x_m y).
///
/// A party that sends wrong payloads passes with probability at most 1/2, because the combination is then
/// right only if a condition holds on the honest x_m that is linear over GF(2). A lie about any of the x_m
/// spoils the item. D = y_1 + y_k has w bits.
///
/// Cost: B (w (f' + p') + w f' + w (w + f)) + w (B - 1) bits each to each peer.
pub(super) fn triples<V: Shareable + Field, F: Mac + Embeds<V>>(
    rows: &mut Rows,
    party: &mut Party<F>,
    count: usize,
) -> Result<Triples<V, F>, Abort> {
    let mut all = empty(count);
    for [buckets, size] in buckets::lots(count, rows.config().rho) {
        let items = buckets * size;
        let batches = (0..items).step_by(LANES).map(|from| LANES.min(items - from));
        let (f, w) = (width::<F>(), width::<V>());
        let mut leaky = Leaky { made: empty(items) };
        rows.batches(party, batches.map(|lanes| [w * lanes, w * lanes + f]), &mut leaky)?;
        let Leaky { made } = leaky;
        let Triples { a, b, c } = combined(party, made, buckets, size)?;
        all.a.append(&a);
        all.b.append(&b);
        all.c.append(&c);
    }
    Ok(all)
}

/// How many bits an element of V has.
fn width<V: Field>() -> usize {
    <V as Field>::BITS
}

/// A word whose lowest `bits` bits are one.
fn low(bits: usize) -> u128 {
    u128::MAX >> (128 - bits)
}

/// g^m: the element of which only that bit is one.
fn power<V: Field>(m: usize) -> V {
    V::from_low_bits(1 << m)
}

fn empty<V: Shareable, F: Mac>(capacity: usize) -> Triples<V, F> {
    Triples {
        a: Auth::with_capacity(capacity),
        b: Auth::with_capacity(capacity),
        c: Auth::with_capacity(capacity),
    }
}

/// Steps 1 and 2 of [`super`], batch by batch.
struct Leaky<V: Shareable, F: Mac> {
    made: Triples<V, F>,
}

/// Products of a batch whose payloads we have sent.
struct Sent<V: Shareable, F: Mac> {
    x: Auth<V, F>,
    y: Auth<V, F>,
    /// The mask of the proof.
    mask: Auth<F, F>,
    products: PreprocessedProducts<Checked, BitVectors>,
}

/// Products of a batch that are not proven yet.
struct Received<V: Shareable, F: Mac> {
    triples: Triples<V, F>,
    mask: Auth<F, F>,
}

impl<V: Shareable + Field, F: Mac + Embeds<V>> Batches<F> for Leaky<V, F> {
    type Sent = Sent<V, F>;
    type Received = Received<V, F>;

    /// Step 1 up to sending our payloads. All bits of a lane have the same payload: y and our share of its
    /// MAC.
    fn send(
        &mut self,
        rows: &mut Rows,
        party: &mut Party<F>,
        mut x_rows: WideShares,
        y_rows: MacShares,
    ) -> Result<Sent<V, F>, Abort> {
        let (f, w) = (width::<F>(), width::<V>());
        let lanes = x_rows.macs.len() / w;
        let (x, y) = (elements(&x_rows.macs, lanes), elements::<V, F>(&y_rows, lanes));
        let payload = BitVectors { width: w + f };
        let lanes_of = y.x.iter().zip(&y.m);
        let one: Zeroizing<Vec<u128>> =
            Zeroizing::new(lanes_of.map(|(x, m)| x.to_bits() | m.to_bits() << w).collect());
        let values = Zeroizing::new(one.repeat(w));
        let mut pads = x_rows.pads.take(w * lanes).ok_or_else(|| short(party))?;
        let products = rows.with(party, |session, setup| {
            setup.begin_correlate(session, &mut pads, None, payload, &values)
        })?;
        Ok(Sent { x, y, mask: rows::elements_of(&y_rows, w * lanes), products })
    }

    /// The rest of step 1.
    fn receive(
        &mut self,
        rows: &mut Rows,
        party: &mut Party<F>,
        sent: Sent<V, F>,
    ) -> Result<Received<V, F>, Abort> {
        let Sent { x: a, y: b, mask, products } = sent;
        let (f, w, lanes) = (width::<F>(), width::<V>(), a.len());
        let shares = rows.with(party, |session, setup| setup.finish_correlate(session, products))?;
        let mut c = Auth::<V, F>::zeros(lanes);
        let mut part = Auth::<V, F>::zeros(lanes);
        let mut powers = vec![V::default(); lanes];
        for (m, (mac, shares)) in places::<V, F>().into_iter().zip(shares.chunks_exact(lanes)).enumerate() {
            for ((x, m), share) in part.x.iter_mut().zip(&mut part.m).zip(shares) {
                *x = V::from_low_bits(*share & low(w));
                *m = F::from_low_bits(*share >> w & low(f));
            }
            powers.fill(power(m));
            V::multiply_each(&mut part.x, &powers);
            <F as BigField>::scale(&mut part.m, mac);
            sum(&mut c, &part);
        }
        Ok(Received { triples: Triples { a, b, c }, mask })
    }

    /// Step 2.
    fn prove(&mut self, party: &mut Party<F>, received: Received<V, F>) -> Result<(), Abort> {
        let Received { triples: Triples { a, b, c }, mask } = received;
        let mut all = Products::with_capacity(c.len());
        all.extend(c.x.iter().map(|c| F::embedded(*c)), &c.m);
        all.prove(party, &mask)?;
        self.made.a.append(&a);
        self.made.b.append(&b);
        self.made.c.append(&c);
        buckets::relieve(party)
    }
}

/// The elements whose bits are w rows each; the k-th bits of all elements lie side by side.
fn elements<V: Shareable + Field, F: Mac + Embeds<V>>(rows: &MacShares, lanes: usize) -> Auth<V, F> {
    let mut x = WipedVec::<V>::zeros(lanes);
    for k in 0..width::<V>() {
        let bits = rows::shares(rows.bits(), k * lanes..(k + 1) * lanes);
        x.iter_mut().zip(bits.iter()).for_each(|(x, bit)| *x += V::from_low_bits(bit.to_bits() << k));
    }
    let macs = rows::macs::<F>(rows, 0..width::<V>() * lanes);
    let of: Vec<&[F]> = macs.chunks_exact(lanes).collect();
    let mut m = WipedVec::zeros(lanes);
    F::combine(&mut m, &places::<V, F>(), &of);
    Auth::new(x, m)
}

/// Step 3 of [`super`]: puts the items into buckets and combines those of each bucket.
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
    // the products are not used before this [K17]
    party.check_opened()?;
    Ok(Triples { a, b, c })
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::checks;
    use crate::dealer::Dealer;
    use crate::source::{Products as _, Source};
    use divisi_core::PublicParameters;
    use divisi_core::testing::{Harness, failed_check, run};
    use divisi_field::{Gf8, Gf48};

    /// Every item is in one bucket, also in those behind the first piece: a bucket of items that stand in
    /// others, too, hides less than it must.
    #[test]
    fn each_item_is_used_once() {
        let (buckets, size) = (LANES / 2, 4);
        let ends = run(2, &PublicParameters::new("buckets"), |session| {
            let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
            let items = dealer.byte_triples(&mut party, buckets * size)?;
            let sum = |of: &Auth<Gf8, Gf48>| of.m.iter().fold(Gf48::ZERO, |sum, m| sum + *m);
            let all = sum(&items.a);
            let made = combined(&mut party, items, buckets, size)?;
            Ok((made.a.len(), all == sum(&made.a)))
        });
        assert!(ends.iter().all(|end| *end == Ok((buckets, true))), "{ends:?}");
    }

    /// The last product of a full batch is proven, too.
    #[test]
    fn all_products_of_a_full_batch_are_proven() {
        let ends = |lie: bool| {
            run(2, &PublicParameters::new("full batches"), |session| {
                let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
                let mut triples = dealer.byte_triples(&mut party, LANES)?;
                if lie && party.me().index() == 1 {
                    triples.c.x[LANES - 1] += Gf8(1);
                }
                let mask = dealer.element_triples(&mut party, 1)?.b.clone();
                let mut leaky = Leaky::<Gf8, Gf48> { made: empty(0) };
                leaky.prove(&mut party, Received { triples, mask })?;
                party.check()
            })
        };
        assert!(ends(false).iter().all(Result::is_ok));
        assert!(ends(true).iter().any(|end| failed_check(end) == Some(checks::K4)));
    }

    /// What masks the proof of one batch masks that of no other one.
    #[test]
    fn each_batch_is_proven_under_a_mask_of_its_own() {
        let harness = Harness::new(2, &PublicParameters::new("masks of proofs"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (mut party, mut rows) = rows::tests::dealt(session)?;
            let mut leaky = Leaky::<Gf8, Gf48> { made: empty(0) };
            let counts = [70, 70, 9].map(|lanes| [8 * lanes, 8 * lanes + 48]);
            rows.batches(&mut party, counts.into_iter(), &mut leaky)?;
            party.check()?;
            let all: Vec<Gf48> = leaky.made.c.x.iter().map(|c| Gf48::embedded(*c)).collect();
            Ok([&all[..70], &all[70..140], &all[140..]].map(<[Gf48]>::to_vec))
        });
        let ends: Vec<[Vec<Gf48>; 3]> = ends.into_iter().map(Result::unwrap).collect();
        let mut masks = super::super::proof::tests::masks(&recordings, [&ends[0], &ends[1]]);
        masks.sort_unstable();
        masks.dedup();
        assert_eq!(masks.len(), 3);
    }

    /// What masks a proof comes from rows of its own, whatever the size of the batch.
    #[test]
    fn masks_are_no_factors() {
        for lanes in [6, 70, 1025, LANES] {
            rows::tests::own_masks([8 * lanes, 8 * lanes + 48], |rows, party, wide, narrow| {
                let mut leaky = Leaky::<Gf8, Gf48> { made: empty(0) };
                let sent = leaky.send(rows, party, wide, narrow)?;
                let plane = |k: usize| sent.y.x.iter().map(move |y| y.0 >> k & 1 == 1);
                let bits = (0..8).flat_map(plane).collect();
                Ok((leaky.receive(rows, party, sent)?.mask, bits))
            });
        }
    }
}
