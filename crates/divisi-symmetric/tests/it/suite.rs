//! The standards' known answers on the engine that computes in the clear.

use divisi_core::testing::PlainLab;
use divisi_symmetric::gates::Adder;
use divisi_symmetric::hash::Hash;
use divisi_symmetric::suite;

#[test]
fn aes_fips197() {
    suite::aes_fips197(&PlainLab);
}

#[test]
fn aes_sp800_38a() {
    suite::aes_sp800_38a(&PlainLab);
}

#[test]
fn aes_random() {
    for (seed, lanes) in [(1, 1), (2, 3), (3, 64), (4, 513)] {
        suite::aes_random(&PlainLab, seed, lanes);
    }
}

#[test]
fn gcm_specification() {
    assert_eq!(suite::gcm_specification(&PlainLab), (18, 12));
}

#[test]
fn hashes_of_nist() {
    assert_eq!(suite::hash_known_answers(&PlainLab), 25);
}

#[test]
fn hashes_and_macs_of_different_lengths() {
    for hash in Hash::ALL {
        for adder in [Adder::FewestAnds, Adder::LowDepth] {
            suite::hashes_of_different_lengths(&PlainLab, hash, adder);
        }
        suite::hmac_of_different_lengths(&PlainLab, hash);
    }
}

#[test]
fn triple_des() {
    suite::triple_des(&PlainLab);
}
