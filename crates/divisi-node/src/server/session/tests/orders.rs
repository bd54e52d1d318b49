//! What a server tells the others of an order, and what operators learn of its end.

use super::*;
use crate::operator::OrderState;
use std::sync::atomic::AtomicBool;

/// A server whose operator has not given an order tells nothing of the key: neither whether it has one that
/// fits the order, nor digests of its entry and its components.
#[test]
fn who_was_given_no_order_tells_nothing_of_its_key() {
    for order in [Order { key: key(), deed: Deed::Destroy }, Order::chown(key(), vec!["alice".into()])] {
        for given in [0, 1, 2] {
            let three = Three::asked_for_key();
            let (meshes, told) = (meshes(), Arc::<Mutex<Vec<Vec<u8>>>>::default());
            for to in [PartyId::P1, PartyId::P2] {
                let told = told.clone();
                change(&meshes[2], to, &["divisi_rep3::input/digests"], move |frame| {
                    told.lock().unwrap().push(frame.body.clone());
                });
            }
            three.run_over(meshes, |i, state| {
                state.round(LEADER, &[offer(1)]).unwrap();
                let id = state.node.keys.load(&key()).unwrap().map(|key| key.info.id);
                let ask = |order: &Order| state.node.operators(|orders, now| orders.ask(order, id, now));
                match i {
                    // nothing of a later step is sent before the others are here, too
                    2 => told.lock().unwrap().clear(),
                    _ if i < given => ask(&order).unwrap(),
                    _ => {}
                }
                state.order(LEADER, &order).unwrap();
                assert!(state.node.keys.load(&key()).unwrap().is_some_and(|key| key.secret.is_some()));
            });
            // a digest of what is public, one of a component, and that all this may yet come
            let nothing = [&[0; 64][..], &[2]].concat();
            let told = told.lock().unwrap();
            assert_eq!(told.len(), 2, "{order}");
            for body in &*told {
                let [said, key @ ..] = body.as_chunks::<65>().0 else { panic!("no entry") };
                assert_eq!(said[32..], nothing[32..], "{order}");
                assert!(key.len() == 2 && key.iter().all(|entry| entry[..] == nothing), "{order}: {key:?}");
            }
        }
    }
}

/// An order to destroy a key that one server cannot carry out is not done: all operators learn whose part is
/// left. In the memory of that server nothing is left of the key.
#[test]
fn what_one_server_could_not_destroy_is_told_to_all_operators() {
    let three = Three::asked_for_key();
    let order = Order { key: key(), deed: Deed::Destroy };
    let file = three.dir.path().join("party 2/keys/k.key");
    let states = three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        let id = state.node.keys.load(&key()).unwrap().map(|key| key.info.id);
        three.ask_for(i, 1, 2, encrypt(200 << 10));
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        assert!(state.ready.has_name(&key()));
        if i == 1 {
            std::fs::remove_file(&file).unwrap();
            std::fs::create_dir(&file).unwrap();
        }
        state.node.operators(|orders, now| orders.ask(&order, id, now)).unwrap();
        state.order(LEADER, &order).unwrap();
        assert!(!state.ready.has_name(&key()) && state.in_progress.is_empty(), "{i}");
        state.node.operators(|orders, _| orders.state(&order)).unwrap().0
    });
    let words = "destroyed at party 1 and party 3, and not at party 2";
    let told = |state: &OrderState| matches!(state, OrderState::Failed(why) if why.starts_with(words));
    assert!(states.iter().all(told), "{states:?}");
}

/// A key is given to nobody whom a server does not know, neither as its owner nor as another client.
#[test]
fn a_key_is_given_to_nobody_whom_a_server_does_not_know() {
    for to in [["alison", "alice"], ["alicia", "alison"]] {
        let three = Three::asked_for_key();
        let order = Order::chown(key(), to.map(String::from).to_vec());
        let states = three.run(|_, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            let before = state.node.keys.load(&key()).unwrap().unwrap().info;
            state.node.operators(|orders, now| orders.ask(&order, Some(before.id), now)).unwrap();
            state.order(LEADER, &order).unwrap();
            let after = state.node.keys.load(&key()).unwrap().unwrap().info;
            assert_eq!((before.maker.name, before.clients), (after.maker.name, after.clients));
            state.node.operators(|orders, _| orders.state(&order)).unwrap().0
        });
        let words = "does not know all these clients";
        let told = |state: &OrderState| matches!(state, OrderState::Failed(why) if why.contains(words));
        assert!(states.iter().all(told), "{to:?}: {states:?}");
    }
}

/// A server that was given an order, and says so to one of the others alone: the session ends before either
/// destroys the key.
#[test]
fn a_split_word_on_an_order_destroys_nothing() {
    for to in [PartyId::P2, PartyId::P3] {
        let three = Three::asked_for_key();
        let order = Order { key: key(), deed: Deed::Destroy };
        let (meshes, armed) = (meshes(), Arc::new(AtomicBool::new(false)));
        let now = armed.clone();
        change(&meshes[0], to, &[VERDICT], move |frame| {
            if now.load(Ordering::SeqCst) {
                frame.body[0] = 1;
            }
        });
        let ends = three.run_over(meshes, |i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            let id = state.node.keys.load(&key()).unwrap().map(|key| key.info.id);
            state.node.operators(|orders, now| orders.ask(&order, id, now)).unwrap();
            if i == 0 {
                armed.store(true, Ordering::SeqCst);
            }
            let end = state.order(LEADER, &order).and_then(|()| state.rep.trio().barrier().map(drop));
            let left = state.node.keys.load(&key()).unwrap().is_some_and(|key| key.secret.is_some());
            (end.is_err(), left)
        });
        assert_eq!(ends[1..], [(true, true); 2], "{to}");
    }
}
