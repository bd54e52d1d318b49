//! The coefficients of products over GF(2), computed independently in the test (A8, A9, A11, S6).

use crate::known::{Liar, Seen, act, corner, dependent, first_random, harness, through_levels, words};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Abort, Boolean, Pending, ProgramRun, settle};
use divisi_field::{Field, Gf64};
use divisi_rep3::adversary::adaptive::{H, OPEN, Z_PRIME, engine};
use divisi_rep3::adversary::harness::{failed_check, party};
use divisi_rep3::checks;
use divisi_rep3::{Passes, Rep3};
use std::collections::HashSet;

const PRODUCTS: &str = "divisi_rep3::engine::boolean/products";
const GRID: &str = "divisi_rep3::verify::ands/ands.h";
const DOTS: usize = 70;
/// Dots in a group, and variables of the fold.
const GROUP: usize = 64;
const FOLDS: usize = 6;

fn program() -> Program {
    let mut g = Build::new();
    let x = g.input(DOTS + 1);
    let z: Vec<_> = (0..DOTS).map(|i| g.and(x[i], x[i + 1])).collect();
    g.output(&z);
    g.finish()
}

/// A flipped product: which dot, in which lane.
type Error = (usize, usize);

/// The dots of public bits in so many lanes, once for each of `batches`, with errors in the last of them; all
/// settled together or each by itself.
fn multiplied(
    with: u8,
    lanes: usize,
    passes: Passes,
    batches: usize,
    together: bool,
    errors: &[Error],
) -> (Seen, Vec<Result<(), Abort>>) {
    let harness = harness(with);
    let seen = Seen::of(&harness);
    let program = program();
    let results = act(harness, with, |trio| {
        let corrupt = trio.me() == party(1);
        let mut e = engine(trio);
        e.trio().set_passes(passes);
        if corrupt {
            let errors = errors.to_vec();
            let mut batch = 0;
            let lies = move |step: &str, share: &mut [u8]| {
                if step == PRODUCTS {
                    batch += 1;
                    for (dot, lane) in errors.iter().filter(|_| batch == batches) {
                        // a few lanes follow one another without a gap
                        let dot = dot * if lanes <= 64 { lanes } else { lanes.next_multiple_of(8) };
                        share[(dot + lane) / 8] ^= 1 << ((dot + lane) % 8);
                    }
                }
            };
            e.trio().deviate(Liar { notes: seen.notes.clone(), lies });
        }
        let bits: Vec<bool> = (0..lanes).map(|l| l % 3 == 0).collect();
        let mut closed = Vec::new();
        for _ in 0..batches {
            let wires = (0..=DOTS).map(|_| e.public_bit(&bits)).collect();
            let mut jobs = [ProgramRun::new(&program, wires)];
            e.run(&mut jobs)?;
            let [job] = jobs;
            let pending = e.close(job.wires);
            if together {
                closed.push(pending);
            } else {
                settle(&mut e, pending)?;
            }
        }
        settle_all(&mut e, closed)
    });
    (seen, results)
}

fn settle_all<T>(e: &mut Rep3, closed: Vec<Pending<T, divisi_rep3::Products>>) -> Result<(), Abort> {
    match Pending::join(closed) {
        Some(all) => settle(e, all).map(drop),
        None => Ok(()),
    }
}

/// The coefficient of a dot's lane, by the coins of its coefficients and of the point.
fn coefficient(lanes: usize, (dot, lane): Error, first: [u8; 16], point: [u8; 16]) -> Gf64 {
    // dots of a few lanes stand side by side in one tile
    let (block, lane) = if lanes <= 64 {
        assert!(lanes * 2 <= 512);
        (0, dot / GROUP * lanes + lane)
    } else {
        (dot / GROUP * lanes.div_ceil(512) + lane / 512, lane % 512)
    };
    let alpha = words(first, 8 * block + 8);
    alpha[8 * block + lane / 64] * Gf64(1 << (lane % 64)) * corner(point, FOLDS, dot % GROUP)
}

/// Every lane of every dot has a coefficient of its own, and each pass its own coins: the value that is
/// opened for one error follows from them.
#[test]
fn every_lane_of_every_dot_has_its_own_coefficient() {
    let wide: &[Error] = &[
        (0, 0),
        (0, 1),
        (0, 63),
        (0, 64),
        (0, 511),
        (0, 512),
        (0, 599),
        (1, 0),
        (2, 0),
        (4, 0),
        (8, 0),
        (16, 0),
        (32, 0),
        (63, 64),
        (64, 0),
        (65, 64),
        (69, 599),
    ];
    let narrow: &[Error] = &[(0, 0), (0, 8), (1, 0), (63, 3), (64, 0), (69, 8)];
    for (with, lanes, errors) in [(50, 600, wide), (51, 9, narrow)] {
        let mask = Gf64((first_random(with, 1)[0].0 >> 64) as u64);
        let mut coins_before = None;
        for error in errors {
            let (seen, results) = multiplied(with, lanes, Passes::Once, 1, false, &[*error]);
            assert!(results[1..].iter().all(Result::is_err), "{lanes} {error:?}: {results:?}");
            let coins = seen.coins();
            assert_eq!(coins.iter().collect::<HashSet<_>>().len(), coins.len());
            // coefficients, point, levels, t
            // two groups, or dots of one group side by side
            let levels = (2 * lanes).next_power_of_two().trailing_zeros() as usize;
            assert_eq!(coins.len(), 3 + levels);
            assert_eq!((seen.coins_before(PRODUCTS), seen.coins_before(GRID)), (vec![0], vec![1]));
            assert_eq!(seen.coins_before(H), (2..2 + levels).collect::<Vec<_>>());
            assert_eq!(seen.coins_before(Z_PRIME), [2 + levels]);
            let levels = through_levels(&coins[2..coins.len() - 1]);
            let expected = coefficient(lanes, *error, coins[0], coins[1]) * levels * mask;
            assert_eq!(seen.opened_64(OPEN, 0), Some(expected), "{lanes} {error:?}");
            assert_eq!(*coins_before.get_or_insert(coins.clone()), coins);
        }
    }
}

/// Errors that cancel under the first coins of a session whose coins are known ahead: one pass misses them,
/// which shows that the test computes what the parties do, and a second one does not.
#[test]
fn what_one_pass_misses_another_finds() {
    for (with, lanes) in [(60, 600), (61, 9)] {
        let (seen, _) = multiplied(with, lanes, Passes::Once, 1, false, &[(0, 0)]);
        let coins = seen.coins();
        let places: Vec<Error> =
            (0..65).map(|i| (i % 5, (i / 5) % lanes.min(9) + 64 * (i / 45) % lanes)).collect();
        let places: Vec<Error> =
            if lanes > 64 { places } else { (0..65).map(|i| (i % 10, i / 10)).collect() };
        let of =
            places.iter().map(|place| coefficient(lanes, *place, coins[0], coins[1])).collect::<Vec<_>>();
        let errors: Vec<Error> = dependent(&of).into_iter().map(|i| places[i]).collect();
        let (_, once) = multiplied(with, lanes, Passes::Once, 1, false, &errors);
        assert!(once.iter().all(Result::is_ok), "{once:?}");
        let (seen, twice) = multiplied(with, lanes, Passes::Twice, 1, false, &errors);
        assert!(twice[1..].iter().all(Result::is_err), "{twice:?}");
        assert_eq!(seen.opened_64(OPEN, 0), Some(Gf64::ZERO));
        assert!(seen.opened_64(OPEN, 1).is_some_and(|sigma| sigma != Gf64::ZERO));
        let all = seen.coins();
        assert_eq!(all.len(), 2 * coins.len());
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}

/// Of computations settled together or one after the other, the last is verified like the first, with coins
/// of its own.
#[test]
fn every_computation_is_verified() {
    for (together, batches) in [(true, 2), (true, 3), (false, 2)] {
        for lanes in [9, 600] {
            for errors in [&[][..], &[(3, 2)], &[(69, lanes - 1)]] {
                let (seen, results) = multiplied(70, lanes, Passes::Once, batches, together, errors);
                assert!(
                    results[1..].iter().all(|end| end.is_ok() == errors.is_empty()),
                    "{together} {lanes} {errors:?}"
                );
                if !errors.is_empty() {
                    assert!(results.iter().any(|end| failed_check(end) == Some(checks::A7)));
                }
                let coins = seen.coins();
                assert_eq!(coins.iter().collect::<HashSet<_>>().len(), coins.len());
            }
        }
    }
}
