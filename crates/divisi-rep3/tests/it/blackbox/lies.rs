//! How every lie ends: in the right output, or an abort.

use super::*;

/// A run with everything in it: its outputs.
fn play<F: Element>(trio: Trio) -> Result<Vec<F>, Abort> {
    let b = &mut BlackBox::new(trio);
    let [x, y] = [sample::<F>(N, 5), sample::<F>(N, 6)];
    let (sx, sy, sb) = (input(b, 1, &x)?, input(b, 2, &y)?, input(b, 3, &sample::<Gf2>(N, 7))?);
    let xy = b.local_mul(&sx, &sy)?;
    let xy = b.reshare(xy)?;
    let by = b.bit_mul(&sb, &xy)?;
    let mask = b.mask(N);
    let (c, r) = b.reconst_masked(&by, mask)?;
    let by = b.add_opened(&r, &c)?;
    let mut out = b.output(&by)?;
    let recon = b.verify_recon()?;
    let mul = b.verify_mul(&recon)?;
    let c2 = b.reconst(&sx)?;
    let recon = b.verify_recon()?;
    out.extend(b.opened(c2, &recon, &mul)?);
    Ok(out)
}

fn right<F: Element>() -> Vec<F> {
    let ([x, y], bits) = ([sample::<F>(N, 5), sample::<F>(N, 6)], sample::<Gf2>(N, 7));
    let products = (0..N).map(|l| x[l] * y[l] * F::from_low_bits(bits[l].to_bits()));
    products.chain(x.clone()).collect()
}

/// Asserts that no honest party accepts a wrong output; returns the checks that found the lie.
fn no_honest_party_is_deceived<F: Element>(
    corrupt: PartyId,
    results: &[Result<Vec<F>, Abort>],
) -> Vec<Check> {
    for (p, result) in others(corrupt, results) {
        assert!(result.as_ref().map_or(true, |out| *out == right::<F>()), "{p} was deceived");
    }
    results.iter().filter_map(failed_check).collect()
}

fn lies<F: Element>() {
    assert!(lab::run(play::<F>).unwrap().iter().all(|out| *out == right::<F>()));
    for corrupt in PartyId::all(3) {
        // another component in an opening, before and after anything is verified, and in an output; another
        // share in the message of a reshare
        for (step, nth, to, checks) in [
            (RECONST, 0, corrupt.next(3), &[checks::A2][..]),
            (RECONST, 1, corrupt.next(3), &[checks::A2]),
            (OUTPUT, 0, corrupt.next(3), &[checks::A1]),
            (RESHARE, 0, corrupt.prev(3), &[checks::A1, checks::A2, checks::A7]),
            (RESHARE, 1, corrupt.prev(3), &[checks::A1, checks::A2, checks::A7]),
        ] {
            let harness = TrioHarness::default().patient();
            harness.change(corrupt, to, step, nth, |body| body[0] ^= 1);
            let results = harness.act(play::<F>);
            let found = no_honest_party_is_deceived(corrupt, &results);
            assert!(found.iter().any(|check| checks.contains(check)), "{step} {nth} {results:?}");
            assert!(results.iter().all(Result::is_err));
        }
        // an input that is too long
        let harness = TrioHarness::default();
        harness.change(corrupt, corrupt.next(3), INPUT, 0, |body| body.push(0));
        assert!(harness.act(play::<F>).iter().any(Result::is_err));
    }
}

#[test]
fn every_lie_is_an_abort_over_bits() {
    lies::<Gf2>();
}

#[test]
fn every_lie_is_an_abort_over_small_fields() {
    lies::<Gf4>();
    lies::<Gf8>();
}

#[test]
fn every_lie_is_an_abort_over_large_fields() {
    lies::<Gf64>();
    lies::<Gf128>();
}

/// Whatever a corrupt owner sends as an input is a sharing of something: a computation on it ends well.
#[test]
fn every_input_is_a_sharing() {
    let harness = TrioHarness::default();
    harness.change(party(1), party(2), INPUT, 0, |body| body[0] ^= 0x55);
    let results = act(harness, |b| {
        let x = input(b, 1, &sample::<Gf8>(N, 5))?;
        let xx = b.local_mul(&x, &x)?;
        let xx = b.reshare(xx)?;
        let both = b.join(&[&x, &xx])?;
        b.output(&both)
    });
    let [_, second, third] = results.try_into().ok().unwrap();
    // party 1 keeps its own component and sends another: that is found when it is opened, or never matters
    for out in [second, third].into_iter().flatten() {
        assert!((0..N).all(|l| out[N + l] == out[l] * out[l]));
    }
}
