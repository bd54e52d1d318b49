//! Which call is which job, and what comes late.

use super::*;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};

/// If garblers mean different inputs or outputs, P3 ends at its first comparison, and nobody is blamed; it
/// does so, too, if P3 means another job than both of them.
#[test]
fn one_call_does_not_serve_two_jobs() {
    let (program, (_, parts)) = (small_program(), transparent(3, LANES));
    for calls in 0..3 {
        for other in roles(calls) {
            let ends = TrioHarness::default().act(|trio| {
                let me = trio.me();
                let (mut e, wires) = begin(trio, &parts, calls)?;
                e.use_handles(if me == other { b"key 2, request 7" } else { b"key 1, request 7" });
                e.run(&mut [ProgramRun::new(&program, wires)])
            });
            blames_nobody(&ends[roles(calls)[2].index()], checks::Y1);
        }
    }
}

/// The same for circuits on equal lanes.
#[test]
fn one_call_does_not_serve_two_circuits() {
    let (_, parts) = transparent(3, LANES);
    let programs = [random_program(1, 3, 80), random_program(2, 3, 80)];
    for other in roles(0) {
        let ends = TrioHarness::default().act(|trio| {
            let me = trio.me();
            let (mut e, wires) = begin(trio, &parts, 0)?;
            e.run(&mut [ProgramRun::new(&programs[usize::from(me == other)], wires)])
        });
        // before any table is there to compare
        let salt = Step::new(SALT).id;
        let end = &ends[roles(0)[2].index()];
        let found = matches!(end, Err(Abort::CheckFailed { check: checks::Y1, step, .. }) if step.id == salt);
        assert!(found, "{end:?}");
    }
}

/// What was called before is part of a call: garblers whose histories differ do not continue together.
#[test]
fn a_call_follows_the_same_calls() {
    let (_, parts) = transparent(3, LANES);
    let program = small_program();
    let ends = TrioHarness::default().act(|trio| {
        let me = trio.me();
        let (mut e, wires) = begin(trio, &parts, 0)?;
        let n = usize::from(me == roles(1)[1]);
        run_one(&mut e, &empty(n + 1), wires[..=n].to_vec())?;
        e.run(&mut [ProgramRun::new(&program, wires)])
    });
    assert_eq!(failed_check(&ends[roles(1)[2].index()]), Some(checks::Y1));
}

/// P1 cannot choose the hash of a call by itself.
#[test]
fn another_salt_is_noticed() {
    let (program, (_, parts)) = (small_program(), transparent(9, LANES));
    for calls in 0..3 {
        for liar in [0, 1] {
            let harness = TrioHarness::default();
            let [liar, evaluator] = [roles(calls)[liar], roles(calls)[2]];
            harness.change(liar, evaluator, SALT, 0, |body| body[3] ^= 1);
            let ends = harness.act(|trio| play(trio, &program, &parts, calls));
            blames_nobody(&ends[evaluator.index()], checks::Y1);
        }
    }
}

/// Which bytes of a message are changed, by its length.
type Places = fn(usize) -> Vec<usize>;

/// The first, the last, and those around the eighth, of the 32 bytes of a digest that begins at `from`.
fn digest_at(from: usize) -> Vec<usize> {
    [0, 7, 8, 31].map(|byte| from + byte).to_vec()
}

/// All bytes of the first and of the last of this many labels.
fn labels(n: usize) -> Vec<usize> {
    (0..16).flat_map(|byte| [byte, 16 * (n - 1) + byte]).collect()
}

/// The last piece of each kind in a call of many pieces is compared like the first.
#[test]
fn no_piece_of_a_long_call_is_left_out() {
    const LONG: usize = 2000;
    let (program, (_, parts)) = (small_program(), transparent(9, LONG));
    let [first, _, evaluator] = roles(0);
    let harness = TrioHarness::default().patient();
    let seen = harness.recording(first);
    assert!(harness.act(|trio| play(trio, &program, &parts, 0)).iter().all(Result::is_ok));
    let told: [(&str, Check, fn(usize) -> usize); 5] = [
        (TABLES, checks::Y1, |l| l - 33),
        (LABELS, checks::Y3, |_| 0),
        (LABELS, checks::Y2, |l| l - 33),
        (MASKS, checks::Y2, |l| l - 1),
        (DECODING, checks::Y4, |l| l - 1),
    ];
    for (step, check, at) in told {
        let pieces = seen.bodies(MessageDirection::Out, evaluator, step).len();
        assert!(pieces > 30, "{step}");
        let harness = TrioHarness::default().patient();
        harness.change(first, evaluator, step, pieces - 1, move |body| {
            let at = at(body.len());
            body[at] ^= 1;
        });
        let ends = harness.act(|trio| play(trio, &program, &parts, 0));
        assert_eq!(failed_check(&ends[evaluator.index()]), Some(check), "{step}");
    }
}

/// Every byte of a label, and some of every pair, table, decoding bit and result, wherever it is, and of
/// their digests, are compared by the check that they are for: a later check that notices it does not count.
#[test]
fn every_byte_of_what_is_told_is_compared() {
    let told: [(usize, usize, &str, Check, Places); 14] = [
        (FIRST, EVALUATOR, TABLES, checks::Y1, |l| vec![0, 63, 64, l - 33]),
        (FIRST, EVALUATOR, TABLES, checks::Y1, |l| digest_at(l - 32)),
        (SECOND, EVALUATOR, TABLES, checks::Y1, |l| vec![0, 63, 64, l - 33]),
        (SECOND, EVALUATOR, TABLES, checks::Y1, |l| digest_at(l - 32)),
        // labels, pairs of the other's, and a digest of its own pairs
        (FIRST, EVALUATOR, LABELS, checks::Y3, |l| labels((l - 32) / 48)),
        (FIRST, EVALUATOR, LABELS, checks::Y2, |l| {
            [digest_at(l - 32), vec![(l - 32) / 3, (l - 32) / 3 + 31, l - 33]].concat()
        }),
        (SECOND, EVALUATOR, LABELS, checks::Y3, |l| labels((l - 32) / 48)),
        (SECOND, EVALUATOR, LABELS, checks::Y2, |l| {
            [digest_at(l - 32), vec![(l - 32) / 3, (l - 32) / 3 + 31, l - 33]].concat()
        }),
        (FIRST, EVALUATOR, MASKS, checks::Y2, |l| vec![0, 31, l - 1]),
        (SECOND, EVALUATOR, MASKS, checks::Y3, |l| labels((l - 32) / 16)),
        (SECOND, EVALUATOR, MASKS, checks::Y2, |l| digest_at(l - 32)),
        (FIRST, EVALUATOR, DECODING, checks::Y4, |l| vec![0, l / 2, l - 1]),
        (SECOND, EVALUATOR, DECODING, checks::Y4, |l| digest_at(l - 32)),
        (EVALUATOR, FIRST, RESULT, checks::Y5, |l| [digest_at(l - 32), vec![0, l - 33]].concat()),
    ];
    let (program, (_, parts)) = (small_program(), transparent(9, LANES));
    let harness = TrioHarness::default();
    let recordings = harness.recordings();
    assert!(harness.act(|trio| play(trio, &program, &parts, 0)).iter().all(Result::is_ok));
    let mut jobs = Vec::new();
    for (from, to, step, check, places) in told {
        let [sender, receiver] = [from, to].map(|role| roles(0)[role]);
        let body = recordings[sender.index()].bodies(MessageDirection::Out, receiver, step).remove(0);
        jobs.extend(places(body.len()).into_iter().map(|at| (from, to, step, check, at)));
    }
    many(jobs.len(), 3, |i| {
        let ((from, to, step, check, at), calls) = (jobs[i], i % 3);
        let harness = TrioHarness::default();
        harness.change(roles(calls)[from], roles(calls)[to], step, 0, move |body| body[at] ^= 1);
        let ends = harness.act(|trio| play(trio, &program, &parts, calls));
        assert_eq!(failed_check(&ends[roles(calls)[to].index()]), Some(check), "{step} of {from} at {at}");
    });
}

/// A call that ended in an abort is over: the same parties do not run it, or another, again.
#[test]
fn an_aborted_call_does_not_come_again() {
    let (program, (_, parts)) = (small_program(), transparent(9, LANES));
    let harness = TrioHarness::default();
    let [first, _, evaluator] = roles(0);
    harness.change(first, evaluator, TABLES, 0, |body| body[0] ^= 1);
    let again = harness.act(|trio| {
        let (mut e, wires) = begin(trio, &parts, 0)?;
        let once = e.run(&mut [ProgramRun::new(&program, wires.clone())]).is_err();
        let twice = e.run(&mut [ProgramRun::new(&program, wires)]).is_err();
        Ok((once, twice))
    });
    // P2 receives nothing in this call and may notice nothing; it would get nothing from a call that it
    // evaluates or garbles as P1
    for party in [evaluator, first] {
        assert_eq!(again[party.index()].as_ref().unwrap(), &(true, true));
    }
}

/// A garbler that sends nothing before the other one has done all of its part changes nothing but the time.
#[test]
fn a_garbler_may_answer_late() {
    let (program, (values, parts)) = (small_program(), transparent(0x77, LANES));
    let expected = in_the_clear(&program, &values);
    for calls in 0..3 {
        for late in [0, 1] {
            let [slow, quick] = [roles(calls)[late], roles(calls)[1 - late]];
            // P1 waits for z in its run, so that it signals before it runs; P2 signals when it has done its
            // part
            let (done, wait) = channel::<()>();
            let wait = Mutex::new(wait);
            let done = Mutex::new(Some(done));
            let ends = TrioHarness::default().act(|trio| {
                let me = trio.me();
                let (mut e, wires) = begin(trio, &parts, calls)?;
                if me == slow {
                    // ends when the other one's sender is gone
                    let _ = wait.lock().unwrap_or_else(PoisonError::into_inner).recv();
                }
                let is_second = late == 0;
                let signal = || drop(done.lock().unwrap_or_else(PoisonError::into_inner).take());
                if me == quick && !is_second {
                    signal();
                }
                let out = run_one(&mut e, &program, wires)?;
                if me == quick && is_second {
                    signal();
                }
                open(&mut e, &out)
            });
            assert!(ends.iter().all(|end| end.as_ref().is_ok_and(|opened| *opened == expected)));
        }
    }
}
