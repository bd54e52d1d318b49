//! Known answers with real preprocessing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_field::{Gf40, Gf48, Gf72};
use divisi_spdz::lab::{SpdzLab, TinyLab};
use divisi_spdz::{Preparation, Protocol};
use divisi_symmetric::suite;

#[test]
fn aes_over_bucketed() {
    let lab = |n, protocol| SpdzLab::<Gf48>::new(n, protocol).prepared(Preparation::Bucketed);
    suite::aes_fips197(&lab(2, Protocol::Lookup));
    suite::aes_random(&SpdzLab::<Gf40>::new(3, Protocol::Lookup).prepared(Preparation::Bucketed), 2, 1);
    suite::aes_random(&lab(2, Protocol::RivainProuff), 2, 1);
    suite::aes_random(
        &SpdzLab::<Gf72>::new(3, Protocol::BitDecomposition).prepared(Preparation::Bucketed),
        3,
        1,
    );
    suite::aes_random(&TinyLab::<Gf48>::new(3).prepared(Preparation::Bucketed), 4, 1);
}

#[test]
fn aes_over_mascot() {
    let lab = |n, protocol| SpdzLab::<Gf40>::new(n, protocol).prepared(Preparation::Mascot);
    suite::aes_random(&lab(2, Protocol::Lookup), 2, 1);
    suite::aes_random(&lab(3, Protocol::RivainProuff), 2, 1);
    suite::aes_random(&lab(2, Protocol::BitDecomposition), 3, 1);
    suite::aes_random(&TinyLab::<Gf48>::new(2).prepared(Preparation::Mascot), 4, 1);
}

#[test]
fn triple_des_over_both() {
    for preparation in Preparation::ALL {
        suite::triple_des_samples(&SpdzLab::<Gf48>::new(2, Protocol::Lookup).prepared(preparation), 1);
    }
    let bucketed = Preparation::Bucketed;
    suite::triple_des_samples(&SpdzLab::<Gf48>::new(3, Protocol::RivainProuff).prepared(bucketed), 1);
    suite::triple_des_samples(&TinyLab::<Gf40>::new(2).prepared(bucketed), 1);
}
