//! What an interceptor may do to a corrupt party's messages, seen from an honest one.

use crate::parties::*;
use divisi_net::tamper::{Intercept, Tap};
use divisi_net::{Fault, Frame, Mesh, Options, Step, step};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

const A: Step = Step::new("tampering/a");
const B: Step = Step::new("tampering/b");

/// Party 1 sends a, then b, to party 2 through `intercept`. Returns what party 2 receives, in each kind of
/// mesh.
fn attacked<I: Intercept + 'static>(intercept: impl Fn() -> I) -> Vec<Result<Vec<u8>, Fault>> {
    attacked_within(Options::default().timeout, intercept)
}

/// The same where party 2 waits for b no longer than this.
fn attacked_within<I: Intercept + 'static>(
    limit: Duration,
    intercept: impl Fn() -> I,
) -> Vec<Result<Vec<u8>, Fault>> {
    let mut results = Vec::new();
    for meshes in both(2, &Options::default()) {
        Tap::new(&meshes[0]).intercept(p(2), Box::new(intercept())).unwrap();
        results.extend(run(&meshes, |m: &Mesh| {
            let c = m.open(1, 0).unwrap();
            if m.me() == p(1) {
                c.send(p(2), A, 1, &[b'a'; 100_000]).unwrap();
                // Party 2 may have ended the session by now.
                let _ = c.send(p(2), B, 2, b"b").and_then(|()| c.recv(p(2), step!("end"), &mut []));
                None
            } else {
                let got = receive(&c, p(1), A, 100_000).and_then(|mut a| {
                    a.truncate(1);
                    m.set_timeout(limit);
                    a.extend(receive(&c, p(1), B, 1)?);
                    Ok(a)
                });
                if got.is_err() {
                    c.poison();
                } else {
                    c.send(p(1), step!("end"), 3, &[]).unwrap();
                }
                Some(got)
            }
        }));
    }
    results.into_iter().flatten().collect()
}

fn all(results: Vec<Result<Vec<u8>, Fault>>, test: impl Fn(&Result<Vec<u8>, Fault>) -> bool) {
    assert_eq!(results.len(), 2);
    for r in &results {
        assert!(test(r), "{r:?}");
    }
}

#[test]
fn untouched_flipped_dropped_doubled_and_swapped() {
    let changed = |change: fn(&mut Frame)| {
        attacked(move || {
            move |mut f: Frame| {
                change(&mut f);
                vec![f]
            }
        })
    };
    let without = |step: Step, limit: Duration| {
        attacked_within(limit, move || move |f: Frame| if f.step == step.id { vec![] } else { vec![f] })
    };
    all(changed(|_| {}), |r| *r == Ok(b"ab".to_vec()));
    all(changed(|f| f.body[0] ^= 1), |r| *r == Ok(b"`c".to_vec()));
    let cut = Fault::Malformed { peer: p(1), step: A, want: 100_000, got: 99_999 };
    all(changed(|f| _ = f.body.pop()), |r| *r == Err(cut.clone()));
    let early = Fault::WrongStep { peer: p(1), step: A, got: B.id };
    all(without(A, Options::default().timeout), |r| *r == Err(early.clone()));
    // nothing more comes: here alone the time limit passes
    let stalled = without(B, Duration::from_millis(200));
    all(stalled, |r| matches!(r, Err(Fault::Stalled { peer, step: B, .. }) if *peer == p(1)));
    let again = Fault::WrongStep { peer: p(1), step: B, got: A.id };
    all(attacked(|| |f: Frame| vec![f.clone(), f]), |r| *r == Err(again.clone()));
    let swap = || {
        let mut held = None;
        move |f: Frame| match held.take() {
            None => {
                held = Some(f);
                vec![]
            }
            Some(first) => vec![f, first],
        }
    };
    all(attacked(swap), |r| *r == Err(early.clone()));
}

/// A rushing party: it holds its message to party 2 back until it has seen party 3's message, and then sends
/// that message's body to party 2.
struct Rushing {
    held: Arc<Mutex<Option<Frame>>>,
    tap: Tap,
    aborted: Arc<Mutex<Vec<u32>>>,
}

impl Intercept for Rushing {
    fn outgoing(&mut self, frame: Frame) -> Vec<Frame> {
        *self.held.lock().unwrap() = Some(frame);
        Vec::new()
    }

    fn incoming(&mut self, frame: &Frame) {
        if let Some(held) = self.held.lock().unwrap().take() {
            self.tap.inject(p(2), &Frame { body: frame.body.clone(), ..held }).unwrap();
        }
    }

    fn abort_sent(&mut self, session: u32) {
        self.aborted.lock().unwrap().push(session);
    }
}

#[test]
fn a_rushing_party_answers_with_what_it_has_seen() {
    for meshes in both(3, &Options::default()) {
        let held = Arc::new(Mutex::new(None));
        let aborted = Arc::new(Mutex::new(Vec::new()));
        let sent = Barrier::new(2);
        let tap = Tap::new(&meshes[0]);
        for peer in [2, 3] {
            let (held, aborted) = (held.clone(), aborted.clone());
            tap.intercept(p(peer), Box::new(Rushing { held, tap: tap.clone(), aborted })).unwrap();
        }
        run(&meshes, |m| {
            let c = m.open(1, 0).unwrap();
            match m.me().number() {
                1 => {
                    c.send(p(2), A, 1, &[1; 70_000]).unwrap();
                    sent.wait();
                    assert_eq!(receive(&c, p(3), B, 70_000).unwrap(), [3; 70_000]);
                    receive(&c, p(2), step!("end"), 0).unwrap();
                    c.poison();
                }
                2 => {
                    assert_eq!(receive(&c, p(1), A, 70_000).unwrap(), [3; 70_000]);
                    c.send(p(1), step!("end"), 1, &[]).unwrap();
                    assert!(receive(&c, p(1), step!("end"), 0).is_err());
                }
                _ => {
                    // by now the message to party 2 is held back
                    sent.wait();
                    c.send(p(1), B, 1, &[3; 70_000]).unwrap();
                    assert!(receive(&c, p(1), step!("end"), 0).is_err());
                }
            }
        });
        assert_eq!(*aborted.lock().unwrap(), [1, 1]);
    }
}
