//! What is decided of orders, event by event.

use super::*;
use crate::admit::CLIENTS;
use crate::operator::Deed;

const HOUR: Duration = Duration::from_secs(3600);
const ID: Option<[u8; 16]> = Some([1; 16]);

fn orders() -> (Orders, Instant) {
    (Orders::new(PartyId::P1, HOUR), Instant::now())
}

fn chown(key: &str, to: &[&str]) -> Order {
    Order::chown(key.parse().unwrap(), to.iter().map(|name| (*name).to_owned()).collect())
}

fn destroy(key: &str) -> Order {
    Order { key: key.parse().unwrap(), deed: Deed::Destroy }
}

fn logged(orders: &mut Orders, words: &str) {
    let log = orders.take_log();
    assert!(log.len() == 1 && log[0].contains(words), "{log:?}");
}

/// The first is the owner; the others are a set. Nothing else is the same order.
#[test]
fn an_order_is_what_it_says_and_nothing_else() {
    let order = chown("k", &["c", "b", "a", "b", "c"]);
    assert_eq!(order.clients(), ["c", "a", "b"]);
    assert_eq!(order, chown("k", &["c", "a", "b"]));
    assert!(order.is_well_formed());
    let mut digests: Vec<_> = [
        order.clone(),
        chown("k", &["a", "b", "c"]),
        chown("k", &["ca", "b"]),
        chown("k", &["c", "ab"]),
        chown("k", &["c"]),
        chown("l", &["c", "a", "b"]),
        destroy("k"),
        destroy("l"),
    ]
    .iter()
    .map(Order::digest)
    .collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 8);
    let many: Vec<String> = (0..CLIENTS + 2).map(|i| format!("c{i}")).collect();
    assert!(!Order::chown("k".parse().unwrap(), many.clone()).is_well_formed());
    assert!(Order::chown("k".parse().unwrap(), many[1..].to_vec()).is_well_formed());
    for to in [vec![], vec!["a\n".into()], vec![String::new()], vec!["a".into(), "c".into(), "b".into()]] {
        assert!(!Order { key: "k".parse().unwrap(), deed: Deed::Chown { to } }.is_well_formed());
    }
    assert_eq!(order.to_string(), "key chown k to c,a,b");
}

/// An order waits for the two others, and says for whom; it is called for once in each session.
#[test]
fn an_order_waits_until_all_three_have_asked() {
    let (mut orders, now) = orders();
    let order = chown("k", &["alicia"]);
    assert_eq!(orders.stands(&order, ID, now), NONE);
    orders.ask(&order, ID, now).unwrap();
    logged(&mut orders, "key chown k to alicia: asked here");
    let asked = |waiting: &[u8], differs: &[u8]| OrderState::Asked {
        waiting: waiting.into(),
        differs: differs.into(),
    };
    assert_eq!(orders.state(&order), Some((asked(&[2, 3], &[]), false)));
    assert!(orders.has_call());
    assert_eq!(orders.next_call(now), Some(order.clone()));
    assert_eq!((orders.has_call(), orders.next_call(now)), (false, None));
    orders.rejoined();
    assert_eq!(orders.next_call(now), Some(order.clone()));
    assert_eq!(orders.stands(&order, ID, now), SAME);
    assert_eq!(orders.stands(&chown("k", &["carol"]), ID, now), OTHER);
    assert_eq!(orders.stands(&chown("l", &["alicia"]), ID, now), NONE);

    orders.compared(PartyId::P1, &order, [SAME, NONE, NONE], now);
    logged(&mut orders, "waits for the operator of party 2 and party 3");
    orders.compared(PartyId::P1, &order, [SAME, NONE, NONE], now);
    assert!(orders.take_log().is_empty());
    orders.compared(PartyId::P3, &order, [SAME, NONE, SAME], now);
    logged(&mut orders, "waits for the operator of party 2");
    assert_eq!(orders.state(&order), Some((asked(&[2], &[]), true)));
    orders.compared(PartyId::P1, &order, [SAME, OTHER, SAME], now);
    let log = orders.take_log();
    assert!(log.len() == 2 && log[1].contains("the operator of party 2 gave another order"), "{log:?}");
    assert_eq!(orders.state(&order), Some((asked(&[2], &[2]), true)));
    // in another session the words of this one are forgotten
    orders.rejoined();
    assert_eq!(orders.state(&order), Some((asked(&[2, 3], &[]), false)));

    orders.ended(&order, orders.asking(&order), Ok(()));
    logged(&mut orders, "done, all three asked");
    assert_eq!(orders.state(&order), Some((OrderState::Done, true)));
    // it is done once: whoever asks again learns that it is
    assert_eq!(orders.stands(&order, ID, now), NONE);
    orders.ask(&order, ID, now).unwrap();
    assert!(orders.take_log().is_empty() && !orders.has_call());
    // for another key of the same name it is a new order
    orders.ask(&order, Some([2; 16]), now).unwrap();
    assert_eq!(orders.stands(&order, Some([2; 16]), now), SAME);
    // each order has a state of its own, whichever came first
    let other = chown("l", &["alicia"]);
    orders.ask(&other, ID, now).unwrap();
    orders.ended(&other, orders.asking(&other), Ok(()));
    for _ in 0..2 {
        assert_eq!(orders.state(&other), Some((OrderState::Done, true)));
        assert_eq!(orders.state(&order), Some((asked(&[2, 3], &[]), false)));
    }
    // what was done for a key is no other order for it
    let another = chown("l", &["carol"]);
    orders.ask(&another, ID, now).unwrap();
    assert_eq!(orders.stands(&another, ID, now), SAME);
    let askings = [&order, &another, &other].map(|order| orders.asking(order));
    assert!(askings[0].is_some() && askings[0] < askings[1] && askings[2].is_none(), "{askings:?}");
}

/// A list of many clients is another one if it differs in one of them, has one less, or one more.
#[test]
fn every_client_of_an_order_is_compared() {
    let (mut orders, now) = orders();
    let names = |count: usize| (0..count).map(|i| format!("c{i:02}")).collect::<Vec<String>>();
    let order = |clients: Vec<String>| Order::chown("k".parse().unwrap(), clients);
    let given = order(names(CLIENTS));
    orders.ask(&given, ID, now).unwrap();
    assert_eq!(orders.stands(&given, ID, now), SAME);
    for place in 0..CLIENTS {
        let mut other = names(CLIENTS);
        other[place].push('x');
        assert_eq!(orders.stands(&order(other), ID, now), OTHER, "{place}");
    }
    for count in [1, 2, CLIENTS / 2, CLIENTS - 1, CLIENTS + 1] {
        assert_eq!(orders.stands(&order(names(count)), ID, now), OTHER, "{count}");
    }
}

/// An order that not all servers carried out can be given again.
#[test]
fn what_failed_may_be_asked_for_again() {
    let (mut orders, now) = orders();
    let (order, before) = (destroy("k"), destroy("before"));
    orders.ask(&before, ID, now).unwrap();
    orders.ask(&order, ID, now).unwrap();
    orders.ended(&order, orders.asking(&order), Err("not at party 2".into()));
    assert_eq!(orders.state(&order).unwrap().0, OrderState::Failed("not at party 2".into()));
    assert!(matches!(orders.state(&before), Some((OrderState::Asked { .. }, _))));
    assert_eq!(orders.stands(&order, ID, now), NONE);
    orders.ask(&order, ID, now).unwrap();
    assert_eq!(orders.stands(&order, ID, now), SAME);
}

/// An order that is given again while the servers are at it does not fail with what was given before: it is
/// proposed again. If they did it, it is done.
#[test]
fn what_is_asked_for_again_meanwhile_does_not_fail_with_the_first() {
    let (mut orders, now) = orders();
    let order = destroy("k");
    orders.ask(&order, ID, now).unwrap();
    assert_eq!(orders.next_call(now), Some(order.clone()));
    let first = orders.asking(&order);
    orders.ask(&order, ID, now).unwrap();
    orders.ended(&order, first, Err("not at party 2".into()));
    assert_eq!((orders.stands(&order, ID, now), orders.has_call()), (SAME, true));
    orders.ended(&order, first, Ok(()));
    assert_eq!(orders.state(&order), Some((OrderState::Done, true)));
}

/// An hour after an order was given nothing is left of it.
#[test]
fn an_order_expires() {
    let (mut orders, start) = orders();
    let (order, other) = (chown("k", &["alicia"]), destroy("l"));
    orders.ask(&order, ID, start).unwrap();
    orders.ask(&other, ID, start + HOUR / 2).unwrap();
    orders.take_log();
    let just = start + HOUR - Duration::from_secs(1);
    orders.tick(just);
    assert!(orders.take_log().is_empty());
    assert_eq!(orders.stands(&order, ID, just), SAME);
    // its time goes on in another session: who ends sessions keeps no order alive
    orders.rejoined();
    // whichever function is called first
    assert_eq!(orders.stands(&order, ID, start + HOUR), NONE);
    logged(
        &mut orders,
        "key chown k to alicia: expired, the operators of all three did not give it within 60 minutes",
    );
    assert_eq!(orders.state(&order), None);
    assert_eq!(orders.next_call(start + HOUR), Some(other.clone()));
    orders.ended(&other, orders.asking(&other), Ok(()));
    orders.take_log();
    // an end is forgotten without a word
    orders.tick(start + 2 * HOUR);
    assert!(orders.state(&other).is_none() && orders.take_log().is_empty());
    // asked again, it lasts again
    orders.ask(&order, ID, start).unwrap();
    orders.ask(&order, ID, start + HOUR / 2).unwrap();
    assert_eq!(orders.stands(&order, ID, start + HOUR), SAME);
}

/// A key that was destroyed and made again since is not meant.
#[test]
fn another_key_of_the_same_name_is_not_meant() {
    let (mut orders, now) = orders();
    let order = destroy("k");
    orders.ask(&order, ID, now).unwrap();
    orders.take_log();
    // a key whose file is lost or damaged is still meant
    assert_eq!(orders.stands(&order, None, now), SAME);
    // whatever byte of their ids it is in which they differ
    for byte in 0..16 {
        let mut other = [1; 16];
        other[byte] ^= 0x80;
        orders.ask(&order, ID, now).unwrap();
        orders.take_log();
        // nor is it after another session has begun
        (0..byte).for_each(|_| orders.rejoined());
        assert_eq!(orders.stands(&order, Some(other), now), NONE, "{byte}");
        logged(&mut orders, "ended, because another key has this name now");
        assert_eq!(orders.state(&order), None);
    }
}

/// If there are two orders about one key, the later one counts. The number of orders is bounded, and orders
/// of other operators are logged a few times an hour only.
#[test]
fn what_waits_and_what_is_logged_is_bounded() {
    let (mut orders, now) = orders();
    orders.ask(&chown("k", &["alicia"]), ID, now).unwrap();
    for (to, before) in [("bernd", "alicia"), ("carol", "bernd")] {
        orders.take_log();
        orders.ask(&chown("k", &[to]), ID, now).unwrap();
        let log = orders.take_log();
        assert!(
            log.len() == 2 && log[0] == format!("operator: key chown k to {before}: taken back"),
            "{log:?}"
        );
    }
    assert_eq!(orders.stands(&chown("k", &["alicia"]), ID, now), OTHER);
    for i in 1..MOST {
        orders.ask(&destroy(&format!("k{i}")), ID, now).unwrap();
    }
    assert!(orders.ask(&destroy("more"), ID, now).unwrap_err().contains("64 orders are waiting"));
    orders.ended(&destroy("k7"), orders.asking(&destroy("k7")), Ok(()));
    orders.ask(&destroy("more"), ID, now).unwrap();
    orders.take_log();

    for i in 0..3 * PROPOSED {
        let order = destroy(&format!("x{i}"));
        orders.compared(PartyId::P2, &order, [NONE, SAME, NONE], now);
        orders.compared(PartyId::P2, &order, [NONE, SAME, NONE], now);
        assert_eq!(orders.was_proposed(&order), i < PROPOSED);
    }
    let log = orders.take_log();
    assert!(
        log.len() == PROPOSED && log[0].contains("key destroy x0: asked at party 2, and not here"),
        "{log:?}"
    );
    orders.compared(PartyId::P2, &destroy("k"), [OTHER, SAME, NONE], now);
    assert!(orders.take_log().is_empty());
    let later = now + HOUR;
    orders.tick(later);
    orders.take_log();
    orders.ask(&chown("k", &["carol"]), ID, later).unwrap();
    orders.take_log();
    orders.compared(PartyId::P2, &destroy("k"), [OTHER, SAME, NONE], later);
    logged(&mut orders, "key chown k to carol was asked here, and key destroy k at party 2: nothing is done");
    orders.ask(&chown("k", &["alicia"]), ID, later).unwrap();
    orders.take_log();
    orders.compared(PartyId::P2, &destroy("k"), [OTHER, SAME, NONE], later);
    logged(
        &mut orders,
        "key chown k to alicia was asked here, and key destroy k at party 2: nothing is done",
    );
}

/// A server that invents orders, and says now this, now that of its own operator, fills no log, and hides
/// nobody's order.
#[test]
fn one_server_fills_no_log_and_hides_no_order() {
    let (mut orders, now) = orders();
    let own = chown("own", &["alicia"]);
    orders.ask(&own, ID, now).unwrap();
    for i in 0..100 {
        orders.compared(PartyId::P3, &destroy(&format!("k{i}")), [NONE, NONE, SAME], now);
        orders.compared(PartyId::P3, &own, [SAME, NONE, if i % 2 == 0 { SAME } else { OTHER }], now);
    }
    let lines = orders.take_log();
    assert!(lines.len() <= 32, "{} lines", lines.len());
    let honest = destroy("lost");
    orders.compared(PartyId::P2, &honest, [NONE, SAME, NONE], now);
    logged(&mut orders, "key destroy lost: asked at party 2, and not here");
    assert!(orders.was_proposed(&honest));
}

/// Each order that is not the one that was asked here is news.
#[test]
fn whatever_else_was_asked_elsewhere_is_told() {
    let (mut orders, now) = orders();
    orders.ask(&chown("k", &["alicia"]), ID, now).unwrap();
    for leader in [PartyId::P2, PartyId::P3] {
        for i in 0..PROPOSED {
            let other = chown("k", &[&format!("client{i} of {leader}")]);
            for _ in 0..2 {
                orders.compared(leader, &other, [SAME, NONE, NONE], now);
            }
        }
    }
    assert_eq!(
        orders.take_log().iter().filter(|line| line.contains("was asked here, and")).count(),
        2 * PROPOSED
    );
}

/// An order that was done is news again when another operator gives it again, for the next key of its name.
#[test]
fn what_was_done_is_news_again() {
    let (mut orders, now) = orders();
    let order = destroy("k");
    let proposed = |orders: &mut Orders| orders.compared(PartyId::P2, &order, [NONE, SAME, NONE], now);
    proposed(&mut orders);
    logged(&mut orders, "asked at party 2, and not here");
    orders.ask(&order, ID, now).unwrap();
    orders.ended(&order, orders.asking(&order), Ok(()));
    orders.take_log();
    assert!(!orders.was_proposed(&order));
    proposed(&mut orders);
    logged(&mut orders, "asked at party 2, and not here");
}
