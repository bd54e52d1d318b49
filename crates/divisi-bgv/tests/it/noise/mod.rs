//! Keys and ciphertexts have the noise that they should: every bound on noise is above all measured values,
//! and at most 6 bits above the largest of them.

mod combined;
mod steps;

use crate::tools::*;
use divisi_bgv::parameters::noise::Noise;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Ciphertext, Keys, Poly, Ring, Sampler, encode};
use divisi_core::{Abort, Session};
use divisi_field::zp::{P32, P62};

/// Noise measured in many runs against its bound.
struct Measured {
    what: String,
    bound: f64,
    most: f64,
}

fn judge(all: &[Measured]) {
    for Measured { what, bound, most } in all {
        println!("{what}: bound {bound:.1}, largest {most:.1}, {:.1} bits", bound - most);
    }
    for Measured { what, bound, most } in all {
        assert!(most <= bound, "{what}");
        assert!(bound - most <= 6.0, "{what}: {bound:.1} is far above {most:.1}");
    }
}

/// The sum of all key shares, and what each party returns, in the order of the parties.
fn play<R: Send>(
    ring: &std::sync::Arc<Ring>,
    f: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<Vec<R>, Abort> + Sync,
) -> (Poly, Vec<Vec<R>>) {
    let ends = all(ring, |session, keys, sampler| Ok((keys.reveal(), f(session, keys, sampler)?)));
    let (shares, made): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
    (sum(ring, &shares), made)
}

/// Attack (c): at every level noise is brought to its bound, in one coefficient, before the next step; it
/// still decrypts.
fn at_the_bound(form: Form, n: usize, plain: u64) {
    let ring = small_of(Operation::Bits, form, n, plain);
    let p = ring.parameters();
    // whether the step at a level is a square, which squares the factor, too
    let squares = |level: usize| form == Form::LeanTree && level < p.top();
    let factor = (0..p.top()).rev().fold(1, |factor, below| {
        let before = if squares(below + 1) { ring.plain().mul(factor, factor) } else { factor };
        Ciphertext::factor_after(&ring, before, below + 1, below)
    });
    let ends = all(&ring, |session, keys, sampler| {
        let mut expected = encode::signs(&ring, &bits(1, 1024));
        if session.me() != party(0) {
            return Ok((keys.e2a(session, sampler, party(0), None, factor)?, expected));
        }
        // one party makes the steps of all
        let plain = encode::coefficients(&ring, &expected);
        let mut x = keys.encrypt(sampler, p.top(), Some(&plain));
        while x.level() > 0 {
            x = worst(&ring, session, x)?;
            x = if squares(x.level()) {
                expected.iter_mut().for_each(|sign| *sign = 1);
                x.times(keys, session, PASS, &x)?.switch(&ring, x.level() - 1)
            } else {
                let signs = encode::signs(&ring, &bits(x.level() as u64, 1024));
                expected.iter_mut().zip(signs.iter()).for_each(|(x, y)| *x = ring.plain().mul(*x, *y));
                keys.hop(session, sampler, x, &signs)?
            };
        }
        x = worst(&ring, session, x)?;
        Ok((keys.e2a(session, sampler, party(0), Some(&x), factor)?, expected))
    });
    let shares = open(p.plain(), ends.iter().map(|(share, _)| &share[..]));
    assert_eq!(shares, ends[0].1.to_vec(), "{} {n}", form.name());
}

/// Among more parties, ciphertexts that pass around a ring are refreshed (`refresh.rs`).
#[test]
fn noise_at_its_bound_decrypts() {
    [2, 3, 9, 16].into_iter().for_each(|n| at_the_bound(Form::Paper, n, P32));
    [2, 3, 9, 20, 36].into_iter().for_each(|n| at_the_bound(Form::LeanRing, n, P32));
    [2, 3, 9, 33, 100].into_iter().for_each(|n| at_the_bound(Form::LeanTree, n, P32));
    [(Form::LeanRing, 3), (Form::LeanRing, 8), (Form::LeanTree, 3), (Form::LeanTree, 16)]
        .into_iter()
        .for_each(|(form, n)| at_the_bound(form, n, P62));
}

/// Noise of fresh and shared encryptions, of a plaintext product, and of the keys themselves.
#[test]
fn encryptions_and_keys_keep_their_bounds() {
    for (n, plain) in [(2, P32), (5, P32), (3, P62)] {
        let ring = small_of(Operation::Triples, Form::LeanTree, n, plain);
        let bounds = Noise::new(n, 1024, ring.parameters().plain());
        let (key, made) = play(&ring, |session, keys, sampler| {
            let (top, n) = (keys.ring().parameters().top(), keys.ring().dimension());
            let fresh = keys.encrypt(sampler, top, None);
            let mut product = fresh.clone();
            let signs = encode::signs(keys.ring(), &bits(session.me().index() as u64, n));
            let plain = encode::encode(keys.ring(), &signs, fresh.components()[0].limbs());
            product.times_random_plain(keys.ring(), &plain);
            let share = elements(session.me().index() as u64, keys.ring().parameters().plain(), n);
            let mut all = vec![fresh, product];
            all.extend(keys.a2e(session, sampler, party(0), &share)?);
            Ok(all)
        });
        let most = |i: usize| {
            made.iter().filter_map(|m| m.get(i)).map(|x| noise(&ring, &key, x)).fold(f64::MIN, f64::max)
        };
        let of = |i, name, bound| Measured { what: format!("{name} {n} {plain}"), bound, most: most(i) };
        judge(&[
            of(0, "fresh", bounds.fresh()),
            of(1, "times plain", bounds.times_plain(bounds.fresh())),
            of(2, "shared", bounds.shared()),
        ]);
    }
}

/// H4 and H1: encoded random signs have coefficients like uniform ones, uncorrelated, and no embedding is
/// near the bound on the largest. The same holds for the characters of masks by which private tables are
/// multiplied.
#[test]
fn encoded_signs_are_like_uniform_ones() {
    signs_are_like_uniform_ones(bits);
    signs_are_like_uniform_ones(|seed, n| characters(seed, n, 2));
    signs_are_like_uniform_ones(|seed, n| characters(seed, n, 8));
}

fn signs_are_like_uniform_ones(exponents: impl Fn(u64, usize) -> Vec<u64>) {
    let ring = small(Operation::Bits, Form::LeanTree, 2);
    let (n, p) = (ring.dimension(), ring.parameters().plain());
    let (mut bins, mut largest) = ([0_u32; 64], 0_f64);
    for seed in 0..16 {
        let list = encode::coefficients(&ring, &encode::signs(&ring, &exponents(seed, n)));
        for c in list.iter() {
            bins[((i128::from(*c) + i128::from(p / 2)) * 64 / i128::from(p)).clamp(0, 63) as usize] += 1;
        }
        // in units of their deviation
        let unit = p as f64 / 12_f64.sqrt();
        let list: Vec<f64> = list.iter().map(|c| *c as f64 / unit).collect();
        let square = list.iter().map(|c| c * c).sum::<f64>() / n as f64;
        assert!((square - 1.0).abs() < 0.2, "{square}");
        for distance in [1, 2, n / 2] {
            let product: f64 = list.iter().zip(&list[distance..]).map(|(x, y)| x * y).sum();
            assert!(product.abs() < 6.0 * (n as f64).sqrt(), "{distance}");
        }
        for k in 0..n / 2 {
            let angle = std::f64::consts::PI * (2 * k + 1) as f64 / n as f64;
            let (re, im) = list.iter().enumerate().fold((0.0, 0.0), |(re, im), (j, c)| {
                let (sin, cos) =
                    (angle * ((j * (2 * k + 1)) % (2 * n)) as f64 / (2 * k + 1) as f64).sin_cos();
                (re + c * cos, im + c * sin)
            });
            largest = largest.max((re * re + im * im).sqrt() / (n as f64).sqrt());
        }
    }
    let expected = 16.0 * n as f64 / 64.0;
    let square: f64 = bins.iter().map(|b| (f64::from(*b) - expected).powi(2) / expected).sum();
    assert!(square < 140.0, "{square}");
    let bound = Noise::new(2, n, p).peak().exp2();
    println!("largest embedding {largest:.2}, bound {bound:.2}");
    assert!(largest > 2.0 && largest < bound / 2.0);
}
