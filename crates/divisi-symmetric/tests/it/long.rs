//! Long messages in the clear: chains go on from block to block, and MACs hash whole lengths.

use crate::engine::Counting;
use divisi_core::{Bytes, Direction, Lanes, Opens, Plain, PlainByte};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::batch::{self, Messages, byte_values, gmac};
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::gcm::MessagesKey;
use divisi_symmetric::mode::ghash::Steps;
use divisi_symmetric::mode::one_shot::gcm_siv::{self, NonceHead};
use divisi_symmetric::mode::one_shot::siv::SivKey;
use divisi_symmetric::mode::one_shot::{ccm, gcm, xts};
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

    // of GCM the ciphertext is hashed: zeros are decrypted
    let iv = secret(&[3; 12]);
    let mut tags = BTreeSet::new();
    let lengths = &LENGTHS[..6];
    for (text, aad) in lengths.iter().map(|n| (*n, 0)).chain(lengths[1..].iter().map(|n| (0, *n))) {
        let [text, aad] = [text, aad].map(|length| secret(&zeros[..length]));
        let (_, tag) = gcm::crypt(e, &key, Direction::Decrypt, &iv, &aad, &text).unwrap();
        tags.insert(opened(tag.to_vec()));
    }
    assert_eq!(tags.len(), 2 * lengths.len() - 1);
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

/// The ciphertext of many blocks of zeros has no block twice, in any mode: what covers a block covers no
/// other one.
#[test]
fn no_block_of_a_long_message_is_covered_as_another() {
    const MANY: usize = 258;
    let (e, key) = (&mut Plain, key());
    let zeros = secret(&[0; 16 * MANY]);
    let block: Vec<Vec<u8>> = vec![vec![0x5a]; 16];
    let heads = [NonceHead { nonce: [3; 12], aad: Vec::new() }];
    let ccm_heads = [ccm::Head { nonce: vec![3; 12], aad: Vec::new() }];
    let siv = SivKey::from_round_keys(e, key.clone(), key.clone()).unwrap();
    let tweak = [vec![3; 16]];
    let mut found = vec![
        ("SIV", opened(siv.stream(e, &[[0x5a; 16]], 16 * MANY).unwrap())),
        (
            "SIV in a program",
            opened(batch::chains::siv_stream(e, &secret(&[7; 16]), [9; 16], 16 * MANY).unwrap()),
        ),
        ("GCM-SIV", opened(gcm_siv::seal(e, &key, &heads, &zeros).unwrap().1)),
        ("CCM", opened(ccm::seal(e, &key, &ccm_heads, 16, &zeros).unwrap())),
        ("CBC", opened(cbc::encrypt(e, &key, &block, &zeros).unwrap())),
        ("CFB", opened(feedback::cfb_encrypt(e, &key, 16, &block, &zeros).unwrap())),
        ("OFB", opened(feedback::ofb(e, &key, &block, &zeros).unwrap())),
    ];
    let bits = 128 * MANY;
    found.push((
        "XTS",
        opened(xts::crypt(e, [&key, &key], Direction::Encrypt, &tweak, bits, &zeros).unwrap()),
    ));
    let columns: Vec<PlainByte> = (0..16).map(|_| e.public(&[0; MANY])).collect();
    let mut of_gcm = MessagesKey::new(e, key.clone(), Steps::new(16, 16).unwrap()).unwrap();
    for iv in [&[3; 12][..], &[3; 8]] {
        found.push(("GCM", of_gcm.seal(e, iv, &[], &columns).unwrap().0));
        let shared = gcm::crypt(e, &key, Direction::Encrypt, &secret(iv), &[], &zeros);
        found.push(("GCM that stays shared", opened(shared.unwrap().0)));
    }
    for (mode, ciphertext) in found {
        let blocks: BTreeSet<&[u8]> = ciphertext.chunks(16).take(MANY).collect();
        assert_eq!(blocks.len(), MANY, "{mode}");
    }
}
