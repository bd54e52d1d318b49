//! Random messages against the crate `aes-gcm`: each by itself, in so few steps that giant steps and
//! intermediate folds are exercised, and all in batches.

use aes::cipher::consts::U12;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm};
use divisi_core::testing::PlainLab;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::mode::ghash::Steps;
use divisi_symmetric::suite::{GcmMessage, Samples, Sealed, alone, in_batches};
use proptest::prelude::*;

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
