//! The errors of garbling's checks where they are large enough to be seen: in a field of 2^8, and for an
//! evaluator of whose Delta all but a few bits are known. The best cheater passes as often as the bound says.
//! Randomness is seeded, so that counts are always the same.

use crate::common::ands;
use divisi_core::Prg;
use divisi_core::testing::{failed_check, many, party};
use divisi_field::Gf8;
use divisi_garble::Plan;
use divisi_garble::checks;
use divisi_garble::lab::GarbleLab;

fn bytes(prg: &mut Prg, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    prg.fill(&mut out);
    out
}

/// Demands a count within three standard deviations of the expected one.
fn as_often_as(count: usize, of: usize, p: f64) {
    let (mean, deviation) = (of as f64 * p, (of as f64 * p * (1.0 - p)).sqrt());
    let near = (count as f64 - mean).abs() <= 3.0 * deviation;
    assert!(near, "{count} of {of}, expected {mean} +- {deviation}");
}

/// The combination: errors that are not zero add up to zero for one coefficient in 2^8 of the last of them,
/// whatever they are and however many; exactly so over all coefficients.
#[test]
fn errors_cancel_once_in_the_size_of_the_field() {
    let mut prg = Prg::new(&[1; 16]);
    for wrong in 1..20 {
        let errors: Vec<u8> = bytes(&mut prg, wrong).iter().map(|e| e | 1).collect();
        let others = bytes(&mut prg, wrong - 1);
        let sum = |last: u8| {
            let coefficients = others.iter().copied().chain([last]);
            coefficients.zip(&errors).fold(Gf8(0), |sum, (c, e)| sum + Gf8(c) * Gf8(*e)).0
        };
        assert_eq!((0..=255).filter(|c| sum(*c) == 0).count(), 1, "{wrong}");
    }
}

/// n >= 3: what is opened is T R. If T is not zero, T R is zero for one R in 2^8, and uniform over all R. Of
/// all coefficients and factors together two in 2^8 pass, less 2^-16.
#[test]
fn the_masked_total_is_zero_once_more() {
    let error = Gf8(0x53);
    let (mut passed, mut opened) = (0, [0; 256]);
    for c in 0..=255 {
        for r in 0..=255 {
            let total = (Gf8(c) * error * Gf8(r)).0;
            passed += usize::from(total == 0);
            if c != 0 {
                opened[usize::from(total)] += 1;
            }
        }
    }
    assert_eq!(passed, 2 * 256 - 1);
    // what is opened says nothing of the coefficient or of Delta
    assert_eq!(opened, [255; 256]);
}

/// A party that guesses m bits passes only if all guesses are right (2^-m), or if the coefficients of the
/// wrong ones cancel (2^-8 of the other cases).
#[test]
fn guesses_cost_a_bit_each() {
    let mut prg = Prg::new(&[2; 16]);
    for m in 1..6 {
        let runs = 40_000;
        let passed = (0..runs).filter(|_| {
            let all = bytes(&mut prg, 2 * m);
            let (coefficients, wrong) = all.split_at(m);
            let sum =
                coefficients.iter().zip(wrong).filter(|(_, w)| *w & 1 == 1).fold(0, |sum, (c, _)| sum ^ c);
            sum == 0
        });
        let guessed = 0.5_f64.powi(m as i32);
        as_often_as(passed.count(), runs, guessed + (1.0 - guessed) / 256.0);
    }
}

/// How often, in this many runs, P_2 changes a row's bit and P_1 takes a wrong output, when it knows all of
/// P_1's Delta but this many bits, which it guesses.
fn forged_rows(unknown: u32, runs: usize) -> usize {
    let taken = many(runs, 3, |i| {
        let program = ands(1);
        let plan = Plan::new(&program, 2, &[party(1), party(2)], &[vec![party(1)]]).unwrap();
        let lab = GarbleLab { seed: (i % 251) as u8, ..GarbleLab::default() };
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&(i as u64).to_le_bytes());
        let guess = u64::from(bytes(&mut Prg::new(&seed), 1)[0]) & ((1 << unknown) - 1);
        // Delta is dealt from the seed; the liar has its 64 highest bits, with an error in some of them where
        // it guesses wrong
        let deltas = lab.harness(2).patient().act(|mut session| {
            Ok(divisi_ot::testing::deal(&mut session, lab.config, lab.seed)?.delta().get())
        });
        let delta = (*deltas[0].as_ref().unwrap() >> 64) as u64 ^ guess << 13;
        let harness = lab.harness(2).patient();
        // 56 bytes, of which the first MAC is from 32 on, and three bits
        harness.change(party(2), party(1), "divisi_garble::run/4d.table", 0, move |body| {
            body[56] ^= 1;
            body[32..40].iter_mut().zip(delta.to_le_bytes()).for_each(|(mac, d)| *mac ^= d);
        });
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 1]]));
        match &ends[0] {
            Ok(outputs) => assert_eq!(outputs[0], [0], "1 AND 1, with a forged bit"),
            end => assert_eq!(failed_check(end), Some(checks::W22)),
        }
        ends[0].is_ok()
    });
    taken.into_iter().filter(|taken| *taken).count()
}

/// MACs of rows of which four bits have to be guessed.
#[test]
fn a_row_is_forged_as_often_as_delta_is_guessed() {
    as_often_as(forged_rows(4, 240), 240, 1.0 / 16.0);
}

#[test]
#[ignore = "long"]
fn a_row_is_forged_as_often_as_delta_is_guessed_at_eight() {
    as_often_as(forged_rows(8, 4_000), 4_000, 1.0 / 256.0);
}
