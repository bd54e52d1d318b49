//! What depends on a product that nobody verified is not opened, whatever was made of it.

use super::*;
use divisi_rep3::blackbox::{Unverified, VerifiedMul, VerifiedRecon};
use divisi_rep3::ohverture::{Dimensions, HeldTable, LookupTable};

type Value = Shared<Gf8>;
/// A value that depends on a verified one and on one that is not.
type Made = fn(&mut BlackBox, &Value, &Value) -> Result<Value, Abort>;

fn sum_of_two() -> Linear<Gf8, Gf8> {
    Linear::new(2, |_, i| Gf8(1 << i))
}

fn settle(b: &mut BlackBox) -> Result<(VerifiedRecon, VerifiedMul), Abort> {
    let recon = b.verify_recon()?;
    let mul = b.verify_mul(&recon)?;
    Ok((recon, mul))
}

/// An opening, under a mask, of a value.
fn masked(b: &mut BlackBox, x: &Value) -> Result<Unverified<Gf8>, Abort> {
    let mask = b.mask(N);
    Ok(b.reconst_masked(x, mask)?.0)
}

fn table() -> [Gf8; 16] {
    std::array::from_fn(|i| Gf8(i as u8 * 7))
}

const MADE: [(&str, Made); 18] = [
    ("itself", |_, _, xx| Ok(xx.clone())),
    ("a sum", |b, x, xx| b.add(x, xx)),
    ("a sum the other way", |b, x, xx| b.add(xx, x)),
    ("a linear function", |b, x, xx| b.linop(&sum_of_two(), &[x, xx])),
    ("a linear function the other way", |b, x, xx| b.linop(&sum_of_two(), &[xx, x])),
    ("lanes of both", |b, x, xx| b.join(&[x, xx])),
    ("lanes of both the other way", |b, x, xx| b.join(&[xx, x])),
    ("lanes", |_, _, xx| Ok(xx.gather(&[1, 0]).unwrap())),
    ("a sum with a constant", |b, _, xx| b.add_public(xx, &[Gf8(3); N])),
    ("a multiple", |b, _, xx| b.mul_public(xx, &[Gf8(3); N])),
    ("a mask", |b, _, xx| {
        let mask = b.mask(N);
        Ok(b.reconst_masked(xx, mask)?.1)
    }),
    ("a sum with an opening", |b, x, xx| {
        let c = b.reconst(x)?;
        b.add_opened(xx, &c)
    }),
    ("a sum with an opening of it", |b, x, xx| {
        let c = masked(b, xx)?;
        b.add_opened(x, &c)
    }),
    ("a multiple by an opening", |b, x, xx| {
        let c = b.reconst(x)?;
        b.mul_opened(xx, &c)
    }),
    ("a multiple by an opening of it", |b, x, xx| {
        let c = masked(b, xx)?;
        b.mul_opened(x, &c)
    }),
    ("a sample of vectors", |b, _, _| {
        let vectors = b.rohv_rss(4, N)?;
        b.sample(&LookupTable::new(&table()).unwrap(), vectors)
    }),
    ("a lookup by vectors", |b, x, _| {
        let vectors = b.rohv_rss(4, N)?;
        b.lookup(&LookupTable::new(&table()).unwrap(), x, vectors)
    }),
    ("an entry of a vector", |b, _, _| {
        let vectors = b.rohv_rss(4, N)?;
        let entry = b.entries(vectors)?.1.remove(0);
        let lanes = entry.gather(&[0; N]).unwrap();
        b.linop(&Linear::new(1, |_, _| Gf8(1)), &[&lanes])
    }),
];

/// Lookups at an index that depends on an unverified product, by verified vectors.
const LOOKED_UP: [(&str, Made); 2] = [
    ("a lookup", |b, _, _| {
        let vectors = b.rohv_rss(4, N)?;
        settle(b)?;
        let [_, xx] = refusals::square(b)?;
        b.lookup(&LookupTable::new(&table()).unwrap(), &xx, vectors)
    }),
    ("a lookup at a joined index", |b, _, _| {
        let held = HeldTable::by(Dimensions::One, &table()).unwrap();
        let vectors = b.one_hots(&held, N)?;
        settle(b)?;
        let [x, xx] = refusals::square(b)?;
        b.look_up(&held, &[(&x, 2), (&xx, 2)], vectors)
    }),
];

#[test]
fn what_rests_on_an_unverified_product_is_opened_after_its_verification_alone() {
    for (what, made) in MADE.into_iter().chain(LOOKED_UP) {
        is_misuse(what, |b| {
            let [x, xx] = refusals::square(b)?;
            let y = made(b, &x, &xx)?;
            b.reconst(&y).map(drop)
        });
        let (opened, _) = run(|b| {
            let [x, xx] = refusals::square(b)?;
            let y = made(b, &x, &xx)?;
            settle(b)?;
            let c = b.reconst(&y)?;
            let (recon, mul) = settle(b)?;
            b.opened(c, &recon, &mul)
        });
        assert!(!opened.is_empty(), "{what}");
    }
}

/// A function of two openings needs what each of them needs.
#[test]
fn what_rests_on_two_openings_needs_the_proofs_of_both() {
    type Both = fn(&Unverified<Gf8>, &Unverified<Gf8>) -> Option<Unverified<Gf8>>;
    let both: [(&str, Both); 4] = [
        ("a sum", |x, y| x.sum(y)),
        ("a sum the other way", |x, y| y.sum(x)),
        ("a product", |x, y| x.product(y)),
        ("a product the other way", |x, y| y.product(x)),
    ];
    for (what, both) in both {
        is_misuse(&format!("{what} of openings, one of which nobody compared"), |b| {
            let x = input(b, 1, &sample::<Gf8>(N, 5))?;
            let early = b.reconst(&x)?;
            let (recon, mul) = settle(b)?;
            let late = b.reconst(&x)?;
            b.opened(both(&early, &late).unwrap(), &recon, &mul).map(drop)
        });
        is_misuse(&format!("{what} of openings, one of which rests on a product"), |b| {
            let (_, mul) = settle(b)?;
            let [x, xx] = refusals::square(b)?;
            let (plain, of_product) = (b.reconst(&x)?, masked(b, &xx)?);
            let recon = b.verify_recon()?;
            b.opened(both(&plain, &of_product).unwrap(), &recon, &mul).map(drop)
        });
    }
}
