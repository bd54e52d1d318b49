//! What is left of a key that is destroyed or given away.

use super::*;
use crate::request::FunctionRequest;
use crate::server::execution::ReadyKey;
use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Boolean, ProgramRun};
use divisi_symmetric::algorithm::Settings;

/// The operators of all three give an order, and it is carried out.
pub(super) fn ordered(state: &mut ServerState<'_>, order: &Order) {
    let id = state.node.keys.load(&order.key).unwrap().map(|key| key.info.id);
    state.node.operators(|orders, now| orders.ask(order, id, now)).unwrap();
    state.order(LEADER, order).unwrap();
}

/// Ends of what a key has ready.
#[derive(Clone, Copy, Debug)]
enum Gone {
    /// Its maker destroys it, or the operators do.
    Destroyed,
    Ordered,
    /// It is used otherwise, or other keys take its place.
    Replaced,
    Evicted,
}

/// In place of a function, which takes longer to garble: the engine does not know what it garbles.
fn product() -> Program {
    let mut build = Build::new();
    let [x, y] = [(); 2].map(|()| build.input(1));
    let product = build.and(x[0], y[0]);
    build.output(&[product]);
    build.finish()
}

/// Run a program that keeps its first wire, and garble for it: calls are made for a key itself from its
/// second use on.
fn use_twice(state: &mut ServerState<'_>, program: &Program) {
    for _ in 0..2 {
        let wires = [(); 2].map(|()| state.rep.public_bit(&[false])).to_vec();
        state.rep.run(&mut [ProgramRun::new(program, wires).keeping(1)]).unwrap();
        while state.rep.lacks_stock() {
            state.restock().unwrap();
        }
    }
}

/// What was garbled ahead for a key as it is used, and the shares that were kept for more, are wiped with
/// what is ready of it.
#[test]
fn what_was_garbled_for_a_key_is_wiped_with_it() {
    let asked = FunctionRequest::from(&Settings::new("cmac-aes128".parse().unwrap()));
    let settings = asked.settings().unwrap();
    let mac = |output_bytes: usize| {
        let asked = (&Settings { output_bytes, ..settings.clone() }).into();
        Item::Mac { key: key(), asked, length: 10, tag: None }
    };
    let program = product();
    for end in [Gone::Destroyed, Gone::Ordered, Gone::Replaced, Gone::Evicted] {
        let three = Three::new();
        three.all_asked_for(1, &new_key(key(), KeyType::CmacAes128));
        let held = three.run(|i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            three.ask_for(i, 1, 2, mac(16));
            state.round(LEADER, &[step_of(2, 0)]).unwrap();
            let id = state.node.keys.load(&key()).unwrap().unwrap().info.id;
            let function = state.ready.mac(&id, &settings).unwrap();
            let name = state.ready.bound(&id, &function).unwrap();
            state.rep.stock_calls(PREPROCESSED);
            state.rep.use_rounds(Rounds::Constant);
            state.rep.use_key(Some(name));
            use_twice(state, &program);
            state.rep.use_key(None);
            state.rep.use_rounds(Rounds::OfLevels);
            let before = state.rep.stocked_bytes();
            match end {
                Gone::Destroyed | Gone::Replaced => {
                    three.say(i, 1, ToServer::Data { number: 2, index: 0, body: Blob(vec![0; 20]) });
                    three.say(i, 1, ToServer::Finish { number: 2 });
                    (1..3).for_each(|step| state.round(LEADER, &[step_of(2, step)]).unwrap());
                    let destroy = Item::KeyDestroy { name: key() };
                    three.ask_for(i, 1, 3, if matches!(end, Gone::Destroyed) { destroy } else { mac(8) });
                    state.round(LEADER, &[step_of(3, 0)]).unwrap();
                }
                Gone::Ordered => ordered(state, &Order { key: key(), deed: Deed::Destroy }),
                Gone::Evicted => {
                    for other in 0..=u8::MAX {
                        let kept = ReadyKey::Mac(settings.clone(), function.clone());
                        let name = format!("k{other}").parse().unwrap();
                        state.ready.keep(&mut state.rep, "alice", name, [other; 16], kept);
                    }
                }
            }
            let after = state.rep.stocked_bytes();
            state.rep.forget_key(&name);
            [before, after, state.rep.stocked_bytes()]
        });
        let wiped = |[before, after, none]: &[usize; 3]| before > after && after == none;
        assert!(held.iter().all(wiped), "{end:?}: {held:?}");
    }
}

/// What runs after a tag is not garbled for the key of that tag.
#[test]
fn a_step_leaves_no_key_to_the_next() {
    let asked = FunctionRequest::from(&Settings::new("cmac-aes128".parse().unwrap()));
    let settings = asked.settings().unwrap();
    let three = Three::new();
    three.all_asked_for(1, &new_key(key(), KeyType::CmacAes128));
    let held = three.run(|i, state| {
        state.rep.stock_calls(PREPROCESSED);
        state.round(LEADER, &[offer(1)]).unwrap();
        three.ask_for(i, 1, 2, Item::Mac { key: key(), asked: asked.clone(), length: 0, tag: None });
        three.say(i, 1, ToServer::Finish { number: 2 });
        (0..2).for_each(|step| state.round(LEADER, &[step_of(2, step)]).unwrap());
        assert!(!three.has(i, 1, 2));
        let id = state.node.keys.load(&key()).unwrap().unwrap().info.id;
        let function = state.ready.mac(&id, &settings).unwrap();
        let name = state.ready.bound(&id, &function).unwrap();
        state.rep.forget_key(&name);
        state.rep.use_rounds(Rounds::Constant);
        use_twice(state, &product());
        let before = state.rep.stocked_bytes();
        state.rep.forget_key(&name);
        [before, state.rep.stocked_bytes()]
    });
    assert!(held.iter().all(|[before, after]| *before > 0 && before == after), "{held:?}");
}

/// An order of the operators ends what is under way with its key, at all three, and its client learns why.
#[test]
fn an_order_ends_what_is_under_way_with_its_key() {
    for (order, words) in [
        (Order { key: key(), deed: Deed::Destroy }, "key k was destroyed meanwhile"),
        (Order::chown(key(), vec!["alicia".into()]), "key k was given to other clients meanwhile"),
        // she has it still, and asks again
        (Order::chown(key(), vec!["alice".into()]), "key k was given to other clients meanwhile"),
    ] {
        let three = Three::asked_for_key();
        let held = three.run(|i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            three.ask_for(i, 1, 2, encrypt(200 << 10));
            state.round(LEADER, &[step_of(2, 0)]).unwrap();
            ordered(state, &order);
            state.forget_ended();
            state.in_progress.len()
        });
        assert_eq!(held, [0; 3], "{order}");
        for i in 0..3 {
            let failed = three.refusal(i, 1, 2).expect("ended at all three");
            assert!(failed.message.contains(words), "{order}: {failed:?}");
        }
    }
}

/// Of a key that is destroyed nothing is ready after the round, whatever else of the round used it, and
/// whatever was offered first.
#[test]
fn what_uses_a_key_in_the_round_of_its_end_goes_before() {
    for order in [[1, 2, 3], [2, 3, 1], [3, 1, 2]] {
        let three = Three::asked_for_key();
        let held = three.run(|i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            let id = state.node.keys.load(&key()).unwrap().unwrap().info.id;
            three.ask_for(i, 1, 2, Item::KeyDestroy { name: key() });
            for (connection, length) in [(2, 0), (3, 200 << 10)] {
                three.enter(i, connection);
                three.ask_for(i, connection, 1, encrypt(length));
            }
            three.say(i, 2, ToServer::Finish { number: 1 });
            let offers = order.map(|id| if id == 1 { step_of(2, 0) } else { offer(id) });
            state.round(LEADER, &offers).unwrap();
            assert!((1..=2).all(|id| !three.has(i, id, u64::from(3 - id))));
            (state.ready.has(&id), state.in_progress.len())
        });
        assert_eq!(held, [(false, 0); 3], "{order:?}");
    }
}
