//! What no engine can compute is unsupported, and no rejection; lengths that a file declares are those that
//! are there.

use super::scaffold::{by_default, counts, plain, run, run_file, vectors};
use super::*;
use crate::engine;
use serde_json::{Value, json};

/// A file of one vector, of `bytes` zeros each.
fn file(algorithm: &str, result: &str, members: &[(&str, usize)]) -> Value {
    let mut test = json!({ "tcId": 1, "result": result });
    for (name, bytes) in members {
        test[name] = json!("00".repeat(*bytes));
    }
    json!({ "algorithm": algorithm, "testGroups": [{ "tests": [test] }] })
}

/// Inputs that a mode does not have: a key, nonce, tag, message or wrapped key of another length.
fn not_computed() -> Vec<(Value, &'static str)> {
    let aead = |key, iv, tag| vec![("key", key), ("iv", iv), ("aad", 0), ("msg", 0), ("ct", 0), ("tag", tag)];
    let text = |key, iv, bytes| vec![("key", key), ("iv", iv), ("msg", bytes), ("ct", bytes)];
    let wrapped = |key, bytes| vec![("key", key), ("msg", bytes), ("ct", bytes)];
    let mut all = Vec::new();
    for result in ["invalid", "valid", "acceptable"] {
        for (algorithm, members, reason) in [
            ("AES-GCM-SIV", aead(24, 12, 16), "a key of 192 bits, which RFC 8452 does not have"),
            ("AES-GCM-SIV", aead(16, 11, 16), "a nonce of a length that the mode does not have"),
            ("AES-GCM-SIV", aead(16, 12, 15), "a tag of a length that the mode does not have"),
            ("AES-XTS", text(48, 16, 16), "a key of 384 bits, which IEEE 1619 does not have"),
            ("AES-XTS", text(32, 16, 15), "a message of a length that the mode does not have"),
            ("AES-CCM", aead(16, 6, 16), "a nonce of a length that the mode does not have"),
            ("AES-CCM", aead(16, 12, 3), "a tag of a length that the mode does not have"),
            ("AEAD-AES-SIV-CMAC", aead(32, 12, 15), "a tag of a length that the mode does not have"),
            ("AES-KWP", wrapped(16, 8), "a wrapped key of a length that the mode does not have"),
            ("AES-WRAP", wrapped(16, 25), "a wrapped key of a length that the mode does not have"),
            ("AES-CBC-PKCS5", text(16, 16, 15), "a message that is no whole number of blocks"),
        ] {
            // of what is to be wrapped another length is asked for
            let wraps = result == "valid" && ["AES-KWP", "AES-WRAP"].contains(&algorithm);
            // padding makes whole blocks of any message, and then the ciphertext cannot be right
            let pads = result == "valid" && algorithm == "AES-CBC-PKCS5";
            if !wraps && !pads {
                all.push((file(algorithm, result, &members), reason));
            }
        }
    }
    all
}

#[test]
fn what_cannot_be_computed_is_no_rejection_on_any_engine() {
    for engine in engine::all() {
        let options = by_default(engine.name());
        for (file, reason) in not_computed() {
            let report = run_file(&file, &options);
            assert_eq!(counts(&report), (0, 0, 1), "{} {file}", engine.name());
            let reasons = &report.algorithms[0].unsupported;
            // spdz has no GCM-SIV at all
            let own = reasons.keys().any(|own| own.contains("GF(2^128)"));
            assert!(own || reasons.contains_key(reason), "{} {file}: {reasons:?}", engine.name());
        }
    }
}

/// A vector that is refused does not take others with it.
#[test]
fn what_can_be_computed_beside_it_is() {
    let mut file = file("AES-WRAP", "invalid", &[("key", 16), ("msg", 16), ("ct", 25)]);
    let tests = file["testGroups"][0]["tests"].as_array_mut().unwrap();
    let mut other = tests[0].clone();
    other["ct"] = json!("00".repeat(24));
    tests.push(other);
    let content = parse(&file).unwrap();
    for engine in ["plain", "rep3"] {
        assert_eq!(counts(&run(content.clone(), &by_default(engine))), (1, 0, 1), "{engine}");
    }
}

/// A ciphertext of nothing has no block that could be decrypted.
#[test]
fn no_block_is_no_rejection() {
    let empty = file("AES-CBC-PKCS5", "invalid", &[("key", 16), ("iv", 16), ("msg", 0), ("ct", 0)]);
    let reasons: Vec<_> = parse(&empty).unwrap().unsupported.into_keys().map(|(_, reason)| reason).collect();
    assert_eq!(reasons, ["a ciphertext without a block"]);
}

/// The length of a tag that a group or a test declares, in both formats: with the right one a vector runs,
/// with another it is counted and the two lengths are named.
#[test]
fn declared_lengths_are_compared() {
    let acvp = |algorithm: &str, direction: &str, members: &[(&str, usize)]| {
        let mut file = file(algorithm, "valid", members);
        file["testGroups"][0]["testType"] = json!("AFT");
        file["testGroups"][0]["direction"] = json!(direction);
        file["testGroups"][0]["tests"][0]["testPassed"] = json!(true);
        file
    };
    let sealed = |bytes| [("key", 16), ("iv", 12), ("aad", 3), ("msg", 5), ("ct", 5), ("tag", bytes)];
    let gcm = [("key", 16), ("iv", 12), ("aad", 3), ("pt", 5), ("ct", 5), ("tag", 15)];
    let cases = [
        (file("AES-GCM", "invalid", &sealed(15)), "tagSize", 120),
        (file("AES-CCM", "valid", &sealed(12)), "tagSize", 96),
        (file("AES-CMAC", "valid", &[("key", 16), ("msg", 1), ("tag", 12)]), "tagSize", 96),
        (file("HMACSHA256", "acceptable", &[("key", 9), ("msg", 1), ("tag", 20)]), "tagSize", 160),
        (acvp("ACVP-AES-GCM", "encrypt", &gcm), "tagLen", 120),
        (acvp("ACVP-AES-GMAC", "encrypt", &gcm), "tagLen", 120),
        (acvp("HMAC-SHA2-256", "gen", &[("key", 32), ("msg", 16), ("mac", 20)]), "macLen", 160),
        (acvp("CMAC-AES", "ver", &[("key", 16), ("msg", 1), ("mac", 8)]), "macLen", 64),
        (acvp("CMAC-TDES", "ver", &[("key", 24), ("msg", 1), ("mac", 7)]), "macLen", 56),
    ];
    for (file, name, right) in cases {
        for (bits, runs) in [(right, true), (right + 8, false), (right - 8, false)] {
            let mut file = file.clone();
            file["testGroups"][0][name] = json!(bits);
            let content = parse(&file).unwrap();
            assert_eq!(vectors(&content), u64::from(runs), "{name} {bits}: {:?}", content.unsupported);
            let reason = format!("a tag of {right} bits where {bits} are declared");
            let named = content.unsupported.keys().any(|(_, own)| *own == reason);
            assert_eq!(named, !runs, "{:?}", content.unsupported);
        }
    }
}

/// A file of nothing but vectors that contradict it is no mistake of the caller: they are counted.
#[test]
fn a_file_that_contradicts_itself_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("v.json");
    let mut contradicts = file("HMACSHA1", "valid", &[("key", 16), ("msg", 1), ("tag", 20)]);
    contradicts["testGroups"][0]["tagSize"] = json!(112);
    std::fs::write(&path, contradicts.to_string()).unwrap();
    let report = super::run(&[path], &plain()).unwrap();
    assert_eq!(counts(&report), (0, 0, 1));
    assert!(report.algorithms[0].unsupported.contains_key("a tag of 160 bits where 112 are declared"));
}
