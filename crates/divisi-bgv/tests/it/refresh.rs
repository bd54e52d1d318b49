//! Interactive bootstrapping: its results are right and within their bounds, and each refresh has a mask, a
//! flood, an error and a polynomial of its own. Calls that do not fit are refused.

use crate::tools::*;
use divisi_bgv::checks;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler, encode, wire};
use divisi_core::testing::{Harness, MessageDirection, run};
use divisi_core::{Abort, PublicParameters as Agreed, Session};
use divisi_field::zp::{P16, P32, P62};
use std::sync::Arc;

/// The insecure ring with this many hops before a refresh.
fn in_runs(operation: Operation, form: Form, n: usize, plain: u64, length: usize) -> Arc<Ring> {
    let p = Parameters::danger_insecure_in_runs(operation, form, n, plain, length).unwrap();
    Arc::new(Ring::new(p).unwrap())
}

/// Every party in turn has a ciphertext refreshed from the bottom to some level: the plaintext stays, and the
/// noise is below its bound and within six bits of it.
#[test]
fn refreshed_ciphertexts_are_what_they_were() {
    for (n, form, plain) in [
        (2, Form::LeanRing, P32),
        (3, Form::Paper, P32),
        (5, Form::LeanRing, P32),
        (4, Form::LeanRing, P62),
        (3, Form::LeanRing, P16),
        (4, Form::LeanTree, P32),
    ] {
        let ring = small_of(Operation::PrivateTables, form, n, plain);
        let top = ring.parameters().top();
        let factor = Ciphertext::factor_after(&ring, 1, top, 0);
        let slots = elements(5, plain, 1024);
        let ends = all(&ring, |session, keys, sampler| {
            let mut made = Vec::new();
            for holder in 0..n {
                let encoded = encode::coefficients(&ring, &slots);
                let x = keys.encrypt(sampler, top, Some(&encoded)).switch(&ring, 0);
                let held = Some(&x).filter(|_| session.me() == party(holder));
                let level = 1 + holder % top;
                let before = keys.decryptions();
                made.extend(keys.refresh(session, sampler, party(holder), held, factor, level)?);
                let spent = u64::from(session.me() != party(holder));
                assert_eq!(keys.decryptions() - before, spent);
            }
            Ok((keys.reveal(), made, session.meter().read()))
        });
        let key = sum(&ring, &ends.iter().map(|end| end.0.clone()).collect::<Vec<_>>());
        let mut most = f64::MIN;
        for (holder, (_, made, counts)) in ends.iter().enumerate() {
            let [x] = &made[..] else { panic!("one ciphertext each") };
            assert!(x.level() == 1 + holder % top && x.factor() == 1);
            assert_eq!(decrypt(&ring, &key, x), slots, "{n} {}", form.name());
            assert!(noise(&ring, &key, x) <= x.noise());
            most = most.max(noise(&ring, &key, x));
            assert!(x.noise() - noise(&ring, &key, x) < 6.0);
            // a party masks its answers to all refreshes but its own, and makes a seed for each refresh
            let of = |check| counts.checks[&check] as usize;
            assert_eq!([checks::G3, checks::G4, checks::G12, checks::G13].map(of), [n - 1, n - 1, n - 1, n]);
        }
        println!("{n} {}: bound {:.1}, largest {most:.1}", form.name(), ends[0].1[0].noise());
    }
}

/// P_2's answer to (0, 0): h = p e - x, switched to the first prime, and b = -a s + p e' + x, with the same
/// mask x.
#[test]
fn answers_have_a_mask_a_flood_and_an_error() {
    let ring = in_runs(Operation::Bits, Form::LeanRing, 3, P32, 1);
    let (p, plain, first, calls) = (ring.parameters(), ring.plain(), ring.modulus(0), 8);
    let (limbs, top) = (p.limbs(0), p.top());
    let harness = Harness::new(3, &p.describe(Agreed::new("bgv tests")));
    let recording = harness.recording(party(0));
    let ends = harness.act(|mut session| {
        let keys = Keys::generate(&mut session, &ring)?;
        let mut sampler = Sampler::new(&session);
        let mut made = Vec::new();
        for _ in 0..calls {
            let x = Some(zero(&ring, 0)).filter(|_| session.me() == party(0));
            made.extend(keys.refresh(&mut session, &mut sampler, party(0), x.as_ref(), 1, top)?);
        }
        Ok((keys.reveal(), made))
    });
    let ends = honest(ends);
    let (key, made) = (&ends[1].0, &ends[0].1);
    let answers = recording.bodies(MessageDirection::In, party(1), "divisi_bgv::refresh/refresh.answer");
    assert!(answers.len() == calls && made.len() == calls);
    let dropped: f64 = (1..limbs).map(|limb| (ring.modulus(limb).get() as f64).log2()).sum();
    let factor = (1..limbs).fold(1, |f, limb| plain.mul(f, ring.quotient(limb)));
    let (mut floods, mut errors, mut masks) = (Vec::new(), Vec::new(), Vec::new());
    for (body, x) in answers.iter().zip(made) {
        let (mut h, mut b) = (ring.zero(1, false), ring.zero(p.limbs(top), false));
        let end = wire::length(&ring, &h);
        assert!(wire::read(&ring, &body[..end], &mut h) && wire::read(&ring, &body[end..], &mut b));
        // b + a s = p e' + x
        ring.add_product(&mut b, key, x.components()[1]);
        for (value, h) in lift(&ring, b).into_iter().zip(h.words()) {
            let x = plain.centred(plain.of_wide(value));
            // the answer has the same mask, times the factor of the dropped primes
            let answered = plain.of_signed(first.centred(*h));
            assert_eq!(plain.mul(plain.of_signed(x), factor), plain.mul(plain.neg(answered), 1));
            masks.push(x);
            errors.push(((value - i128::from(x)) / i128::from(P32)) as f64);
            floods.push(first.centred(*h) as f64 / P32 as f64 * dropped.exp2());
        }
    }
    let mean = |list: &[f64]| list.iter().map(|x| x * x).sum::<f64>() / list.len() as f64;
    assert!((mean(&errors) / 10.5 - 1.0).abs() < 0.1, "{}", mean(&errors));
    let flood = (2.0 * p.flood().deviation()).exp2() + (2.0 * dropped).exp2() / 12.0;
    assert!((mean(&floods) / flood - 1.0).abs() < 0.1, "{}", mean(&floods) / flood);
    // nothing repeats, within an answer and from call to call
    for distance in 1..=2 * ring.dimension() {
        let again = masks.iter().zip(&masks[distance..]).filter(|(x, y)| x == y || **x == -**y).count();
        assert!(again < 5, "{distance}: {again} masks");
        let of = |list: &[f64]| list.iter().zip(&list[distance..]).map(|(x, y)| x * y).sum::<f64>();
        let most = 7.0 * (masks.len() as f64).sqrt();
        assert!(of(&floods).abs() < most * flood && of(&errors).abs() < most * 10.5, "{distance}");
    }
    // uniform, over 64 parts
    let mut bins = [0_u32; 64];
    masks.iter().for_each(|x| bins[(plain.of_signed(*x) as u128 * 64 / u128::from(P32)) as usize] += 1);
    let expected = masks.len() as f64 / 64.0;
    let square: f64 = bins.iter().map(|bin| (f64::from(*bin) - expected).powi(2) / expected).sum();
    assert!(square < 140.0, "{square}");
}

/// The polynomials of two strands with two calls each, in two sessions, and that of an A2E of the same count.
#[test]
fn common_polynomials_are_all_different() {
    let ring = in_runs(Operation::PrivateTables, Form::LeanRing, 2, P32, 1);
    let (top, zero) = (ring.parameters().top(), zero(&ring, 0));
    let mut polynomials: Vec<Vec<u64>> = Vec::new();
    for _ in 0..2 {
        let mut ends = all(&ring, |session, keys, sampler| {
            let mut other = session.strand()?;
            let mut made = Vec::new();
            for _ in 0..2 {
                for strand in [&mut *session, &mut other] {
                    let held = Some(&zero).filter(|_| strand.me() == party(0));
                    let x = keys.refresh(strand, sampler, party(0), held, 1, top)?;
                    let y = keys.a2e(strand, sampler, party(0), &[0; 1024])?;
                    made.extend(x.into_iter().chain(y).map(|x| x.components()[1].words()[..1024].to_vec()));
                }
            }
            Ok(made)
        });
        polynomials.extend(ends.swap_remove(0));
    }
    assert_eq!(polynomials.len(), 16);
    for (i, x) in polynomials.iter().enumerate() {
        assert!(polynomials[..i].iter().all(|y| x.iter().zip(y).filter(|(x, y)| x == y).count() < 10), "{i}");
    }
}

/// Attack (c): noise brought to its bound in one coefficient before every hop and every refresh, and at the
/// decryption.
fn at_the_bound(form: Form, n: usize, length: usize) {
    let ring = in_runs(Operation::Bits, form, n, P32, length);
    let p = ring.parameters();
    assert_eq!(p.bootstraps(), (n - 1).div_ceil(length) - 1);
    let ends = all(&ring, |session, keys, sampler| {
        let mut expected = encode::signs(&ring, &bits(1, 1024));
        let plain = encode::coefficients(&ring, &expected);
        // P_1 makes the hops of all, and asks for the refreshes
        let mut x = Some(keys.encrypt(sampler, p.top(), Some(&plain))).filter(|_| session.me() == party(0));
        for hop in 0..n - 1 {
            if p.is_refreshed(hop) {
                x = x.map(|x| worst(&ring, session, x)).transpose()?;
                let factor = Ciphertext::factor_after(&ring, 1, p.start_of(hop - 1), 0);
                x = keys.refresh(session, sampler, party(0), x.as_ref(), factor, p.level_of(hop))?;
            }
            let Some(arrived) = x else { continue };
            assert_eq!(arrived.level(), p.level_of(hop));
            let signs = encode::signs(&ring, &bits(hop as u64 + 2, 1024));
            expected.iter_mut().zip(signs.iter()).for_each(|(x, y)| *x = ring.plain().mul(*x, *y));
            x = Some(keys.hop(session, sampler, worst(&ring, session, arrived)?, &signs)?);
        }
        x = x.map(|x| worst(&ring, session, x)).transpose()?;
        let factor = Ciphertext::factor_after(&ring, 1, p.start_of(n - 2), 0);
        Ok((keys.e2a(session, sampler, party(0), x.as_ref(), factor)?, expected))
    });
    let shares = open(p.plain(), ends.iter().map(|(share, _)| &share[..]));
    assert_eq!(shares, ends[0].1.to_vec(), "{} {n}", form.name());
}

#[test]
fn noise_at_its_bound_is_refreshed_and_decrypts() {
    for (n, length) in [(3, 1), (4, 2), (9, 3), (20, 7), (100, 18)] {
        at_the_bound(Form::LeanRing, n, length);
    }
    for (n, length) in [(3, 1), (6, 2), (12, 7), (100, 7)] {
        at_the_bound(Form::Paper, n, length);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let ring = in_runs(Operation::Bits, Form::LeanRing, 3, P32, 1);
    let top = ring.parameters().top();
    let wrong = |f: &(dyn Fn(&mut Session, &Keys, &mut Sampler) -> Result<(), Abort> + Sync)| {
        refused(with_keys(&ring, f));
    };
    let refresh = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, x: &Ciphertext, level| {
        let held = Some(x).filter(|_| session.me() == party(0));
        keys.refresh(session, sampler, party(0), held, x.factor(), level).map(drop)
    };
    for level in [0, top + 1] {
        wrong(&|session, keys, sampler| {
            let x = keys.encrypt(sampler, top, None).switch(&ring, 0);
            refresh(session, keys, sampler, &x, level)
        });
    }
    // above the bottom; more noise than floods hide; none at the holder
    wrong(&|session, keys, sampler| {
        let x = keys.encrypt(sampler, top, None);
        refresh(session, keys, sampler, &x, top)
    });
    wrong(&|session, keys, sampler| {
        let mut x = keys.encrypt(sampler, top, None).switch(&ring, 0);
        for _ in 0..12 {
            x.add(&ring, session, PASS, &x.clone())?;
        }
        refresh(session, keys, sampler, &x, top)
    });
    wrong(&|session, keys, sampler| keys.refresh(session, sampler, party(0), None, 1, top).map(drop));
    // keys of another session
    let agreed = ring.parameters().describe(Agreed::new("bgv tests"));
    let old = run(3, &agreed, |mut session| Keys::generate(&mut session, &ring));
    let old = honest(old);
    let ends = run(3, &agreed, |mut session| {
        let mut sampler = Sampler::new(&session);
        let keys = &old[session.me().index()];
        let x = keys.encrypt(&mut sampler, top, None).switch(&ring, 0);
        refresh(&mut session, keys, &mut sampler, &x, top)
    });
    // who notices ends the session for the others
    assert!(ends.iter().all(Result::is_err), "{ends:?}");
    refused(ends);
}
