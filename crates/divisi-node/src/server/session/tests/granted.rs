//! A change of the clients of a key, of which one server says different things.

use super::*;
use crate::request::KeyServe;
use divisi_net::Frame;
use divisi_net::tamper::Tap;

/// A server tells one of the two others alone that it has not written the change: one of them drops it, and
/// the other has it compared. Before it is in force anywhere the session ends, and the next one leaves the
/// same at all three.
#[test]
fn a_split_change_of_clients_is_in_force_nowhere() {
    for to in [2, 3] {
        let three = Three::new(&(Arc::new(Machine) as Arc<dyn World>));
        let name: KeyName = "k".parse().unwrap();
        let kind = KeyType::Aes128;
        let new = NewKey {
            name: name.clone(),
            kind,
            bytes: kind.bytes() as u32,
            exportable: false,
            clients: Vec::new(),
            request: [1; 16],
        };
        for i in 0..3 {
            three.enter(i, 1);
            three.ask_for(i, 1, 1, Item::KeyNew(new.clone()));
        }
        let grant = KeyServe { name: name.clone(), client: "bob".into(), serves: true };
        let meshes = memory::mesh(3);
        let (liar, verdict) = (three.servers[0].node.clone(), Step::new("divisi_rep3::input/verdict").id);
        let lie = move |mut frame: Frame| {
            // its own part is written: what it says next is whether it agrees
            if frame.step == verdict && !liar.keys.changing().is_empty() {
                frame.body[0] = 1;
            }
            vec![frame]
        };
        Tap::new(&meshes[0]).intercept(PartyId::new(to).unwrap(), Box::new(lie)).unwrap();
        let ends = three.run_over(meshes, |i, state| {
            state.round(leader(), &[offer(1)]).unwrap();
            three.ask_for(i, 1, 2, Item::KeyServe(grant.clone()));
            let next = Offer { number: 2, ..offer(1) };
            state.round(leader(), &[next]).and_then(|()| state.rep.trio().barrier().map(drop))
        });
        assert!(ends[1..].iter().all(Result::is_err), "{to}: {ends:?}");
        let clients = |i: usize| three.node(i).keys.load(&name).unwrap().unwrap().info.clients;
        assert!((1..3).all(|i| clients(i).is_empty()), "{to}: in force before views were compared");
        three.run(|_, state| resume(state.node, &mut state.rep).unwrap());
        assert!((0..3).all(|i| clients(i).is_empty() && three.node(i).keys.changing().is_empty()), "{to}");
        // without the lie it is in force at all three
        let grant = |i: usize| {
            three.enter(i, 2);
            three.ask_for(i, 2, 1, Item::KeyServe(grant.clone()));
        };
        (0..3).for_each(grant);
        three.run(|_, state| state.round(leader(), &[offer(2)]).unwrap());
        assert!((0..3).all(|i| clients(i) == ["bob"]));
    }
}
