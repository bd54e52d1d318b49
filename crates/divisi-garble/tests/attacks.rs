//! What a blind change cannot show: lies at every place of a batch, and what an abort depends on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Abort, Check};
use divisi_garble::adversary::corrupt::{Lie, guess};
use divisi_garble::adversary::stage::{Stage, Way, failed_check, many, party};
use divisi_garble::lab::{Lab, of_party, run_over};
use divisi_garble::{Form, Options, Plan};
use divisi_net::memory;
use divisi_ot::bucket;
use std::time::Duration;

/// One wrong bit in one triple, first, middle or last, of batches of every length up to forty and some longer ones.
#[test]
fn no_place_of_a_batch_is_left_out() {
    let lengths: Vec<usize> = (1..40).chain([63, 64, 65, 127, 129, 255, 256, 257, 400]).collect();
    many(lengths.len(), 3, |i| {
        let ands = lengths[i];
        let m = ands * bucket::size(ands, 40);
        for at in [0, m / 2, m - 1] {
            let lab = Lab { seed: i as u8, ..Lab::default() };
            let ends = run_over(
                memory::mesh(2),
                |_| lab.parameters(),
                |session| {
                    let lie = if session.me() == party(2) { Lie::OneX(at) } else { Lie::Honest };
                    guess(&mut lab.party(session)?, session, ands, lie)
                },
            );
            let noticed = ends.iter().any(|end| failed_check(end) == Some(Check::W15));
            assert!(noticed && ends[0].is_err(), "{ands} at {at}: {ends:?}");
        }
    });
}

fn one_gate() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(1)[0], g.input(1)[0]);
    let xy = g.and(x, y);
    g.output(&[xy]);
    g.finish()
}

/// How often P_1 stops in so many runs with these inputs, when P_2 spoils one of the four rows.
fn stops(input: [u8; 2], runs: usize) -> usize {
    let ends = many(runs, 3, |i| {
        let program = one_gate();
        let plan = Plan::new(&program, 2, &[party(1), party(2)], &[vec![party(1)]]).unwrap();
        let options = Options { form: Form::Paper, ..Options::default() };
        let lab = Lab { options, seed: (i % 256) as u8, ..Lab::default() };
        let stage = Stage::new(2, Duration::from_secs(10));
        stage.change(party(2), party(1), "divisi_garble::run/4d.table", 0, |body| body[0] ^= 1);
        let ends = stage.act(&lab.parameters(), |session| {
            let mine = of_party(&plan, session.me(), &[input.to_vec()]);
            lab.play(session, &plan, &mine).map(|(outputs, _)| outputs)
        });
        match &ends[0] {
            Ok(outputs) => assert_eq!(outputs[0], [input[0] & input[1]]),
            Err(abort) => {
                let anonymous = Abort::CheckFailed { check: Check::W22, step: abort.step(), culprit: None };
                assert_eq!(*abort, anonymous);
            }
        }
        ends[0].is_err()
    });
    ends.into_iter().filter(|stopped| *stopped).count()
}

/// A wrong row stops the run when it is read: one time in four, whatever the inputs are (W23).
#[test]
fn whether_a_wrong_row_is_read_does_not_depend_on_inputs() {
    const RUNS: usize = 768;
    for input in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let stopped = stops(input, RUNS) as f64;
        let (mean, sigma) = (RUNS as f64 / 4.0, (RUNS as f64 * 3.0 / 16.0).sqrt());
        assert!((stopped - mean).abs() < 5.0 * sigma, "{input:?}: {stopped} of {RUNS}");
    }
}

/// What an honest party tells of its shares is uniform beside the sum that is opened, and so are masked inputs.
#[test]
fn what_is_opened_looks_random() {
    for step in [
        "divisi_garble::laand/3.e",
        "divisi_garble::aand/3.d",
        "divisi_garble::run/4a.d",
        "divisi_garble::online/5.masked",
    ] {
        let ones = many(256, 3, |i| {
            let program = one_gate();
            let plan = Plan::for_all(&program, 3, &[party(1), party(2)]).unwrap();
            let lab = Lab { seed: i as u8, ..Lab::default() };
            let stage = Stage::new(3, Duration::from_secs(10));
            let recording = stage.recording(party(1));
            let ends = stage.act(&lab.parameters(), |session| {
                let mine = of_party(&plan, session.me(), &[vec![1, 1]]);
                lab.play(session, &plan, &mine)
            });
            assert!(ends.iter().all(Result::is_ok));
            let body = recording.of(Way::Out, step).pop().unwrap().frame.body;
            // behind the plan's digest, where there is one
            body[if step.ends_with("4a.d") { 32 } else { 0 }] & 1
        });
        let ones = ones.iter().filter(|bit| **bit == 1).count();
        assert!((88..=168).contains(&ones), "{step}: {ones} of 256");
    }
}
