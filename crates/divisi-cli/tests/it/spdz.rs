//! Masked tables over authenticated shares, through the command line: every protocol in both directions,
//! known answers, circuits among parties that keep outputs to themselves, and what is refused.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_divisi");

fn divisi(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .env(divisi::calibrate::VARIABLE, "50")
        .current_dir(dir)
        .args(arguments)
        .args(["--json", "--timeout", "60"])
        .output()
        .unwrap()
}

fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

fn phase<'t>(told: &'t Value, name: &str) -> &'t Value {
    let phases = told["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["name"] == name).unwrap()
}

/// KOR+17, Table 2: rounds, openings and bits of a block, whatever the preprocessing and the direction of
/// tables; and the size of the buckets of two blocks, of MASCOT none.
#[test]
fn blocks_cost_what_the_paper_says() {
    let dir = tempfile::tempdir().unwrap();
    for (command, protocol, more, [rounds, openings, bits], bucket) in [
        ("aes", "aes-lt", &["--field", "40"][..], [10, 160, 1280], 6),
        ("aes", "aes-lt", &["--prep", "mascot", "--direction", "decrypt"], [10, 160, 1280], 0),
        ("aes", "aes-tinytable", &["--k", "2"], [10, 160, 1280], 6),
        ("aes", "aes-rp", &[], [70, 1920, 15_360], 5),
        ("aes", "aes-bd", &[], [50, 2240, 17_920], 5),
        ("des3", "3des-lt", &["--keys", "2"], [46, 384, 2304], 5),
        ("des3", "3des-tinytable", &["--direction", "decrypt"], [46, 384, 1536], 5),
        ("des3", "3des-pv", &["--statistical", "64"], [230, 3456, 27_648], 7),
        ("des3", "3des-raw", &["--field", "42"], [322, 47_232, 282_624], 4),
        ("des3", "3des-lt", &["--field", "42", "--prep", "mascot"], [46, 384, 2304], 0),
        ("des3", "3des-tinytable", &["--field", "42"], [46, 384, 1536], 5),
    ] {
        let usual = ["bench", command, "--engine", "spdz", "--parties", "2", "--protocol", protocol];
        let effort = ["--blocks", "2", "--reps", "1", "--warmup", "0"];
        let output = divisi(dir.path(), &[&usual[..], &effort, more].concat());
        let told = told(&output);
        assert!(output.status.success(), "{protocol}: {output:?}");
        assert_eq!((&told["checked"], &told["protocol"]), (&json!(true), &json!(protocol)));
        assert_eq!((&told["count"], &told["openings"]), (&json!(2), &json!(2 * openings)), "{protocol}");
        assert_eq!(told["bucket"], if bucket == 0 { Value::Null } else { json!(bucket) }, "{protocol}");
        let online = phase(&told, "online");
        let cost = (&online["rounds"], &online["bits_sent_per_party"]);
        assert_eq!(cost, (&json!(rounds), &json!(2 * bits)), "{protocol}");
        assert!(
            told["verification_error_bits"].as_f64().unwrap() >= told["statistical_bits"].as_f64().unwrap()
        );
        for name in ["setup", "preprocessing", "load", "online", "verification"] {
            phase(&told, name);
        }
        // tables are expanded in this phase, where there are any
        let loading = phase(&told, "load")["seconds"].as_f64().unwrap();
        assert!(loading > 1e-5 || !protocol.ends_with("lt") && !protocol.ends_with("table"), "{protocol}");
    }
}

/// An AND, whose one output party 3 alone learns; a block of AES that all learn.
#[test]
fn circuits_are_run_by_those_who_have_the_inputs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("and"), "2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n1 1 2 3 INV\n").unwrap();
    let run = ["run", "--engine", "spdz", "--parties", "3"];
    for (x, y) in [("0", "1"), ("1", "1")] {
        let inputs = [format!("1={x}"), format!("2={y}")];
        let more = ["--circuit", "and", "--input", &inputs[0], "--input", &inputs[1], "--output", "3"];
        let output = divisi(dir.path(), &[&run[..], &more].concat());
        let told = told(&output);
        assert!(output.status.success(), "{output:?}");
        let expected = if (x, y) == ("1", "1") { "0" } else { "1" };
        assert_eq!((&told["outputs"][0], &told["output_to"]), (&json!(expected), &json!([3])));
    }
    let (key, text) = ("2=000102030405060708090a0b0c0d0e0f", "1=00112233445566778899aabbccddeeff");
    let more = ["--circuit", "aes128", "--input", key, "--input", text];
    let output = divisi(dir.path(), &[&run[..], &more].concat());
    assert_eq!(told(&output)["outputs"][0], "69c4e0d86a7b0430d8cdb78070b4c55a", "{output:?}");
}

/// Triple DES as a circuit on each engine that has circuits: the first block of SP 800-67, appendix B.1.
#[test]
fn triple_des_is_a_circuit_on_every_engine() {
    let dir = tempfile::tempdir().unwrap();
    let (key, text) = ("1=0123456789abcdef23456789abcdef01456789abcdef0123", "2=5468652071756663");
    for engine in ["spdz", "garble", "mixed"] {
        let run = ["run", "--engine", engine, "--parties", "2", "--circuit", "des3"];
        let output = divisi(dir.path(), &[&run[..], &["--input", key, "--input", text]].concat());
        assert!(output.status.success(), "{engine}: {output:?}");
        assert_eq!(told(&output)["outputs"][0], "a826fd8ce53b855f", "{engine}");
    }
}

/// A circuit of a file, whose ANDs are the openings.
#[test]
fn circuits_are_measured() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("and"), "2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n1 1 2 3 INV\n").unwrap();
    let bench = ["bench", "circuit", "--engine", "spdz", "--parties", "2", "--circuit", "and"];
    let output =
        divisi(dir.path(), &[&bench[..], &["--count", "3", "--reps", "1", "--warmup", "0"]].concat());
    let told = told(&output);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        (&told["checked"], &told["count"], &told["unit"]),
        (&json!(true), &json!(3), &json!("evaluation"))
    );
    assert_eq!(
        (&told["engine"], &told["field_bits"], &told["prep"]),
        (&json!("spdz"), &json!(48), &json!("bucketed"))
    );
    // both factors of each AND are opened under masks
    assert!(told["openings"].as_u64().unwrap() >= 2 * 3, "{told}");
    assert!(phase(&told, "preprocessing")["bits_sent_per_party"].as_u64().unwrap() > 0);
    assert_eq!(phase(&told, "online")["rounds"], 1);
}

/// SP 800-38A and 38B, SP 800-67, as files of the validation program: what is there passes, what is changed
/// fails.
#[test]
fn known_answers_of_both_ciphers() {
    let dir = tempfile::tempdir().unwrap();
    let (key, iv) = ("2b7e151628aed2a6abf7158809cf4f3c", "000102030405060708090a0b0c0d0e0f");
    let (pt, ct) = (
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51",
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2",
    );
    let cbc = json!({ "algorithm": "ACVP-AES-CBC", "testGroups": [
        { "testType": "AFT", "direction": "encrypt", "tests": [
            { "tcId": 1, "key": key, "iv": iv, "pt": pt, "ct": ct },
            { "tcId": 2, "key": key, "iv": iv, "pt": &pt[..32], "ct": &ct[..32] },
        ] },
        { "testType": "AFT", "direction": "decrypt", "tests": [
            { "tcId": 3, "key": key, "iv": iv, "pt": pt, "ct": ct },
        ] },
        { "testType": "MCT", "direction": "encrypt", "tests": [{ "tcId": 4 }] },
    ] });
    let (key1, key2, key3) = ("0123456789abcdef", "23456789abcdef01", "456789abcdef0123");
    let des = |tc: u32, ct: &str| json!({ "tcId": tc, "key1": key1, "key2": key2, "key3": key3, "pt": "5468652071756663", "ct": ct });
    let ecb = |ct: &str| {
        json!({ "algorithm": "ACVP-TDES-ECB", "testGroups": [
            { "testType": "AFT", "direction": "encrypt", "tests": [des(1, ct)] },
            { "testType": "AFT", "direction": "decrypt", "tests": [des(2, ct)] },
        ] })
    };
    let tag = |tag: &str, passed: bool| json!({ "tcId": 1, "key": key, "message": "", "msgLen": 0, "mac": tag, "testPassed": passed });
    let right = "bb1d6929e95937287fa37d129b756746";
    let cmac = json!({ "algorithm": "CMAC-AES", "testGroups": [
        { "testType": "AFT", "direction": "gen", "tests": [tag(right, true)] },
        { "testType": "AFT", "direction": "ver", "tests": [tag(right, true)] },
        { "testType": "AFT", "direction": "ver", "tests": [tag("bb1d6929e95937287fa37d129b756747", false)] },
    ] });
    for (name, content, passed, failed) in [
        ("cbc", cbc, 3, 0),
        ("ecb", ecb("a826fd8ce53b855f"), 2, 0),
        ("wrong", ecb("a826fd8ce53b855e"), 0, 2),
        ("cmac", cmac, 3, 0),
    ] {
        std::fs::write(dir.path().join(name), content.to_string()).unwrap();
        for parties in ["2", "3"] {
            let output = divisi(dir.path(), &["kat", "--engine", "spdz", "--parties", parties, name]);
            let tally = &told(&output)["algorithms"][0];
            let found = (&tally["passed"], &tally["failed"]);
            assert_eq!(found, (&json!(passed), &json!(failed)), "{name} {parties}: {output:?}");
            // the Monte Carlo test is counted, and not run
            let others = tally["unsupported"].as_object().unwrap().values().map(|n| n.as_u64().unwrap());
            assert_eq!(others.sum::<u64>(), u64::from(name == "cbc"), "{tally}");
            assert_eq!(output.status.code(), Some(i32::from(failed > 0)));
        }
    }
    // tags whose cipher runs over masks first: SP 800-38B's examples 1 to 3
    let message = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411";
    let gen_of = |tc: u32, bytes: usize, mac: &str| {
        let (text, bits) = (&message[..2 * bytes], 8 * bytes);
        json!({ "tcId": tc, "key": key, "message": text, "msgLen": bits, "mac": mac, "testPassed": true })
    };
    let tags = json!({ "algorithm": "CMAC-AES", "testGroups": [{ "testType": "AFT", "direction": "gen", "tests": [
        gen_of(1, 0, right),
        gen_of(2, 16, "070a16b46b4d4144f79bdd9dd04a287c"),
        gen_of(3, 40, "dfa66747de9ae63030ca32611497c827"),
    ] }] });
    std::fs::write(dir.path().join("tags"), tags.to_string()).unwrap();
    let tiny = ["kat", "--engine", "spdz", "--parties", "2", "--protocol", "aes-tinytable", "tags", "cmac"];
    let output = divisi(dir.path(), &tiny);
    let found = told(&output);
    assert!(output.status.success(), "{output:?}");
    let tally = &found["algorithms"][0];
    assert_eq!((&tally["passed"], &tally["failed"]), (&json!(6), &json!(0)), "{found}");
    // and from a stock
    let make = ["prep", "make", "--protocol", "aes-lt", "--blocks", "9", "--parties", "2", "--out", "stock"];
    assert!(divisi(dir.path(), &make).status.success());
    let stocked = ["kat", "--engine", "spdz", "--parties", "2", "--prep-from", "stock", "cbc"];
    let output = divisi(dir.path(), &stocked);
    assert_eq!(told(&output)["algorithms"][0]["passed"], json!(3), "{output:?}");
    // of another cipher: counted, and nothing is left that ran
    let output = divisi(dir.path(), &["kat", "--engine", "spdz", "--protocol", "3des-pv", "cbc"]);
    assert_eq!(output.status.code(), Some(1));
    let unsupported = told(&output)["algorithms"][0]["unsupported"].to_string();
    assert!(unsupported.contains("3des-pv is for triple DES"), "{unsupported}");
}

/// Modes over each field of MACs, by which it is decided how a tag is compared: over 40 bits by matrices of
/// 5 x 5 bytes, over 42, which hold no bytes, by elements of GF(2^6). SP 800-38A's and 38B's examples; the
/// texts of triple DES are SP 800-67's.
#[test]
fn modes_over_each_field() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, algorithm: &str, groups: Value| {
        let content = json!({ "algorithm": algorithm, "testGroups": groups });
        std::fs::write(dir.path().join(name), content.to_string()).unwrap();
    };
    let group = |direction: &str, tests: Value| json!({ "testType": "AFT", "direction": direction, "payloadLen": 160, "tests": tests });
    let key = "2b7e151628aed2a6abf7158809cf4f3c";
    let pt = "6bc1bee22e409f96e93d7e117393172aae2d8a57";
    let ctr = json!([{ "tcId": 1, "key": key, "iv": "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "pt": pt,
        "ct": "874d6191b620e3261bef6864990db6ce9806f66b", "payloadLen": 160 }]);
    file("ctr", "ACVP-AES-CTR", json!([group("encrypt", ctr.clone()), group("decrypt", ctr)]));
    let cbc = json!([{ "tcId": 1, "key": key, "iv": "000102030405060708090a0b0c0d0e0f", "pt": &pt[..32],
        "ct": "7649abac8119b246cee98e9b12e9197d" }]);
    file("cbc", "ACVP-AES-CBC", json!([group("encrypt", cbc.clone()), group("decrypt", cbc)]));
    let gcm = json!([{ "tcId": 1, "key": key, "iv": "000102030405060708090a0b", "aad": "", "pt": pt, "ct": pt, "tag": key }]);
    file("gcm", "ACVP-AES-GCM", json!([group("encrypt", gcm)]));
    // a right tag, and two of which one bit is wrong
    let tags = |name: &str, algorithm: &str, key: Value, message: &str, right: &str| {
        let tag = |tag: String, passed: bool| {
            let mut test = key.clone();
            let bits = 4 * message.len();
            let more =
                json!({ "tcId": 1, "message": message, "msgLen": bits, "mac": tag, "testPassed": passed });
            test.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            test
        };
        let first = u8::from_str_radix(&right[..2], 16).unwrap() ^ 0x80;
        let (body, last) = right.split_at(right.len() - 2);
        let last = u8::from_str_radix(last, 16).unwrap() ^ 1;
        let wrong = [format!("{first:02x}{}", &right[2..]), format!("{body}{last:02x}")];
        let [w, x] = wrong.map(|wrong| tag(wrong, false));
        let fine = tag(right.into(), true);
        file(name, algorithm, json!([group("gen", json!([fine])), group("ver", json!([fine, w, x]))]));
    };
    tags("cmac", "CMAC-AES", json!({ "key": key }), "", "bb1d6929e95937287fa37d129b756746");
    let keys = json!({ "key1": "8aa83bf8cbda1062", "key2": "0bc1bf19fbb6cd58", "key3": "bc313d4a371ca8b5" });
    tags("tcmac", "CMAC-TDES", keys, pt, "743ddbe0ce2dc2ed");
    let tcbc = json!([{ "tcId": 1, "key1": "0123456789abcdef", "key2": "23456789abcdef01", "key3": "456789abcdef0123",
        "iv": "f69f2445df4f9b17", "pt": "6bc1bee22e409f96e93d7e117393172a", "ct": "2079c3d53aa763e193b79e2569ab5262" }]);
    file("tcbc", "ACVP-TDES-CBC", json!([group("encrypt", tcbc.clone()), group("decrypt", tcbc)]));
    let all = [("AES-CBC", 2), ("AES-CTR", 2), ("TDES-CBC", 2), ("TDES-CMAC", 4), ("cmac-aes128", 4)];
    for (field, protocol, files, expected) in [
        ("40", None, &["ctr", "cbc", "cmac", "tcbc", "tcmac"][..], &all[..]),
        ("48", None, &["ctr", "tcbc", "tcmac", "gcm"], &[all[1], ("AES-GCM", 0), all[2], all[3]]),
        ("42", Some("3des-lt"), &["tcbc", "tcmac"], &all[2..4]),
        ("42", Some("3des-tinytable"), &["tcmac"], &all[3..4]),
        ("42", Some("3des-raw"), &["tcbc", "tcmac"], &all[2..4]),
    ] {
        let usual = ["kat", "--engine", "spdz", "--parties", "2", "--field", field];
        let named = protocol.map_or(vec![], |name| vec!["--protocol", name]);
        let output = divisi(dir.path(), &[&usual[..], &named, files].concat());
        let told = told(&output);
        let mut found = Vec::new();
        for tally in told["algorithms"].as_array().unwrap() {
            assert_eq!(tally["failed"], json!(0), "{field} {protocol:?}: {output:?}");
            // GCM is counted, with its reason
            let reasons = tally["unsupported"].to_string();
            assert_eq!(tally["algorithm"] == "AES-GCM", reasons.contains("GF(2^128)"), "{reasons}");
            found.push((tally["algorithm"].as_str().unwrap(), tally["passed"].as_u64().unwrap()));
        }
        found.sort_unstable();
        assert_eq!(found, expected, "{field} {protocol:?}: {output:?}");
    }
}

/// The run over masks asks for all its masks at once: TinyTable's load takes at most four rounds more than
/// that of the tables alone, which takes none, whatever the number of lookups and layers.
#[test]
fn the_load_of_tiny_tables_takes_few_rounds() {
    let dir = tempfile::tempdir().unwrap();
    for (command, plain, tiny) in [("des3", "3des-lt", "3des-tinytable"), ("aes", "aes-lt", "aes-tinytable")]
    {
        let rounds = |protocol: &str, name: &str| {
            let usual = ["bench", command, "--engine", "spdz", "--parties", "2", "--protocol", protocol];
            let output = divisi(
                dir.path(),
                &[&usual[..], &["--blocks", "1", "--reps", "1", "--warmup", "0"]].concat(),
            );
            assert!(output.status.success(), "{protocol}: {output:?}");
            phase(&told(&output), name)["rounds"].as_u64().unwrap()
        };
        assert_eq!(rounds(plain, "load"), 0);
        assert!(rounds(tiny, "load") <= 4, "{tiny}: {}", rounds(tiny, "load"));
        // one more request for authenticated bits
        let (ahead, more) = (rounds(plain, "preprocessing"), rounds(tiny, "preprocessing"));
        assert!(more <= ahead + 4, "{tiny}: {more}, {ahead}");
    }
}
