//! Hashes of what no server sees, and tags under keys of MACs: what libraries give, and what is refused.

use super::house::{House, encrypt, text};
use crate::request::PIECE;
use crate::{Client, ErrorKind, KeyName, KeyType, MESSAGE, Purpose, Tagged};
use divisi_core::{Bytes, Plain};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{Function, Messages, byte_values};
use std::io::Cursor;

/// What the function gives in the clear; its tests compare that with other libraries.
fn clear(settings: &Settings, key: &[u8], nonce: [u8; 12], message: &[u8]) -> Vec<u8> {
    let e = &mut Plain;
    let key: Vec<_> = key.iter().map(|byte| e.public(&[*byte])).collect();
    let function = Function::prepare(e, settings, &key).unwrap();
    let messages = Messages::public(e, &[message]);
    let output = function.output(e, &messages, &[nonce]).unwrap();
    byte_values(e, output).unwrap().iter().map(|byte| byte.values()[0]).collect()
}

fn settings(name: &str) -> Settings {
    Settings::new(name.parse().unwrap())
}

fn mac(
    client: &mut Client,
    key: &KeyName,
    settings: &Settings,
    message: &[u8],
) -> Result<Tagged, crate::Error> {
    client.mac(key, settings, &mut Cursor::new(message), message.len() as u64, &mut |_| {})
}

fn import(client: &mut Client, kind: KeyType) -> (KeyName, Vec<u8>) {
    let bytes = text(kind.bytes());
    let new = client.new_key(format!("k-{kind}").parse().unwrap(), kind, false, vec![]);
    client.key_import(&new, &bytes).unwrap();
    (new.name, bytes)
}

#[test]
fn digests_are_those_of_the_standard() {
    let house = House::new();
    let mut alice = house.connect("alice");
    for (name, length) in
        [("sha256", 0), ("sha512-256", 200), ("sha3-256", 9000), ("shake256", 4096), ("cshake128", 5)]
    {
        let mut settings = settings(name);
        if name == "cshake128" {
            settings = Settings { customization: b"custom".to_vec(), output_bytes: 400, ..settings };
        }
        let message = text(length);
        let digest = alice.hash(&settings, &mut Cursor::new(&message), length as u64, &mut |_| {}).unwrap();
        assert_eq!(*digest, clear(&settings, &[], [0; 12], &message), "{name}");
    }
    assert!(house.logged("client alice: hash, 9000 bytes: done"));
}

/// Every type of key makes the tags of its algorithm, and compares them; a changed tag, message, key or nonce is found.
#[test]
fn a_tag_is_compared_to_its_last_bit() {
    let house = House::new();
    let mut alice = house.connect("alice");
    for kind in KeyType::ALL.iter().filter(|kind| kind.purpose() == Purpose::Mac) {
        let (name, key) = import(&mut alice, *kind);
        let settings = settings(kind.name());
        assert_eq!(settings.algorithm.key_bytes(), kind.bytes(), "{kind}");
        for length in [0, 33] {
            let message = text(length);
            let made = mac(&mut alice, &name, &settings, &message).unwrap();
            assert_eq!(made.nonce.is_some(), settings.algorithm.nonce_bytes() > 0);
            assert_eq!(*made.tag, clear(&settings, &key, made.nonce.unwrap_or_default(), &message), "{kind}");
            let mut verify = |nonce: Option<[u8; 12]>, tag: &[u8], message: &[u8]| {
                let length = message.len() as u64;
                alice.mac_verify(&name, &settings, nonce, tag, &mut Cursor::new(message), length, &mut |_| {})
            };
            assert_eq!(verify(made.nonce, &made.tag, &message).unwrap(), made.key, "{kind}");
            if length == 0 && kind.name() != "hmac-sha256" {
                continue;
            }
            let mut wrong = made.tag.to_vec();
            *wrong.last_mut().unwrap() ^= 1;
            assert_eq!(verify(made.nonce, &wrong, &message).unwrap_err().kind, ErrorKind::Mismatch, "{kind}");
            let other = [&message[..], &[0]].concat();
            assert_eq!(
                verify(made.nonce, &made.tag, &other).unwrap_err().kind,
                ErrorKind::Mismatch,
                "{kind}"
            );
            if let Some(mut nonce) = made.nonce {
                nonce[0] ^= 1;
                assert_eq!(verify(Some(nonce), &made.tag, &message).unwrap_err().kind, ErrorKind::Mismatch);
            }
        }
    }
    assert!(!house.logged("session ended"));
}

/// Messages of several pieces, which end at a piece's end, before it and after it: what they owe is verified piece by piece.
#[test]
fn long_messages_have_the_tags_of_the_standards() {
    let house = House::new();
    let mut alice = house.connect("alice");
    for (kind, length) in [
        (KeyType::HmacSha3_256, 2 * PIECE),
        (KeyType::Kmac128, 2 * PIECE + 1),
        (KeyType::CmacAes128, PIECE + 700),
        (KeyType::GmacAes128, 3 * PIECE - 1),
    ] {
        let (name, key) = import(&mut alice, kind);
        let settings = settings(kind.name());
        let message = text(length);
        let made = mac(&mut alice, &name, &settings, &message).unwrap();
        assert_eq!(*made.tag, clear(&settings, &key, made.nonce.unwrap_or_default(), &message), "{kind}");
        let mut verify = |tag: &[u8]| {
            let length = message.len() as u64;
            alice.mac_verify(
                &name,
                &settings,
                made.nonce,
                tag,
                &mut Cursor::new(&message),
                length,
                &mut |_| {},
            )
        };
        assert_eq!(verify(&made.tag).unwrap(), made.key, "{kind}");
        let mut wrong = made.tag.to_vec();
        wrong[0] ^= 1;
        assert_eq!(verify(&wrong).unwrap_err().kind, ErrorKind::Mismatch, "{kind}");
    }
    assert!(!house.logged("session ended"));
}

/// A key that nobody knows makes tags that it finds right; other settings of the same key are other tags.
#[test]
fn keys_that_nobody_knows_and_keys_that_stay_ready() {
    let house = House::new();
    let mut alice = house.connect("alice");
    let new = alice.new_key("k".parse().unwrap(), KeyType::Kmac128, false, vec![]);
    let name = alice.key_new(&new).unwrap().name;
    let plain = settings("kmac128");
    let custom = Settings { customization: b"other".to_vec(), ..plain.clone() };
    let short = Settings { output_bytes: 16, ..plain.clone() };
    let tags: Vec<_> = [&plain, &custom, &short, &plain]
        .iter()
        .map(|s| mac(&mut alice, &name, s, b"m").unwrap().tag)
        .collect();
    assert_eq!(tags[0], tags[3]);
    assert!(tags[0] != tags[1] && tags[0][..16] != tags[2][..]);
    let mut verify = |settings: &Settings, tag: &[u8]| {
        alice.mac_verify(&name, settings, None, tag, &mut Cursor::new(b"m"), 1, &mut |_| {})
    };
    assert!(verify(&custom, &tags[1]).is_ok() && verify(&custom, &tags[0]).is_err());
}

#[test]
fn a_key_serves_its_type_and_nothing_else() {
    let house = House::new();
    let mut alice = house.connect("alice");
    let (hmac, _) = import(&mut alice, KeyType::HmacSha256);
    let (aes, _) = import(&mut alice, KeyType::Aes128);
    let error = encrypt(&mut alice, &hmac, b"", b"text").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.message.contains("is of type hmac-sha256"), "{error}");
    for name in ["cmac-aes128", "gmac-aes128", "kmac128"] {
        let error = mac(&mut alice, &aes, &settings(name), b"text").map(|_| ()).unwrap_err();
        assert!(error.kind == ErrorKind::Refused && error.message.contains("is of type aes-128"), "{error}");
    }
    let error = mac(&mut alice, &hmac, &settings("hmac-sha512-256"), b"text").map(|_| ()).unwrap_err();
    assert!(error.message.contains("serves one algorithm"), "{error}");
    // all goes on
    assert!(mac(&mut alice, &hmac, &settings("hmac-sha256"), b"text").is_ok());
    assert!(encrypt(&mut alice, &aes, b"", b"text").is_ok());
    // another client's key
    let mut carol = house.connect("carol");
    let error = mac(&mut carol, &hmac, &settings("hmac-sha256"), b"text").map(|_| ()).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains("does not serve"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let house = House::new();
    let mut alice = house.connect("alice");
    let (hmac, _) = import(&mut alice, KeyType::HmacSha256);
    let hash = |alice: &mut Client, settings: &Settings, length: u64| {
        alice.hash(settings, &mut Cursor::new(b"text"), length, &mut |_| {}).map(|_| ()).unwrap_err()
    };
    assert_eq!(hash(&mut alice, &settings("hmac-sha256"), 4).kind, ErrorKind::Refused);
    assert_eq!(hash(&mut alice, &settings("sha256"), MESSAGE + 1).kind, ErrorKind::Usage);
    let long = Settings { output_bytes: 33, ..settings("sha256") };
    assert_eq!(hash(&mut alice, &long, 4).kind, ErrorKind::Refused);
    let error = mac(&mut alice, &hmac, &settings("sha256"), b"").map(|_| ()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    let tag = [0; 31];
    let verified =
        alice.mac_verify(&hmac, &settings("hmac-sha256"), None, &tag, &mut Cursor::new(b""), 0, &mut |_| {});
    assert_eq!(verified.unwrap_err().kind, ErrorKind::Refused);
    let missing = "missing".parse().unwrap();
    let error = mac(&mut alice, &missing, &settings("hmac-sha256"), b"").map(|_| ()).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains("no key missing"), "{error}");
    // the input is shorter than it said: the servers do not wait for it
    assert_eq!(hash(&mut alice, &settings("sha256"), 5).kind, ErrorKind::Usage);
    let mut alice = house.connect("alice");
    let sha = Settings::new(Algorithm::hashes().next().unwrap());
    assert!(alice.hash(&sha, &mut Cursor::new(b"text"), 4, &mut |_| {}).is_ok());
    assert!(!house.logged("session ended"));
}
