//! The engine in the clear, watched: what the modes open is what they return, and nothing else; and in an
//! engine that takes few blocks at once they compute the same.

use crate::engine::{Counting, sorted};
use divisi_core::{Bytes, Plain, PlainByte};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::engines::{GcmEngine, Releases};
use divisi_symmetric::mode::gcm::{
    self, GcmBatch, GcmItem, GcmPayload, MessagesKey, Outcome, StreamOpener, StreamSealer, TagLength,
};
use divisi_symmetric::mode::ghash::Steps;
use divisi_symmetric::mode::one_shot::{ccm, gcm_siv, siv, wrap};
use std::slice::from_ref;

/// One lane of each byte.
fn secret<E: Bytes>(e: &mut E, bytes: &[u8]) -> Vec<E::Byte> {
    bytes.iter().map(|byte| e.public(&[*byte])).collect()
}

/// The columns of a message in blocks.
fn columns<E: Bytes>(e: &mut E, text: &[u8]) -> Vec<E::Byte> {
    (0..16).map(|i| e.public(&text.iter().skip(i).step_by(16).copied().collect::<Vec<u8>>())).collect()
}

fn text(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * i % 251) as u8).collect()
}

fn key(e: &mut Counting) -> RoundKeys<PlainByte> {
    let key = secret(e, b"what nobody sees");
    aes::expand(e, &key).unwrap()
}

fn item(payload: GcmPayload<'_>, iv: usize) -> GcmItem<'_> {
    GcmItem { key: 0, iv: [iv as u8; 12], aad: b"public", tag_length: TagLength::Bits128, payload }
}

/// What becomes of these messages, with the plaintexts of those that are encrypted.
fn run<E: GcmEngine>(e: &mut E, items: &[GcmItem<'_>], texts: &[&[u8]]) -> Vec<Outcome> {
    let key = secret(e, b"what nobody sees");
    let (keys, h) = gcm::expand(e, &key).unwrap();
    let batch = GcmBatch::new(items).unwrap();
    batch.outcomes(e, &keys, &h, |e, i| Ok(e.public(&batch.column(i, |k| texts[k])))).unwrap()
}

/// The same, of which nothing was opened but what is returned, and zeros for what a short tag leaves out.
fn outcomes(items: &[GcmItem<'_>], texts: &[&[u8]]) -> Vec<Outcome> {
    let e = &mut Counting::default();
    let outcomes = run(e, items, texts);
    assert_eq!(outcomes, run(&mut Plain, items, texts));
    let returned = outcomes.iter().map(|outcome| match outcome {
        Outcome::Sealed(ciphertext, tag) => [&ciphertext[..], tag, &vec![0; 16 - tag.len()]].concat(),
        Outcome::Opened(plaintext) => plaintext.clone(),
        Outcome::Invalid => Vec::new(),
    });
    assert_eq!(e.opened(), sorted(returned.collect::<Vec<_>>().concat()));
    outcomes
}

/// Of a batch the ciphertexts, the tags and those plaintexts are opened whose tags were right: no byte of key
/// stream beyond them, no mask of a tag, and nothing of a message that is refused.
#[test]
fn batches_open_what_they_return() {
    let texts = [0, 1, 16, 37, 48, 100].map(text);
    for (i, text) in texts.iter().enumerate() {
        let sealed = outcomes(&[item(GcmPayload::Plain(text.len()), i)], &[text]);
        let [Outcome::Sealed(ciphertext, tag)] = &sealed[..] else { panic!() };
        let tag = TagLength::Bits128.element(tag).unwrap();
        let received = |tag| item(GcmPayload::Cipher { ciphertext, tag }, i);
        let (right, wrong) = (Outcome::Opened(text.clone()), Outcome::Invalid);
        assert_eq!(outcomes(&[received(tag)], &[&[]]), from_ref(&right));
        assert_eq!(outcomes(&[received(tag ^ 1)], &[&[]]), from_ref(&wrong));
        // beside others
        let all =
            [received(tag ^ 1), item(GcmPayload::Plain(text.len()), 9), received(tag), received(tag ^ 2)];
        let found = outcomes(&all, &[&[], text, &[], &[]]);
        assert_eq!([&found[0], &found[2], &found[3]], [&wrong, &right, &wrong]);
    }
    let sealing: Vec<GcmItem<'_>> =
        texts.iter().enumerate().map(|(i, text)| item(GcmPayload::Plain(text.len()), i)).collect();
    outcomes(&sealing, &texts.each_ref().map(Vec::as_slice));
}

/// Of a tag of any length its own bytes are opened, by itself and beside all others.
#[test]
fn of_short_tags_nothing_else_is_opened() {
    let mut lengths = [&TagLength::SHORT[..], &TagLength::ALL].concat();
    let text = text(21);
    let of = |tag_length: &TagLength| GcmItem {
        tag_length: *tag_length,
        ..item(GcmPayload::Plain(text.len()), tag_length.bytes())
    };
    lengths.iter().for_each(|length| drop(outcomes(&[of(length)], &[&text])));
    // whichever is the first
    for _ in 0..lengths.len() {
        lengths.rotate_left(1);
        outcomes(&lengths.iter().map(of).collect::<Vec<_>>(), &vec![&text[..]; lengths.len()]);
    }
}

/// The same of messages by themselves, and of modes whose tags are opened before the rest.
#[test]
fn messages_open_what_they_return() {
    let e = &mut Counting::default();
    let round_keys = key(e);
    let mut of_gcm = MessagesKey::new(e, round_keys.clone(), Steps::new(2, 2).unwrap()).unwrap();
    let of_siv = siv::SivKey::from_round_keys(e, round_keys.clone(), round_keys.clone()).unwrap();
    let (strings, siv_head) = ([vec![vec![1; 5]]], gcm_siv::NonceHead { nonce: [7; 12], aad: vec![1; 3] });
    let ccm_head = [ccm::Head { nonce: vec![7; 12], aad: vec![1; 3] }];
    for text in [1, 16, 37, 160].map(text) {
        let message = secret(e, &text);
        for iv in [12, 13, 60] {
            let columns = columns(e, &text);
            let (ciphertext, tag) = of_gcm.seal(e, &vec![9; iv], b"public", &columns).unwrap();
            assert_eq!(e.opened(), sorted([&ciphertext[..], &tag].concat()));
            for wrong in [0, 1] {
                let tag = tag.map(|byte| byte ^ wrong);
                let opened = of_gcm.open(e, &vec![9; iv], b"public", &ciphertext, &tag).unwrap();
                assert_eq!((opened.is_some(), e.opened()), (wrong == 0, Vec::new()));
            }
        }
        let (ivs, _) = of_siv.seal(e, 1, &strings, &message).unwrap();
        assert_eq!(e.opened(), sorted(ivs.concat()));
        let (tags, _) = gcm_siv::seal(e, &round_keys, from_ref(&siv_head), &message).unwrap();
        assert_eq!(e.opened(), sorted(tags.concat()));
        ccm::seal(e, &round_keys, &ccm_head, 16, &message).unwrap();
        let released = [
            of_siv.open(e, &strings, &[[3; 16]], from_ref(&text)).unwrap(),
            gcm_siv::open(e, &round_keys, from_ref(&siv_head), from_ref(&text), &[[3; 16]]).unwrap(),
            ccm::open(e, &round_keys, &ccm_head, from_ref(&text), &[vec![3; 16]]).unwrap(),
        ];
        for undecided in released {
            assert!(undecided.release_one(e).unwrap().is_none());
        }
        assert!(e.opened().is_empty());
    }
    let wrapped = secret(e, &text(40));
    let released = wrap::unwrap(e, &round_keys, wrap::WrapForm::Kwp, false, &wrapped).unwrap();
    assert!(released.release_one(e).unwrap().is_none());
    assert!(e.opened().is_empty());
}

/// Ciphertext, tag and plaintext of a message in chunks, or in one.
fn in_chunks<E: GcmEngine + Releases>(e: &mut E, iv: &[u8], text: &[u8], chunk: usize) -> Vec<Vec<u8>> {
    let key = secret(e, b"what nobody sees");
    let key = aes::expand(e, &key).unwrap();
    let mut key = MessagesKey::new(e, key, Steps::new(2, 2).unwrap()).unwrap();
    let (length, size) = (text.len() as u64, chunk as u64);
    let mut sealer = StreamSealer::new(e, &mut key, iv, b"public", length, size).unwrap();
    let mut ciphertext = Vec::new();
    for piece in text.chunks(chunk) {
        let piece = columns(e, piece);
        ciphertext.extend(sealer.chunk(e, &key, &piece).unwrap());
    }
    let tag = sealer.finish(e, &key).unwrap();
    let received = (TagLength::Bits128, TagLength::Bits128.element(&tag).unwrap());
    let mut opener = StreamOpener::new(e, &mut key, iv, b"public", (length, size), received).unwrap();
    ciphertext.chunks(chunk).for_each(|piece| opener.absorb(e, &key, piece).unwrap());
    assert!(opener.verify(e, &key).unwrap());
    let mut plaintext = Vec::new();
    for piece in ciphertext.chunks(chunk) {
        let opened = opener.chunk(e, &key, piece).unwrap();
        plaintext.extend(gcm::interleaved(&e.open(opened).unwrap(), piece.len()).unwrap());
    }
    vec![ciphertext, tag.to_vec(), plaintext]
}

/// A key stream is made in pieces, and each piece goes on where the one before it ended, under IVs of any
/// length.
#[test]
fn pieces_of_messages_are_parts_of_the_whole() {
    for (blocks, chunk) in [(3, 4), (6, 8), (9, 16), (23, 32), (23, 10)] {
        for iv in [12, 16, 60] {
            let (iv, text) = (vec![9; iv], text(16 * blocks - 5));
            let whole = in_chunks(&mut Plain, &iv, &text, 16 * chunk);
            assert_eq!(whole[2], text);
            assert_eq!(
                in_chunks(&mut Counting::default(), &iv, &text, 16 * chunk),
                whole,
                "{blocks}, {chunk}"
            );
        }
    }
}
