//! What an intake decides, event by event.

use super::*;
use crate::request::Way;
use crate::server::plan::Budget;
use crate::wire::Blob;
use divisi_symmetric::algorithm::Settings;

fn intake() -> (Intake, Instant) {
    let party = PartyId::new(1).unwrap();
    (Intake::new(party, Shape::STANDARD, Allowances::default(), Duration::from_secs(10)), Instant::now())
}

fn enter(intake: &mut Intake, name: &str, id: u8) -> ConnectionId {
    let who = Who { name: name.into(), fingerprint: [0; 32] };
    assert!(intake.enter(who, [id; 32], Box::new(|| {})));
    [id; 32]
}

/// A client that asks and takes no answers is not heard when so much waits for it, and costs no more than
/// that.
#[test]
fn who_takes_no_answers_is_heard_no_more() {
    let (mut intake, now) = intake();
    let id = enter(&mut intake, "a", 1);
    let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), Way::Gf4Circuit);
    let item = Item::Encrypt { key, aad, length: 1 << 60, way };
    let mut number = 0;
    while intake.may_hear(&id) {
        number += 1;
        intake.receive(&id, ToServer::Request { number, item: item.clone() }, 40, now).unwrap();
        assert!(number < 10_000);
    }
    let waits = |intake: &Intake| intake.lines[&id].unsent;
    assert!((BACKLOG..BACKLOG + 1000).contains(&waits(&intake)), "{}", waits(&intake));
    // and of thousands of its refusals the log holds a few, and how many more there were
    let log = intake.take_log();
    assert!(log.len() == Log::EACH + 1 && log[Log::EACH].contains("more lines at the same time"), "{log:?}");
    while intake.next_answer(&id).is_some() {}
    assert!(intake.sent(&id) && intake.may_hear(&id));
}

/// Requests that are refused, or that have not come to all, are their client's turn: another's goes
/// before the next.
#[test]
fn what_fails_was_a_turn() {
    let (mut intake, now) = intake();
    let long = || Item::Hash { asked: (&Settings::new("sha256".parse().unwrap())).into(), length: 1 };
    let ids: Vec<_> =
        (1..4).map(|id| enter(&mut intake, if id == 3 { "modest" } else { "greedy" }, id)).collect();
    for id in &ids {
        intake.receive(id, ToServer::Request { number: 1, item: long() }, 40, now).unwrap();
    }
    let first = |intake: &Intake| intake.plan(now, Budget::ROUND, &|_| true)[0];
    let offer = first(&intake);
    assert_eq!(offer.connection, ids[0]);
    assert!(matches!(intake.take(&offer), Stand::Ready(_)));
    // a step that is offered twice is done once
    assert!(matches!(intake.take(&offer), Stand::Missing));
    intake.fail(&offer.connection, 1, Failed::refused(TURN, "no"), now);
    assert_eq!(first(&intake).connection, ids[2]);
    intake.ran(&first(&intake), After::More { in_hand: true }, Duration::ZERO, now);
    let offer = first(&intake);
    assert_eq!(offer.connection, ids[1]);
    intake.put_back(&offer, Vec::new(), PartyId::new(2).unwrap(), now);
    assert_eq!(first(&intake).connection, ids[2]);
}
