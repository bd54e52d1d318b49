//! Hashes of what no server sees, and tags under keys of MACs: what libraries give, and what is refused.

use super::harness::{ServersHarness, encrypt, fails, flipped, import, text, with_alice};
use crate::request::PIECE;
use crate::{Client, ErrorKind, KeyName, KeyType, MESSAGE, Purpose, Tagged, UsedKey};
use divisi_core::{Bytes, Plain};
use divisi_fuzz::repetitions;
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{Function, Messages, byte_values};
use std::io::Cursor;

/// What the function gives in the clear; its tests compare that with other libraries.
pub(super) fn clear(settings: &Settings, key: &[u8], nonce: [u8; 12], message: &[u8]) -> Vec<u8> {
    let e = &mut Plain;
    let key: Vec<_> = key.iter().map(|byte| e.public(&[*byte])).collect();
    let function = Function::prepare(e, settings, &key).unwrap();
    let messages = Messages::public(e, &[message]);
    let output = function.output(e, &messages, &[nonce]).unwrap();
    byte_values(e, output).unwrap().iter().map(|byte| byte.values()[0]).collect()
}

pub(super) fn settings(name: &str) -> Settings {
    Settings::new(name.parse().unwrap())
}

pub(super) fn mac(
    client: &mut Client,
    key: &KeyName,
    settings: &Settings,
    message: &[u8],
) -> Result<Tagged, crate::Error> {
    client.mac(key, settings, &mut Cursor::new(message), message.len() as u64, &mut |_| {})
}

/// Compare a tag.
pub(super) fn verify(
    client: &mut Client,
    key: &KeyName,
    settings: &Settings,
    nonce: Option<[u8; 12]>,
    tag: &[u8],
    message: &[u8],
) -> Result<UsedKey, crate::Error> {
    let length = message.len() as u64;
    client.mac_verify(key, settings, nonce, tag, &mut Cursor::new(message), length, &mut |_| {})
}

/// Hash a message, and check that the digest is the standard's.
pub(super) fn hash_is_right(client: &mut Client, settings: &Settings, message: &[u8]) {
    let length = message.len() as u64;
    let digest = client.hash(settings, &mut Cursor::new(message), length, &mut |_| {}).unwrap();
    assert_eq!(*digest, clear(settings, &[], [0; 12], message), "{} {length}", settings.algorithm);
}

/// Import a key of this type, and return its name and its bytes.
pub(super) fn import_some(client: &mut Client, kind: KeyType) -> (KeyName, Vec<u8>) {
    let bytes = text(kind.bytes());
    (import(client, &format!("k-{kind}"), kind, &bytes), bytes)
}

#[test]
fn digests_are_those_of_the_standard() {
    let (harness, mut alice) = with_alice();
    for (name, length) in
        [("sha256", 0), ("sha512-256", 200), ("sha3-256", 9000), ("shake256", 4096), ("cshake128", 5)]
    {
        let mut settings = settings(name);
        if name == "cshake128" {
            settings = Settings { customization: b"custom".to_vec(), output_bytes: 400, ..settings };
        }
        hash_is_right(&mut alice, &settings, &text(length));
    }
    assert!(harness.logged("client alice: hash, 9000 bytes: done"));
}

/// Every type of key makes the tags of its algorithm, and compares them; a changed tag, message, key or nonce
/// is found.
#[test]
fn a_tag_is_compared_to_its_last_bit() {
    let (harness, mut alice) = with_alice();
    for kind in KeyType::ALL.iter().filter(|kind| kind.purpose() == Purpose::Mac) {
        let (name, key) = import_some(&mut alice, *kind);
        let settings = settings(kind.name());
        assert_eq!(settings.algorithm.key_bytes(), kind.bytes(), "{kind}");
        // of the empty message each type's tag is made every night
        let both = repetitions(kind.name() == "hmac-sha256", true);
        for &length in if both { &[0, 33][..] } else { &[33] } {
            let message = text(length);
            let made = mac(&mut alice, &name, &settings, &message).unwrap();
            assert_eq!(made.nonce.is_some(), settings.algorithm.nonce_bytes() > 0);
            assert_eq!(*made.tag, clear(&settings, &key, made.nonce.unwrap_or_default(), &message), "{kind}");
            let mut verify = |nonce: Option<[u8; 12]>, tag: &[u8], message: &[u8]| {
                verify(&mut alice, &name, &settings, nonce, tag, message)
            };
            if kind.name().starts_with("one-time-password") {
                // so few digits are not compared: asking would find them
                assert!(made.tag.len() == 6 && made.tag.iter().all(u8::is_ascii_digit));
                let refused = verify(made.nonce, &made.tag, &message).unwrap_err();
                assert_eq!(refused.kind, ErrorKind::Refused);
                continue;
            }
            assert_eq!(verify(made.nonce, &made.tag, &message).unwrap(), made.key, "{kind}");
            if length == 0 && kind.name() != "hmac-sha256" {
                continue;
            }
            let wrong = flipped(&made.tag, made.tag.len() - 1);
            assert_eq!(verify(made.nonce, &wrong, &message).unwrap_err().kind, ErrorKind::Mismatch, "{kind}");
            let other = [&message[..], &[0]].concat();
            let refused = verify(made.nonce, &made.tag, &other).unwrap_err();
            assert_eq!(refused.kind, ErrorKind::Mismatch, "{kind}");
            if let Some(mut nonce) = made.nonce {
                nonce[0] ^= 1;
                assert_eq!(verify(Some(nonce), &made.tag, &message).unwrap_err().kind, ErrorKind::Mismatch);
            }
        }
    }
    harness.assert_unharmed();
}

/// Every bit of a nonce is drawn, for each tag anew.
#[test]
fn nonces_of_tags_have_no_bit_that_stays() {
    let (_harness, mut alice) = with_alice();
    let (name, _) = import_some(&mut alice, KeyType::GmacAes128);
    let (mut ones, mut zeros) = (0, 0);
    for _ in 0..32 {
        let nonce = mac(&mut alice, &name, &settings("gmac-aes128"), b"m").unwrap().nonce.unwrap();
        let nonce = nonce.iter().fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
        (ones, zeros) = (ones | nonce, zeros | !nonce);
    }
    assert_eq!((ones, zeros), ((1 << 96) - 1, u128::MAX));
}

/// Messages of several pieces, which end at a piece's end, before it and after it: what they owe is verified
/// piece by piece.
#[test]
fn long_messages_have_the_tags_of_the_standards() {
    let (harness, mut alice) = with_alice();
    let all = [
        (KeyType::Kmac128, PIECE + 1),
        (KeyType::CmacAes128, PIECE + 700),
        (KeyType::GmacAes128, 3 * PIECE - 1),
        (KeyType::GmacAes256, 2 * PIECE),
        (KeyType::HmacSha3_256, 2 * PIECE),
        (KeyType::Kmac128, 2 * PIECE + 1),
    ];
    for &(kind, length) in repetitions(&all[..4], &all) {
        let (name, key) = import_some(&mut alice, kind);
        let settings = settings(kind.name());
        let message = text(length);
        let made = mac(&mut alice, &name, &settings, &message).unwrap();
        assert_eq!(*made.tag, clear(&settings, &key, made.nonce.unwrap_or_default(), &message), "{kind}");
        let mut verify = |tag: &[u8]| verify(&mut alice, &name, &settings, made.nonce, tag, &message);
        assert_eq!(verify(&made.tag).unwrap(), made.key, "{kind}");
        assert_eq!(verify(&flipped(&made.tag, 0)).unwrap_err().kind, ErrorKind::Mismatch, "{kind}");
    }
    harness.assert_unharmed();
}

/// A key that nobody knows makes tags that it finds right; other settings of the same key are other tags.
#[test]
fn keys_that_nobody_knows_and_keys_that_stay_ready() {
    let (_harness, mut alice) = with_alice();
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
    let mut verify = |settings: &Settings, tag: &[u8]| verify(&mut alice, &name, settings, None, tag, b"m");
    assert!(verify(&custom, &tags[1]).is_ok() && verify(&custom, &tags[0]).is_err());
}

#[test]
fn a_key_serves_its_type_and_nothing_else() {
    let (harness, mut alice) = with_alice();
    let (hmac, _) = import_some(&mut alice, KeyType::HmacSha256);
    let (aes, _) = import_some(&mut alice, KeyType::Aes128);
    let error = fails(encrypt(&mut alice, &hmac, b"", b"text"), "is of type hmac-sha256");
    assert_eq!(error.kind, ErrorKind::Refused);
    for name in ["cmac-aes128", "gmac-aes128", "kmac128"] {
        let error = mac(&mut alice, &aes, &settings(name), b"text").map(|_| ()).unwrap_err();
        assert!(error.kind == ErrorKind::Refused && error.message.contains("is of type aes-128"), "{error}");
    }
    fails(mac(&mut alice, &hmac, &settings("hmac-sha512-256"), b"text"), "serves one algorithm");
    // all continues
    assert!(mac(&mut alice, &hmac, &settings("hmac-sha256"), b"text").is_ok());
    assert!(encrypt(&mut alice, &aes, b"", b"text").is_ok());
    // another client's key
    let mut carol = harness.connect("carol");
    let error = mac(&mut carol, &hmac, &settings("hmac-sha256"), b"text").map(|_| ()).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains("does not serve"), "{error}");
}

/// How many uses of a key each server has counted on its disk, in whole blocks.
fn counted(harness: &ServersHarness, key: &KeyName) -> [u64; 3] {
    std::array::from_fn(|i| {
        let store = harness.store(i);
        store.load(key).unwrap().unwrap().reserved
    })
}

/// A client that could ask whether the first byte of a tag is right, then the second, and so on, would get a
/// second tag under one nonce, and with it the hash key. Servers neither compare nor make tags of so few
/// bytes, and count every comparison.
#[test]
fn a_tag_cannot_be_guessed_byte_by_byte() {
    let (harness, mut alice) = with_alice();
    for (kind, least) in
        [(KeyType::GmacAes128, 12), (KeyType::CmacAes256, 8), (KeyType::HmacSha256, 8), (KeyType::Kmac128, 8)]
    {
        let (name, key) = import_some(&mut alice, kind);
        let whole = settings(kind.name());
        let nonce = (whole.algorithm.nonce_bytes() > 0).then_some([9; 12]);
        for bytes in [1, least - 1, least] {
            let settings = Settings { output_bytes: bytes, ..whole.clone() };
            let right = clear(&settings, &key, nonce.unwrap_or_default(), b"forged");
            let mut verify = |tag: &[u8]| verify(&mut alice, &name, &settings, nonce, tag, b"forged");
            let wrong = flipped(&right, bytes - 1);
            let before = counted(&harness, &name);
            assert_eq!(before, [0; 3], "what was refused was counted");
            if bytes < least {
                let words = format!("have {least} to ");
                for tag in [&right, &wrong] {
                    let error = fails(verify(tag), &words);
                    assert_eq!(error.kind, ErrorKind::Refused, "{kind}, {bytes}");
                }
                let error = mac(&mut alice, &name, &settings, b"forged").map(|_| ()).unwrap_err();
                assert!(error.kind == ErrorKind::Refused && error.message.contains(&words), "{error}");
            } else {
                assert_eq!(verify(&wrong).unwrap_err().kind, ErrorKind::Mismatch, "{kind}");
                let counted = counted(&harness, &name);
                assert!(counted.iter().all(|n| *n > 0), "a failed comparison is not counted: {counted:?}");
                assert!(verify(&right).is_ok(), "{kind}");
            }
        }
    }
    // every part of a long tag is compared
    let (name, key) = import_some(&mut alice, KeyType::HmacSha512);
    let whole = settings("hmac-sha512");
    let right = clear(&whole, &key, [0; 12], b"forged");
    for at in [0, 16, 31, 32, 48, 63] {
        let error = verify(&mut alice, &name, &whole, None, &flipped(&right, at), b"forged").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Mismatch, "{at}");
    }
    assert!(verify(&mut alice, &name, &whole, None, &right, b"forged").is_ok());
    harness.assert_unharmed();
}

/// A key that is used up compares no more tags; what does not fit the key uses nothing up.
#[test]
fn comparisons_are_uses_and_requests_that_do_not_fit_are_none() {
    let (harness, mut alice) = with_alice();
    let (name, key) = import_some(&mut alice, KeyType::GmacAes128);
    let [gmac, other] = ["gmac-aes128", "gmac-aes256"].map(settings);
    assert!(mac(&mut alice, &name, &other, b"m").is_err_and(|e| e.message.contains("serves one algorithm")));
    assert_eq!(counted(&harness, &name), [0; 3]);
    let tag = clear(&gmac, &key, [1; 12], b"m");
    let mut verify = |settings: &Settings, nonce| verify(&mut alice, &name, settings, nonce, &tag, b"m");
    // nonces where none belong, and none where one does
    assert_eq!(verify(&gmac, None).unwrap_err().kind, ErrorKind::Usage);
    assert_eq!(verify(&settings("cmac-aes128"), Some([0; 12])).unwrap_err().kind, ErrorKind::Usage);
    assert_eq!(counted(&harness, &name), [0; 3]);
    let store = harness.store(2);
    store.reserve(&name, divisi_store::USES).unwrap();
    let error = verify(&gmac, Some([1; 12])).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains("2^32"), "{error}");
    assert!(error.message.starts_with("party 3 says"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (harness, mut alice) = with_alice();
    let (hmac, _) = import_some(&mut alice, KeyType::HmacSha256);
    let hash = |alice: &mut Client, settings: &Settings, length: u64| {
        alice.hash(settings, &mut Cursor::new(b"text"), length, &mut |_| {}).map(|_| ()).unwrap_err()
    };
    assert_eq!(hash(&mut alice, &settings("hmac-sha256"), 4).kind, ErrorKind::Refused);
    assert_eq!(hash(&mut alice, &settings("sha256"), MESSAGE + 1).kind, ErrorKind::Usage);
    let long = Settings { output_bytes: 33, ..settings("sha256") };
    assert_eq!(hash(&mut alice, &long, 4).kind, ErrorKind::Refused);
    let error = mac(&mut alice, &hmac, &settings("sha256"), b"").map(|_| ()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    let verified = verify(&mut alice, &hmac, &settings("hmac-sha256"), None, &[0; 31], b"");
    assert_eq!(verified.unwrap_err().kind, ErrorKind::Refused);
    let missing = "missing".parse().unwrap();
    let error = mac(&mut alice, &missing, &settings("hmac-sha256"), b"").map(|_| ()).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains("no key missing"), "{error}");
    // the input is shorter than it said: the servers do not wait for it
    assert_eq!(hash(&mut alice, &settings("sha256"), 5).kind, ErrorKind::Usage);
    let mut alice = harness.connect("alice");
    let sha = Settings::new(Algorithm::hashes().next().unwrap());
    assert!(alice.hash(&sha, &mut Cursor::new(b"text"), 4, &mut |_| {}).is_ok());
    harness.assert_unharmed();
}
