//! Attacks on the check of leaky triples and on buckets: on the coin and what is made of it, on the masks of
//! what is opened.

mod common;

use common::{coin_of, word};
use divisi_core::Abort;
use divisi_core::testing::{Harness, MessageDirection, Recording, failed_check, many, party};
use divisi_garble::adversary::{TripleLie, differences, guess, second_batch};
use divisi_garble::checks;
use divisi_garble::lab::GarbleLab;
use divisi_ot::bucket;

const COIN: &str = "divisi_garble::laand/6.coin";
const PRODUCT: &str = "divisi_garble::zero/6.product";
const D: &str = "divisi_garble::aand/3.d";

fn harness(n: usize, lab: &GarbleLab) -> Harness {
    lab.harness(n).patient()
}

/// The messages that a party sent to all others in a step, in order, as its first peer received them.
fn told(recordings: &[Recording], i: usize, step: &'static str) -> Vec<Vec<u8>> {
    recordings[i].bodies(MessageDirection::Out, party(if i == 0 { 2 } else { 1 }), step)
}

/// The coin of a batch, of which everybody's links are known.
fn coin(recordings: &[Recording], batch: usize) -> [u8; 16] {
    let links: Vec<_> = (0..recordings.len()).map(|i| told(recordings, i, COIN)[batch].clone()).collect();
    coin_of(&links, COIN)
}

/// The bits that each party is dealt in batches of these sizes.
fn dealt(n: usize, lab: &GarbleLab, counts: &[usize]) -> Vec<Vec<Vec<u8>>> {
    let ends = harness(n, lab).act(|mut session| {
        let mut setup = divisi_ot::testing::deal(&mut session, lab.config, lab.seed)?;
        let mut all = Vec::new();
        for count in counts {
            let bits = setup.authenticated_bits(&mut session, *count)?;
            all.push((0..*count).map(|at| bits.bit(at) as u8).collect());
        }
        Ok(all)
    });
    ends.into_iter().map(Result::unwrap).collect()
}

/// The batch's own coin, tossed after all e, determines which two y add up to which bit of d: in both batches
/// of a session, among two and three parties.
#[test]
fn buckets_are_those_of_the_coin() {
    for (n, ands) in [(2, 40), (3, 7)] {
        let lab = GarbleLab::default();
        let harness = harness(n, &lab);
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            second_batch(&mut lab.party(&mut session)?, &mut session, ands, || TripleLie::Honest)
        });
        assert!(ends.iter().all(Result::is_ok));
        let size = bucket::size(ands, lab.config.rho);
        let m = ands * size;
        let check = if n > 2 { 128 } else { 0 };
        let bits = dealt(n, &lab, &[3 * m + 1 + check; 2]);
        for batch in 0..2 {
            let pairs = differences(&coin(&recordings, batch), m, size);
            assert_eq!(pairs.len(), m - ands);
            for (i, bits) in bits.iter().enumerate() {
                let body = &told(&recordings, i, D)[batch];
                let y = &bits[batch][m..2 * m];
                let wrong = pairs
                    .iter()
                    .enumerate()
                    .filter(|(k, [t, first])| body[k / 8] >> (k % 8) & 1 != y[*t] ^ y[*first]);
                assert_eq!(wrong.count(), 0, "{n} {batch} {i}");
            }
        }
    }
}

/// n >= 3: the sum of all parties' c consists of the bits that the check takes. Two colluding parties know
/// these bits except for the third party's share, so nothing else may be made of them. For two batches.
#[test]
fn what_the_check_takes_is_used_for_nothing_else() {
    let (n, ands, lab) = (3, 7, GarbleLab::default());
    let harness = harness(n, &lab);
    let recordings = harness.recordings();
    let ends = harness.act(|mut session| {
        // as the phase itself asks for them: triples, masks, the check
        let mut garble = lab.party(&mut session)?;
        (0..2).try_for_each(|_| garble.function_independent(&mut session, ands, 5).map(|_| ()))
    });
    assert!(ends.iter().all(Result::is_ok));
    let count = 3 * ands * bucket::size(ands, lab.config.rho) + 5 + 128;
    let bits = dealt(n, &lab, &[count; 2]);
    for batch in 0..2 {
        let sum = (0..n).fold(0, |sum, i| sum ^ word(&told(&recordings, i, PRODUCT)[batch], 0));
        let of = |batch: usize, from: usize| {
            (0..128).fold(0, |word, b| {
                let bit = bits.iter().fold(0, |sum, bits| sum ^ bits[batch][from + b]);
                word | u128::from(bit) << b
            })
        };
        assert_eq!(sum, of(batch, count - 128), "{batch}");
        // the c of a single party is neither zero nor the sum
        let each: Vec<u128> = (0..n).map(|i| word(&told(&recordings, i, PRODUCT)[batch], 0)).collect();
        assert!(each.iter().all(|c| *c != 0 && *c != sum));
    }
}

/// P_2 changes one bit of its word in one product, and thereby one bit of P_1's share and of the total: this
/// is noticed for every bit.
#[test]
fn every_bit_of_the_total_counts() {
    let (n, ands, lab) = (3, 2, GarbleLab::default());
    let count = 3 * ands * bucket::size(ands, lab.config.rho) + 1 + 128;
    let bits = dealt(n, &lab, &[count]);
    let one = (0..128).find(|b| bits[0][0][count - 128 + b] == 1).unwrap();
    let places = [0, 1, 7, 8, 31, 32, 63, 64, 65, 95, 100, 126, 127];
    many(places.len(), 3, |i| {
        let bit = places[i];
        let harness = harness(n, &lab);
        harness.change(party(2), party(1), PRODUCT, 0, move |body| {
            body[16 * (1 + one) + bit / 8] ^= 1 << (bit % 8)
        });
        let ends = harness
            .act(|mut session| guess(&mut lab.party(&mut session)?, &mut session, ands, TripleLie::Honest));
        assert!(ends.iter().all(Result::is_err), "{bit}");
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::W15)), "{bit}");
    });
}

/// A lie at each of several places of a batch, which is longer than the pieces in which it is combined, is
/// found: no triple is left out.
#[test]
fn no_triple_is_left_out_of_the_combination() {
    let lab = GarbleLab::default();
    let ands = 60;
    let m = ands * bucket::size(ands, lab.config.rho);
    assert!(m > 300);
    let places = [0, 1, 127, 128, 255, 256, 257, m - 1];
    many(places.len(), 3, |i| {
        let ends: Vec<Result<bool, Abort>> = harness(3, &lab).act(|mut session| {
            let lie = if session.me() == party(2) { TripleLie::OneX(places[i]) } else { TripleLie::Honest };
            guess(&mut lab.party(&mut session)?, &mut session, ands, lie)
        });
        assert!(ends[0].is_err() && ends[2].is_err(), "{}", places[i]);
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::W15)), "{}", places[i]);
    });
}

/// No two of 600 coins give the same partition of 200 leaky triples into 40 buckets.
#[test]
fn partitions_take_all_of_the_coin() {
    let coins = (0..600_u128).map(|i| (i << 60 | i).to_le_bytes());
    let all: std::collections::HashSet<_> = coins.map(|coin| differences(&coin, 200, 5)).collect();
    assert_eq!(all.len(), 600);
}
