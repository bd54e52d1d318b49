//! Files of ACVP as its server writes them: questions and answers in two files, bit lengths, verification,
//! tests whose answers are the next inputs.
//!
//! Vectors: usnistgov/ACVP-Server, gen-val/json-files (a work of the United States government, in the public
//! domain), where nothing else is said; a few of each file, in tests/vectors/acvp.json.

use super::read::{UNANSWERED, join};
use super::scaffold::{acvp, counts, group, plain, ran, rep3, run, three_and_plain, vectors_in};
use super::tests_of_long::ordinary;
use super::*;
use divisi_fuzz::repetitions;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn questions_and_answers_in_two_files() {
    let files = vectors_in("acvp.json");
    let [gmac, gmac_results, shake, shake_results] =
        ["/gmac/0", "/gmac/1", "/shake/0", "/shake/1"].map(|place| files.pointer(place).unwrap().clone());
    for options in three_and_plain() {
        // in any order, and as servers send them, behind a version
        let wrapped = json!([{ "acvVersion": "1.0" }, gmac_results]);
        let files = [("a", &wrapped), ("b", &shake), ("c", &gmac), ("d", &shake_results)];
        let (passed, failed, reasons) = ran(&files, &options);
        // one has an IV of 120 bits
        assert_eq!((passed, failed, reasons), (6 + 2, 0, BTreeMap::new()));
        // questions without answers are counted as not run
        let (passed, _, reasons) = ran(&[("b", &shake)], &options);
        assert_eq!((passed, reasons.into_iter().collect::<Vec<_>>()), (0, vec![(UNANSWERED.to_owned(), 2)]));
        // a wrong answer is wrong, and a wrong verdict too
        let mut wrong = gmac_results.clone();
        wrong["testGroups"][1]["tests"][0]["tag"] = json!("DDF76016");
        wrong["testGroups"][2]["tests"][1]["testPassed"] = json!(true);
        assert_eq!(ran(&[("c", &gmac), ("d", &wrong)], &options).1, 2);
    }
    // answers without their questions are refused, and say what is missing
    for others in [vec![], vec![("b".to_owned(), shake)]] {
        let mut files = [others, vec![("results.json".to_owned(), gmac_results.clone())]].concat();
        let why = join(&mut files).unwrap_err();
        assert!(why.contains("results.json") && why.contains("prompt.json"), "{why}");
    }
}

/// The blocks of AES (FIPS 197, C), in both directions.
#[test]
fn blocks_in_two_files() {
    let (pt, ct) = ("00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a");
    let key = "000102030405060708090a0b0c0d0e0f";
    let head = |id: u64, direction: &str| json!({ "tgId": id, "testType": "AFT", "direction": direction, "keyLen": 128 });
    let prompt = json!([
        group(
            head(1, "encrypt"),
            json!([{ "tcId": 1, "key": key, "pt": pt }, { "tcId": 2, "key": key, "pt": pt }])
        ),
        group(head(2, "decrypt"), json!([{ "tcId": 3, "key": key, "ct": ct }])),
    ]);
    let results = json!([
        { "tgId": 1, "tests": [{ "tcId": 1, "ct": ct }] },
        { "tgId": 2, "tests": [{ "tcId": 3, "pt": pt }] },
    ]);
    let [prompt, results] = [prompt, results].map(|groups| acvp("ACVP-AES-ECB", groups));
    for options in three_and_plain() {
        let (passed, failed, reasons) = ran(&[("p", &prompt), ("r", &results)], &options);
        assert_eq!((passed, failed, reasons[UNANSWERED]), (2, 0, 1));
    }
}

/// Keys of odd lengths, short tags, lengths in bits.
#[test]
fn questions_with_their_answers() {
    let files = vectors_in("acvp.json");
    let [hmac, sha, kmac] = ["hmac", "sha", "kmac"].map(|name| files[name].clone());
    for options in three_and_plain() {
        assert_eq!(ran(&[("hmac", &hmac)], &options), (4, 0, BTreeMap::new()));
        let (passed, failed, reasons) = ran(&[("sha", &sha)], &options);
        assert_eq!((passed, failed), (1, 0));
        assert_eq!(reasons.into_iter().collect::<Vec<_>>(), [("needs --long".to_owned(), 2)]);
        let (passed, failed, reasons) = ran(&[("kmac", &kmac)], &options);
        // one has a key, a message and a tag that end within a byte
        assert_eq!((passed, failed, reasons), (3, 0, BTreeMap::new()));
    }
}

/// Long messages, which are processed piece by piece, have the tags that a library computes.
#[test]
fn messages_of_several_pieces() {
    let text: Vec<u8> = (0..5000).map(|i| (i * 7 + i / 256) as u8).collect();
    let (key, iv) = ([7_u8; 16], [9_u8; 12]);
    use aes_gcm::aead::{Aead, KeyInit, Payload};
    let cipher = aes_gcm::Aes128Gcm::new_from_slice(&key).unwrap();
    let sealed =
        |length: usize| cipher.encrypt(&iv.into(), Payload { msg: b"", aad: &text[..length] }).unwrap();
    let tests: Vec<Value> = [2047, 4096, 4097, 5000]
        .iter()
        .map(|length| {
            let (key, iv, aad) = (hex::encode(key), hex::encode(iv), hex::encode(&text[..*length]));
            let (bits, tag) = (8 * length, hex::encode(sealed(*length)));
            json!({ "tcId": length, "testPassed": true, "key": key, "iv": iv, "aad": aad, "aadLen": bits, "tag": tag })
        })
        .collect();
    let gmac = acvp(
        "ACVP-AES-GMAC",
        json!([{ "tgId": 1, "testType": "AFT", "direction": "encrypt", "tests": tests[1..] },
            { "tgId": 2, "testType": "AFT", "direction": "encrypt", "tests": tests[..2] }]),
    );
    for options in three_and_plain() {
        assert_eq!(ran(&[("gmac", &gmac)], &options), (5, 0, BTreeMap::new()));
    }
}

/// The last two chains of the Monte Carlo test of SHA3-256-2.0, internalProjection.json: two thousand
/// digests, one after the other. An ordinary library ends where NIST does, and our engines are where the
/// library is.
#[test]
fn digests_of_digests() {
    const SEED: &str = "D1352F51BDDF931ED64113289D8605CF8229C2A0217BD4330EFAD73FB3E247CF";
    let sha3 = |md: &[&str], version: &str, len: u64| {
        let results: Vec<Value> = md.iter().map(|md| json!({ "md": md, "outLen": 256 })).collect();
        let tests = json!([{ "tcId": 121, "msg": SEED, "len": len, "resultsArray": results }]);
        let groups = json!([{ "tgId": 2, "testType": "MCT", "mctVersion": version, "tests": tests }]);
        acvp("SHA3-256", groups)
    };
    let right = [
        "68B9778D1B1223AC5D2B306F7DE94CB5D5A78B576CADA5C3D54538289722F177",
        "21FF21028315C2B3A3E090C683D438D0B99EE9224A8878FAA5555AB1F629EC21",
    ];
    let ends = |steps: usize| {
        let mut digest = hex::decode(SEED).unwrap();
        [(); 2].map(|()| {
            (0..steps).for_each(|_| digest = ordinary("sha3-256", &digest, 32));
            hex::encode_upper(&digest)
        })
    };
    assert_eq!(ends(1000), right);
    let steps = repetitions(100, 1000);
    let short = |ends: &[String; 2], options: &KatOptions| {
        let mut content = parse(&sha3(&ends.each_ref().map(String::as_str), "standard", 256)).unwrap();
        let [chain] = &mut content.chains[..] else { panic!("one chain") };
        assert_eq!(std::mem::replace(&mut chain.steps, steps), 1000);
        counts(&run(content, options))
    };
    let mut ends = ends(steps);
    for options in [rep3(), plain()] {
        assert_eq!(short(&ends, &options), (1, 0, 0));
    }
    let wrong = if ends[1].starts_with('0') { "1" } else { "0" };
    ends[1].replace_range(..1, wrong);
    assert_eq!(short(&ends, &plain()), (0, 1, 0));
    for (other, reason) in [
        (sha3(&right, "alternate", 256), "needs --long"),
        (sha3(&right, "another", 256), "a Monte Carlo test of a version that is not supported"),
        (sha3(&right, "standard", 255), "no whole number of bytes"),
        (sha3(&[], "standard", 256), "without digests"),
        (sha3(&["00"], "standard", 256), "without digests"),
    ] {
        let (passed, failed, reasons) = ran(&[("mct", &other)], &rep3());
        assert_eq!((passed, failed, reasons.len()), (0, 0, 1));
        assert!(reasons.keys().all(|told| told.contains(reason)), "{reasons:?}");
    }
}

/// A vector whose declared length is false is counted as not run; the length is not believed.
#[test]
fn lengths_that_lie_are_counted() {
    let sha = acvp(
        "SHA3-256",
        json!([{ "tgId": 1, "testType": "AFT", "tests": [
            { "tcId": 1, "msg": "00", "len": 16, "md": "00" },
            { "tcId": 2, "msg": "00", "len": u64::MAX - 7, "md": "00" },
            { "tcId": 3, "msg": "6162636465", "len": 24, "md": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532" },
            { "tcId": 4, "msg": 7, "len": 24, "md": "00" },
            { "tcId": 5, "msg": "6162", "len": 15, "md": "no" },
            { "tcId": 6 },
        ] }]),
    );
    let (passed, failed, reasons) = ran(&[("sha", &sha)], &rep3());
    assert_eq!((passed, failed, reasons.values().sum::<u64>()), (1, 0, 5), "{reasons:?}");
    assert_eq!(reasons["a message that is shorter than its length says"], 2);
}
