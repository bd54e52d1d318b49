//! A mutant for each check of this crate: with the check in place a named attack is stopped, without it the
//! same attack succeeds.

mod combined;
mod noise;
mod refresh;

use crate::tools::*;
use divisi_bgv::checks;
use divisi_bgv::flood::Width;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Ciphertext, Keys, Poly, Ring, Sampler, encode, wire};
use divisi_core::testing::{Harness, MessageDirection, failed_check};
use divisi_core::{Abort, Check, PublicParameters as Agreed, Session};
use divisi_field::zp::P32;
use noise::differ;
use std::sync::Arc;

fn harness(ring: &Ring, without: Option<Check>) -> Harness {
    let agreed = ring.parameters().describe(Agreed::new("bgv attacks"));
    Harness::without(ring.parameters().parties(), &agreed, without)
}

/// All parties with keys, on a harness.
fn act<R: Send>(
    harness: Harness,
    ring: &Arc<Ring>,
    f: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    harness.act(|mut session| {
        let keys = Keys::generate(&mut session, ring)?;
        let mut sampler = Sampler::new(&session);
        f(&mut session, &keys, &mut sampler)
    })
}

/// P_1 and P_3 stand around P_2, and have two guesses at its signs: whether the second component tells which
/// is right.
fn second_component(form: Form, without: Option<Check>) -> bool {
    let ring = small(Operation::Bits, form, 3);
    let guesses = [7, 8].map(|seed| encode::signs(&ring, &bits(seed, ring.dimension())));
    let top = ring.parameters().top();
    let ends = act(harness(&ring, without), &ring, |session, keys, sampler| {
        let factor = Ciphertext::factor_after(&ring, 1, top, top - 1);
        let me = session.me();
        if me == party(0) {
            let plain = encode::coefficients(&ring, &guesses[0]);
            let x = keys.encrypt(sampler, top, Some(&plain));
            wire::send(session, &ring, PASS, party(1), &x.components())?;
            return Ok(Some(x));
        }
        if me == party(1) {
            let x = Ciphertext::receive(session, &ring, PASS, party(0), top, 1)?;
            let x = keys.hop(session, sampler, x, &guesses[1])?;
            wire::send(session, &ring, PASS, party(2), &x.components())?;
            return Ok(None);
        }
        Ciphertext::receive(session, &ring, PASS, party(1), top - 1, factor).map(Some)
    });
    let mut seen = ends.into_iter().filter_map(Result::unwrap);
    let (before, after) = (seen.next().unwrap(), seen.next().unwrap());
    let told = |guess: &[u64]| {
        let mut x = before.clone();
        x.times_random_plain(&ring, &encode::encode(&ring, guess, ring.parameters().limbs(top)));
        x.switch(&ring, top - 1).components()[1].words() == after.components()[1].words()
    };
    assert!(!told(&guesses[0]), "the wrong guess is never confirmed");
    told(&guesses[1])
}

fn second_component_of_lean_hops(without: Option<Check>) -> bool {
    second_component(Form::LeanRing, without)
}

fn second_component_of_paper_hops(without: Option<Check>) -> bool {
    second_component(Form::Paper, without)
}

/// The holder asks for the decryption of (0, a large multiple of p), whose noise is that multiple of the key:
/// whether it reads the other's key share in the answer.
fn key_in_an_answer(without: Option<Check>) -> bool {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let (p, limbs) = (ring.parameters().plain(), ring.parameters().limbs(0));
    let times = 8;
    // a multiple of p that becomes 8 p when the other primes of the bottom are dropped
    let factor = (1..limbs).map(|l| u128::from(ring.modulus(l).get())).product::<u128>() * times;
    let constant = {
        let mut list = vec![0_i128; 1024];
        list[0] = i128::from(p) * factor as i128;
        ring.wide(&list, limbs)
    };
    let harness = harness(&ring, without);
    let recording = harness.recording(party(0));
    let ends = act(harness, &ring, |session, keys, sampler| {
        let x = Keys::forge(0, 1, ring.zero(limbs, false), constant.clone());
        let x = Some(&x).filter(|_| session.me() == party(0));
        keys.e2a(session, sampler, party(0), x, 1)?;
        Ok(keys.reveal())
    });
    let key = ends.into_iter().nth(1).unwrap().unwrap();
    let answer = recording.bodies(MessageDirection::In, party(1), "divisi_bgv::shares/e2a.answer").remove(0);
    let mut h = ring.zero(1, false);
    assert!(wire::read(&ring, &answer, &mut h));
    let first = ring.modulus(0);
    let mut truth = key;
    ring.to_coefficients(&mut truth);
    let right = (0..1024).filter(|i| {
        let guess = (first.centred(h.words()[*i]) as f64 / (times as f64 * p as f64)).round();
        first.centred(truth.words()[*i]) as f64 == guess
    });
    right.count() > 1000
}

/// A flood a bit narrower than the bounds demand.
fn narrow_flood(without: Option<Check>) -> bool {
    let p = Parameters::danger_insecure(Operation::Bits, Form::LeanRing, 2, P32).unwrap();
    let narrow = Width::at_least(p.flood().deviation() - 1.0).unwrap();
    starts(p.with_flood(narrow), checks::G2, without)
}

/// The modulus of one ring in a ring of half the dimension.
fn modulus_beyond_the_table(without: Option<Check>) -> bool {
    let p = Parameters::derive(Operation::Bits, Form::LeanRing, 2, P32).unwrap();
    starts(p.in_smaller_ring(), checks::G5, without)
}

/// Levels whose bounds on noise a ciphertext that is refreshed to them exceeds.
fn levels_without_room_for_refreshes(without: Option<Check>) -> bool {
    let p = Operation::Bits;
    let p = Parameters::danger_insecure_in_runs(p, Form::LeanRing, 3, P32, 1).unwrap();
    starts(p.without_room_for_refreshes(), checks::G5, without)
}

/// Whether keys are made for these parameters; they are refused for this check.
fn starts(p: Parameters, check: Check, without: Option<Check>) -> bool {
    let ring = Arc::new(Ring::new(p).unwrap());
    let ends = act(harness(&ring, without), &ring, |_, _, _| Ok(()));
    assert!(without.is_some() || ends.iter().any(|end| failed_check(end) == Some(check)));
    ends.iter().all(Result::is_ok)
}

/// P_1 sends a coefficient that is not below its prime: whether P_2 takes it.
fn unreduced_coefficient(without: Option<Check>) -> bool {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let harness = harness(&ring, without);
    harness.change(party(0), party(1), PASS.name, 0, |body| body[..8].fill(0xff));
    let top = ring.parameters().top();
    let ends = act(harness, &ring, |session, keys, sampler| {
        if session.me() == party(0) {
            let x = keys.encrypt(sampler, top, None);
            return wire::send(session, &ring, PASS, party(1), &x.components());
        }
        Ciphertext::receive(session, &ring, PASS, party(0), top, 1).map(drop)
    });
    let named = matches!(
        &ends[1],
        Err(Abort::CheckFailed { check: checks::G10, culprit: Some(culprit), .. }) if *culprit == party(0)
    );
    assert!(without.is_some() || named);
    ends[1].is_ok()
}

/// Four decryptions in a session that has three: whether the fourth is answered.
fn one_decryption_more(without: Option<Check>) -> bool {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let ends = harness(&ring, without).act(|mut session| {
        let keys = Keys::limited(&mut session, &ring, 3)?;
        let top = ring.parameters().top();
        let factor = Ciphertext::factor_after(&ring, 1, top, 0);
        let mut sampler = Sampler::new(&session);
        for _ in 0..4 {
            let x = keys.encrypt(&mut sampler, top, None).switch(&ring, 0);
            let x = Some(&x).filter(|_| session.me() == party(0));
            keys.e2a(&mut session, &mut sampler, party(0), x, factor)?;
        }
        Ok(())
    });
    assert!(without.is_some() || failed_check(&ends[1]) == Some(checks::G12));
    ends.iter().all(Result::is_ok)
}

/// P_2 gives two vectors of shares: whether its two messages differ by the difference of the vectors.
fn difference_of_messages(without: Option<Check>) -> bool {
    let ring = small(Operation::Triples, Form::LeanTree, 2);
    let harness = harness(&ring, without);
    let recording = harness.recording(party(0));
    let given = [1, 2].map(|seed| elements(seed, ring.parameters().plain(), 1024));
    honest(act(harness, &ring, |session, keys, sampler| {
        given.iter().try_for_each(|share| keys.a2e(session, sampler, party(0), share).map(drop))
    }));
    let read = |body: &Vec<u8>| {
        let mut b = ring.zero(ring.parameters().chain().len(), false);
        assert!(wire::read(&ring, body, &mut b));
        b
    };
    let sent = recording.bodies(MessageDirection::In, party(1), "divisi_bgv::shares/a2e.give");
    let sent: Vec<Poly> = sent.iter().map(read).collect();
    let mut difference = sent[0].clone();
    ring.sub(&mut difference, &sent[1]);
    let mut read: Vec<u64> = lift(&ring, difference).iter().map(|x| ring.plain().of_wide(*x)).collect();
    encode::decode(&ring, &mut read);
    (0..1024).all(|i| read[i] == ring.plain().sub(given[0][i], given[1][i]))
}

divisi_core::mutants! {
    lean_hops_hide_their_signs: G1, "adds noise to the first component only", second_component_of_lean_hops;
    paper_hops_hide_their_signs: G1, "adds noise to the first component only", second_component_of_paper_hops;
    products_hide_their_factors: G1, "adds noise to the first component only", combined::second_component_of_products;
    exchanges_hide_their_signs: G1, "adds noise to the first component only", combined::second_component_of_exchanges;
    floods_cover_combinations: G2, "takes any width", combined::flood_of_a_summand;
    noise_of_combinations_tells_nothing: G4, "sends its partial decryption as it is", combined::noise_of_combinations;
    floods_of_combinations_hide_noise: G2, "floods as widely as an error", combined::noise_of_combinations;
    narrow_floods_are_refused: G2, "takes any width", narrow_flood;
    floods_are_wide: G2, "floods as widely as an error", key_in_an_answer;
    answers_are_flooded: G4, "sends its partial decryption as it is", key_in_an_answer;
    noise_tells_no_signs: G4, "sends its partial decryption as it is", noise::of_decryptions;
    floods_hide_noise: G2, "floods as widely as an error", noise::of_decryptions;
    noise_of_refreshes_tells_no_signs: G4, "sends its partial decryption as it is", noise::of_refreshes;
    floods_of_refreshes_hide_noise: G2, "floods as widely as an error", noise::of_refreshes;
    noise_after_refreshes_tells_no_signs: G4, "sends its partial decryption as it is", noise::after_refreshes;
    floods_after_refreshes_hide_noise: G2, "floods as widely as an error", noise::after_refreshes;
    refreshed_noise_is_within_its_level: G5, "takes any parameters", levels_without_room_for_refreshes;
    answers_of_refreshes_are_masked: G3, "answers without a mask", refresh::plaintext_of_an_answer;
    refreshes_end: G12, "does not stop at the last", refresh::one_more;
    coefficients_of_refreshes_are_reduced: G10, "takes any coefficients", refresh::unreduced_coefficient;
    polynomials_of_refreshes_serve_once: G13, "forgets which call it is", refresh::difference_of_masks;
    large_moduli_are_refused: G5, "takes any parameters", modulus_beyond_the_table;
    coefficients_are_reduced: G10, "takes any coefficients", unreduced_coefficient;
    decryptions_end: G12, "does not stop at the last", one_decryption_more;
    common_polynomials_serve_once: G13, "forgets which call it is", difference_of_messages;
}

/// docs/bgv.md names every check of this crate with the tests that kill its mutants, and every check has a
/// mutant.
#[test]
fn the_table_of_checks_is_complete() {
    let table = include_str!("../../../../../docs/bgv.md");
    for (check, _, name) in MUTANTS {
        let row = table.lines().find(|line| line.starts_with(&format!("| {check} |")) && line.contains(name));
        assert!(row.is_some(), "docs/bgv.md lacks {check}: {name}");
    }
    for check in checks::ALL {
        assert!(MUTANTS.iter().any(|(c, what, _)| c == check && !what.is_empty()), "{check}");
    }
}
