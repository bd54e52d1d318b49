//! Lengths and lanes that do not fit are refused, also where they are alike in eight bits.

use divisi_core::{Abort, Direction, Misuse, Opens as _, Plain, PlainBit, PlainBlock, PlainByte};
use divisi_symmetric::aes::{self, KeySize};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::block::BlockKey;
use divisi_symmetric::batch::chains;
use divisi_symmetric::batch::gmac;
use divisi_symmetric::batch::kmac;
use divisi_symmetric::batch::triple::TripleByProgram;
use divisi_symmetric::batch::{self, Messages};
use divisi_symmetric::des::{TripleKey, has_equal_keys};
use divisi_symmetric::gates::Adder;
use divisi_symmetric::hash::Hash;
use divisi_symmetric::mac::hmac::PadStates;
use divisi_symmetric::mac::kmac::{Kmac, OutputLength};
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::feedback;
use divisi_symmetric::mode::gcm::MessagesKey;
use divisi_symmetric::mode::ghash::Steps;
use divisi_symmetric::mode::one_shot::gcm_siv::{self, NonceHead};
use divisi_symmetric::mode::one_shot::wrap::{WrapForm, Wrapping, kw_takes};
use divisi_symmetric::mode::one_shot::{ccm, xts};

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
    let key = TripleByProgram::<Plain>::new(bytes(24, 1)).unwrap();
    for length in [0, 7, 8, 9, 16, 256 + 8] {
        let block = key.permute(&mut Plain, Direction::Encrypt, bytes(length, 1));
        assert_eq!(is_refused(block, Misuse::BlockLength), length != 8, "{length}");
    }
}

/// KW takes two halves of a block or more.
#[test]
fn keys_that_are_wrapped_have_their_lengths() {
    for length in 0..=40 {
        let wrapping =
            Wrapping::new(&mut Plain, WrapForm::Kw, Direction::Encrypt, false, &bytes(length, 1)).map(drop);
        let takes = [16, 24, 32, 40].contains(&length);
        assert_eq!((kw_takes(length), wrapping.is_ok()), (takes, takes), "{length}");
    }
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

/// Columns for the longest message, whichever it is, and lanes for all.
#[test]
fn batches_have_columns_for_their_longest_message() {
    let columns = |count: usize, lanes: usize| -> Vec<[PlainBit; 8]> {
        (0..count).map(|_| std::array::from_fn(|_| PlainBit::new(&vec![false; lanes]))).collect()
    };
    for (lengths, longest) in [(&[8, 16, 3][..], 2), (&[16, 8, 3], 2), (&[3, 8, 17], 3), (&[0, 0, 0], 0)] {
        for count in 0..4 {
            let made = Messages::<Plain>::of_bits(columns(count, 3), lengths.to_vec());
            assert_eq!(is_refused(made, Misuse::LengthDiffers), count < longest, "{lengths:?} {count}");
        }
        for lanes in [1, 2, 4, 3 + 256] {
            let made = Messages::<Plain>::of_bits(columns(3, lanes), lengths.to_vec());
            assert!(is_refused(made, Misuse::LengthDiffers), "{lengths:?} {lanes}");
        }
    }
    for (lengths, whole) in
        [(vec![8, 16], true), (vec![8, 11], false), (vec![4, 8], false), (vec![8 * 256 + 1; 2], false)]
    {
        let messages = Messages::<Plain>::of_bits(columns(257, 2), lengths.clone()).unwrap();
        let bytes = messages.whole_bytes();
        assert_eq!(is_refused(bytes, Misuse::LengthUnsupported), !whole, "{lengths:?}");
    }
}

/// Initial vectors of GMAC: one for each message, with a byte at least, and all of the usual length or none.
#[test]
fn initial_vectors_of_gmac_fit_their_messages() {
    let key = gmac::prepare(&mut Plain, &bytes(16, 1)).unwrap();
    let state = gmac::initial(&mut Plain);
    let messages = Messages::public(&mut Plain, &[b"one", b"two"]);
    let tags = |lengths: &[usize]| {
        let ivs: Vec<Vec<u8>> = lengths.iter().map(|length| vec![7; *length]).collect();
        let ivs: Vec<&[u8]> = ivs.iter().map(Vec::as_slice).collect();
        gmac::tag_with(&mut Plain, &key, &state, 0, &messages, &ivs)
    };
    assert!([[12, 12], [5, 5], [13, 20]].iter().all(|lengths| tags(lengths).is_ok()));
    for lengths in [[0, 5], [5, 0], [0, 0], [12, 5], [5, 12], [12, 0]] {
        assert!(is_refused(tags(&lengths), Misuse::LengthUnsupported), "{lengths:?}");
    }
    for lengths in [&[12][..], &[5, 5, 5], &[12; 258]] {
        assert!(is_refused(tags(lengths), Misuse::CountsDiffer), "{lengths:?}");
    }
}

/// A message in pieces has the tag that it has at once, also with an initial vector of any length.
#[test]
fn pieces_count_for_tags_of_long_initial_vectors() {
    let key = gmac::prepare(&mut Plain, &bytes(16, 1)).unwrap();
    let text: Vec<u8> = (0..gmac::BLOCK * gmac::POWERS + 21).map(|i| i as u8).collect();
    let (piece, rest) = text.split_at(gmac::BLOCK * gmac::POWERS);
    for iv in [&[7; 12][..], &[7; 5], &[7; 33]] {
        let start = gmac::initial(&mut Plain);
        let whole = Messages::public(&mut Plain, &[&text]);
        let tag = |state: &[_], before, messages: &Messages<Plain>| {
            let tag = gmac::tag_with(&mut Plain, &key, state, before, messages, &[iv]).unwrap();
            Plain.reveal(tag.into_iter().flatten().collect::<Vec<PlainBit>>()).unwrap()
        };
        let columns =
            piece.iter().map(|byte| std::array::from_fn(|i| PlainBit::new(&[byte >> i & 1 == 1]))).collect();
        let state = gmac::continued(&mut Plain, &key, start.clone(), columns).unwrap();
        let rest = Messages::public(&mut Plain, &[rest]);
        assert!(tag(&start, 0, &whole) == tag(&state, piece.len() as u64, &rest), "{iv:?}");
    }
}

#[test]
fn keys_of_aes_have_three_sizes() {
    for bits in (0..=600).chain([128 + 65536, 256 + 65536]) {
        let size = [(128, KeySize::Aes128), (192, KeySize::Aes192), (256, KeySize::Aes256)]
            .into_iter()
            .find(|(known, _)| *known == bits)
            .map(|(_, size)| size);
        assert_eq!(KeySize::from_bits(bits), size, "{bits}");
        if bits % 8 == 0 {
            assert_eq!(KeySize::from_bytes(bits / 8), size, "{bits}");
        }
    }
}

/// Each byte and bit of a key has as many lanes as the first one.
#[test]
fn keys_have_one_number_of_lanes() {
    for at in 1..16 {
        for lanes in [1, 3] {
            let mut key = bytes(16, 2);
            key[at] = PlainByte::new(vec![0; lanes]);
            // before anything is computed
            let Err(Abort::Misuse { step, what: Misuse::LanesDiffer }) = aes::expand(&mut Plain, &key) else {
                panic!("{at} {lanes}");
            };
            assert!(step.name.ends_with("/expand"), "{at} {lanes}: {step:?}");
        }
    }
    let mut bits = vec![PlainBit::new(&[true; 2]); 128];
    assert!(TripleKey::new(&bits).is_ok());
    for at in [1, 8, 64, 127] {
        let bit = std::mem::replace(&mut bits[at], PlainBit::new(&[true]));
        assert!(is_refused(TripleKey::new(&bits), Misuse::LanesDiffer), "{at}");
        bits[at] = bit;
    }
}

#[test]
fn equal_keys_of_triple_des_are_noticed() {
    let of = |keys: &[u8]| has_equal_keys(&keys.iter().flat_map(|key| [*key; 8]).collect::<Vec<u8>>());
    for (keys, equal) in
        [(&[2, 4][..], false), (&[2, 4, 2], false), (&[2, 2], true), (&[2, 3, 4], true), (&[2, 4, 5], true)]
    {
        assert_eq!(of(keys), equal, "{keys:?}");
    }
    // a bit of one byte, which is not its parity bit
    for at in 0..16 {
        let mut key = [6; 16];
        key[at] ^= 0x10;
        assert!(!has_equal_keys(&key), "{at}");
    }
}

/// Data units are a block at least, and have a tweak each, of the length of a block.
#[test]
fn data_units_have_their_lengths_and_tweaks() {
    let key = aes::expand(&mut Plain, &bytes(16, 1)).unwrap();
    let crypt = |tweaks: &[usize], bits: usize, length: usize| {
        let tweak: Vec<Vec<u8>> = tweaks.iter().map(|length| vec![9; *length]).collect();
        xts::crypt(&mut Plain, [&key, &key], Direction::Encrypt, &tweak, bits, &bytes(length, 2))
    };
    assert!(crypt(&[16, 16], 128, 16).is_ok() && crypt(&[16, 16], 133, 17).is_ok());
    for (bits, length) in [(127, 16), (8, 1), (128, 17), (128, 15), (136, 16)] {
        assert!(is_refused(crypt(&[16, 16], bits, length), Misuse::MessageUnfit), "{bits} bits");
    }
    for tweaks in [&[16][..], &[16, 16, 16], &[16, 15], &[17, 16], &[16, 272], &[16; 258]] {
        assert!(is_refused(crypt(tweaks, 128, 16), Misuse::MessageUnfit), "{tweaks:?}");
    }
}

#[test]
fn segments_of_cfb_are_in_a_block() {
    let key = aes::expand(&mut Plain, &bytes(16, 1)).unwrap();
    for segment in [0, 1, 16, 17, 256 + 16] {
        let cfb = feedback::cfb_encrypt(&mut Plain, &key, segment, &vec![vec![3]; 16], &bytes(16, 1));
        assert_eq!(is_refused(cfb, Misuse::LengthUnsupported), ![1, 16].contains(&segment), "{segment}");
    }
}

#[test]
fn spare_bits_are_fewer_than_a_byte_and_where_they_can_be() {
    for (name, output, key, fits) in [
        ("shake128", 7, 0, true),
        ("shake128", 8, 0, false),
        ("sha256", 1, 0, false),
        ("kmac128", 7, 7, true),
        ("kmac128", 8, 0, false),
        ("kmac128", 0, 8, false),
        ("cshake128", 3, 0, true),
        ("cshake128", 0, 1, false),
        ("hmac-sha256", 0, 1, false),
    ] {
        let settings = Settings {
            spare_output_bits: output,
            spare_key_bits: key,
            ..Settings::new(name.parse().unwrap())
        };
        assert_eq!(settings.check().is_ok(), fits, "{name} {output} {key}");
    }
}

#[test]
fn initial_vectors_of_ofb_are_blocks() {
    let key = aes::expand(&mut Plain, &bytes(16, 1)).unwrap();
    let ofb = |length: usize, message: usize| {
        feedback::ofb(&mut Plain, &key, &vec![vec![3]; length], &bytes(message, 1))
    };
    assert!(ofb(16, 0).is_ok() && ofb(16, 17).is_ok());
    for length in [0, 15, 17, 256 + 16] {
        for message in [0, 5] {
            assert!(is_refused(ofb(length, message), Misuse::BlockLength), "{length} {message}");
        }
    }
}

#[test]
fn states_of_kmac_have_their_length() {
    let kmac = Kmac::kmac128(b"");
    let messages = Messages::public(&mut Plain, &[b"message"]);
    for length in [0, 199, 201, 200 + 256] {
        let state = vec![std::array::from_fn(|_| PlainBit::new(&[false])); length];
        let tag = kmac::tag(&mut Plain, &kmac, &state, &messages, OutputLength::Fixed(32));
        assert!(is_refused(tag, Misuse::KeyUnfit), "{length}");
    }
}

#[test]
fn states_of_hmac_have_their_length() {
    let messages = Messages::public(&mut Plain, &[b"message"]);
    let state = |length: usize| vec![std::array::from_fn(|_| PlainBit::new(&[false])); length];
    for hash in Hash::ALL {
        let whole = hash.state_bytes();
        for (inner, outer, fits) in [
            (whole, whole, true),
            (whole - 1, whole, false),
            (whole, whole + 1, false),
            (whole, whole + 256, false),
        ] {
            let states = PadStates { inner: state(inner), outer: state(outer) };
            let tag = batch::hmac::tag(&mut Plain, hash, Adder::FewestAnds, &states, &messages);
            assert_eq!(is_refused(tag, Misuse::KeyUnfit), !fits, "{} {inner} {outer}", hash.name());
        }
    }
}

#[test]
fn columns_of_messages_have_a_lane_for_each() {
    let bits = |lanes: usize| std::array::from_fn(|_| PlainBit::new(&vec![false; lanes]));
    let made = |columns: Vec<[PlainBit; 8]>| Messages::<Plain>::of_bits(columns, vec![24, 17]);
    assert!(made(vec![bits(2); 3]).is_ok() && made(vec![bits(2); 4]).is_ok());
    assert!(is_refused(made(vec![bits(2); 2]), Misuse::LengthDiffers));
    for (column, bit) in (0..3).flat_map(|column| (0..8).map(move |bit| (column, bit))) {
        for lanes in [1, 3, 2 + 256] {
            let mut columns = vec![bits(2); 3];
            columns[column][bit] = PlainBit::new(&vec![false; lanes]);
            assert!(is_refused(made(columns), Misuse::LengthDiffers), "{column} {bit} {lanes}");
        }
    }
}

#[test]
fn messages_of_ccm_have_heads_of_one_length() {
    let key = aes::expand(&mut Plain, &bytes(16, 1)).unwrap();
    let sealed = |lengths: &[(usize, usize)]| {
        let head = |(nonce, aad): &(usize, usize)| ccm::Head { nonce: vec![7; *nonce], aad: vec![1; *aad] };
        let heads: Vec<ccm::Head> = lengths.iter().map(head).collect();
        ccm::seal(&mut Plain, &key, &heads, 16, &bytes(5, lengths.len()))
    };
    assert!(sealed(&[(12, 3), (12, 3)]).is_ok());
    for lengths in [&[(12, 3), (11, 3)][..], &[(12, 3), (12, 4)], &[(12, 3), (12, 3), (12, 259)]] {
        assert!(is_refused(sealed(lengths), Misuse::MessageUnfit), "{lengths:?}");
    }
}

/// There is a hash key for each key.
#[test]
fn keys_of_gcm_have_a_hash_key_each() {
    let steps = Steps::new(2, 2).unwrap();
    for (keys, hash_keys) in [(1, 1), (3, 3), (2, 1), (3, 2), (1, 2), (2, 3), (1, 257)] {
        let key = aes::expand(&mut Plain, &bytes(16, keys)).unwrap();
        let made = MessagesKey::each(&mut Plain, key, &PlainBlock::new(vec![5; hash_keys]), steps);
        assert_eq!(is_refused(made, Misuse::CountsDiffer), keys != hash_keys, "{keys} {hash_keys}");
    }
    // one key is one alone, and many are as many
    for keys in [1, 2, 257] {
        let key = aes::expand(&mut Plain, &bytes(16, keys)).unwrap();
        let one = MessagesKey::new(&mut Plain, key.clone(), steps);
        assert_eq!(is_refused(one, Misuse::CountsDiffer), keys > 1, "{keys}");
        let made = MessagesKey::each(&mut Plain, key, &PlainBlock::new(vec![5; keys]), steps);
        assert_eq!(made.unwrap().len(), keys);
    }
}

/// The length of a message has as many bytes as the nonce leaves, and tags are whole pairs of bytes (SP
/// 800-38C, A.1).
#[test]
fn lengths_of_ccm_fit_beside_their_nonces() {
    for nonce in 0..=16 {
        let fits = (7..=13).contains(&nonce);
        assert_eq!(ccm::takes(nonce, 16, 0), fits, "a nonce of {nonce}");
        if fits && nonce > 7 {
            let longest = (1 << (8 * (15 - nonce))) - 1;
            assert!(ccm::takes(nonce, 16, longest), "a nonce of {nonce}");
            assert!(!ccm::takes(nonce, 16, longest + 1), "a nonce of {nonce}");
        }
    }
    let tags: Vec<usize> = (0..=20).filter(|tag| ccm::takes(12, *tag, 5)).collect();
    assert_eq!(tags, [4, 6, 8, 10, 12, 14, 16]);
}
