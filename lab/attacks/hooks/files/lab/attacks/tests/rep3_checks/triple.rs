//! The values that CheckTriple and the levels before it open, computed independently in the test (A5 to A9,
//! A11, A21).

use crate::known::{Liar, Seen, act, blocks, first_random, harness, public_blocks};
use divisi_core::{Abort, Blocks, Convert, settle};
use divisi_field::{Field, Gf128};
use divisi_rep3::Byte;
use divisi_rep3::adversary::adaptive::{H, MULTIPLY, OPEN, RHO, SIGMA, Z_PRIME, engine};
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, failed_check, party};
use std::collections::HashSet;

const BARRIER: &str = "divisi_rep3::views/barrier";
const COIN: &str = "divisi_rep3::random/coin.share";
const DIGEST: &str = "divisi_rep3::open/open.digest";
const OPENED: &str = "divisi_rep3::open/open.bytes";

const X: [u128; 5] = [3, 1 << 100, 0xabcd << 60, 5, 7 << 33];
const Y: [u128; 5] = [1 << 127 | 9, 2, 0x1234_5678, 1 << 64, 11];

/// Batches of products of public values, of which the last has errors; what was seen, and how it ended.
fn multiplied(with: u8, batches: &[usize], errors: &[(usize, Gf128)]) -> (Seen, Vec<Result<(), Abort>>) {
    played(harness(with), with, batches, errors)
}

fn played(
    harness: TrioHarness,
    with: u8,
    batches: &[usize],
    errors: &[(usize, Gf128)],
) -> (Seen, Vec<Result<(), Abort>>) {
    let seen = Seen::of(&harness);
    let results = act(harness, with, |trio| {
        let corrupt = trio.me() == party(1);
        let mut e = engine(trio);
        if corrupt {
            let (errors, last) = (errors.to_vec(), batches.len() - 1);
            let mut batch = 0;
            let lies = move |step: &str, share: &mut [u8]| {
                if step == MULTIPLY {
                    for (at, error) in errors.iter().filter(|_| batch == last) {
                        let bytes = &mut share[16 * at..16 * at + 16];
                        bytes.iter_mut().zip(error.to_le_bytes()).for_each(|(x, e)| *x ^= e);
                    }
                    batch += 1;
                }
            };
            e.trio().deviate(Liar { notes: seen.notes.clone(), lies });
        }
        for n in batches {
            let (x, y) = (public_blocks(&mut e, &X[..*n])?, public_blocks(&mut e, &Y[..*n])?);
            let z = e.multiply(&x, &y)?;
            let bytes: [Byte; 16] = e.convert(z)?;
            let pending = e.close(bytes.to_vec());
            settle(&mut e, pending)?;
        }
        Ok(())
    });
    (seen, results)
}

fn element(coin: [u8; 16]) -> Gf128 {
    Gf128(u128::from_le_bytes(coin))
}

/// rho is x + t x' and sigma is the error times r, for x' and r that are the next random elements, and for
/// the whole coin t; so in the next batch, with others.
#[test]
fn a_triple_opens_what_it_must() {
    for with in 1..5 {
        let random = first_random(with, 4);
        assert!(random.iter().all(|x| x.0 >> 64 != 0 && x.0 as u64 != 0));
        assert_eq!(random.iter().map(|x| x.0).collect::<HashSet<_>>().len(), 4);
        let error = Gf128(0xfeed_0000_0000_0000_0001);
        let (seen, results) = multiplied(with, &[1, 1], &[(0, error)]);
        assert!(results.iter().all(Result::is_err));
        let coins = seen.coins();
        assert_eq!(coins.len(), 4);
        for (batch, error) in [Gf128::ZERO, error].into_iter().enumerate() {
            let (c, t) = (blocks(coins[2 * batch], 1)[0], element(coins[2 * batch + 1]));
            let (x_prime, r) = (random[2 * batch], random[2 * batch + 1]);
            assert_eq!(seen.opened_128(RHO, batch), Some(c * Gf128(X[0]) + t * x_prime));
            assert_eq!(seen.opened_128(OPEN, batch), Some(c * error * r));
        }
    }
}

/// Each product of each batch has a coefficient of its own, each level its own point, each triple its own x'
/// and r: what is opened for an error in one product is told from the coins of its own batch.
#[test]
fn every_product_has_its_own_coefficient_and_every_level_its_own_point() {
    let with = 9;
    let random = first_random(with, 4);
    for i in 0..5 {
        let error = Gf128(1 << (20 * i));
        let (seen, results) = multiplied(with, &[2, 5], &[(i, error)]);
        assert!(results[1..].iter().all(Result::is_err), "{i}");
        let coins = seen.coins();
        // coefficients, one level, t; coefficients, three levels, t
        assert_eq!(coins.len(), 8);
        assert_eq!(coins.iter().collect::<HashSet<_>>().len(), 8);
        // no coin is known to who could still choose what it must follow
        assert_eq!(seen.coins_before(MULTIPLY), [0, 3]);
        assert_eq!(seen.coins_before(H), [1, 4, 5, 6]);
        assert_eq!((seen.coins_before(Z_PRIME), seen.coins_before(SIGMA)), (vec![2, 7], vec![3, 8]));
        assert_eq!(seen.opened_128(OPEN, 0), Some(Gf128::ZERO));
        let levels = coins[4..7].iter().fold(Gf128::ONE, |product, r| product * (Gf128::ONE + element(*r)));
        let expected = blocks(coins[3], 5)[i] * error * levels * random[3];
        assert_eq!(seen.opened_128(OPEN, 1), Some(expected), "{i}");
    }
}

/// Errors for which a single bit of sigma is set, for each bit: both honest parties notice.
#[test]
fn every_bit_of_sigma_counts() {
    let with = 17;
    let (seen, _) = multiplied(with, &[1], &[(0, Gf128::ONE)]);
    let unit = seen.opened_128(OPEN, 0).unwrap();
    for bit in 0..128 {
        let sigma = Gf128(1 << bit);
        let (seen, results) = multiplied(with, &[1], &[(0, sigma * unit.inverse())]);
        assert_eq!(seen.opened_128(OPEN, 0), Some(sigma));
        assert!(results[1..].iter().all(Result::is_err), "bit {bit}: {results:?}");
        assert!(results.iter().any(|end| failed_check(end) == Some(divisi_rep3::checks::A7)));
    }
    // and what cancels by the coefficients that the test knows ahead is not noticed: the model is right
    let (seen, _) = multiplied(with, &[2], &[(0, Gf128::ONE)]);
    let c = blocks(seen.coins()[0], 2);
    let (_, results) = multiplied(with, &[2], &[(0, c[1]), (1, c[0])]);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// One product with this error, and a change of what the corrupt party opens to its next.
fn opened_wrongly(
    with: u8,
    error: Gf128,
    step: &'static str,
    change: Gf128,
) -> (Seen, Vec<Result<(), Abort>>) {
    let harness = harness(with);
    harness.change(party(1), party(2), step, 0, move |body| {
        body.iter_mut().zip(change.to_le_bytes()).for_each(|(x, y)| *x ^= y);
    });
    played(harness, with, &[1], &[(0, error)])
}

/// rho is compared to its last byte before anything of sigma is said.
#[test]
fn every_byte_of_rho_is_compared_before_sigma() {
    for byte in 0..16 {
        let (seen, results) = opened_wrongly(50, Gf128::ZERO, RHO, Gf128(1 << (8 * byte)));
        assert_eq!(failed_check(&results[1]), Some(divisi_rep3::checks::A1), "byte {byte}");
        assert!(seen.recordings[1].of(MessageDirection::Out, SIGMA).is_empty(), "byte {byte}");
    }
}

/// Whoever knows sigma cannot show zero in its place, not even if it keeps the third party, who is shown the
/// right one, waiting.
#[test]
fn a_hidden_sigma_is_noticed() {
    let (seen, _) = multiplied(51, &[1], &[(0, Gf128::ONE)]);
    let sigma = seen.opened_128(OPEN, 0).unwrap();
    let harness = harness(51);
    harness.change(party(1), party(2), OPEN, 0, move |body| {
        body.iter_mut().zip(sigma.to_le_bytes()).for_each(|(x, y)| *x ^= y);
    });
    // of the digests of rho and of sigma the second is kept back, and what would end the liar is not read
    let ids = [DIGEST, OPEN].map(|step| divisi_core::Step::new(step).id);
    let mut digests = 0;
    harness.hand(party(1), party(3), move |frame| {
        digests += usize::from(frame.step == ids[0]);
        if digests == 2 { vec![] } else { vec![frame] }
    });
    harness.hand(party(3), party(1), move |frame| if frame.step == ids[1] { vec![] } else { vec![frame] });
    let (_, results) = played(harness, 51, &[1], &[(0, Gf128::ONE)]);
    assert_eq!(failed_check(&results[1]), Some(divisi_rep3::checks::A1), "{results:?}");
}

/// A corrupt party that adds the same to two products.
#[test]
fn equal_errors_of_two_products_do_not_cancel() {
    for with in 0..2 {
        for (i, j) in (0..5).flat_map(|j| (0..j).map(move |i| (i, j))) {
            let error = Gf128(0x8000_0001 << i);
            let (_, results) = multiplied(30 + with, &[5], &[(i, error), (j, error)]);
            assert!(results[1..].iter().all(Result::is_err), "{i} {j}");
        }
    }
}

/// All parties compare their views before any of them says a share of a coin.
#[test]
fn a_barrier_comes_before_the_first_coin() {
    let (seen, results) = multiplied(41, &[2, 1], &[]);
    assert!(results.iter().all(Result::is_ok));
    for recording in &seen.recordings {
        let ids = [BARRIER, COIN].map(|step| divisi_core::Step::new(step).id);
        let sent = recording.read().into_iter().filter(|s| s.way == MessageDirection::Out);
        let order: Vec<usize> = sent.filter_map(|s| ids.iter().position(|id| *id == s.frame.step)).collect();
        // to both; coefficients, one level, t; to both; coefficients, t
        assert_eq!(order, [0, 0, 1, 1, 1, 0, 0, 1, 1]);
    }
}

/// What a run without errors opens: the zero of sigma once, and nothing before it.
#[test]
fn openings_of_a_good_run_say_nothing_else() {
    let (seen, results) = multiplied(40, &[3], &[]);
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(seen.opened_128(OPEN, 0), Some(Gf128::ZERO));
    assert!(
        seen.opened(OPEN, 1).is_none() && seen.opened(RHO, 1).is_none() && seen.opened(OPENED, 0).is_none()
    );
}
