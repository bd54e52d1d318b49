//! The known answers of AES on this engine.

use divisi_field::{Gf40, Gf48, Gf72};
use divisi_spdz::lab::SpdzLab;
use divisi_symmetric::suite;

#[test]
fn aes_lt_fips197() {
    suite::aes_fips197(&SpdzLab::<Gf48>::new(2));
    suite::aes_fips197(&SpdzLab::<Gf40>::new(3));
}

#[test]
fn aes_lt_sp800_38a() {
    suite::aes_sp800_38a(&SpdzLab::<Gf48>::new(3));
    suite::aes_sp800_38a(&SpdzLab::<Gf40>::new(2));
}

#[test]
fn aes_lt_random_blocks_against_the_crate() {
    suite::aes_random(&SpdzLab::<Gf48>::new(5), 7, 5);
    suite::aes_random(&SpdzLab::<Gf72>::new(2), 8, 3);
}
