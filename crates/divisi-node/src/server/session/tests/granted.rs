//! A change of the clients of a key: what one server says of it, and who asks for it.

use super::wiped::ordered;
use super::*;
use crate::admit::CLIENTS;
use crate::request::KeyServe;
use std::sync::atomic::AtomicBool;

/// A request for alice's key to serve alicia, or to serve her no more.
fn alicia_is_served(serves: bool) -> Item {
    Item::KeyServe(KeyServe { name: key(), client: "alicia".into(), serves })
}

/// Write, for alice's key, that it is to serve alicia, as a crash leaves it.
fn write_change(state: &ServerState<'_>) {
    let (keys, alicia) = (&state.node.keys, ["alicia".to_owned()]);
    let id = keys.load(&key()).unwrap().unwrap().info.id;
    keys.prepare_clients(&key(), &id, Some(&alicia)).unwrap();
}

/// A server tells one of the two others alone that it has not written the change: one of them drops it, and
/// the other has it compared. Before it is in force anywhere the session ends, and the next one leaves the
/// same at all three. So it is with a session's second change.
#[test]
fn a_split_change_of_clients_is_in_force_nowhere() {
    for to in [PartyId::P2, PartyId::P3] {
        let three = Three::asked_for_key();
        let meshes = meshes();
        let liar = three.servers[0].node.clone();
        change(&meshes[0], to, &[VERDICT], move |frame| {
            // its own part is written: what it says next is whether it agrees
            let key = liar.keys.load(&key()).ok().flatten();
            if key.is_some_and(|key| key.info.clients == ["alicia"]) && !liar.keys.changing().is_empty() {
                frame.body[0] = 1;
            }
        });
        let ends = three.run_over(meshes, |i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            three.ask_for(i, 1, 2, alicia_is_served(true));
            state.round(LEADER, &[step_of(2, 0)]).unwrap();
            three.ask_for(i, 1, 3, alicia_is_served(false));
            state.round(LEADER, &[step_of(3, 0)]).and_then(|()| state.rep.trio().barrier().map(drop))
        });
        assert!(ends[1..].iter().all(Result::is_err), "{to}: {ends:?}");
        let clients = |i: usize| three.node(i).keys.load(&key()).unwrap().unwrap().info.clients;
        assert!((1..3).all(|i| clients(i) == ["alicia"]), "{to}: in force before views were compared");
        three.run(|_, state| resume(state.node, &mut state.rep).unwrap());
        let was = |i: usize| clients(i) == ["alicia"] && three.node(i).keys.changing().is_empty();
        assert!((0..3).all(was), "{to}");
        // without the lie it is in force at all three
        three.all_asked_for(2, &alicia_is_served(false));
        three.run(|_, state| state.round(LEADER, &[offer(2)]).unwrap());
        assert!((0..3).all(|i| clients(i).is_empty()));
    }
}

/// What a crash left of a change is completed or dropped by what all three say of it: a server that tells one
/// of the two others alone that it has not written the change ends the session before either does anything.
#[test]
fn a_split_word_of_an_interrupted_change_changes_nothing() {
    for to in [PartyId::P2, PartyId::P3] {
        let three = Three::asked_for_key();
        three.run(|_, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            write_change(state);
        });
        let meshes = meshes();
        // digests of the entry that is in force, and of the one that is written
        change(&meshes[0], to, &["divisi_node::agree/status"], |frame| {
            if let Some(written) = frame.body.get_mut(32..64) {
                written.fill(0);
            }
        });
        let ends = three.run_over(meshes, |_, state| resume(state.node, &mut state.rep));
        assert!(ends[1..].iter().all(Result::is_err), "{to}: {ends:?}");
        let clients = |i: usize| three.node(i).keys.load(&key()).unwrap().unwrap().info.clients;
        let waits = |i: usize| clients(i).is_empty() && three.node(i).keys.changing().len() == 1;
        assert!((1..3).all(waits), "{to}: before views were compared");
        // without the lie it is in force at all three
        three.run(|_, state| resume(state.node, &mut state.rep).unwrap());
        assert!((0..3).all(|i| clients(i) == ["alicia"] && three.node(i).keys.changing().is_empty()), "{to}");
    }
}

/// A client that does not own a key changes nothing of it, not even what a crash left of its owner's change.
#[test]
fn who_does_not_own_a_key_completes_no_change_of_it() {
    let three = Three::asked_for_key();
    let left = three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        write_change(state);
        three.enter_as(i, 2, three.alicia(i));
        three.ask_for(i, 2, 1, alicia_is_served(true));
        state.round(LEADER, &[offer(2)]).unwrap();
        let left = state.node.keys.changing().len();
        // its owner does
        three.ask_for(i, 1, 2, alicia_is_served(true));
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        (left, state.node.keys.changing().len())
    });
    assert_eq!(left, [(1, 0); 3]);
    assert!((0..3).all(|i| three.refusal(i, 2, 1).is_some() && three.refusal(i, 1, 2).is_none()));
}

/// Server `i` makes alice's key, lets it serve alicia, and begins to encrypt a long message of hers.
fn alicia_encrypts(three: &Three, i: usize, state: &mut ServerState<'_>) {
    state.round(LEADER, &[offer(1)]).unwrap();
    three.ask_for(i, 1, 2, alicia_is_served(true));
    state.round(LEADER, &[step_of(2, 0)]).unwrap();
    three.enter_as(i, 2, three.alicia(i));
    three.ask_for(i, 2, 1, encrypt(200 << 10));
    state.round(LEADER, &[offer(2)]).unwrap();
}

/// What a client has under way with a key ends at all three when the key is taken from it, and is wiped.
#[test]
fn who_is_served_no_more_has_nothing_under_way() {
    let three = Three::asked_for_key();
    let held = three.run(|i, state| {
        alicia_encrypts(&three, i, state);
        let before = state.in_progress.len();
        three.ask_for(i, 1, 3, alicia_is_served(false));
        state.round(LEADER, &[step_of(3, 0)]).unwrap();
        [before, state.in_progress.len()]
    });
    assert_eq!(held, [[1, 0]; 3]);
    for i in 0..3 {
        let failed = three.refusal(i, 2, 1).expect("ended at all three");
        assert!(failed.message.contains("was taken from client alicia"), "{failed:?}");
    }
}

/// What a client has under way with a key that is taken from it, or given to others, ends at all three, also
/// at a server that cannot write so.
#[test]
fn what_cannot_be_written_ends_all_the_same() {
    for order in [None, Some(Order::chown(key(), vec!["alice".into()]))] {
        let three = Three::asked_for_key();
        let (meshes, armed) = (meshes(), Arc::new(AtomicBool::new(false)));
        let (now, node, is_order) = (armed.clone(), three.servers[1].node.clone(), order.is_some());
        let file = three.dir.path().join("party 2/keys/k.key");
        let lost = file.clone();
        // the last words before it is written
        change(&meshes[1], LEADER, &["divisi_rep3::views/barrier"], move |_| {
            let waits = || node.keys.load(&key()).unwrap().is_some_and(|key| key.next_clients.is_some());
            if now.load(Ordering::SeqCst) && (is_order || waits()) {
                now.store(false, Ordering::SeqCst);
                std::fs::remove_file(&lost).unwrap();
            }
        });
        let held = three.run_over(meshes, |i, state| {
            alicia_encrypts(&three, i, state);
            let before = state.in_progress.len();
            if i == 1 {
                armed.store(true, Ordering::SeqCst);
            }
            match &order {
                Some(order) => ordered(state, order),
                None => {
                    three.ask_for(i, 1, 3, alicia_is_served(false));
                    state.round(LEADER, &[step_of(3, 0)]).unwrap();
                }
            }
            state.forget_ended();
            [before, state.in_progress.len()]
        });
        assert!(!file.exists() && held == [[1, 0]; 3], "{is_order}: {held:?}");
    }
}

/// A key names so many clients and no more, also if they were put on one by one.
#[test]
fn a_key_names_no_more_clients_than_it_can() {
    for (others, fits) in [(CLIENTS - 1, true), (CLIENTS, false)] {
        let three = Three::asked_for_key();
        let named = three.run(|i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            let keys = &state.node.keys;
            let id = keys.load(&key()).unwrap().unwrap().info.id;
            let names: Vec<String> = (0..others).map(|other| format!("al{other}")).collect();
            keys.prepare_clients(&key(), &id, Some(&names)).unwrap();
            keys.activate_clients(&key(), &id).unwrap();
            three.ask_for(i, 1, 2, alicia_is_served(true));
            state.round(LEADER, &[step_of(2, 0)]).unwrap();
            let named = || keys.load(&key()).unwrap().unwrap().info.clients;
            let all = named().len();
            // and she alone is taken off
            three.ask_for(i, 1, 3, alicia_is_served(false));
            state.round(LEADER, &[step_of(3, 0)]).unwrap();
            (all, named() == names)
        });
        assert_eq!(named, [(CLIENTS, true); 3]);
        assert!((0..3).all(|i| three.refusal(i, 1, 2).is_none() == fits));
    }
}
