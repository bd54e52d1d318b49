//! Meshes whose waits are skipped: a limit passes as soon as nobody can send any more, and never before.

use crate::parties::*;
use divisi_net::memory::mesh_that_skips;
use divisi_net::{Channel, Fault, Frame, Machine, Mesh, Options, step, tamper::Tap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longer than any test runs: a limit of this length that passed was skipped.
const HOUR: Duration = Duration::from_secs(3600);

fn meshes(n: usize) -> Vec<Mesh> {
    mesh_that_skips(n, &Options { timeout: HOUR, ..Options::default() }, Arc::new(Machine))
}

fn one(c: &Channel, from: u8) -> Result<(), Fault> {
    c.recv(p(from), step!("one"), &mut [0]).map(drop)
}

#[test]
fn a_limit_passes_at_once_when_all_wait() {
    let begun = Instant::now();
    let meshes = meshes(3);
    // the limits pass in their order, and a party that is asked says whom it waits for
    meshes[0].set_timeout(HOUR / 2);
    let faults = run(&meshes, |m| {
        let c = m.open(1, 0).unwrap();
        let fault = one(&c, m.me().next(3).number()).unwrap_err();
        c.poison();
        fault
    });
    let Fault::Stalled { peer, waited, claim, .. } = faults[0] else { panic!("{}", faults[0]) };
    assert_eq!((peer, claim), (p(2), Some((p(3), step!("one").id))));
    assert!((HOUR / 2..HOUR).contains(&waited), "{waited:?}");
    assert!(faults[1..].iter().all(|fault| matches!(fault, Fault::Aborted { .. })), "{faults:?}");
    assert!(begun.elapsed() < HOUR / 60);
}

#[test]
fn no_limit_passes_while_somebody_may_still_send() {
    // One party computes, one has not opened a channel yet, and a thread without a channel acts for another
    // one.
    let meshes = meshes(4);
    let taps: Vec<Tap> = meshes.iter().map(Tap::new).collect();
    let pause = || std::thread::sleep(Duration::from_millis(50));
    let busy = taps[3].busy();
    std::thread::scope(|s| {
        s.spawn(|| {
            let _busy = busy;
            (0..3).for_each(|_| pause());
            let frame = Frame { session: 1, strand: 0, step: step!("one").id, depth: 1, body: vec![1] };
            taps[3].inject(p(1), &frame).unwrap();
        });
        run(&meshes, |m| {
            if m.me() == p(3) {
                pause();
            }
            let c = m.open(1, 0).unwrap();
            match m.me().number() {
                1 => {
                    (2..=4).for_each(|from| one(&c, from).unwrap());
                    c.poison();
                }
                4 => assert!(matches!(one(&c, 1), Err(Fault::Aborted { .. }))),
                _ => {
                    pause();
                    c.send(p(1), step!("one"), 1, &[1]).unwrap();
                    assert!(matches!(one(&c, 1), Err(Fault::Aborted { .. })));
                }
            }
        });
    });
}

#[test]
fn whoever_waits_for_a_time_comes_after_who_waits_less() {
    let meshes = meshes(2);
    let tap = Tap::new(&meshes[1]);
    meshes[0].set_timeout(HOUR / 4);
    run(&meshes, |m| {
        let c = m.open(1, 0).unwrap();
        if m.me() == p(1) {
            assert!(matches!(one(&c, 2), Err(Fault::Stalled { peer, claim: None, .. }) if peer == p(2)));
            m.set_timeout(HOUR);
            assert!(one(&c, 2).is_ok());
        } else {
            tap.wait(HOUR / 2);
            c.send(p(1), step!("one"), 1, &[1]).unwrap();
        }
    });
}

/// Party 1 takes its turn late, party 2 after it, and party 3 waits for both: longer than its time limit.
/// With patience it gets its message; without, or if the peer waits for the party itself, it does not.
#[test]
fn with_patience_the_last_of_a_chain_waits_for_the_turns_of_all() {
    for (patience, ends_well) in [(0, false), (1, false), (2, true)] {
        let meshes = meshes(3);
        let tap = Tap::new(&meshes[0]);
        meshes[2].set_timeout(HOUR / 4);
        let ends = run(&meshes, |m| {
            let c = m.open(1, 0).unwrap();
            let end = match m.me().number() {
                1 => {
                    // works for 2.2 limits of party 3, or until the session is over
                    let work = (0..2200).take_while(|_| !c.is_poisoned());
                    work.for_each(|_| tap.wait(HOUR / 4000));
                    c.send(p(2), step!("one"), 1, &[1])
                }
                2 => one(&c, 1).and_then(|()| c.send(p(3), step!("one"), 2, &[1])),
                _ => {
                    c.set_patience(patience);
                    one(&c, 2)
                }
            };
            if end.is_err() {
                c.poison();
            }
            end
        });
        match &ends[2] {
            Ok(()) => assert!(ends_well),
            Err(Fault::Stalled { peer, waited, claim, .. }) => {
                assert_eq!((*peer, claim.map(|(party, _)| party)), (p(2), Some(p(1))));
                assert!(!ends_well && *waited >= HOUR / 4 * (patience + 1), "{waited:?}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    // one that works for 2.2 limits of the other
    for patience in [1, 2] {
        let meshes = meshes(2);
        let tap = Tap::new(&meshes[1]);
        meshes[0].set_timeout(HOUR / 4);
        run(&meshes, |m| {
            let c = m.open(1, 0).unwrap();
            if m.me() == p(1) {
                c.set_patience(patience);
                match one(&c, 2) {
                    Ok(()) => assert_eq!(patience, 2),
                    Err(Fault::Stalled { peer, claim: None, .. }) => {
                        assert_eq!((patience, peer), (1, p(2)));
                        assert!(one(&c, 2).is_ok());
                    }
                    Err(other) => panic!("{other}"),
                }
            } else {
                tap.wait(HOUR / 20 * 11);
                c.send(p(1), step!("one"), 1, &[1]).unwrap();
            }
        });
    }
}

/// Nobody works where all wait for one another: who loses patience first sees it at the end of its first
/// limit if they are two, and else of its second, also if it was in a circle before.
#[test]
fn patience_ends_in_a_circle() {
    let limit = HOUR / 4;
    for n in [2, 3, 5] {
        let meshes = meshes(n);
        meshes[0].set_timeout(limit);
        let ends = run(&meshes, |m| {
            [1, 2, 3].map(|session| {
                let c = m.open(session, 0).unwrap();
                c.set_patience(7);
                let fault = one(&c, m.me().next(n).number()).unwrap_err();
                c.poison();
                fault
            })
        });
        let limits = if n == 2 { 1 } else { 2 };
        for fault in &ends[0] {
            let Fault::Stalled { waited, .. } = fault else { panic!("{n}: {fault}") };
            assert!((limit * limits..limit * limits + limit / 10).contains(waited), "{n}: {waited:?}");
        }
        let told = ends.iter().skip(1).flatten();
        assert!(told.clone().all(|fault| matches!(fault, Fault::Aborted { .. })), "{n}: {ends:?}");
    }
}
