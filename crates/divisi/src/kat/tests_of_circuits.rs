//! Modes that chain blocks or take a text as a whole, as circuits: in the clear they give the answers of the
//! vectors; some of them are also garbled.

use super::tests::on;
use super::tests_of_wholes::{all, counts};
use super::*;
use crate::engine;
use crate::engine::job::{Cipher, CipherMode, DesKeys, PublicText, TextsJob};
use crate::engine::known::in_the_clear;
use des::TdesEde3;
use des::cipher::{BlockCipherEncrypt, KeyInit};
use divisi_core::Direction;
use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const IV: &str = "000102030405060708090a0b0c0d0e0f";
const TEXT: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";

/// SP 800-38A, F.2.1, F.3.7, F.3.13 and F.4.1, both ways; the GCM specification, test case 5; IEEE 1619,
/// vector 2.
fn standards() -> Vec<Value> {
    let both = |algorithm: &str, text: &str, sealed: &str| {
        let test = json!([{ "tcId": 1, "key": KEY, "iv": IV, "pt": text, "ct": sealed }]);
        let group = |direction| json!({ "testType": "AFT", "direction": direction, "tests": test });
        json!({ "algorithm": algorithm, "testGroups": [group("encrypt"), group("decrypt")] })
    };
    vec![
        both("ACVP-AES-CBC", TEXT, "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"),
        both("ACVP-AES-CFB128", TEXT, "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b"),
        both("ACVP-AES-CFB8", &TEXT[..8], "3b79424c"),
        both("ACVP-AES-OFB", TEXT, "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825"),
        json!({ "algorithm": "AES-GCM", "testGroups": [{ "tests": [{
            "tcId": 5, "result": "valid", "key": "feffe9928665731c6d6a8f9467308308", "iv": "cafebabefacedbad",
            "aad": "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            "msg": "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            "ct": "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
            "tag": "3612d2e79e3b0785561be14aaca2fccb" }] }] }),
        json!({ "algorithm": "ACVP-AES-XTS", "testGroups": [{ "testType": "AFT", "direction": "encrypt",
            "tweakMode": "number", "payloadLen": 256, "tests": [{ "tcId": 1,
            "key": "1111111111111111111111111111111122222222222222222222222222222222",
            "sequenceNumber": 219_902_325_555_u64,
            "pt": "4444444444444444444444444444444444444444444444444444444444444444",
            "ct": "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0" }] }] }),
        json!({ "algorithm": "ACVP-AES-CBC-CS3", "testGroups": [{ "testType": "AFT", "direction": "encrypt",
            "tests": [{ "tcId": 1, "iv": "00000000000000000000000000000000", "payloadLen": 878,
            "key": "00000000000000000000000000000000",
            "pt": "F34481EC3CC627BACD5DC3FB08F273E600000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
            "ct": "0336763E966D92595A567CC9CE537F5ED9492AAFC53406FCD852F32A99EE0AC0D2AD6EF1A3F88079814A8E7083AB12EB32B87718A3F8DC0839AEC546C15F2B9AAA4878DB99D51BA3C51F53CFF960F8F7BCF6A2A813543D0655E4ABBD44F7724A86A8C7D4AD2BEDFFDBB170D5526C" }] }] }),
        json!({ "algorithm": "ACVP-AES-CFB1", "testGroups": [{ "testType": "AFT", "direction": "decrypt",
            "payloadLen": 9, "tests": [{ "tcId": 2, "key": KEY, "iv": IV, "pt": "6b80", "ct": "6880" }] }] }),
    ]
}

/// Check every vector by its circuit, evaluated in the clear; returns how many there were.
fn check(content: &Content) -> usize {
    let mut ran = 0;
    for group in &content.groups {
        // no circuit is made for very long texts
        let mut group = group.clone();
        group.vectors.retain(|vector| vector.plaintext.len().max(vector.aad.len()) <= 160);
        let mut asked = texts::ask(&group);
        let plain = on("plain", Protocol::Gf4Circuit, Security::Malicious);
        // some invalid vectors have lengths that the mode does not have
        loop {
            let lacks = engine::prepare(plain.engine, &asked.job, &plain.settings).err();
            let Some(lacks) = lacks else { break };
            asked = asked.without(&lacks.instances);
        }
        let rows = in_the_clear(&asked.job, &asked.inputs).expect("a circuit for each text");
        for (vector, right) in texts::right(&group, &rows, &asked.of) {
            assert!(right, "{} #{vector}", group.algorithm);
            ran += 1;
        }
    }
    ran
}

#[test]
fn circuits_of_modes_compute_what_the_standards_say() {
    for file in standards() {
        assert!(check(&parse(&file).unwrap()) > 0);
    }
    for content in all(53) {
        assert!(check(&content) > 0);
    }
}

const TRIPLE_KEYS: [&str; 3] = ["0123456789abcdef", "23456789abcdef01", "456789abcdef0123"];

/// SP 800-67, appendix B.1, in ECB; two blocks of it in CBC; CMAC of SP 800-38B, appendix D.4.
fn triple_des() -> Vec<Value> {
    let [key1, key2, key3] = TRIPLE_KEYS;
    let both = |algorithm: &str, iv: &str, pt: &str, ct: &str| {
        let test =
            json!([{ "tcId": 1, "key1": key1, "key2": key2, "key3": key3, "iv": iv, "pt": pt, "ct": ct }]);
        let group = |direction| json!({ "testType": "AFT", "direction": direction, "tests": test });
        json!({ "algorithm": algorithm, "testGroups": [group("encrypt"), group("decrypt")] })
    };
    let (first, second) = ("5468652071756663", "a826fd8ce53b855f");
    // both blocks have the same ciphertext, because the second text cancels the chaining
    let [text, before]: [[u8; 8]; 2] = [first, second]
        .map(|hex| std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()));
    let chained: String = text.iter().zip(before).map(|(x, y)| format!("{:02x}", x ^ y)).collect();
    let tag = |mac: &str, passed: bool, message: &str, bits: usize| {
        json!({ "testType": "AFT", "direction": "ver", "keyLen": 192, "msgLen": bits, "macLen": 64, "tests": [{
            "tcId": 1, "key1": "8aa83bf8cbda1062", "key2": "0bc1bf19fbb6cd58", "key3": "bc313d4a371ca8b5",
            "message": message, "mac": mac, "testPassed": passed }] })
    };
    let made = json!({ "testType": "AFT", "direction": "gen", "keyLen": 192, "msgLen": 64, "macLen": 64, "tests": [{
        "tcId": 2, "key1": "8aa83bf8cbda1062", "key2": "0bc1bf19fbb6cd58", "key3": "bc313d4a371ca8b5",
        "message": "6bc1bee22e409f96", "mac": "8e8f293136283797" }] });
    vec![
        both("ACVP-TDES-ECB", "", first, second),
        both("ACVP-TDES-CBC", "0000000000000000", &format!("{first}{chained}"), &format!("{second}{second}")),
        json!({ "algorithm": "CMAC-TDES", "testGroups": [
            tag("b7a688e122ffaf95", true, "", 0), tag("b7a688e122ffaf94", false, "", 0), made] }),
    ]
}

#[test]
fn circuits_of_triple_des_compute_what_the_standards_say() {
    for file in triple_des() {
        assert!(check(&parse(&file).unwrap()) > 1);
    }
}

/// Triple DES on engines that have it only as circuits: every vector passes, and none is left out.
#[test]
fn triple_des_runs_where_there_are_circuits() {
    for engine in ["garble", "mixed"] {
        let security = if engine == "garble" { Security::Malicious } else { Security::SemiHonest };
        let options = on(engine, Protocol::Gf4Circuit, security);
        let options = KatOptions { settings: options.settings.among(2), ..options };
        for (file, passed) in triple_des().iter().zip([2, 2, 3]) {
            let content = parse(file).unwrap();
            let report = run_contents(&[("triple".into(), content)], &options).unwrap();
            assert_eq!(counts(&report), (passed, 0, 0), "{engine} {}", file["algorithm"]);
        }
    }
}

/// Two texts in CTR by triple DES, one of which ends within a block; the counter of the other wraps around.
fn counted() -> Asked {
    let key: Vec<u8> = (0..24).map(|i| 2 * i + 1).collect();
    let (mut texts, mut inputs) = (Vec::new(), Rows::default());
    for (iv, bytes) in [([7; 8], 13), ([0xff; 8], 16)] {
        texts.push(PublicText {
            direction: Direction::Encrypt,
            iv: iv.to_vec(),
            aad: Vec::new(),
            bytes,
            spare_bits: 0,
            tag_bytes: 0,
            sealed: None,
        });
        inputs.push(&[&key, &vec![0; bytes]]);
    }
    let cipher = Cipher::TripleDes(DesKeys::Three);
    let job = TextsJob { mode: CipherMode::Ctr, cipher, texts }.into();
    Asked { algorithm: VectorAlgorithm::Ctr, job, inputs, of: vec![0, 1] }
}

/// The key stream of triple DES is the cipher of the counter blocks, on every engine.
#[test]
fn triple_des_counts_on_every_engine() {
    let stream = |counters: &[u64]| -> Vec<u8> {
        let key: Vec<u8> = (0..24).map(|i| 2 * i + 1).collect();
        let cipher = TdesEde3::new_from_slice(&key).unwrap();
        let block = |counter: &u64| {
            let mut block = counter.to_be_bytes().into();
            cipher.encrypt_block(&mut block);
            block.to_vec()
        };
        counters.iter().flat_map(block).collect()
    };
    let first = u64::from_be_bytes([7; 8]);
    let expected = [stream(&[first, first + 1])[..13].to_vec(), stream(&[u64::MAX, 0])].concat();
    for engine in ["plain", "spdz", "garble", "mixed"] {
        let security = if engine == "mixed" { Security::SemiHonest } else { Security::Malicious };
        let options = on(engine, Protocol::Gf4Circuit, security);
        let options = match engine {
            "plain" => options,
            _ => KatOptions { settings: options.settings.among(2), ..options },
        };
        let (rows, of) = counted().run(&mut Account::default(), &options).unwrap();
        assert_eq!((of, [rows.row(0), rows.row(1)].concat()), (vec![0, 1], expected.clone()), "{engine}");
    }
}

#[test]
fn modes_run_garbled() {
    let options = on("garble", Protocol::Gf4Circuit, Security::Malicious);
    let options = KatOptions { settings: options.settings.among(2), ..options };
    let contents = standards().into_iter().take(5).map(|file| parse(&file).unwrap());
    let short = all(97).into_iter().map(|mut content| {
        content.groups.iter_mut().for_each(|group| group.vectors.truncate(1));
        content.groups.truncate(1);
        content
    });
    for content in contents.chain(short) {
        let n = content.groups.iter().map(|group| group.vectors.len() as u64).sum();
        let report = run_contents(&[("modes".into(), content)], &options).unwrap();
        assert_eq!(counts(&report), (n, 0, 0), "{:?}", report.algorithms);
    }
}

/// For a text whose tag is wrong in any byte, the outputs of the circuit reveal only that: the text is zeros.
/// For a MAC the output is one bit.
#[test]
fn a_circuit_compares_every_byte_of_a_tag_and_keeps_what_is_not_authentic() {
    let gcm = standards().swap_remove(4);
    let test = &gcm["testGroups"][0]["tests"][0];
    let [key, iv, tag] = ["key", "iv", "tag"].map(|name| test[name].clone());
    let mac = json!({ "tcId": 1, "result": "invalid", "key": key, "iv": iv, "msg": "feedface", "tag": tag });
    let mac = parse(&json!({ "algorithm": "AES-GMAC", "testGroups": [{ "tests": [mac] }] })).unwrap();
    let mut group = mac.functions[0].clone();
    let right = {
        let asked = group.ask();
        let plain = on("plain", Protocol::Gf4Circuit, Security::Malicious);
        let mut made = group.clone();
        (made.vectors[0].makes, made.vectors[0].compares) = (true, false);
        let (tag, _) = made.ask().run(&mut Account::default(), &plain).unwrap();
        assert_eq!(in_the_clear(&asked.job, &asked.inputs).unwrap().row(0), [0]);
        tag.row(0).to_vec()
    };
    let with = |at: usize| -> Vec<u8> {
        right.iter().enumerate().map(|(i, byte)| byte ^ u8::from(i == at) << (i % 8)).collect()
    };
    let one = group.vectors.swap_remove(0);
    group.vectors = (0..=16).map(|at| functions::MessageVector { output: with(at), ..one.clone() }).collect();
    let asked = group.ask();
    let told = in_the_clear(&asked.job, &asked.inputs).unwrap();
    assert!((0..=16).all(|at| told.row(at) == [u8::from(at == 16)]));

    for content in std::iter::once(parse(&gcm).unwrap()).chain(all(5)) {
        let is_fit = |v: &&Vector| v.expected == Expected::Valid && (9..=64).contains(&v.plaintext.len());
        let of = |group: &Group| Some((group.clone(), group.vectors.iter().find(is_fit)?.clone()));
        let (mut group, right) = content.groups.iter().find_map(of).unwrap();
        let bytes = if right.tag.is_empty() { 8 } else { right.tag.len() };
        let with = |at: usize| {
            let mut vector = Vector { expected: Expected::Invalid, ..right.clone() };
            let compared = if vector.tag.is_empty() { &mut vector.ciphertext } else { &mut vector.tag };
            compared[at] ^= 1 << (at % 8);
            vector
        };
        // a changed tag needs a circuit of its own, so only every seventh byte is tried; in GCM the tag is an
        // input
        let each = if group.algorithm.is_gcm() { 1 } else { 7 };
        group.vectors = (0..bytes).step_by(each).map(with).collect();
        let asked = texts::ask(&group);
        let rows = in_the_clear(&asked.job, &asked.inputs).unwrap();
        assert_eq!(rows.count(), group.vectors.len());
        assert!(
            rows.iter().all(|row| row.len() > 8 && row.iter().all(|byte| *byte == 0)),
            "{}",
            group.algorithm
        );
    }
}
