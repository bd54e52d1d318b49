//! Test vectors by programs in constant rounds: hashes, MACs, and the modes of AES by its circuit.

use super::tests::{acvp_contents, on};
use super::tests_of_functions::{acvp_files, counts};
use super::*;
use divisi_rep3::{Protocol, Security};
use divisi_symphony::adapter::{CONSTANT, ROUNDS};

fn options() -> KatOptions {
    let usual = on("rep3", Protocol::Gf4Circuit, Security::Malicious);
    KatOptions { settings: usual.settings.with(ROUNDS, CONSTANT), ..usual }
}

#[test]
fn modes_of_aes() {
    let report = run_contents(&acvp_contents(), &options()).unwrap();
    let levels =
        run_contents(&acvp_contents(), &on("rep3", Protocol::Gf4Circuit, Security::Malicious)).unwrap();
    for (garbled, levels) in report.algorithms.iter().zip(&levels.algorithms) {
        let has_it = garbled.algorithm != "AES-GCM";
        assert_eq!((garbled.passed, garbled.failed), (if has_it { levels.passed } else { 0 }, 0));
        assert!(levels.passed > 0, "{}", levels.algorithm);
    }
}

#[test]
fn hashes_and_macs() {
    for (file, (passed, unsupported)) in acvp_files() {
        let content = parse(&file).unwrap();
        let report = run_contents(&[("acvp".into(), content)], &options()).unwrap();
        assert_eq!(counts(&report), (passed, 0, unsupported), "{:?}", report.algorithms);
    }
}
