//! Files of NIST's CAVP and of Rooterberg, each with its right counts, and messages that are empty or end
//! within a segment. The files are in tests/corpus; each says whose its values are.

use super::read::read;
use super::scaffold::{among, by_default, corpus, counts};
use super::*;
use crate::engine;

fn plain(long: bool) -> KatOptions {
    KatOptions { long, ..by_default("plain") }
}

/// Name by name what passes; nothing else may fail or be left out.
fn passes(contents: &[(String, Content)], options: &KatOptions) -> Vec<(String, u64)> {
    let report = run_contents(contents, options).unwrap();
    let good = |tally: &Tally| tally.failed == 0 && tally.unsupported.is_empty();
    assert!(report.algorithms.iter().all(good), "{:?}", report.algorithms);
    report.algorithms.into_iter().map(|tally| (tally.algorithm, tally.passed)).collect()
}

#[test]
fn files_of_cavp() {
    for (file, expected) in [
        ("ECBGFSbox128", &[("AES-ECB", 3)][..]),
        ("CBCMMT256", &[("AES-CBC", 4)]),
        ("OFBMMT192", &[("AES-OFB", 4)]),
        ("CFB8MMT128", &[("AES-CFB8", 4)]),
        ("CFB128MMT128", &[("AES-CFB128", 4)]),
        ("gcmDecrypt128", &[("AES-GCM", 4)]),
        ("gcmEncryptExtIV128", &[("AES-GCM", 4)]),
        ("CMACGenAES128", &[("cmac-aes128", 2)]),
        ("CMACVerAES256", &[("cmac-aes256", 2)]),
        ("CMACGenTDES3", &[("TDES-CMAC", 2)]),
        ("TECBvartext", &[("TDES-ECB", 1)]),
        ("TCBCMMT3", &[("TDES-CBC", 2)]),
        ("SHA1ShortMsg", &[("sha1-for-old-data", 3)]),
        ("SHA256ShortMsg", &[("sha256", 3)]),
        ("SHA512_256ShortMsg", &[("sha512-256", 3)]),
        ("SHA3_384ShortMsg", &[("sha3-384", 3)]),
        ("SHA3_224ShortMsg", &[("sha3-224", 2)]),
        ("HMAC", &[("hmac-sha1-for-old-data", 2), ("hmac-sha256", 2)]),
        ("SHAKE128ShortMsg", &[("shake128", 3)]),
        ("SHAKE256VariableOut", &[("shake256", 2)]),
    ] {
        let mut found = passes(&corpus("rsp", &format!("{file}.rsp")), &plain(false));
        found.sort();
        let expected: Vec<(String, u64)> =
            expected.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        assert_eq!(found, expected, "{file}");
    }
}

/// Monte Carlo tests of these files, each with its algorithm and the number of tests: they pass, and fail
/// with an end changed.
fn long_tests(files: &[(&str, &str, u64)]) {
    for &(file, algorithm, n) in files {
        let contents = corpus("rsp", &format!("{file}.rsp"));
        assert_eq!(passes(&contents, &plain(true)), [(algorithm.to_owned(), n)], "{file}");
        let (mut wrong, mut changed) = (contents.clone(), 0);
        for (_, content) in &mut wrong {
            for chain in &mut content.chains {
                chain.ends[1][0] ^= 1;
                changed += 1;
            }
            for monte in &mut content.monte {
                match &mut monte.kind {
                    monte::Fed::Modes(messages) => messages.lanes[1].end[0] ^= 1,
                    monte::Fed::Digests(digests) => digests.ends[1][0] ^= 1,
                    monte::Fed::Outputs(outputs) => outputs.ends[1].bytes[0] ^= 1,
                }
                changed += 1;
            }
        }
        assert_eq!(changed, n);
        assert_eq!(counts(&run_contents(&wrong, &plain(true)).unwrap()), (0, n, 0), "{file}");
    }
}

/// A Monte Carlo test is one vector, whether the name of its file says so or only its chains do. Without
/// `--long` it is counted.
#[test]
fn monte_carlo_tests_of_cavp() {
    long_tests(&[("ECBMCT128", "AES-ECB", 1), ("chains256", "AES-CBC", 2)]);
    for (file, algorithm) in
        [("SHA256Monte", "sha256"), ("SHAKE256Monte", "shake256"), ("TECBMonte3", "TDES-ECB")]
    {
        let counted = run_contents(&corpus("rsp", &format!("{file}.rsp")), &plain(false)).unwrap();
        assert_eq!(counted.algorithms[0].algorithm, algorithm);
        assert_eq!(counted.algorithms[0].unsupported, [(monte::NEEDS_LONG.to_owned(), 1)].into());
    }
}

/// Thousands of digests, one after the other.
#[test]
#[ignore = "takes ten seconds"]
fn monte_carlo_tests_of_hashes_of_cavp() {
    long_tests(&[
        ("SHA256Monte", "sha256", 1),
        ("SHA3_256Monte", "sha3-256", 1),
        ("SHAKE256Monte", "shake256", 1),
    ]);
}

/// Ten thousand steps of triple DES, one after the other.
#[test]
#[ignore = "takes a minute"]
fn a_monte_carlo_test_of_triple_des() {
    assert_eq!(passes(&corpus("rsp", "TECBMonte3.rsp"), &plain(true)), [("TDES-ECB".to_owned(), 1)]);
}

#[test]
fn files_of_rooterberg() {
    for (file, algorithm, n) in [
        ("aes_gcm", "AES-GCM", 3),
        ("aes_gcm_siv", "AES-GCM-SIV", 3),
        ("aes_ccm", "AES-CCM", 3),
        ("aes_siv_cmac", "AES-SIV", 3),
        ("aes_kw", "AES-KW", 3),
        ("aes_kwp", "AES-KWP", 3),
        ("aes_xts", "AES-XTS", 2),
        ("aes_cbc_cs1", "AES-CBC-CS1", 2),
        ("aes_cbc_cs2", "AES-CBC-CS2", 2),
        ("aes_cbc_cs3", "AES-CBC-CS3", 2),
        ("aes_cbc_pkcs7", "AES-CBC-PKCS5", 3),
        ("aes_cfb8", "AES-CFB8", 2),
        ("aes_cfb128", "AES-CFB128", 6),
        ("aes_ofb", "AES-OFB", 3),
        ("aes_cmac", "cmac-aes128", 3),
        ("hmac_sha1", "hmac-sha1-for-old-data", 3),
        ("hmac_sha3_224", "hmac-sha3-224", 3),
        ("kmac128_customized", "kmac128", 3),
        ("sha_1", "sha1-for-old-data", 2),
        ("sha_256", "sha256", 2),
        ("sha_512_256", "sha512-256", 2),
        ("sha3_224", "sha3-224", 2),
        ("shake128", "shake128", 2),
    ] {
        let contents = corpus("rooterberg", &format!("{file}.json"));
        assert_eq!(passes(&contents, &plain(false)), [(algorithm.to_owned(), n)], "{file}");
    }
    let other =
        serde_json::json!({ "testType": "Mac", "algorithm": { "primitive": "SipHash24" }, "tests": [1, 2] });
    assert!(parse(&other).unwrap_err().contains("\"SipHash24\" is not in this version"));
}

/// Messages that are empty or end within a segment or a block, among longer ones, in every mode that has
/// them, in both directions, on every engine.
#[test]
fn texts_of_any_length_run_on_every_engine() {
    for engine in engine::all() {
        let options = among(engine.name(), *engine.profile().parties.start());
        for (file, algorithm, lengths) in [
            ("aes_cfb128", "AES-CFB128", &[0, 1, 17][..]),
            ("aes_cfb128", "AES-CFB128", &[0]),
            ("aes_cfb8", "AES-CFB8", &[0, 3]),
            ("aes_ofb", "AES-OFB", &[0, 1]),
        ] {
            let mut contents = corpus("rooterberg", &format!("{file}.json"));
            let groups = contents.iter_mut().flat_map(|(_, content)| &mut content.groups);
            groups.for_each(|group| group.vectors.retain(|v| lengths.contains(&v.plaintext.len())));
            let expected = [(algorithm.to_owned(), lengths.len() as u64)];
            assert_eq!(passes(&contents, &options), expected, "{}", engine.name());
        }
    }
}

/// Values by what the file says of them: a file without name and comments, whose sections declare several
/// lengths in one line, and one of a kind that is not known, which is counted by the names of its values.
#[test]
fn what_is_not_said_is_told_from_the_values() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let gcm = "[Keylen = 128, IVlen = 96]\r\n[Taglen = 128]\r\n\r\nKey = 000102030405060708090a0b0c0d0e0f\r\n\
               IV = 000102030405060708090a0b\r\nPT = 68656c6c6f\r\nAAD = 616164\r\nCT = fb09cba209\r\n\
               Tag = 977841a36b7e50a33428ab4f5c15b002\r\n";
    let contents = read(&[file("a", gcm)]).unwrap();
    assert_eq!(passes(&contents, &plain(false)), [("AES-GCM".to_owned(), 1)]);
    assert_eq!(contents[0].1.groups[0].vectors[0].id, 4, "the number of its first line");
    // a declared length that is not there
    let other = read(&[file("b", &gcm.replace("Taglen = 128", "Taglen = 96"))]).unwrap();
    let reasons: Vec<&str> = other[0].1.unsupported.keys().map(|(_, reason)| reason.as_str()).collect();
    assert_eq!(reasons, ["a tag of 128 bits where 96 are declared"]);
    let xts = "COUNT = 1\nDataUnitLen = 128\nKey = 00\ni = 00\nPT = 00\nCT = 00\n\nCOUNT = 2\nKey = 00\n";
    let error = read(&[file("c", xts)]).unwrap_err().error;
    assert!(error.contains("\"CAVP (dataunitlen, key, i, pt, ct)\" is not in this version"), "{error}");
    for (text, says) in
        [("[ENCRYPT]\n", "no test vectors"), ("KEY = 00\nnonsense\n", "line 2 (\"nonsense\")")]
    {
        let error = read(&[file("d", text)]).unwrap_err().error;
        assert!(error.contains(says), "{error}");
    }
}
