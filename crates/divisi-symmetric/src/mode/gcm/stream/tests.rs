//! Chunks of texts of known and unknown length, in turn.

use super::*;
use crate::mode::ghash::Steps;
use divisi_core::{Bytes, Plain};

fn key() -> MessagesKey<Plain> {
    let e = &mut Plain;
    let key: Vec<_> = (0..16).map(|i| e.public(&[7 * i])).collect();
    let round_keys = aes::expand(e, &key).unwrap();
    MessagesKey::new(e, round_keys, Steps::new(2, 2).unwrap()).unwrap()
}

fn columns(message: &[u8]) -> Vec<<Plain as Bytes>::Byte> {
    let column = |i: usize| message.iter().skip(i).step_by(16).copied().collect::<Vec<u8>>();
    (0..16).map(|i| Plain.public(&column(i))).collect()
}

/// A message in chunks of any length, under an IV of any length, has the same ciphertext and tag as the
/// whole message, and decrypts to it.
#[test]
fn chunks_are_parts_of_the_whole() {
    let (e, mut key, aad) = (&mut Plain, key(), b"whatever goes with it");
    let message: Vec<u8> = (0..167).collect();
    for iv in [&[1; 12][..], &[2; 8], &[3; 60]] {
        let (ciphertext, tag) = key.seal(e, iv, aad, &columns(&message)).unwrap();
        for chunk in [16, 48, 176] {
            let mut sealer = StreamSealer::new(e, &mut key, iv, aad, 167, chunk as u64).unwrap();
            let parts = message.chunks(chunk).map(|part| sealer.chunk(e, &key, &columns(part)).unwrap());
            assert_eq!(parts.collect::<Vec<_>>().concat(), ciphertext);
            assert_eq!(sealer.finish(e, &key).unwrap(), tag);
            let received = (TagLength::Bits128, TagLength::Bits128.element(&tag).unwrap());
            let mut opener = StreamOpener::new(e, &mut key, iv, aad, (167, chunk as u64), received).unwrap();
            ciphertext.chunks(chunk).for_each(|part| opener.absorb(e, &key, part).unwrap());
            assert!(opener.verify(e, &key).unwrap());
            let mut opened = Vec::new();
            for part in ciphertext.chunks(chunk) {
                let part = (opener.chunk(e, &key, part).unwrap(), part.len());
                let columns: Vec<_> = part.0.get().iter().map(|byte| byte.values().to_vec()).collect();
                opened.extend(interleaved(&columns, part.1).unwrap());
            }
            assert_eq!((opened, opener.done()), (message.clone(), 167));
        }
    }
}

/// No two blocks of a message, however long it is, have the same key stream: their numbers count in all
/// their bits.
#[test]
fn blocks_that_are_far_apart_have_key_streams_of_their_own() {
    let (e, mut key) = (&mut Plain, key());
    let mut seen = std::collections::BTreeSet::new();
    for iv in [&[1; 12][..], &[2; 8]] {
        let (course, _) = Course::new(e, &mut key, iv, b"", Some(LONGEST)).unwrap();
        for number in (0..32).map(|i| (1 << i) + 1).chain([1]) {
            let (stream, _) = course.stream(e, &key, number, 16, false).unwrap();
            let block: Vec<u8> = stream.iter().map(|byte| byte.values()[0]).collect();
            assert!(seen.insert(block), "block {number}");
        }
    }
}

/// A message whose length is said before its last chunk has the same ciphertext and tag as the whole
/// message, for every length of that chunk, before and behind each fold of the hash.
#[test]
fn a_text_of_unknown_length_is_sealed_as_any_other() {
    let (e, mut key) = (&mut Plain, key());
    for (length, aad) in (0..300).map(|length| (length, length % 50)).filter(|(n, _)| n % 7 < 2 || *n < 40) {
        let message: Vec<u8> = (0..length).map(|i| i as u8).collect();
        let aad = vec![3; aad];
        let (ciphertext, tag) = key.seal(e, &[1; 12], &aad, &columns(&message)).unwrap();
        for chunk in [16, 48] {
            let mut sealer = StreamSealer::open_ended(e, &mut key, &[1; 12], &aad, chunk as u64).unwrap();
            let mut sealed = Vec::new();
            let chunks: Vec<&[u8]> = message.chunks(chunk).collect();
            for (at, part) in chunks.iter().enumerate() {
                if at + 1 == chunks.len() {
                    sealer.end_at(length as u64).unwrap();
                }
                // whole blocks of the chunk, then the rest of it
                let cut = if part.len() > 16 { 16 } else { part.len() };
                for part in [&part[..cut], &part[cut..]].into_iter().filter(|part| !part.is_empty()) {
                    sealed.extend(sealer.chunk(e, &key, &columns(part)).unwrap());
                }
            }
            if chunks.is_empty() {
                sealer.end_at(0).unwrap();
            }
            assert_eq!((sealed, sealer.done()), (ciphertext.clone(), length as u64));
            assert_eq!(sealer.finish(e, &key).unwrap(), tag, "{length} bytes, chunks of {chunk}");
        }
    }
}

#[test]
fn an_end_is_in_the_next_chunk() {
    let (e, mut key) = (&mut Plain, key());
    let misuse = |result: Result<(), Abort>| matches!(result, Err(Abort::Misuse { .. }));
    let mut sealer = StreamSealer::open_ended(e, &mut key, &[1; 12], b"", 32).unwrap();
    // a part of a chunk whose end was not said, and a tag without an end
    assert!(misuse(sealer.chunk(e, &key, &columns(&[0; 31])).map(drop)));
    sealer.chunk(e, &key, &columns(&[0; 16])).unwrap();
    // in the middle of a chunk
    assert!(misuse(sealer.end_at(32)));
    sealer.chunk(e, &key, &columns(&[0; 16])).unwrap();
    for wrong in [0, 31, 32, 65, u64::MAX] {
        assert!(misuse(sealer.end_at(wrong)), "{wrong}");
    }
    sealer.end_at(33).unwrap();
    assert!(misuse(sealer.end_at(34)));
    assert!(misuse(sealer.chunk(e, &key, &columns(&[0; 16])).map(drop)));
    assert!(misuse(sealer.finish(e, &key).map(drop)));
    let sealer = StreamSealer::open_ended(e, &mut key, &[1; 12], b"", 32).unwrap();
    assert!(misuse(sealer.finish(e, &key).map(drop)), "no end was said");
    let mut known = StreamSealer::new(e, &mut key, &[1; 12], b"", 33, 32).unwrap();
    assert!(misuse(known.end_at(33)));
}

#[test]
fn what_is_out_of_turn_is_refused() {
    let (e, mut key) = (&mut Plain, key());
    let misuse = |result: Result<(), Abort>| matches!(result, Err(Abort::Misuse { .. }));
    assert!(misuse(StreamSealer::new(e, &mut key, &[1; 12], b"", 40, 24).map(drop)));
    let mut sealer = StreamSealer::new(e, &mut key, &[1; 12], b"", 40, 32).unwrap();
    // not whole blocks before the end, nothing, and more than a chunk
    for bytes in [17, 0, 40] {
        assert!(misuse(sealer.chunk(e, &key, &columns(&vec![0; bytes])).map(drop)), "{bytes}");
    }
    // as many bytes in other columns
    let column = |lanes: usize| Plain.public(&vec![0; lanes]);
    let mut moved = columns(&[0; 32]);
    (moved[1], moved[2]) = (column(1), column(3));
    let is_unfit = |result: Result<Vec<u8>, Abort>| {
        matches!(result, Err(Abort::Misuse { step: MESSAGE, what: Misuse::LengthDiffers }))
    };
    let mut whole = StreamSealer::new(e, &mut key, &[1; 12], b"", 128, 64).unwrap();
    whole.chunk(e, &key, &columns(&[0; 64])).unwrap();
    assert!(is_unfit(whole.chunk(e, &key, &moved)));
    assert!(misuse(sealer.finish(e, &key).map(drop)));
    let right = (TagLength::Bits128, 1);
    let mut opener = StreamOpener::new(e, &mut key, &[1; 12], b"", (16, 32), right).unwrap();
    assert!(misuse(opener.chunk(e, &key, &[0; 16]).map(drop)));
    opener.absorb(e, &key, &[0; 16]).unwrap();
    assert!(!opener.verify(e, &key).unwrap());
    assert!(misuse(opener.absorb(e, &key, &[0; 16])));
    assert!(misuse(opener.verify(e, &key).map(drop)));
    assert!(misuse(opener.chunk(e, &key, &[0; 16]).map(drop)));
}

/// No message goes on beyond the longest one, whose counters are the last ones, whether it said its length or
/// not.
#[test]
fn no_message_is_longer_than_the_longest() {
    for length in [None, Some(LONGEST)] {
        let begun = |done: u64| Pace { done, ..Pace::new(length, 1 << 40).unwrap() };
        assert_eq!(begun(LONGEST - 32).next(32).unwrap(), u32::MAX - 2, "{length:?}");
        let mut last = begun(LONGEST - 16);
        assert_eq!(last.next(16).unwrap(), u32::MAX - 1, "{length:?}");
        for (mut pace, bytes) in [(last, 16), (begun(LONGEST - 32), 48), (begun(LONGEST - 16), 32)] {
            assert!(matches!(pace.next(bytes), Err(Abort::Misuse { .. })), "{length:?}, {bytes} bytes");
        }
    }
}
