//! Messages of known answers that differ in anything public are other circuits, which parties compare.

use divisi_core::{Direction, Security};
use divisi_engine::job::{
    AnswersJob, Cipher, CipherMode, MessagesJob, ModeMessage, ModesJob, OneShot, PublicMessage,
};
use divisi_engine::{Engine, EngineSettings};
use divisi_program::adapter::MixedEngine;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Settings;
use std::collections::BTreeSet;

fn compared(mode: CipherMode, messages: Vec<ModeMessage>) -> [u8; 32] {
    compared_of(AnswersJob::Modes(ModesJob { mode, cipher: Cipher::Aes(KeySize::Aes128), messages }))
}

fn compared_of(job: AnswersJob) -> [u8; 32] {
    let settings = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() }.among(3);
    MixedEngine.jobs().answers.unwrap().prepare(&job, &settings).unwrap().parameters(2).digest()
}

/// The last byte of whatever is a constant of a circuit counts, in the second of two messages.
#[test]
fn public_data_of_messages_are_agreed_on() {
    let of = |iv: usize, bytes: usize, aad: usize, tag: usize| ModeMessage {
        direction: Direction::Decrypt,
        iv: vec![1; iv],
        aad: vec![2; aad],
        bytes,
        spare_bits: 0,
        tag_bytes: tag,
        sealed: Some((vec![3; bytes], vec![4; tag])),
    };
    for (mode, one) in [
        (CipherMode::OneShot(OneShot::Ccm), of(12, 20, 20, 16)),
        (CipherMode::OneShot(OneShot::Siv), of(12, 20, 20, 16)),
        (CipherMode::Cbc, of(16, 32, 0, 0)),
    ] {
        let mut all = vec![one.clone(); 5];
        all[1].iv.last_mut().iter_mut().for_each(|byte| **byte ^= 1);
        all[2].aad.last_mut().iter_mut().for_each(|byte| **byte ^= 1);
        let [text, tag] = all.get_disjoint_mut([3, 4]).unwrap();
        text.sealed.iter_mut().for_each(|(text, _)| text.last_mut().iter_mut().for_each(|byte| **byte ^= 1));
        tag.sealed.iter_mut().for_each(|(_, tag)| tag.last_mut().iter_mut().for_each(|byte| **byte ^= 1));
        // CBC has neither associated data nor a tag
        let different = if mode == CipherMode::Cbc { 3 } else { 5 };
        let digests = all.into_iter().map(|changed| compared(mode, vec![one.clone(), changed]));
        assert_eq!(digests.collect::<BTreeSet<_>>().len(), different, "{mode:?}");
    }
}

/// So do the cipher and the function, if all lengths are the same.
#[test]
fn the_function_of_messages_is_agreed_on() {
    let message = PublicMessage { bytes: 20, spare_bits: 0, nonce: Vec::new(), makes: true, received: None };
    let digests = ["cmac-aes128", "kmac128", "kmac256"].map(|name| {
        let using = Settings { output_bytes: 16, ..Settings::new(name.parse().unwrap()) };
        let messages = vec![message.clone()];
        compared_of(AnswersJob::Messages(MessagesJob { using, key_bytes: 16, messages }))
    });
    assert_eq!(BTreeSet::from(digests).len(), 3);
    let blocks = ModeMessage {
        direction: Direction::Encrypt,
        iv: Vec::new(),
        aad: Vec::new(),
        bytes: 48,
        spare_bits: 0,
        tag_bytes: 0,
        sealed: None,
    };
    let digests = KeySize::ALL.map(|size| {
        let (mode, cipher) = (CipherMode::Ecb, Cipher::Aes(size));
        compared_of(AnswersJob::Modes(ModesJob { mode, cipher, messages: vec![blocks.clone()] }))
    });
    assert_eq!(BTreeSet::from(digests).len(), KeySize::ALL.len());
}

/// The same of MACs: the last byte of an IV, the length, and whether a tag is made or compared.
#[test]
fn initial_vectors_of_macs_are_agreed_on() {
    let one = PublicMessage { bytes: 20, spare_bits: 0, nonce: vec![1; 12], makes: true, received: None };
    let mut last = vec![1; 11];
    last.push(2);
    let all = [
        one.clone(),
        PublicMessage { nonce: last, ..one.clone() },
        PublicMessage { nonce: vec![1; 13], ..one.clone() },
        PublicMessage { bytes: 21, ..one.clone() },
        PublicMessage { received: Some(vec![0; 16]), ..one.clone() },
        PublicMessage { makes: false, received: Some(vec![0; 16]), ..one.clone() },
    ];
    let digest = |changed: PublicMessage| {
        let using = Settings::new("gmac-aes128".parse().unwrap());
        let messages = vec![one.clone(), changed];
        compared_of(AnswersJob::Messages(MessagesJob { using, key_bytes: 16, messages }))
    };
    let digests: BTreeSet<[u8; 32]> = all.iter().cloned().map(digest).collect();
    assert_eq!(digests.len(), all.len());
}
