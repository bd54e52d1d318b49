//! Files of ACVP as its server writes them: questions and answers in two files, bit lengths, verification,
//! tests whose answers are the next inputs.
//!
//! Vectors: usnistgov/ACVP-Server, gen-val/json-files (a work of the United States government, in the public
//! domain), where nothing else is said; a few of each file.

use super::read::{UNANSWERED, join};
use super::tests::on;
use super::tests_of_functions::counts;
use super::tests_of_long::ordinary;
use super::*;
use divisi_fuzz::repetitions;
use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn engines() -> [KatOptions; 3] {
    let options = |engine, security| on(engine, Protocol::Gf4Circuit, security);
    [
        options("rep3", Security::Malicious),
        options("rep3", Security::SemiHonest),
        options("plain", Security::Malicious),
    ]
}

/// The numbers of vectors that passed, that failed, and, by reason, that were not run.
pub(super) fn ran(files: &[(&str, &Value)], options: &KatOptions) -> (u64, u64, BTreeMap<String, u64>) {
    let mut files: Vec<(String, Value)> =
        files.iter().map(|(name, json)| ((*name).to_owned(), (*json).clone())).collect();
    join(&mut files).unwrap();
    let contents: Vec<_> = files.into_iter().map(|(name, json)| (name, parse(&json).unwrap())).collect();
    let report = run_contents(&contents, options).unwrap();
    let mut reasons = BTreeMap::new();
    for (reason, n) in report.algorithms.iter().flat_map(|tally| &tally.unsupported) {
        *reasons.entry(reason.clone()).or_default() += n;
    }
    let sum = |figure: fn(&Tally) -> u64| report.algorithms.iter().map(figure).sum();
    (sum(|t| t.passed), sum(|t| t.failed), reasons)
}

fn file(algorithm: &str, revision: &str, groups: Value) -> Value {
    json!({ "vsId": 0, "algorithm": algorithm, "revision": revision, "isSample": false, "testGroups": groups })
}

fn group(mut head: Value, tests: Value) -> Value {
    head["tests"] = tests;
    head
}

/// ACVP-AES-GMAC-1.0: prompt.json and expectedResults.json.
pub(super) fn gmac() -> [Value; 2] {
    let head = |id: u64, direction: &str, iv: u64, aad: u64, tag: u64| {
        json!({ "tgId": id, "testType": "AFT", "direction": direction, "keyLen": 128, "ivLen": iv, "ivGen": "external",
            "ivGenMode": "8.2.2", "payloadLen": 0, "aadLen": aad, "tagLen": tag })
    };
    let prompt = json!([
        group(
            head(1, "encrypt", 120, 120, 128),
            json!([
                { "tcId": 1, "key": "8FA89CE32BAFD241E64FED4EC3622043", "aad": "04857D11758185BC30BEFFD1562144", "iv": "06A1D52255A40CBED2A86FFF4B1435" },
            ])
        ),
        group(
            head(2, "encrypt", 96, 0, 32),
            json!([
                { "tcId": 16, "key": "E3F49ACE9713B2EC43B5AA9D0E0CF119", "aad": "", "iv": "CE5AD159921FCB89FB95BF7A" },
                { "tcId": 17, "key": "535BD1730BF3201F1518FB44548A4956", "aad": "", "iv": "C1D9FF4DE97333B1052F354F" },
            ])
        ),
        group(
            head(4, "decrypt", 96, 0, 128),
            json!([
                { "tcId": 46, "key": "347026F63EC77C409CFAFC2A99D21369", "aad": "", "iv": "4C488F70B33239DA24B0DF7F",
                  "tag": "D61806586FAD3E6C64F120BD86D15B9D" },
                { "tcId": 49, "key": "841189C64897CCA598228A61A6E86583", "aad": "", "iv": "0034DFEAADEE7FD50D5F3B11",
                  "tag": "F8A6A21327EC2DB39A4C43A0AC3458A8" },
                { "tcId": 52, "key": "A372F9B1BFB1D0E5D042FBE69B894AD3", "aad": "", "iv": "A709ACF05263ABCCF016F872",
                  "tag": "B2D354963FF324824A5A3D16203FB65F" },
            ])
        ),
    ]);
    let results = json!([
        { "tgId": 1, "tests": [{ "tcId": 1, "tag": "B6FD5B21FE257AFB531B0C35B0A45FA2" }] },
        { "tgId": 2, "tests": [{ "tcId": 16, "tag": "DDF76017" }, { "tcId": 17, "tag": "D1D8B284" }] },
        { "tgId": 4, "tests": [{ "tcId": 46, "testPassed": true }, { "tcId": 49, "testPassed": false }, { "tcId": 52, "testPassed": false }] },
    ]);
    [prompt, results].map(|groups| file("ACVP-AES-GMAC", "1.0", groups))
}

/// SHAKE-128-FIPS202: prompt.json and expectedResults.json.
fn shake() -> [Value; 2] {
    let prompt = json!([{ "tgId": 1, "testType": "AFT", "tests": [
        { "tcId": 267, "msg": "188784DD578996436DDF1413430AC8C14EBB45CB2DEA9C15C6DA0A4883C4368F92922D9586781E185616956F6CBFDEDD7695735D259979451C0A5676A2EC59024F80D322E73F56C2186A65A730B8201C51AC35DDC6860F65B514D5DD",
          "len": 736, "outLen": 352 },
        { "tcId": 269, "msg": "EF5079200B37B8FD12B1030F89A4584072A4CDE7924D0EDAD1BC8CD13CE56A0FEF2F", "len": 272, "outLen": 496 },
    ] }]);
    let results = json!([{ "tgId": 1, "tests": [
        { "tcId": 267, "md": "C693C4516451B75F3C71EEBB29528846E543C6A730A4C95B96FE996F72DC1C94A290819C0A0CAE8D0FD2E830" },
        { "tcId": 269, "md": "42719B53BF839EFB5131E56AAC718699139C851DB773332377B08829A89FE4A7958F904FFAB4E2B86A9117E1F90814C3AA6742389608867DEBC410E40586" },
    ] }]);
    [prompt, results].map(|groups| file("SHAKE-128", "FIPS202", groups))
}

#[test]
fn questions_and_answers_in_two_files() {
    let ([gmac, gmac_results], [shake, shake_results]) = (gmac(), shake());
    for options in engines() {
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
    let [prompt, results] = [prompt, results].map(|groups| file("ACVP-AES-ECB", "1.0", groups));
    for options in engines() {
        let (passed, failed, reasons) = ran(&[("p", &prompt), ("r", &results)], &options);
        assert_eq!((passed, failed, reasons[UNANSWERED]), (2, 0, 1));
    }
}

/// HMAC-SHA2-256-2.0, SHA2-256-1.0 and KMAC-128-1.0, internalProjection.json: keys of odd lengths, short
/// tags, lengths in bits.
#[test]
fn questions_with_their_answers() {
    let hmac = json!([{ "tgId": 1, "testType": "AFT", "tests": [
        { "tcId": 6, "key": "77C88C89DFB17ECF6FCB01C410AFF1A7E4", "keyLen": 136, "msg": "F5E177CB6C538DCE126294", "msgLen": 88,
          "mac": "EA8E6CDB7C5097F016F5F7B3A6ED00", "macLen": 120 },
        { "tcId": 16, "key": "238D20BC0CA7987EE33AE7CA2173", "keyLen": 112, "msg": "", "msgLen": 0, "mac": "20B34AE451A5DD4056D0A40B409BC59183", "macLen": 136 },
        { "tcId": 26, "key": "43", "keyLen": 8, "msg": "C8F043583C283B7ED84E193A7768FA6BEDC2773F47885C6B37E6619DFD18DFD4E9C7A70AE890ED3ACFED0A68377CF94F3E283B3EE165A16FFB2CE82A630A6BE3B751B670B73994290158A5E8F857982011C4A869FC96269F375F",
          "msgLen": 720, "mac": "FA81DA95C3643F2E7BDA9C0B155C9C35F30A", "macLen": 144 },
        { "tcId": 30, "key": "DB44D577A5A9FF0578B268F6A8185DFE550CF298162DD078CA4487418DD2B13176B6C15BEA612103A07C0E9D82D41C02062AC579B4E1D09C9FBFD8C7ACA0818750EBCAC41A64291A86A77AE6CA7038A30C33E20F5A011C417ADCBF147BA8AA1B63D90DBA772835E8391F7AD0234B785FD4546F56BBE5605EA642EC504C633901779D3243CF0CF77B8A9DF4BA5FC283672D0C77B5A922B8951CDDC66FA4C0852DDADA93A6B3A56B4B091978737A7C3B6DB19111D29014DB0B43E5E9",
          "keyLen": 1496, "msg": "C8836B1A", "msgLen": 32, "mac": "3C74EE725F486B08A621", "macLen": 80 },
    ] }]);
    let sha = json!([
        { "tgId": 1, "function": "SHA2", "digestSize": "256", "mctVersion": "standard", "testType": "AFT", "tests": [
            { "tcId": 6, "len": 1856, "md": "FDB5A26B088914D3E312441C13FD57D857297A5E631C93BB3B771A1726AFC1D6",
              "msg": "54587CFB96534FF700D8D6CE18DCF02105DF042037FB99746E9A7DEAF29467937ED9575EE65FB003D52E1ABADB821AAB789B71786E81C6ACB6635A475624261B93B250338869BC775872A1FEA750D8C8E2D30F18AFFA45CE0CE0C7A3D60875772CC20BB34BFC7F87B32173B450D28C7E073050CC9C52DE9F659B3008F07099CC26F2D034CEDFF932A0AB6A8E9AAA6A3CE9B8146FD59C69FDF7DA92442F1F331EB00E5EBB0F76361BA02569064FD57AF8E05F28248F49DA85ADDFAA05FB995709B2BA6414A24B9B11DCA3B8AF2217DDA1DF8EDE8629E5D914220106AB8812BF59D48B1D2C775986BF" },
        ] },
        { "tgId": 3, "function": "SHA2", "digestSize": "256", "mctVersion": "standard", "testType": "LDT", "tests": [
            { "tcId": 514, "len": 0, "md": "171CBE0FEF605AE836E05A778CDE031E8D475D2F117D121065543ABC89CC76B7",
              "largeMsg": { "content": "12735C605F3D270C", "contentLength": 64, "fullLength": 8_589_934_592_u64, "expansionTechnique": "repeating" } },
        ] },
        { "tgId": 2, "function": "SHA2", "digestSize": "256", "mctVersion": "standard", "testType": "MCT", "tests": [
            { "tcId": 513, "msg": "00", "len": 8, "resultsArray": [{ "md": "98B66078E81E35ACAF3543CF2BF3D1F6EED843C592A6BAD2AE07204C2B2C5817", "outLen": 256 }] },
        ] },
    ]);
    let kmac = json!([
        group(
            json!({ "tgId": 8, "testType": "MVT", "xof": false, "msgLen": 0, "hexCustomization": true }),
            json!([
                { "tcId": 799, "testPassed": true, "key": "86EB4C00391AF47067546C3CB8F43129B28B5F886B092D53E06FE73736B5B6D65CE8A25FA9C2E280", "keyLen": 313,
                  "msg": "A340", "msgLen": 10, "mac": "B7942D14C88DF66CF7016324D2A0A05F00AFB64D159C094D5DB7B070E0272C01975A7770DA1674F5D0", "macLen": 324,
                  "customization": "", "customizationHex": "" }
            ])
        ),
        group(
            json!({ "tgId": 9, "testType": "MVT", "xof": true, "msgLen": 0, "hexCustomization": true }),
            json!([
                // of SP 800-185, sample 5
                { "tcId": 801, "testPassed": true, "key": "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f", "keyLen": 256, "msg": "00010203", "msgLen": 32,
                  "mac": "31a44527b4ed9f5c6101d11de6d26f0620aa5c341def41299657fe9df1a3b16c", "macLen": 256, "customization": "",
                  "customizationHex": hex::encode("My Tagged Application") },
                { "tcId": 802, "testPassed": false, "key": "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f", "keyLen": 256, "msg": "00010203", "msgLen": 32,
                  "mac": "31a44527b4ed9f5c6101d11de6d26f0620aa5c341def41299657fe9df1a3b16c", "macLen": 256, "customization": "", "customizationHex": "00" },
            ])
        )
    ]);
    let [hmac, sha, kmac] =
        [("HMAC-SHA2-256", "2.0", hmac), ("SHA2-256", "1.0", sha), ("KMAC-128", "1.0", kmac)]
            .map(|(algorithm, revision, groups)| file(algorithm, revision, groups));
    for options in engines() {
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
    let gmac = file(
        "ACVP-AES-GMAC",
        "1.0",
        json!([{ "tgId": 1, "testType": "AFT", "direction": "encrypt", "tests": tests[1..] },
            { "tgId": 2, "testType": "AFT", "direction": "encrypt", "tests": tests[..2] }]),
    );
    for options in engines() {
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
        file("SHA3-256", "2.0", groups)
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
        counts(&run_contents(&[("mct".into(), content)], options).unwrap())
    };
    let [rep3, _, plain] = &engines();
    let mut ends = ends(steps);
    for options in [rep3, plain] {
        assert_eq!(short(&ends, options), (1, 0, 0));
    }
    let wrong = if ends[1].starts_with('0') { "1" } else { "0" };
    ends[1].replace_range(..1, wrong);
    assert_eq!(short(&ends, plain), (0, 1, 0));
    for (other, reason) in [
        (sha3(&right, "alternate", 256), "needs --long"),
        (sha3(&right, "another", 256), "a Monte Carlo test of a version that is not supported"),
        (sha3(&right, "standard", 255), "no whole number of bytes"),
        (sha3(&[], "standard", 256), "without digests"),
        (sha3(&["00"], "standard", 256), "without digests"),
    ] {
        let (passed, failed, reasons) = ran(&[("mct", &other)], rep3);
        assert_eq!((passed, failed, reasons.len()), (0, 0, 1));
        assert!(reasons.keys().all(|told| told.contains(reason)), "{reasons:?}");
    }
}

/// A vector whose declared length is false is counted as not run; the length is not believed.
#[test]
fn lengths_that_lie_are_counted() {
    let sha = file(
        "SHA3-256",
        "2.0",
        json!([{ "tgId": 1, "testType": "AFT", "tests": [
            { "tcId": 1, "msg": "00", "len": 16, "md": "00" },
            { "tcId": 2, "msg": "00", "len": u64::MAX - 7, "md": "00" },
            { "tcId": 3, "msg": "6162636465", "len": 24, "md": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532" },
            { "tcId": 4, "msg": 7, "len": 24, "md": "00" },
            { "tcId": 5, "msg": "6162", "len": 15, "md": "no" },
            { "tcId": 6 },
        ] }]),
    );
    let (passed, failed, reasons) = ran(&[("sha", &sha)], &engines()[0]);
    assert_eq!((passed, failed, reasons.values().sum::<u64>()), (1, 0, 5), "{reasons:?}");
    assert_eq!(reasons["a message that is shorter than its length says"], 2);
}
