//! Views cover every byte that was opened, and are compared with both others before anything rests on it.

use super::*;
use divisi_rep3::adversary::harness::MessageDirection;
use divisi_rep3::adversary::lookups::VIEW;
use divisi_rep3::checks;
use std::sync::{Arc, Mutex};

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
            let results = harness.act(|trio| {
                let mut e = Rep3::new(trio, Protocol::Lut256, Security::Malicious);
                let mut x = e.random_bytes(8)?;
                e.prepare(8, 1, 8)?;
                for _ in 0..8 {
                    e.sbox(Direction::Encrypt, &mut [&mut x])?;
                }
                Ok(())
            });
            assert!(results.iter().all(Result::is_err), "{from} {nth}: {results:?}");
            assert!(
                results.iter().any(|r| failed_check(r) == Some(checks::A22)),
                "{from} {nth}: {results:?}"
            );
            let openings = victim.of(MessageDirection::Out, step).len();
            assert!(openings <= nth + 2, "{from} {nth}: {openings} openings");
        }
    }
}

/// Ten layers in which party 1 shows `victim` a false opening in the third, and says that its view is what
/// the victim says that its own is: how many openings the victim sent, and how it ended.
fn with_a_reflected_view(victim: PartyId) -> (usize, Vec<Result<(), Abort>>) {
    let step = opening(Protocol::Lut256);
    let harness = TrioHarness::default().patient();
    let seen = harness.recording(victim);
    let view = Step::new(VIEW).id;
    let open = Step::new(step).id;
    // what the victim says of its view, to be said back to it: the corrupt party waits for it
    let received = Arc::new(Mutex::new(Vec::<[u8; 32]>::new()));
    let said = received.clone();
    harness.hand(victim, party(1), move |frame| {
        if frame.step == view {
            let digest = frame.body.clone().try_into().unwrap_or([0; 32]);
            said.lock().unwrap().push(digest);
        }
        vec![frame]
    });
    let (mut views, mut openings) = (0, 0);
    harness.hand(party(1), victim, move |mut frame| {
        if frame.step == open {
            openings += 1;
            if openings == 3 {
                frame.body[0] ^= 1;
            }
        }
        if frame.step == view {
            views += 1;
            let theirs = (0..2_000).find_map(|_| {
                let theirs = received.lock().unwrap().get(views - 1).copied();
                if theirs.is_none() {
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
                theirs
            });
            if let Some(theirs) = theirs {
                frame.body = theirs.to_vec();
            }
        }
        vec![frame]
    });
    let results = harness.act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Lut256, Security::Malicious);
        let mut x = e.random_bytes(8)?;
        e.prepare(10, 1, 8)?;
        for _ in 0..10 {
            e.sbox(Direction::Encrypt, &mut [&mut x])?;
        }
        Ok(())
    });
    (seen.of(MessageDirection::Out, step).len(), results)
}

/// The liar tells the party that received a false opening that its view is right. That party learns from the
/// other one that it is not, and stops.
#[test]
fn a_reflected_view_deceives_nobody() {
    let victim = party(2);
    for _ in 0..8 {
        let (openings, results) = with_a_reflected_view(victim);
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
