//! The last case of each bound: what is let through, and what no more.

use super::*;
use zeroize::Zeroizing;

/// A client of which so many bytes of answers wait is read and served; with a byte more it is not, until it
/// has taken some.
#[test]
fn a_backlog_is_full_with_its_last_byte() {
    for (bytes, goes_on) in [(BACKLOG, true), (BACKLOG + 1, false)] {
        let (mut schedule, now) = schedule();
        let id = enter(&mut schedule, "a", 1);
        schedule.receive(&id, hash(1), 40, now).unwrap();
        // what the thread of the connection has taken is not sent yet
        for (left, falls) in [(BACKLOG + 1, false), (BACKLOG, !goes_on)] {
            let connection = schedule.connections.get_mut(&id).unwrap();
            connection.unsent = bytes;
            connection.outbox = [left - 1, 1].map(|bytes| Zeroizing::new(vec![0; bytes])).into();
            assert_eq!(schedule.may_receive(&id), goes_on, "{bytes}");
            assert_eq!(schedule.plan(now, Budget::ROUND, &ready).len(), usize::from(goes_on), "{bytes}");
            assert_eq!(schedule.sent(&id), falls, "{bytes} {left}");
        }
    }
}

/// A step whose messages another server lacks is offered again when its pause is over, and not before.
#[test]
fn a_pause_ends_in_time() {
    let (mut schedule, now) = schedule();
    let id = enter(&mut schedule, "a", 1);
    schedule.receive(&id, hash(1), 40, now).unwrap();
    assert_eq!(schedule.next_pause(now), None);
    let offer = Offer { connection: id, number: 1, step: 0 };
    assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
    schedule.put_back(&offer, Vec::new(), PartyId::P2, now);
    let over = schedule.next_pause(now).unwrap();
    let before = over.checked_sub(Duration::from_nanos(1)).unwrap();
    for (at, waits) in [(now, true), (before, true), (over, false)] {
        assert_eq!(schedule.next_pause(at), waits.then_some(over));
        assert_eq!(schedule.plan(at, Budget::ROUND, &ready).is_empty(), waits);
    }
}

/// A request is told from the one 256 before it: what is said of that one changes nothing.
#[test]
fn numbers_of_requests_are_compared_in_full() {
    let (mut schedule, now) = schedule();
    let id = enter(&mut schedule, "a", 1);
    schedule.connections.get_mut(&id).unwrap().last = 256;
    schedule.receive(&id, hash(257), 40, now).unwrap();
    let old = Offer { connection: id, number: 1, step: 0 };
    assert_eq!(schedule.stands(&old), None);
    assert!(matches!(schedule.take(&old), Stand::Missing));
    // whatever came first
    for _ in 0..2 {
        schedule.answer(&id, 1, ToClient::Done);
        assert!(schedule.next_answer(&id).is_none());
    }
    schedule.ran(&old, After::Done, Duration::ZERO, now);
    schedule.fail(&id, 1, Failed::refused(TURN, "no"), now);
    assert!(schedule.has(&id, 257) && !schedule.has(&id, 1));
}

/// The id of a connection lets nobody else in, and its requests stay its client's.
#[test]
fn an_id_is_one_connections_alone() {
    let (mut schedule, now) = schedule();
    let id = enter(&mut schedule, "alice", 1);
    schedule.receive(&id, hash(1), 40, now).unwrap();
    assert!(!schedule.enter(Who { name: "alicia".into(), fingerprint: [1; 32] }, id));
    assert_eq!(schedule.name(&id).as_deref(), Some("alice"));
    assert!(schedule.has(&id, 1));
}

/// A client is owed an answer to each of its messages, and none while its request waits for the next one.
#[test]
fn who_has_all_its_answers_is_owed_none() {
    let (mut schedule, now) = schedule();
    let id = enter(&mut schedule, "a", 1);
    assert!(!schedule.owes(&id));
    schedule.receive(&id, hash(1), 40, now).unwrap();
    assert!(schedule.owes(&id));
    schedule.answer(&id, 1, ToClient::Accepted);
    schedule.ran(
        &Offer { connection: id, number: 1, step: 0 },
        After::More { in_hand: false },
        Duration::ZERO,
        now,
    );
    assert!(schedule.has(&id, 1) && !schedule.owes(&id));
}

/// What was taken and put back, because another server lacked it, is answered once.
#[test]
fn messages_that_were_put_back_are_owed_one_answer_each() {
    let (mut schedule, now) = schedule();
    let id = enter(&mut schedule, "a", 1);
    let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
    let item = Item::EncryptStream { key, aad, way };
    schedule.receive(&id, ToServer::Request { number: 1, item }, 40, now).unwrap();
    schedule.answer(&id, 1, ToClient::Accepted);
    let first = Offer { connection: id, number: 1, step: 0 };
    schedule.ran(&first, After::More { in_hand: false }, Duration::ZERO, now);
    let piece = ToServer::Data { number: 1, index: 0, body: Blob(vec![0; 2 * CHUNK]) };
    schedule.receive(&id, piece, 40, now).unwrap();
    let second = Offer { step: 1, ..first };
    for is_here in [false, false, true] {
        let Stand::Ready(taken) = schedule.take(&second) else { panic!("the piece is here") };
        assert_eq!(taken.messages.len(), 1);
        assert!(schedule.owes(&id));
        if !is_here {
            schedule.put_back(&second, taken.messages, PartyId::P2, now);
        }
    }
    schedule.answer(&id, 1, ToClient::Accepted);
    schedule.ran(&second, After::More { in_hand: false }, Duration::ZERO, now);
    assert!(schedule.has(&id, 1) && !schedule.owes(&id));
}

/// A client has its time for each message: one that sends the parts of a short message slowly is waited for
/// from the last one on, and no longer.
#[test]
fn each_message_has_its_time() {
    let (mut schedule, now) = schedule();
    let (id, after) = (enter(&mut schedule, "a", 1), |millis| now + Duration::from_millis(millis));
    let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
    let item = Item::Encrypt { key, aad, length: 1, way };
    schedule.receive(&id, ToServer::Request { number: 1, item }, 40, now).unwrap();
    let data = ToServer::Data { number: 1, index: 0, body: Blob(vec![0; 2]) };
    schedule.receive(&id, data, 40, after(6_000)).unwrap();
    for (millis, waits) in [(12_000, true), (15_999, true), (16_000, false)] {
        schedule.tick(after(millis));
        assert_eq!(schedule.has(&id, 1), waits, "{millis} ms");
    }
}

/// Connections of a client each, in this order, with a request that waits.
fn waiting(schedule: &mut Schedule, ids: [u8; 3], now: Instant) -> [ConnectionId; 3] {
    ids.map(|id| {
        let id = enter(schedule, &format!("client {id}"), id);
        schedule.receive(&id, hash(1), 40, now).unwrap();
        id
    })
}

/// Of clients that have had no turn the one whose request came first goes first, whatever its id is.
#[test]
fn who_came_first_goes_first() {
    let (mut schedule, now) = schedule();
    let ids = waiting(&mut schedule, [3, 1, 2], now);
    for id in ids {
        assert_eq!(schedule.plan(now, Budget::ROUND, &ready)[0].connection, id);
        schedule.leave(&id, now);
    }
}

/// A server that is about to stop tells each client whose request has not begun, and goes on with the others.
#[test]
fn all_that_wait_are_told_of_the_end() {
    let (mut schedule, now) = schedule();
    let ids = waiting(&mut schedule, [1, 2, 3], now);
    let begun = Offer { connection: ids[1], number: 1, step: 0 };
    assert!(matches!(schedule.take(&begun), Stand::Ready(_)));
    schedule.ran(&begun, After::More { in_hand: false }, Duration::ZERO, now);
    schedule.drain(now);
    assert_eq!(ids.map(|id| schedule.has(&id, 1)), [false, true, false]);
    assert!([ids[0], ids[2]].iter().all(|id| failure(&mut schedule, id).is_some_and(|failed| failed.retry)));
}
