//! Known answers with real preprocessing.

use divisi_core::testing::{ByteLab, run};
use divisi_core::{Abort, PublicParameters};
use divisi_field::{Field, Gf2, Gf6, Gf40, Gf42, Gf48, Gf72};
use divisi_spdz::lab::{SpdzLab, TinyLab, begin, triple_shares};
use divisi_spdz::{Host, Party, Preparation, Source, SpdzProtocol};
use divisi_symmetric::{aes, suite};
use std::collections::HashSet;

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

/// Among five parties, each receives from four, and every product has twenty cross terms.
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

/// FIPS 197, C.1: one block, with its key schedule.
fn one_block(lab: &impl ByteLab) {
    let inputs: Vec<Vec<u8>> = (0..16).chain((0..16).map(|i| 17 * i)).map(|byte| vec![byte]).collect();
    let opened = lab.bytes(&inputs, |e, values| {
        let keys = aes::expand(e, &values[..16])?;
        let mut state = <[_; 16]>::try_from(values[16..].to_vec()).unwrap_or_else(|_| panic!("a block"));
        aes::encrypt(e, &keys, &mut state)?;
        Ok(state.into())
    });
    let expected = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128;
    assert_eq!(opened.unwrap().concat(), expected.to_be_bytes());
}

#[test]
fn tinytable_by_mascot() {
    one_block(&TinyLab::<Gf40>::new(2).prepared(MASCOT));
}

#[test]
fn triple_des_by_mascot_in_tables() {
    suite::triple_des_samples(&SpdzLab::<Gf40>::new(2, SpdzProtocol::Lookup).prepared(MASCOT), 1);
    suite::triple_des_samples(&TinyLab::<Gf48>::new(2).prepared(MASCOT), 1);
}

/// By the polynomials of degree 62, with 23,424 products for each block.
#[test]
#[ignore = "a minute"]
fn triple_des_by_mascot_in_all_powers() {
    suite::triple_des_samples(&SpdzLab::<Gf42>::new(2, SpdzProtocol::Raw).prepared(MASCOT), 1);
}

#[test]
fn triple_des_among_five() {
    suite::triple_des_samples(&SpdzLab::<Gf48>::new(5, SpdzProtocol::RivainProuff), 1);
}

/// One block of either cipher for each protocol, kind of preprocessing and number of parties, over two
/// fields.
#[test]
#[ignore = "an hour"]
fn every_cell() {
    fn aes<F: Host>(n: usize, preparation: Preparation) {
        for protocol in [SpdzProtocol::Lookup, SpdzProtocol::RivainProuff, SpdzProtocol::BitDecomposition] {
            eprintln!("{} bits, {n}, {preparation:?}: AES, {protocol:?}", <F as Field>::BITS);
            one_block(&SpdzLab::<F>::new(n, protocol).prepared(preparation));
        }
        one_block(&TinyLab::<F>::new(n).prepared(preparation));
    }
    fn triple_des<F: Host>(n: usize, preparation: Preparation, protocols: &[SpdzProtocol]) {
        for protocol in protocols {
            eprintln!("{} bits, {n}, {preparation:?}: triple DES, {protocol:?}", <F as Field>::BITS);
            suite::triple_des_samples(&SpdzLab::<F>::new(n, *protocol).prepared(preparation), 1);
        }
        suite::triple_des_samples(&TinyLab::<F>::new(n).prepared(preparation), 1);
    }
    let (tables, bytes, raw) = (SpdzProtocol::Lookup, SpdzProtocol::RivainProuff, SpdzProtocol::Raw);
    for n in [2, 3, 5] {
        for preparation in [BUCKETED, MASCOT] {
            aes::<Gf40>(n, preparation);
            aes::<Gf48>(n, preparation);
            triple_des::<Gf40>(n, preparation, &[tables, bytes]);
            triple_des::<Gf48>(n, preparation, &[tables, bytes, raw]);
            // the paper's field for all powers
            triple_des::<Gf42>(n, preparation, &[raw]);
        }
    }
}

/// What `make` makes of products, opened: x, y and z of each.
fn products<F: Host, V: Field>(
    n: usize,
    preparation: Preparation,
    make: impl Fn(&mut dyn Source<F>, &mut Party<F>) -> Result<[Vec<V>; 3], Abort> + Sync,
) -> Vec<[V; 3]> {
    let ends = run(n, &PublicParameters::new("products"), |session| {
        let (mut party, mut source) = begin::<F>(session, Some(preparation))?;
        let made = make(&mut *source, &mut party)?;
        party.check()?;
        Ok(made)
    });
    let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
    let value = |i: usize, lane: usize| ends.iter().fold(V::ZERO, |sum, end| sum + end[i][lane]);
    (0..ends[0][0].len()).map(|lane| [0, 1, 2].map(|i| value(i, lane))).collect()
}

/// Products in GF(2^6) are right, over each field of MACs that holds GF(2^6).
#[test]
fn products_of_six_bits() {
    fn made<F: Host>(n: usize, preparation: Preparation) {
        let lanes = products::<F, Gf6>(n, preparation, |source, party| {
            Ok(triple_shares(&source.six_triples(party, 70)?))
        });
        assert!(lanes.iter().all(|[x, y, z]| *x * *y == *z), "{n} {preparation:?}");
        assert!(lanes.windows(2).any(|two| two[0] != two[1]));
    }
    made::<Gf42>(2, BUCKETED);
    made::<Gf48>(3, BUCKETED);
    made::<Gf42>(3, MASCOT);
    made::<Gf48>(5, MASCOT);
    made::<Gf72>(2, MASCOT);
}

/// Products of bits are right, whichever source makes them, and all four cases occur.
#[test]
fn products_of_bits() {
    for (n, preparation) in [(2, BUCKETED), (3, BUCKETED), (2, MASCOT), (3, MASCOT)] {
        let lanes = products::<Gf48, Gf2>(n, preparation, |source, party| {
            Ok(triple_shares(&source.bit_triples(party, 80)?))
        });
        assert!(lanes.iter().all(|[x, y, z]| *x * *y == *z), "{n} {preparation:?}");
        assert_eq!(lanes.iter().map(|[x, y, _]| (x.to_bits(), y.to_bits())).collect::<HashSet<_>>().len(), 4);
    }
}
