//! What is left of a key that is destroyed or given away.

use super::*;

/// The operators of all three give an order, and it is carried out.
fn ordered(state: &mut ServerState<'_>, order: &Order) {
    let id = state.node.keys.load(&order.key).unwrap().map(|key| key.info.id);
    state.node.operators(|orders, now| orders.ask(order, id, now)).unwrap();
    state.order(LEADER, order).unwrap();
}

/// An order of the operators ends what is under way with its key, at all three, and its client learns why.
#[test]
fn an_order_ends_what_is_under_way_with_its_key() {
    for (order, words) in [
        (Order { key: key(), deed: Deed::Destroy }, "key k was destroyed meanwhile"),
        (Order::chown(key(), vec!["bob".into()]), "key k was given to other clients meanwhile"),
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
