//! The tampering sweep: every message of a corrupt party, changed in every way, in every role.

#[path = "../../sweep/plan.rs"]
mod plan;

use super::*;
use divisi_core::testing::{Sent, place, sent};
use plan::{changes, must_be_noticed, positions};

/// A run that has all in it: a barrier, a call, an opening, a barrier that tells whoever ended. The call may
/// be garbled ahead, before the barrier, with some inputs known.
fn act(mut trio: Trio, parts: &[Vec<Part>; 3], calls: usize, ahead: bool) -> Result<Vec<Vec<u8>>, Abort> {
    trio.absorb("opened", &[7]);
    let secret = inputs(&mut trio, parts)?;
    let mut e = engine(trio);
    turn(&mut e, calls)?;
    let program = small_program();
    let mut wires = bits(&mut e, &secret)?;
    let out = if ahead {
        let later = wires.split_off(4);
        let ahead = e.garble_ahead(&program, LANES / 8, &wires)?;
        e.trio().absorb("opened", &[8]);
        e.run_ahead(ahead, later)?
    } else {
        e.trio().absorb("opened", &[8]);
        run_one(&mut e, &program, wires)?
    };
    let opened = open(&mut e, &out)?;
    e.trio().barrier()?;
    Ok(opened)
}

fn honest(parts: &[Vec<Part>; 3], calls: usize, ahead: bool) -> Sent {
    let harness = TrioHarness::default();
    let recordings = harness.recordings();
    assert!(harness.act(|trio| act(trio, parts, calls, ahead)).iter().all(Result::is_ok));
    sent(&recordings)
}

#[test]
fn no_change_of_a_message_makes_a_wrong_output() {
    sweep(false);
}

#[test]
fn no_change_of_a_message_of_a_call_ahead_makes_a_wrong_output() {
    sweep(true);
}

fn sweep(ahead: bool) {
    let (values, parts) = dealt(77, 3, LANES / 8);
    let expected = in_the_clear(&small_program(), &values);
    let runs: Vec<Sent> = (0..3).map(|calls| honest(&parts, calls, ahead)).collect();
    let mut jobs = Vec::new();
    for (calls, run) in runs.iter().enumerate() {
        // those that make somebody wait, by sample
        jobs.extend(changes(calls, positions(run), (1, 4)).into_iter().map(|change| (calls, change)));
    }
    jobs.sort_by_key(|(_, change)| !change.1.is_slow());
    let stopped = many(jobs.len(), 8, |i| {
        let (calls, (at, operator, salt)) = jobs[i];
        let harness = TrioHarness::default();
        place(&harness, at, operator, salt, &runs[calls][&(at.from, at.to)]);
        let ends = harness.act(|trio| act(trio, &parts, calls, ahead));
        for (party, end) in others(at.from, &ends) {
            let right = end.as_ref().is_ok_and(|opened| *opened == expected);
            assert!(end.is_err() || right, "{party} took a wrong output: {calls} {at:?} {operator:?}");
        }
        // a changed message is noticed whatever the secrets are: an abort reveals nothing
        let stopped = others(at.from, &ends).any(|(_, end)| end.is_err());
        assert!(stopped || !must_be_noticed(operator), "nobody noticed: {calls} {at:?} {operator:?}");
        stopped
    });
    let noticed = stopped.iter().filter(|stopped| **stopped).count();
    println!("{} positions, {noticed} stopped", jobs.len());
    assert!(jobs.len() > 1500 && noticed > jobs.len() * 4 / 5, "{noticed} of {}", jobs.len());
}
