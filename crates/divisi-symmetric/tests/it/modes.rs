//! Modes over either block cipher, in the clear: the standards' examples.

use divisi_circuit::plain::Words;
use divisi_core::{Bytes, Direction, Lanes, Opens, Plain, PlainBit, PlainByte};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::batch::chains::s2v_blocks;
use divisi_symmetric::batch::triple::TripleByProgram;
use divisi_symmetric::des::{TripleKey, bits_of};
use divisi_symmetric::gates::GateBytes;
use divisi_symmetric::mode::block::{BlockCipher, Octet, counters, keystream};
use divisi_symmetric::mode::cmac::Doubles;
use divisi_symmetric::mode::one_shot::gcm_siv::{self, NonceHead};
use divisi_symmetric::mode::one_shot::siv::SivKey;
use divisi_symmetric::mode::one_shot::{bitwise, ccm, stealing, xts};
use divisi_symmetric::mode::{cbc, cmac};
use divisi_symmetric::suite::{VectorCase, aes_sp800_38a_vectors, mode_vectors, triple_des_vectors};
use std::slice::from_ref;

/// A cipher in the clear, with keys and texts as bytes.
trait Clear: Doubles<Plain> + Clone + Sized {
    fn with_keys(keys: &[Vec<u8>]) -> Self;
    fn values(bytes: Vec<Self::Byte>) -> Vec<Vec<u8>>;
}

/// A column for each byte of texts of one length, with a lane for each text.
fn columns(texts: &[Vec<u8>]) -> Vec<Vec<u8>> {
    (0..texts[0].len()).map(|i| texts.iter().map(|text| text[i]).collect()).collect()
}

impl Clear for RoundKeys<PlainByte> {
    fn with_keys(keys: &[Vec<u8>]) -> Self {
        let key: Vec<PlainByte> = columns(keys).into_iter().map(PlainByte::new).collect();
        aes::expand(&mut Plain, &key).unwrap()
    }

    fn values(bytes: Vec<PlainByte>) -> Vec<Vec<u8>> {
        Plain.reveal(bytes).unwrap()
    }
}

impl Clear for TripleKey<PlainBit> {
    fn with_keys(keys: &[Vec<u8>]) -> Self {
        let bits: Vec<Vec<bool>> = keys.iter().map(|key| bits_of(key)).collect();
        let bit = |i: usize| PlainBit::new(&bits.iter().map(|key| key[i]).collect::<Vec<_>>());
        TripleKey::new(&(0..bits[0].len()).map(bit).collect::<Vec<_>>()).unwrap()
    }

    fn values(bytes: Vec<Octet<PlainBit>>) -> Vec<Vec<u8>> {
        let bits = Plain.reveal(Octet::into_bits(bytes)).unwrap();
        let byte = |bits: &[Vec<bool>]| {
            let lane = |l: usize| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(bit[l]));
            (0..bits[0].len()).map(lane).collect()
        };
        bits.chunks(8).map(byte).collect()
    }
}

/// The texts of columns. A column has lanes only for the texts that have this byte.
fn texts(columns: &[Vec<u8>]) -> Vec<Vec<u8>> {
    (0..columns[0].len())
        .map(|l| columns.iter().filter_map(|column| column.get(l).copied()).collect())
        .collect()
}

/// Texts of any lengths, one in each lane, the longest first.
fn secret<C: Clear>(texts: &[Vec<u8>]) -> Vec<C::Byte> {
    let longest = texts.first().map_or(0, Vec::len);
    let column = |i: usize| texts.iter().filter_map(|text| text.get(i).copied()).collect::<Vec<u8>>();
    C::public_block(&mut Plain, &(0..longest).map(column).collect::<Vec<_>>())
}

fn encrypt<C: Clear>(keys: &[Vec<u8>], ivs: &[Vec<u8>], plain: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let cipher = C::with_keys(keys);
    texts(&C::values(cbc::encrypt(&mut Plain, &cipher, &columns(ivs), &secret::<C>(plain)).unwrap()))
}

fn decrypt<C: Clear>(keys: &[Vec<u8>], ivs: &[Vec<u8>], cipher: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let blocks = |texts: &[Vec<u8>]| -> Vec<Vec<u8>> {
        columns(&texts.iter().flat_map(|text| text.chunks(C::BYTES)).map(<[u8]>::to_vec).collect::<Vec<_>>())
    };
    let before: Vec<Vec<u8>> = cipher.iter().zip(ivs).map(|(text, iv)| cbc::previous(iv, text)).collect();
    let lanes = cipher.iter().enumerate();
    let lanes: Vec<usize> = lanes.flat_map(|(l, text)| vec![l; text.len() / C::BYTES]).collect();
    let key = C::with_keys(keys).of_lanes(&lanes).unwrap();
    let plain = C::values(cbc::decrypt(&mut Plain, &key, &blocks(&before), &blocks(cipher)).unwrap());
    let mut blocks = texts(&plain).into_iter();
    cipher.iter().map(|text| blocks.by_ref().take(text.len() / C::BYTES).flatten().collect()).collect()
}

fn named(mode: &str) -> Vec<VectorCase> {
    mode_vectors().into_iter().filter(|record| record.text("Mode") == mode).collect()
}

#[test]
fn cbc_is_that_of_sp_800_38a_in_both_directions() {
    let records = named("aes-cbc");
    assert_eq!(records.len(), 3);
    for record in &records {
        let [key, iv, plain, cipher] =
            ["Key", "IV", "Plaintext", "Ciphertext"].map(|name| record.bytes(name));
        type Aes = RoundKeys<PlainByte>;
        assert_eq!(encrypt::<Aes>(from_ref(&key), from_ref(&iv), from_ref(&plain)), from_ref(&cipher));
        assert_eq!(decrypt::<Aes>(from_ref(&key), from_ref(&iv), from_ref(&cipher)), from_ref(&plain));
        // several texts of different lengths, one key for all and one each
        let plains = [plain.clone(), plain[16..48].to_vec(), plain[..16].to_vec()];
        let ivs = [iv.clone(), cipher[..16].to_vec(), iv.clone()];
        let expected = encrypt::<Aes>(from_ref(&key), &ivs, &plains);
        assert_eq!(expected[0], cipher);
        assert_eq!(expected[2], cipher[..16]);
        assert_eq!(encrypt::<Aes>(&vec![key.clone(); 3], &ivs, &plains), expected);
        assert_eq!(decrypt::<Aes>(&vec![key.clone(); 3], &ivs, &expected), plains);
        assert_eq!(decrypt::<Aes>(&[key], &ivs, &expected), plains);
    }
}

#[test]
fn cbc_of_triple_des_is_that_of_the_validation_program() {
    type Des = TripleKey<PlainBit>;
    let records = named("3des-cbc");
    assert!(records.len() >= 2);
    for record in &records {
        let [key, iv, plain, cipher] =
            ["Key", "IV", "Plaintext", "Ciphertext"].map(|name| record.bytes(name));
        assert_eq!(encrypt::<Des>(from_ref(&key), from_ref(&iv), from_ref(&plain)), from_ref(&cipher));
        assert_eq!(decrypt::<Des>(&[key], &[iv], &[cipher]), [plain]);
    }
    // single blocks (SP 800-67, B.1): under an IV of zeros, CBC of one block is the cipher alone
    let record = &triple_des_vectors()[0];
    let [key, plain, cipher] = ["Key", "Plaintext", "Ciphertext"].map(|name| record.bytes(name));
    let blocks: Vec<Vec<u8>> = plain.chunks(8).map(<[u8]>::to_vec).collect();
    let out = encrypt::<Des>(&[key], &vec![vec![0; 8]; blocks.len()], &blocks);
    assert_eq!(out.concat(), cipher);
}

#[test]
fn counter_mode_is_that_of_sp_800_38a() {
    let mut found = 0;
    for record in aes_sp800_38a_vectors().iter().filter(|record| record.has("Counter")) {
        let plain = record.bytes("Plaintext");
        let cipher = RoundKeys::with_keys(&[record.bytes("Key")]);
        let counters = counters(&record.bytes("Counter"), plain.len() / 16);
        let stream = texts(&RoundKeys::values(keystream(&mut Plain, &cipher, &counters).unwrap())).concat();
        let sum: Vec<u8> = plain.iter().zip(stream).map(|(x, y)| x ^ y).collect();
        assert_eq!(sum, record.bytes("Ciphertext"));
        found += 1;
    }
    assert_eq!(found, 3);
    assert_eq!(texts(&counters(&[0xff; 8], 2)), [vec![0xff; 8], vec![0; 8]]);
}

fn tags<C: Clear>(keys: &[Vec<u8>], messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let key = cmac::CmacKey::new(&mut Plain, C::with_keys(keys)).unwrap();
    let message = C::public_block(&mut Plain, &columns(messages));
    texts(&C::values(key.tag(&mut Plain, messages.len(), &message).unwrap()))
}

#[test]
fn cmac_is_that_of_sp_800_38b_over_either_cipher() {
    let (aes, des) = (named("cmac-aes"), named("cmac-3des"));
    assert_eq!((aes.len(), des.len()), (12, 8));
    for (records, is_aes) in [(aes, true), (des, false)] {
        for record in records {
            let [key, message, tag] = ["Key", "Message", "Tag"].map(|name| record.bytes(name));
            let tags = |keys: &[Vec<u8>], messages: &[Vec<u8>]| match is_aes {
                true => tags::<RoundKeys<PlainByte>>(keys, messages),
                false => tags::<TripleKey<PlainBit>>(keys, messages),
            };
            assert_eq!(tags(from_ref(&key), from_ref(&message)), from_ref(&tag), "{}", record.text("Name"));
            // two messages, one in each lane, under one key for both and under one for each
            let mut other = message.clone();
            other.iter_mut().for_each(|byte| *byte ^= 1);
            let both = tags(from_ref(&key), &[message.clone(), other.clone()]);
            assert_eq!(both[0], tag);
            assert_eq!(tags(&vec![key; 2], &[message, other]), both);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let cipher = RoundKeys::with_keys(&[vec![0; 16]]);
    let text = secret::<RoundKeys<PlainByte>>(&[vec![0; 17]]);
    assert!(cbc::encrypt(&mut Plain, &cipher, &columns(&[vec![0; 16]]), &text).is_err());
    assert!(cbc::encrypt(&mut Plain, &cipher, &columns(&[vec![0; 8]]), &text[..16]).is_err());
    assert!(cipher.permute(&mut Plain, Direction::Encrypt, text).is_err());
    let three = TripleKey::<PlainBit>::with_keys(&vec![vec![1; 24]; 3]);
    assert_eq!((three.lanes(), BlockCipher::<Plain>::of_lanes(&three, &[2, 0]).unwrap().lanes()), (3, 2));
    assert!(BlockCipher::<Plain>::of_lanes(&three, &[3]).is_err());
    let key = cmac::CmacKey::new(&mut Plain, three).unwrap();
    assert!(key.tag(&mut Plain, 2, &[]).is_err());
    assert_eq!(key.of_lanes(&[1, 2]).unwrap().tag(&mut Plain, 2, &[]).unwrap().len(), 8);
}

/// A circuit decides about a tag by all of its bits; with another tag the message is zeros to its end.
#[test]
fn circuits_compare_tags_to_their_last_bit() {
    let head = || [ccm::Head { nonce: vec![7; 12], aad: vec![1; 3] }];
    let (e, text) = (&mut Plain, (1..=37).collect::<Vec<u8>>());
    let key: Vec<_> = (0..16).map(|i| e.public(&[i])).collect();
    let key = aes::expand(e, &key).unwrap();
    let message: Vec<_> = text.iter().map(|byte| e.public(&[*byte])).collect();
    let sealed = ccm::seal(e, &key, &head(), 16, &message).unwrap();
    let sealed: Vec<u8> = sealed.iter().map(|byte| byte.values()[0]).collect();
    let (ciphertext, tag) = sealed.split_at(text.len());
    for bit in [None, Some(0), Some(1), Some(64), Some(126), Some(127)] {
        let mut tag = tag.to_vec();
        bit.iter().for_each(|bit| tag[bit / 8] ^= 1 << (bit % 8));
        let mut words = Words;
        let mut e = GateBytes::new(&mut words);
        let key: Vec<_> = (0..16).map(|i| e.public(&[i])).collect();
        let key = aes::expand(&mut e, &key).unwrap();
        let opened = ccm::open(&mut e, &key, &head(), &[ciphertext.to_vec()], &[tag]).unwrap().masked(&mut e);
        let byte = |bits: &[u64; 8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | (bit & 1) as u8);
        let opened: Vec<u8> = opened.iter().map(|of| byte(&of.bits()[0])).collect();
        let right = [&[1], &text[..]].concat();
        assert_eq!(opened, if bit.is_none() { right } else { vec![0; 1 + text.len()] }, "{bit:?}");
    }
}

/// With a tag that stays shared, one message of GCM-SIV or SIV becomes what it becomes with a tag that is
/// opened.
#[test]
fn shared_tags_encrypt_as_opened_ones() {
    let (e, bytes) =
        (&mut Plain, |values: Vec<u8>| values.iter().map(|v| Plain.public(&[*v])).collect::<Vec<_>>());
    let opened = |bytes: Vec<PlainByte>| Plain.reveal(bytes).unwrap().concat();
    for length in [0, 1, 15, 16, 17, 40] {
        let text = bytes((0..length).collect());
        for nonce in 0..8 {
            let key = aes::expand(e, &bytes((nonce..16 + nonce).collect())).unwrap();
            let head = NonceHead { nonce: [nonce; 12], aad: vec![1; 3] };
            let (tags, sealed) = gcm_siv::seal(e, &key, std::slice::from_ref(&head), &text).unwrap();
            let shared = gcm_siv::seal_shared(e, &key, &head, &text).unwrap();
            assert_eq!((opened(shared.0), opened(shared.1)), (tags[0].to_vec(), opened(sealed)));
            let key = SivKey::new(e, &bytes((nonce..32 + nonce).collect())).unwrap();
            let strings = [vec![vec![2; 5]]];
            let (ivs, sealed) = key.seal(e, 1, &strings, &text).unwrap();
            let shared = key.seal_shared(e, &strings, &text).unwrap();
            assert_eq!((opened(shared.0), opened(shared.1)), (ivs[0].to_vec(), opened(sealed)));
        }
    }
}

/// The stream of a synthetic IV has as many bytes as are asked for, also of 256 blocks.
#[test]
fn a_stream_of_siv_has_its_length() {
    let key: Vec<_> = (0..32).map(|i| Plain.public(&[i])).collect();
    let key = SivKey::new(&mut Plain, &key).unwrap();
    let of = |bytes| Plain.reveal(key.stream(&mut Plain, &[[9; 16]], bytes).unwrap()).unwrap().concat();
    let long = of(4096 + 5);
    for bytes in [0, 1, 16, 4095, 4096] {
        assert_eq!(of(bytes), long[..bytes], "{bytes}");
    }
}

/// Each bit of what was sealed counts: of the ciphertext, and of the tag or synthetic IV.
#[test]
fn each_bit_of_what_is_sealed_counts() {
    let e = &mut Plain;
    let secret = |bytes: usize| (0..bytes).map(|i| PlainByte::new(vec![3 * i as u8])).collect::<Vec<_>>();
    let opened = |bytes: Vec<PlainByte>| Plain.reveal(bytes).unwrap().concat();
    let (text, single) = (secret(17), aes::expand(e, &secret(16)).unwrap());
    let siv = SivKey::new(e, &secret(32)).unwrap();
    let heads = |lanes| vec![NonceHead { nonce: [7; 12], aad: vec![1; 3] }; lanes];
    let ccm_heads = |lanes| vec![ccm::Head { nonce: vec![7; 12], aad: vec![1; 3] }; lanes];
    let strings = |lanes| vec![vec![vec![2; 5]; lanes], vec![vec![4; 16]; lanes]];
    let (v, sealed) = siv.seal(e, 1, &strings(1), &text).unwrap();
    let by_siv = [opened(sealed), v[0].to_vec()].concat();
    let (tags, sealed) = gcm_siv::seal(e, &single, &heads(1), &text).unwrap();
    let by_gcm_siv = [opened(sealed), tags[0].to_vec()].concat();
    let by_ccm = opened(ccm::seal(e, &single, &ccm_heads(1), 16, &text).unwrap());
    for (mode, sealed) in [by_siv, by_gcm_siv, by_ccm].into_iter().enumerate() {
        // the right one first, then one for each bit
        let flipped = (0..8 * sealed.len()).map(|bit| {
            let mut wrong = sealed.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            wrong
        });
        let all: Vec<Vec<u8>> = [sealed.clone()].into_iter().chain(flipped).collect();
        let texts: Vec<Vec<u8>> = all.iter().map(|sealed| sealed[..17].to_vec()).collect();
        let tags: Vec<[u8; 16]> = all.iter().map(|sealed| sealed[17..].try_into().unwrap()).collect();
        let undecided = match mode {
            0 => siv.open(e, &strings(all.len()), &tags, &texts),
            1 => gcm_siv::open(e, &single, &heads(all.len()), &texts, &tags),
            _ => {
                let tags: Vec<Vec<u8>> = tags.iter().map(|tag| tag.to_vec()).collect();
                ccm::open(e, &single, &ccm_heads(all.len()), &texts, &tags)
            }
        };
        let claims = undecided.unwrap().release(e).unwrap().claims;
        assert_eq!(claims[0], Some(0), "{mode}");
        assert!(claims[1..].iter().all(Option::is_none), "{mode}: {claims:?}");
    }
}

/// By a program as by gates, the tags of triple DES are the same, at every length and for each lane.
#[test]
fn tags_by_a_program_are_those_of_the_cipher() {
    let keys: Vec<Vec<u8>> = (0..3).map(|lane| (0..24).map(|i| 7 * i + 31 * lane + 2).collect()).collect();
    let secret = |rows: &[Vec<u8>]| columns(rows).into_iter().map(PlainByte::new).collect::<Vec<_>>();
    let by_program = TripleByProgram::<Plain>::new(secret(&keys)).unwrap();
    let by_program = cmac::CmacKey::new(&mut Plain, by_program).unwrap();
    let by_gates = cmac::CmacKey::new(&mut Plain, TripleKey::<PlainBit>::with_keys(&keys)).unwrap();
    for bytes in [1, 7, 8, 9, 24] {
        let texts: Vec<Vec<u8>> = (0..3).map(|lane| vec![lane + 1; bytes]).collect();
        let program = by_program.tag(&mut Plain, 3, &secret(&texts)).unwrap();
        let gates = by_gates.tag(&mut Plain, 3, &self::secret::<TripleKey<PlainBit>>(&texts)).unwrap();
        let gates = TripleKey::<PlainBit>::values(gates);
        assert_eq!(Plain.reveal(program).unwrap(), gates, "{bytes}");
    }
    assert!(TripleByProgram::<Plain>::double(&mut Plain, secret(&[vec![1; 7]])).is_err());
}

/// How many blocks S2V takes: two of its own, and each string's, of which an empty one has one.
#[test]
fn blocks_of_strings_are_counted() {
    for (strings, blocks) in
        [(&[][..], 2), (&[&[][..]], 3), (&[&[0; 16], &[0; 17]], 5), (&[&[0; 1], &[], &[0; 33]], 7)]
    {
        assert_eq!(s2v_blocks(strings), blocks, "{strings:?}");
    }
}

/// Modes of messages of bits give zeros where a byte of the result has no bits of it, whatever the message
/// has there: all that they return can be opened.
#[test]
fn bits_beyond_a_message_are_zeros() {
    let (e, key, iv) = (&mut Plain, RoundKeys::with_keys(&[vec![3; 16]]), [vec![9; 16]]);
    for bits in (129..=137).chain([250, 255, 256, 257]) {
        // CFB calls the cipher for each bit
        let few = 8 + bits % 8;
        let [row, short] = [bits, few].map(|bits: usize| vec![0xff; bits.div_ceil(8)]);
        let [text, small] =
            [&row, &short].map(|row| row.iter().map(|b| PlainByte::new(vec![*b])).collect::<Vec<_>>());
        let spare = 8 * row.len() - bits;
        let mut found = vec![
            ("CBC", 17, stealing::encrypt(e, &key, &iv, bits, &text)),
            ("CBC back", 1, stealing::decrypt(e, &key, &iv, bits, from_ref(&row))),
            ("CFB", 1, bitwise::encrypt(e, &key, &iv, few, &small)),
            ("CFB back", 1, bitwise::decrypt(e, &key, &iv, few, from_ref(&short))),
        ];
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            found.push(("XTS", 1, xts::crypt(e, [&key, &key], direction, &iv, bits, &text)));
        }
        for (name, from_end, out) in found {
            let out = out.unwrap();
            let last = out[out.len() - from_end].values()[0];
            assert_eq!(last & ((1 << spare) - 1), 0, "{name}, {bits} bits");
        }
    }
}
