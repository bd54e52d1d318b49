//! Rounds of three servers without clients and listeners: what is offered, and what comes of it.

mod admitted;
mod charged;
mod granted;
mod keys;
mod left;
mod orders;
mod rounds;
mod split;
mod three;
mod ways;
mod wiped;

use super::*;
use crate::admit::Who;
use crate::error::Failed;
use crate::operator::Deed;
use crate::request::{Item, NewKey, SboxChoice, ToServer};
use crate::server::ServerOptions;
use crate::server::agreement::{CALL, OFFERS, STATUS};
use crate::server::scheduling::Budget;
use crate::tests::{Clock, ahead};
use crate::wire::Blob;
use divisi_net::tamper::Tap;
use divisi_net::{Config, Fault, Frame, Machine, World, memory};
use divisi_store::{KeyName, KeyType, StoredKeys};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Mutex;
use three::*;

/// If a leader offers more than a round holds, it is done in several rounds, so that a client that comes
/// meanwhile waits for one of them only.
#[test]
fn a_round_holds_no_more_than_its_budget_whatever_is_offered() {
    let three = Three::new();
    let ids: Vec<u8> = (1..=2 * Budget::ROUND.single as u8 + 1).collect();
    ids.iter().for_each(|id| three.all_asked_for(*id, &Item::KeyList { after: None }));
    let offers: Vec<Offer> = ids.iter().map(|id| offer(*id)).collect();
    let left = |i: usize| ids.iter().copied().filter(|id| three.has(i, *id, 1)).collect::<Vec<_>>();
    let lefts = three.run(|i, state| {
        state.round(LEADER, &offers).unwrap();
        left(i)
    });
    assert_eq!(lefts, vec![ids[Budget::ROUND.single..].to_vec(); 3]);
    // what went back is as it was
    let stands = |i: usize| three.node(i).schedule(|schedule, _| schedule.stands(&offers[2]));
    assert!((0..3).all(|i| stands(i) == Some(true)));
}

/// The same holds for the later steps of requests that have begun.
#[test]
fn a_round_holds_one_step_of_one_long_request_whatever_is_offered() {
    let three = Three::new();
    let ids = [1, 2, 3];
    ids.iter().for_each(|id| three.all_asked_for(*id, &sha256(5)));
    let next: Vec<Offer> = ids.iter().map(|id| Offer { step: 1, ..offer(*id) }).collect();
    three.run(|i, state| {
        ids.iter().for_each(|id| state.round(LEADER, &[offer(*id)]).unwrap());
        let data = || ToServer::Data { number: 1, index: 0, body: Blob(vec![0; 10]) };
        ids.iter().for_each(|id| three.say(i, *id, data()));
        state.round(LEADER, &next).unwrap();
    });
    for i in 0..3 {
        let stand = |offer| three.node(i).schedule(|schedule, _| schedule.stands(offer));
        assert_eq!(next.iter().map(stand).collect::<Vec<_>>(), [None, Some(true), Some(true)]);
    }
}

/// A server that follows waits a moment for what its client has sent to all three; but not for ever, and not
/// for a client that lets others wait in vain again and again.
#[test]
fn what_is_on_its_way_is_waited_for_a_moment() {
    // the moment does not pass
    let three = Three::within(&still());
    (0..3).for_each(|i| three.enter(i, 1));
    (0..2).for_each(|i| three.ask(i, 1));
    std::thread::scope(|s| {
        s.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            three.ask(2, 1);
        });
        three.run(|_, state| state.round(LEADER, &[offer(1)]).unwrap());
    });
    assert!((0..3).all(|i| !three.has(i, 1, 1)));

    let three = Three::new();
    (0..3).for_each(|i| three.enter(i, 1));
    (0..2).for_each(|i| three.ask(i, 1));
    let may_come = |i: usize| three.node(i).schedule(|schedule, _| schedule.may_come(&offer(1)));
    assert!(may_come(2));
    let rounds = |n: usize| {
        drop(three.run(|_, state| (0..n).try_for_each(|_| state.round(LEADER, &[offer(1)])).unwrap()))
    };
    rounds(3);
    assert!(may_come(2));
    rounds(1);
    assert!(!may_come(2));
    let begun = Instant::now();
    three.node(2).await_offers(&[offer(1)], begun + Duration::from_secs(60));
    assert!(begun.elapsed() < Duration::from_secs(60));
    // one that comes after all is served, and is waited for again
    three.ask(2, 1);
    rounds(1);
    assert!((0..3).all(|i| !three.has(i, 1, 1)));
    let next = step_of(2, 0);
    assert!(three.node(2).schedule(|schedule, _| schedule.may_come(&next)));
}

/// The files of alice's key differ, and she asks for its use before all of her request has reached the third
/// server: that one has only its beginning if `begun`, and nothing of it otherwise.
fn asked_for_a_key_that_differs(begun: bool) -> Three {
    let three = Three::asked_for_key();
    three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        if i == 1 {
            differ(&three.dir.path().join("party 2"));
        }
        if i != 2 || begun {
            three.ask_for(i, 1, 2, encrypt(0));
        }
        if i != 2 {
            three.say(i, 1, ToServer::Finish { number: 2 });
        }
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        state.node.tick();
    });
    three
}

/// Where the files of a key differ, that is what the client learns, although one server has not received the
/// request yet: what it lacks refuses nothing \[A26\].
#[test]
fn what_a_server_lacks_is_no_reason_of_a_refusal() {
    let three = asked_for_a_key_that_differs(false);
    let lines = three.lines.lock().unwrap();
    let said = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
    assert_eq!(
        (said("files of key k do not belong together"), said("did not receive")),
        (2, 0),
        "{lines:#?}"
    );
}

/// A server that does not know why a request is refused says less than the two others, who found by comparing
/// that they differ: that is no reason of their own either, since one that lies is enough for it.
#[test]
fn who_does_not_know_the_reason_of_a_refusal_says_it_by_hearsay() {
    let three = asked_for_a_key_that_differs(true);
    let told = [0, 1, 2].map(|i| three.refusal(i, 1, 2).expect("refused at all three"));
    for failed in &told[..2] {
        assert!(failed.message.contains("files of key k do not belong together"), "{failed:?}");
        assert_eq!((failed.peer, failed.hearsay), (0, true), "{failed:?}");
    }
    assert!(told[2].hearsay && !told[2].message.contains("belong together"), "{:?}", told[2]);
}

/// A server that refuses the key of a request that uses none has no reason: all three name it, the two others
/// because it said so, and nobody at first hand.
#[test]
fn who_refuses_a_key_that_nobody_asked_for_is_named() {
    let three = Three::new();
    three.all_asked_for(1, &Item::KeyList { after: None });
    let meshes = meshes();
    // of the two entries of 65 bytes the second is the key's: its last byte says whether the server has it
    change(&meshes[1], LEADER, &["divisi_rep3::input/digests"], |frame| frame.body[2 * 65 - 1] = 0);
    three.run_over(meshes, |_, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        state.rep.trio().barrier().unwrap();
    });
    for i in 0..3 {
        let failed = three.refusal(i, 1, 1).expect("refused at all three");
        assert_eq!((failed.peer, failed.hearsay), (2, true), "{failed:?}");
        assert!(failed.message.contains("party 2 refused this input"), "{failed:?}");
    }
}

/// A key that the operators destroy is wiped also from requests that a client began with it and then left
/// alone, without any further request.
#[test]
fn a_destroyed_key_is_wiped_from_what_was_under_way() {
    let three = Three::asked_for_key();
    let order = Order { key: key(), deed: Deed::Destroy };
    let held = three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        three.ask_for(i, 1, 2, encrypt(200 << 10));
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        let before = state.in_progress.len();
        let id = state.node.keys.load(&key()).unwrap().map(|key| key.info.id);
        state.node.operators(|orders, now| orders.ask(&order, id, now)).unwrap();
        state.order(LEADER, &order).unwrap();
        [before, state.in_progress.len()]
    });
    assert_eq!(held, vec![[1, 0]; 3]);
}

/// A leader that alternates between two lists of clients does not fill the log.
#[test]
fn a_list_of_clients_that_changes_at_every_call_fills_no_log() {
    let three = Three::within(&still());
    let node = three.node(0);
    for i in 0..100 {
        let theirs = if i % 2 == 0 { [0; 16] } else { node.clients() };
        node.compare_clients(PartyId::P3, &theirs);
    }
    let lines = three.lines.lock().unwrap();
    assert_eq!(lines.iter().filter(|line| line.contains("list of clients")).count(), 2, "{lines:#?}");
}

/// Each of the two others may have another list of clients: one that has the same says nothing of the other.
#[test]
fn whoever_has_another_list_of_clients_is_named() {
    let three = Three::within(&still());
    let (node, same) = (three.node(0), three.node(0).clients());
    let said = |words: &str| three.lines.lock().unwrap().iter().filter(|line| line.contains(words)).count();
    for (party, other) in [(PartyId::P2, [1; 16]), (PartyId::P3, [2; 16])] {
        node.compare_clients(party, &same);
        node.compare_clients(party, &other);
        assert_eq!(said(&format!("{party} has another list of clients than party 1")), 1);
    }
    node.compare_clients(PartyId::P2, &same);
    assert_eq!((said("party 2 has the same list"), said("list of clients")), (1, 3));
}

/// A leader passes over whoever waits when it calls for nothing, and when it calls for something to be made
/// ahead.
#[test]
fn who_calls_for_other_things_passes_over() {
    for proposal in [Proposal::Nothing, Proposal::Restock] {
        let three = Three::new();
        three.all_asked_for(1, &Item::KeyList { after: None });
        three.run(|_, state| {
            (0..32).for_each(|_| state.heed(LEADER, &proposal));
            state.node.tick();
        });
        let lines = three.lines.lock().unwrap();
        let named = lines.iter().filter(|line| line.contains("party 1 has passed over client alice in 32"));
        assert_eq!(named.count(), 2, "{lines:#?}");
    }
}

/// Party 1 leads and sends these heads and this body to the two others; returns how each server ends.
fn called(heads: [[u8; 3]; 2], body: &[u8]) -> Vec<Result<(), Abort>> {
    let three = Three::new();
    three.run(|i, state| {
        if i == 0 {
            let session = state.rep.trio().session();
            for (peer, head) in session.peers().into_iter().zip(&heads) {
                let mut call = [0; 19];
                call[..3].copy_from_slice(head);
                session.send(CALL, peer, &call, 0)?;
                if !body.is_empty() {
                    session.send(OFFERS, peer, body, 0)?;
                }
            }
            state.rep.trio().absorb("call", &heads[0][..1]);
        } else {
            state.proposal(LEADER, IDLE, false)?;
        }
        state.rep.trio().barrier().map(drop)
    })
}

/// A leader that calls two servers for different things is noticed before anything of it counts.
#[test]
fn a_split_call_is_noticed() {
    assert!(called([[0; 3]; 2], &[]).iter().all(Result::is_ok));
    assert!(called([[2, 0, 0]; 2], &[]).iter().all(Result::is_ok));
    let split = called([[0; 3], [2, 0, 0]], &[]);
    assert!(split[1..].iter().all(Result::is_err), "{split:?}");
}

/// A leader that calls one server for nothing, and the other for an order, brings them out of step before
/// anything is compared: neither says at first hand that the other did it.
#[test]
fn who_was_brought_out_of_step_is_not_named_at_first_hand() {
    let three = Three::new();
    let order = Order { key: key(), deed: Deed::Destroy };
    let body = crate::wire::encode(&order, 0).unwrap();
    let ends = three.run(|i, state| {
        if i == 0 {
            let session = state.rep.trio().session();
            let (mut nothing, mut call) = ([0; 19], [0; 19]);
            (call[0], call[1]) = (3, body.len() as u8);
            let [to_second, to_third] = session.peers()[..] else { panic!("three") };
            let mut lie = || -> Result<(), Abort> {
                session.send(CALL, to_second, &nothing, 0)?;
                session.send(CALL, to_third, &call, 0)?;
                session.send(OFFERS, to_third, &body, 0)?;
                session.send(STATUS, to_third, &[0; 5], 0)?;
                // it continues as if nothing had been, and says no more
                session.recv(CALL, to_second, &mut nothing)?;
                session.recv(STATUS, to_third, &mut [0; 5])?;
                session.recv(CALL, to_third, &mut call).map(drop)
            };
            return lie().map_err(|_| Failed::refused(JOIN, "the liar"));
        }
        let turns = |state: &mut ServerState<'_>| -> Result<(), Abort> {
            for leader in PartyId::all(3) {
                if let Proposal::Order(order) = state.proposal(leader, IDLE, false)? {
                    state.order(leader, &order)?;
                }
            }
            Ok(())
        };
        turns(state).map_err(|abort| {
            let compared = state.rep.trio().is_compared();
            Failed::abort(state.node.me, &abort, compared)
        })
    });
    assert!(ends[1..].iter().any(Result::is_err));
    for failed in ends[1..].iter().filter_map(|end| end.as_ref().err()) {
        assert!(failed.hearsay || failed.peer == 1, "{failed:?}");
    }
}

/// Calls that no honest leader makes: one request twice, too many offers, no offers, an order that is none.
#[test]
fn what_no_leader_says_names_it() {
    let one = [&[7; 32][..], &1u64.to_le_bytes(), &0u64.to_le_bytes()].concat();
    let later = [&one[..40], &1u64.to_le_bytes()].concat();
    let other = [&[8; 32][..], &one[32..]].concat();
    let count = |kind: u8, n: usize| [[kind, n as u8, (n >> 8) as u8]; 2];
    let taken = |heads, body: &[u8]| called(heads, body)[1..].iter().all(Result::is_ok);
    assert!(taken(count(1, 2), &[&one[..], &other].concat()));
    let order = Order { key: key(), deed: Deed::Destroy };
    let order = crate::wire::encode(&order, 0).unwrap();
    assert!(taken(count(3, order.len()), &order));
    // orders that no command makes: others than sorted, somebody twice, nobody, too many, what is no name
    let many: Vec<String> = (0..=crate::admit::CLIENTS).map(|i| format!("c{i:03}")).collect();
    let [whole, more] = [many.clone(), [&many[..], &["d".into()]].concat()];
    let chown = |to: Vec<String>| {
        let body = crate::wire::encode(&Order { key: key(), deed: Deed::Chown { to } }, 0).unwrap().to_vec();
        (count(3, body.len()), body)
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (heads, body) = chown(whole);
    assert!(taken(heads, &body));
    let ill_formed = [&["b", "d", "c"][..], &["b", "c", "c"], &["b", "b"], &[], &["b\n"], &["b", ""]];
    let ill_formed = ill_formed.map(names).into_iter().chain([more]).map(chown);
    for (heads, body) in [
        (count(1, 2), [&one[..], &one].concat()),
        (count(1, 2), [&one[..], &later].concat()),
        (count(1, 0), vec![]),
        (count(1, 132), vec![]),
        (count(0, 1), vec![]),
        (count(2, 1), vec![]),
        (count(3, 0), vec![]),
        (count(3, 8193), vec![]),
        (count(3, 5), vec![0; 5]),
        (count(4, 0), vec![]),
        (count(4, 132), vec![]),
    ]
    .into_iter()
    .chain(ill_formed)
    {
        for result in &called(heads, &body)[1..] {
            let Err(Abort::Network(fault)) = result else { panic!("{heads:?}: {result:?}") };
            // or the other one was first to tell
            let named = matches!(fault, Fault::Malformed { peer, .. } if *peer == LEADER);
            assert!(named || matches!(fault, Fault::Aborted { .. }), "{heads:?}: {fault:?}");
        }
    }
}
