//! What a schedule decides, event by event.

mod bounds;
mod ends;

use super::*;
use crate::CHUNK;
use crate::request::{SboxChoice, UNANSWERED};
use crate::server::allowances::Limits;
use crate::server::scheduling::plan::{Budget, KeyStatus};
use crate::server::scheduling::script::Due;
use crate::wire::Blob;
use divisi_store::KeyName;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Settings;

/// Every key is loaded.
fn ready(_: &KeyName) -> KeyStatus {
    KeyStatus { size: Some(KeySize::Aes128), is_ready: true }
}

fn schedule() -> (Schedule, Instant) {
    (
        Schedule::new(PartyId::P1, Shape::STANDARD, Allowances::default(), Duration::from_secs(10)),
        Instant::now(),
    )
}

fn enter(schedule: &mut Schedule, name: &str, id: u8) -> ConnectionId {
    let who = Who { name: name.into(), fingerprint: [0; 32] };
    assert!(schedule.enter(who, [id; 32]));
    [id; 32]
}

/// A client that sends requests and takes no answers is not read any more once its backlog is full, and costs
/// no more memory than that.
#[test]
fn who_takes_no_answers_is_heard_no_more() {
    let (mut schedule, now) = schedule();
    let id = enter(&mut schedule, "a", 1);
    let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
    let item = Item::Encrypt { key, aad, length: 1 << 60, way };
    let mut number = 0;
    while schedule.may_receive(&id) {
        number += 1;
        schedule.receive(&id, ToServer::Request { number, item: item.clone() }, 40, now).unwrap();
        assert!(number < 10_000);
    }
    let waits = |schedule: &Schedule| schedule.connections[&id].unsent;
    assert!((BACKLOG..BACKLOG + 1000).contains(&waits(&schedule)), "{}", waits(&schedule));
    // and of thousands of its refusals the log holds a few, and how many more there were
    let log = schedule.take_log();
    assert!(log.len() == Log::EACH + 1 && log[Log::EACH].contains("more lines at the same time"), "{log:?}");
    while schedule.next_answer(&id).is_some() {}
    assert!(schedule.sent(&id) && schedule.may_receive(&id));
}

/// A request that is refused, or that has not reached all servers, counts as its client's turn: another
/// client's request goes before its next one.
#[test]
fn what_fails_was_a_turn() {
    let (mut schedule, now) = schedule();
    let long = || Item::Hash { asked: (&Settings::new("sha256".parse().unwrap())).into(), length: 1 };
    let ids: Vec<_> =
        (1..4).map(|id| enter(&mut schedule, if id == 3 { "modest" } else { "greedy" }, id)).collect();
    for id in &ids {
        schedule.receive(id, ToServer::Request { number: 1, item: long() }, 40, now).unwrap();
    }
    let first = |schedule: &Schedule| schedule.plan(now, Budget::ROUND, &ready)[0];
    let offer = first(&schedule);
    assert_eq!(offer.connection, ids[0]);
    assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
    // a step that is offered twice is done once
    assert!(matches!(schedule.take(&offer), Stand::Missing));
    schedule.fail(&offer.connection, 1, Failed::refused(TURN, "no"), now);
    assert_eq!(first(&schedule).connection, ids[2]);
    schedule.ran(&first(&schedule), After::More { in_hand: true }, Duration::ZERO, now);
    let offer = first(&schedule);
    assert_eq!(offer.connection, ids[1]);
    schedule.put_back(&offer, Vec::new(), PartyId::P2, now);
    assert_eq!(first(&schedule).connection, ids[2]);
}

/// All requests that have not begun wait, of whichever client, those included that were sent ahead.
#[test]
fn what_has_not_begun_waits() {
    let (mut schedule, now) = schedule();
    let list = |number| ToServer::Request { number, item: Item::KeyList { after: None } };
    let ids = [("a", 1), ("a", 2), ("b", 3)].map(|(name, id)| enter(&mut schedule, name, id));
    assert_eq!(schedule.all_waiting(), 0);
    for (at, number) in [(0, 1), (0, 2), (1, 1), (2, 1)] {
        schedule.receive(&ids[at], list(number), 40, now).unwrap();
    }
    assert_eq!(schedule.all_waiting(), 4);
    let offer = Offer { connection: ids[0], number: 1, step: 0 };
    // its client may have the answer before the step is counted as done
    assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
    assert_eq!(schedule.all_waiting(), 3);
    // of a request that is under way no more
    schedule.put_back(&Offer { number: 257, ..offer }, Vec::new(), PartyId::P2, now);
    assert_eq!(schedule.all_waiting(), 3);
    schedule.put_back(&offer, Vec::new(), PartyId::P2, now);
    assert_eq!(schedule.all_waiting(), 4);
    assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
    schedule.ran(&offer, After::Done, Duration::ZERO, now);
    assert_eq!(schedule.all_waiting(), 3);
    // nor of one that has more steps, between two of them
    let offer = Offer { connection: ids[1], ..offer };
    assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
    schedule.ran(&offer, After::More { in_hand: true }, Duration::ZERO, now);
    assert_eq!(schedule.all_waiting(), 2);
}

/// What a client has under way with a key that is taken from it ends, and nothing else does.
#[test]
fn a_revoked_key_ends_what_its_client_has_under_way() {
    let (mut schedule, now) = schedule();
    let ask = |schedule: &mut Schedule, name, id, key: &str, begins| {
        let (id, aad, way) = (enter(schedule, name, id), Blob(vec![]), SboxChoice::DEFAULT);
        let item = Item::EncryptStream { key: key.parse().unwrap(), aad, way };
        schedule.receive(&id, ToServer::Request { number: 1, item }, 40, now).unwrap();
        if begins {
            let offer = Offer { connection: id, number: 1, step: 0 };
            schedule.take_woken();
            schedule.ran(&offer, After::More { in_hand: false }, Duration::ZERO, now);
            // there is room for more of its messages
            assert!(schedule.take_woken().contains(&id));
        }
        id
    };
    // on all of its connections
    let revoked = [1, 5, 6].map(|id| ask(&mut schedule, "alicia", id, "k", true));
    let others = [("alicia", 2, "k1", true), ("alice", 3, "k", true), ("alicia", 4, "k", false)]
        .map(|(name, id, key, begins)| ask(&mut schedule, name, id, key, begins));
    schedule.key_is_revoked(&"k".parse().unwrap(), "alicia", now);
    for id in revoked {
        let failed = failure(&mut schedule, &id).unwrap();
        assert_eq!(failed.message, "key k was taken from client alicia meanwhile");
        assert!(!schedule.has(&id, 1));
    }
    assert!(others.iter().all(|id| schedule.has(id, 1)));
}

fn hash(number: u64) -> ToServer {
    let item = Item::Hash { asked: (&Settings::new("sha256".parse().unwrap())).into(), length: 1 };
    ToServer::Request { number, item }
}

/// The sentence of a client's next answer, if it is a failure.
fn failure(schedule: &mut Schedule, id: &ConnectionId) -> Option<Failed> {
    let reply: Reply = crate::wire::decode(&schedule.next_answer(id)?).unwrap();
    match reply.what {
        ToClient::Failed(failed) => Some(failed),
        _ => None,
    }
}

/// A bounded number of a client's requests can wait, on all its connections together and including those that
/// it sent ahead. Only requests beyond this number are refused.
#[test]
fn only_so_many_requests_of_a_client_wait() {
    let (mut schedule, now) = schedule();
    assert_eq!(Allowances::default().of("a").waiting, 64);
    let ids: Vec<_> = (1..=16).map(|id| enter(&mut schedule, "a", id)).collect();
    let ask = |schedule: &mut Schedule, id: &ConnectionId, number| {
        assert!(schedule.may_receive(id));
        // this request has no further messages
        let item = Item::KeyList { after: None };
        schedule.receive(id, ToServer::Request { number, item }, 40, now).unwrap();
    };
    for number in 1..=4 {
        ids.iter().for_each(|id| ask(&mut schedule, id, number));
    }
    ask(&mut schedule, &ids[0], 5);
    let other = enter(&mut schedule, "ab", 99);
    ask(&mut schedule, &other, 1);
    assert!(failure(&mut schedule, &other).is_none());
    // it is told when the request's turn comes, in the order of the requests
    for number in 1..=4 {
        assert!(failure(&mut schedule, &ids[0]).is_none());
        let offer = Offer { connection: ids[0], number, step: 0 };
        assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
        schedule.ran(&offer, After::Done, Duration::ZERO, now);
    }
    let failed = failure(&mut schedule, &ids[0]).unwrap();
    assert_eq!(failed.message, "64 requests of client a are waiting already: try again later");
    assert!(failed.retry && failed.kind == ErrorKind::Unavailable);
    // there is room again
    ask(&mut schedule, &ids[0], 6);
    assert!(failure(&mut schedule, &ids[0]).is_none() && schedule.has(&ids[0], 6));
}

/// A client that keeps something from one server is named before its time is over, once for each request.
#[test]
fn who_is_late_is_named_in_time() {
    let (mut schedule, start) = schedule();
    let id = enter(&mut schedule, "late", 1);
    schedule.receive(&id, hash(1), 40, start).unwrap();
    let offer = Offer { connection: id, number: 1, step: 0 };
    let third = PartyId::P3;
    let mut lines = Vec::new();
    for ms in (0..4000).step_by(64) {
        let now = start + Duration::from_millis(ms);
        assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
        schedule.put_back(&offer, Vec::new(), third, now);
        schedule.tick(now);
        lines.extend(schedule.take_log().into_iter().map(|line| (ms, line)));
    }
    let [(ms, line)] = &lines[..] else { panic!("{lines:?}") };
    assert!((1000..1100).contains(ms), "{ms}");
    assert!(
        line.starts_with("client late: ") && line.contains("has not sent party 3 what it sent party 1"),
        "{line}"
    );
}

/// A leader that leaves out a client again and again is named with the client. A leader whose rounds were
/// full, or that lacked a message that another server had, is not named.
#[test]
fn who_passes_a_client_over_is_named() {
    let (mut schedule, now) = schedule();
    let (second, third) = (PartyId::P2, PartyId::P3);
    let ids = [enter(&mut schedule, "poor", 1), enter(&mut schedule, "other", 2)];
    ids.iter().for_each(|id| schedule.receive(id, hash(1), 40, now).unwrap());
    let [poor, other] = ids.map(|connection| Offer { connection, number: 1, step: 0 });
    let mut lines = Vec::new();
    for _ in 0..100 {
        // there is one long step in a round: another's may go first
        schedule.led(third, &[other], &ready);
        schedule.led(second, &[], &ready);
        lines.extend(schedule.take_log());
    }
    let named = |line: &String| line.starts_with("party 2 has passed over client");
    assert!(lines.len() == 2 && lines.iter().all(named), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("client poor in 32 rounds")), "{lines:?}");
    // what it offers once in a while is no longer in succession
    for _ in 0..10 {
        (0..31).for_each(|_| schedule.led(third, &[], &ready));
        schedule.led(third, &[poor], &ready);
        schedule.led(third, &[other], &ready);
    }
    assert!(schedule.take_log().is_empty());
    // who lacks something cannot offer it
    assert!(matches!(schedule.take(&poor), Stand::Ready(_)));
    schedule.put_back(&poor, Vec::new(), third, now);
    (0..100).for_each(|_| schedule.led(third, &[], &ready));
    let log = schedule.take_log();
    assert!(!log.iter().any(|line| line.contains("client poor")), "{log:?}");
}

/// A message is taken if it is the one that is due: one of another kind, number, place or length ends its
/// request.
#[test]
fn what_is_not_due_ends_its_request() {
    let (key, aad, way): (KeyName, _, _) = ("k".parse().unwrap(), Blob(vec![0; 17_000]), SboxChoice::DEFAULT);
    let asked = (&Settings::new("sha256".parse().unwrap())).into();
    for item in [
        Item::Hash { asked, length: 5 },
        Item::Encrypt { key: key.clone(), aad: aad.clone(), length: 5, way },
        Item::Decrypt { key, aad, length: 5, iv: [0; 12], tag: [0; 16], way },
    ] {
        let data = |number, index, bytes| ToServer::Data { number, index, body: Blob(vec![0; bytes]) };
        let all = (0..).map_while(|nth| due(&item, Shape::STANDARD, nth, None));
        let all = all.map(|due| match due {
            Due::Data { index, bytes } => (data(2, index, bytes), index, bytes),
            _ => (ToServer::Finish { number: 2 }, 0, 0),
        });
        let all: Vec<_> = all.collect();
        for (at, (right, index, bytes)) in all.iter().enumerate() {
            let (index, bytes) = (*index, *bytes);
            let wrong = match right {
                ToServer::Finish { .. } => vec![ToServer::Finish { number: 1 }, data(2, 0, 0)],
                _ => {
                    let last = ToServer::Last { number: 2, index, body: Blob(vec![0; bytes]) };
                    let lengths = [0, bytes - 1, bytes + 1].map(|bytes| data(2, index, bytes)).to_vec();
                    let others = [data(1, index, bytes), data(2, index + 1, bytes), last];
                    [lengths, others.to_vec(), vec![ToServer::Finish { number: 2 }]].concat()
                }
            };
            for (sent, is_due) in [(right, true)].into_iter().chain(wrong.iter().map(|sent| (sent, false))) {
                let (mut schedule, now) = schedule();
                let id = enter(&mut schedule, "a", 1);
                let mut say = |message| schedule.receive(&id, message, 40, now).unwrap();
                // refused at once, so that there is a number that is over
                let over =
                    Item::Encrypt { key: "k".parse().unwrap(), aad: Blob(vec![]), length: 1 << 60, way };
                say(ToServer::Request { number: 1, item: over });
                say(ToServer::Request { number: 2, item: item.clone() });
                all[..at].iter().for_each(|(before, ..)| say(before.clone()));
                say(sent.clone());
                assert_eq!(schedule.has(&id, 2), is_due, "{item:?}: {at}");
            }
        }
    }
}

/// Behind the piece of a stream that is marked as its last one no other is taken, also when the marked one
/// has been computed.
#[test]
fn behind_its_last_piece_a_stream_has_no_other() {
    let (mut schedule, now) = schedule();
    let id = enter(&mut schedule, "a", 1);
    let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
    let stream = Item::EncryptStream { key, aad, way };
    let body = || Blob(vec![0; 2 * CHUNK]);
    schedule.receive(&id, ToServer::Request { number: 1, item: stream }, 40, now).unwrap();
    for (step, message) in [
        (0, None),
        (1, Some(ToServer::Data { number: 1, index: 0, body: body() })),
        (2, Some(ToServer::Last { number: 1, index: 1, body: body() })),
    ] {
        message.into_iter().for_each(|message| schedule.receive(&id, message, 40, now).unwrap());
        let offer = Offer { connection: id, number: 1, step };
        assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
        schedule.ran(&offer, After::More { in_hand: false }, Duration::ZERO, now);
    }
    assert!(schedule.has(&id, 1));
    schedule.receive(&id, ToServer::Data { number: 1, index: 2, body: body() }, 40, now).unwrap();
    assert!(!schedule.has(&id, 1));
}

/// A request whose client has used up its bytes or seconds meanwhile ends at its next step; what a step took
/// counts also if it was refused.
#[test]
fn who_has_used_up_its_hour_has_nothing_under_way() {
    let limits = Limits { bytes_an_hour: CHUNK as u64, seconds_an_hour: 5, ..Limits::default() };
    let begun = |item: Item| {
        let (mut schedule, now) = schedule();
        schedule.limits = limits.clone().into();
        let id = enter(&mut schedule, "a", 1);
        schedule.receive(&id, ToServer::Request { number: 1, item }, 40, now).unwrap();
        (schedule, id, now)
    };
    let ran = |schedule: &mut Schedule, id, step, seconds, now| {
        let offer = Offer { connection: id, number: 1, step };
        assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
        schedule.ran(&offer, After::More { in_hand: false }, Duration::from_secs(seconds), now);
        failure(schedule, &id).map(|failed| failed.message)
    };
    let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
    let stream = Item::EncryptStream { key, aad, way };
    let (mut schedule, id, now) = begun(stream.clone());
    let piece = |index| ToServer::Data { number: 1, index, body: Blob(vec![0; 2 * CHUNK]) };
    assert_eq!(ran(&mut schedule, id, 0, 0, now), None);
    schedule.receive(&id, piece(0), 40, now).unwrap();
    assert_eq!(ran(&mut schedule, id, 1, 0, now), None);
    schedule.receive(&id, piece(1), 40, now).unwrap();
    let failed = ran(&mut schedule, id, 2, 0, now).expect("the bytes of an hour");
    assert!(failed.contains("of its 131072 bytes within the hour"), "{failed}");

    let (mut schedule, id, now) = begun(stream.clone());
    let failed = ran(&mut schedule, id, 0, 5, now).expect("the seconds of an hour");
    assert!(failed.contains("its 5 seconds of computing within the hour"), "{failed}");

    let (mut schedule, id, now) = begun(stream.clone());
    let offer = Offer { connection: id, number: 1, step: 0 };
    schedule.charge(&offer, Duration::from_secs(5), now);
    schedule.fail(&id, 1, Failed::refused(TURN, "no"), now);
    failure(&mut schedule, &id).unwrap();
    schedule.receive(&id, ToServer::Request { number: 2, item: stream }, 40, now).unwrap();
    let failed = failure(&mut schedule, &id).unwrap().message;
    assert!(failed.contains("its 5 seconds of computing within the hour"), "{failed}");
}

/// What a client sends ahead is read only so far, by messages and by bytes; and nothing more is computed for
/// a client that does not take what there is.
#[test]
fn what_is_sent_ahead_is_bounded() {
    let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
    let stream = Item::EncryptStream { key, aad, way };
    let bounds = [(40, UNANSWERED + 1), (2 * CHUNK, UNANSWERED), (4 * CHUNK, UNANSWERED.div_ceil(2))];
    for (bytes, most) in bounds {
        let (mut schedule, now) = schedule();
        let id = enter(&mut schedule, "a", 1);
        schedule.receive(&id, ToServer::Request { number: 1, item: stream.clone() }, 40, now).unwrap();
        let mut index = 0;
        while schedule.may_receive(&id) {
            let piece = ToServer::Data { number: 1, index, body: Blob(vec![0; 2 * CHUNK]) };
            schedule.receive(&id, piece, bytes, now).unwrap();
            index += 1;
            assert!(index as usize <= most, "{bytes}");
        }
        assert_eq!(index as usize, most, "{bytes}");
        let plan = |schedule: &Schedule| schedule.plan(now, Budget::ROUND, &ready).len();
        assert_eq!(plan(&schedule), 1);
        while schedule.connections[&id].unsent <= BACKLOG {
            schedule.answer(&id, 1, ToClient::Ciphertext(Blob(vec![0; CHUNK])));
        }
        assert_eq!(plan(&schedule), 0);
    }
}
