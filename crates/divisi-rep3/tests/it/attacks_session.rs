//! Attacks on sessions: replay, split broadcasts, lowered parameters, malformed messages.

use crate::common::prelude::*;
use divisi_core::DrawPurpose;
use divisi_core::testing::{Operator, Position, Sent, place, sent};
use divisi_rep3::adversary::adaptive::{engine, multiply_and_open};
use std::collections::HashSet;

const HELLO: &str = "divisi_core::session::agree/hello";
const ECHO: &str = "divisi_core::session::agree/echo";
const BARRIER: &str = "divisi_rep3::views/barrier";

static TEST: DrawPurpose = DrawPurpose::of_test("a test");

/// A session with a bit of everything.
fn session(trio: Trio) -> Result<bool, Abort> {
    let mut e = engine(trio);
    multiply_and_open(&mut e, 60)
}

fn record() -> Sent {
    let harness = TrioHarness::default();
    let recordings = harness.recordings();
    assert!(harness.act(session).iter().all(|r| *r == Ok(true)));
    sent(&recordings)
}

/// Nothing recorded in one session means anything in another: every message, replayed, ends the session
/// (1.11).
#[test]
fn no_message_of_one_session_passes_in_another() {
    let (old, now) = (record(), record());
    let mut positions = Vec::new();
    for (from, to) in links() {
        for n in 0..old[&(from, to)].len() {
            assert_ne!(old[&(from, to)][n], now[&(from, to)][n], "{from} -> {to}: message {n} repeats");
            positions.push(Position { from, to, n });
        }
    }
    assert!(positions.len() > 80);
    many(positions.len(), 8, |i| {
        let at = positions[i];
        let harness = TrioHarness::default();
        place(&harness, at, Operator::Replay, 0, &old[&(at.from, at.to)]);
        let results = harness.act(session);
        assert!(results[at.to.index()].is_err(), "{at:?}");
        assert!(!results.contains(&Ok(false)));
    });
}

/// Ids, masks, random values, coins and keys of many sessions: all different; the strands of a session
/// and a second engine in a strand included (1.11).
#[test]
fn nothing_random_occurs_twice() {
    let draw = |trio: Trio| {
        let mut e = engine(trio);
        let x = e.random_bytes(16)?;
        let value = e.reveal(vec![x])?.concat();
        let fixed = e.trio().barrier()?;
        let coin = e.trio().coin(&fixed)?.bytes().to_vec();
        let kept = e.trio().random_part(16);
        Ok::<_, Abort>((e.into_trio(), [value, coin, kept.first.clone(), kept.second.clone()]))
    };
    let sessions = repetitions(250, 1000);
    let drawn = many(sessions, 6, |_| {
        let results = TrioHarness::default().act(|mut trio| {
            let id = trio.session().id().as_bytes().to_vec();
            let strand = trio.session().strand()?;
            let (next, prev) = (trio.me().next(3), trio.me().prev(3));
            let key = trio.session().key(next, &TEST).to_vec();
            let other = trio.session().key(prev, &TEST).to_vec();
            let (trio, first) = draw(trio)?;
            // another engine in the same strand continues with fresh streams
            let (_, again) = draw(Trio::new(trio.into_session())?)?;
            let (_, beside) = draw(Trio::new(strand)?)?;
            Ok([vec![id, key, other], first.to_vec(), again.to_vec(), beside.to_vec()].concat())
        });
        results.into_iter().next().unwrap().unwrap()
    });
    let all: Vec<&Vec<u8>> = drawn.iter().flatten().collect();
    assert_eq!(all.len(), 15 * sessions);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

/// What is sent to all, sent differently to one of them: the first step after it ends the session at the
/// victim (1.19).
#[test]
fn a_split_broadcast_is_noticed_at_once() {
    // parameters, nonce; the echo; the view before a verification
    let broadcasts = [
        (HELLO, 0, None),
        (HELLO, 40, Some(checks::M0_3)),
        (ECHO, 5, Some(checks::M0_3)),
        (ECHO, 40, Some(checks::M0_1)),
        (BARRIER, 0, Some(checks::A2)),
        (BARRIER, 31, Some(checks::A2)),
    ];
    for (from, to) in links() {
        for (step, byte, check) in broadcasts {
            let harness = TrioHarness::default();
            let honest = harness.recording(to);
            harness.change(from, to, step, 0, move |body| body[byte] ^= 1);
            let results = harness.act(session);
            let victim = &results[to.index()];
            let fits = match check {
                // whoever receives it first tells the others
                Some(check) => {
                    failed_check(victim) == Some(check) || matches!(victim, Err(Abort::Network(_)))
                }
                None => matches!(victim, Err(Abort::Disagreement { peer, .. }) if *peer == from),
            };
            assert!(fits, "{victim:?}");
            assert!(results.iter().all(Result::is_err), "{from} -> {to}: {step}");
            // nothing of the verification was said
            assert!(honest.of(MessageDirection::Out, "divisi_rep3::random/coin.share").is_empty());
        }
    }
}

/// Each party in turn starts with one public parameter different: the start ends with that party's name
/// (1.20).
#[test]
fn a_different_parameter_ends_the_start() {
    let base = |engine: &str, names: &[(&str, &[u8])]| {
        names.iter().fold(PublicParameters::new(engine), |p, (n, v)| p.with(n, v))
    };
    let default: &[(&str, &[u8])] =
        &[("protocol", b"gf4-circuit"), ("security", b"malicious"), ("lanes", &[2, 0])];
    let others = [
        base("rep3", &[("protocol", b"gf8-circuit"), ("security", b"malicious"), ("lanes", &[2, 0])]),
        base("rep3", &[("protocol", b"gf4-circuit"), ("security", b"semi-honest"), ("lanes", &[2, 0])]),
        base("rep3", &[("protocol", b"gf4-circuit"), ("security", b"malicious"), ("lanes", &[3, 0])]),
        base("rep3", &default[..2]),
        base("rep3", &[default[1], default[0], default[2]]),
        base("spdz", default),
    ];
    for odd in PartyId::all(3) {
        for other in &others {
            let parameters =
                [1, 2, 3].map(|p| if party(p) == odd { other.clone() } else { base("rep3", default) });
            let results = TrioHarness::default().act_each(&parameters, |_| {}, |_| Ok(()));
            for (p, result) in PartyId::all(3).zip(&results) {
                match result {
                    Err(Abort::Disagreement { peer, step, what }) => {
                        assert!(p == odd || *peer == odd);
                        assert_eq!((step.name, *what), (HELLO, "the session's parameters"));
                    }
                    Err(Abort::Network(Fault::Aborted { .. } | Fault::Lost { .. })) => {}
                    other => panic!("{p}: {other:?}"),
                }
            }
            assert!(results.iter().any(|r| matches!(r, Err(Abort::Disagreement { .. }))));
        }
    }
    // this engine refuses a session of two or four parties
    for n in [2, 4] {
        let meshes = divisi_net::memory::mesh(n);
        let results = divisi_rep3::lab::run_over(meshes, &base("rep3", default), |_| Ok(()));
        is_misuse(&format!("{n} parties"), &results);
    }
}

/// What nobody can lower: the sizes on which the security rests (1.20).
#[test]
fn security_parameters_are_what_they_are() {
    assert_eq!((Gf64::BITS, Gf128::BITS), (64, 128));
    let results = TrioHarness::default().act(|mut trio| {
        let fixed = trio.barrier()?;
        let coin = trio.coin(&fixed)?.bytes();
        let id = *trio.session().id().as_bytes();
        let next = trio.me().next(3);
        let key = trio.session().key(next, &TEST).len();
        let mut e = engine(trio);
        assert!(multiply_and_open(&mut e, 100)?);
        let bits = e.trio().session().meter().read().verification_error_bits;
        Ok((8 * coin.len(), 8 * id.len(), 8 * key, bits))
    });
    let (coin, id, key, bits) = *results[0].as_ref().unwrap();
    assert_eq!((coin, id, key), (128, 256, 256));
    assert!(bits.unwrap() >= 57.0);
}

/// Lengths come from the protocol: a message of another length, or with a bit set where nothing may stand,
/// ends the session with the sender's name, and nothing panics (1.22).
#[test]
fn malformed_messages_name_their_sender() {
    let sbox = |trio: Trio| {
        let mut e = Rep3::new(trio, Protocol::Gf8Circuit, Security::Malicious);
        let x = random_sbox(&mut e, 11)?;
        e.reveal(vec![x]).map(drop)
    };
    const THIRD: &str = "divisi_rep3::sbox::gf8_circuit/x3";
    let changes: [(&str, fn(&mut Vec<u8>)); 6] = [
        ("shorter", |body| body.truncate(body.len() - 1)),
        ("longer", |body| body.push(0)),
        ("empty", Vec::clear),
        ("twice as long", |body| body.extend_from_within(..)),
        ("enormous", |body| body.resize(1 << 20, 0)),
        // eleven lanes leave five bits of the second byte of each plane
        ("padding", |body| body[1] |= 0x08),
    ];
    for (name, change) in changes {
        for from in PartyId::all(3) {
            let to = from.prev(3);
            let harness = TrioHarness::default();
            harness.change(from, to, THIRD, 0, change);
            let results = harness.act(sbox);
            let end = &results[to.index()];
            let Err(Abort::Network(Fault::Malformed { peer, step, want: 16, .. })) = end else {
                panic!("{name}: {end:?}")
            };
            assert_eq!((*peer, step.name), (from, THIRD), "{name}");
        }
    }
}
