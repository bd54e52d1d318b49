//! Lies about products over GF(2^128), and what the verification makes of them.

use super::*;
use divisi_rep3::adversary::adaptive::{
    MULTIPLY, RHO, SIGMA, deceived, engine, multiplied, multiply_and_open, right,
};
use divisi_rep3::deal;

const OPENED: &str = "divisi_rep3::open/open.bytes";

/// Party 2 sends another share of the `lane`-th product of a batch of `n`, and does the rest as told: whether
/// an honest party is deceived.
fn lie(harness: TrioHarness, n: usize, lane: usize) -> bool {
    harness.change(party(2), party(1), MULTIPLY, 0, move |share| share[16 * lane] ^= 1);
    let results = harness.act(|trio| multiply_and_open(&mut engine(trio), n));
    deceived(&results, party(2))
}

pub fn lie_in_one_of_four(check: Option<Check>) -> bool {
    lie(TrioHarness::without(check), 4, 1)
}

pub fn lie_in_the_last(check: Option<Check>) -> bool {
    lie(TrioHarness::without(check), 3, 2)
}

/// A lie about a product, and a client that is to accept the answers: whether it accepts a wrong one.
pub fn lie_to_a_client(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    harness.change(party(3), party(2), MULTIPLY, 0, |share| share[5] ^= 0x40);
    let results = harness.act(|trio| {
        let mut e = engine(trio);
        let verified = multiplied(&mut e, 1)?;
        e.trio().answer(b"request 1", &verified)
    });
    let Ok(answers) = results.into_iter().collect::<Result<Vec<_>, Abort>>() else { return false };
    let answers: [divisi_rep3::open::Answer; 3] = answers.try_into().ok().unwrap();
    let opened = deal::combine(b"request 1", &answers);
    opened.is_ok_and(|bytes| !right(&bytes.chunks(3).map(<[u8]>::to_vec).collect::<Vec<_>>()))
}

/// A wrong component towards one party only.
pub fn false_component(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    harness.change(party(1), party(2), OPENED, 0, |body| body[0] ^= 1);
    let results = harness.act(|trio| multiply_and_open(&mut engine(trio), 1));
    deceived(&results, party(1))
}

/// An honest party that got a false rho must not send its share of sigma.
pub fn false_rho(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    let honest = harness.recording(party(2));
    harness.change(party(1), party(2), RHO, 0, |body| body[0] ^= 1);
    let results = harness.act(|trio| multiply_and_open(&mut engine(trio), 1));
    assert!(results[1].is_err());
    !honest.of(MessageDirection::Out, SIGMA).is_empty()
}

/// Whether what an honest party sends before the abort reveals which product was wrong.
pub fn where_the_lie_is(check: Option<Check>) -> bool {
    let steps = |lane: usize| {
        let harness = TrioHarness::without(check);
        let honest = harness.recording(party(1));
        assert!(!lie(harness, 4, lane));
        until_the_last_coin(&honest)
    };
    steps(0) != steps(3)
}
