//! Runs of the black box.

use divisi_core::{Abort, Counts};
use divisi_rep3::adversary::harness::{TrioHarness, party};
use divisi_rep3::blackbox::{BlackBox, Element, Shared};
use divisi_rep3::lab;

/// Run at three honest parties, who must agree; returns what the first ended with, and what it cost.
pub fn run<R: Send + PartialEq>(f: impl Fn(&mut BlackBox) -> Result<R, Abort> + Sync) -> (R, Counts) {
    let mut all = lab::run(|trio| {
        let b = &mut BlackBox::new(trio);
        let out = f(b)?;
        Ok((out, b.session().meter().read()))
    })
    .unwrap();
    assert!(all[0].0 == all[1].0 && all[1].0 == all[2].0);
    all.swap_remove(0)
}

/// Run at the parties of a harness, all of them with patience.
pub fn act<R: Send>(
    harness: TrioHarness,
    f: impl Fn(&mut BlackBox) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    harness.patient().act(|trio| f(&mut BlackBox::new(trio)))
}

/// An input of the party with this number.
pub fn input<F: Element>(b: &mut BlackBox, owner: u8, x: &[F]) -> Result<Shared<F>, Abort> {
    let mine = b.me() == party(owner);
    b.input(party(owner), mine.then_some(x), x.len())
}

/// Asserts that all three abort when they do this, and that at least one reports misuse.
pub fn is_misuse<R: Send>(what: &str, f: impl Fn(&mut BlackBox) -> Result<R, Abort> + Sync) {
    super::is_misuse(what, &act(TrioHarness::default(), |b| f(b).map(drop)));
}
