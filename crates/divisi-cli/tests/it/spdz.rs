//! Masked tables over authenticated shares, through the command line: every protocol in both directions,
//! known answers, circuits among parties that keep outputs to themselves, and what is refused.

use crate::has;
use crate::program::{NAND, divisi, good, phase, phases, told};
use serde_json::{Value, json};

/// KOR+17, Table 2: rounds, openings and bits of a block, whatever the preprocessing and the direction of
/// tables; and the size of the buckets of two blocks, of MASCOT none.
#[test]
fn blocks_cost_what_the_paper_says() {
    let dir = tempfile::tempdir().unwrap();
    for (cipher, protocol, more, [rounds, openings, bits], bucket) in [
        ("aes", "aes-lt", "--field 40", [10, 160, 1280], Some(6)),
        ("aes", "aes-lt", "--prep mascot --direction decrypt", [10, 160, 1280], None),
        ("aes", "aes-tinytable", "--k 2", [10, 160, 1280], Some(6)),
        ("aes", "aes-rp", "", [70, 1920, 15_360], Some(5)),
        ("aes", "aes-bd", "", [50, 2240, 17_920], Some(5)),
        ("des3", "3des-lt", "--keys 2", [46, 384, 2304], Some(5)),
        ("des3", "3des-tinytable", "--direction decrypt", [46, 384, 1536], Some(5)),
        ("des3", "3des-pv", "--statistical 64", [230, 3456, 27_648], Some(7)),
        ("des3", "3des-raw", "--field 42", [322, 47_232, 282_624], Some(4)),
        ("des3", "3des-lt", "--field 42 --prep mascot", [46, 384, 2304], None),
        ("des3", "3des-tinytable", "--field 42", [46, 384, 1536], Some(5)),
    ] {
        let told = good(dir.path(), &format!("{} {more}", bench(cipher, protocol, 2)));
        has!(told, "checked": true, "protocol": protocol, "count": 2, "openings": 2 * openings);
        has!(told, "bucket": bucket);
        has!(phase(&told, "online"), "rounds": rounds, "bits_sent_per_party": 2 * bits);
        assert!(
            told["verification_error_bits"].as_f64().unwrap() >= told["statistical_bits"].as_f64().unwrap()
        );
        assert_eq!(phases(&told), ["setup", "preprocessing", "load", "online", "verification"]);
        // tables are expanded in this phase, where there are any
        let loading = phase(&told, "load")["seconds"].as_f64().unwrap();
        assert!(loading > 1e-5 || !protocol.ends_with("lt") && !protocol.ends_with("table"), "{protocol}");
    }
}

/// The words of a benchmark between two parties.
fn bench(cipher: &str, protocol: &str, blocks: u64) -> String {
    format!(
        "bench {cipher} --engine spdz --parties 2 --protocol {protocol} --blocks {blocks} --reps 1 --warmup 0"
    )
}

/// An AND, whose one output party 3 alone learns; a block of AES that all learn.
#[test]
fn circuits_are_run_by_those_who_have_the_inputs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("and"), NAND).unwrap();
    for (x, y) in [(0, 1), (1, 1)] {
        let inputs = format!("--input 1={x} --input 2={y}");
        let told =
            good(dir.path(), &format!("run --engine spdz --parties 3 --circuit and {inputs} --output 3"));
        has!(told, "outputs": [(1 - x * y).to_string()], "output_to": [3]);
    }
    let inputs = "--input 2=000102030405060708090a0b0c0d0e0f --input 1=00112233445566778899aabbccddeeff";
    let told = good(dir.path(), &format!("run --engine spdz --parties 3 --circuit aes128 {inputs}"));
    has!(told, "outputs": ["69c4e0d86a7b0430d8cdb78070b4c55a"]);
}

/// Triple DES as a circuit on each engine that has circuits: the first block of SP 800-67, appendix B.1.
#[test]
fn triple_des_is_a_circuit_on_every_engine() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = "--input 1=0123456789abcdef23456789abcdef01456789abcdef0123 --input 2=5468652071756663";
    for engine in ["spdz", "garble", "mixed"] {
        let told = good(dir.path(), &format!("run --engine {engine} --parties 2 --circuit des3 {inputs}"));
        has!(told, "outputs": ["a826fd8ce53b855f"], "engine": engine);
    }
}

/// A circuit of a file, whose ANDs are the openings.
#[test]
fn circuits_are_measured() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("and"), NAND).unwrap();
    let bench = "bench circuit --engine spdz --parties 2 --circuit and --count 3 --reps 1 --warmup 0";
    let told = good(dir.path(), bench);
    has!(told, "checked": true, "count": 3, "unit": "evaluation");
    has!(told, "engine": "spdz", "field_bits": 48, "prep": "bucketed");
    // both factors of each AND are opened under masks
    assert!(told["openings"].as_u64().unwrap() >= 2 * 3, "{told}");
    assert!(phase(&told, "preprocessing")["bits_sent_per_party"].as_u64().unwrap() > 0);
    has!(phase(&told, "online"), "rounds": 1);
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
            let output = divisi(dir.path(), &format!("kat --engine spdz --parties {parties} {name}"));
            let tally = &told(&output)["algorithms"][0];
            has!(tally, "passed": passed, "failed": failed);
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
    let kat = |words: &str| divisi(dir.path(), &format!("kat --engine spdz {words}"));
    let passes = |words: &str, passed: u32| {
        let output = kat(words);
        assert!(output.status.success(), "{words}: {output:?}");
        has!(told(&output)["algorithms"][0], "passed": passed, "failed": 0);
    };
    passes("--parties 2 --protocol aes-tinytable tags cmac", 6);
    // and from a stock
    good(dir.path(), "prep make --protocol aes-lt --blocks 9 --parties 2 --out stock");
    let stocked = kat("--parties 2 --prep-from stock cbc");
    assert_eq!(told(&stocked)["algorithms"][0]["passed"], 3, "{stocked:?}");
    // of another cipher: counted, and nothing is left that ran
    let output = kat("--protocol 3des-pv cbc");
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
        (40, "", "ctr cbc cmac tcbc tcmac", &all[..]),
        (48, "", "ctr tcbc tcmac gcm", &[all[1], ("AES-GCM", 0), all[2], all[3]]),
        (42, "--protocol 3des-lt", "tcbc tcmac", &all[2..4]),
        (42, "--protocol 3des-tinytable", "tcmac", &all[3..4]),
        (42, "--protocol 3des-raw", "tcbc tcmac", &all[2..4]),
    ] {
        let kat = format!("kat --engine spdz --parties 2 --field {field} {protocol} {files}");
        let output = divisi(dir.path(), &kat);
        let told = told(&output);
        let mut found = Vec::new();
        for tally in told["algorithms"].as_array().unwrap() {
            assert_eq!(tally["failed"], json!(0), "{kat}: {output:?}");
            // GCM is counted, with its reason
            let reasons = tally["unsupported"].to_string();
            assert_eq!(tally["algorithm"] == "AES-GCM", reasons.contains("GF(2^128)"), "{reasons}");
            found.push((tally["algorithm"].as_str().unwrap(), tally["passed"].as_u64().unwrap()));
        }
        found.sort_unstable();
        assert_eq!(found, expected, "{kat}: {output:?}");
    }
}

/// The run over masks asks for all its masks at once: TinyTable's load takes at most four rounds more than
/// that of the tables alone, which takes none, whatever the number of lookups and layers.
#[test]
fn the_load_of_tiny_tables_takes_few_rounds() {
    let dir = tempfile::tempdir().unwrap();
    for (cipher, plain, tiny) in [("des3", "3des-lt", "3des-tinytable"), ("aes", "aes-lt", "aes-tinytable")] {
        let [plain, tiny] = [plain, tiny].map(|protocol| good(dir.path(), &bench(cipher, protocol, 1)));
        let rounds = |told: &Value, name: &str| phase(told, name)["rounds"].as_u64().unwrap();
        assert_eq!(rounds(&plain, "load"), 0);
        assert!(rounds(&tiny, "load") <= 4, "{tiny}");
        // one more request for authenticated bits
        assert!(rounds(&tiny, "preprocessing") <= rounds(&plain, "preprocessing") + 4, "{tiny}");
    }
}
