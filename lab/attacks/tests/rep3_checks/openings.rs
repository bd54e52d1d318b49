//! Openings, views and coins of three parties: what was said to all is compared to the last byte, and before
//! anything leaves (A1, A2, A4, A8, M0.7).

use crate::common::is_misuse;
use crate::known::{Seen, act, harness as known};
use divisi_core::{Abort, Bytes, Verified, settle};
use divisi_rep3::adversary::adaptive::engine;
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, failed_check, many, party};
use divisi_rep3::checks;
use divisi_rep3::deal::{self, Part};
use divisi_rep3::lab::deal_all;
use divisi_rep3::open::{Answer, component_digest};
use divisi_rep3::{Byte, Rep3, Trio};

const BARRIER: &str = "divisi_rep3::views/barrier";
const COIN: &str = "divisi_rep3::random/coin.share";
const OPENED: [&str; 2] = ["divisi_rep3::open/open.bytes", "divisi_rep3::masked/open_to.component"];

fn harness() -> TrioHarness {
    TrioHarness::default().patient()
}

/// The first two parties absorb `this`, the third `that`: whether the barrier ends the session for all.
fn noticed(this: &[(&str, &[u8])], that: &[(&str, &[u8])]) -> bool {
    let results = harness().act(|mut trio| {
        let mine = if trio.me() == party(3) { that } else { this };
        mine.iter().for_each(|(what, value)| trio.absorb(what, value));
        trio.barrier().map(drop)
    });
    assert!(results.iter().all(|end| end.is_ok() == results[0].is_ok()), "{results:?}");
    results[0].is_err()
}

/// What was absorbed counts to its last byte, with its name, its length and its place.
#[test]
fn a_view_holds_every_byte_of_what_was_said() {
    let base: &[(&str, &[u8])] = &[("ab", b"c"), ("de", b"fg")];
    assert!(!noticed(base, base));
    let others: [&[(&str, &[u8])]; 6] = [
        &[("a", b"bc"), ("de", b"fg")],
        &[("ab", b"c"), ("d", b"efg")],
        &[("ab", b"c"), ("dX", b"fg")],
        &[("de", b"fg"), ("ab", b"c")],
        &[("ab", b"c")],
        &[("ab", b"c"), ("de", b"fg"), ("", b"")],
    ];
    for other in others {
        assert!(noticed(base, other), "{other:?}");
    }
    let long = [5; 48];
    many(48, 4, |byte| {
        let mut other = long;
        other[byte] ^= 1;
        assert!(noticed(&[("x", &long)], &[("x", &other)]), "byte {byte}");
        assert!(noticed(&[("x", &long), ("y", b"z")], &[("x", &other), ("y", b"z")]), "byte {byte}");
    });
}

fn verified(e: &mut Rep3, part: &Part) -> Result<Verified<Vec<Byte>>, Abort> {
    let x = e.trio().input(part)?;
    let pending = e.close_linear(vec![x])?;
    settle(e, pending)
}

type Leaves = fn(&mut Trio, &Verified<Vec<Byte>>) -> Result<(), Abort>;

/// Every way in which a value leaves waits for the barrier after what was said to all.
#[test]
fn nothing_leaves_before_what_was_said_is_compared() {
    let ways: [(&str, Leaves); 5] = [
        ("opened", |trio, x| trio.open(x).map(drop)),
        ("answered", |trio, x| trio.answer(b"c", x).map(drop)),
        ("answered as a text", |trio, x| trio.answer_message(b"c", x, 3).map(drop)),
        ("opened to one", |trio, x| {
            let first = x.clone().each().remove(0);
            trio.open_to(party(2), &first).map(drop)
        }),
        ("tossed", |trio, _| {
            let fixed = trio.barrier()?;
            trio.absorb("said", b"late");
            trio.coin(&fixed).map(drop)
        }),
    ];
    let parts = deal_all(&[b"xyz".to_vec()]);
    for (what, leaves) in ways {
        for absorbed in [false, true] {
            let harness = harness();
            let recordings = [1, 2, 3].map(|p| harness.recording(party(p)));
            let results = harness.act(|trio| {
                let me = trio.me().index();
                let mut e = engine(trio);
                let x = verified(&mut e, &parts[me][0])?;
                if absorbed {
                    e.trio().absorb("said", b"something");
                }
                leaves(e.trio(), &x)
            });
            if absorbed || what == "tossed" {
                is_misuse(what, &results);
                for recording in &recordings {
                    let mut steps = OPENED.into_iter().chain([COIN]);
                    let nothing = steps.all(|step| recording.of(MessageDirection::Out, step).is_empty());
                    assert!(nothing, "{what}");
                }
            } else {
                assert!(results.iter().all(Result::is_ok), "{what}: {results:?}");
            }
        }
    }
}

/// A coin demands the proof of the latest barrier of its own strand.
#[test]
fn a_coin_takes_no_other_proof_than_the_latest() {
    type Toss = fn(Trio) -> Result<(), Abort>;
    let ways: [(&str, Toss); 4] = [
        ("an older barrier's", |mut trio| {
            let old = trio.barrier()?;
            trio.barrier()?;
            trio.coin(&old).map(drop)
        }),
        ("another strand's", |mut trio| {
            let mut other = Trio::new(trio.session().strand()?)?;
            trio.barrier()?;
            let fixed = other.barrier()?;
            trio.coin(&fixed).map(drop)
        }),
        ("the strand's before this", |mut trio| {
            let mut other = Trio::new(trio.session().strand()?)?;
            let fixed = trio.barrier()?;
            other.barrier()?;
            other.coin(&fixed).map(drop)
        }),
        ("that of who computed in the strand before", |mut trio| {
            let fixed = trio.barrier()?;
            let mut next = Trio::new(trio.into_session())?;
            next.barrier()?;
            next.coin(&fixed).map(drop)
        }),
    ];
    for (what, toss) in ways {
        is_misuse(what, &harness().act(toss));
    }
    let proofs = std::sync::Mutex::new(Vec::new());
    let first = harness().act(|mut trio| {
        let fixed = trio.barrier()?;
        proofs.lock().unwrap().push((trio.me(), fixed));
        Ok(())
    });
    assert!(first.iter().all(Result::is_ok));
    let results = harness().act(|mut trio| {
        trio.barrier()?;
        let me = trio.me();
        let (_, old) = {
            let mut proofs = proofs.lock().unwrap();
            let at = proofs.iter().position(|(p, _)| *p == me).unwrap();
            proofs.swap_remove(at)
        };
        trio.coin(&old).map(drop)
    });
    is_misuse("another session's", &results);
}

/// A component of a coin that differs in one bit of any byte, on any link, is noticed by whoever gets it.
#[test]
fn every_byte_of_a_coin_is_compared() {
    many(3 * 16, 4, |i| {
        let (from, byte) = (party(1 + (i / 16) as u8), i % 16);
        let harness = harness();
        harness.change(from, from.next(3), COIN, 0, move |body| body[byte] ^= 0x40);
        let results = harness.act(|mut trio| {
            let fixed = trio.barrier()?;
            trio.coin(&fixed).map(drop)
        });
        assert_eq!(failed_check(&results[from.next(3).index()]), Some(checks::A4), "{from}, byte {byte}");
    });
}

/// Whatever is opened is in the view: of two sessions that are equal in all but a value, the barriers after
/// its opening differ.
#[test]
fn what_is_opened_is_in_the_view() {
    type Open = fn(&mut Rep3, &Part) -> Result<(), Abort>;
    let ways: [(&str, Open); 3] = [
        ("opened", |e, part| {
            let x = verified(e, part)?;
            e.trio().open(&x).map(drop)
        }),
        ("opened under a mask", |e, part| {
            let x = e.trio().input(part)?;
            let mask = e.mask(40)?;
            e.open_masked(&x, mask).map(drop)
        }),
        ("agreed on", |e, part| {
            let public = [part.first[38]; 32];
            e.trio().agree_input(checks::A24, &public, Some(part)).map(drop)
        }),
    ];
    // what is public differs, and what is secret
    let parts = |last: u8| {
        let mut all: [Vec<u8>; 3] = [vec![1; 40], vec![1; 40], vec![1; 40]];
        all.iter_mut().for_each(|c| c[38] = last);
        all[2][39] = last;
        [0, 1, 2].map(|i| Part { first: all[i].clone(), second: all[(i + 1) % 3].clone() })
    };
    for (what, open) in ways {
        let digest = |last: u8| {
            let harness = known(5);
            let seen = Seen::of(&harness);
            let results = act(harness, 5, |trio| {
                let me = trio.me().index();
                let mut e = engine(trio);
                open(&mut e, &parts(last)[me])?;
                e.trio().barrier().map(drop)
            });
            assert!(results.iter().all(Result::is_ok), "{what}: {results:?}");
            seen.recordings[0].bodies(MessageDirection::Out, party(2), BARRIER).pop().unwrap()
        };
        assert_eq!(digest(1), digest(1), "{what}");
        assert_ne!(digest(1), digest(2), "{what}");
    }
}

/// Every byte of a server's answer counts, and so does its context.
#[test]
fn every_byte_of_an_answer_counts() {
    let data: Vec<u8> = (0..40).map(|i| i * 3).collect();
    let world = divisi_net::Machine;
    let parts = deal::split(&data, |out| divisi_net::World::entropy(&world, out));
    let answers: [Answer; 3] = parts.map(|part| Answer {
        component: part.first.clone(),
        digest: component_digest(b"request", &part.second),
    });
    assert_eq!(deal::combine(b"request", &answers).unwrap().as_slice(), data);
    for server in 0..3 {
        for byte in 0..32 {
            let mut bad = answers.clone();
            bad[server].digest[byte] ^= 1;
            assert!(deal::combine(b"request", &bad).is_err(), "digest {server} {byte}");
        }
        for byte in 0..40 {
            let mut bad = answers.clone();
            bad[server].component[byte] ^= 1;
            assert!(deal::combine(b"request", &bad).is_err(), "component {server} {byte}");
        }
        for cut in [true, false] {
            let mut bad = answers.clone();
            bad[server].component.resize(if cut { 39 } else { 41 }, 0);
            assert!(deal::combine(b"request", &bad).is_err());
        }
    }
    assert!(deal::combine(b"requesT", &answers).is_err());
    let digest = component_digest;
    assert!(digest(b"ab", b"c") != digest(b"a", b"bc") && digest(b"", b"abc") != digest(b"abc", b""));
}

/// An opening of a long value to all and to one: every byte of it is compared.
#[test]
fn every_byte_of_an_opening_is_compared() {
    let parts = deal_all(&[(0..100).collect()]);
    many(100, 4, |byte| {
        for (step, from) in [(OPENED[0], 1 + (byte % 3) as u8), (OPENED[1], 1)] {
            let harness = harness();
            let to = party(from).next(3);
            harness.change(party(from), to, step, 0, move |body| body[byte] ^= 2);
            let results = harness.act(|trio| {
                let me = trio.me().index();
                let mut e = engine(trio);
                let x = verified(&mut e, &parts[me][0])?;
                if step == OPENED[0] {
                    return e.trio().open(&x).map(drop);
                }
                e.trio().open_to(to, &x.each().remove(0)).map(drop)
            });
            assert_eq!(failed_check(&results[to.index()]), Some(checks::A1), "{step}: {byte}");
        }
    });
}

/// Coins are fresh to the last bit, the same at all, and never return.
#[test]
fn coins_are_fresh_to_the_last_bit() {
    let coins = harness().act(|mut trio| {
        let fixed = trio.barrier()?;
        (0..64).map(|_| Ok(trio.coin(&fixed)?.bytes().to_vec())).collect::<Result<Vec<_>, Abort>>()
    });
    let coins: Vec<_> = coins.into_iter().map(Result::unwrap).collect();
    assert!(coins[0] == coins[1] && coins[1] == coins[2]);
    crate::session::every_bit_varies("coins", &coins[0]);
    let halves: std::collections::HashSet<&[u8]> = coins[0].iter().flat_map(|coin| coin.chunks(8)).collect();
    assert_eq!(halves.len(), 128);
}

/// The first barrier of one session is not that of another, though nothing was said in either.
#[test]
fn a_view_is_of_one_session() {
    let digest = || {
        let harness = harness();
        let recording = harness.recording(party(1));
        assert!(harness.act(|mut trio| trio.barrier().map(drop)).iter().all(Result::is_ok));
        recording.bodies(MessageDirection::Out, party(2), BARRIER).remove(0)
    };
    assert_ne!(digest(), digest());
}

/// A strand goes to another engine only if nothing is left of the one before: nothing said and not compared,
/// nothing closed and not settled.
#[test]
fn a_strand_takes_nothing_along_to_another_engine() {
    type Leave = fn(Trio) -> Result<Trio, Abort>;
    let ways: [(&str, Leave, bool); 3] = [
        ("nothing", |trio| Trio::new(trio.into_session()), true),
        (
            "something said",
            |mut trio| {
                trio.absorb("said", b"something");
                Trio::new(trio.into_session())
            },
            false,
        ),
        (
            "something closed",
            |trio| {
                let mut e = engine(trio);
                let mut x = e.random_bytes(3)?;
                e.sbox(divisi_core::Direction::Encrypt, &mut [&mut x])?;
                let _pending = e.close(x);
                Trio::new(e.into_trio().into_session())
            },
            false,
        ),
    ];
    for (what, leave, fine) in ways {
        let results = harness().act(|trio| leave(trio)?.barrier().map(drop));
        assert!(results.iter().all(|end| end.is_ok() == fine), "{what}: {results:?}");
    }
}
