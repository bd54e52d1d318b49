//! How requests end with the key that they use.

use super::*;
use crate::request::{FunctionRequest, Mode, ModeRequest, Tag};

/// Whatever its client does with a key that is taken from it, or that is gone, ends.
#[test]
fn every_use_of_a_key_ends_with_it() {
    let (key, way): (KeyName, _) = ("k".parse().unwrap(), SboxChoice::DEFAULT);
    let (aad, iv, tag) = (Blob(vec![]), [0; 12], [0; 16]);
    let mut items = vec![
        Item::Encrypt { key: key.clone(), aad: aad.clone(), length: 1 << 20, way },
        Item::EncryptStream { key: key.clone(), aad: aad.clone(), way },
        Item::Decrypt { key: key.clone(), aad, length: 1 << 20, iv, tag, way },
    ];
    for (mode, encrypts) in [Mode::Cbc, Mode::Siv, Mode::Kw, Mode::Kwp].into_iter().zip([true, false]) {
        let (key, iv) = (key.clone(), [0; 16]);
        items.push(Item::Mode(ModeRequest { key, mode, encrypts, aad: None, length: 64, iv, way }));
    }
    let asked: FunctionRequest = (&Settings::new("hmac-sha256".parse().unwrap())).into();
    for tag in [None, Some(Tag { nonce: None, tag: Blob(vec![0; 32]) })] {
        items.push(Item::Mac { key: key.clone(), asked: asked.clone(), length: 1, tag });
    }
    for (item, revoked) in items.iter().flat_map(|item| [(item, true), (item, false)]) {
        let (mut schedule, now) = schedule();
        let id = enter(&mut schedule, "alicia", 1);
        schedule.receive(&id, ToServer::Request { number: 1, item: item.clone() }, 40, now).unwrap();
        let offer = Offer { connection: id, number: 1, step: 0 };
        schedule.ran(&offer, After::More { in_hand: false }, Duration::ZERO, now);
        assert!(schedule.has(&id, 1), "{item:?}");
        if revoked {
            schedule.key_is_revoked(&key, "alicia", now);
        } else {
            schedule.key_is_gone(&key, "was destroyed", now);
        }
        assert!(!schedule.has(&id, 1), "{item:?}");
        assert!(failure(&mut schedule, &id).is_some_and(|failed| failed.message.contains("key k was")));
    }
}

/// However many connections use it.
#[test]
fn all_uses_of_a_key_end_with_it() {
    let (key, way): (KeyName, _) = ("k".parse().unwrap(), SboxChoice::DEFAULT);
    let (mut schedule, now) = schedule();
    let ids = [1, 2, 3, 4, 5, 6, 7].map(|id| enter(&mut schedule, ["alicia", "alice"][id % 2], id as u8));
    for id in &ids {
        let item = Item::EncryptStream { key: key.clone(), aad: Blob(vec![]), way };
        schedule.receive(id, ToServer::Request { number: 1, item }, 40, now).unwrap();
        let offer = Offer { connection: *id, number: 1, step: 0 };
        schedule.ran(&offer, After::More { in_hand: false }, Duration::ZERO, now);
    }
    schedule.key_is_revoked(&key, "alice", now);
    assert_eq!(ids.map(|id| schedule.has(&id, 1)), [false, true, false, true, false, true, false]);
    schedule.key_is_gone(&key, "was destroyed", now);
    assert!(ids.iter().all(|id| !schedule.has(id, 1)));
}

/// The request of a client that keeps something from one server ends half a time limit after it was missed,
/// however often it was offered in vain.
#[test]
fn what_a_server_lacks_is_waited_for_half_a_time_limit() {
    for every in [7, 64, 1000] {
        let (mut schedule, start) = schedule();
        let id = enter(&mut schedule, "late", 1);
        schedule.receive(&id, hash(1), 40, start).unwrap();
        let offer = Offer { connection: id, number: 1, step: 0 };
        let is_over = |ms: &u64| {
            let now = start + Duration::from_millis(*ms);
            assert!(matches!(schedule.take(&offer), Stand::Ready(_)));
            schedule.put_back(&offer, Vec::new(), PartyId::P3, now);
            schedule.tick(now);
            !schedule.has(&id, 1)
        };
        let ended = (0..9000).step_by(every).find(is_over);
        assert!(ended.is_some_and(|ms| (5000..6000).contains(&ms)), "{every}: {ended:?}");
    }
}

/// A request that waited too long ends by what it waited for: that its client takes its answers, or sends
/// something.
#[test]
fn who_is_waited_for_too_long_is_told_for_what() {
    for (unsent, words) in [
        (BACKLOG + 1, "client alicia has read no answers of party 1 for 10.0 s"),
        (BACKLOG, "client alicia has sent party 1 nothing for 10.0 s"),
    ] {
        let (mut schedule, now) = schedule();
        let id = enter(&mut schedule, "alicia", 1);
        let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
        let item = Item::Encrypt { key, aad, length: 1 << 20, way };
        schedule.receive(&id, ToServer::Request { number: 1, item }, 40, now).unwrap();
        let offer = Offer { connection: id, number: 1, step: 0 };
        schedule.ran(&offer, After::More { in_hand: false }, Duration::ZERO, now);
        schedule.connections.get_mut(&id).unwrap().unsent = unsent;
        schedule.tick(now + Duration::from_millis(9999));
        assert!(schedule.has(&id, 1));
        schedule.tick(now + Duration::from_secs(10));
        let failed = failure(&mut schedule, &id).unwrap();
        assert!(failed.message.contains(words) && failed.retry, "{}", failed.message);
    }
}

/// A schedule that is closed ends what there is, and takes nothing more.
#[test]
fn what_comes_after_the_end_is_refused() {
    let (mut schedule, now) = schedule();
    let id = enter(&mut schedule, "alicia", 1);
    for number in [1, 2] {
        schedule.receive(&id, hash(number), 40, now).unwrap();
        assert_eq!(schedule.has(&id, number), number == 1);
        schedule.close(now);
        let failed = failure(&mut schedule, &id).unwrap();
        assert!(failed.message.contains("is stopping") && !schedule.has(&id, number), "{}", failed.message);
    }
    // also without another word about the end
    schedule.receive(&id, hash(3), 40, now).unwrap();
    assert!(failure(&mut schedule, &id).is_some_and(|failed| failed.message.contains("is stopping")));
}
