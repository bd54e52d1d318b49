//! Long messages in the clear: chains go on from block to block, and MACs hash whole lengths.

use crate::engine::Counting;
use divisi_core::{Bytes, Direction, Lanes, Opens, Plain, PlainByte};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::batch::{self, Messages, byte_values, gmac};
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::one_shot::gcm_siv::{self, NonceHead};
use divisi_symmetric::mode::{cbc, cmac, ctr, feedback};
use std::collections::BTreeSet;

/// How many blocks the messages have.
const BLOCKS: usize = 700;

/// One lane of bytes.
fn secret(bytes: &[u8]) -> Vec<PlainByte> {
    bytes.iter().map(|byte| Plain.public(&[*byte])).collect()
}

fn opened(bytes: Vec<PlainByte>) -> Vec<u8> {
    Plain.reveal(bytes).unwrap().concat()
}

fn key() -> RoundKeys<PlainByte> {
    aes::expand(&mut Plain, &secret(b"what nobody sees")).unwrap()
}

fn cipher(key: &RoundKeys<PlainByte>, block: &[u8]) -> Vec<u8> {
    opened(key.permute(&mut Plain, Direction::Encrypt, secret(block)).unwrap())
}

fn sum(x: &[u8], y: &[u8]) -> Vec<u8> {
    x.iter().zip(y).map(|(x, y)| x ^ y).collect()
}

fn text() -> Vec<u8> {
    (0..16 * BLOCKS).map(|i| (i * i % 251) as u8).collect()
}

/// CBC, CFB, OFB and CMAC of many blocks are what their equations say of each block.
#[test]
fn chains_of_many_blocks_go_on() {
    let (e, key, text, iv) = (&mut Plain, key(), text(), [0x5a; 16]);
    let columns: Vec<Vec<u8>> = iv.iter().map(|byte| vec![*byte]).collect();
    let message = secret(&text);
    let of_cbc = opened(cbc::encrypt(e, &key, &columns, &message).unwrap());
    let of_cfb = opened(feedback::cfb_encrypt(e, &key, 16, &columns, &message).unwrap());
    let of_ofb = opened(feedback::ofb(e, &key, &columns, &message).unwrap());
    let (mut by_cbc, mut by_cfb, mut by_ofb) = (iv.to_vec(), iv.to_vec(), iv.to_vec());
    // of CMAC without its last step, whose state is zero at first
    let mut by_cmac = vec![0; 16];
    for (i, block) in text.chunks(16).enumerate() {
        by_cbc = cipher(&key, &sum(&by_cbc, block));
        by_cfb = sum(&cipher(&key, &by_cfb), block);
        by_ofb = cipher(&key, &by_ofb);
        by_cmac = cipher(&key, &sum(&by_cmac, block));
        let place = 16 * i..16 * i + 16;
        assert_eq!(of_cbc[place.clone()], by_cbc, "{i}");
        assert_eq!(of_cfb[place.clone()], by_cfb, "{i}");
        assert_eq!(of_ofb[place], sum(&by_ofb, block), "{i}");
    }
    assert_eq!(opened(cmac::chain(e, &key, 1, &message).unwrap()), by_cmac);
    // whole and in pieces
    let key = cmac::CmacKey::new(e, key).unwrap();
    let whole = opened(key.tag(e, 1, &message).unwrap());
    for pieces in [1, 300, BLOCKS] {
        let mut chaining = key.begin(e, 1, &message).unwrap();
        while !chaining.is_done() {
            key.go_on(e, &mut chaining, pieces).unwrap();
        }
        assert_eq!(opened(chaining.tag()), whole, "{pieces}");
    }
    // in a batch, with and without a piece before
    let key = batch::cmac::prepare(e, &secret(b"what nobody sees")).unwrap();
    for before in [0, 300] {
        let (first, rest) = text.split_at(16 * before);
        let start = batch::cmac::initial(e);
        let first = batch::bits(e, secret(first)).unwrap();
        let state = batch::cmac::continued(e, &key, start, first).unwrap();
        let rest = Messages::public(e, &[rest]);
        let tag = batch::cmac::tag(e, &key, &state, 16 * before as u64, &rest).unwrap();
        assert_eq!(opened(byte_values(e, tag).unwrap()), whole, "{before}");
    }
}

/// What precedes each block of a long ciphertext, for decryption.
#[test]
fn before_each_block_is_the_one_before_it() {
    let text: Vec<u8> = (0..70_000_usize).map(|i| (i * i % 251) as u8).collect();
    let all = [&[7; 16][..], &text].concat();
    assert!(cbc::previous(&[7; 16], &text) == all[..text.len()]);
    assert!(feedback::cfb_inputs(&[7; 16], 16, &text) == all[..text.len()]);
}

/// The hash of zeros is that of their number alone, so that tags differ only if all of it is hashed.
#[test]
fn zeros_of_any_two_lengths_have_other_tags() {
    const LENGTHS: [usize; 8] = [0, 16, 32, 4096, 4112, 8192, 8208, 65_536];
    let e = &mut Plain;
    let zeros = vec![0; 65_536];
    let messages: Vec<&[u8]> = LENGTHS.iter().map(|length| &zeros[..*length]).collect();
    let of_gmac = gmac::prepare(e, &secret(b"what nobody sees")).unwrap();
    let (start, all) = (gmac::initial(e), Messages::public(e, &messages));
    let tags = gmac::tag(e, &of_gmac, &start, 0, &all, &[[3; 12]; LENGTHS.len()]).unwrap();
    let tags = Plain.reveal(byte_values(e, tags).unwrap()).unwrap();
    let tag = |l: usize| tags.iter().map(|column| column[l]).collect::<Vec<u8>>();
    assert_eq!((0..LENGTHS.len()).map(tag).collect::<BTreeSet<_>>().len(), LENGTHS.len());

    let key = key();
    let mut tags = BTreeSet::new();
    for (text, aad) in LENGTHS.iter().map(|n| (*n, 0)).chain(LENGTHS[1..].iter().map(|n| (0, *n))) {
        let head = NonceHead { nonce: [3; 12], aad: zeros[..aad].to_vec() };
        tags.insert(gcm_siv::seal(e, &key, &[head], &secret(&zeros[..text])).unwrap().0[0]);
    }
    assert_eq!(tags.len(), 2 * LENGTHS.len() - 1);
}

/// A key stream in pieces is the one without: each block under its own key and counter.
#[test]
fn pieces_of_key_streams_are_parts_of_the_whole() {
    let keys: Vec<PlainByte> = (0..16).map(|i| Plain.public(&[i, 3 * i, 7 * i])).collect();
    let keys = aes::expand(&mut Plain, &keys).unwrap();
    let counters = ctr::columns(&[9; 16], 250, 23);
    let index: Vec<usize> = (0..23).map(|i| i * i % 3).collect();
    for (keys, index) in [(keys.gather(&[1]).unwrap(), None), (keys, Some(&index[..]))] {
        let whole = ctr::pieced_keystream(&mut Plain, &keys, index, &counters).unwrap();
        let pieces = ctr::pieced_keystream(&mut Counting::default(), &keys, index, &counters).unwrap();
        let values = |stream: &[PlainByte; 16]| stream.each_ref().map(|byte| byte.values().to_vec());
        assert_eq!(values(&pieces), values(&whole));
    }
}
