//! Views cover every byte that was opened, and are compared with both others before anything rests on it.

use super::*;
use crate::common::reflect;
use divisi_rep3::adversary::lookups::VIEW;
use divisi_rep3::{Trio, checks};

/// Another share of c for one peer, in the first byte of the message, in the last, and between: the views
/// differ, and nobody tosses a coin for a verification.
#[test]
fn a_split_in_any_byte_stops_before_the_verification() {
    let mut jobs = Vec::new();
    for protocol in LOOKUPS {
        for to_next in [true, false] {
            // a replicated opening goes to the next alone; so does the first of a chain
            let layers = match (protocol, to_next) {
                (Protocol::Lut256, false) => 0..0,
                (Protocol::Lut256Additive, false) => 0..1,
                _ => 0..2,
            };
            for nth in layers {
                for place in [0, 8, 300, usize::MAX] {
                    jobs.push((protocol, to_next, nth, place));
                }
            }
        }
    }
    many(jobs.len(), 4, |i| {
        let (protocol, to_next, nth, place) = jobs[i];
        let from = party(1 + (i % 3) as u8);
        let to = if to_next { from.next(3) } else { from.prev(3) };
        let harness = TrioHarness::default().patient();
        let recordings: Vec<(PartyId, Recording)> =
            PartyId::all(3).map(|p| (p, harness.recording(p))).collect();
        harness.change(from, to, opening(protocol), nth, move |body| {
            let at = place.min(body.len() - 1);
            body[at] ^= 1;
        });
        let results =
            harness.act(|trio| two_layers(&mut Rep3::new(trio, protocol, Security::Malicious), LANES));
        assert!(results.iter().all(Result::is_err), "{protocol} {nth} {place}: {results:?}");
        let views = |r: &Result<(), Abort>| matches!(failed_check(r), Some(checks::A2 | checks::A22));
        assert!(results.iter().any(views), "{protocol} {nth} {place}: {results:?}");
        for (p, recording) in recordings.iter().filter(|(p, _)| *p != from) {
            assert_eq!(coins_after(recording, opening(protocol)), 0, "{p}: {protocol} {nth} {place}");
        }
    });
}

/// Layers that feed one another, on a random value.
fn layers(trio: Trio, n: usize) -> Result<(), Abort> {
    let mut e = Rep3::new(trio, Protocol::Lut256, Security::Malicious);
    let mut x = e.random_bytes(8)?;
    e.prepare(n, 1, 8)?;
    (0..n).try_for_each(|_| e.sbox(Direction::Encrypt, &mut [&mut x]))
}

/// In layers that feed one another, a party that receives a false opening stops in the round of the next
/// layer: its own share, which it sends in that round, is its last.
#[test]
fn a_split_layer_is_compared_with_the_next_opening() {
    for from in PartyId::all(3) {
        for nth in 0..6 {
            let harness = TrioHarness::default().patient();
            let victim = harness.recording(from.next(3));
            let step = opening(Protocol::Lut256);
            harness.change(from, from.next(3), step, nth, |body| body[0] ^= 1);
            let results = harness.act(|trio| layers(trio, 8));
            assert!(results.iter().all(Result::is_err), "{from} {nth}: {results:?}");
            let noticed = results.iter().any(|r| failed_check(r) == Some(checks::A22));
            assert!(noticed, "{from} {nth}: {results:?}");
            let openings = victim.of(MessageDirection::Out, step).len();
            assert!(openings <= nth + 2, "{from} {nth}: {openings} openings");
        }
    }
}

/// The liar tells the party that received a false opening that its view is right. That party learns from the
/// other one that it is not, and stops.
#[test]
fn a_reflected_view_deceives_nobody() {
    let (victim, step) = (party(2), opening(Protocol::Lut256));
    // who believes the next party goes on, unless that party stops it first: in a part of the runs
    for _ in 0..64 {
        let harness = TrioHarness::default().patient();
        let seen = harness.recording(victim);
        // in the third of ten layers
        reflect(&harness, victim, VIEW, step, 3);
        let results = harness.act(|trio| layers(trio, 10));
        let openings = seen.of(MessageDirection::Out, step).len();
        assert!(results[1..].iter().all(Result::is_err), "{results:?}");
        assert!(openings <= 4, "{openings} openings: {results:?}");
        assert!(results.iter().any(|r| failed_check(r) == Some(checks::A22)), "{results:?}");
    }
}

/// Views are compared whole: a single bit of what party 1 says of its own, wherever it is.
#[test]
fn a_view_counts_to_its_first_byte() {
    for byte in [0, 7, 8, 15, 16, 31] {
        let harness = TrioHarness::default().patient();
        harness.change(party(1), party(2), VIEW, 1, move |body| body[byte] ^= 0x10);
        let results = harness.act(|trio| {
            let mut e = Rep3::new(trio, Protocol::Lut256, Security::Malicious);
            let mut x = e.random_bytes(8)?;
            for vectors in e.vectors(4, 1, 8)? {
                e.sbox_with(Direction::Encrypt, &mut [&mut x], vectors)?;
            }
            Ok(())
        });
        assert_eq!(failed_check(&results[1]), Some(checks::A22), "byte {byte}: {results:?}");
    }
}
