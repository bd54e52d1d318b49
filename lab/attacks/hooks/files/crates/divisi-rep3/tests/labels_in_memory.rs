//! Labels of a call in constant rounds lie nowhere after its end, nor after an abort: not those that were
//! sent, nor the others. Of a call that waits each party has those that it needs later, until the call is
//! used or dropped, its key is forgotten, or the session ends. The memory of this process is searched for
//! planted ones. One test, so that nothing runs beside the search.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::memory::{Needle, find, once};
use divisi_core::{Abort, Boolean, Convert, Misuse, ProgramRun, step};
use divisi_rep3::adversary::harness::party;
use divisi_rep3::adversary::{Lie, Planted};
use divisi_rep3::deal::Part;
use divisi_rep3::lab::{deal_all, run};
use divisi_rep3::{Bit, Protocol, Rep3, Rounds, Security, Trio};
use std::sync::{Barrier, Mutex};

const LANES: usize = 3;
/// Every byte of the inputs, in every lane.
const VALUE: u8 = 0x5a;
/// How many inputs depend on a key alone: the first ones.
const KEPT: usize = 40;
/// The wires whose labels are planted, each in one lane: an input that comes later, and one of a key.
const LATER: (usize, usize) = (60, 1);
const OF_KEY: (usize, usize) = (20, 2);
/// The output that is the later input.
const OUTPUT: usize = 40;
const NAME: [u8; 32] = [7; 32];

/// Some hundred ANDs in levels that widen, and an input.
fn program() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(40), g.input(40));
    let mut all = x;
    for width in [3, 9, 30, 40, 40, 40] {
        all = (0..width).map(|i| g.and(all[i % all.len()], y[(i + 7 * width) % 40])).collect();
    }
    all.push(y[LATER.0 - 40]);
    g.output(&all);
    g.finish()
}

/// A label, and how many copies there are of it while calls wait: for each call that is garbled for the key,
/// and for each that is garbled for none.
struct Label {
    name: String,
    needle: Needle,
    copies: [usize; 2],
}

/// What is looked for, and where it is planted.
struct Sought {
    delta: &'static Needle,
    planted: &'static Planted,
    labels: Vec<Label>,
    all: Barrier,
    wrong: Mutex<Vec<String>>,
}

impl Sought {
    fn new(seed: u8) -> Sought {
        let needle = |i: u8| Needle::new(seed + i, false);
        let delta: &'static Needle = Box::leak(Box::new(Needle::new(seed, true)));
        let at = |(wire, lane): (usize, usize)| wire * LANES + lane;
        let planted: &'static Planted = Box::leak(Box::new(Planted {
            inputs: vec![(at(LATER), [needle(1), needle(2)]), (at(OF_KEY), [needle(3), needle(4)])],
            output: (at((OUTPUT, LATER.1)), needle(5)),
        }));
        // the zero needle: its sum with a label is that label
        let zero = delta.sum(delta);
        let mut labels = vec![Label { name: "Delta".into(), needle: delta.sum(&zero), copies: [2, 2] }];
        // both labels of each: how many copies there are of the one for zero, and of the other
        let mut push = |name: &str, label: &Needle, copies: [[usize; 2]; 2]| {
            for (bit, copies) in copies.into_iter().enumerate() {
                let needle = label.sum(if bit == 1 { delta } else { &zero });
                labels.push(Label { name: format!("{name}, label of {bit}"), needle, copies });
            }
        };
        let none = [0, 0];
        let [(_, later), (_, of_key)] = &planted.inputs[..] else { panic!() };
        // at both garblers
        push("u of the later input", &later[0], [[2, 2], none]);
        push("x23 of the later input", &later[1], [[2, 2], none]);
        push("the later input", &later[0].sum(&later[1]), [none, none]);
        push("u of the key", &of_key[0], [[0, 2], none]);
        push("x23 of the key", &of_key[1], [[0, 2], none]);
        // the evaluator of a call for the key has the label of its bit
        let mut of_bit = [none, none];
        of_bit[usize::from(VALUE >> (OF_KEY.0 % 8) & 1)] = [1, 0];
        push("the input of the key", &of_key[0].sum(&of_key[1]), of_bit);
        // at P1
        push("the output", &planted.output.1, [[1, 1], none]);
        Sought { delta, planted, labels, all: Barrier::new(3), wrong: Mutex::default() }
    }

    /// All parties wait while the first one looks; this many calls wait for the key, and for none. What is
    /// wrong is told at the end, because a panic here would leave the other parties waiting.
    fn look(&self, me: usize, waiting: [usize; 2], when: &str) {
        self.all.wait();
        if me == 0 {
            let needles: Vec<&Needle> = self.labels.iter().map(|label| &label.needle).collect();
            for (label, found) in self.labels.iter().zip(find(&needles).unwrap()) {
                let wanted: usize = label.copies.iter().zip(waiting).map(|(each, calls)| each * calls).sum();
                if found.len() != 2 * wanted || !found.chunks(2).all(once) {
                    let name = &label.name;
                    let wrong = format!("{when}, {name}: not {wanted} times, but {found:x?}");
                    self.wrong.lock().unwrap().push(wrong);
                }
            }
        }
        self.all.wait();
    }
}

/// What is done with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Run,
    /// After an opening that is not compared yet.
    RunBesideBarrier,
    /// Garbled ahead with the labels of a key, and run then.
    RunAhead,
    /// Garbled ahead with the labels of a key, and dropped.
    DropAhead,
    /// The same, and kept while another strand ends the session.
    EndAhead,
    /// Garbled in idle time: one is used, the key is forgotten, and all is thrown away.
    Stock,
    /// Garbled in idle time, and kept while another strand ends the session.
    EndStock,
}

/// Another strand ends the session.
fn end(e: &mut Rep3) -> Abort {
    match e.trio().session().strand() {
        Ok(strand) => strand.misuse(step!("end"), Misuse::NoResult),
        // another party was quicker
        Err(_) => e.trio().session().misuse(step!("end"), Misuse::NoResult),
    }
}

fn restock(e: &mut Rep3) -> Result<(), Abort> {
    while e.lacks_stock() {
        e.restock()?;
    }
    Ok(())
}

fn take(
    e: &mut Rep3,
    program: &Program,
    wires: &[Bit],
    course: Course,
    sought: &Sought,
) -> Result<(), Abort> {
    let me = e.trio().me().index();
    let run = |e: &mut Rep3| e.run(&mut [ProgramRun::new(program, wires.to_vec()).keeping(KEPT)]);
    match course {
        Course::Run => run(e),
        Course::RunBesideBarrier => {
            e.trio().absorb("opened", &[1]);
            run(e)
        }
        Course::RunAhead | Course::DropAhead | Course::EndAhead => {
            let ahead = e.garble_ahead(program, LANES, &wires[..KEPT])?;
            sought.look(me, [1, 0], "one waits");
            match course {
                Course::RunAhead => e.run_ahead(ahead, wires[KEPT..].to_vec()).map(drop),
                Course::DropAhead => {
                    drop(ahead);
                    Ok(())
                }
                _ => {
                    let ended = end(e);
                    sought.look(me, [0, 0], "the session has ended");
                    drop(ahead);
                    Err(ended)
                }
            }
        }
        Course::Stock | Course::EndStock => {
            e.stock_calls(16 << 20);
            e.use_key(Some(NAME));
            for _ in 0..2 {
                run(e)?;
                restock(e)?;
            }
            sought.look(me, [1, 1], "for the key and for none");
            if course == Course::EndStock {
                let ended = end(e);
                sought.look(me, [0, 0], "the session has ended");
                return Err(ended);
            }
            run(e)?;
            sought.look(me, [0, 1], "that of the key is used");
            restock(e)?;
            sought.look(me, [1, 1], "garbled anew");
            e.forget_key(&NAME);
            sought.look(me, [0, 1], "the key is forgotten");
            e.stock_calls(0);
            Ok(())
        }
    }
}

/// What was wrong in a course, with this liar.
fn search(seed: u8, liar: Option<(u8, Lie)>, course: Course) -> Vec<String> {
    let sought = Sought::new(seed);
    let (program, parts) = (program(), deal_all(&vec![vec![VALUE; LANES]; 10]));
    let ends = run(|mut trio: Trio| {
        let me = trio.me();
        trio.plant_delta(sought.delta);
        trio.plant_labels(sought.planted);
        if let Some((liar, lie)) = liar
            && me == party(liar)
        {
            trio.lie(lie);
        }
        let mine: &Vec<Part> = &parts[me.index()];
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        e.use_rounds(Rounds::Constant);
        let mut wires: Vec<Bit> = Vec::new();
        for part in mine {
            let byte = e.trio().input(part)?;
            let bits: [Bit; 8] = e.convert(byte)?;
            wires.extend(bits);
        }
        let ended = take(&mut e, &program, &wires, course, &sought);
        if liar.is_none() {
            sought.look(me.index(), [0, 0], "done");
        }
        // what came and was not read goes with the session
        drop(e);
        sought.look(me.index(), [0, 0], "the engine is gone");
        Ok(ended.is_err())
    })
    .unwrap();
    let ends_early = matches!(course, Course::EndAhead | Course::EndStock);
    assert_eq!(ends.contains(&true), liar.is_some() || ends_early, "{liar:?} {course:?}");
    sought.wrong.into_inner().unwrap()
}

#[test]
fn labels_lie_where_they_are_needed_and_nowhere_after_a_call() {
    for (i, (liar, course)) in (1..).zip([
        (None, Course::Run),
        (None, Course::RunBesideBarrier),
        (Some((2, Lie::OtherInput)), Course::Run),
        (Some((1, Lie::BendGate)), Course::RunBesideBarrier),
        (Some((3, Lie::OtherResult(3))), Course::Run),
        (None, Course::RunAhead),
        (Some((3, Lie::OtherResult(3))), Course::RunAhead),
        (None, Course::DropAhead),
        (None, Course::EndAhead),
        (None, Course::Stock),
        (None, Course::EndStock),
    ]) {
        let wrong = search(8 * i, liar, course);
        assert!(wrong.is_empty(), "{liar:?} {course:?}: {wrong:#?}");
    }
}
