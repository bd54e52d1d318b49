//! Keys that are made and destroyed where the servers' stores differ.

use super::admitted::{serves, uses};
use super::*;
use crate::request::{KeyServe, Reply, ToClient};
use crate::server::stores::STORES;
use crate::wire::decode;
use divisi_store::KeyState;

/// The file of alice's key at a server.
fn file(three: &Three, i: usize) -> std::path::PathBuf {
    three.dir.path().join(format!("party {}/keys/k.key", i + 1))
}

/// Servers that have destroyed different numbers of keys of a name make none, and write nothing of it.
#[test]
fn a_name_that_servers_have_used_differently_is_not_taken() {
    for odd in 0..3 {
        let three = Three::asked_for_key();
        let name: KeyName = "l".parse().unwrap();
        three.run(|i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            if i == odd {
                let mut key = state.node.keys.load(&key()).unwrap().unwrap();
                (key.info.name, key.info.id, key.info.generation) = (name.clone(), [9; 16], 4);
                state.node.keys.prepare(&mut key).unwrap();
                state.node.keys.destroy(&name).unwrap();
            }
            three.ask_for(i, 1, 2, new_key(name.clone(), KeyType::Aes128));
            state.round(LEADER, &[step_of(2, 0)]).unwrap();
        });
        for i in 0..3 {
            let failed = three.refusal(i, 1, 2).expect("refused at all three");
            assert!(failed.message.contains("different numbers of keys named l"), "{failed:?}");
            let left = three.node(i).keys.load(&name).unwrap().map(|key| key.info.state);
            assert_eq!(left, (i == odd).then_some(KeyState::Destroyed));
        }
    }
}

/// A new key names clients that all servers know: wherever in its list another one stands, nothing is made.
#[test]
fn every_client_of_a_new_key_is_known() {
    let three = Three::asked_for_key();
    let name: KeyName = "l".parse().unwrap();
    let Item::KeyNew(new) = new_key(name.clone(), KeyType::Aes128) else { panic!("a new key") };
    three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        for (number, unknown) in (2..).zip([0, 1, 8, 31, 63]) {
            let mut clients = vec!["alicia".to_owned(); 64];
            clients[unknown] = "nobody".into();
            three.ask_for(i, 1, number, Item::KeyNew(NewKey { clients, ..new.clone() }));
            state.round(LEADER, &[step_of(number, 0)]).unwrap();
            let failed = three.refusal(i, 1, number).expect("refused at all three");
            let words = "client nobody is not in the configuration";
            assert!(failed.message.contains(words), "{unknown}: {failed:?}");
        }
        assert!(state.node.keys.load(&name).unwrap().is_none());
    });
}

/// Who has another key of a name says so from its own knowledge, and the others by hearsay.
#[test]
fn who_has_another_key_of_a_name_knows_it() {
    for have in [&[0, 1, 2][..], &[0, 2], &[2]] {
        let three = Three::asked_for_key();
        let name: KeyName = "l".parse().unwrap();
        three.run(|i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            if have.contains(&i) {
                let mut key = state.node.keys.load(&key()).unwrap().unwrap();
                (key.info.name, key.info.id, key.info.request) = (name.clone(), [9; 16], [8; 16]);
                state.node.keys.prepare(&mut key).unwrap();
                state.node.keys.activate(&name, &[9; 16]).unwrap();
            }
            for number in [2, 3] {
                three.ask_for(i, 1, number, new_key(name.clone(), KeyType::Aes128));
                state.round(LEADER, &[step_of(number, 0)]).unwrap();
                let failed = three.refusal(i, 1, number).expect("refused at all three");
                assert!(failed.message.contains("there is a key l already"), "{have:?} {i}: {failed:?}");
                assert_eq!(failed.hearsay, !have.contains(&i), "{have:?} {i}: {failed:?}");
            }
        });
    }
}

/// A key that was made already, and that one server has lost since, is not told to be there.
#[test]
fn a_key_that_one_server_lost_is_not_told_to_be_made() {
    let three = Three::asked_for_key();
    three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        if i == 2 {
            std::fs::remove_file(file(&three, i)).unwrap();
        }
        // the same request
        three.ask_for(i, 1, 2, new_key(key(), KeyType::Aes128));
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
    });
    for i in 0..3 {
        let failed = three.refusal(i, 1, 2).expect("refused at all three");
        assert_eq!((failed.peer, failed.hearsay), (3, true), "{failed:?}");
        assert!(failed.message.contains("party 3 does not have key k: destroy the key"), "{failed:?}");
    }
}

/// Nobody tells the client that its key is made before all three have made it active.
#[test]
fn a_key_that_one_server_did_not_finish_is_not_told_to_be_made() {
    let three = Three::asked_for_key();
    let meshes = meshes();
    // what it says when it has written the key
    let lost = file(&three, 1);
    change(&meshes[1], LEADER, &[VERDICT], move |_| drop(std::fs::remove_file(&lost)));
    three.run_over(meshes, |_, state| state.round(LEADER, &[offer(1)]).unwrap());
    for i in 0..3 {
        let failed = three.refusal(i, 1, 1).expect("refused at all three");
        assert!(failed.step.ends_with("keys/active"), "{failed:?}");
    }
}

/// A server lists a key to those whom its file names, whatever it knew of the key before.
#[test]
fn a_list_is_of_what_the_files_say() {
    let three = Three::asked_for_key();
    three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        if i == 1 {
            let file = file(&three, i);
            let store =
                StoredKeys::open_on(Box::new(divisi_store::MachineDisk), file.parent().unwrap()).unwrap();
            let mut key = store.load(&key()).unwrap().unwrap();
            key.info.maker.name = "alicia".into();
            std::fs::remove_file(&file).unwrap();
            store.prepare(&mut key).unwrap();
        }
        three.ask_for(i, 1, 2, Item::KeyList { after: None });
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
    });
    let listed = |i: usize| {
        let next = || three.node(i).schedule(|schedule, _| schedule.next_answer(&[1; 32]));
        std::iter::from_fn(next).find_map(|answer| match decode::<Reply>(&answer)?.what {
            ToClient::Keys { keys, .. } => Some(keys.len()),
            _ => None,
        })
    };
    assert_eq!([0, 1, 2].map(listed), [Some(1), Some(0), Some(1)]);
}

/// What no honest server says of its store ends the session, and names that server.
#[test]
fn a_word_of_a_store_that_is_none_names_its_server() {
    // another version; neither empty nor not; empty with keys
    for (at, byte) in [(0, 2), (1, 2), (2, 1)] {
        let meshes = meshes();
        for to in [PartyId::P2, PartyId::P3] {
            change(&meshes[0], to, &[STORES.name], move |frame| frame.body[at] = byte);
        }
        let compare = |_, state: &mut ServerState<'_>| compare_stores(state.node, state.rep.trio().session());
        let ends = Three::new().run_over(meshes, compare);
        for end in &ends[1..] {
            let Err(Abort::Network(fault)) = end else { panic!("{at} {byte}: {end:?}") };
            // or the other one was first to tell
            let named = matches!(fault, Fault::Malformed { peer, .. } if *peer == LEADER);
            assert!(named || matches!(fault, Fault::Aborted { .. }), "{at} {byte}: {fault:?}");
        }
    }
}

/// A key whose files differ is not told to be made, is exported to nobody, and is given to nobody else: its
/// files are compared before anything else \[A26\].
#[test]
fn whatever_is_asked_of_a_key_its_files_are_compared() {
    let Item::KeyNew(new) = new_key(key(), KeyType::Aes128) else { panic!("a new key") };
    let new = Item::KeyNew(NewKey { exportable: true, ..new });
    let serve = KeyServe { name: key(), client: "alicia".into(), serves: true };
    for item in [new.clone(), Item::KeyExport { name: key() }, Item::KeyServe(serve)] {
        let three = Three::new();
        three.all_asked_for(1, &new);
        three.run(|i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            if i == 1 {
                differ(&three.dir.path().join("party 2"));
            }
            three.ask_for(i, 1, 2, item.clone());
            state.round(LEADER, &[step_of(2, 0)]).unwrap();
        });
        for i in 0..3 {
            let failed = three.refusal(i, 1, 2).expect("refused at all three");
            assert!(failed.step.ends_with("/load"), "{item:?}: {failed:?}");
            assert!(failed.message.contains("files of key k do not belong together"), "{failed:?}");
        }
    }
}

/// Of a key each byte of both components is compared before it is used, however long the key is \[A26\].
#[test]
fn every_byte_of_a_key_is_compared() {
    let kind = *KeyType::ALL.iter().max_by_key(|kind| kind.bytes()).unwrap();
    let fits = |purpose, name: Option<&String>| serves(kind, purpose, name);
    let (item, ..) = uses(&key()).into_iter().find(|(_, p, name)| fits(*p, name.as_ref())).unwrap();
    let three = Three::new();
    three.all_asked_for(1, &new_key(key(), kind));
    let places: Vec<(bool, usize)> = (0..kind.bytes()).flat_map(|at| [(false, at), (true, at)]).collect();
    three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        // there, and back again
        let differ = |(second, at)| differ_at(&three.dir.path().join("party 2"), second, at);
        for (number, place) in (2..).zip(&places) {
            (0..i % 2).for_each(|_| differ(*place));
            three.ask_for(i, 1, number, item.clone());
            state.round(LEADER, &[step_of(number, 0)]).unwrap();
            (0..i % 2).for_each(|_| differ(*place));
        }
        let number = 2 + places.len() as u64;
        three.ask_for(i, 1, number, item.clone());
        state.round(LEADER, &[step_of(number, 0)]).unwrap();
        assert!(three.has(i, 1, number));
    });
    for i in 0..3 {
        let told = three.refusals(i, 1);
        assert_eq!(told.len(), places.len());
        assert!(told.iter().all(|(_, failed)| failed.message.contains("do not belong together")), "{told:?}");
    }
}

/// An operator's word that a store may be empty holds until the store has a key, and not after that.
#[test]
fn a_store_that_had_keys_is_not_empty_without_a_new_word() {
    let three = Three::asked_for_key();
    let left = three.run(|_, state| {
        let word = &state.node.new_store;
        std::fs::write(word, "").unwrap();
        compare_stores(state.node, state.rep.trio().session()).unwrap();
        let before = word.exists();
        state.round(LEADER, &[offer(1)]).unwrap();
        compare_stores(state.node, state.rep.trio().session()).unwrap();
        [before, word.exists()]
    });
    assert_eq!(left, [[true, false]; 3]);
}
