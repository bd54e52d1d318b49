//! Modes that chain blocks or take a message as a whole, as circuits: in the clear they give the answers of
//! the vectors; some of them are also garbled.

use super::scaffold::{
    among, answers, by_default, counts, one_of_corpus, plain, rep3, run, vectors, vectors_in,
};
use super::tests_of_one_shot::all;
use super::*;
use crate::engine;
use crate::engine::job::{Cipher, CipherMode, DesKeys, ModeMessage, ModesJob};
use crate::engine::known::in_the_clear;
use des::TdesEde3;
use des::cipher::{BlockCipherEncrypt, KeyInit};
use divisi_core::Direction;
use serde_json::{Value, json};

/// Test case 5 of the GCM specification.
fn gcm() -> Value {
    let mut file = vectors_in("gcm.json");
    let tests = file["testGroups"][0]["tests"].as_array_mut().unwrap();
    tests.retain(|test| test["tcId"] == 7);
    file
}

/// Modes that chain blocks, both ways, and GCM; the first ones are short.
fn standards() -> impl Iterator<Item = Content> {
    let chained = ["cbc", "cfb128", "cfb8", "ofb"].into_iter().map(one_of_corpus);
    let others = ["xts", "cbc-cs3", "cfb1"].into_iter().map(one_of_corpus);
    chained.chain([parse(&gcm()).unwrap()]).chain(others)
}

/// Check every vector by its circuit, evaluated in the clear; returns how many there were.
fn check(content: &Content) -> usize {
    let mut ran = 0;
    for group in &content.groups {
        // no circuit is made for very long messages
        let mut group = group.clone();
        group.vectors.retain(|vector| vector.plaintext.len().max(vector.aad.len()) <= 160);
        let mut asked = group.ask();
        let plain = plain();
        // some invalid vectors have lengths that the mode does not have
        loop {
            let lacks = engine::prepare(plain.engine, &asked.job, &plain.settings).err();
            let Some(lacks) = lacks else { break };
            asked = asked.without(&lacks.instances);
        }
        let rows = in_the_clear(&asked.job, &asked.inputs).expect("a circuit for each message");
        for (vector, right) in group.judge(&rows, &asked.of) {
            assert!(right, "{} #{vector}", group.algorithm);
            ran += 1;
        }
    }
    ran
}

#[test]
fn circuits_of_modes_compute_what_the_standards_say() {
    for content in standards().chain(all(53)) {
        assert!(check(&content) > 0);
    }
}

/// Modes of triple DES, and its CMAC, with the number of vectors of each.
const TRIPLE_DES: [(&str, u64); 3] = [("tdes-ecb", 2), ("tdes-cbc", 2), ("cmac-tdes", 3)];

#[test]
fn circuits_of_triple_des_compute_what_the_standards_say() {
    for (name, n) in TRIPLE_DES {
        assert_eq!(check(&one_of_corpus(name)) as u64, n, "{name}");
    }
}

/// Triple DES on engines that have it only as circuits: every vector passes, and none is left out.
#[test]
fn triple_des_runs_where_there_are_circuits() {
    for options in [among("garble", 2), among("mixed", 2), rep3()] {
        for (name, n) in TRIPLE_DES {
            let report = run(one_of_corpus(name), &options);
            assert_eq!(counts(&report), (n, 0, 0), "{} {name}", options.engine.name());
        }
    }
}

/// Two messages in CTR by triple DES, one of which ends within a block; the counter of the other wraps
/// around.
fn counted() -> Asked {
    let key: Vec<u8> = (0..24).map(|i| 2 * i + 1).collect();
    let (mut messages, mut inputs) = (Vec::new(), Rows::default());
    for (iv, bytes) in [([7; 8], 13), ([0xff; 8], 16)] {
        messages.push(ModeMessage {
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
    let job = ModesJob { mode: CipherMode::Ctr, cipher, messages }.into();
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
    let two = ["spdz", "garble", "mixed"].map(|engine| among(engine, 2));
    for options in two.into_iter().chain([by_default("plain"), rep3()]) {
        let (rows, of) = answers(counted(), &options);
        let engine = options.engine.name();
        assert_eq!((of, [rows.row(0), rows.row(1)].concat()), (vec![0, 1], expected.clone()), "{engine}");
    }
}

#[test]
fn modes_run_garbled() {
    let contents = standards().take(5);
    // of each mode of Wycheproof the shortest text that is there
    let short = all(7).into_iter().map(|mut content| {
        let fits = |v: &Vector| v.expected == Expected::Valid && !v.plaintext.is_empty();
        let messages = || content.groups.iter().flat_map(|group| &group.vectors).filter(|v| fits(v));
        let shortest = messages().map(|vector| vector.plaintext.len()).min();
        for group in &mut content.groups {
            group.vectors.retain(|vector| fits(vector) && Some(vector.plaintext.len()) == shortest);
            group.vectors.truncate(1);
        }
        content.groups.retain(|group| !group.vectors.is_empty());
        content.groups.truncate(1);
        content
    });
    for content in contents.chain(short) {
        let n = vectors(&content);
        assert!(n > 0);
        let report = run(content, &among("garble", 2));
        assert_eq!(counts(&report), (n, 0, 0), "{:?}", report.algorithms);
    }
}

/// For a message whose tag is wrong in any byte, the outputs of the circuit reveal only that: the message is
/// zeros. For a MAC the output is one bit.
#[test]
fn a_circuit_compares_every_byte_of_a_tag_and_keeps_what_is_not_authentic() {
    let gcm = gcm();
    let test = &gcm["testGroups"][0]["tests"][0];
    let [key, iv, tag] = ["key", "iv", "tag"].map(|name| test[name].clone());
    let mac = json!({ "tcId": 1, "result": "invalid", "key": key, "iv": iv, "msg": "feedface", "tag": tag });
    let mac = parse(&json!({ "algorithm": "AES-GMAC", "testGroups": [{ "tests": [mac] }] })).unwrap();
    let mut group = mac.functions[0].clone();
    let right = {
        let asked = group.ask();
        let plain = plain();
        let mut made = group.clone();
        (made.vectors[0].makes, made.vectors[0].compares) = (true, false);
        let (tag, _) = answers(made.ask(), &plain);
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
        let asked = group.ask();
        let rows = in_the_clear(&asked.job, &asked.inputs).unwrap();
        assert_eq!(rows.count(), group.vectors.len());
        assert!(
            rows.iter().all(|row| row.len() > 8 && row.iter().all(|byte| *byte == 0)),
            "{}",
            group.algorithm
        );
    }
}
