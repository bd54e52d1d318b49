//! A change of the clients of a key, of which one server says different things.

use super::*;
use crate::request::KeyServe;

/// A server tells one of the two others alone that it has not written the change: one of them drops it, and
/// the other has it compared. Before it is in force anywhere the session ends, and the next one leaves the
/// same at all three.
#[test]
fn a_split_change_of_clients_is_in_force_nowhere() {
    for to in [PartyId::P2, PartyId::P3] {
        let three = Three::asked_for_key();
        let grant = Item::KeyServe(KeyServe { name: key(), client: "bob".into(), serves: true });
        let meshes = memory::mesh(3);
        let liar = three.servers[0].node.clone();
        change(&meshes[0], to, &[VERDICT], move |frame| {
            // its own part is written: what it says next is whether it agrees
            if !liar.keys.changing().is_empty() {
                frame.body[0] = 1;
            }
        });
        let ends = three.run_over(meshes, |i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            three.ask_for(i, 1, 2, grant.clone());
            state.round(LEADER, &[step_of(2, 0)]).and_then(|()| state.rep.trio().barrier().map(drop))
        });
        assert!(ends[1..].iter().all(Result::is_err), "{to}: {ends:?}");
        let clients = |i: usize| three.node(i).keys.load(&key()).unwrap().unwrap().info.clients;
        assert!((1..3).all(|i| clients(i).is_empty()), "{to}: in force before views were compared");
        three.run(|_, state| resume(state.node, &mut state.rep).unwrap());
        assert!((0..3).all(|i| clients(i).is_empty() && three.node(i).keys.changing().is_empty()), "{to}");
        // without the lie it is in force at all three
        three.all_asked_for(2, &grant);
        three.run(|_, state| state.round(LEADER, &[offer(2)]).unwrap());
        assert!((0..3).all(|i| clients(i) == ["bob"]));
    }
}
