//! What the black box refuses, and what it does after an abort: nothing.

use super::*;

/// Asserts that all three abort when they do this, and that at least one reports misuse.
fn is_misuse(what: &str, f: impl Fn(Trio) -> Result<(), Abort> + Sync) {
    let results = TrioHarness::default().patient().act(f);
    assert!(results.iter().all(Result::is_err), "{what}");
    assert!(results.iter().any(|r| matches!(r, Err(Abort::Misuse { .. }))), "{what}: {results:?}");
}

#[test]
fn what_is_not_verified_is_not_opened() {
    let x = sample::<Gf8>(N, 5);
    is_misuse("an opening of an unverified product", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &x)?;
        let xx = b.local_mul(&x, &x)?;
        let xx = b.reshare(xx)?;
        b.reconst(&xx).map(drop)
    });
    is_misuse("an opening of the mask of one", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &x)?;
        let xx = b.local_mul(&x, &x)?;
        let xx = b.reshare(xx)?;
        let mask = b.mask(N);
        let (_, r) = b.reconst_masked(&xx, mask)?;
        b.reconst(&r).map(drop)
    });
    is_misuse("an opening of a sum with one", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &x)?;
        let xx = b.local_mul(&x, &x)?;
        let xx = b.reshare(xx)?;
        let sum = b.add(&x, &xx)?;
        b.reconst(&sum).map(drop)
    });
    is_misuse("proofs from before the opening", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &x)?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let c = b.reconst(&x)?;
        b.opened(c, &recon, &mul).map(drop)
    });
    is_misuse("proofs from before the products", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &x)?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let xx = b.local_mul(&x, &x)?;
        let xx = b.reshare(xx)?;
        let mask = b.mask(N);
        let (c, _) = b.reconst_masked(&xx, mask)?;
        let recon = b.verify_recon()?;
        b.opened(c, &recon, &mul).map(drop)
    });
    is_misuse("products verified after an opening that nobody compared", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &x)?;
        let xx = b.local_mul(&x, &x)?;
        b.reshare(xx)?;
        let recon = b.verify_recon()?;
        b.reconst(&x)?;
        b.verify_mul(&recon).map(drop)
    });
    is_misuse("products made after that VerifyRecon", |trio| {
        let b = &mut BlackBox::new(trio);
        let y = input(b, 2, &x)?;
        let recon = b.verify_recon()?;
        let x = input(b, 1, &x)?;
        let xy = b.local_mul(&x, &y)?;
        b.reshare(xy)?;
        b.verify_mul(&recon).map(drop)
    });
    is_misuse("vectors made after that VerifyRecon", |trio| {
        let b = &mut BlackBox::new(trio);
        let recon = b.verify_recon()?;
        b.rohv_rss(4, N)?;
        b.verify_mul(&recon).map(drop)
    });
    is_misuse("a coin by another strand's barrier", |mut trio| {
        let mut other = Trio::new(trio.session().strand()?)?;
        let fixed = other.barrier()?;
        trio.barrier()?;
        trio.coin(&fixed).map(drop)
    });
    is_misuse("another box's value", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &x)?;
        let xx = b.local_mul(&x, &x)?;
        let xx = b.reshare(xx)?;
        let strand = Trio::new(b.session().strand()?)?;
        BlackBox::new(strand).output(&xx).map(drop)
    });
    is_misuse("products that nobody verified, left behind", |trio| {
        let mut b = BlackBox::new(trio);
        let x = input(&mut b, 1, &x)?;
        let xx = b.local_mul(&x, &x)?;
        b.reshare(xx)?;
        let mut trio = b.into_trio();
        trio.session().cause().map_or(Ok(()), Err)
    });
    is_misuse("an input of two owners", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = b.input(party(1), Some(&x), N)?;
        b.output(&x).map(drop)
    });
    is_misuse("a sum of more products than are kept", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = b.random::<Gf64>(N);
        let turn = Linear::<Gf64, Gf64>::new(1, |_, i| Gf64(3 << (63 - i)));
        let mut xx = b.local_mul(&x, &x)?;
        for _ in 0..3 {
            xx = b.linop_additive(&turn, xx)?;
        }
        b.reshare(xx).map(drop)
    });
    is_misuse("vectors of different lengths", |trio| {
        let b = &mut BlackBox::new(trio);
        let [x, y] = [input(b, 1, &x)?, input(b, 1, &x[1..])?];
        b.local_mul(&x, &y).map(drop)
    });
}

/// A value that was proved before the session ended does not come out after it.
#[test]
fn nothing_is_opened_after_an_abort() {
    is_misuse("a value of a session that has ended", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &sample::<Gf8>(N, 5))?;
        let c = b.reconst(&x)?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let end = b.add_public(&x, &[]).map(drop);
        assert!(end.is_err() && b.opened(c, &recon, &mul).is_err());
        end
    });
}
