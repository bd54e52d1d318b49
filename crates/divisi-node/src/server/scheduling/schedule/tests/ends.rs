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
