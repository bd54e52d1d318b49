//! Known answers with real preprocessing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_field::{Field, Gf6, Gf40, Gf42, Gf48, Gf72};
use divisi_spdz::lab::{SpdzLab, TinyLab};
use divisi_spdz::{Preparation, SpdzProtocol};
use divisi_symmetric::suite;

const BUCKETED: Preparation = Preparation::Bucketed;
const MASCOT: Preparation = Preparation::Mascot;

#[test]
fn tables_from_buckets() {
    suite::aes_fips197(&SpdzLab::<Gf48>::new(2, SpdzProtocol::Lookup).prepared(BUCKETED));
}

#[test]
fn tables_from_buckets_among_three() {
    suite::aes_random(&SpdzLab::<Gf40>::new(3, SpdzProtocol::Lookup).prepared(BUCKETED), 2, 1);
}

#[test]
fn bytes_from_buckets() {
    suite::aes_random(&SpdzLab::<Gf48>::new(2, SpdzProtocol::RivainProuff).prepared(BUCKETED), 2, 1);
}

#[test]
fn bytes_from_buckets_among_three() {
    suite::aes_random(&SpdzLab::<Gf72>::new(3, SpdzProtocol::BitDecomposition).prepared(BUCKETED), 3, 1);
}

#[test]
fn tinytable_from_buckets() {
    suite::aes_random(&TinyLab::<Gf48>::new(2).prepared(BUCKETED), 4, 1);
}

#[test]
fn tables_by_mascot() {
    suite::aes_random(&SpdzLab::<Gf40>::new(2, SpdzProtocol::Lookup).prepared(MASCOT), 2, 1);
}

#[test]
fn bytes_by_mascot_among_three() {
    suite::aes_random(&SpdzLab::<Gf48>::new(3, SpdzProtocol::RivainProuff).prepared(MASCOT), 2, 1);
}

#[test]
fn triple_des_from_buckets() {
    suite::triple_des_samples(&SpdzLab::<Gf48>::new(2, SpdzProtocol::Lookup).prepared(BUCKETED), 1);
}

#[test]
fn triple_des_by_mascot() {
    suite::triple_des_samples(&SpdzLab::<Gf48>::new(2, SpdzProtocol::RivainProuff).prepared(MASCOT), 1);
}

#[test]
fn triple_des_by_all_powers() {
    suite::triple_des_samples(&SpdzLab::<Gf42>::new(2, SpdzProtocol::Raw).prepared(BUCKETED), 1);
}

/// Five parties: each receives from four, and every product has twenty terms.
#[test]
fn among_five() {
    suite::aes_random(&SpdzLab::<Gf48>::new(5, SpdzProtocol::RivainProuff).prepared(BUCKETED), 5, 1);
}

#[test]
#[ignore = "a minute"]
fn tables_among_five() {
    suite::aes_random(&SpdzLab::<Gf48>::new(5, SpdzProtocol::Lookup).prepared(BUCKETED), 5, 1);
    suite::triple_des_samples(&SpdzLab::<Gf40>::new(5, SpdzProtocol::RivainProuff).prepared(BUCKETED), 1);
}

#[test]
#[ignore = "a minute"]
fn among_five_by_mascot() {
    suite::aes_random(&SpdzLab::<Gf40>::new(5, SpdzProtocol::BitDecomposition).prepared(MASCOT), 6, 1);
}

/// Products in GF(2^6), over each field that holds it, are products.
#[test]
fn products_of_six_bits() {
    fn made<F: divisi_spdz::Host>(n: usize, preparation: Preparation) {
        let count = 70;
        let ends = divisi_core::testing::run(n, &divisi_core::PublicParameters::new("sixes"), |session| {
            let (mut party, mut source) = divisi_spdz::lab::begin::<F>(session, Some(preparation))?;
            let made = source.six_triples(&mut party, count)?;
            party.check()?;
            Ok(divisi_spdz::lab::triple_shares(&made))
        });
        let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        let value = |i: usize, lane: usize| ends.iter().fold(Gf6::ZERO, |sum, end| sum + end[i][lane]);
        let lanes: Vec<[Gf6; 3]> = (0..count).map(|lane| [0, 1, 2].map(|i| value(i, lane))).collect();
        assert!(lanes.iter().all(|[x, y, z]| *x * *y == *z), "{n} {preparation:?}");
        assert!(lanes.windows(2).any(|two| two[0] != two[1]));
    }
    made::<Gf42>(2, BUCKETED);
    made::<Gf48>(3, BUCKETED);
    made::<Gf42>(3, MASCOT);
    made::<Gf48>(5, MASCOT);
    made::<Gf72>(2, MASCOT);
}

/// Products of bits are products, whatever makes them, and all four cases occur.
#[test]
fn products_of_bits() {
    for (n, preparation) in [(2, BUCKETED), (3, BUCKETED), (2, MASCOT), (3, MASCOT)] {
        let count = 80;
        let ends = divisi_core::testing::run(n, &divisi_core::PublicParameters::new("bits"), |session| {
            let (mut party, mut source) = divisi_spdz::lab::begin::<Gf48>(session, Some(preparation))?;
            let made = source.bit_triples(&mut party, count)?;
            party.check()?;
            Ok(divisi_spdz::lab::triple_shares(&made))
        });
        let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        let value = |i: usize, lane: usize| ends.iter().fold(0, |sum, end| sum ^ end[i][lane].to_bits());
        let mut seen = [false; 4];
        for lane in 0..count {
            let [x, y, z] = [0, 1, 2].map(|i| value(i, lane));
            assert_eq!(x & y, z, "{n} {preparation:?}");
            seen[(2 * x + y) as usize] = true;
        }
        assert_eq!(seen, [true; 4]);
    }
}
