//! The tampering sweep: every message of a corrupt party, changed in every way, in every role.

use super::attacks::LANES;
use super::{bits, bytes, dealt, engine, in_the_clear, inputs, small_program, turn};
use divisi_core::testing::{Operator, Position, Sent, place, salt, sent};
use divisi_core::{Abort, Boolean, PartyId, ProgramRun, settle};
use divisi_rep3::Trio;
use divisi_rep3::adversary::harness::{TrioHarness, links, many};
use divisi_rep3::deal::Part;

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
        let mut jobs = [ProgramRun::new(&program, wires)];
        e.run(&mut jobs)?;
        let [job] = jobs;
        job.wires
    };
    let out = bytes(&mut e, &out)?;
    let pending = e.close_linear(out)?;
    let verified = settle(&mut e, pending)?;
    let opened = e.trio().open(&verified)?;
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
        for (from, to) in links() {
            for n in 0..run[&(from, to)].len() {
                let at = Position { from, to, n };
                for operator in Operator::ALL {
                    let salt = salt((calls, from, to, n, operator));
                    // those that make somebody wait, by sample
                    if !operator.is_slow() || salt % 4 == 0 {
                        jobs.push((calls, at, operator, salt));
                    }
                }
            }
        }
    }
    jobs.sort_by_key(|job| !job.2.is_slow());
    let stopped = many(jobs.len(), 8, |i| {
        let (calls, at, operator, salt) = jobs[i];
        let harness = TrioHarness::default();
        place(&harness, at, operator, salt, &runs[calls][&(at.from, at.to)]);
        let ends = harness.act(|trio| act(trio, &parts, calls, ahead));
        let honest = PartyId::all(3).zip(&ends).filter(|(party, _)| *party != at.from);
        let mut stopped = false;
        for (party, end) in honest {
            match end {
                Ok(opened) => {
                    assert!(*opened == expected, "{party} took a wrong output: {calls} {at:?} {operator:?}");
                }
                Err(_) => stopped = true,
            }
        }
        // a changed message is noticed whatever the secrets are: an abort reveals nothing
        let changed = [Operator::FlipFirst, Operator::FlipLast, Operator::FlipRandom, Operator::Both]
            .into_iter()
            .chain([
                Operator::Truncate,
                Operator::Empty,
                Operator::Extend,
                Operator::Oversize,
                Operator::Drop,
            ])
            .any(|other| other == operator);
        assert!(stopped || !changed, "nobody noticed: {calls} {at:?} {operator:?}");
        stopped
    });
    let noticed = stopped.iter().filter(|stopped| **stopped).count();
    println!("{} positions, {noticed} stopped", jobs.len());
    assert!(jobs.len() > 1500 && noticed > jobs.len() * 4 / 5, "{noticed} of {}", jobs.len());
}
