//! What a repetition reveals: SIV, and GCM-SIV under a repeated nonce, reveal that messages are the same
//! together with all that is authenticated, and nothing about messages that differ, wherever they differ. A
//! tag that does not depend on the whole message, or two messages under one key stream, would reveal more.

use super::*;
use divisi_symmetric::mode::one_shot::{gcm_siv, siv};

const MESSAGE: usize = 61;

fn message() -> Vec<u8> {
    (0..MESSAGE).map(|i| (i * 5) as u8).collect()
}

/// Messages that differ from [`message`]: in one bit, at each edge of a block; in the order of blocks; in
/// their end, which comes earlier, or later with what could be taken for padding.
fn others() -> Vec<Vec<u8>> {
    let message = message();
    let places = [0, 7, 15, 16, 31, 32, 44, 45, 47, 48, 60];
    let mut all: Vec<Vec<u8>> = places.map(|at| changed_at(&message, at, 1)).to_vec();
    for (first, second) in [(0, 1), (1, 2), (0, 2)] {
        let mut blocks: Vec<Vec<u8>> = message.chunks(16).map(<[u8]>::to_vec).collect();
        blocks.swap(first, second);
        all.push(blocks.concat());
    }
    for end in [&[0][..], &[0x80], &[0x80, 0, 0], &[0; 3], &[0; 16]] {
        all.push([&message[..], end].concat());
    }
    all.extend([60, 48, 32, 16, 15].map(|bytes| message[..bytes].to_vec()));
    all
}

/// How many bytes two tags have in common.
fn common(x: &[u8], y: &[u8]) -> usize {
    x.iter().zip(y).filter(|(x, y)| x == y).count()
}

/// Whether two ciphertexts reveal nothing but that their messages differ: their tags are unrelated, and no
/// block of one has the key stream of a block of the other.
fn strangers([x, of_x]: [&Sealed; 2], [y, of_y]: [&[u8]; 2]) -> bool {
    let stream = |sealed: &Sealed, message: &[u8]| -> Vec<Vec<u8>> {
        let all: Vec<u8> = sealed.ciphertext.iter().zip(message).map(|(x, y)| x ^ y).collect();
        all.chunks(16).filter(|block| block.len() == 16).map(<[u8]>::to_vec).collect()
    };
    let (first, second) = (stream(x, y), stream(of_x, of_y));
    common(&x.tag, &of_x.tag) < 6 && !first.iter().any(|block| second.contains(block))
}

#[test]
fn texts_that_differ_anywhere_have_nothing_in_common() {
    for mode in [Mode::Siv, Mode::GcmSiv] {
        let (message, sealed) = (message(), mode.seal(&AAD, &message()));
        let again = mode.seal(&AAD, &message);
        assert_eq!((&again.ciphertext, &again.tag), (&sealed.ciphertext, &sealed.tag), "{mode:?}");
        let others = others();
        assert!(others.len() > 20);
        for other in &others {
            let theirs = mode.seal(&AAD, other);
            assert!(strangers([&sealed, &theirs], [&message, other]), "{mode:?} {other:?}");
        }
        for aad in [&AAD[..19], &[&AAD[..], &[0]].concat(), &[]] {
            let theirs = mode.seal(aad, &message);
            assert!(strangers([&sealed, &theirs], [&message, &message]), "{mode:?} {aad:?}");
        }
    }
}

/// This includes messages of less than a block, which SIV processes differently.
#[test]
fn texts_that_end_in_zeros_have_nothing_in_common() {
    for mode in [Mode::Siv, Mode::GcmSiv] {
        let mut tags: Vec<Vec<u8>> = Vec::new();
        for bytes in 0..=33 {
            let sealed = mode.seal(&AAD, &vec![0; bytes]);
            assert!(tags.iter().all(|tag| common(tag, &sealed.tag) < 6), "{mode:?} {bytes}");
            tags.push(sealed.tag);
        }
    }
}

/// Associated data and message are told apart, also when bytes move from one to the other.
#[test]
fn associated_data_and_text_are_told_apart() {
    for mode in [Mode::Siv, Mode::GcmSiv] {
        let all = message();
        let sealed: Vec<Sealed> = [16, 32, 48].map(|at| mode.seal(&all[..at], &all[at..])).to_vec();
        for (i, x) in sealed.iter().enumerate() {
            for y in &sealed[..i] {
                assert!(common(&x.tag, &y.tag) < 6, "{mode:?} {i}");
            }
        }
    }
}

/// The IV of SIV depends on its strings, on their order, and on empty ones.
#[test]
fn strings_before_a_text_have_an_order() {
    let e = &mut Plain;
    let (key, message) = (public(e, &Mode::Siv.key()), public(e, &message()));
    let key = siv::SivKey::new(e, &key).unwrap();
    let strings: [&[&[u8]]; 9] = [
        &[b"one", b"another"],
        &[b"another", b"one"],
        &[b"one"],
        &[b"another"],
        &[b"oneanother"],
        &[b"one", b""],
        &[b"", b"one"],
        &[b""],
        &[],
    ];
    let mut ivs = Vec::new();
    for strings in strings {
        let strings: Vec<Vec<Vec<u8>>> = strings.iter().map(|string| vec![string.to_vec()]).collect();
        let iv = key.seal(e, 1, &strings, &message).unwrap().0[0];
        assert!(!ivs.contains(&iv), "{strings:?}");
        ivs.push(iv);
    }
}

/// Nonces that differ in any byte give other keys.
#[test]
fn a_nonce_of_gcm_siv_counts_to_its_last_byte() {
    let e = &mut Plain;
    let key = public(e, &Mode::GcmSiv.key());
    let key = divisi_symmetric::aes::expand(e, &key).unwrap();
    let secret = public(e, &message());
    let mut seal = |nonce: [u8; 12]| {
        let head = gcm_siv::NonceHead { nonce, aad: AAD.to_vec() };
        let (tags, ciphertext) = gcm_siv::seal(e, &key, &[head], &secret).unwrap();
        let ciphertext = Plain.reveal(ciphertext).unwrap().concat();
        Sealed { aad: AAD.to_vec(), ciphertext, tag: tags[0].to_vec() }
    };
    let sealed = seal(NONCE);
    for at in 0..12 {
        let theirs = seal(changed_at(&NONCE, at, 1).try_into().unwrap());
        assert!(strangers([&sealed, &theirs], [&message(), &message()]), "{at}");
    }
}
