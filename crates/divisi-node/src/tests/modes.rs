//! Wrapped keys, SIV and CBC by three servers: what an ordinary library gives, or the standard's example.

use super::attacks::refused;
use super::harness::{ServersHarness, flipped, import, text, with_alice};
use super::rogue::Rogue;
use crate::RoundsChoice;
use crate::request::{Item, ModeRequest, PIECE, SboxChoice, ToClient, ToServer};
use crate::wire::Blob;
use crate::{Client, ErrorKind, KeyName, KeyType, MODE_MESSAGE, Mode};
use aws_lc_rs::cipher::{AES_128, DecryptionContext, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::cipher::{DecryptingKey, EncryptingKey};
use aws_lc_rs::key_wrap::{AES_128 as KEK_128, AesKek, KeyWrap, KeyWrapPadded};
use divisi_rep3::Protocol;
use std::collections::HashSet;

fn encrypt(client: &mut Client, key: &KeyName, mode: Mode, aad: &[u8], text: &[u8]) -> Vec<u8> {
    let aad = (!aad.is_empty()).then_some(aad);
    client.encrypt_in_mode(key, mode, aad, text, &mut |_| {}).unwrap().to_vec()
}

fn decrypt(client: &mut Client, key: &KeyName, mode: Mode, aad: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let aad = (!aad.is_empty()).then_some(aad);
    match client.decrypt_in_mode(key, mode, aad, sealed, &mut |_| {}) {
        Ok(text) => Some(text.to_vec()),
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Mismatch, "{error}");
            None
        }
    }
}

#[test]
fn wrapped_keys_are_those_of_an_ordinary_library() {
    let (_harness, mut alice) = with_alice();
    let bytes: [u8; 16] = text(16).try_into().unwrap();
    let key = import(&mut alice, "kek", KeyType::Aes128Kw, &bytes);
    let kek = || AesKek::new(&KEK_128, &bytes).unwrap();
    for (length, protocol) in
        [(16, Protocol::Gf4Circuit), (24, Protocol::Lut256Additive), (40, Protocol::Lut16)]
    {
        alice.use_protocol(protocol);
        let secret = text(length);
        let wrapped = encrypt(&mut alice, &key, Mode::Kw, b"", &secret);
        let mut scratch = vec![0; length + 8];
        assert_eq!(wrapped, *kek().wrap(&secret, &mut scratch).unwrap());
        assert_eq!(decrypt(&mut alice, &key, Mode::Kw, b"", &wrapped), Some(secret));
        for at in [0, 7, 8, wrapped.len() - 1] {
            assert_eq!(decrypt(&mut alice, &key, Mode::Kw, b"", &flipped(&wrapped, at)), None);
        }
        // the one form is not taken for the other
        assert_eq!(decrypt(&mut alice, &key, Mode::Kwp, b"", &wrapped), None);
    }
    for length in [1, 7, 8, 9, 20] {
        let secret = text(length);
        let wrapped = encrypt(&mut alice, &key, Mode::Kwp, b"", &secret);
        let mut scratch = vec![0; length + 16];
        assert_eq!(wrapped, *kek().wrap_with_padding(&secret, &mut scratch).unwrap());
        assert_eq!(decrypt(&mut alice, &key, Mode::Kwp, b"", &wrapped), Some(secret), "{length}");
        assert_eq!(decrypt(&mut alice, &key, Mode::Kwp, b"", &flipped(&wrapped, 3)), None);
    }
}

#[test]
fn cbc_is_that_of_an_ordinary_library() {
    let (_harness, mut alice) = with_alice();
    let bytes = text(16);
    let key = import(&mut alice, "old", KeyType::Aes128Cbc, &bytes);
    let mut blocks = HashSet::new();
    // more than a piece, and not a whole number of them
    for length in [16, 4096, 4112] {
        let plain = text(length);
        let sealed = encrypt(&mut alice, &key, Mode::Cbc, b"", &plain);
        let (iv, rest) = sealed.split_at(16);
        let iv: [u8; 16] = iv.try_into().unwrap();
        let unbound = || UnboundCipherKey::new(&AES_128, &bytes).unwrap();
        let mut own = plain.clone();
        let encrypting = EncryptingKey::cbc(unbound()).unwrap();
        encrypting.less_safe_encrypt(&mut own, EncryptionContext::Iv128((&iv).into())).unwrap();
        assert_eq!(own, rest, "{length}");
        let mut own = rest.to_vec();
        let decrypting = DecryptingKey::cbc(unbound()).unwrap();
        assert_eq!(decrypting.decrypt(&mut own, DecryptionContext::Iv128((&iv).into())).unwrap(), plain);
        assert_eq!(decrypt(&mut alice, &key, Mode::Cbc, b"", &sealed), Some(plain.clone()));
        // a fresh IV each time, which is no block that anybody has seen before
        for sealed in [sealed, encrypt(&mut alice, &key, Mode::Cbc, b"", &text(16))] {
            assert!(!blocks.contains(&sealed[..16]), "{length}");
            blocks.extend(sealed.chunks(16).map(<[u8]>::to_vec));
        }
    }
}

/// RFC 5297, A.1, and what is damaged.
#[test]
fn siv_is_that_of_the_standard_and_repeats() {
    let (_harness, mut alice) = with_alice();
    let hex = |digits: &str| hex::decode(digits).unwrap();
    let bytes = hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let key = import(&mut alice, "names", KeyType::Aes128Siv, &bytes);
    let aad = hex("101112131415161718191a1b1c1d1e1f2021222324252627");
    let plain = hex("112233445566778899aabbccddee");
    // nothing is left of another key that was used before
    let other = import(&mut alice, "others", KeyType::Aes128Siv, &text(32));
    let of_other = encrypt(&mut alice, &other, Mode::Siv, &aad, &plain);
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, &aad, &of_other), None);
    let sealed = hex("85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c");
    assert_eq!(encrypt(&mut alice, &key, Mode::Siv, &aad, &plain), sealed);
    assert_eq!(encrypt(&mut alice, &key, Mode::Siv, &aad, &plain), sealed);
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, &aad, &sealed), Some(plain));
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, b"", &sealed), None);
    for at in [0, 15, 16, sealed.len() - 1] {
        assert_eq!(decrypt(&mut alice, &key, Mode::Siv, &aad, &flipped(&sealed, at)), None);
    }
    // the longest associated data count to their last byte
    let aad = text(1024);
    let sealed = encrypt(&mut alice, &key, Mode::Siv, &aad, b"x");
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, &flipped(&aad, 1023), &sealed), None);
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, &aad, &sealed), Some(b"x".to_vec()));
    for length in [0, 1, 16, 33] {
        let plain = text(length);
        let sealed = encrypt(&mut alice, &key, Mode::Siv, b"", &plain);
        assert_eq!(sealed.len(), 16 + length);
        assert_eq!(decrypt(&mut alice, &key, Mode::Siv, b"", &sealed), Some(plain));
    }
}

/// One empty string is one string, and none is none, as in RFC 5297 and as Tink and Wycheproof have it. The
/// right values are those of the library `cryptography` 48, with the same key.
#[test]
fn an_empty_associated_string_of_siv_is_a_string() {
    let (_harness, mut alice) = with_alice();
    let bytes: Vec<u8> = (0..64).collect();
    let key = import(&mut alice, "names", KeyType::Aes256Siv, &bytes);
    let plain = b"attack at dawn";
    let one = hex::decode("b15517727e96946265cc52290e72b93cae88c8995365b0f808ff0ed06643").unwrap();
    let none = hex::decode("9c70060daf17f997b1ac06a31be5ca391277937307b4f34030592846c4ce").unwrap();
    for (aad, other, sealed, of_the_other) in
        [(Some(&b""[..]), None, &one, &none), (None, Some(&b""[..]), &none, &one)]
    {
        let mut to = |aad| alice.encrypt_in_mode(&key, Mode::Siv, aad, plain, &mut |_| {}).unwrap().to_vec();
        assert_eq!((&to(aad), &to(other)), (sealed, of_the_other));
        let mut from = |aad| alice.decrypt_in_mode(&key, Mode::Siv, aad, sealed, &mut |_| {});
        assert_eq!(from(aad).unwrap().as_slice(), plain);
        assert_eq!(from(other).unwrap_err().kind, ErrorKind::Mismatch);
    }
    // what takes no associated data takes no empty ones
    let kek = import(&mut alice, "kek", KeyType::Aes128Kw, &text(16));
    let refused = alice.encrypt_in_mode(&kek, Mode::Kw, Some(b""), &text(16), &mut |_| {});
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Usage);
}

/// A plaintext that comes in several pieces is written to one buffer, which is long enough at once: one that
/// grows leaves copies behind.
#[test]
fn a_plaintext_in_pieces_has_one_buffer() {
    let (_harness, mut alice) = with_alice();
    let key = import(&mut alice, "old", KeyType::Aes128Cbc, &text(16));
    // every text is one of CBC
    let sealed = text(16 + 3 * 4096);
    let opened = alice.decrypt_in_mode(&key, Mode::Cbc, None, &sealed, &mut |_| {}).unwrap();
    assert_eq!(opened.len(), 3 * 4096);
    assert!(opened.capacity() <= sealed.len() + 16, "{} bytes", opened.capacity());
}

#[test]
fn a_key_serves_the_algorithms_of_its_type() {
    let (_harness, mut alice) = with_alice();
    let types = [
        (KeyType::Aes256, None),
        (KeyType::Aes256Cbc, Some(Mode::Cbc)),
        (KeyType::Aes256Siv, Some(Mode::Siv)),
        (KeyType::Aes256Kw, Some(Mode::Kw)),
        (KeyType::HmacSha256, None),
    ];
    for (kind, own) in types {
        let new = alice.new_key(format!("k-{kind}").parse().unwrap(), kind, false, vec![]);
        let key = alice.key_new(&new).unwrap().name;
        for mode in [Mode::Cbc, Mode::Siv, Mode::Kw, Mode::Kwp] {
            let serves = own == Some(mode) || (own == Some(Mode::Kw) && mode == Mode::Kwp);
            let made = alice.encrypt_in_mode(&key, mode, None, &text(32), &mut |_| {});
            match made {
                Ok(_) => assert!(serves, "{kind} {mode}"),
                Err(error) => assert!(!serves && error.kind == ErrorKind::Refused, "{kind} {mode}: {error}"),
            }
        }
        let gcm = alice.encrypt(&key, b"", &mut &text(32)[..], 32, &mut Vec::new(), &mut |_| {});
        assert_eq!(gcm.is_ok(), kind == KeyType::Aes256, "{kind}");
    }
    // what no mode takes is told before anything is sent
    let siv: KeyName = "k-aes-256-siv".parse().unwrap();
    let kw: KeyName = "k-aes-256-kw".parse().unwrap();
    let refused = |made: Result<_, crate::Error>| made.is_err_and(|error| error.kind == ErrorKind::Usage);
    assert!(refused(alice.encrypt_in_mode(&kw, Mode::Kw, None, &text(20), &mut |_| {})));
    assert!(refused(alice.encrypt_in_mode(&kw, Mode::Kwp, None, &[], &mut |_| {})));
    assert!(refused(alice.encrypt_in_mode(&kw, Mode::Kw, Some(b"aad"), &text(16), &mut |_| {})));
    assert!(refused(alice.encrypt_in_mode(&siv, Mode::Siv, None, &text(MODE_MESSAGE + 1), &mut |_| {})));
    assert!(refused(alice.encrypt_in_mode(&siv, Mode::Siv, Some(&text(1025)), b"", &mut |_| {})));
}

/// The same in constant rounds: messages of one program, of several, and of more blocks than are garbled.
#[test]
fn modes_in_constant_rounds_are_those_of_the_standards() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = harness.connect("alice");
    let hex = |digits: &str| hex::decode(digits).unwrap();
    let bytes: [u8; 16] = text(16).try_into().unwrap();
    let key = import(&mut alice, "kek", KeyType::Aes128Kw, &bytes);
    let kek = || AesKek::new(&KEK_128, &bytes).unwrap();
    let secret = text(16);
    let wrapped = encrypt(&mut alice, &key, Mode::Kw, b"", &secret);
    assert_eq!(wrapped, *kek().wrap(&secret, &mut [0; 24]).unwrap());
    assert_eq!(decrypt(&mut alice, &key, Mode::Kw, b"", &wrapped), Some(secret));
    assert_eq!(decrypt(&mut alice, &key, Mode::Kw, b"", &flipped(&wrapped, 9)), None);
    let padded = encrypt(&mut alice, &key, Mode::Kwp, b"", &text(7));
    assert_eq!(decrypt(&mut alice, &key, Mode::Kwp, b"", &padded), Some(text(7)));
    // too long to be garbled as a whole
    let long = text(520);
    let wrapped = encrypt(&mut alice, &key, Mode::Kw, b"", &long);
    assert_eq!(wrapped, *kek().wrap(&long, &mut [0; 528]).unwrap());
    assert_eq!(decrypt(&mut alice, &key, Mode::Kw, b"", &wrapped), Some(long));

    let key = import(&mut alice, "old", KeyType::Aes128Cbc, &bytes);
    let plain = text(144);
    let sealed = encrypt(&mut alice, &key, Mode::Cbc, b"", &plain);
    let (iv, rest) = sealed.split_at(16);
    let iv: [u8; 16] = iv.try_into().unwrap();
    let mut own = rest.to_vec();
    let decrypting = DecryptingKey::cbc(UnboundCipherKey::new(&AES_128, &bytes).unwrap()).unwrap();
    assert_eq!(decrypting.decrypt(&mut own, DecryptionContext::Iv128((&iv).into())).unwrap(), plain);
    assert_eq!(decrypt(&mut alice, &key, Mode::Cbc, b"", &sealed), Some(plain));
    let two = [&sealed[..16], &rest[..32]].concat();
    assert_eq!(decrypt(&mut alice, &key, Mode::Cbc, b"", &two), Some(text(144)[..32].to_vec()));

    let bytes = hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let key = import(&mut alice, "names", KeyType::Aes128Siv, &bytes);
    let aad = hex("101112131415161718191a1b1c1d1e1f2021222324252627");
    let plain = hex("112233445566778899aabbccddee");
    let sealed = hex("85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c");
    assert_eq!(encrypt(&mut alice, &key, Mode::Siv, &aad, &plain), sealed);
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, &aad, &sealed), Some(plain));
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, &aad, &flipped(&sealed, 16)), None);
    // level by level, but for the tag
    let sealed = encrypt(&mut alice, &key, Mode::Siv, &text(300), &text(150));
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, &text(300), &sealed), Some(text(150)));
    let sealed = encrypt(&mut alice, &key, Mode::Siv, b"", &text(520));
    assert_eq!(decrypt(&mut alice, &key, Mode::Siv, b"", &sealed), Some(text(520)));
    assert!(harness.logged("run in constant rounds") && !harness.logged("session ended"));
}

/// A25: each piece of a ciphertext is the same at all three servers, also behind the first ones.
#[test]
fn every_piece_of_a_ciphertext_is_compared() {
    let harness = ServersHarness::patient(|_| {});
    let key = import(&mut harness.connect("alice"), "cbc", KeyType::Aes128Cbc, &text(16));
    let (mode, way, length) = (Mode::Cbc, SboxChoice::DEFAULT, MODE_MESSAGE as u64);
    let asked = ModeRequest { key, mode, encrypts: false, aad: None, length, iv: [7; 16], way };
    let pieces = length / PIECE as u64;
    let mut rogue = Rogue::connect(&harness, "alice");
    for odd in 0..pieces {
        let number = odd + 1;
        let begun = rogue.exchange(|_| ToServer::Request { number, item: Item::Mode(asked.clone()) });
        assert!(begun.iter().all(|answer| matches!(answer, Some(ToClient::Begun { .. }))), "{begun:?}");
        for index in 0..=odd {
            let answers = rogue.exchange(|i| {
                let mut body = text(PIECE);
                body[PIECE - 1] ^= u8::from(index == odd && i == 1);
                ToServer::Data { number, index, body: Blob(body) }
            });
            if index == odd {
                refused(&answers, "client alice told the servers different things", "message");
            } else {
                assert!(answers.iter().all(|answer| matches!(answer, Some(ToClient::Answer { .. }))));
            }
        }
    }
    assert!(pieces > 3);
}
