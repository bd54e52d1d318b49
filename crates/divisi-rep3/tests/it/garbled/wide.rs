//! Calls of many outputs, groups and parts: no mask, no label and no number of a call comes again, however
//! far away.

use super::*;
use divisi_ot::record;
use std::collections::HashSet;

/// ANDs of a lane. All lanes have more than 2^16, and a group of lanes has more than a piece of anything.
const WIDTH: usize = 9000;
const LANES_OF_JOBS: [usize; 2] = [5, 3];

/// The ANDs of one bit with each of many, in one lane.
fn one_with_many(width: usize) -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(8)[0], g.input(width));
    let out: Vec<_> = y.into_iter().map(|y| g.and(x, y)).collect();
    g.output(&out);
    g.finish()
}

/// All inputs are zero, and so are the outputs. What P1 and P3 have of these is the mask that they do not
/// know: no 64 bits of it that follow each other in a lane come twice. Nor does a label that P3 gets. And all
/// hash calls have tweaks of their own.
#[test]
fn nothing_of_a_wide_call_comes_again() {
    let program = one_with_many(WIDTH);
    let parts = LANES_OF_JOBS.map(|lanes| deal_all(&vec![vec![0; lanes]; 1 + WIDTH / 8]));
    let harness = TrioHarness::default().patient();
    let recordings = harness.recordings();
    let ends = harness.act(|mut trio| {
        let secret = [inputs(&mut trio, &parts[0])?, inputs(&mut trio, &parts[1])?];
        let mut e = engine(trio);
        let mut jobs = Vec::new();
        for secret in &secret {
            jobs.push(ProgramRun::new(&program, bits(&mut e, secret)?));
        }
        record::begin();
        let end = e.run(&mut jobs);
        let calls = record::end().calls;
        end?;
        let mut known = Vec::new();
        for job in jobs {
            for byte in bytes(&mut e, &job.wires)? {
                let verified = e.settled(byte)?;
                let part = e.trio().part(&verified)?;
                known.push(part.first.iter().zip(&part.second).map(|(x, y)| x ^ y).collect::<Vec<u8>>());
            }
        }
        Ok((calls, known))
    });
    let [first, second, evaluator] = roles(0);
    let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
    for party in [first, evaluator] {
        let (jobs, mut seen) = (ends[party.index()].1.chunks(WIDTH / 8), HashSet::new());
        for (job, lanes) in jobs.zip(LANES_OF_JOBS) {
            for lane in 0..lanes {
                let mut window = 0_u64;
                let of_lane = job.iter().flat_map(|byte| (0..8).map(move |bit| byte[lane] >> bit & 1));
                for (at, bit) in of_lane.enumerate() {
                    window = window << 1 | u64::from(bit);
                    assert!(at < 63 || seen.insert(window), "{party}: output {at} of lane {lane}");
                }
            }
        }
    }
    let mut labels = HashSet::new();
    let told = |party: PartyId, step| {
        recordings[party.index()].bodies(MessageDirection::Out, evaluator, step).into_iter()
    };
    // behind the labels of inputs are pairs, and behind all a digest
    let of_inputs = told(first, LABELS).chain(told(second, LABELS)).map(|body| (3, body));
    for (parts, body) in of_inputs.chain(told(second, MASKS).map(|body| (1, body))) {
        let count = (body.len() - 32) / 16 / parts;
        assert!(body[..16 * count].chunks(16).all(|label| labels.insert(label.to_vec())));
    }
    let lanes: usize = LANES_OF_JOBS.iter().sum();
    assert_eq!(labels.len(), (2 * (8 + WIDTH) + WIDTH) * lanes);
    for (party, inputs) in [(first, 2), (second, 2), (evaluator, 1)] {
        let calls = &ends[party.index()].0;
        let tweaks: HashSet<_> = calls.iter().map(|call| (call.key, call.tweak)).collect();
        assert_eq!(tweaks.len(), (2 * WIDTH + 2 * (8 + WIDTH) + WIDTH) * lanes);
        assert_eq!(calls.len(), inputs * tweaks.len(), "{party}");
    }
}

/// A spoiled hash of a mask ends the run whichever message it is in, and wherever.
#[test]
fn a_spoiled_mask_in_any_message_ends_the_run() {
    const WIDTH: usize = 2048 + 80;
    let program = one_with_many(WIDTH);
    let parts = deal_all(&vec![vec![0; 1]; 1 + WIDTH / 8]);
    let [first, _, evaluator] = roles(0);
    for (message, hashes) in [(0, 2048), (1, 2048), (2, 160)] {
        for at in [0, hashes / 2, hashes - 1] {
            let harness = TrioHarness::default();
            harness.change(first, evaluator, MASKS, message, move |body| body[16 * at] ^= 1);
            let ends = harness.act(|mut trio| {
                let secret = inputs(&mut trio, &parts)?;
                let mut e = engine(trio);
                let wires = bits(&mut e, &secret)?;
                run_one(&mut e, &program, wires).map(drop)
            });
            assert!(failed_check(&ends[evaluator.index()]) == Some(checks::Y2), "{message} {at}: {ends:?}");
        }
    }
}
