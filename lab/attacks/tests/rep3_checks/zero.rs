//! The comparison with zero: every block of a group has a random factor of its own, and every bit counts
//! (S7). So do the lanes that are compared side by side (A23).

use crate::common::is_misuse;
use crate::known::{Seen, act, first_random, harness, public_blocks};
use divisi_core::Compares;
use divisi_field::{Field, Gf128};
use divisi_rep3::adversary::adaptive::engine;

const OPENED: &str = "divisi_rep3::open/open.bytes";

/// The verdicts on groups of these values, and the opened elements, group by group.
fn asked(with: u8, groups: &[&[u128]]) -> (Vec<bool>, Vec<Gf128>) {
    let harness = harness(with);
    let seen = Seen::of(&harness);
    let said = act(harness, with, |trio| {
        let mut e = engine(trio);
        let groups =
            groups.iter().map(|group| public_blocks(&mut e, group)).collect::<Result<Vec<_>, _>>()?;
        e.are_zero(&groups)
    });
    assert!(said.iter().all(|s| *s == said[0]));
    let columns = seen.opened(OPENED, 0).unwrap();
    let n = groups.len();
    assert_eq!(columns.len(), 16 * n);
    let opened = (0..n).map(|l| Gf128::from_ghash(std::array::from_fn(|i| columns[n * i + l])));
    (said[0].clone().unwrap(), opened.collect())
}

/// What is opened is the sum of the blocks, each times a random element of its own; no two groups have the
/// same.
#[test]
fn every_block_has_a_random_factor_of_its_own() {
    let values: [&[u128]; 3] = [&[7], &[7], &[7, 7]];
    let (said, opened) = asked(1, &values);
    assert_eq!(said, [false; 3]);
    let r = first_random(1, 4);
    assert_eq!(opened, [Gf128(7) * r[0], Gf128(7) * r[1], Gf128(7) * (r[2] + r[3])]);
    let (said, _) = asked(2, &[&[0, 0, 0], &[0, 1 << 127], &[1, 1, 1, 1], &[0]]);
    assert_eq!(said, [true, false, false, true]);
}

/// A difference whose masked form has one bit set, whichever it is, is no zero.
#[test]
fn every_bit_of_what_is_opened_counts() {
    let r = first_random(3, 1)[0];
    for bit in 0..128 {
        let (said, opened) = asked(3, &[&[(Gf128(1 << bit) * r.inverse()).0]]);
        assert_eq!((said[0], opened[0]), (false, Gf128(1 << bit)), "bit {bit}");
    }
}

/// Lanes that are compared side by side are opened each times a random element of its own: two equal
/// differences do not show as equal.
#[test]
fn every_lane_has_a_random_factor_of_its_own() {
    let harness = harness(4);
    let seen = Seen::of(&harness);
    let said = act(harness, 4, |trio| {
        let mut e = engine(trio);
        let difference = public_blocks(&mut e, &[7, 7, 0])?;
        e.vanish_lanes(difference)
    });
    assert!(said.iter().all(|said| *said == Ok(vec![false, false, true])), "{said:?}");
    let columns = seen.opened(OPENED, 0).unwrap();
    let opened = [0, 1, 2].map(|l| Gf128::from_ghash(std::array::from_fn(|i| columns[3 * i + l])));
    let r = first_random(4, 2);
    assert_eq!(opened, [Gf128(7) * r[0], Gf128(7) * r[1], Gf128(0)]);
}

/// A comparison of nothing is no comparison.
#[test]
fn an_empty_group_is_refused() {
    let ends = act(harness(5), 5, |trio| {
        let mut e = engine(trio);
        let groups = [public_blocks(&mut e, &[0])?, public_blocks(&mut e, &[])?];
        e.are_zero(&groups)
    });
    is_misuse("an empty group", &ends);
}
