//! Tampering sweeps: every message of a corrupt party, changed in every way, within limits of time that tests
//! beside it would exceed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod blackbox;
mod everything;
mod modules;
mod plan;

use divisi_core::testing::Operator;
use divisi_rep3::adversary::harness::{LIMIT, links};
use plan::Change;
use std::time::{Duration, Instant};

/// One in how many changes are tried, of those that are quick and of those that are slow, so that about
/// `share` of each are; `None` means all.
fn one_in(positions: usize, share: Option<(u64, u64)>) -> (u64, u64) {
    let of = |slow| Operator::ALL.iter().filter(|o| o.is_slow() == slow).count() as u64 * positions as u64;
    share.map_or((1, 1), |(quick, slow)| ((of(false) / quick).max(1), (of(true) / slow).max(1)))
}

/// Asserts that every operator and every link is among the changes.
fn all_are_tried<'a>(changes: impl Iterator<Item = &'a Change> + Clone) {
    for operator in Operator::ALL {
        assert!(changes.clone().any(|change| change.1 == operator), "{operator:?} was not tried");
    }
    for (from, to) in links() {
        assert!(changes.clone().any(|(at, ..)| (at.from, at.to) == (from, to)), "{from} to {to}");
    }
}

/// A run that began then has not hung. Mostly it takes far less: nobody waits for what a harness knows will
/// not come.
fn is_in_time(begun: Instant, (at, operator, _): Change) {
    let took = begun.elapsed();
    assert!(took < 2 * LIMIT + Duration::from_secs(20), "{at:?} {operator:?} took {took:?}");
}
