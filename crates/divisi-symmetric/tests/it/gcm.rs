//! Random messages against the crate `aes-gcm`: each by itself, in so few steps that giant steps and
//! intermediate folds are exercised, all in batches, and without an opened ciphertext.

use aes::cipher::consts::{U8, U12, U16, U60};
use aes_gcm::aead::array::ArraySize;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm};
use divisi_core::testing::PlainLab;
use divisi_core::{Direction, Misuse, Opens, Plain, PlainByte};
use divisi_symmetric::aes::{self as cipher, KeySize};
use divisi_symmetric::mode::gcm;
use divisi_symmetric::mode::ghash::Steps;
use divisi_symmetric::mode::one_shot;
use divisi_symmetric::suite::{GcmMessage, Samples, Sealed, alone, in_batches};
use proptest::prelude::*;
use std::slice::from_ref;

type Aes192Gcm = AesGcm<aes::Aes192, U12>;

fn reference(plain: &GcmMessage) -> Sealed {
    let nonce: [u8; 12] = plain.iv[..].try_into().unwrap();
    let (nonce, payload) = ((&nonce).into(), Payload { msg: &plain.text, aad: &plain.aad });
    let mut text = match plain.key.len() {
        16 => Aes128Gcm::new_from_slice(&plain.key).unwrap().encrypt(nonce, payload),
        24 => Aes192Gcm::new_from_slice(&plain.key).unwrap().encrypt(nonce, payload),
        _ => Aes256Gcm::new_from_slice(&plain.key).unwrap().encrypt(nonce, payload),
    }
    .unwrap();
    let tag = text.split_off(plain.text.len()).try_into().unwrap();
    Sealed { text, tag }
}

fn message(samples: &mut Samples, size: KeySize, aad: usize, text: usize) -> GcmMessage {
    GcmMessage {
        key: samples.bytes(size.bytes()),
        iv: samples.bytes(12),
        aad: samples.bytes(aad),
        text: samples.bytes(text),
    }
}

fn agrees(steps: Steps, plain: &[GcmMessage]) {
    let expected: Vec<Sealed> = plain.iter().map(reference).collect();
    alone(&PlainLab, steps, plain, &expected);
    in_batches(&PlainLab, plain, &expected);
}

/// Lengths whose last eight bits are zero are not taken for nothing.
#[test]
fn messages_of_256_bytes() {
    let samples = &mut Samples::new(256);
    let plain =
        [(0, 256), (256, 0), (256, 512)].map(|(aad, text)| message(samples, KeySize::Aes128, aad, text));
    agrees(Steps::new(3, 2).unwrap(), &plain);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn messages_of_any_length(
        seed: u64,
        baby in 1usize..=6,
        giant in 1usize..=4,
        lengths in prop::collection::vec((0usize..100, 0usize..200), 1..4),
        long in (0usize..5000, 0usize..5000),
        size in 0usize..3,
    ) {
        let samples = &mut Samples::new(seed);
        let mut plain: Vec<GcmMessage> = lengths
            .iter()
            .map(|&(aad, text)| {
                let size = KeySize::ALL[samples.below(3)];
                message(samples, size, aad, text)
            })
            .collect();
        plain.push(message(samples, KeySize::ALL[size], long.0, long.1));
        agrees(Steps::new(baby, giant).unwrap(), &plain);
    }
}

#[test]
fn messages_around_the_ends_of_blocks_chunks_and_folds() {
    // 4 baby steps and 3 giant ones: chunks of 64 bytes, folds every 192
    let samples = &mut Samples::new(5);
    let ends = [0, 16, 64, 192, 384].map(|end: usize| [end.saturating_sub(1), end, end + 1]).concat();
    let plain: Vec<GcmMessage> = ends
        .iter()
        .flat_map(|&text| [0, 1, 16, 31].map(|aad| (aad, text)))
        .map(|(aad, text)| message(samples, KeySize::Aes128, aad, text))
        .collect();
    agrees(Steps::new(4, 3).unwrap(), &plain);
}

#[test]
fn a_message_longer_than_the_standard_baby_steps() {
    let samples = &mut Samples::new(6);
    agrees(Steps::STANDARD, &[message(samples, KeySize::Aes256, 20, 16 * 1024 * 2 + 5)]);
}

/// A key serves messages that are longer than all before by one block, and shorter ones again.
#[test]
fn one_key_serves_longer_and_longer_messages() {
    let (e, samples) = (&mut Plain, &mut Samples::new(7));
    let first = message(samples, KeySize::Aes128, 0, 16);
    let column = |byte: &u8| PlainByte::new(vec![*byte]);
    let key: Vec<PlainByte> = first.key.iter().map(column).collect();
    let text: Vec<PlainByte> = first.text.iter().map(column).collect();
    let (round_keys, h) = gcm::expand(e, &key).unwrap();
    let steps = Steps::new(2, 6).unwrap();
    let mut key = gcm::MessagesKey::each(e, round_keys, &h, steps).unwrap().remove(0);
    for blocks in (0..20).chain([3, 0]) {
        let plain = GcmMessage { iv: samples.bytes(12), aad: samples.bytes(16 * blocks), ..first.clone() };
        let sealed = reference(&plain);
        let made = key.seal(e, &plain.iv, &plain.aad, &text).unwrap();
        assert_eq!(made, (sealed.text, sealed.tag), "{blocks} blocks");
    }
}

/// The longer of the two, whether the message or its IV, says how many powers there are.
#[test]
fn messages_and_ivs_of_more_than_256_steps() {
    let samples = &mut Samples::new(8);
    let plain = [(60, 16 * 258), (16 * 258, 33)].map(|(iv, text)| GcmMessage {
        key: samples.bytes(16),
        iv: samples.bytes(iv),
        aad: Vec::new(),
        text: samples.bytes(text),
    });
    let seal = |plain: &GcmMessage| {
        let sealed =
            unopened(&plain.key, Direction::Encrypt, from_ref(&plain.iv), &[], from_ref(&plain.text));
        let (text, tag) = sealed[0].split_at(plain.text.len());
        Sealed { text: text.to_vec(), tag: tag.try_into().unwrap() }
    };
    let sealed = plain.iter().map(seal).collect::<Vec<_>>();
    alone(&PlainLab, Steps::new(2, 200).unwrap(), &plain, &sealed);
}

/// Messages of one length under one key, with an IV each and associated data; ciphertexts and tags together.
fn unopened(
    key: &[u8],
    direction: Direction,
    ivs: &[Vec<u8>],
    aad: &[u8],
    texts: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    let columns = |values: &[Vec<u8>]| -> Vec<PlainByte> {
        (0..values[0].len()).map(|i| PlainByte::new(values.iter().map(|value| value[i]).collect())).collect()
    };
    let keys = cipher::expand(&mut Plain, &columns(&vec![key.to_vec(); texts.len()])).unwrap();
    let aad = columns(&vec![aad.to_vec(); texts.len()]);
    let e = &mut Plain;
    let (text, tag) =
        one_shot::gcm::crypt(e, &keys, direction, &columns(ivs), &aad, &columns(texts)).unwrap();
    let columns = Plain.reveal(text.into_iter().chain(tag).collect::<Vec<_>>()).unwrap();
    (0..texts.len()).map(|lane| columns.iter().map(|column| column[lane]).collect()).collect()
}

fn with_iv_of<N: ArraySize>(samples: &mut Samples, aad: usize, text: usize) {
    let reference = |key: &[u8], iv: &[u8], aad: &[u8], text: &[u8]| {
        let payload = Payload { msg: text, aad };
        let gcm = AesGcm::<aes::Aes128, N>::new_from_slice(key).unwrap();
        gcm.encrypt(iv.try_into().unwrap(), payload).unwrap()
    };
    let [key, iv, aad, text] = [16, N::USIZE, aad, text].map(|length| samples.bytes(length));
    let sealed = reference(&key, &iv, &aad, &text);
    let lanes = |value: &[u8]| vec![value.to_vec()];
    let (iv, text) = (lanes(&iv), lanes(&text));
    assert_eq!(unopened(&key, Direction::Encrypt, &iv, &aad, &text)[0], sealed, "IV of {} bytes", N::USIZE);
    let (ciphertext, tag) = sealed.split_at(text[0].len());
    let opened = unopened(&key, Direction::Decrypt, &iv, &aad, &lanes(ciphertext));
    assert_eq!(opened[0], [&text[0], tag].concat(), "IV of {} bytes", N::USIZE);
}

#[test]
fn messages_that_stay_shared() {
    let samples = &mut Samples::new(7);
    for (aad, text) in [(0, 0), (20, 0), (0, 16), (16, 33)] {
        with_iv_of::<U8>(samples, aad, text);
        with_iv_of::<U12>(samples, aad, text);
        with_iv_of::<U16>(samples, aad, text);
        with_iv_of::<U60>(samples, aad, text);
    }
    // several IVs of 12 bytes together, and no others
    let several = |samples: &mut Samples, length| [(); 3].map(|()| samples.bytes(length));
    let (key, aad, texts) = (samples.bytes(16), samples.bytes(5), several(samples, 18));
    let ivs = several(samples, 12);
    let together = unopened(&key, Direction::Encrypt, &ivs, &aad, &texts);
    for ((iv, text), sealed) in ivs.iter().zip(&texts).zip(together) {
        let one = unopened(&key, Direction::Encrypt, from_ref(iv), &aad, from_ref(text));
        assert_eq!(one[0], sealed);
    }
    let keys = cipher::expand(&mut Plain, &key.iter().map(|b| PlainByte::new(vec![*b])).collect::<Vec<_>>());
    let iv: Vec<PlainByte> = (0..16).map(|i| PlainByte::new(vec![i; 2])).collect();
    let refused = one_shot::gcm::crypt(&mut Plain, &keys.unwrap(), Direction::Encrypt, &iv, &[], &[]);
    assert!(matches!(refused, Err(divisi_core::Abort::Misuse { what: Misuse::LengthUnsupported, .. })));
}
