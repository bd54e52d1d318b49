//! Delta is in one place of memory while a session of garbling lives, and in none after its end; then no
//! neighbouring words differ by it either. The memory of this process is searched for Deltas that the test
//! planted. The file has only one test, so that nothing runs beside the search.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::memory::{Needle, find, once, pairs};
use divisi_core::testing::party;
use divisi_core::{Abort, Session};
use divisi_garble::lab::{GarbleLab, of_party};
use divisi_garble::{Garble, GarblingForm, Plan};
use divisi_ot::testing::planted;
use std::sync::{Barrier, Mutex};

/// Some hundred ANDs, whose wires are all masked: in levels that widen, so that the vectors that hold their
/// labels grow.
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

const TABLE: &str = "divisi_garble::run/4d.table";
const U: &str = "divisi_garble::laand/5.u";

#[derive(Clone, Copy, Debug)]
struct Case {
    n: usize,
    form: GarblingForm,
    streamed: bool,
    /// A message of the last party to the first is changed.
    lie: Option<&'static str>,
}

/// Runs all phases; returns how each party ended, and what was found wrong in between.
fn play(case: Case, seed: u8) -> (Vec<Result<(), Abort>>, Vec<String>) {
    let Case { n, form, streamed, lie } = case;
    let lab = GarbleLab::of(form, streamed);
    let needles: Vec<Needle> = (0..n).map(|i| Needle::new(seed + i as u8, i == 0)).collect();
    let (all, wrong) = (Barrier::new(n), Mutex::new(Vec::new()));
    // what is wrong is told at the end, because a panic here would leave the other parties waiting
    let look = |session: &Session, there: bool, when: &str| {
        all.wait();
        if session.me().index() == 0 {
            let all = needles.iter().collect::<Vec<_>>();
            for (i, found) in find(&all).unwrap().iter().enumerate() {
                if !if there { once(found) } else { found.is_empty() } {
                    wrong.lock().unwrap().push(format!("{when}, Delta_{}: {found:x?}", i + 1));
                }
            }
            let found = if there { Vec::new() } else { pairs(&all).unwrap() };
            for (i, found) in found.iter().enumerate().filter(|(_, found)| !found.is_empty()) {
                let first = &found[..found.len().min(4)];
                let wrong_here = format!("{when}, {} pairs by Delta_{}: {first:x?}", found.len(), i + 1);
                wrong.lock().unwrap().push(wrong_here);
            }
        }
        all.wait();
    };
    let program = program();
    let plan = Plan::for_all(&program, n, &[party(1), party(n as u8)]).unwrap();
    let inputs = vec![(0..plan.input_bits()).map(|i| u8::from(i % 3 == 0)).collect(); 2];
    let harness = lab.harness(n);
    if let Some(step) = lie {
        // something is changed in every gate, so that it is noticed whatever is read
        harness.change(party(n as u8), party(1), step, 0, |body| body.iter_mut().for_each(|byte| *byte ^= 4));
    }
    let ends = harness.act(|mut session| {
        let needle = &needles[session.me().index()];
        let setup = planted(&mut session, lab.config, needle).unwrap();
        let mut garble = Garble::new(&session, setup, lab.options);
        look(&session, true, "after the set-up");
        let mine = of_party(&plan, session.me(), &inputs);
        let end = if streamed {
            garble.streamed(&mut session, &plan, &mine).map(|_| ())
        } else {
            let (ands, wires) = (2 * plan.and_count(), 2 * (plan.input_bits() + plan.and_count()));
            let run = |garble: &mut Garble, session: &mut Session| {
                let mut made = garble.function_independent(session, ands, wires)?;
                let garbled = garble.function_dependent(session, &mut made, &plan, 2)?;
                if lie.is_none() {
                    look(session, true, "garbled");
                }
                garble.online(session, garbled, &mine).map(|_| ())
            };
            run(&mut garble, &mut session)
        };
        let end = if lie.is_some() {
            // a party that was only told of the end finds out when it continues
            let end = end.and(garble.function_independent(&mut session, 1, 1).map(|_| ()));
            look(&session, false, "after the abort");
            end
        } else {
            look(&session, true, "after the run");
            end
        };
        drop(garble);
        look(&session, false, "after the end");
        end
    });
    (ends, wrong.into_inner().unwrap())
}

#[test]
fn delta_lies_in_one_place_and_in_none_after_the_end() {
    let mut seed = 1;
    for (n, form) in [(2, GarblingForm::Improved), (3, GarblingForm::Improved), (3, GarblingForm::Paper)] {
        for (streamed, lie) in [(false, None), (true, None), (false, Some(TABLE)), (true, Some(U))] {
            let case = Case { n, form, streamed, lie };
            let (ends, wrong) = play(case, seed);
            seed += 5;
            assert!(wrong.is_empty(), "{case:?}: {wrong:#?}");
            let right = if lie.is_none() { Result::is_ok } else { Result::is_err };
            assert!(ends.iter().all(right), "{case:?}: {ends:?}");
        }
    }
}
