//! Tests that know the key shares of all parties: every RLWE sample has its own error and its own polynomial,
//! and every flood has its width.

mod ends;
#[path = "../../tests/it/tools/mod.rs"]
mod tools;

use super::Keys;
use crate::cipher::Ciphertext;
use crate::encode;
use crate::flood::Width;
use crate::parameters::{Form, Operation};
use crate::ring::{Poly, Ring};
use crate::sample::{ERROR_VARIANCE, Sampler};
use crate::wire;
use divisi_core::testing::{Harness, MessageDirection, failed_check};
use divisi_core::{Prg, PublicParameters as Agreed};
use tools::{lift, noise, party, small, sum, with_keys};

/// The mean of the squares of many numbers.
#[derive(Default)]
struct Squares {
    sum: f64,
    count: f64,
}

impl Squares {
    fn add(&mut self, list: impl IntoIterator<Item = f64>) {
        for x in list {
            self.sum += x * x;
            self.count += 1.0;
        }
    }

    /// Demands that the mean is `expected`, up to the relative error `within`.
    fn is(&self, expected: f64, within: f64, what: &str) {
        let part = self.sum / self.count / expected;
        println!("{what}: {part:.4} of {expected:.1}");
        assert!((part - 1.0).abs() < within, "{what}: {part:.4} of {expected:.1}");
    }
}

/// The coefficients of a polynomial whose coefficients are multiples of p, divided by p.
fn errors(ring: &Ring, x: Poly) -> Vec<f64> {
    let p = i128::from(ring.parameters().plain());
    let coefficients = lift(ring, x);
    assert!(coefficients.iter().all(|c| c % p == 0), "a multiple of p");
    coefficients.iter().map(|c| (c / p) as f64).collect()
}

/// x + y s.
fn plus_product(ring: &Ring, x: &Poly, y: &Poly, s: &Poly) -> Poly {
    let mut x = x.clone();
    ring.add_product(&mut x, y, s);
    x
}

/// How many coefficients of x / y, modulo the first prime, are in {-1, 0, 1}.
fn ternary_ratio(ring: &Ring, x: &Poly, y: &Poly) -> usize {
    let (q, n) = (ring.modulus(0), ring.dimension());
    let mut ratio = ring.zero(1, false);
    let words = x.words().iter().zip(y.words());
    ratio.words_mut().iter_mut().zip(words.take(n)).for_each(|(out, (x, y))| *out = q.mul(*x, q.invert(*y)));
    ring.to_coefficients(&mut ratio);
    ratio.words().iter().filter(|c| q.centred(**c).abs() <= 1).count()
}

/// Whether the coefficients are as large as uniform ones, and not p times errors or products of errors with a
/// key.
fn is_large(ring: &Ring, x: Poly) -> bool {
    lift(ring, x).iter().filter(|c| c.unsigned_abs() > 1 << 60).count() > ring.dimension() / 2
}

/// Whether half of the coefficients modulo the first prime are in the middle half of their range, as uniform
/// ones are.
fn is_uniform(ring: &Ring, x: &Poly) -> bool {
    let (q, half, mut x) = (ring.modulus(0), ring.dimension() / 2, x.clone());
    ring.to_coefficients(&mut x);
    let first = &x.words()[..ring.dimension()];
    let middle = first.iter().filter(|c| q.centred(**c).unsigned_abs() < q.get() / 4).count();
    middle.abs_diff(half) < half / 4
}

fn keys_have_their_errors(n: usize) {
    let ring = small(Operation::Triples, Form::LeanTree, n);
    let (dimension, limbs) = (ring.dimension() as f64, ring.parameters().chain().len());
    // the expected value of |s|^2
    let norm = 2.0 * n as f64 * dimension / 3.0;
    let [mut public, mut fresh, mut given, mut known] = [(); 4].map(|()| Squares::default());
    let mut digits: Vec<Squares> = (0..ring.digits(limbs)).map(|_| Squares::default()).collect();
    let plain: Vec<i64> = (0..ring.dimension() as i64).map(|i| i * i % 1000 - 500).collect();
    for run in 0..32 {
        let ends = with_keys(&ring, |session, keys, sampler| {
            let fresh = keys.encrypt(sampler, ring.parameters().top(), None);
            let given = keys.a2e(session, sampler, party(0), &vec![0; ring.dimension()])?;
            let known = keys.encrypt(sampler, ring.parameters().top(), Some(&plain));
            Ok((keys.clone(), fresh, given, known))
        });
        let ends: Vec<(Keys, Ciphertext, Option<Ciphertext>, Ciphertext)> =
            ends.into_iter().map(Result::unwrap).collect();
        let key = sum(&ring, &ends.iter().map(|end| end.0.reveal()).collect::<Vec<_>>());
        let (keys, own, shared) = (&ends[0].0, &ends[0].1, ends[0].2.as_ref().unwrap());
        let [b, a] = &keys.0.public;
        public.add(errors(&ring, plus_product(&ring, b, a, &key)));
        for (_, x, _, of_plain) in &ends {
            let [c0, c1] = x.components();
            fresh.add(errors(&ring, plus_product(&ring, c0, c1, &key)));
            // a known plaintext has errors above it, which are not in the first component alone
            let [c0, c1] = of_plain.components();
            let mut rest = plus_product(&ring, c0, c1, &key);
            ring.sub(&mut rest, &ring.plaintext(&plain, limbs));
            known.add(errors(&ring, rest));
            let mut first = c0.clone();
            ring.sub(&mut first, &ring.plaintext(&plain, limbs));
            assert!(ternary_ratio(&ring, &first, &ends[0].0.0.public[0]) < 10, "a component with v alone");
        }
        let [c0, c1] = shared.components();
        given.add(errors(&ring, plus_product(&ring, c0, c1, &key)));
        // (b_j + s h_j - w_j s^2) / p = s e_0 + u e_1 + e_2 + e_3
        let mut square = key.clone();
        ring.mul(&mut square, &key);
        let parts = keys.relinearisation().unwrap();
        assert!(parts.len() == ring.digits(limbs) && limbs > 1);
        for (j, [b, h]) in parts.iter().enumerate() {
            let mut x = plus_product(&ring, b, h, &key);
            ring.sub(&mut x, &ring.digit(&square, j));
            digits[j].add(errors(&ring, x));
        }
        if run > 0 {
            continue;
        }
        // no component is a product with v alone
        assert!(ternary_ratio(&ring, own.components()[0], b) < 10);
        assert!(ternary_ratio(&ring, own.components()[1], a) < 10);
        // nor their difference
        let difference = |x: &Poly, y: &Poly| {
            let mut x = x.clone();
            ring.sub(&mut x, y);
            x
        };
        let [c0, c1] = own.components();
        assert!(ternary_ratio(&ring, &difference(c0, c1), &difference(b, a)) < 10);
        // h_j = s a_j + p e: no two a_j are equal, and none equals that of the public key or of an A2E
        for (j, [_, h]) in parts.iter().enumerate() {
            for [_, other] in &parts[..j] {
                let mut x = h.clone();
                ring.sub(&mut x, other);
                assert!(is_large(&ring, x), "two digits with one polynomial");
            }
            for common in [a, c1] {
                let mut x = ring.zero(limbs, false);
                x.words_mut().copy_from_slice(&h.words()[..limbs * ring.dimension()]);
                let mut product = common.clone();
                ring.neg(&mut product);
                assert!(is_large(&ring, plus_product(&ring, &x, &product, &key)), "one polynomial twice");
            }
        }
    }
    let n = n as f64;
    public.is(ERROR_VARIANCE * n, 0.05, "public key");
    given.is(ERROR_VARIANCE * n, 0.05, "A2E");
    fresh.is(ERROR_VARIANCE * (1.0 + 2.0 * norm), 0.1, "encryption");
    known.is(ERROR_VARIANCE * (1.0 + 2.0 * norm), 0.1, "encryption of a plaintext");
    // each digit has errors of all parties
    digits.iter().for_each(|digit| {
        digit.is(ERROR_VARIANCE * n * (2.0 * norm + 2.0), 0.12, "relinearisation key");
    });
}

#[test]
fn errors_are_in_all_that_is_published() {
    [2, 3].into_iter().for_each(keys_have_their_errors);
}

/// The common polynomials of A2E differ: in two strands with two calls each, in two sessions.
#[test]
fn common_polynomials_are_all_different() {
    let ring = small(Operation::Triples, Form::LeanTree, 2);
    let mut all: Vec<Vec<u64>> = Vec::new();
    for _ in 0..2 {
        let ends = with_keys(&ring, |session, keys, sampler| {
            let mut other = session.strand()?;
            let zeros = vec![0; ring.dimension()];
            let mut made = vec![keys.0.public[1].words().to_vec()];
            for _ in 0..2 {
                for strand in [&mut *session, &mut other] {
                    let x = keys.a2e(strand, sampler, party(0), &zeros)?;
                    made.extend(x.map(|x| x.components()[1].words().to_vec()));
                }
            }
            Ok(made)
        });
        all.extend(ends.into_iter().next().unwrap().unwrap());
    }
    assert_eq!(all.len(), 10);
    for (i, x) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|y| x.iter().zip(y).filter(|(x, y)| x == y).count() < 10), "{i}");
    }
}

/// The answer to (0, 0) is p e - x, without the primes that were dropped. e is as wide as the parameters say,
/// and the share x has no repeated part.
#[test]
fn answers_have_their_flood_and_a_fresh_share() {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let (p, first, calls) = (ring.parameters(), ring.modulus(0), 8);
    let limbs = p.limbs(0);
    let zero = || Keys::forge(0, 1, ring.zero(limbs, false), ring.zero(limbs, false));
    let harness = Harness::new(2, &p.describe(Agreed::new("bgv tests")));
    let recording = harness.recording(party(0));
    let ends = harness.act(|mut session| {
        let keys = Keys::generate(&mut session, &ring)?;
        let mut sampler = crate::Sampler::new(&session);
        let mut shares = Vec::new();
        for _ in 0..calls {
            let x = Some(zero()).filter(|_| session.me() == party(0));
            shares.push(keys.e2a(&mut session, &mut sampler, party(0), x.as_ref(), 1)?);
        }
        Ok(shares)
    });
    let dropped: f64 = (1..limbs).map(|limb| (ring.modulus(limb).get() as f64).log2()).sum();
    let (mut squares, mut errors) = (Squares::default(), Vec::new());
    let answers = recording.bodies(MessageDirection::In, party(1), "divisi_bgv::shares/e2a.answer");
    assert_eq!(answers.len(), calls);
    for answer in answers {
        let mut h = ring.zero(1, false);
        assert!(wire::read(&ring, &answer, &mut h));
        let own = h.words().iter().map(|c| first.centred(*c) as f64 / p.plain() as f64 * dropped.exp2());
        errors.extend(own.clone());
        squares.add(own);
    }
    // dropping primes rounded each coefficient
    let (flood, rounding) = ((2.0 * p.flood().deviation()).exp2(), (2.0 * dropped).exp2() / 12.0);
    assert!(flood > 4.0 * rounding, "a flood that the rounding covers");
    squares.is(flood + rounding, 0.08, "flood of answers");
    for distance in 1..=2 * ring.dimension() {
        let pairs = errors.iter().zip(&errors[distance..]);
        let sum: f64 = pairs.map(|(x, y)| x * y).sum();
        let deviation = (flood + rounding) * (errors.len() as f64).sqrt();
        assert!(sum.abs() < 7.0 * deviation, "{distance}: a flood that repeats");
    }
    // the shares x of P_2, as coefficients, of all calls one after the other
    let shares: Vec<i64> = ends[1]
        .as_ref()
        .unwrap()
        .iter()
        .flat_map(|share| encode::coefficients(&ring, share).to_vec())
        .collect();
    for distance in 1..=2 * ring.dimension() {
        let again = shares.iter().zip(&shares[distance..]).filter(|(x, y)| x == y || **x == -**y).count();
        assert!(again < 5, "{distance}: {again} of {}", shares.len());
    }
    let values = shares.iter().filter(|x| **x > 0).count() as f64;
    assert!((values - shares.len() as f64 / 2.0).abs() < 6.0 * (shares.len() as f64).sqrt() / 2.0);
}

/// The components of an encryption of zero with floods are those of the formula, for a ternary v: (b v + p
/// f_0, a v + p f_1).
fn encrypts_zero_with_floods(keys: &Keys, level: usize, widths: [Width; 2]) {
    let (ring, limbs) = (keys.ring(), keys.ring().parameters().limbs(level));
    let known = || Sampler::of(Prg::new(&[7; 16]));
    let ([c0, c1], _) = keys.encrypt_flooded(&mut known(), level, widths);
    let mut sampler = known();
    let floods = widths.map(|width| {
        let mut flood = vec![0; ring.dimension()];
        width.sample(sampler.prg(), &mut flood);
        ring.wide(&flood, limbs)
    });
    let v = ring.small(&sampler.ternary(ring.dimension()), limbs, false);
    for ((component, mut flood), key) in [c0, c1].iter().zip(floods).zip(keys.public()) {
        ring.scale(&mut flood, ring.parameters().plain());
        ring.add_product(&mut flood, key, &v);
        assert!(component.words() == flood.words());
    }
}

/// What a hop of the paper's form adds to (0, 0): floods on both components, divided by the switch, and the
/// rounding of the switch.
#[test]
fn paper_hops_have_their_floods() {
    for n in [2, 3] {
        let ring = small(Operation::Bits, Form::Paper, n);
        let p = ring.parameters();
        let (top, dimension, hops) = (p.top(), ring.dimension(), 12);
        let limbs = p.limbs(top);
        let ends = with_keys(&ring, |session, keys, sampler| {
            let signs = vec![1; dimension];
            let widths = keys.ring().parameters().hop_floods(top).unwrap();
            let (masks, _) = keys.encrypt_flooded(sampler, top, widths);
            assert!(!masks.iter().any(Poly::is_public));
            encrypts_zero_with_floods(keys, top, widths);
            let made: Result<Vec<_>, _> = (0..hops)
                .map(|_| {
                    let zero = Keys::forge(top, 1, ring.zero(limbs, false), ring.zero(limbs, false));
                    keys.hop(session, sampler, zero, &signs)
                })
                .collect();
            Ok((keys.reveal(), made?))
        });
        let ends: Vec<(Poly, Vec<Ciphertext>)> = ends.into_iter().map(Result::unwrap).collect();
        let key = sum(&ring, &ends.iter().map(|end| end.0.clone()).collect::<Vec<_>>());
        let mut squares = Squares::default();
        for x in ends.iter().flat_map(|end| &end.1) {
            squares.add([noise(&ring, &key, x).exp2()]);
            // both components have a product with v: floods alone are not uniform
            assert!(x.components().into_iter().all(|c| is_uniform(&ring, c)), "{n}: a hop without v");
        }
        let [first, second] = p.hop_floods(top).unwrap().map(|width| (2.0 * width.deviation()).exp2());
        let drop: f64 = (p.limbs(top - 1)..limbs).map(|limb| (ring.modulus(limb).get() as f64).log2()).sum();
        let norm = 2.0 * n as f64 * dimension as f64 / 3.0;
        let floods = (first + second * norm) * (-2.0 * drop).exp2();
        let rounding = (1.0 + norm) / 12.0;
        // floods must be large enough to be distinguished from the rounding
        assert!(floods > rounding / 4.0, "{n}: {floods} {rounding}");
        squares.is(dimension as f64 * (floods + rounding), 0.1, "hop");
    }
}

/// P_2's messages for the relinearisation key hide its share. In the first round its u is not the share, nor
/// the negative of it: then the sum or the difference of both polynomials would tell the share. In the second
/// round there are errors: the message is not a mere product of u with public values.
#[test]
fn the_second_round_has_its_errors() {
    let ring = small(Operation::Triples, Form::LeanTree, 2);
    let limbs = ring.parameters().chain().len();
    let harness = Harness::new(2, &ring.parameters().describe(Agreed::new("bgv tests")));
    let recording = harness.recording(party(0));
    let ends = harness.act(|mut session| Ok(Keys::generate(&mut session, &ring)?.reveal()));
    let share = ends[1].as_ref().unwrap();
    let read = |way, step| -> Vec<Poly> {
        let read = |body: Vec<u8>| {
            let mut polys = Vec::new();
            for part in body.chunks(wire::length(&ring, &ring.zero(limbs, true))) {
                let mut poly = ring.zero(limbs, true);
                assert!(wire::read(&ring, part, &mut poly));
                polys.push(poly);
            }
            polys
        };
        recording.bodies(way, party(1), step).into_iter().flat_map(read).collect()
    };
    let digits = ring.parameters().digits().len();
    let own = read(MessageDirection::In, "divisi_bgv::keys/relinearise.1.up");
    assert_eq!(own.len(), 2 * digits);
    for (j, pair) in own.chunks(2).enumerate() {
        // h_0 - w_j s_2 = -u_2 a_j + p e_0, and h_1 = s_2 a_j + p e_1
        let mut sums = [pair[0].clone(), pair[0].clone()];
        sums.iter_mut().for_each(|sum| ring.sub(sum, &ring.digit(share, j)));
        ring.add(&mut sums[0], &pair[1]);
        ring.sub(&mut sums[1], &pair[1]);
        assert!(sums.into_iter().all(|sum| is_large(&ring, sum)), "{j}: u is the share");
    }
    let first = read(MessageDirection::Out, "divisi_bgv::keys/relinearise.1.down");
    let second = read(MessageDirection::In, "divisi_bgv::keys/relinearise.2.up");
    assert!(first.len() == 2 * digits && second.len() == digits);
    for (pair, h) in first.chunks(2).zip(second) {
        // h - s_2 h_0 + s_2 h_1 = u_2 h_1 + p (e_2 + e_3)
        let mut negative = pair[0].clone();
        ring.neg(&mut negative);
        let rest = plus_product(&ring, &plus_product(&ring, &h, &negative, share), &pair[1], share);
        assert!(ternary_ratio(&ring, &rest, &pair[1]) < 10);
    }
}

/// If one party receives another key than the others, in any part and any word, the session ends.
#[test]
fn keys_are_the_same_at_all_parties() {
    let ring = small(Operation::Triples, Form::LeanTree, 3);
    let agreed = ring.parameters().describe(Agreed::new("bgv tests"));
    let public = "divisi_bgv::keys/public.down";
    let [first, second] = ["divisi_bgv::keys/relinearise.1.down", "divisi_bgv::keys/relinearise.2.down"];
    // the last part of the first round's message belongs to the key
    for (step, last) in [(public, false), (public, true), (first, true), (second, false), (second, true)] {
        let harness = Harness::new(3, &agreed);
        harness.change(party(0), party(2), step, 0, move |body| {
            let at = if last { body.len() - 4 } else { 0 };
            body[at] ^= 1;
        });
        let ends = harness.act(|mut session| Keys::generate(&mut session, &ring).map(drop));
        assert!(ends.iter().all(Result::is_err), "{step} {last}");
        let failed = Some(crate::checks::M0_3);
        assert!(ends.iter().any(|end| failed_check(end) == failed), "{step} {last}: {ends:?}");
    }
}
