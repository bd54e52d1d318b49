//! Additive indices: shares that confirm no guess, and openings that are compared one by one.

use super::*;
use crate::common::reflect;
use divisi_rep3::Trio;
use divisi_rep3::adversary::blackbox::{components, components_of_mask};
use divisi_rep3::checks;

const VIEW: &str = "divisi_rep3::lookup/view";

/// Party 1 holds two components of x and of the mask: with a guess of x it can compute what party 2 would
/// send without a share of zero. This agrees with what party 2 sends in no more lanes than by chance.
#[test]
fn no_share_of_an_additive_opening_confirms_a_guess() {
    const MANY: usize = 512;
    let harness = TrioHarness::default().patient();
    let seen = harness.recording(party(1));
    let holds = harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let mine = b.me() == party(3);
        let secret: Vec<Gf8> = (0..MANY).map(|l| Gf8((l * 37 + l / 5) as u8 ^ 5)).collect();
        let x = b.input(party(3), mine.then_some(&secret[..]), MANY)?;
        let mask = b.mask(MANY);
        let holds = (components(&x), components_of_mask(&mask), secret);
        let xx = b.local_mul(&x, &x)?;
        b.reconst_additive(xx, mask)?;
        Ok(holds)
    });
    let ([x1, x2], [_, r2], guess) = holds[0].as_ref().unwrap();
    let sent = &seen.bodies(MessageDirection::In, party(2), RECONST)[0];
    let same = (0..MANY).filter(|l| {
        let x3 = guess[*l] + x1[*l] + x2[*l];
        (x2[*l] * x2[*l] + (x2[*l] + x3) * (x2[*l] + x3) + r2[*l]).0 == sent[*l]
    });
    // by chance one in 256: more than 40 of 512 with probability below 2^-100
    let same = same.count();
    assert!(same < 40, "{same} of {MANY} lanes confirm the guess");
}

/// Additive indices that feed one another.
fn chain(trio: Trio, layers: usize) -> Result<(), Abort> {
    let b = &mut BlackBox::new(trio);
    let mut x = input(b)?;
    for _ in 0..layers {
        let vectors = b.rohv_rss(8, LANES)?;
        let xx = b.local_mul(&x, &x)?;
        (x, _) = b.lookup_of_additive(&table(), xx, vectors)?;
    }
    b.output(&x).map(drop)
}

#[test]
fn honest_additive_indices_are_looked_up() {
    assert!(TrioHarness::default().patient().act(|trio| chain(trio, 3)).iter().all(Result::is_ok));
}

/// A party that receives a false share of an additive index stops in the round of the next index: it sends
/// its share of that one, and of no other.
#[test]
fn a_split_additive_index_is_compared_with_the_next() {
    for to in [2, 3].map(party) {
        for nth in 0..3 {
            let harness = TrioHarness::default().patient();
            let victim = harness.recording(to);
            harness.change(party(1), to, RECONST, nth, |body| body[LANES - 1] ^= 0x10);
            let results = harness.act(|trio| chain(trio, 6));
            assert!(results.iter().all(Result::is_err), "{to} {nth}: {results:?}");
            assert!(results.iter().any(|r| failed_check(r) == Some(checks::A22)), "{to} {nth}: {results:?}");
            let openings = victim.of(MessageDirection::Out, RECONST).len();
            assert!(openings <= 2 * (nth + 2), "{to} {nth}: {openings} shares of openings");
        }
    }
}

/// The same if party 1 sends the victim's own digest of its view back to it: the digest of the third party
/// shows the difference.
#[test]
fn a_reflected_view_deceives_nobody_about_an_additive_index() {
    for to in [2, 3].map(party) {
        for _ in 0..6 {
            let harness = TrioHarness::default().patient();
            let victim = harness.recording(to);
            reflect(&harness, to, VIEW, RECONST, 2);
            let results = harness.act(|trio| chain(trio, 8));
            assert!(results[1..].iter().all(Result::is_err), "{to}: {results:?}");
            let openings = victim.of(MessageDirection::Out, RECONST).len();
            assert!(openings <= 6, "{to}: {openings} shares of openings");
        }
    }
}
