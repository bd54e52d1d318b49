//! The known answers of AES on this engine.

use divisi_field::{Gf40, Gf42, Gf48, Gf72};
use divisi_fuzz::repetitions;
use divisi_spdz::SpdzProtocol;
use divisi_spdz::lab::{SpdzLab, TinyLab};
use divisi_symmetric::suite;

#[test]
fn aes_fips197() {
    for protocol in SpdzProtocol::ALL {
        suite::aes_fips197(&SpdzLab::<Gf48>::new(2, protocol));
        suite::aes_fips197(&SpdzLab::<Gf40>::new(3, protocol));
    }
    suite::aes_fips197(&TinyLab::<Gf48>::new(2));
    suite::aes_fips197(&TinyLab::<Gf40>::new(3));
}

#[test]
fn aes_sp800_38a() {
    for protocol in SpdzProtocol::ALL {
        suite::aes_sp800_38a(&SpdzLab::<Gf40>::new(2, protocol));
    }
    suite::aes_sp800_38a(&TinyLab::<Gf48>::new(3));
}

#[test]
fn aes_random_blocks_against_the_crate() {
    suite::aes_random(&SpdzLab::<Gf48>::new(5, SpdzProtocol::Lookup), 7, repetitions(3, 5));
    suite::aes_random(&SpdzLab::<Gf72>::new(2, SpdzProtocol::Lookup), 8, 3);
    suite::aes_random(&TinyLab::<Gf48>::new(5), 11, repetitions(3, 5));
}

/// More blocks than a word has bits.
#[test]
fn many_aes_random_blocks_against_the_crate() {
    let parties = repetitions(3, 5);
    suite::aes_random(&SpdzLab::<Gf48>::new(parties, SpdzProtocol::RivainProuff), 9, 70);
    suite::aes_random(&SpdzLab::<Gf48>::new(parties, SpdzProtocol::BitDecomposition), 10, 70);
}

#[test]
fn triple_des_by_tables() {
    suite::triple_des(&SpdzLab::<Gf48>::new(2, SpdzProtocol::Lookup));
    suite::triple_des(&TinyLab::<Gf48>::new(2));
    suite::triple_des_samples(&TinyLab::<Gf40>::new(3), 1);
    suite::triple_des_samples(&SpdzLab::<Gf40>::new(3, SpdzProtocol::Lookup), 1);
    suite::triple_des_samples(&SpdzLab::<Gf48>::new(5, SpdzProtocol::Lookup), 1);
}

#[test]
fn triple_des_by_polynomials() {
    suite::triple_des(&SpdzLab::<Gf40>::new(2, SpdzProtocol::RivainProuff));
    suite::triple_des(&SpdzLab::<Gf42>::new(2, SpdzProtocol::Raw));
    suite::triple_des_samples(&SpdzLab::<Gf48>::new(3, SpdzProtocol::Raw), 1);
    suite::triple_des_samples(&SpdzLab::<Gf48>::new(3, SpdzProtocol::RivainProuff), 1);
}
