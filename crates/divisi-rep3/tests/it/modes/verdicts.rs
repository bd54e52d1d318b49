//! The verdict comes before the message, whoever lies, and tells one bit.

use super::*;
use divisi_core::testing::Seen;

const OPENED: &str = "divisi_rep3::open/open.bytes";
const CONFIRMED: &str = "divisi_rep3::open/open.digest";
const PRODUCT: &str = "divisi_rep3::engine::blocks/dot";

/// All messages of a party as an observer of the wire sees them: direction, peer, step and length.
fn traffic(recording: &Recording) -> Vec<(bool, usize, u32, usize)> {
    let mut all = Vec::new();
    for Seen { way, peer, frame } in recording.read() {
        all.push((way == MessageDirection::In, peer.index(), frame.step, frame.body.len()));
    }
    all.sort_unstable();
    all
}

/// What all openings to all three came to: each party sends one of three components.
fn opened(recordings: &[Recording]) -> Vec<u8> {
    let sent = |to: PartyId, seen: &Recording| seen.bodies(MessageDirection::Out, to, OPENED).concat();
    let sent = PartyId::all(3).zip(recordings).map(|(me, seen)| sent(me.next(3), seen));
    let add = |x: Vec<u8>, y: Vec<u8>| x.iter().zip(&y).map(|(x, y)| x ^ y).collect();
    sent.reduce(add).unwrap_or_default()
}

/// The message with one byte changed, at several places, and once with all bytes changed.
fn changed(sealed: &Sealed) -> Vec<Sealed> {
    let whole = sealed.ciphertext.len();
    let places = [0, whole / 2, whole - 1, whole, whole + sealed.tag.len().saturating_sub(1)];
    let mut places: Vec<usize> = places.into_iter().filter(|at| *at < whole + sealed.tag.len()).collect();
    places.dedup();
    let at = |at: usize| match at.checked_sub(whole) {
        None => Sealed { ciphertext: changed_at(&sealed.ciphertext, at, 0x10), ..sealed.clone() },
        Some(at) => Sealed { tag: changed_at(&sealed.tag, at, 0x10), ..sealed.clone() },
    };
    let mut all: Vec<Sealed> = places.into_iter().map(at).collect();
    let noise = |bytes: &[u8]| bytes.iter().map(|byte| byte.wrapping_mul(3) ^ 0xc5).collect();
    let (ciphertext, tag) = (noise(&sealed.ciphertext), noise(&sealed.tag));
    all.push(Sealed { ciphertext, tag, aad: sealed.aad.clone() });
    all
}

/// A message that is not authentic costs the same messages, whatever is wrong with it, and only one masked
/// block a claim is opened, a different one each time: its client learns that it is wrong and nothing else,
/// and so does a server.
#[test]
fn what_is_not_authentic_tells_that_and_nothing_else() {
    for mode in ALL {
        let (key, sealed) = (dealt(mode), mode.sealed());
        let run = |sealed: &Sealed| {
            let harness = TrioHarness::default();
            let seen = harness.recordings();
            let results = harness.act(|trio| {
                let (mut e, key) = begun(trio, mode, &key, Security::Malicious)?;
                unsealed(&mut e, mode, &key, sealed)
            });
            (results, traffic(&seen[0]), opened(&seen))
        };
        let (results, valid, _) = run(&sealed);
        assert!(results.iter().all(|r| r.as_ref() == Ok(&Some(mode.message()))), "{mode:?} {results:?}");
        let (mut shape, mut masked): (Option<Vec<_>>, Vec<Vec<u8>>) = (None, Vec::new());
        let changed = changed(&sealed);
        // the first one twice
        for wrong in changed.iter().chain(changed.first()) {
            let (results, traffic, opened) = run(wrong);
            assert!(results.iter().all(|r| *r == Ok(None)), "{mode:?} {results:?}");
            assert_eq!(opened.len(), 16 * mode.claims(), "{mode:?}");
            assert!(traffic.len() < valid.len(), "{mode:?}: a message follows a verdict that is good");
            assert_eq!(shape.get_or_insert_with(|| traffic.clone()), &traffic, "{mode:?}");
            assert!(!masked.contains(&opened), "{mode:?}: what is opened depends on the message alone");
            masked.push(opened);
        }
    }
}

/// A lie at the opening of a verdict, or in the product before it, ends the session: no honest party takes a
/// message that is not authentic, nor refuses one that is.
#[test]
fn a_lie_about_a_verdict_is_an_abort_and_no_text() {
    for mode in ALL {
        let (key, sealed) = (dealt(mode), mode.sealed());
        for valid in [true, false] {
            let given = if valid { sealed.clone() } else { changed(&sealed).swap_remove(0) };
            for (to, step) in [(2, OPENED), (3, CONFIRMED), (3, PRODUCT)] {
                let harness = TrioHarness::default();
                harness.change(party(1), party(to), step, 0, |body| body[0] ^= 1);
                let results = harness.act(|trio| {
                    let (mut e, key) = begun(trio, mode, &key, Security::Malicious)?;
                    unsealed(&mut e, mode, &key, &given)
                });
                for result in &results[1..] {
                    let right = result.is_err() || *result == Ok(valid.then(|| mode.message()));
                    assert!(right, "{mode:?} {step}: {results:?}");
                }
                assert!(results[1..].iter().any(Result::is_err), "{mode:?} {step}: the lie was not noticed");
            }
        }
    }
}
