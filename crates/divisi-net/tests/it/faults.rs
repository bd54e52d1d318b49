//! A party that dies, stalls, is cut off, lies about lengths or sends garbage: the others learn who, in time.

use crate::parties::*;
use divisi_net::{Channel, Config, Fault, Frame, Listener, Loss, Machine, Mesh, Options, step, tamper::Tap};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// The time limit of a party that is expected to time out, on any kind of link. All other parties have the
/// usual limit: their faults come from events, and a fault other than [`Fault::Stalled`] shows that they did
/// not wait for the limit.
const TIMEOUT: Duration = Duration::from_millis(400);

fn one(c: &Channel, from: u8) -> Result<(), Fault> {
    c.recv(p(from), step!("one"), &mut [0]).map(drop)
}

#[test]
fn a_dead_party_is_noticed_at_once_by_all() {
    // The time limit is far away: what wakes them is the broken link, on whichever link they wait.
    for mut meshes in both(4, &Options::default()) {
        let dying = meshes.pop().unwrap();
        let (ready, noticed) = (Barrier::new(4), Barrier::new(3));
        std::thread::scope(|s| {
            s.spawn(|| {
                ready.wait();
                std::thread::sleep(Duration::from_millis(100));
                dying.reset();
            });
            run(&meshes, |m| {
                let c = m.open(1, 0).unwrap();
                ready.wait();
                let waits_for = if m.me() == p(1) { 4 } else { 1 };
                let fault = one(&c, waits_for).unwrap_err();
                assert_eq!(fault.peer(), Some(p(4)), "{fault}");
                assert!(matches!(fault, Fault::Lost { reason: Loss::Cut, .. }), "{fault}");
                assert_eq!(m.lost(), Some((p(4), Loss::Cut)));
                assert!(matches!(c.send(p(2).next(2), step!("one"), 1, &[1]), Err(Fault::Lost { .. })));
                assert!(matches!(m.open(2, 0).err(), Some(Fault::Lost { .. })));
                // The rest stays until all have noticed, so that nobody blames a party that left early.
                noticed.wait();
            });
        });
    }
}

/// A party that learns from another one that a session is over, and has not yet seen that the third one is
/// dead, names the dead one; if nobody is dead, it names the party that told it.
#[test]
fn who_is_gone_is_named_and_not_who_noticed_it_first() {
    for (dies, n) in [(true, 3), (false, 3), (true, 4)] {
        for mut meshes in both(n, &Options::default()) {
            let last = meshes.pop().unwrap();
            let (ready, told, done) = (Barrier::new(n), Barrier::new(n - 1), Barrier::new(n));
            std::thread::scope(|s| {
                s.spawn(|| {
                    let _channel = last.open(1, 0).unwrap();
                    ready.wait();
                    let kept = if dies {
                        last.reset();
                        None
                    } else {
                        Some(last)
                    };
                    done.wait();
                    drop(kept);
                });
                run(&meshes, |m| {
                    let c = m.open(1, 0).unwrap();
                    ready.wait();
                    if m.me() == p(2) {
                        if dies {
                            assert_eq!(one(&c, n as u8).unwrap_err().peer(), Some(p(n as u8)));
                        }
                        c.poison();
                        told.wait();
                    } else {
                        told.wait();
                        // party 2's word is here before anybody has looked at the last party's link
                        let fault = one(&c, 2).unwrap_err();
                        let named = if dies { p(n as u8) } else { p(2) };
                        assert_eq!(fault.peer(), Some(named), "{fault}");
                        assert_eq!(matches!(fault, Fault::Lost { reason: Loss::Cut, .. }), dies, "{fault}");
                    }
                    done.wait();
                });
            });
        }
    }
}

/// All sessions end with a link, also those that wait for somebody else.
#[test]
fn a_lost_link_is_noticed_in_all_sessions() {
    for mut meshes in both(3, &Options::default()) {
        let last = meshes.pop().unwrap();
        let begun = Instant::now();
        std::thread::scope(|s| {
            for session in 1..4 {
                let channel = meshes[0].open(session, 0).unwrap();
                s.spawn(move || {
                    let fault = one(&channel, 2).unwrap_err();
                    assert_eq!(fault.peer(), Some(p(3)), "{session}: {fault}");
                });
            }
            std::thread::sleep(Duration::from_millis(50));
            last.reset();
        });
        assert!(begun.elapsed() < Options::default().timeout / 2);
    }
}

/// Each session's end says because of whom, also if others ended so before it.
#[test]
fn peers_learn_because_of_whom_a_session_ends() {
    for meshes in both(3, &Options::default()) {
        for session in 1..4 {
            let [a, b] = [0, 1].map(|i: usize| meshes[i].open(session, 0).unwrap());
            a.poison_after(&Fault::Lost { peer: p(3), step: step!("one"), reason: Loss::Cut });
            let fault = one(&b, 1).unwrap_err();
            assert_eq!((fault.peer(), fault.blames()), (Some(p(1)), Some(p(3))), "{session}: {fault}");
        }
    }
}

#[test]
fn a_panicking_party_counts_as_dead() {
    let mut meshes = divisi_net::memory::mesh(2);
    let other = meshes.pop().unwrap();
    let died = std::thread::spawn(move || {
        let _held = other;
        std::panic::resume_unwind(Box::new("dies"));
    });
    assert!(died.join().is_err());
    let c = meshes[0].open(1, 0);
    assert!(matches!(c.err(), Some(Fault::Lost { reason: Loss::Cut, .. })));
}

#[test]
fn an_orderly_end_loses_nothing_that_was_sent() {
    for mut meshes in both(2, &Options::default()) {
        let (b, a) = (meshes.pop().unwrap(), meshes.pop().unwrap());
        let (ca, cb) = (a.open(1, 0).unwrap(), b.open(1, 0).unwrap());
        let big = 20_000_000;
        std::thread::scope(|s| {
            s.spawn(|| {
                cb.send(p(1), step!("one"), 1, &[1]).unwrap();
                cb.send(p(1), step!("big"), 1, &vec![3; big]).unwrap();
                b.close(Duration::from_secs(60));
            });
            std::thread::sleep(Duration::from_millis(300));
            one(&ca, 2).unwrap();
            assert!(receive(&ca, p(2), step!("big"), big).unwrap() == vec![3; big]);
            let fault = one(&ca, 2).unwrap_err();
            assert!(matches!(fault, Fault::Lost { reason: Loss::Closed, .. }), "{fault}");
        });
    }
}

#[test]
fn a_stalled_party_is_named_and_the_blame_moves_on_as_a_claim() {
    // Party 1 still waits when party 2 loses patience and asks it.
    const PATIENT: Duration = Duration::from_secs(2);
    for meshes in both(3, &Options::default()) {
        let (begun, ended) = (Barrier::new(2), Barrier::new(3));
        meshes[0].set_timeout(PATIENT);
        meshes[1].set_timeout(TIMEOUT);
        let faults = run(&meshes, |m| {
            let c = m.open(1, 5).unwrap();
            let wait = |from, limit| {
                begun.wait();
                let fault = one(&c, from).unwrap_err();
                assert!(matches!(fault, Fault::Stalled { waited, .. } if waited >= limit), "{fault}");
                fault
            };
            let fault = match m.me().number() {
                1 => Some(wait(3, PATIENT)),
                2 => Some(wait(1, TIMEOUT)),
                _ => None,
            };
            ended.wait();
            fault
        });
        let step = step!("one").id;
        match &faults[..] {
            [Some(Fault::Stalled { peer: a, .. }), Some(Fault::Stalled { peer: b, claim, .. }), None] => {
                assert_eq!((*a, *b), (p(3), p(1)));
                assert_eq!(*claim, Some((p(3), step)));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_answer_that_nobody_asked_for_does_nothing() {
    // A late answer, or a lie: the receive continues and neither spins nor ends.
    for meshes in both(2, &Options { timeout: TIMEOUT, ..Options::default() }) {
        let ended = Barrier::new(2);
        run(&meshes, |m| {
            let c = m.open(1, 0).unwrap();
            if m.me() == p(1) {
                assert!(matches!(one(&c, 2), Err(Fault::Stalled { peer, claim: None, .. }) if peer == p(2)));
            }
            ended.wait();
        });
    }
}

#[test]
fn poison_wakes_own_strands_and_peers_and_spares_other_sessions() {
    for meshes in both(3, &Options::default()) {
        let opened = Barrier::new(3);
        run(&meshes, |m| {
            let (a, b, other) = (m.open(5, 0).unwrap(), m.open(5, 1).unwrap(), m.open(6, 0).unwrap());
            let more = [2, 3, 7].map(|strand| m.open(5, strand).unwrap());
            // nobody opens a session that has ended
            opened.wait();
            std::thread::scope(|s| {
                s.spawn(|| {
                    let fault = one(&b, m.me().next(3).number()).unwrap_err();
                    if m.me() == p(1) {
                        assert!(matches!(fault, Fault::Poisoned { .. }), "{fault}");
                    } else {
                        assert_eq!(fault, Fault::Aborted { peer: p(1), step: step!("one"), blames: None });
                    }
                });
                // most likely the strands wait by then; one that does not yet learns the same
                std::thread::sleep(Duration::from_millis(150));
                if m.me() == p(1) {
                    a.poison();
                    a.poison();
                }
            });
            assert!(b.is_poisoned());
            for strand in [&a, &b].into_iter().chain(&more) {
                assert!(strand.send(m.me().next(3), step!("one"), 1, &[1]).is_err());
            }
            drop((a, b, more));
            assert!(m.open(5, 2).is_err());
            for to in m.peers() {
                other.send(to, step!("one"), 1, &[1]).unwrap();
            }
            for from in m.peers() {
                one(&other, from.number()).unwrap();
            }
        });
    }
}

#[test]
fn a_session_that_a_peer_ended_before_it_was_opened_does_not_open() {
    for meshes in both(2, &Options::default()) {
        run(&meshes, |m| {
            let c = m.open(1, 0).unwrap();
            if m.me() == p(1) {
                let early = m.open(9, 0).unwrap();
                early.send(p(2), step!("one"), 1, &[1]).unwrap();
                early.poison();
                c.send(p(2), step!("one"), 1, &[1]).unwrap();
                one(&c, 2).unwrap();
            } else {
                one(&c, 1).unwrap();
                assert!(matches!(m.open(9, 0).err(), Some(Fault::Aborted { peer, .. }) if peer == p(1)));
                c.send(p(1), step!("one"), 1, &[1]).unwrap();
            }
        });
    }
}

#[test]
fn lengths_and_steps_are_the_protocols() {
    for meshes in both(2, &Options::default()) {
        run(&meshes, |m| {
            let sizes = [(0, 1), (1, 0), (65536, 65537), (65537, 65536), (200_000, 100), (100, 200_000)];
            for (i, (sent, want)) in sizes.into_iter().enumerate() {
                let c = m.open(i as u32, 0).unwrap();
                if m.me() == p(1) {
                    c.send(p(2), step!("x"), 1, &vec![0; sent]).unwrap();
                } else {
                    let fault = receive(&c, p(1), step!("x"), want).unwrap_err();
                    assert!(
                        matches!(fault, Fault::Malformed { peer, want: w, got, .. }
                            if peer == p(1) && w == want && got != want),
                        "{fault}"
                    );
                }
            }
            let c = m.open(100, 0).unwrap();
            if m.me() == p(1) {
                c.send(p(2), step!("x"), 1, &[0]).unwrap();
            } else {
                let fault = receive(&c, p(1), step!("y"), 1).unwrap_err();
                assert_eq!(fault, Fault::WrongStep { peer: p(1), step: step!("y"), got: step!("x").id });
            }
            let me = m.me();
            assert!(matches!(c.send(me, step!("x"), 1, &[]), Err(Fault::Misuse { .. })));
            assert!(matches!(c.send(p(3), step!("x"), 1, &[]), Err(Fault::Misuse { .. })));
            assert!(matches!(c.recv(p(200), step!("x"), &mut []), Err(Fault::Misuse { .. })));
            assert!(matches!(m.open(100, 0).err(), Some(Fault::Misuse { .. })));
            assert!(matches!(m.open(100, u32::MAX).err(), Some(Fault::Misuse { .. })));
            std::thread::sleep(Duration::from_millis(100));
        });
    }
}

#[test]
fn a_flood_ends_the_link_and_not_the_memory() {
    // a frame takes memory also if there is nothing in it
    for (sessions, len, buffer) in [(1, 60_000, 1 << 20), (2000, 1, 1 << 20), (1, 0, 1 << 16)] {
        let small = Options { buffer, ..Options::default() };
        for meshes in both(2, &small) {
            run(&meshes, |m| {
                if m.me() == p(1) {
                    let tap = Tap::new(m);
                    for i in 0..2000 {
                        let session = 2 + i % sessions;
                        let frame = Frame { session, strand: 0, step: 1, depth: 1, body: vec![0; len] };
                        if tap.inject(p(2), &frame).is_err() {
                            break;
                        }
                    }
                } else {
                    let fault = m.open(1, 0).and_then(|c| one(&c, 1)).unwrap_err();
                    assert!(matches!(fault, Fault::Flooded { peer, .. } if peer == p(1)), "{fault}");
                }
            });
        }
    }
}

/// What a proxy does to the bytes of both directions once its line has gone bad.
#[derive(Clone, Copy)]
enum Line {
    Stall,
    Cut,
    Flip,
}

/// Forwards connections. Once `after` is 1, `line` happens to the next bytes of each direction.
fn proxy(to: String, line: Line, after: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for inward in listener.incoming().map_while(Result::ok) {
            let outward = TcpStream::connect(&to).unwrap();
            for (mut from, mut to) in
                [(inward.try_clone().unwrap(), outward.try_clone().unwrap()), (outward, inward)]
            {
                let after = after.clone();
                std::thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(n) = from.read(&mut bytes) {
                        let broken = after.load(Ordering::SeqCst) == 1;
                        match line {
                            Line::Stall if broken => {
                                std::thread::sleep(Duration::from_secs(60));
                                break;
                            }
                            Line::Cut if broken => break,
                            Line::Flip if broken && n > 0 => bytes[n / 2] ^= 1,
                            _ => {}
                        }
                        if n == 0 || to.write_all(&bytes[..n]).is_err() {
                            break;
                        }
                    }
                    let _ = (to.shutdown(Shutdown::Both), from.shutdown(Shutdown::Both));
                });
            }
        }
    });
    address
}

#[test]
fn a_bad_line_names_the_party_behind_it() {
    for line in [Line::Stall, Line::Cut, Line::Flip] {
        // Parties 2 and 3 reach party 1 through a line that goes bad.
        let listeners: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let mut hosts: Vec<_> = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
        let bad = Arc::new(AtomicUsize::new(0));
        hosts[0] = proxy(hosts[0].clone(), line, bad.clone());
        let made = Config::create(3, &hosts, &[], &Machine).unwrap();
        let listeners: Vec<_> = (1..)
            .map(p)
            .zip(listeners)
            .zip(made.parties)
            .map(|((me, l), identity)| {
                Listener::open_at(l, made.config.clone(), me, Arc::new(identity), world()).unwrap()
            })
            .collect();
        let meshes = join_all(&listeners, &Options::default());
        let round = |m: &Mesh, c: &Channel| -> Result<(), Fault> {
            for to in m.peers() {
                c.send(to, step!("one"), 1, &[1])?;
            }
            m.peers().try_for_each(|from| one(c, from.number()))
        };
        let open = |m: &Mesh| (m.open(1, 0).unwrap(), m.me());
        let channels = run(&meshes, |m| {
            let (c, _) = open(m);
            round(m, &c).unwrap();
            c
        });
        bad.store(1, Ordering::SeqCst);
        if matches!(line, Line::Stall) {
            meshes.iter().for_each(|m| m.set_timeout(TIMEOUT));
        }
        let channels = &channels;
        let faults = run(&meshes, |m| {
            let c = &channels[m.me().index()];
            let fault = round(m, c).unwrap_err();
            c.poison();
            fault
        });
        // A party that met the bad line itself says so; the others were told by one that did.
        let met = |fault: &&Fault| match line {
            Line::Stall => matches!(fault, Fault::Stalled { .. }),
            Line::Cut => matches!(fault, Fault::Lost { reason: Loss::Cut, .. }),
            Line::Flip => matches!(fault, Fault::Lost { reason: Loss::Garbage | Loss::Cut, .. }),
        };
        assert!(faults.iter().any(|fault| met(&fault)), "{faults:?}");
        for (fault, me) in faults.iter().zip((1..).map(p)) {
            assert!(met(&fault) || matches!(fault, Fault::Aborted { .. }), "{fault}");
            let behind = me == p(1) || fault.peer() == Some(p(1));
            assert!(behind || matches!(fault, Fault::Aborted { .. }), "{fault}");
        }
    }
}
