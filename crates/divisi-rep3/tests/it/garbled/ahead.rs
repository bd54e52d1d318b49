//! Calls garbled ahead: the same outputs, what travels when, and where they are refused.

use super::costs::{packed, pieces};
use super::*;
use divisi_rep3::adversary::StolenCall;
use divisi_rep3::lab;
use std::sync::Mutex;

/// In every role, for few lanes and several groups, with and without inputs that were there already; after
/// other calls, and after openings.
#[test]
fn outputs_are_those_of_the_program() {
    for (seed, lanes, known) in [(1, 1, 0), (2, 5, 11), (3, 130, 0), (4, 70, 23)] {
        let program = if seed == 3 { small_program() } else { random_program(seed, 3, 120) };
        let (values, parts) = dealt(seed, 3, lanes);
        let expected = in_the_clear(&program, &values);
        for calls in 0..3 {
            let ends = lab::run(|trio| {
                let (mut e, mut wires) = begin(trio, &parts, calls)?;
                let later = wires.split_off(known);
                let ahead = e.garble_ahead(&program, lanes, &wires)?;
                turn(&mut e, 1)?;
                e.trio().absorb("opened", &[7]);
                let out = e.run_ahead(ahead, later)?;
                open(&mut e, &out)
            });
            assert!(ends.unwrap().iter().all(|end| *end == expected), "{seed} {calls}");
        }
    }
}

/// Several wait at once, and may be used in another order than they were made, beside runs of other kinds.
#[test]
fn several_wait_at_once() {
    let (values, parts) = dealt(5, 3, LANES);
    let programs = [small_program(), random_program(6, 3, 90)];
    let expected = [0, 1].map(|i| in_the_clear(&programs[i], &values));
    let ends = lab::run(|trio| {
        let (mut e, wires) = begin(trio, &parts, 0)?;
        let mut made = Vec::new();
        for i in [0, 1, 0, 1] {
            made.push((i, e.garble_ahead(&programs[i], LANES, &[])?));
        }
        let mut opened = Vec::new();
        while let Some((i, ahead)) = made.pop() {
            let now = run_one(&mut e, &programs[i], wires.clone())?;
            let out = e.run_ahead(ahead, wires.clone())?;
            opened.push((i, open(&mut e, &now)?, open(&mut e, &out)?));
        }
        Ok(opened)
    });
    for (i, plain, ahead) in ends.unwrap().concat() {
        assert!(plain == expected[i] && ahead == expected[i]);
    }
}

/// Ahead 16 bytes an AND from each garbler, and 48 and a bit for each output bit; online 96 an input bit, a
/// bit an output bit, and one digest: to the byte, and two one-way messages.
#[test]
fn what_travels_when_is_what_the_formula_says() {
    for (name, lanes, known) in [("sha256", 1, 0), ("aes128", 3, 0), ("sha256", 1, 512)] {
        let program = circuit(name);
        let (_, parts) = dealt(9, program.input_bits() / 8, lanes);
        for calls in 0..3 {
            let counts = lab::run(|trio| {
                let (mut e, mut wires) = begin(trio, &parts, calls)?;
                let later = wires.split_off(known);
                e.trio().session().phase("ahead");
                let ahead = e.garble_ahead(&program, lanes, &wires)?;
                e.trio().session().phase("online");
                let out = e.run_ahead(ahead, later)?;
                let counts = e.trio().session().meter().read();
                open(&mut e, &out)?;
                let opened = e.trio().session().meter().read().phases["online"].rounds;
                Ok((counts, opened))
            })
            .unwrap();
            let ands = program.and_count() * lanes;
            let (ins, outs) = ((program.input_bits() - known) * lanes, program.output_bits() * lanes);
            let packed = packed(outs);
            let inputs = |n: usize| pieces(n, 1024, 48, 32);
            let tables = pieces(ands, 4064, 16, 32) + inputs(known * lanes);
            let masks = [pieces(outs, 1024, 32, 0), pieces(outs, 1024, 16, 32)];
            let expected = [
                (wire_bytes(16) + masks[0] + tables + wire_bytes(packed), inputs(ins)),
                (wire_bytes(32) + masks[1] + tables + wire_bytes(32), inputs(ins)),
                (0, wire_bytes(packed + 32)),
            ];
            for (party, (ahead, online)) in roles(calls).into_iter().zip(expected) {
                let phases = &counts[party.index()].0.phases;
                assert_eq!(phases.get("ahead").map_or(0, |phase| phase.bytes), ahead, "{name} {party}");
                assert_eq!(phases["online"].bytes, online, "{name} {party}");
            }
            let most = |f: &dyn Fn(&(Counts, u32)) -> u32| counts.iter().map(f).max().unwrap();
            assert_eq!(most(&|(counts, _)| counts.phases["ahead"].rounds), 1);
            assert_eq!(most(&|(counts, _)| counts.phases["online"].rounds), 2);
            assert_eq!(most(&|(_, opened)| *opened), 3);
        }
    }
}

/// Every check of a call is made, and counted where it belongs.
#[test]
fn checks_are_those_of_a_call() {
    let program = circuit("sha256");
    let (_, parts) = dealt(9, program.input_bits() / 8, 1);
    let ends = TrioHarness::default().act(|trio| {
        let (mut e, wires) = begin(trio, &parts, 0)?;
        let ahead = e.garble_ahead(&program, 1, &[])?;
        let before = e.trio().session().meter().read();
        e.run_ahead(ahead, wires)?;
        Ok((before, e.trio().session().meter().read()))
    });
    let [first, _, evaluator] = roles(0).map(|party| ends[party.index()].as_ref().unwrap());
    let tables = program.and_count().div_ceil(4064) as u64;
    // what is made ahead is compared when it comes
    for (check, made) in [(checks::Y1, 1 + tables), (checks::Y4, 1)] {
        assert_eq!((times(&evaluator.0, check), times(&evaluator.1, check)), (made, made));
    }
    let ins = program.input_bits().div_ceil(1024) as u64;
    for check in [checks::Y2, checks::Y3] {
        assert_eq!((times(&evaluator.0, check), times(&evaluator.1, check)), (1, 1 + 2 * ins));
    }
    assert_eq!(times(&first.1, checks::Y5), 1);
    assert!(ends.iter().all(|end| end.as_ref().unwrap().1.computational_bits == Some(117.0)));
}

/// A call that is left of a session serves no other one: it is gone with its session, or refused there, as it
/// is in another strand and for inputs that do not fit.
#[test]
fn it_serves_its_own_strand_alone() {
    let (_, parts) = transparent(3, LANES);
    let program = small_program();
    let kept: Mutex<Vec<Ahead>> = Mutex::new(Vec::new());
    let refused = |end: Result<Vec<Bit>, Abort>| matches!(end, Err(Abort::Misuse { .. }));
    let begin = |trio: Trio| -> Result<(Rep3, Vec<Bit>, Ahead), Abort> {
        let (mut e, wires) = begin(trio, &parts, 0)?;
        let ahead = e.garble_ahead(&program, LANES, &[])?;
        Ok((e, wires, ahead))
    };
    let ends = TrioHarness::default().act(|trio| {
        let (_, _, ahead) = begin(trio)?;
        assert!(ahead.is_there() && ahead.bytes() >= LANES * 32 * program.and_count());
        kept.lock().unwrap().push(ahead);
        Ok(())
    });
    assert!(ends.iter().all(Result::is_ok));
    let ends = TrioHarness::default().act(|trio| {
        let (mut e, wires, own) = begin(trio)?;
        // of the session before
        let old = kept.lock().unwrap().pop().unwrap();
        let refused = refused(e.run_ahead(old, wires));
        // and the end of a session takes what it made
        assert!(!own.is_there());
        Ok(refused)
    });
    assert!(ends.into_iter().all(|end| end.unwrap_or(true)));
    for misuse in 0..5 {
        let ends = TrioHarness::default().act(|trio| {
            let (mut e, mut wires, own) = begin(trio)?;
            Ok(match misuse {
                0 => {
                    let strand = e.trio().session().strand()?;
                    let mut other = engine(Trio::new(strand)?);
                    let wires: Vec<Bit> = wires.iter().map(|_| other.public_bit(&[true; LANES])).collect();
                    refused(other.run_ahead(own, wires))
                }
                1 => {
                    wires.pop();
                    refused(e.run_ahead(own, wires))
                }
                2 => {
                    // the last one alone
                    wires.pop();
                    wires.push(e.public_bit(&[true; LANES + 1]));
                    refused(e.run_ahead(own, wires))
                }
                3 => e.garble_ahead(&program, LANES + 1, &wires[..2]).is_err(),
                _ => {
                    let all = e.garble_ahead(&program, LANES, &wires).is_err();
                    all && e.garble_ahead(&program, 0, &[]).is_err() && !own.is_there()
                }
            })
        });
        assert!(ends.into_iter().all(|end| end.unwrap_or(true)), "{misuse}");
    }
}

/// Garblers that mean different jobs, or a party that means another call, end where P3 compares the first
/// list of inputs, before it looks at a label; nobody is blamed.
#[test]
fn one_call_ahead_does_not_serve_two_jobs() {
    let (_, parts) = transparent(3, LANES);
    let program = small_program();
    for calls in 0..3 {
        for other in roles(calls) {
            for another_call in [false, true] {
                let ends = TrioHarness::default().act(|trio| {
                    let odd = trio.me() == other;
                    let (mut e, wires) = begin(trio, &parts, calls)?;
                    let one = e.garble_ahead(&program, LANES, &[])?;
                    turn(&mut e, 2)?;
                    // with the same roles
                    let two = e.garble_ahead(&program, LANES, &[])?;
                    e.use_handles(if odd && !another_call { b"request 8" } else { b"request 7" });
                    e.run_ahead(if odd && another_call { two } else { one }, wires)
                });
                blames_nobody(&ends[roles(calls)[2].index()], checks::Y2);
            }
        }
    }
}

/// What was called between the halves is part of the second one.
#[test]
fn the_second_half_follows_the_same_calls() {
    let (_, parts) = transparent(3, LANES);
    let program = small_program();
    let ends = TrioHarness::default().act(|trio| {
        let odd = usize::from(trio.me() == roles(0)[1]);
        let (mut e, wires) = begin(trio, &parts, 0)?;
        let ahead = e.garble_ahead(&program, LANES, &[])?;
        run_one(&mut e, &empty(1 + odd), wires[..=odd].to_vec())?;
        e.run_ahead(ahead, wires)
    });
    assert_eq!(failed_check(&ends[roles(0)[2].index()]), Some(checks::Y2));
}

/// An abort while something is garbled ahead ends the session: nothing of it is sent again.
#[test]
fn an_abort_ahead_ends_the_session() {
    let (_, parts) = transparent(9, LANES);
    let program = small_program();
    let harness = TrioHarness::default();
    let [first, _, evaluator] = roles(0);
    harness.change(first, evaluator, TABLES, 0, |body| body[0] ^= 1);
    let ends = harness.act(|trio| {
        let (mut e, wires) = begin(trio, &parts, 0)?;
        let once = e.garble_ahead(&program, LANES, &[]);
        let failed = once.as_ref().map(|_| ()).map_err(Clone::clone);
        let ran = once.and_then(|ahead| e.run_ahead(ahead, wires.clone()));
        let again = e.garble_ahead(&program, LANES, &[]).and_then(|ahead| e.run_ahead(ahead, wires));
        Ok((failed, ran.is_err(), again.is_err()))
    });
    let ended = |party: PartyId| ends[party.index()].as_ref().unwrap();
    blames_nobody(&ended(evaluator).0, checks::Y1);
    assert!(ended(evaluator).1 && ended(evaluator).2 && ended(first).1 && ended(first).2);
}

/// P3 keeps what it has of a call, and uses it for a later call with the same roles: whether anybody accepts
/// a wrong output.
pub fn stolen_tables(gap: Gap) -> bool {
    let (program, (values, parts)) = (small_program(), transparent(0x3c, LANES));
    let expected = in_the_clear(&program, &values);
    (0..6).any(|calls| {
        let ends = gap.harness().act(|trio| {
            let is_liar = trio.me() == roles(calls)[2];
            let (mut e, wires) = begin(trio, &parts, calls)?;
            let old = e.garble_ahead(&program, LANES, &[])?;
            turn(&mut e, 2)?;
            let mut ahead = e.garble_ahead(&program, LANES, &[])?;
            if is_liar {
                let stolen = old.steal(e.trio())?;
                ahead.plant(stolen, e.trio())?;
            }
            let out = e.run_ahead(ahead, wires)?;
            open(&mut e, &out)
        });
        ends.iter().any(|end| end.as_ref().is_ok_and(|opened| *opened != expected))
    })
}

/// The same of the session before: P3 was started again, and its stock was not lost.
pub fn stolen_tables_of_another_session(gap: Gap) -> bool {
    let (program, (values, parts)) = (small_program(), transparent(0x3c, LANES));
    let expected = in_the_clear(&program, &values);
    (0..6).any(|calls| {
        let kept: Mutex<Option<StolenCall>> = Mutex::new(None);
        let run = |again: bool| {
            gap.harness().act(|trio| {
                let is_liar = trio.me() == roles(calls)[2];
                let (mut e, wires) = begin(trio, &parts, calls)?;
                let mut ahead = e.garble_ahead(&program, LANES, &[])?;
                if is_liar && !again {
                    *kept.lock().unwrap() = Some(ahead.steal(e.trio())?);
                    return Ok(Vec::new());
                }
                if is_liar && let Some(stolen) = kept.lock().unwrap().take() {
                    ahead.plant(stolen, e.trio())?;
                }
                if !again {
                    return Ok(Vec::new());
                }
                let out = e.run_ahead(ahead, wires)?;
                open(&mut e, &out)
            })
        };
        assert!(run(false).iter().all(Result::is_ok));
        let ends = run(true);
        ends.iter().any(|end| end.as_ref().is_ok_and(|opened| *opened != expected))
    })
}
