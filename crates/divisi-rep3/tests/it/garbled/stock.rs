//! Calls that an engine garbles in idle time: what takes them, how they are bound to keys, and that each is
//! used once.

use super::costs::{packed, pieces};
use super::*;
use divisi_core::Lanes;

/// An engine that keeps calls notes what ran, garbles as many when it is told to, and takes each once; within
/// its bytes, and nothing at all if it keeps none.
#[test]
fn an_engine_keeps_what_will_be_asked_for() {
    let (values, parts) = dealt(5, 3, LANES);
    // of one size
    let programs = [0, 1, 2].map(|turn| {
        let mut g = Build::new();
        let [x, y, z] = [(); 3].map(|()| g.input(8));
        let xy: Vec<_> = (0..8).map(|i| g.and(x[i], y[(i + turn) % 8])).collect();
        let out: Vec<_> = xy.iter().zip(&z).map(|(xy, z)| g.and(*xy, *z)).collect();
        g.output(&out);
        g.finish()
    });
    let expected = [0, 1, 2].map(|i| in_the_clear(&programs[i], &values));
    let ends = TrioHarness::default().act(|trio| {
        let (mut e, wires) = begin(trio, &parts, 0)?;
        let online = |e: &mut Rep3, i: usize| -> Result<bool, Abort> {
            e.trio().session().phase("online");
            let compared = |e: &mut Rep3| times(&e.trio().session().meter().read(), checks::Y1);
            let before = compared(e);
            let out = run_one(e, &programs[i], wires.clone())?;
            let after = compared(e);
            assert_eq!(open(e, &out)?, expected[i]);
            Ok(before == after)
        };
        // a run without compared tables took a call from stock, which only P3 can tell
        let mut was_ready = vec![online(&mut e, 0)?];
        assert!(!e.lacks_stock() && e.stocked_bytes() == 0);
        let each = e.garble_ahead(&programs[0], LANES, &[])?.bytes();
        e.stock_calls(5 * each / 2);
        was_ready.push(online(&mut e, 0)?);
        assert!(e.lacks_stock());
        e.restock()?;
        assert!(!e.lacks_stock() && e.stocked_bytes() == each);
        was_ready.push(online(&mut e, 0)?);
        assert!(e.lacks_stock() && e.stocked_bytes() == 0);
        // no more than there is room for
        let zeros: Vec<Bit> = wires.iter().map(|_| e.public_bit(&[false; LANES])).collect();
        let some = |e: &mut Rep3, i: usize| e.run(&mut [ProgramRun::new(&programs[i], zeros.clone())]);
        e.foresee(|e| (0..9).try_for_each(|_| some(e, 0)))?;
        while e.lacks_stock() {
            e.restock()?;
            assert!(e.stocked_bytes() <= 5 * each / 2);
        }
        assert_eq!(e.stocked_bytes(), 2 * each);
        e.foresee(|_| Ok(()))?;
        assert!(!e.lacks_stock());
        for _ in 0..3 {
            was_ready.push(online(&mut e, 0)?);
        }
        // what was used last stays
        for i in [1, 2] {
            was_ready.push(online(&mut e, i)?);
            while e.lacks_stock() {
                e.restock()?;
                assert!(e.stocked_bytes() <= 5 * each / 2);
            }
        }
        was_ready.push(online(&mut e, 2)?);
        // the program that was used before it makes room
        for i in [1, 2] {
            e.foresee(|e| (0..2).try_for_each(|_| some(e, i)))?;
            restock(&mut e)?;
        }
        was_ready.extend([online(&mut e, 2)?, online(&mut e, 2)?]);
        // on other lanes it is another call
        let one: Vec<Bit> = wires.iter().map(|_| e.public_bit(&[true])).collect();
        restock(&mut e)?;
        let out = run_one(&mut e, &programs[2], one)?;
        assert!(out.iter().all(|bit| bit.lanes() == 1));
        Ok((was_ready, e.stocked_bytes() <= 5 * each / 2))
    });
    let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
    assert!(ends.iter().all(|(_, bounded)| *bounded));
    // of each run, by P3, the only one that compares tables
    let ready: Vec<bool> = (0..ends[0].0.len()).map(|i| ends.iter().all(|(ready, _)| ready[i])).collect();
    assert_eq!(ready, [false, false, true, true, true, false, false, false, true, true, true]);
}

/// What a run sends and waits for: whether it compared tables, its bytes and its rounds.
#[derive(Clone, Copy, Debug)]
struct Online {
    garbles: bool,
    bytes: u64,
    rounds: u32,
}

/// Run jobs, each on its wires, the first `kept` of which depend on a key alone, and open what comes of it.
fn online(
    e: &mut Rep3,
    jobs: &[(&Program, &[Bit])],
    kept: usize,
) -> Result<(Vec<Vec<Vec<u8>>>, Online), Abort> {
    e.trio().session().meter().reset();
    e.trio().session().phase("online");
    let mut jobs: Vec<_> =
        jobs.iter().map(|(program, wires)| ProgramRun::new(program, wires.to_vec()).keeping(kept)).collect();
    e.run(&mut jobs)?;
    let counts = e.trio().session().meter().read();
    let phase = counts.phases.get("online").copied().unwrap_or_default();
    let garbles = counts.checks.contains_key(&checks::Y1);
    let opened = jobs.iter().map(|job| open(e, &job.wires)).collect::<Result<_, _>>()?;
    // what was opened is compared here, and not in the next run
    e.trio().barrier()?;
    Ok((opened, Online { garbles, bytes: phase.bytes, rounds: phase.rounds }))
}

fn restock(e: &mut Rep3) -> Result<(), Abort> {
    while e.lacks_stock() {
        e.restock()?;
    }
    Ok(())
}

/// The bytes that all three send for a program that was garbled ahead with `known` inputs of each lane.
fn bytes_of(program: &Program, lanes: usize, known: usize) -> u64 {
    let labels = pieces((program.input_bits() - known) * lanes, 1024, 48, 32);
    2 * labels + wire_bytes(packed(program.output_bits() * lanes) + 32)
}

/// What the parties saw of a run, taken together.
fn together(ends: &[Online]) -> Online {
    Online {
        garbles: ends.iter().any(|end| end.garbles),
        bytes: ends.iter().map(|end| end.bytes).sum(),
        rounds: ends.iter().map(|end| end.rounds).max().unwrap(),
    }
}

/// Several programs of one run take a call each, if there is one for each: in two one-way messages, as one
/// call does. If there is not, none is taken and none is lost.
#[test]
fn runs_of_several_programs_take_what_waits_together() {
    let programs = [random_program(6, 3, 90), small_program(), small_program(), random_program(8, 3, 60)];
    // the last one has two pieces of labels, in one group of lanes
    let lanes = [LANES, 3, 3, 45];
    let (values, parts): (Vec<_>, Vec<_>) = (5..).zip(lanes).map(|(seed, n)| dealt(seed, 3, n)).unzip();
    let expected: Vec<_> = programs.iter().zip(&values).map(|(p, values)| in_the_clear(p, values)).collect();
    let ends = TrioHarness::default().act(|mut trio| {
        let secret = parts.iter().map(|parts| inputs(&mut trio, parts)).collect::<Result<Vec<_>, _>>()?;
        let mut e = engine(trio);
        let wires = secret.iter().map(|secret| bits(&mut e, secret)).collect::<Result<Vec<_>, _>>()?;
        let all: Vec<(&Program, &[Bit])> = programs.iter().zip(wires.iter().map(|w| &w[..])).collect();
        e.stock_calls(16 << 20);
        let mut seen = Vec::new();
        let mut run = |e: &mut Rep3, which: &[usize]| {
            let jobs: Vec<_> = which.iter().map(|i| all[*i]).collect();
            let (opened, online) = online(e, &jobs, 0)?;
            assert!(which.iter().zip(&opened).all(|(i, opened)| *opened == expected[*i]), "{which:?}");
            seen.push(online);
            Ok::<_, Abort>(())
        };
        run(&mut e, &[0, 1, 2, 3])?; // nothing is there
        restock(&mut e)?;
        run(&mut e, &[0, 1, 2, 3])?; // all are there
        assert_eq!(e.stocked_bytes(), 0);
        restock(&mut e)?;
        run(&mut e, &[3])?;
        let before = e.stocked_bytes();
        run(&mut e, &[0, 1, 3])?; // one is missing
        assert!(before > 0 && e.stocked_bytes() == before);
        restock(&mut e)?;
        run(&mut e, &[3, 0, 1])?; // all are there
        Ok(seen)
    });
    let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
    let runs: Vec<Online> =
        (0..5).map(|i| together(&ends.iter().map(|seen| seen[i]).collect::<Vec<_>>())).collect();
    assert_eq!(runs.iter().map(|run| run.garbles).collect::<Vec<_>>(), [true, false, false, true, false]);
    let of = |which: &[usize]| which.iter().map(|i| bytes_of(&programs[*i], lanes[*i], 0)).sum::<u64>();
    assert_eq!([runs[1].bytes, runs[2].bytes, runs[4].bytes], [of(&[0, 1, 2, 3]), of(&[3]), of(&[0, 1, 3])]);
    assert!(runs.iter().all(|run| run.rounds == 2), "{runs:?}");
}

/// Runs of one program under keys; a key gives its first eight inputs, one value for all lanes.
struct Keys {
    program: Program,
    /// The values of each key, and of the messages.
    values: Vec<Vec<Vec<u8>>>,
    parts: Vec<[Vec<Part>; 3]>,
}

impl Keys {
    fn new(keys: usize) -> Keys {
        let keys = (0..keys as u64).map(|seed| dealt(40 + seed, 1, 1));
        let (values, parts) = keys.chain([dealt(50, 2, LANES)]).unzip();
        Keys { program: small_program(), values, parts }
    }

    fn expected(&self, key: usize) -> Vec<Vec<u8>> {
        let message = self.values.last().unwrap();
        in_the_clear(&self.program, &[&[vec![self.values[key][0][0]; LANES]], &message[..]].concat())
    }

    /// Run the program under a key, the first `kept` inputs of which depend on the key; its output is right.
    fn run(&self, e: &mut Rep3, wires: &[Vec<Bit>], key: usize, kept: usize) -> Result<Online, Abort> {
        let (opened, online) = online(e, &[(&self.program, &wires[key])], kept)?;
        assert_eq!(opened[0], self.expected(key), "key {key}");
        Ok(online)
    }

    /// The engine, and the wires under each key.
    fn begin(&self, mut trio: Trio) -> Result<(Rep3, Vec<Vec<Bit>>), Abort> {
        let secret =
            self.parts.iter().map(|parts| inputs(&mut trio, parts)).collect::<Result<Vec<_>, _>>()?;
        let mut e = engine(trio);
        let mut wires = secret.iter().map(|secret| bits(&mut e, secret)).collect::<Result<Vec<_>, _>>()?;
        let message = wires.pop().unwrap();
        wires.iter_mut().for_each(|wires| wires.extend_from_slice(&message));
        e.stock_calls(16 << 20);
        Ok((e, wires))
    }
}

/// A program that runs a second time under one key is garbled for that key, and the labels of the key's bits
/// are sent ahead, too; until then it takes calls that are garbled for no key. Each call is used once;
/// forgetting a key wipes what was garbled for it.
#[test]
fn labels_of_what_a_key_leaves_go_ahead() {
    let keys = Keys::new(2);
    // which key runs, and whether something is garbled before
    let course = [(0, true), (0, true), (0, true), (1, true), (1, true), (0, false), (0, false), (1, true)];
    let ends = TrioHarness::default().act(|trio| {
        let (mut e, wires) = keys.begin(trio)?;
        let mut seen = Vec::new();
        for (key, idle) in course {
            if idle {
                restock(&mut e)?;
            }
            e.use_key(Some([key as u8; 32]));
            seen.push(keys.run(&mut e, &wires, key, 8)?);
        }
        restock(&mut e)?;
        let with_both = e.stocked_bytes();
        e.forget_key(&[0; 32]);
        let with_one = e.stocked_bytes();
        e.forget_key(&[1; 32]);
        let with_none = e.stocked_bytes();
        e.forget_key(&[1; 32]);
        // what is of no key serves on; and a name that was forgotten may stand for others
        e.use_key(None);
        let of_none = keys.run(&mut e, &wires, 1, 8)?;
        e.use_key(Some([0; 32]));
        for _ in 0..3 {
            restock(&mut e)?;
            seen.push(keys.run(&mut e, &wires, 1, 8)?);
        }
        assert!(with_both > with_one && with_one > with_none && with_none > 0);
        // beside its calls, a key takes a tile of 128 bytes for each of its eight bits
        let each = e.garble_ahead(&keys.program, LANES, &[])?.bytes();
        for of_key in [with_both - with_one, with_one - with_none] {
            assert_eq!(of_key % each, 8 * 128 % each);
        }
        seen.push(of_none);
        Ok(seen)
    });
    let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
    let runs = (0..12).map(|i| together(&ends.iter().map(|seen| seen[i]).collect::<Vec<_>>()));
    let known = |run: Online| match run {
        Online { garbles: true, .. } => None,
        run => [0, 8].into_iter().find(|known| bytes_of(&keys.program, LANES, *known) == run.bytes),
    };
    let of_none = Some(0);
    let bound = Some(8);
    assert_eq!(
        runs.map(known).collect::<Vec<_>>(),
        [
            None,    // the first of all
            of_none, // it comes again
            bound,   // and again
            of_none, // another key
            of_none, // comes again
            bound,   // the first, which was not forgotten
            None,    // nothing waits for it any more
            bound,   // the other
            of_none, // a name that was forgotten
            of_none, bound, of_none
        ]
    );
}

/// Forgetting a key forgets what was garbled for it of all programs: its name may then stand for others.
#[test]
fn a_key_is_forgotten_with_all_its_programs() {
    let mut g = Build::new();
    let [x, y, z] = [(); 3].map(|()| g.input(8));
    let out: Vec<_> = (0..8).map(|i| g.and(x[i], y[i])).zip(&z).map(|(xy, z)| (xy, *z)).collect();
    let out: Vec<_> = out.into_iter().map(|(xy, z)| g.xor(xy, z)).collect();
    g.output(&out);
    let mut all = [Keys::new(2), Keys::new(2)];
    all[1].program = g.finish();
    let ends = TrioHarness::default().act(|trio| {
        let (mut e, wires) = all[0].begin(trio)?;
        e.use_key(Some([0; 32]));
        for _ in 0..3 {
            for keys in &all {
                keys.run(&mut e, &wires, 0, 8)?;
                restock(&mut e)?;
            }
        }
        e.forget_key(&[0; 32]);
        for _ in 0..2 {
            all.iter().try_for_each(|keys| keys.run(&mut e, &wires, 1, 8).map(drop))?;
        }
        Ok(())
    });
    ends.into_iter().for_each(Result::unwrap);
}

/// A key's name stands for what it stood for first: if any of its bits is another one, nothing runs.
#[test]
fn a_name_stands_for_one_key() {
    let keys = Keys::new(2);
    for (kept, other) in [(8, 0..8), (16, 8..9), (16, 15..16), (23, 22..23)] {
        let ends = TrioHarness::default().act(|trio| {
            let (mut e, wires) = keys.begin(trio)?;
            e.use_key(Some([7; 32]));
            for _ in 0..2 {
                online(&mut e, &[(&keys.program, &wires[0])], kept)?;
                restock(&mut e)?;
            }
            // other shares, whatever the bits are: of the other key, or of another bit of the message
            let mut changed = wires[0].clone();
            for bit in other.clone() {
                changed[bit] = if bit < 8 { wires[1][bit].clone() } else { wires[0][bit ^ 4].clone() };
            }
            // all have what was made; whoever sees it first ends the session of those who still compare views
            let end = e.trio().barrier().and_then(|_| online(&mut e, &[(&keys.program, &changed)], kept));
            Ok(end.map(drop))
        });
        let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        is_misuse_of_all(&format!("another key, {kept} {other:?}"), &ends);
    }
}

/// A program whose inputs all depend on a key is bound to no key; so are runs under many keys in turn, of
/// which the engine remembers a few.
#[test]
fn what_cannot_be_bound_runs_all_the_same() {
    let keys = Keys::new(20);
    let ends = TrioHarness::default().act(|trio| {
        let (mut e, wires) = keys.begin(trio)?;
        e.use_key(Some([99; 32]));
        for _ in 0..3 {
            keys.run(&mut e, &wires, 0, 24)?;
            restock(&mut e)?;
        }
        let mut from_stock = 0;
        for key in (0..20).chain(0..20).chain([19, 19]) {
            e.use_key(Some([key as u8; 32]));
            from_stock += usize::from(!keys.run(&mut e, &wires, key, 8)?.garbles);
            restock(&mut e)?;
            assert!(e.stocked_bytes() <= 16 << 20);
        }
        Ok(from_stock)
    });
    // P3 alone compares tables, and every party is P3 of some
    assert!(ends.into_iter().all(|end| end.unwrap() == 42));
}

/// A call that is garbled ahead is not taken for one that runs now, nor for one with other known inputs:
/// garblers that mean different ones have different seeds.
#[test]
fn a_call_ahead_is_no_other_call() {
    let (_, parts) = dealt(3, 3, LANES);
    let program = small_program();
    for calls in 0..3 {
        for odd in roles(calls) {
            for runs_now in [false, true] {
                let ends = TrioHarness::default().act(|trio| {
                    let is_odd = trio.me() == odd;
                    let (mut e, wires) = begin(trio, &parts, calls)?;
                    if is_odd && runs_now {
                        return e.run(&mut [ProgramRun::new(&program, wires)]);
                    }
                    let known = if is_odd { &wires[..3] } else { &wires[..2] };
                    e.garble_ahead(&program, LANES, known).map(drop)
                });
                assert_eq!(failed_check(&ends[roles(calls)[2].index()]), Some(checks::Y1), "{runs_now}");
            }
        }
    }
}
