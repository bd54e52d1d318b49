//! Values that may not be opened yet, or not used here.

use super::*;
use divisi_core::Lanes;
use divisi_rep3::Trio;
use divisi_rep3::blackbox::Linear;

/// All three parties do this, and all end with an abort, at least one of them because of misuse.
fn is_misuse(what: &str, f: impl Fn(Trio) -> Result<(), Abort> + Sync) {
    common::is_misuse(what, &TrioHarness::default().patient().act(f));
}

type Use = fn(&mut BlackBox, &Shared<Gf8>, &Shared<Gf8>) -> Result<Shared<Gf8>, Abort>;

/// Values that are made from a verified x and an unverified product xx.
const USES: [(&str, Use); 13] = [
    ("the product", |_, _, xx| Ok(xx.clone())),
    ("a sum", |b, x, xx| b.add(x, xx)),
    ("the same sum", |b, x, xx| b.add(xx, x)),
    ("a linear function", |b, x, xx| b.linop(&Linear::<Gf8, Gf8>::new(2, |_, i| Gf8(1 << i)), &[x, xx])),
    ("joined values", |b, x, xx| b.join(&[x, xx])),
    ("a multiple", |b, _, xx| b.mul_public(xx, &[Gf8(3); LANES])),
    ("a sum with a constant", |b, _, xx| b.add_public(xx, &[Gf8(3); LANES])),
    ("lanes of it", |_, _, xx| Ok(xx.gather(&[1, 0]).unwrap())),
    ("its mask", |b, _, xx| {
        let mask = b.mask(LANES);
        b.reconst_masked(xx, mask).map(|(_, r)| r)
    }),
    ("a sum with its opening", |b, x, xx| {
        let mask = b.mask(LANES);
        let (c, _) = b.reconst_masked(xx, mask)?;
        b.add_opened(x, &c)
    }),
    ("a multiple by its opening", |b, x, xx| {
        let mask = b.mask(LANES);
        let (c, _) = b.reconst_masked(xx, mask)?;
        b.mul_opened(x, &c)
    }),
    ("a lookup of it", |b, _, xx| {
        // by vectors that are not verified yet, either
        let vectors = b.rohv_rss(8, LANES)?;
        b.lookup(&table(), xx, vectors)
    }),
    ("a product with it", |b, x, xx| {
        let product = b.local_mul(x, xx)?;
        b.reshare(product)
    }),
];

#[test]
fn nothing_that_rests_on_an_unverified_product_is_opened() {
    for (what, used) in USES {
        is_misuse(what, |trio| {
            let b = &mut BlackBox::new(trio);
            let x = input(b)?;
            let xx = square(b, &x)?;
            let made = used(b, &x, &xx)?;
            b.reconst(&made).map(drop)
        });
        // the same is opened when all of it is verified
        let results = TrioHarness::default().patient().act(|trio| {
            let b = &mut BlackBox::new(trio);
            let x = input(b)?;
            let xx = square(b, &x)?;
            let made = used(b, &x, &xx)?;
            let recon = b.verify_recon()?;
            let mul = b.verify_mul(&recon)?;
            let opened = b.reconst(&made)?;
            let recon = b.verify_recon()?;
            b.opened(opened, &recon, &mul).map(drop)
        });
        assert!(results.iter().all(Result::is_ok), "{what}: {results:?}");
    }
    let verified = |b: &mut BlackBox| {
        let recon = b.verify_recon()?;
        b.verify_mul(&recon)
    };
    is_misuse("a lookup by vectors that nobody verified", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b)?;
        let vectors = b.rohv_rss(8, LANES)?;
        let y = b.lookup(&table(), &x, vectors)?;
        b.reconst(&y).map(drop)
    });
    is_misuse("a lookup of what nobody verified, by vectors that are", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b)?;
        let vectors = b.rohv_rss(8, LANES)?;
        verified(b)?;
        let xx = square(b, &x)?;
        let y = b.lookup(&table(), &xx, vectors)?;
        b.reconst(&y).map(drop)
    });
    is_misuse("a sample by vectors that nobody verified", |trio| {
        let b = &mut BlackBox::new(trio);
        let vectors = b.rohv_rss(8, LANES)?;
        let y = b.sample(&table(), vectors)?;
        b.reconst(&y).map(drop)
    });
    is_misuse("the entries of a vector that nobody verified", |trio| {
        let b = &mut BlackBox::new(trio);
        let vectors = b.rohv_rss(4, 1)?;
        let (_, entries) = b.entries(vectors)?;
        b.reconst(&entries[0]).map(drop)
    });
    is_misuse("the sum of an opening that was compared with one that was not", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b)?;
        let first = b.reconst(&x)?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let second = b.reconst(&x)?;
        let both = first.sum(&second).unwrap();
        b.opened(both, &recon, &mul).map(drop)
    });
    is_misuse("the product of an opening with one of an unverified product", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b)?;
        let first = b.reconst(&x)?;
        let mul = verified(b)?;
        let xx = square(b, &x)?;
        let mask = b.mask(LANES);
        let (second, _) = b.reconst_masked(&xx, mask)?;
        let both = first.product(&second).unwrap();
        let recon = b.verify_recon()?;
        b.opened(both, &recon, &mul).map(drop)
    });
}

#[test]
fn a_value_of_another_box_is_refused_by_every_call() {
    type Call = fn(&mut BlackBox, &mut BlackBox) -> Result<(), Abort>;
    let calls: [(&str, Call); 11] = [
        ("local_mul", |a, b| {
            let (x, y) = (b.random::<Gf8>(LANES), a.random(LANES));
            b.local_mul(&x, &y).map(drop)
        }),
        ("local_mul, the other way", |a, b| {
            let (x, y) = (a.random::<Gf8>(LANES), b.random(LANES));
            b.local_mul(&x, &y).map(drop)
        }),
        ("reshare", |a, b| {
            let x = a.random::<Gf8>(LANES);
            let xx = a.local_mul(&x, &x)?;
            b.reshare(xx).map(drop)
        }),
        ("reconst", |a, b| {
            let x = a.random::<Gf8>(LANES);
            b.reconst(&x).map(drop)
        }),
        ("output", |a, b| {
            let x = a.random::<Gf8>(LANES);
            b.output(&x).map(drop)
        }),
        ("a mask", |a, b| {
            let x = b.random::<Gf8>(LANES);
            let mask = a.mask(LANES);
            b.reconst_masked(&x, mask).map(drop)
        }),
        ("lookup", |a, b| {
            let x = a.random::<Gf8>(LANES);
            let vectors = b.rohv_rss(8, LANES)?;
            b.lookup(&table(), &x, vectors).map(drop)
        }),
        ("vectors", |a, b| {
            let x = b.random::<Gf8>(LANES);
            let vectors = a.rohv_rss(8, LANES)?;
            b.lookup(&table(), &x, vectors).map(drop)
        }),
        ("a comparison", |a, b| {
            let (x, y) = (a.random::<Gf8>(LANES), b.random(LANES));
            a.reconst::<Gf8>(&x)?;
            let other = a.verify_recon()?;
            let recon = b.verify_recon()?;
            let mul = b.verify_mul(&recon)?;
            let y = b.reconst::<Gf8>(&y)?;
            b.opened(y, &other, &mul).map(drop)
        }),
        ("a verification", |a, b| {
            let y = b.random::<Gf8>(LANES);
            let other = a.verify_recon()?;
            let other = a.verify_mul(&other)?;
            let y = b.reconst(&y)?;
            let recon = b.verify_recon()?;
            b.opened(y, &recon, &other).map(drop)
        }),
        ("a comparison for a verification", |a, b| {
            let other = a.verify_recon()?;
            b.verify_mul(&other).map(drop)
        }),
    ];
    for (what, call) in calls {
        is_misuse(what, |mut trio| {
            let a = &mut BlackBox::new(Trio::new(trio.session().strand()?)?);
            call(a, &mut BlackBox::new(trio))
        });
    }
}
