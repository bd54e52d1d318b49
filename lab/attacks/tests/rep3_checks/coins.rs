//! The n-party coin, commitments and echoes: what is opened is what was committed to, to the last byte and by
//! nobody else (M0.2, M0.3).

use crate::common::is_misuse;
use crate::known::{SeededWorld, seed, unseed};
use crate::session::{every_bit_varies, two_sessions};
use divisi_core::testing::{Harness, MessageDirection, failed_check, links, many, party};
use divisi_core::{Abort, Coins, Echo, PartyId, PublicParameters, Session, Step, step};
use divisi_rep3::checks;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

const TOSS: Step = step!("toss");
const OTHER: Step = step!("other");
const COMMIT: Step = Step::new("divisi_core::coin/commit");
const ECHOED: Step = Step::new("divisi_core::coin/echo");
const ECHO: Step = step!("echo");

fn harness(n: usize) -> Harness {
    Harness::new(n, &PublicParameters::new("attacks")).patient()
}

fn tosses(mut session: Session, n: usize) -> Result<Vec<[u8; 16]>, Abort> {
    let mut coins = Coins::commit(&mut session)?;
    (0..n).map(|_| coins.toss(&mut session, TOSS)).collect()
}

/// Two parties do not echo commitments. If a commitment arrives changed in any byte, this shows when it is
/// opened.
#[test]
fn a_link_opens_every_byte_of_its_commitment() {
    for byte in 0..32 {
        let harness = harness(2);
        harness.change(party(1), party(2), COMMIT.name, 0, move |body| body[byte] ^= 1);
        let results = harness.act(|session| tosses(session, 1));
        assert_eq!(failed_check(&results[1]), Some(checks::M0_2), "byte {byte}");
    }
    // and each link opens every byte of the link before it
    for (byte, nth) in (0..32).map(|byte| (byte, byte % 3)) {
        let harness = harness(2);
        harness.change(party(2), party(1), TOSS.name, nth, move |body| body[byte] ^= 1);
        let results = harness.act(|session| tosses(session, 4));
        let Err(Abort::CheckFailed { check: checks::M0_2, culprit, .. }) = results[0] else {
            panic!("byte {byte}: {results:?}")
        };
        assert_eq!(culprit, Some(party(2)));
    }
}

/// A party that commits to what the other committed to, and opens what the other opened, would have every
/// coin zero.
#[test]
fn a_reflected_commitment_opens_nothing() {
    let results = harness(2).act(|mut session| {
        if session.me() == party(2) {
            return tosses(session, 2);
        }
        for step in [COMMIT, TOSS, TOSS] {
            let mut body = [0; 32];
            session.recv(step, party(2), &mut body)?;
            session.send(step, party(2), &body, 0)?;
        }
        Ok(vec![])
    });
    assert_eq!(failed_check(&results[1]), Some(checks::M0_2), "{results:?}");
}

/// A party that uses a chain of another session or strand, which it has opened there, is refused.
#[test]
fn a_chain_serves_one_strand_of_one_session() {
    for strands in [false, true] {
        let said = Mutex::new(Vec::new());
        // P_1 sends in the second session or strand what it sent in the first
        let play = |session: &mut Session, again: bool| {
            if session.me() == party(2) {
                let mut coins = Coins::commit(session)?;
                return coins.toss(session, TOSS).map(|_| ());
            }
            let mut theirs = [0; 32];
            if again {
                let bodies: Vec<Vec<u8>> = said.lock().unwrap().clone();
                session.send(COMMIT, party(2), &bodies[0], 0)?;
                session.recv(COMMIT, party(2), &mut theirs)?;
                session.send(TOSS, party(2), &bodies[1], 0)?;
                return session.recv(TOSS, party(2), &mut theirs);
            }
            let mut coins = Coins::commit(session)?;
            coins.toss(session, TOSS).map(|_| ())
        };
        let first = harness(2);
        let recording = first.recording(party(1));
        let note = || {
            let of = |step: Step| recording.bodies(MessageDirection::Out, party(2), step.name).remove(0);
            *said.lock().unwrap() = vec![of(COMMIT), of(TOSS)];
        };
        let results = if strands {
            first.act(|mut session| {
                let mut other = session.strand()?;
                play(&mut session, false)?;
                if session.me() == party(1) {
                    note();
                }
                play(&mut other, true)
            })
        } else {
            assert!(first.act(|mut session| play(&mut session, false)).iter().all(Result::is_ok));
            note();
            harness(2).act(|mut session| play(&mut session, true))
        };
        assert_eq!(failed_check(&results[1]), Some(checks::M0_2), "{results:?}");
    }
}

/// Coins are the same at all, fresh to the last bit, and never return.
#[test]
fn coins_are_fresh_and_the_same_at_all() {
    for n in [2, 3] {
        let coins = harness(n).act(|session| tosses(session, 80));
        let coins: Vec<_> = coins.into_iter().map(Result::unwrap).collect();
        assert!(coins.iter().all(|c| *c == coins[0]));
        assert_eq!(coins[0].iter().collect::<HashSet<_>>().len(), 80);
        every_bit_varies("coins", &coins[0].iter().map(|coin| coin.to_vec()).collect::<Vec<_>>());
    }
}

/// In a session where all is known, another chain of any one party makes another coin.
#[test]
fn every_party_has_its_share_in_every_coin() {
    let toss = |odd: Option<PartyId>| {
        seed(1, 0);
        let harness =
            Harness::in_world(3, &PublicParameters::new("attacks"), Arc::new(SeededWorld)).patient();
        unseed();
        let begin = |me: PartyId| {
            seed(1, me.number());
            PublicParameters::new("attacks")
        };
        let coins = harness.act_each(begin, |session| {
            seed(if odd == Some(session.me()) { 2 } else { 3 }, session.me().number());
            tosses(session, 2)
        });
        coins.into_iter().next().unwrap().unwrap()
    };
    let base = toss(None);
    assert_eq!(toss(None), base);
    for odd in PartyId::all(3) {
        assert!(toss(Some(odd)).iter().zip(&base).all(|(x, y)| x != y), "{odd}");
    }
}

/// The last link of a chain is as random as the first.
#[test]
fn a_chain_begins_with_256_random_bits() {
    let harness = harness(2);
    let recording = harness.recording(party(1));
    let coins = harness.act(|session| tosses(session, 1030));
    assert!(coins.iter().all(Result::is_ok));
    let links = recording.bodies(MessageDirection::Out, party(2), TOSS.name);
    assert_eq!((links.len(), recording.of(MessageDirection::Out, COMMIT.name).len()), (1030, 2));
    assert_eq!(links.iter().collect::<HashSet<_>>().len(), 1030);
    // more than fifteen zero bytes of 32 have a probability below 2^-90
    let zeros = links.iter().map(|link| link.iter().filter(|byte| **byte == 0).count()).max().unwrap();
    assert!(zeros < 16, "{zeros}");
}

/// A commitment that one of the others receives changed, from any party: that one stops before any coin.
#[test]
fn split_commitments_are_noticed_before_any_coin() {
    for n in [3, 4] {
        for (from, to) in links(n) {
            for (step, byte) in [(COMMIT, 0), (COMMIT, 31), (ECHOED, 0), (ECHOED, 31)] {
                let harness = harness(n);
                let recordings = harness.recordings();
                harness.change(from, to, step.name, 0, move |body| body[byte] ^= 1);
                let results = harness.act(|session| tosses(session, 1));
                assert!(results[to.index()].is_err(), "{n}: {from} to {to}: {}: {results:?}", step.name);
                assert!(results.iter().any(|end| failed_check(end) == Some(checks::M0_3)), "{results:?}");
                assert!(recordings[to.index()].of(MessageDirection::Out, TOSS.name).is_empty());
            }
        }
    }
}

/// Coins of one session cannot be tossed in another.
#[test]
fn coins_of_another_session_are_refused() {
    let ends = two_sessions(|mut first, mut second| {
        let mut coins = Coins::commit(&mut first)?;
        coins.toss(&mut second, TOSS).map(|_| ())
    });
    is_misuse("coins of another session", &ends);
}

/// Every byte of commitment, nonce and payload counts, and what was committed to in one session opens nothing
/// in another.
#[test]
fn every_byte_of_a_commitment_counts() {
    let payload = [3; 40];
    many(33 + 32 + 40, 4, |i| {
        let ends = harness(2).act(|session| {
            let (mut commitment, nonce) = session.commit(TOSS, 1, &payload);
            let (mut nonce, mut payload) = (*nonce.as_bytes(), payload);
            match i {
                0..32 => commitment.0[i] ^= 1,
                32..64 => nonce[i - 32] ^= 1,
                64..104 => payload[i - 64] ^= 1,
                _ => {}
            }
            session.opened(checks::M0_2, TOSS, 1, session.me(), &commitment, &nonce, &payload)
        });
        let failed = ends.iter().any(|end| failed_check(end) == Some(checks::M0_2));
        assert_eq!(failed, i < 104, "{i}: {ends:?}");
    });
    let ends = two_sessions(|first, second| {
        let (commitment, nonce) = first.commit(TOSS, 1, &payload);
        second.opened(checks::M0_2, TOSS, 1, second.me(), &commitment, nonce.as_bytes(), &payload)
    });
    assert!(ends.iter().any(|end| failed_check(end) == Some(checks::M0_2)), "{ends:?}");
    // the payload without its last byte
    let ends = harness(2).act(|session| {
        let (commitment, nonce) = session.commit(TOSS, 1, &payload);
        session.opened(checks::M0_2, TOSS, 1, session.me(), &commitment, nonce.as_bytes(), &payload[..39])
    });
    assert!(ends.iter().any(|end| failed_check(end) == Some(checks::M0_2)), "{ends:?}");
}

/// A nonce is 256 fresh bits.
#[test]
fn nonces_of_commitments_are_fresh() {
    let nonces = harness(2).act(|session| {
        Ok((0..64).map(|_| session.commit(TOSS, 0, b"x").1.as_bytes().to_vec()).collect::<Vec<_>>())
    });
    every_bit_varies("nonces", nonces[0].as_ref().unwrap());
}

type Messages<'a> = &'a [(u8, &'a [u8])];

/// Two parties have received `this`, and the third `that`: whether they notice.
fn echoed(this: Messages<'_>, that: Messages<'_>) -> bool {
    let results = harness(3).act(|mut session| {
        let received = if session.me() == party(3) { that } else { this };
        let mut echo = Echo::new(&mut session, ECHO);
        received.iter().for_each(|(p, told)| echo.absorb(party(*p), told));
        echo.send(&mut session)?.compare(&mut session, checks::M0_3)
    });
    assert!(results.iter().all(|end| end.is_ok() == results[0].is_ok()), "{results:?}");
    results[0].is_err()
}

/// An echo depends on who said what, on where each message ends, and on every byte.
#[test]
fn an_echo_holds_who_said_what() {
    let base: Messages<'_> = &[(1, b"ab"), (1, b"c"), (2, b"d")];
    assert!(!echoed(base, base));
    let others: [Messages<'_>; 7] = [
        &[(1, b"ab\x01c"), (2, b"d")],
        &[(1, b"a"), (1, b"bc"), (2, b"d")],
        &[(1, b"ab"), (2, b"c"), (2, b"d")],
        &[(1, b"ab"), (1, b"c"), (3, b"d")],
        &[(1, b"ab"), (1, b"c"), (2, b"e")],
        &[(1, b"ab"), (1, b"c")],
        &[(1, b"c"), (1, b"ab"), (2, b"d")],
    ];
    for other in others {
        assert!(echoed(base, other), "{other:?}");
    }
    let long = [9; 40];
    for byte in 0..40 {
        let mut other = long;
        other[byte] ^= 1;
        assert!(echoed(&[(1, b"x"), (2, &long)], &[(1, b"x"), (2, &other)]), "byte {byte}");
        assert!(echoed(&[(1, &long), (2, b"x")], &[(1, &other), (2, b"x")]), "byte {byte}");
    }
}

/// No echo of the same words repeats: again in a strand, in another strand, in another session, under another
/// name.
#[test]
fn no_echo_repeats() {
    let mut seen = HashSet::new();
    for _ in 0..2 {
        let harness = harness(3);
        let recording = harness.recording(party(1));
        let results = harness.act(|mut session| {
            let mut strand = session.strand()?;
            for session in [&mut session, &mut strand] {
                for step in [ECHO, OTHER, ECHO, OTHER] {
                    let mut echo = Echo::new(session, step);
                    echo.absorb(party(1), b"the same");
                    echo.send(session)?.compare(session, checks::M0_3)?;
                }
            }
            Ok(())
        });
        assert!(results.iter().all(Result::is_ok));
        for step in [ECHO, OTHER] {
            seen.extend(recording.bodies(MessageDirection::Out, party(2), step.name));
        }
    }
    assert_eq!(seen.len(), 16);
}
