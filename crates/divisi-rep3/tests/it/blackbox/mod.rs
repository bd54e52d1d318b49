//! The black box: what it computes, what it costs to the bit, what it refuses, and how every lie ends.

mod lies;
mod operands;
mod refusals;
mod rests_on;

use crate::common::boxes::{act, input, is_misuse, run};
use crate::common::prelude::*;
use divisi_core::Lanes;
use divisi_rep3::blackbox::{Linear, PIECE};
use divisi_rep3::lab;

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

const N: usize = 21;

fn everything<F: Element>() {
    let [x, y, z] = [1, 2, 3].map(|seed| sample::<F>(N, seed));
    let bits = sample::<Gf2>(N, 4);
    let double = Linear::<F, F>::new(2, |j, i| F::from_low_bits(1 << ((i + j) % F::BITS)));
    let turn = Linear::<F, F>::new(1, |_, i| F::from_low_bits(3 << (F::BITS - 1 - i)));
    let ((out, c), _) = run(|b| {
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
        let mask = b.mask(N);
        let (c, r) = b.reconst_masked(&shifted, mask)?;
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
        assert_eq!(spent(counts, "input").0, if p == 0 { k * n } else { 0 });
        assert_eq!(spent(counts, "input of bits").0, if p == 0 { n } else { 0 });
        assert_eq!(spent(counts, "local"), (0, 0));
        assert_eq!(spent(counts, "reshare").0, k * n);
        assert_eq!(spent(counts, "bit_mul").0, k * n);
        assert_eq!(spent(counts, "reconst"), (k * n, 1));
        assert_eq!(spent(counts, "verify_recon"), (0, 1));
        // 42 products: a coin, six levels of two elements and a coin, and a triple's end
        let big = if k == 128 { 128 } else { 64 };
        assert_eq!(spent(counts, "verify_mul").0, 128 + 6 * (2 * big + 128) + 4 * big + 128);
        assert_eq!(spent(counts, "output"), (k * n, 1));
        assert_eq!(counts.checks[&checks::S1], n);
        assert_eq!(counts.checks[&checks::S2], 2 * n);
        assert_eq!((counts.checks[&checks::S3], counts.checks[&checks::S4]), (1, 1));
        let error_bits = counts.verification_error_bits.unwrap();
        assert!(error_bits > big as f64 - 4.0, "{error_bits}");
    }
    // whoever waits for others counts their rounds
    let rounds = |phase| counts.iter().map(|counts| spent(counts, phase).1).max().unwrap();
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

/// Each element of a random vector is drawn, to its end: none is 0, and none occurs twice.
#[test]
fn random_vectors_are_random_to_their_ends() {
    run(|b| {
        let mut seen = Vec::new();
        for lanes in [1, 5, 130, 5] {
            let r = b.random::<Gf64>(lanes);
            seen.extend(b.output(&r)?.into_iter().map(|x| x.0));
        }
        assert!(seen.iter().all(|x| *x != 0));
        seen.sort_unstable();
        assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
        Ok(())
    });
}

/// What is owed does not grow without bound: it is verified when it has grown large.
#[test]
fn many_products_are_verified_in_pieces() {
    let n = (PIECE / 4) as usize;
    run(|b| {
        let x = b.random::<Gf2>(n);
        for i in 0..5_u64 {
            let xx = b.local_mul(&x, &x)?;
            b.reshare(xx)?;
            let verified = b.session().meter().read().checks.get(&checks::S2).copied();
            assert_eq!(verified, (i >= 3).then_some(PIECE));
        }
        Ok(())
    });
}

/// Two passes square the error over the small field, and find a lie as one does.
#[test]
fn two_passes_square_the_error() {
    let bits = |passes: Passes, lies: bool| {
        let harness = TrioHarness::default().patient();
        if lies {
            harness.change(party(2), party(1), RESHARE, 0, |share| {
                share.iter_mut().for_each(|byte| *byte ^= 0x11); // the same error in every lane
            });
        }
        let results = harness.act(|trio| {
            let b = &mut BlackBox::new(trio);
            b.set_passes(passes);
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
