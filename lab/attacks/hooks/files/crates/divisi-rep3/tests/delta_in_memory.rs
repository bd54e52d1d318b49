//! After a call in constant rounds, or an abort, its Delta lies nowhere in memory. Delta of a call that was
//! garbled ahead lies at its garblers alone, until the call is used, dropped or lost. The memory of this
//! process is searched for a planted one. One test, so that nothing runs beside the search.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::memory::{Needle, once, pairs};
use divisi_core::{Abort, Boolean, Convert, Misuse, ProgramRun, step};
use divisi_rep3::adversary::Lie;
use divisi_rep3::adversary::harness::{TrioHarness, party};
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Ahead, Bit, Protocol, Rep3, Rounds, Security, Trio};
use std::sync::{Barrier, Mutex};

/// Some hundred ANDs in levels that widen.
fn program() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(40), g.input(40));
    let mut all = x;
    for width in [3, 9, 30, 40, 40, 40] {
        all = (0..width).map(|i| g.and(all[i % all.len()], y[(i + 7 * width) % 40])).collect();
    }
    g.output(&all);
    g.finish()
}

/// What is done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Run,
    /// Garbled ahead, and run then.
    RunAhead,
    /// Garbled ahead, and dropped.
    DropAhead,
    /// Garbled ahead, and kept while another strand ends the session.
    EndAhead,
}

/// The engine, what is kept of a call, and how it ended.
type End = (Rep3, Option<Ahead>, Result<(), Abort>);

fn run(
    trio: Trio,
    parts: &[Vec<Part>; 3],
    program: &Program,
    course: Course,
    waits: &dyn Fn(&mut Rep3),
) -> End {
    let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
    e.use_rounds(Rounds::Constant);
    let mut wires: Vec<Bit> = Vec::new();
    for part in &parts[e.trio().me().index()] {
        let byte = e.trio().input(part).unwrap();
        let bits: [Bit; 8] = e.convert(byte).unwrap();
        wires.extend(bits);
    }
    if course == Course::Run {
        let end = e.run(&mut [ProgramRun::new(program, wires)]);
        return (e, None, end);
    }
    let ahead = match e.garble_ahead(program, 3, &[]) {
        Ok(ahead) => ahead,
        Err(abort) => return (e, None, Err(abort)),
    };
    waits(&mut e);
    match course {
        Course::Run | Course::RunAhead => {
            let end = e.run_ahead(ahead, wires).map(drop);
            (e, None, end)
        }
        Course::DropAhead => {
            drop(ahead);
            (e, None, Ok(()))
        }
        Course::EndAhead => {
            let end = match e.trio().session().strand() {
                Ok(strand) => strand.misuse(step!("end"), Misuse::NoResult),
                // another party was quicker
                Err(_) => e.trio().session().misuse(step!("end"), Misuse::NoResult),
            };
            (e, Some(ahead), Err(end))
        }
    }
}

/// What was found after a call, `liar` lying.
fn search(seed: u8, liar: Option<(u8, Lie)>, course: Course) -> Vec<String> {
    let needle: &'static Needle = Box::leak(Box::new(Needle::new(seed, true)));
    let (program, parts) = (program(), deal_all(&vec![vec![0x5a; 3]; 10]));
    let (all, wrong) = (Barrier::new(3), Mutex::new(Vec::new()));
    let ends = TrioHarness::default().act(|mut trio| {
        let me = trio.me();
        trio.plant_delta(needle);
        if let Some((liar, lie)) = liar
            && me == party(liar)
        {
            trio.lie(lie);
        }
        // while a call waits both garblers have it
        let waits = |e: &mut Rep3| {
            all.wait();
            if e.trio().me() == party(1) {
                let found = needle.copies().unwrap();
                // two halves each
                if found.len() != 4 {
                    wrong.lock().unwrap().push(format!("Delta while a call waits: {found:x?}"));
                }
            }
            all.wait();
        };
        let (e, kept, end) = run(trio, &parts, &program, course, &waits);
        all.wait();
        if me == party(1) {
            let mut wrong = wrong.lock().unwrap();
            let found = needle.copies().unwrap();
            if !found.is_empty() {
                wrong.push(format!("Delta: {found:x?}"));
            }
            let near = pairs(&[needle]).unwrap();
            if near.iter().any(|found| !found.is_empty()) {
                wrong.push(format!("{} pairs that differ by it", near[0].len()));
            }
        }
        all.wait();
        drop((e, kept));
        Ok::<bool, Abort>(end.is_err())
    });
    let aborted = ends.into_iter().any(|end| end.unwrap());
    assert_eq!(aborted, liar.is_some() || course == Course::EndAhead);
    wrong.into_inner().unwrap()
}

#[test]
fn delta_lies_nowhere_after_a_call() {
    // the search finds what is there
    let needle = Needle::new(99, true);
    let mut held = Box::new([0; 16]);
    needle.plant(&mut held);
    assert!(once(&needle.copies().unwrap()));
    *held = [0; 16];
    std::hint::black_box(&held);
    let plain = Course::Run;
    for (seed, liar, course) in [
        (1, None, plain),
        (2, Some((2, Lie::OtherInput)), plain),
        (3, Some((1, Lie::BendGate)), plain),
        (4, Some((3, Lie::OtherResult(3))), plain),
        (5, None, Course::RunAhead),
        (6, None, Course::DropAhead),
        (7, None, Course::EndAhead),
        (8, Some((2, Lie::OtherInput)), Course::RunAhead),
        (9, Some((3, Lie::OtherResult(3))), Course::RunAhead),
    ] {
        let wrong = search(seed, liar, course);
        assert!(wrong.is_empty(), "{liar:?} {course:?}: {wrong:#?}");
    }
}
