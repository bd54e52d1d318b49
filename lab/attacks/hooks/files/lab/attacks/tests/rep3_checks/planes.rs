//! The coefficients of S-boxes in bit planes, computed independently in the test (A8, A9, A11, A14, A15).

use crate::known::{Liar, Seen, act, corner, dependent, first_random, harness, through_levels, words};
use divisi_core::{Abort, Bytes, Direction, settle};
use divisi_field::{Field, Gf64};
use divisi_rep3::Passes;
use divisi_rep3::adversary::adaptive::{H as LEVEL, OPEN, Z_PRIME, engine};
use divisi_rep3::adversary::harness::{failed_check, party};
use divisi_rep3::adversary::planes::{H, OUTER};
use divisi_rep3::checks;
use std::collections::HashSet;

const V14: &str = "divisi_rep3::sbox::gf4_circuit/v14";
/// Records in a group, variables of the fold, relations of a record.
const GROUP: usize = 8;
const FOLDS: usize = 3;
const RELATIONS: usize = 2;

/// Layers of S-boxes of public bytes: so many layers of so many bytes of so many lanes.
#[derive(Clone, Copy)]
struct Batch {
    layers: usize,
    bytes: usize,
    lanes: usize,
}

impl Batch {
    /// The number of tiles of a byte; each tile of each byte of a layer is a record.
    fn tiles(self) -> usize {
        self.lanes.div_ceil(512)
    }

    fn records(self) -> usize {
        self.layers * self.bytes * self.tiles()
    }

    /// The lanes in use of a record.
    fn used(self, record: usize) -> usize {
        (self.lanes - record % self.tiles() * 512).min(512)
    }

    /// How many levels follow the fold.
    fn levels(self) -> usize {
        let group = |g: usize| (g * GROUP..self.records().min((g + 1) * GROUP)).map(|r| self.used(r)).max();
        let terms: usize = (0..self.records().div_ceil(GROUP)).filter_map(group).sum();
        (RELATIONS * terms).next_power_of_two().trailing_zeros() as usize
    }
}

/// A flipped bit of a product.
#[derive(Clone, Copy, Debug)]
struct Error {
    /// Of v^14, or of the outer products.
    step: &'static str,
    record: usize,
    plane: usize,
    lane: usize,
}

fn outer(record: usize, plane: usize, lane: usize) -> Error {
    Error { step: OUTER, record, plane, lane }
}

fn substituted(with: u8, batch: Batch, passes: Passes, errors: &[Error]) -> (Seen, Vec<Result<(), Abort>>) {
    let harness = harness(with);
    let seen = Seen::of(&harness);
    let results = act(harness, with, |trio| {
        let corrupt = trio.me() == party(1);
        let mut e = engine(trio);
        e.trio().set_passes(passes);
        if corrupt {
            let errors = errors.to_vec();
            let mut messages = [0; 2];
            let lies = move |step: &str, share: &mut [u8]| {
                let Some(kind) = [V14, OUTER].iter().position(|s| *s == step) else { return };
                let (planes, layer) = (4 + 4 * kind, messages[kind]);
                messages[kind] += 1;
                let here = batch.records() / batch.layers;
                for error in errors.iter().filter(|e| e.step == step && e.record / here == layer) {
                    let before: usize =
                        (0..error.record % here).map(|r| planes * batch.used(r).div_ceil(8)).sum();
                    let plane = before + error.plane * batch.used(error.record % here).div_ceil(8);
                    share[plane + error.lane / 8] ^= 1 << (error.lane % 8);
                }
            };
            e.trio().deviate(Liar { notes: seen.notes.clone(), lies });
        }
        let values: Vec<u8> = (0..batch.lanes).map(|l| (7 * l) as u8).collect();
        let mut x: Vec<_> = (0..batch.bytes).map(|_| e.public(&values)).collect();
        for _ in 0..batch.layers {
            e.sbox(Direction::Encrypt, &mut x.iter_mut().collect::<Vec<_>>())?;
        }
        let pending = e.close(x);
        settle(&mut e, pending).map(drop)
    });
    (seen, results)
}

/// The coefficient of a record's lane under one of its relations, without the weight of the plane.
fn coefficient(error: &Error, coins: &[[u8; 16]]) -> Gf64 {
    let relation = usize::from(error.step == V14);
    let block = error.record / GROUP * RELATIONS + relation;
    let words = words(coins[0], 8 + 64 * (block + 1));
    let alpha = words[8 + 64 * block + error.lane / 8];
    alpha * words[error.lane % 8] * corner(coins[1], FOLDS, error.record % GROUP)
}

/// 17 bytes: two full groups and one of one; two layers whose records share a group; three tiles of one byte.
const BATCHES: [Batch; 3] = [
    Batch { layers: 1, bytes: 17, lanes: 40 },
    Batch { layers: 2, bytes: 5, lanes: 120 },
    Batch { layers: 1, bytes: 1, lanes: 1100 },
];

/// Every lane of every record has a coefficient of its own under each relation: if what is opened for one
/// error is divided by its coefficient, by the factor of the levels and by the mask, only the weight of its
/// plane is left, wherever the error was.
#[test]
fn every_lane_of_every_record_has_its_own_coefficient() {
    let places: [&[(usize, usize)]; 3] = [
        &[
            (0, 0),
            (0, 1),
            (0, 7),
            (0, 8),
            (0, 39),
            (1, 0),
            (2, 0),
            (4, 0),
            (7, 39),
            (8, 0),
            (9, 13),
            (15, 8),
            (16, 0),
            (16, 31),
        ],
        &[(0, 0), (4, 119), (5, 0), (7, 64), (8, 2), (9, 119)],
        &[(0, 0), (0, 511), (0, 64), (1, 0), (1, 300), (2, 0), (2, 75)],
    ];
    // by plane, and whether it is one of v^14
    let mut weights = [[None; 8]; 2];
    for (i, (batch, places)) in BATCHES.into_iter().zip(places).enumerate() {
        let with = 80 + i as u8;
        let mask = Gf64((first_random(with, 1)[0].0 >> 64) as u64);
        for (n, (record, lane)) in places.iter().enumerate() {
            for step in [OUTER, V14] {
                let error = Error { step, record: *record, plane: n % 4, lane: *lane };
                let (seen, results) = substituted(with, batch, Passes::Once, &[error]);
                assert!(results[1..].iter().all(Result::is_err), "{error:?}");
                let coins = seen.coins();
                let levels = batch.levels();
                assert_eq!(coins.len(), 3 + levels);
                assert_eq!(seen.coins_before(H), [1]);
                assert_eq!(seen.coins_before(LEVEL), (2..2 + levels).collect::<Vec<_>>());
                assert_eq!(seen.coins_before(Z_PRIME), [2 + levels]);
                assert_eq!(coins.iter().collect::<HashSet<_>>().len(), coins.len());
                let known = coefficient(&error, &coins) * through_levels(&coins[2..coins.len() - 1]) * mask;
                let weight = seen.opened_64(OPEN, 0).unwrap() * known.inverse();
                assert_ne!(weight, Gf64::ZERO);
                let first = weights[usize::from(step == V14)][error.plane].get_or_insert(weight);
                assert_eq!(*first, weight, "{error:?}");
            }
        }
    }
    assert_eq!(weights.iter().flatten().flatten().map(|w| w.0).collect::<HashSet<_>>().len(), 8);
}

/// A lie about one product of any record ends the session at the verification's own check: of every group,
/// the last one too, which is not full. A verification that did not bind the claims of a group would accept
/// it.
#[test]
fn a_lie_about_any_record_is_noticed() {
    for batch in BATCHES {
        for (record, step) in (0..batch.records()).flat_map(|record| [(record, OUTER), (record, V14)]) {
            let error = Error { step, record, plane: record % 4, lane: (7 * record) % batch.used(record) };
            let (_, results) = substituted(98, batch, Passes::Once, &[error]);
            assert!(results[1..].iter().all(Result::is_err), "{error:?}");
            assert!(results.iter().any(|end| failed_check(end) == Some(checks::A7)), "{error:?}");
        }
    }
}

/// Errors that cancel under the coins of a session whose coins are known ahead: a second pass finds them.
#[test]
fn what_one_pass_misses_another_finds() {
    for (with, batch) in [(90, BATCHES[0]), (91, BATCHES[2])] {
        let (seen, _) = substituted(with, batch, Passes::Once, &[outer(0, 0, 0)]);
        let coins = seen.coins();
        let records = batch.records();
        let places: Vec<Error> =
            (0..65).map(|i| outer(i % records, 1, (7 * i) % batch.used(i % records))).collect();
        let distinct: HashSet<_> = places.iter().map(|e| (e.record, e.lane)).collect();
        assert_eq!(distinct.len(), 65);
        let of: Vec<Gf64> = places.iter().map(|place| coefficient(place, &coins)).collect();
        let errors: Vec<Error> = dependent(&of).into_iter().map(|i| places[i]).collect();
        let (_, once) = substituted(with, batch, Passes::Once, &errors);
        assert!(once.iter().all(Result::is_ok), "{once:?}");
        let (seen, twice) = substituted(with, batch, Passes::Twice, &errors);
        assert!(twice[1..].iter().all(Result::is_err), "{twice:?}");
        assert_eq!(seen.opened_64(OPEN, 0), Some(Gf64::ZERO));
        assert!(seen.opened_64(OPEN, 1).is_some_and(|sigma| sigma != Gf64::ZERO));
        assert_eq!(seen.coins().len(), 2 * coins.len());
    }
}

/// A corrupt party that tells the same lie twice: in two lanes, bytes of lanes, records, groups, layers,
/// tiles or relations.
#[test]
fn equal_errors_do_not_cancel() {
    let pairs: [&[[(usize, usize); 2]]; 3] = [
        &[
            [(0, 0), (0, 1)],
            [(0, 0), (0, 8)],
            [(0, 0), (1, 0)],
            [(1, 0), (2, 0)],
            [(0, 0), (8, 0)],
            [(8, 0), (16, 0)],
            [(0, 9), (9, 0)],
        ],
        &[[(0, 0), (5, 0)], [(0, 0), (8, 0)]],
        &[[(0, 0), (1, 0)], [(0, 1), (2, 1)]],
    ];
    for (batch, pairs) in BATCHES.into_iter().zip(pairs) {
        for pair in pairs {
            for plane in [0, 5] {
                let errors = pair.map(|(record, lane)| outer(record, plane, lane));
                let (_, results) = substituted(99, batch, Passes::Once, &errors);
                assert!(results[1..].iter().all(Result::is_err), "{errors:?}");
            }
        }
    }
}
