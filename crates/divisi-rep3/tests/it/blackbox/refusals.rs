//! What the black box refuses, and what it does after an abort: nothing.

use super::*;

/// An input, and its square, which nobody verified.
pub fn square(b: &mut BlackBox) -> Result<[Shared<Gf8>; 2], Abort> {
    let x = input(b, 1, &sample::<Gf8>(N, 5))?;
    let xx = b.local_mul(&x, &x)?;
    let xx = b.reshare(xx)?;
    Ok([x, xx])
}

type Refused = fn(&mut BlackBox) -> Result<(), Abort>;

const REFUSED: [(&str, Refused); 16] = [
    ("an opening of an unverified product", |b| {
        let [_, xx] = square(b)?;
        b.reconst(&xx).map(drop)
    }),
    ("an opening of the mask of one", |b| {
        let [_, xx] = square(b)?;
        let mask = b.mask(N);
        let (_, r) = b.reconst_masked(&xx, mask)?;
        b.reconst(&r).map(drop)
    }),
    ("an opening of a sum with one", |b| {
        let [x, xx] = square(b)?;
        let sum = b.add(&x, &xx)?;
        b.reconst(&sum).map(drop)
    }),
    ("proofs from before the opening", |b| {
        let x = input(b, 1, &sample::<Gf8>(N, 5))?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let c = b.reconst(&x)?;
        b.opened(c, &recon, &mul).map(drop)
    }),
    ("proofs from before the products", |b| {
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let [_, xx] = square(b)?;
        let mask = b.mask(N);
        let (c, _) = b.reconst_masked(&xx, mask)?;
        let recon = b.verify_recon()?;
        b.opened(c, &recon, &mul).map(drop)
    }),
    ("products verified after an opening that nobody compared", |b| {
        let [x, _] = square(b)?;
        let recon = b.verify_recon()?;
        b.reconst(&x)?;
        b.verify_mul(&recon).map(drop)
    }),
    ("products made after that VerifyRecon", |b| {
        let y = input(b, 2, &sample::<Gf8>(N, 5))?;
        let recon = b.verify_recon()?;
        let x = input(b, 1, &sample::<Gf8>(N, 5))?;
        let xy = b.local_mul(&x, &y)?;
        b.reshare(xy)?;
        b.verify_mul(&recon).map(drop)
    }),
    ("vectors made after that VerifyRecon", |b| {
        let recon = b.verify_recon()?;
        b.rohv_rss(4, N)?;
        b.verify_mul(&recon).map(drop)
    }),
    ("another box's value", |b| {
        let [_, xx] = square(b)?;
        let strand = Trio::new(b.session().strand()?)?;
        BlackBox::new(strand).output(&xx).map(drop)
    }),
    ("an input of two owners", |b| {
        let x = b.input(party(1), Some(&sample::<Gf8>(N, 5)), N)?;
        b.output(&x).map(drop)
    }),
    ("an input of a fourth party", |b| b.input::<Gf8>(party(4), None, N).map(drop)),
    ("an input that is 256 elements longer", |b| {
        let x = sample::<Gf8>(N + 256, 5);
        let mine = b.me() == party(1);
        let x = b.input(party(1), mine.then_some(&x[..]), N)?;
        b.output(&x).map(drop)
    }),
    ("a sum of more products than are kept", |b| {
        let x = b.random::<Gf64>(N);
        let turn = Linear::<Gf64, Gf64>::new(1, |_, i| Gf64(3 << (63 - i)));
        let mut xx = b.local_mul(&x, &x)?;
        for _ in 0..3 {
            xx = b.linop_additive(&turn, xx)?;
        }
        b.reshare(xx).map(drop)
    }),
    ("a sum of two values of more products than are kept", |b| {
        for (lanes, fits) in [(1, true), ((PIECE / 2) as usize + 1, false)] {
            let x = b.random::<Gf8>(lanes);
            let [xx, also] = [b.local_mul(&x, &x)?, b.local_mul(&x, &x)?];
            let sum = b.add_additive(xx, also);
            assert!(sum.is_ok() || !fits);
            b.reshare(sum?)?;
        }
        Ok(())
    }),
    ("a function of two inputs of one", |b| {
        let x = b.random::<Gf64>(N);
        let xx = b.local_mul(&x, &x)?;
        let turned = b.linop_additive(&Linear::<Gf64, Gf64>::new(2, |_, i| Gf64(1 << i)), xx)?;
        b.reshare(turned).map(drop)
    }),
    ("vectors of different lengths", |b| {
        let x = sample::<Gf8>(N, 5);
        let [x, y] = [input(b, 1, &x)?, input(b, 1, &x[1..])?];
        b.local_mul(&x, &y).map(drop)
    }),
];

#[test]
fn what_is_not_verified_is_not_opened() {
    for (what, refused) in REFUSED {
        is_misuse(what, refused);
    }
    let coin = TrioHarness::default().patient().act(|mut trio| {
        let mut other = Trio::new(trio.session().strand()?)?;
        let fixed = other.barrier()?;
        trio.barrier()?;
        trio.coin(&fixed).map(drop)
    });
    crate::common::is_misuse("a coin by another strand's barrier", &coin);
    let left = TrioHarness::default().patient().act(|trio| {
        let mut b = BlackBox::new(trio);
        square(&mut b)?;
        let mut trio = b.into_trio();
        trio.session().cause().map_or(Ok(()), Err)
    });
    crate::common::is_misuse("products that nobody verified, left behind", &left);
}

/// A value that was proved before the session ended does not come out after it.
#[test]
fn nothing_is_opened_after_an_abort() {
    is_misuse("a value of a session that has ended", |b| {
        let x = input(b, 1, &sample::<Gf8>(N, 5))?;
        let c = b.reconst(&x)?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let end = b.add_public(&x, &[]).map(drop);
        assert!(end.is_err() && b.opened(c, &recon, &mul).is_err());
        end
    });
}
