//! Test vectors of AES modes, a hash and a MAC, run by the semi-honest engine mixed (GMW).

use super::tests::{acvp_contents, on};
use super::tests_of_functions::{acvp_files, counts};
use super::*;
use divisi_rep3::{Protocol, Security};

fn options(parties: usize) -> KatOptions {
    let usual = on("mixed", Protocol::Gf4Circuit, Security::SemiHonest);
    KatOptions { settings: usual.settings.among(parties), ..usual }
}

#[test]
fn modes_of_aes() {
    let report = run_contents(&acvp_contents(), &options(3)).unwrap();
    let of: Vec<_> = report.algorithms.iter().map(|t| (t.algorithm.as_str(), t.passed, t.failed)).collect();
    assert_eq!(of, [("AES-GCM", 2, 0), ("AES-ECB", 7, 0), ("AES-CTR", 3, 0)]);
    assert!(report.is_good() && report.openings > 0);
}

#[test]
fn hashes_and_macs() {
    for (number, (file, (passed, unsupported))) in acvp_files().into_iter().enumerate() {
        let content = parse(&file).unwrap();
        let report = run_contents(&[("acvp".into(), content)], &options(2 + number % 2)).unwrap();
        assert_eq!(counts(&report), (passed, 0, unsupported), "{:?}", report.algorithms);
    }
}

/// A vector with a changed answer fails, unless it must be refused anyway.
#[test]
fn changed_answers_fail() {
    let (file, _) = acvp_files().into_iter().find(|(file, _)| file["algorithm"] == "CMAC-AES").unwrap();
    let mut content = parse(&file).unwrap();
    content.functions.retain(|group| group.vectors.iter().all(|vector| vector.compares));
    let report = run_contents(&[("right".into(), content.clone())], &options(3)).unwrap();
    assert_eq!((counts(&report), report.openings), ((2, 0, 0), 2));
    content
        .functions
        .iter_mut()
        .flat_map(|group| &mut group.vectors)
        .for_each(|vector| vector.output[7] ^= 0x80);
    let report = run_contents(&[("wrong".into(), content)], &options(2)).unwrap();
    assert_eq!(counts(&report), (1, 1, 0));
}
