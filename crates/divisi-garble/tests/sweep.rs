//! The tampering sweep: every message of a corrupt party, changed in every way, with two parties and with
//! three.
//!
//! Whatever happens, each honest party ends with the right output or aborts; nothing hangs and nothing
//! panics. Changes after which parties wait for the time limit are sampled by default; `cargo test -p
//! divisi-garble --test sweep -- --ignored` runs all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{Harness, Operator, Position, links, many, party, place, salt, sent};
use divisi_core::{Abort, PartyId};
use divisi_garble::lab::{GarbleLab, expected};
use divisi_garble::{GarblingForm, Plan};
use std::time::{Duration, Instant};

fn program() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(3), g.input(3));
    let mut out = Vec::new();
    for i in 0..3 {
        let xy = g.and(x[i], y[i]);
        let more = g.and(xy, x[(i + 1) % 3]);
        out.push(g.xor(more, y[(i + 2) % 3]));
    }
    g.output(&out);
    g.output(&x);
    g.finish()
}

struct Setting {
    n: usize,
    lab: GarbleLab,
    inputs: Vec<Vec<u8>>,
}

impl Setting {
    fn new(n: usize, form: GarblingForm, streamed: bool) -> Setting {
        let mut lab = GarbleLab::of(form, streamed);
        lab.options.batch = 9;
        // as many instances as parties: everybody evaluates, everybody garbles
        let inputs = (0..n).map(|i| (0..6).map(|w| ((i * 5 + w * 3) % 7 % 2) as u8).collect()).collect();
        Setting { n, lab, inputs }
    }

    fn plan<'p>(&self, program: &'p Program) -> Plan<'p> {
        Plan::for_all(program, self.n, &[party(1), party(self.n as u8)]).unwrap()
    }

    fn right(&self, program: &Program) -> Vec<Vec<u8>> {
        self.inputs.iter().map(|input| expected(program, input)).collect()
    }

    fn harness(&self) -> Harness {
        self.lab.harness(self.n)
    }

    fn act(&self, harness: Harness) -> Vec<Result<Vec<Vec<u8>>, Abort>> {
        let program = program();
        let plan = self.plan(&program);
        harness.act(|mut session| self.lab.outputs(&mut session, &plan, &self.inputs))
    }
}

/// Sweeps over one setting, with one in `slow` of the slow changes and one in `quick` of the others. Returns
/// how many changes were tried, and how many were noticed.
fn sweep(setting: &Setting, slow: u64, quick: u64) -> (usize, usize) {
    let program = program();
    let right = setting.right(&program);
    let harness = setting.harness();
    let recordings = harness.recordings();
    assert!(setting.act(harness).iter().all(|end| end.as_ref() == Ok(&right)));
    let sent = sent(&recordings);
    let mut jobs = Vec::new();
    for (from, to) in links(setting.n) {
        for n in 0..sent[&(from, to)].len() {
            for operator in Operator::ALL {
                // of two parties there is no other peer to swap with
                if operator == Operator::Swap && setting.n == 2 {
                    continue;
                }
                let salt = salt((from, to, n, operator));
                if salt % if operator.is_slow() { slow } else { quick } == 0 {
                    jobs.push((Position { from, to, n }, operator, salt));
                }
            }
        }
    }
    jobs.sort_by_key(|job| !job.1.is_slow());
    let noticed = many(jobs.len(), 8, |i| {
        let (at, operator, salt) = jobs[i];
        let harness = setting.harness();
        place(&harness, at, operator, salt, &sent[&(at.from, at.to)]);
        let begun = Instant::now();
        let ends = setting.act(harness);
        assert!(begun.elapsed() < Duration::from_secs(25), "{at:?} {operator:?} took {:?}", begun.elapsed());
        for (party, end) in PartyId::all(setting.n).zip(&ends).filter(|(party, _)| *party != at.from) {
            match end {
                Ok(outputs) => assert_eq!(*outputs, right, "{party}, wrong output: {at:?} {operator:?}"),
                Err(Abort::CheckFailed { culprit: Some(culprit), .. }) => {
                    assert_eq!(*culprit, at.from, "{party} was misled: {at:?} {operator:?}")
                }
                Err(_) => {}
            }
        }
        ends.iter().any(Result::is_err)
    });
    (jobs.len(), noticed.iter().filter(|noticed| **noticed).count())
}

#[test]
fn two_parties() {
    let (tried, noticed) = sweep(&Setting::new(2, GarblingForm::Improved, false), 4, 1);
    assert!(tried > 350 && noticed > tried * 4 / 5, "{noticed} of {tried}");
}

#[test]
fn three_parties() {
    let (tried, noticed) = sweep(&Setting::new(3, GarblingForm::Improved, false), 12, 1);
    assert!(tried > 1_200 && noticed > tried * 4 / 5, "{noticed} of {tried}");
}

#[test]
fn the_papers_form_and_the_streamed_mode() {
    for (n, form, streamed) in
        [(2, GarblingForm::Paper, false), (3, GarblingForm::Improved, true), (3, GarblingForm::Paper, true)]
    {
        let (tried, noticed) = sweep(&Setting::new(n, form, streamed), 40, 5);
        assert!(tried > 60 && noticed > tried * 3 / 4, "{noticed} of {tried}");
    }
}

#[test]
#[ignore = "every position, the slow ones too: some minutes"]
fn all_of_it() {
    for n in [2, 3] {
        for form in [GarblingForm::Improved, GarblingForm::Paper] {
            for streamed in [false, true] {
                sweep(&Setting::new(n, form, streamed), 1, 1);
            }
        }
    }
}
