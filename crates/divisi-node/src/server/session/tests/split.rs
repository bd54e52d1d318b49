//! A server that tells the two others different things: it ends the session, and names nobody honest at first
//! hand; and what ends by itself is wiped.

use super::*;
use crate::operator::OrderState;
use crate::server::agreement::exchange;
use std::sync::atomic::AtomicBool;

/// The first server sends these statuses to the two others; returns how all three end.
fn told(statuses: [[u8; 5]; 2]) -> Vec<Result<(), Abort>> {
    Three::new().run(|i, state| {
        let mine = [1, 0, 0, 0, 0];
        if i == 0 {
            let session = state.rep.trio().session();
            let mut all = [mine; 3];
            for (peer, status) in session.peers().into_iter().zip(&statuses) {
                session.send(STATUS, peer, status, 0)?;
            }
            for peer in session.peers() {
                session.recv(STATUS, peer, &mut all[peer.index()])?;
            }
            state.rep.trio().absorb("status", &all.concat());
        } else {
            exchange(&mut state.rep, mine)?;
        }
        state.rep.trio().barrier().map(drop)
    })
}

/// If a server sends the two others statuses that differ in any byte, the session ends before anything comes
/// of them.
#[test]
fn a_split_status_ends_the_session() {
    assert!(told([[1, 0, 0, 0, 0]; 2]).iter().all(Result::is_ok));
    for byte in 0..5 {
        for to in 0..2 {
            let mut statuses = [[1, 0, 0, 0, 0]; 2];
            statuses[to][byte] ^= 2;
            let ends = told(statuses);
            assert!(ends[1..].iter().all(Result::is_err), "byte {byte} to {to}: {ends:?}");
        }
    }
}

/// A server that finds a request wrong towards one of the others alone: one of them does it, and the other
/// refuses it. They come out of step, which ends the session before anything of it counts, and neither says
/// at first hand that the other did it.
#[test]
fn a_split_verdict_ends_the_session() {
    for to in [PartyId::P2, PartyId::P3] {
        let three = Three::new();
        three.all_asked_for(1, &Item::KeyList { after: None });
        let meshes = meshes();
        change(&meshes[0], to, &[VERDICT], |frame| frame.body[0] = 1);
        let ends = three.run_over(meshes, |_, state| {
            let end = state.round(LEADER, &[offer(1)]).and_then(|()| state.rep.trio().barrier());
            end.map_err(|abort| {
                let compared = state.rep.trio().is_compared();
                Failed::abort(state.node.me, &abort, compared)
            })
        });
        for end in &ends[1..] {
            let failed = end.as_ref().err().expect("out of step");
            // the liar, or nobody
            assert!(failed.hearsay || failed.peer <= 1, "{to}: {failed:?}");
        }
    }
}

/// A file that is changed between the comparison and the writing: what was written is compared again, and
/// no operator learns that it is done \[A26\].
#[test]
fn what_was_written_is_compared() {
    let three = Three::asked_for_key();
    let order = Order::chown(key(), vec!["alice".into()]);
    let meshes = meshes();
    let armed = Arc::new(AtomicBool::new(false));
    let (now, dir) = (armed.clone(), three.dir.path().join("party 2"));
    change(&meshes[1], LEADER, &["divisi_rep3::views/barrier"], move |_| {
        if now.swap(false, Ordering::SeqCst) {
            differ(&dir);
        }
    });
    let states = three.run_over(meshes, |i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        let id = state.node.keys.load(&order.key).unwrap().map(|key| key.info.id);
        state.node.operators(|orders, now| orders.ask(&order, id, now)).unwrap();
        if i == 1 {
            armed.store(true, Ordering::SeqCst);
        }
        state.order(LEADER, &order).unwrap();
        state.node.operators(|orders, _| orders.state(&order)).unwrap().0
    });
    assert!(!armed.load(Ordering::SeqCst));
    let failed =
        |state: &OrderState| matches!(state, OrderState::Failed(why) if why.contains("files differ"));
    assert!(states.iter().all(failed), "{states:?}");
}

/// A server that finds what was written wrong, towards one of the others alone: the session ends before
/// either operator learns that it is done.
#[test]
fn a_split_verdict_on_what_was_written_is_no_end() {
    for to in [PartyId::P2, PartyId::P3] {
        let three = Three::asked_for_key();
        let order = Order::chown(key(), vec!["alice".into(), "alicia".into()]);
        let meshes = meshes();
        let liar = three.servers[0].node.clone();
        change(&meshes[0], to, &[VERDICT], move |frame| {
            let key = liar.keys.load(&key()).ok().flatten();
            if key.is_some_and(|key| !key.info.clients.is_empty()) {
                frame.body[0] = 1;
            }
        });
        let ends = three.run_over(meshes, |_, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            let id = state.node.keys.load(&order.key).unwrap().map(|key| key.info.id);
            state.node.operators(|orders, now| orders.ask(&order, id, now)).unwrap();
            let end = state.order(LEADER, &order).and_then(|()| state.rep.trio().barrier().map(drop));
            (end.is_err(), state.node.operators(|orders, _| orders.state(&order)).unwrap().0)
        });
        let waits = |state: &OrderState| matches!(state, OrderState::Asked { .. });
        assert!(ends[1..].iter().all(|(ended, state)| *ended && waits(state)), "{to}: {ends:?}");
    }
}

/// A long request whose client sends no more ends by the limit of time, and what it held of its key is wiped
/// then, though nobody asks for anything.
#[test]
fn what_a_client_left_is_wiped_when_its_time_is_over() {
    let later = Arc::<Mutex<Duration>>::default();
    let three = Three::within(&ahead(&later));
    three.all_asked_for(1, &new_key(key(), KeyType::Aes128));
    let begun = std::sync::Barrier::new(3);
    let held = three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        three.ask_for(i, 1, 2, encrypt(200 << 10));
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        let before = state.in_progress.len();
        begun.wait();
        *later.lock().unwrap() = Duration::from_secs(3600);
        // the turns of a server that is to stop: it waits for what is under way, and for nothing else
        state.node.stop.store(true, Ordering::SeqCst);
        // whoever ends first leaves the others
        let _ = rounds(state, &|| true);
        [before, state.in_progress.len()]
    });
    assert_eq!(held, vec![[1, 0]; 3]);
}
