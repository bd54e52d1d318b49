//! Messages of known answers that differ in anything public are other circuits, which parties compare.

use divisi_core::{Direction, Security};
use divisi_engine::job::{AnswersJob, Cipher, CipherMode, ModeMessage, ModesJob, OneShot};
use divisi_engine::{Engine, EngineSettings};
use divisi_program::adapter::MixedEngine;
use divisi_symmetric::aes::KeySize;
use std::collections::BTreeSet;

fn compared(mode: CipherMode, messages: Vec<ModeMessage>) -> [u8; 32] {
    let settings = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() }.among(3);
    let job = AnswersJob::Modes(ModesJob { mode, cipher: Cipher::Aes(KeySize::Aes128), messages });
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
