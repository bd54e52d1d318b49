//! What is encrypted comes back, and any AES-GCM library opens it.

use super::garbled::STOCKED;
use super::harness::{decrypt, encrypt, fails, flipped, import, text, with_alice, with_key};
use crate::request::AAD;
use crate::{CHUNK, ErrorKind, KeyType, OVERHEAD, Purpose};
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::aes::Aes192;
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm, KeyInit};
use divisi_rep3::Protocol;

/// An ordinary library's view of a file.
pub(crate) fn open(key: &[u8], aad: &[u8], file: &[u8]) -> Option<Vec<u8>> {
    let (iv, msg) = file.split_at(12);
    let iv: [u8; 12] = iv.try_into().unwrap();
    let payload = Payload { msg, aad };
    match key.len() {
        16 => Aes128Gcm::new_from_slice(key).unwrap().decrypt(&iv.into(), payload).ok(),
        24 => AesGcm::<Aes192, aes_gcm::aead::consts::U12>::new_from_slice(key)
            .unwrap()
            .decrypt(&iv.into(), payload)
            .ok(),
        _ => Aes256Gcm::new_from_slice(key).unwrap().decrypt(&iv.into(), payload).ok(),
    }
}

#[test]
fn any_length_comes_back_and_an_ordinary_library_opens_it() {
    let (harness, mut alice) = with_alice();
    let key = harness.key(&mut alice, "k", true, &[]);
    let plain = alice.key_export(&key).unwrap();
    assert_eq!(plain.len(), 16);
    for len in [0, 1, 15, 16, 17, CHUNK - 1, CHUNK, CHUNK + 1, 200_000] {
        let (aad, text) = (&b"associated"[..len % 11], text(len));
        let file = encrypt(&mut alice, &key, aad, &text).unwrap();
        assert_eq!(file.len() as u64, len as u64 + OVERHEAD);
        assert_eq!(open(&plain, aad, &file).unwrap(), text, "{len}");
        let (back, error) = decrypt(&mut alice, &key, aad, &file);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(back, text, "{len}");
    }
    assert!(harness.logged("client alice: encrypt key k, 200000 bytes: done"));
}

/// The types of keys that encrypt.
fn ciphers() -> impl Iterator<Item = &'static KeyType> {
    KeyType::ALL.iter().filter(|kind| kind.purpose() == Purpose::Gcm)
}

/// Every way of computing S-boxes gives the same files: what one wrote, another reads, and the key stays the
/// one that was ready.
#[test]
fn every_protocol_reads_what_another_wrote() {
    let (harness, mut alice) = with_alice();
    for (kind, len) in ciphers().zip([CHUNK + 1, 0, 1000]) {
        let bytes = text(kind.bytes());
        let name = import(&mut alice, &format!("k-{kind}"), *kind, &bytes);
        for (at, protocol) in Protocol::ALL.iter().enumerate() {
            let other = Protocol::ALL[(at + 1) % Protocol::ALL.len()];
            let text = text(len + at);
            alice.use_protocol(*protocol);
            let file = encrypt(&mut alice, &name, b"aad", &text).unwrap();
            assert_eq!(open(&bytes, b"aad", &file).unwrap(), text, "{protocol}");
            alice.use_protocol(other);
            let (back, error) = decrypt(&mut alice, &name, b"aad", &file);
            assert!(error.is_none(), "{protocol}, {other}: {error:?}");
            assert_eq!(back, text, "{protocol}, {other}");
        }
    }
    harness.assert_unharmed();
}

#[test]
fn keys_of_every_size_and_keys_that_a_client_brings() {
    let (harness, mut alice) = with_alice();
    for kind in ciphers() {
        let bytes = text(kind.bytes());
        let new = alice.new_key(format!("k-{kind}").parse().unwrap(), *kind, false, vec![]);
        let entry = alice.key_import(&new, &bytes).unwrap();
        assert_eq!((entry.kind, entry.generation, entry.maker.as_str()), (*kind, 1, "alice"));
        // the same request again finds the key
        assert_eq!(alice.key_import(&new, &bytes).unwrap(), entry);
        let file = encrypt(&mut alice, &new.name, b"a", b"some text").unwrap();
        assert_eq!(open(&bytes, b"a", &file).unwrap(), b"some text");
        // no line of a log has a part of it
        let log = harness.log.lock().unwrap();
        assert!(!log.is_empty());
        assert!(!log.iter().any(|line| bytes.chunks(4).any(|part| line.contains(&hex::encode(part)))));
    }
    let new = alice.new_key("short".parse().unwrap(), KeyType::Aes256, false, vec![]);
    let error = alice.key_import(&new, &[0; 16]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.message.contains("32 bytes"), "{error}");
}

#[test]
fn what_is_damaged_is_refused_and_nothing_is_answered() {
    let (_harness, mut alice, key) = with_key(&[]);
    let file = encrypt(&mut alice, &key, b"aad", &text(CHUNK + 5)).unwrap();
    for at in [0, 11, 12, 12 + CHUNK, 12 + CHUNK + 4, file.len() - 16, file.len() - 1] {
        let (out, error) = decrypt(&mut alice, &key, b"aad", &flipped(&file, at));
        let error = error.unwrap();
        assert!(out.is_empty());
        assert_eq!((error.kind, error.retry), (ErrorKind::Mismatch, false));
        assert!(error.step.ends_with("verify"), "{error:?}");
    }
    let (out, error) = decrypt(&mut alice, &key, b"AAD", &file);
    assert!(out.is_empty());
    assert_eq!(error.unwrap().kind, ErrorKind::Mismatch);
    let (out, error) = decrypt(&mut alice, &key, b"aad", &file[..file.len() - 1]);
    assert!(out.is_empty());
    assert_eq!(error.unwrap().kind, ErrorKind::Mismatch);
    // associated data count to their last byte, also the longest
    let aad = text(AAD);
    let long = encrypt(&mut alice, &key, &aad, b"x").unwrap();
    let (out, error) = decrypt(&mut alice, &key, &flipped(&aad, AAD - 1), &long);
    assert!(out.is_empty() && error.is_some_and(|error| error.kind == ErrorKind::Mismatch));
    assert!(decrypt(&mut alice, &key, &aad, &long).1.is_none());
    for short in [0, 1, 27] {
        let error = decrypt(&mut alice, &key, b"aad", &file[..short]).1.unwrap();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.message.contains("at least 28"), "{error}");
    }
    // and nothing of this harmed the session
    assert!(decrypt(&mut alice, &key, b"aad", &file).1.is_none());
}

#[test]
fn an_input_that_ends_early_is_the_callers_fault() {
    let (harness, mut alice, key) = with_key(&[]);
    let error = alice.encrypt(&key, b"", &mut &b"short"[..], 10, &mut Vec::new(), &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    // no server waits for the rest
    encrypt(&mut harness.connect("alice"), &key, b"", b"text").unwrap();
    harness.await_logged(3, "its client left");
    fails(encrypt(&mut alice, &key, b"", b"text"), "connect again");
}

/// While nobody asks for anything, the servers make the one-hot vectors that the next request like the last
/// will take.
#[test]
fn vectors_are_made_while_nobody_asks() {
    let (harness, mut alice, key) = with_key(&[]);
    for protocol in [Protocol::Lut256, Protocol::Lut16] {
        alice.use_protocol(protocol);
        harness.log.lock().unwrap().clear();
        let first = encrypt(&mut alice, &key, b"", b"sixteen bytes in").unwrap();
        harness.await_logged(3, STOCKED);
        let second = encrypt(&mut alice, &key, b"", b"sixteen bytes in").unwrap();
        for file in [first, second] {
            assert_eq!(decrypt(&mut alice, &key, b"", &file).0, b"sixteen bytes in");
        }
    }
}
