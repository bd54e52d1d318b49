//! The black box: what it computes, what it costs to the bit, what it refuses, and how every lie ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::{Abort, Check, Counts, Lanes, PartyId, Step};
use divisi_field::{Field, Gf2, Gf4, Gf8, Gf64, Gf128};
use divisi_rep3::adversary::stage::{Stage, failed_check, party};
use divisi_rep3::blackbox::{BlackBox, Element, Linear, PIECE, Shared};
use divisi_rep3::lab;
use divisi_rep3::{Passes, Trio};

const RESHARE: &str = "divisi_rep3::blackbox::products/reshare";
const RECONST: &str = "divisi_rep3::blackbox/reconst";
const OUTPUT: &str = "divisi_rep3::blackbox/output";
const INPUT: &str = "divisi_rep3::blackbox/input";

/// Elements that look random.
fn sample<F: Field>(n: usize, seed: u64) -> Vec<F> {
    let mut x = seed;
    let mut word = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u128::from(x >> 13 ^ x << 40)
    };
    (0..n).map(|_| F::from_low_bits(word() | word() << 64)).collect()
}

/// An input of the party with this number.
fn input<F: Element>(b: &mut BlackBox, owner: u8, x: &[F]) -> Result<Shared<F>, Abort> {
    let mine = b.me() == party(owner);
    b.input(party(owner), mine.then_some(x), x.len())
}

/// Run at three honest parties, who must agree; what the first ended with.
fn run<R: Send + PartialEq>(f: impl Fn(&mut BlackBox) -> Result<R, Abort> + Sync) -> R {
    let mut all = lab::run(|trio| f(&mut BlackBox::new(trio))).unwrap();
    assert!(all[0] == all[1] && all[1] == all[2]);
    all.swap_remove(0)
}

const N: usize = 21;

fn everything<F: Element>() {
    let [x, y, z] = [1, 2, 3].map(|seed| sample::<F>(N, seed));
    let bits = sample::<Gf2>(N, 4);
    let double = Linear::<F, F>::new(2, |j, i| F::from_low_bits(1 << ((i + j) % F::BITS)));
    let turn = Linear::<F, F>::new(1, |_, i| F::from_low_bits(3 << (F::BITS - 1 - i)));
    let (out, c) = run(|b| {
        let [sx, sy] = [input(b, 1, &x)?, input(b, 2, &y)?];
        let (sz, sb) = (input(b, 3, &z)?, input(b, 2, &bits)?);
        // x y + z, plus z y scaled by x's values, which are public here, plus b z
        let xy = b.local_mul(&sx, &sy)?;
        let zy = b.local_mul(&sz, &sy)?;
        let zy = b.mul_public_additive(zy, &x)?;
        let sum = b.add_additive(xy, zy)?;
        let sum = b.add_shared(sum, &sz)?;
        let sum = b.linop_additive(&turn, sum)?;
        let sum = b.reshare(sum)?;
        let bz = b.bit_mul(&sb, &sz)?;
        let both = b.add(&sum, &bz)?;
        let image = b.linop(&double, &[&both, &sx])?;
        let shifted = b.add_public(&image, &y)?;
        // through an opening
        let (c, r) = {
            let mask = b.mask(N);
            b.reconst_masked(&shifted, mask)?
        };
        let back = b.add_opened(&r, &c)?;
        let square = c.product(&c).unwrap();
        let times = b.mul_opened(&sx, &square)?;
        let all = b.join(&[&back, &times])?;
        let reversed = all.gather(&(0..2 * N).rev().collect::<Vec<_>>()).unwrap();
        let out = b.output(&reversed)?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let c = b.opened(c, &recon, &mul)?;
        Ok((out, c))
    });
    for l in 0..N {
        let b = F::from_low_bits(bits[l].to_bits());
        let sum = x[l] * y[l] + z[l] * y[l] * x[l] + z[l];
        let image = (0..F::BITS).filter(|i| sum.to_bits() >> i & 1 == 1);
        let sum = image.fold(F::ZERO, |sum, i| sum + F::from_low_bits(3 << (F::BITS - 1 - i)));
        let both = sum + b * z[l];
        let turned = |v: F, j: usize| {
            (0..F::BITS)
                .fold(F::ZERO, |sum, i| sum + F::from_low_bits((v.to_bits() >> i & 1) << ((i + j) % F::BITS)))
        };
        assert!(out[2 * N - 1 - l] == turned(both, 0) + turned(x[l], 1) + y[l]);
        assert!(out[N - 1 - l] == x[l] * c[l] * c[l]);
    }
}

#[test]
fn it_computes_in_every_field() {
    everything::<Gf2>();
    everything::<Gf4>();
    everything::<Gf8>();
    everything::<Gf64>();
    everything::<Gf128>();
}

/// Payload bits that this party sent, and rounds, in each phase.
fn cost(counts: &Counts, phase: &str) -> (u64, u32) {
    counts.phases.get(phase).map_or((0, 0), |p| (p.bits, p.rounds))
}

fn costs<F: Element>() {
    let k = F::BITS as u64;
    let n = N as u64;
    let (x, bits) = (sample::<F>(N, 9), sample::<Gf2>(N, 8));
    let counts = lab::run(|trio| {
        let b = &mut BlackBox::new(trio);
        b.session().phase("input");
        let sx = input(b, 1, &x)?;
        b.session().phase("input of bits");
        let sb = input(b, 1, &bits)?;
        b.session().phase("local");
        let doubled = b.add(&sx, &sx)?;
        let product = b.local_mul(&doubled, &sx)?;
        b.session().phase("reshare");
        let z = b.reshare(product)?;
        b.session().phase("bit_mul");
        b.bit_mul(&sb, &sx)?;
        b.session().phase("reconst");
        let mask = b.mask(N);
        b.reconst_masked(&z, mask)?;
        b.session().phase("verify_recon");
        let recon = b.verify_recon()?;
        b.session().phase("verify_mul");
        b.verify_mul(&recon)?;
        b.session().phase("output");
        b.output(&z)?;
        Ok(b.session().meter().read())
    })
    .unwrap();
    for (p, counts) in counts.iter().enumerate() {
        assert_eq!(cost(counts, "input").0, if p == 0 { k * n } else { 0 });
        assert_eq!(cost(counts, "input of bits").0, if p == 0 { n } else { 0 });
        assert_eq!(cost(counts, "local"), (0, 0));
        assert_eq!(cost(counts, "reshare").0, k * n);
        assert_eq!(cost(counts, "bit_mul").0, k * n);
        assert_eq!(cost(counts, "reconst"), (k * n, 1));
        assert_eq!(cost(counts, "verify_recon"), (0, 1));
        // 42 products: a coin, six levels of two elements and a coin, and a triple's end
        let big = if k == 128 { 128 } else { 64 };
        assert_eq!(cost(counts, "verify_mul").0, 128 + 6 * (2 * big + 128) + 4 * big + 128);
        assert_eq!(cost(counts, "output"), (k * n, 1));
        assert_eq!(counts.checks[&Check::S1], n);
        assert_eq!(counts.checks[&Check::S2], 2 * n);
        assert_eq!((counts.checks[&Check::S3], counts.checks[&Check::S4]), (1, 1));
        let error_bits = counts.verification_error_bits.unwrap();
        assert!(error_bits > big as f64 - 4.0, "{error_bits}");
    }
    // whoever waits for others counts their rounds
    let rounds = |phase| counts.iter().map(|counts| cost(counts, phase).1).max().unwrap();
    assert_eq!(["input", "reshare", "bit_mul"].map(rounds), [1, 1, 1]);
}

#[test]
fn every_call_costs_what_its_table_says() {
    costs::<Gf2>();
    costs::<Gf4>();
    costs::<Gf8>();
    costs::<Gf64>();
    costs::<Gf128>();
}

/// What is owed does not grow without bound: it is verified when it is much.
#[test]
fn many_products_are_verified_in_pieces() {
    let n = (PIECE / 4) as usize;
    run(|b| {
        let x = b.random::<Gf2>(n);
        for i in 0..5_u64 {
            let xx = b.local_mul(&x, &x)?;
            b.reshare(xx)?;
            let verified = b.session().meter().read().checks.get(&Check::S2).copied();
            assert_eq!(verified, (i >= 3).then_some(PIECE));
        }
        Ok(())
    });
}

/// Two passes square the error over the small field, and find a lie as one does.
#[test]
fn two_passes_square_the_error() {
    let bits = |passes: Passes, lies: bool| {
        let results = Stage::default().patient().act(|mut trio| {
            trio.set_passes(passes);
            if lies && trio.me() == party(2) {
                trio.deviate(|step: Step, share: &mut [u8]| {
                    if step.name == RESHARE {
                        share.iter_mut().for_each(|byte| *byte ^= 0x11); // the same error in every lane
                    }
                });
            }
            let b = &mut BlackBox::new(trio);
            let x = input(b, 1, &sample::<Gf8>(2 * N, 5))?;
            let xx = b.local_mul(&x, &x)?;
            let xx = b.reshare(xx)?;
            b.output(&xx)?;
            Ok(b.session().meter().read().verification_error_bits.unwrap())
        });
        assert!(!lies || results.iter().all(Result::is_err));
        results.into_iter().flatten().next()
    };
    let [once, twice] = [Passes::Once, Passes::Twice].map(|passes| bits(passes, false).unwrap());
    assert!(once > 60.0 && (twice - 2.0 * once).abs() < 1e-9, "{once} {twice}");
    assert_eq!([Passes::Once, Passes::Twice].map(|passes| bits(passes, true)), [None, None]);
}

/// All three do this, and are told that it is misuse, or that another was.
fn is_misuse(what: &str, f: impl Fn(Trio) -> Result<(), Abort> + Sync) {
    let results = Stage::default().patient().act(f);
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

/// Whoever does not heed a failed verification gets neither proofs nor values from the next one.
#[test]
fn nothing_is_proved_after_a_failed_verification() {
    let results = Stage::default().patient().act(|mut trio| {
        if trio.me() == party(1) {
            trio.deviate(|step: Step, share: &mut [u8]| share[0] ^= u8::from(step.name == RESHARE));
        }
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &sample::<Gf8>(N, 5))?;
        let xx = b.local_mul(&x, &x)?;
        let xx = b.reshare(xx)?;
        let mask = b.mask(N);
        let (c, r) = b.reconst_masked(&xx, mask)?;
        let before = b.verify_recon()?;
        let first = b.verify_mul(&before).map(drop);
        // a proof of nothing, from before
        assert!(first.is_err() && b.verify_mul(&before).map(drop) == first);
        assert!(b.verify_recon().map(drop) == first && b.output(&r).map(drop) == first);
        let c = b.verify_mul(&before).and_then(|mul| b.opened(c, &before, &mul));
        assert!(c.map(drop) == first);
        first
    });
    assert!(results.iter().all(Result::is_err) && results.iter().any(|r| failed_check(r) == Some(Check::A7)));
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

/// No honest party takes anything but what is right; which checks found the lie.
fn no_honest_party_is_deceived<F: Element>(
    corrupt: PartyId,
    results: &[Result<Vec<F>, Abort>],
) -> Vec<Check> {
    for (p, result) in PartyId::all(3).zip(results).filter(|(p, _)| *p != corrupt) {
        assert!(result.as_ref().map_or(true, |out| *out == right::<F>()), "{p} was deceived");
    }
    results.iter().filter_map(failed_check).collect()
}

fn lies<F: Element>() {
    assert!(lab::run(play::<F>).unwrap().iter().all(|out| *out == right::<F>()));
    for corrupt in PartyId::all(3) {
        // a wrong share of a reshare, to which its party keeps: of local_mul, and of bit_mul
        for nth in 0..2 {
            let results = Stage::default().patient().act(|mut trio| {
                let mut count = 0;
                if trio.me() == corrupt {
                    trio.deviate(move |step: Step, share: &mut [u8]| {
                        if step.name == RESHARE {
                            if count == nth {
                                share[1] ^= 1;
                            }
                            count += 1;
                        }
                    });
                }
                play::<F>(trio)
            });
            let found = no_honest_party_is_deceived(corrupt, &results);
            assert!(results.iter().all(Result::is_err) && found.contains(&Check::A7), "{results:?}");
        }
        // another component in an opening, before and after anything is verified; in an output; in an input of its own
        for (step, nth, to, checks) in [
            (RECONST, 0, corrupt.next(3), &[Check::A2][..]),
            (RECONST, 1, corrupt.next(3), &[Check::A2]),
            (OUTPUT, 0, corrupt.next(3), &[Check::A1]),
            (RESHARE, 0, corrupt.prev(3), &[Check::A1, Check::A2, Check::A7]),
        ] {
            let stage = Stage::default().patient();
            stage.change(corrupt, to, step, nth, |body| body[0] ^= 1);
            let results = stage.act(play::<F>);
            let found = no_honest_party_is_deceived(corrupt, &results);
            assert!(found.iter().any(|check| checks.contains(check)), "{step} {nth} {results:?}");
            assert!(results.iter().all(Result::is_err));
        }
        // an input that is no reduced element, or too long
        let stage = Stage::default().patient();
        stage.change(corrupt, corrupt.next(3), INPUT, 0, |body| body.push(0));
        assert!(stage.act(play::<F>).iter().any(Result::is_err));
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
    let stage = Stage::default().patient();
    stage.change(party(1), party(2), INPUT, 0, |body| body[0] ^= 0x55);
    let results = stage.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, 1, &sample::<Gf8>(N, 5))?;
        let xx = b.local_mul(&x, &x)?;
        let xx = b.reshare(xx)?;
        let both = b.join(&[&x, &xx])?;
        b.output(&both)
    });
    let [_, second, third] = results.try_into().ok().unwrap();
    // party 1 keeps to its own component, of which it does not send the truth: that is found when it is opened, or never matters
    for out in [second, third].into_iter().flatten() {
        assert!((0..N).all(|l| out[N + l] == out[l] * out[l]));
    }
}
