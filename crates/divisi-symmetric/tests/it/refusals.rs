//! Lengths and lanes that do not fit are refused, also where they are alike in eight bits.

use divisi_core::{Abort, Direction, Misuse, Plain, PlainByte};
use divisi_symmetric::aes;
use divisi_symmetric::batch::Messages;
use divisi_symmetric::batch::block::BlockKey;
use divisi_symmetric::batch::chains;
use divisi_symmetric::batch::gmac;
use divisi_symmetric::batch::triple::TripleByProgram;
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::one_shot::gcm_siv::{self, NonceHead};
use divisi_symmetric::mode::one_shot::wrap::{WrapForm, Wrapping};

/// So many bytes, each with so many lanes.
fn bytes(count: usize, lanes: usize) -> Vec<PlainByte> {
    (0..count).map(|i| PlainByte::new(vec![i as u8; lanes])).collect()
}

fn is_refused<T>(result: Result<T, Abort>, why: Misuse) -> bool {
    matches!(result, Err(Abort::Misuse { what, .. }) if what == why)
}

#[test]
fn keys_and_blocks_have_their_lengths() {
    for length in [0, 8, 15, 17, 23, 25, 256 + 16, 256 + 24] {
        let key = TripleByProgram::<Plain>::new(bytes(length, 1));
        assert!(is_refused(key, Misuse::LengthUnsupported), "{length}");
    }
    for length in [16, 24] {
        assert!(TripleByProgram::<Plain>::new(bytes(length, 1)).is_ok());
    }
    let key = BlockKey::<Plain>::new(bytes(16, 1)).unwrap();
    for length in [0, 15, 17, 256 + 16] {
        let block = key.permute(&mut Plain, Direction::Encrypt, bytes(length, 1));
        assert!(is_refused(block, Misuse::BlockLength), "{length}");
    }
    assert!(key.permute(&mut Plain, Direction::Encrypt, bytes(16, 1)).is_ok());
}

/// What has one message is released at once, and several are not taken for one.
#[test]
fn one_message_is_released_at_a_time() {
    for lanes in [1, 2, 257] {
        let mut wrapping =
            Wrapping::new(&mut Plain, WrapForm::Kw, Direction::Decrypt, false, &bytes(24, lanes)).unwrap();
        while !wrapping.is_done() {
            chains::wrap_on(&mut Plain, &bytes(16, lanes), &mut wrapping, chains::TOGETHER).unwrap();
        }
        let released = wrapping.unwrapped(&mut Plain).unwrap().release_one(&mut Plain);
        assert_eq!(is_refused(released, Misuse::CountsDiffer), lanes > 1, "{lanes}");
    }
}

#[test]
fn messages_together_have_associated_data_of_one_length() {
    let key = aes::expand(&mut Plain, &bytes(16, 1)).unwrap();
    let sealed = |lengths: &[usize]| {
        let head = |length: &usize| NonceHead { nonce: [7; 12], aad: vec![1; *length] };
        let heads: Vec<NonceHead> = lengths.iter().map(head).collect();
        gcm_siv::seal(&mut Plain, &key, &heads, &bytes(5, lengths.len()))
    };
    assert!(sealed(&[3, 3]).is_ok());
    for lengths in [&[3, 4][..], &[3, 3, 259], &[0, 256]] {
        assert!(is_refused(sealed(lengths), Misuse::MessageUnfit), "{lengths:?}");
    }
}

#[test]
fn keys_of_gmac_are_one_or_as_many_as_messages() {
    for (keys, messages) in [(1, 3), (3, 3), (2, 3), (257, 1), (259, 3)] {
        let key = gmac::prepare(&mut Plain, &bytes(16, keys)).unwrap();
        let state = gmac::initial(&mut Plain);
        let messages = Messages::new(Vec::new(), vec![0; messages]).unwrap();
        let hash = gmac::hash(&mut Plain, &key, &state, 0, &messages);
        assert_eq!(is_refused(hash, Misuse::CountsDiffer), keys == 2 || keys > 256, "{keys}");
    }
}
