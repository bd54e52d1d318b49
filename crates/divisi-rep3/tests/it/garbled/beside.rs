//! Calls whose inputs rest on an opening that is not compared yet: tables leave beside the barrier, labels
//! after it.

use super::costs::formula;
use super::*;
use divisi_core::testing::Seen;

const BARRIER: &str = "divisi_rep3::views/barrier";
/// What depends on inputs, and what belongs to it.
const LATE: [&str; 3] = [LABELS, MASKS, DECODING];

/// Pieces of tables that leave before views are compared.
const BESIDE: usize = 12;
const PIECE: usize = 4064;

/// A call after an opening: its bytes, its rounds without and with the opening of the output, and what was
/// opened.
fn call(
    trio: Trio,
    program: &Program,
    parts: &[Vec<Part>; 3],
    calls: usize,
    opened: u8,
) -> Result<(u64, [u32; 2], Vec<Vec<u8>>), Abort> {
    let (mut e, wires) = begin(trio, parts, calls)?;
    e.trio().absorb("opened", &[opened]);
    e.trio().session().phase("call");
    let out = run_one(&mut e, program, wires)?;
    let phase = |e: &mut Rep3| e.trio().session().meter().read().phases["call"];
    let made = phase(&mut e);
    let opened = open(&mut e, &out)?;
    Ok((made.bytes, [made.rounds, phase(&mut e).rounds], opened))
}

fn sent(recording: &Recording, to: PartyId, step: &'static str) -> Vec<Seen> {
    recording.of(MessageDirection::Out, step).into_iter().filter(|seen| seen.peer == to).collect()
}

/// The place of each of these messages in the chain of messages that depend on each other.
fn depths(recording: &Recording, to: PartyId, step: &'static str) -> Vec<u32> {
    sent(recording, to, step).iter().map(|seen| seen.frame.depth).collect()
}

/// The call takes one message more than without the barrier, during which tables travel, too; it sends not a
/// byte more than call and barrier.
#[test]
fn tables_leave_beside_the_barrier() {
    let linear = {
        let mut g = Build::new();
        let x = g.input(16);
        g.output(&x[..8]);
        g.finish()
    };
    let sha256 = || circuit("sha256");
    // no tables; one piece; several; more than may leave
    for (program, lanes) in [(linear, 1), (small_program(), LANES), (sha256(), 1), (sha256(), 3)] {
        let (values, parts) = dealt(9, program.input_bits() / 8, lanes);
        let expected = in_the_clear(&program, &values);
        let tables = (program.and_count() * lanes).div_ceil(PIECE);
        assert!(lanes == 3 && tables > BESIDE || lanes != 3 && tables <= BESIDE);
        for calls in 0..3 {
            let harness = TrioHarness::default();
            let recordings = harness.recordings();
            let ends = harness.act(|trio| call(trio, &program, &parts, calls, 7));
            let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
            let [first, second, evaluator] = roles(calls);
            let barrier = 2 * wire_bytes(32);
            for (party, bytes) in roles(calls).into_iter().zip(formula(&program, lanes)) {
                assert_eq!(ends[party.index()].0, barrier + bytes, "{party}");
                assert!(ends[party.index()].2 == expected);
            }
            let most = |i: usize| ends.iter().map(|end| end.1[i]).max().unwrap();
            assert_eq!((most(0), most(1)), (3, 4));
            for garbler in [first, second] {
                let of = |step| depths(&recordings[garbler.index()], evaluator, step);
                assert_eq!((of(BARRIER), of(SALT)), (vec![1], vec![1]));
                let expected: Vec<u32> = (0..tables).map(|i| if i < BESIDE { 1 } else { 2 }).collect();
                assert_eq!(of(TABLES), expected);
                for late in LATE {
                    assert!(!of(late).is_empty() && of(late).iter().all(|depth| *depth == 2), "{late}");
                }
            }
            assert_eq!(depths(&recordings[evaluator.index()], first, RESULT), [3]);
        }
    }
}

/// If views differ, nothing but the salt and tables has left.
#[test]
fn no_label_leaves_if_views_differ() {
    let (program, (_, parts)) = (small_program(), transparent(3, LANES));
    for calls in 0..3 {
        for odd in roles(calls) {
            let harness = TrioHarness::default();
            let recordings = harness.recordings();
            let ends = harness.act(|trio| {
                let opened = u8::from(trio.me() == odd);
                call(trio, &program, &parts, calls, opened)
            });
            assert!(ends.iter().all(Result::is_err));
            for recording in &recordings {
                let labels =
                    LATE.iter().chain([&RESULT]).map(|step| recording.of(MessageDirection::Out, step).len());
                assert_eq!(labels.sum::<usize>(), 0, "{odd}");
            }
        }
    }
}
