//! Long batches and wide circuits: checks that begin well must also reach their ends, and the coefficients of
//! a check must follow the whole coin.

use crate::common::ands;
use divisi_circuit::{Build, Gates};
use divisi_core::draws::KnownDraws;
use divisi_core::testing::{Harness, MessageDirection, Recording, failed_check, many, party};
use divisi_core::{Check, Step};
use divisi_garble::Plan;
use divisi_garble::adversary::{TripleLie, guess};
use divisi_garble::checks;
use divisi_garble::lab::{GarbleLab, in_turn};
use std::collections::HashSet;

/// The ANDs of the circuit, and so the bits of each of its two inputs and of its output.
const WIDTH: usize = 4400;

/// The coin of the check of two parties' first batch.
fn first_coin(recordings: &[Recording]) -> [u8; 16] {
    const COIN: &str = "divisi_garble::laand/6.coin";
    let share = |i: usize| {
        let link = recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), COIN).remove(0);
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 coin share v1");
        hasher.update(&link).update(&Step::new(COIN).id.to_le_bytes());
        let mut share = [0; 16];
        hasher.finalize_xof().fill(&mut share);
        u128::from_le_bytes(share)
    };
    (share(0) ^ share(1)).to_le_bytes()
}

/// All randomness is the same each time, so that P_2 knows the coin of the check in the second session. Its
/// wrong triples then pass, because their coefficients add up to zero: exactly those that all bytes of the
/// coin give. If fewer bytes counted, P_2 could guess them.
#[test]
fn coefficients_follow_the_whole_coin() {
    const ANDS: usize = 100;
    let lab = GarbleLab::default();
    let known = KnownDraws { seed: 1, session: 1, changed: None, part: None, doubt: false };
    let ends = |lie: TripleLie| {
        let harness = Harness::new(2, &lab.parameters().drawing(known.clone()));
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            let lie = if session.me() == party(2) { lie } else { TripleLie::Honest };
            guess(&mut lab.party(&mut session)?, &mut session, ANDS, lie)
        });
        (ends, recordings)
    };
    let (honest, recordings) = ends(TripleLie::Honest);
    assert!(honest.iter().all(Result::is_ok), "{honest:?}");
    let coin = first_coin(&recordings);
    let (hidden, recordings) = ends(TripleLie::HiddenFrom(coin));
    assert_eq!(first_coin(&recordings), coin);
    assert!(hidden.iter().all(Result::is_ok), "{hidden:?}");
    // under every other coin the lie is noticed
    for byte in [0, 7, 15] {
        let mut other = coin;
        other[byte] ^= 1;
        let (caught, _) = ends(TripleLie::HiddenFrom(other));
        let noticed = caught.iter().any(|end| failed_check(end) == Some(checks::W15));
        assert!(noticed && caught[0].is_err(), "{byte}: {caught:?}");
    }
}

/// One wrong bit near the end of a long message of P_3, the last garbler, or of P_1, the evaluator: in a
/// table, in what two parties are told of a broadcast, in a result.
#[test]
fn ends_of_long_messages_are_checked() {
    const CASES: [(&str, u8, u8, Check); 4] = [
        ("divisi_garble::run/4d.table", 3, 1, checks::W22),
        ("divisi_garble::online/8.result", 1, 3, checks::W25),
        ("divisi_garble::online/5.masked", 3, 1, checks::W28),
        ("divisi_garble::laand/3.e", 3, 1, checks::W13),
    ];
    let (program, lab) = (ands(WIDTH), GarbleLab::default());
    let plan = Plan::new(&program, 3, &[party(1), party(3)], &[vec![party(3)]]).unwrap();
    many(CASES.len(), 2, |i| {
        let (step, from, to, check) = CASES[i];
        let harness = lab.harness(3);
        harness.change(party(from), party(to), step, 0, move |body| {
            let at = match i {
                // a byte of the last AND's first MAC: the entry has two labels, three MACs for its receiver
                // and three for the third party; then come three bits of each AND
                0 => 104 * (WIDTH - 1) + 80 + 7,
                // the last byte before the digest of labels
                1 => body.len() - 33,
                _ => body.len() - 1,
            };
            // the highest bits of the last byte may be no bits of the message
            body[at] ^= 1;
        });
        let input = vec![vec![1; 2 * WIDTH]];
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &input));
        assert!(ends.iter().any(|end| failed_check(end) == Some(check)), "{step}");
        assert!(ends[usize::from(to) - 1].is_err(), "{step}");
    });
}

/// Each input wire of a wide circuit has a label of its own: of two equal ones the evaluator would learn
/// whether both inputs are alike.
#[test]
fn labels_of_many_inputs_differ() {
    let (program, lab) = (ands(WIDTH / 4), GarbleLab::default());
    let plan = Plan::new(&program, 2, &in_turn(2, 2), &[vec![party(1)]]).unwrap();
    let harness = lab.harness(2);
    let recording = harness.recording(party(2));
    let input = vec![vec![1; plan.input_bits()]];
    let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &input));
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let body = recording.bodies(MessageDirection::Out, party(1), "divisi_garble::online/6.labels").remove(0);
    let labels: HashSet<&[u8]> = body[..16 * plan.input_bits()].chunks(16).collect();
    assert_eq!(labels.len(), plan.input_bits());
}

/// A wrong MAC in the last batch of many, of which each is accepted by itself.
#[test]
fn late_batches_are_checked() {
    let (program, lab) = (ands(WIDTH), GarbleLab::in_batches(WIDTH / 20));
    let plan = Plan::for_all(&program, 2, &in_turn(2, 2)).unwrap();
    for nth in [9, 19] {
        let harness = lab.harness(2);
        // the MAC's last byte comes behind two labels, and is read whatever the masked values are
        harness.change(party(2), party(1), "divisi_garble::run/4d.table", nth, |body| body[32 + 7] ^= 1);
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1; 2 * WIDTH]]));
        assert_eq!(failed_check(&ends[0]), Some(checks::W22), "{nth}");
    }
}

/// Of many peers' messages each one is looked at, also those of the fourth and the fifth party.
#[test]
fn messages_of_every_peer_are_checked() {
    const PARTIES: usize = 5;
    // where the byte is that changes, from the end, and what notices
    const CASES: [(&str, usize, Check); 9] = [
        ("divisi_garble::zero/6.commit", 1, checks::W14),
        ("divisi_garble::zero/6.open", 1, checks::W14),
        ("divisi_garble::laand/3.e", 1, checks::W13),
        ("divisi_garble::aand/3.d", 33, checks::W17),
        ("divisi_garble::run/4a.d", 38, checks::W27),
        ("divisi_garble::online/5.masked", 1, checks::W28),
        ("divisi_garble::online/6.labels", 33, checks::W24),
        ("divisi_garble::run/4d.table", 20, checks::W22),
        ("divisi_garble::online/8.result", 33, checks::W25),
    ];
    let mut g = Build::new();
    let inputs: Vec<_> = (0..PARTIES).flat_map(|_| g.input(8)).collect();
    let out: Vec<_> = (0..8).map(|i| g.and(inputs[i], inputs[8 * (PARTIES - 1) + i])).collect();
    g.output(&out);
    let (program, lab) = (g.finish(), GarbleLab::default());
    let plan = Plan::for_all(&program, PARTIES, &in_turn(PARTIES, PARTIES)).unwrap();
    let all = vec![vec![1; 8 * PARTIES]; PARTIES];
    let cases: Vec<_> = CASES.into_iter().flat_map(|case| (2..=5).map(move |from| (case, from))).collect();
    many(cases.len(), 2, |i| {
        let ((step, behind, check), from) = cases[i];
        let harness = lab.harness(PARTIES);
        harness.change(party(from), party(1), step, 0, move |body| {
            let at = body.len() - behind;
            body[at] ^= 1;
        });
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &all));
        let noticed = ends.iter().any(|end| failed_check(end) == Some(check));
        assert!(noticed && ends[0].is_err(), "{step} of {from}: {ends:?}");
    });
}
