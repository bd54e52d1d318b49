//! A server that tells the two others different things: it ends the session, and names nobody honest at first
//! hand; and what ends by itself is wiped.

use super::*;
use crate::operator::OrderState;
use crate::server::agreement::exchange;
use divisi_net::Frame;
use divisi_net::tamper::Tap;
use divisi_store::StoredKeys;
use std::sync::atomic::AtomicBool;

fn machine() -> Arc<dyn World> {
    Arc::new(Machine)
}

/// The first server sends these statuses to the two others; returns how all three end.
fn told(statuses: [[u8; 5]; 2]) -> Vec<Result<(), Abort>> {
    Three::new(&machine()).run(|i, state| {
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
    for to in [2, 3] {
        let three = Three::new(&machine());
        for i in 0..3 {
            three.enter(i, 1);
            three.ask(i, 1);
        }
        let meshes = memory::mesh(3);
        let verdict = Step::new("divisi_rep3::input/verdict").id;
        let lie = move |mut frame: Frame| {
            if frame.step == verdict {
                frame.body[0] = 1;
            }
            vec![frame]
        };
        Tap::new(&meshes[0]).intercept(PartyId::new(to).unwrap(), Box::new(lie)).unwrap();
        let ends = three.run_over(meshes, |_, state| {
            let end = state.round(leader(), &[offer(1)]).and_then(|()| state.rep.trio().barrier());
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
    let three = Three::new(&machine());
    let name: KeyName = "k".parse().unwrap();
    let new = new_key(&name);
    let order = Order::chown(name.clone(), vec!["alice".into()]);
    for i in 0..3 {
        three.enter(i, 1);
        three.ask_for(i, 1, 1, Item::KeyNew(new.clone()));
    }
    let meshes = memory::mesh(3);
    let armed = Arc::new(AtomicBool::new(false));
    let keys = three.dir.path().join("party 2").join("keys");
    let (now, barrier) = (armed.clone(), Step::new("divisi_rep3::views/barrier").id);
    let change = move |frame: Frame| {
        if frame.step == barrier && now.swap(false, Ordering::SeqCst) {
            let store = StoredKeys::open_on(Box::new(divisi_store::MachineDisk), &keys).unwrap();
            let mut key = store.load(&name).unwrap().unwrap();
            key.secret.as_mut().unwrap().first[3] ^= 1;
            std::fs::remove_file(keys.join("k.key")).unwrap();
            store.prepare(&mut key).unwrap();
        }
        vec![frame]
    };
    Tap::new(&meshes[1]).intercept(leader(), Box::new(change)).unwrap();
    let states = three.run_over(meshes, |i, state| {
        state.round(leader(), &[offer(1)]).unwrap();
        let id = state.node.keys.load(&order.key).unwrap().map(|key| key.info.id);
        state.node.operators(|orders, now| orders.ask(&order, id, now)).unwrap();
        if i == 1 {
            armed.store(true, Ordering::SeqCst);
        }
        state.order(leader(), &order).unwrap();
        state.node.operators(|orders, _| orders.state(&order)).unwrap().0
    });
    assert!(!armed.load(Ordering::SeqCst));
    let failed =
        |state: &OrderState| matches!(state, OrderState::Failed(why) if why.contains("files differ"));
    assert!(states.iter().all(failed), "{states:?}");
}

/// The machine's clock, set forward by this time.
struct Ahead(Mutex<Duration>);

impl World for Ahead {
    fn now(&self) -> Instant {
        Machine.now() + *self.0.lock().unwrap()
    }
    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }
    fn entropy(&self, out: &mut [u8]) {
        Machine.entropy(out);
    }
    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
        Machine.spawn(name, work)
    }
}

/// A long request whose client sends no more ends by the limit of time, and what it held of its key is wiped
/// then, though nobody asks for anything.
#[test]
fn what_a_client_left_is_wiped_when_its_time_is_over() {
    let world = Arc::new(Ahead(Mutex::default()));
    let three = Three::new(&(world.clone() as Arc<dyn World>));
    let name: KeyName = "k".parse().unwrap();
    let new = new_key(&name);
    let (aad, way) = (Blob(Vec::new()), SboxChoice::DEFAULT);
    let encrypt = Item::Encrypt { key: name, aad, length: 200 << 10, way };
    for i in 0..3 {
        three.enter(i, 1);
        three.ask_for(i, 1, 1, Item::KeyNew(new.clone()));
    }
    let begun = std::sync::Barrier::new(3);
    let held = three.run(|i, state| {
        state.round(leader(), &[offer(1)]).unwrap();
        three.ask_for(i, 1, 2, encrypt.clone());
        state.round(leader(), &[Offer { number: 2, ..offer(1) }]).unwrap();
        let before = state.in_progress.len();
        begun.wait();
        *world.0.lock().unwrap() = Duration::from_secs(3600);
        // the turns of a server that is to stop: it waits for what is under way, and for nothing else
        state.node.stop.store(true, Ordering::SeqCst);
        // whoever ends first leaves the others
        let _ = rounds(state, &|| true);
        [before, state.in_progress.len()]
    });
    assert_eq!(held, vec![[1, 0]; 3]);
}
