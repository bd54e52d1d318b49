//! Opened values are independent of the secrets, not only each by itself but together with everything that
//! was seen before (Q6): two secrets give samples of the same joint distribution.
//!
//! Each pair of values that the corrupt party sees or can compute is counted in a table of 64 cells, for one
//! secret and for the other, and a chi-square test compares the two tables. A true hypothesis is rejected
//! with probability below 2^-40 ([`FAR`]). The controls are the builds without the mask, whose tables differ
//! as far as tables can.

use crate::adversary::Deviate;
use crate::adversary::adaptive::{H, OPEN, RHO, SIGMA, Z_PRIME};
use crate::adversary::harness::{MessageDirection, Recording, TrioHarness, many, party};
use crate::checks;
use crate::coin::{Coin, next_elements, next_words};
use crate::lab::deal_all;
use crate::{Block, Byte, Protocol, Rep3, Security};
use divisi_core::{Abort, Bytes, Check, Convert, Direction, PartyId, Step, settle};
use divisi_field::{Field, Gf64};
use std::sync::{Arc, Mutex};

/// Samples for each secret.
const SAMPLES: usize = 1 << 10;
/// Cells of one value.
const SIDE: usize = 8;
/// The chi-square statistic with 63 degrees of freedom is above this with probability below 2^-40: by Wilson
/// and Hilferty the bound is 178; the rest is for tables of sixteen samples a cell.
const FAR: f64 = 220.0;

const GUESSED: &str = "divisi_rep3::sbox::gf8_circuit/x3";
const DOT: &str = "divisi_rep3::engine::blocks/dot";
const TAG: &str = "divisi_rep3::open/open.bytes";

/// The cell of a value: three bits of its hash.
fn cell(value: &[u8]) -> usize {
    usize::from(blake3::hash(value).as_bytes()[0]) % SIDE
}

/// The chi-square statistic of two samples of pairs.
fn chi_square(samples: [&[(usize, usize)]; 2]) -> f64 {
    let tables = samples.map(|samples| {
        let mut table = [0.0; SIDE * SIDE];
        samples.iter().for_each(|(x, y)| table[x * SIDE + y] += 1.0);
        table
    });
    let cells = tables[0].iter().zip(&tables[1]).filter(|(x, y)| *x + *y > 0.0);
    cells.map(|(x, y)| (x - y) * (x - y) / (x + y)).sum::<f64>()
}

/// The statistic of each pair of values. The samples of each secret have the cell of each value.
fn of_all_pairs(samples: &[Vec<Vec<usize>>; 2]) -> Vec<(usize, usize, f64)> {
    let values = samples[0][0].len();
    let pairs = (0..values).flat_map(|i| (i + 1..values).map(move |j| (i, j)));
    pairs
        .map(|(i, j)| {
            let [one, two] = samples.each_ref().map(|samples| {
                samples.iter().map(|values| (values[i], values[j])).collect::<Vec<(usize, usize)>>()
            });
            (i, j, chi_square([&one, &two]))
        })
        .collect()
}

/// Samples of what `seen` gives, for one secret and the other.
fn samples(n: usize, seen: impl Fn(usize) -> Vec<Vec<u8>> + Sync) -> [Vec<Vec<usize>>; 2] {
    [0, 1].map(|secret| {
        many(n, 4, |_| seen(secret))
            .into_iter()
            .map(|values| values.iter().map(|v| cell(v)).collect())
            .collect()
    })
}

/// The value that is opened when all three send their first components to their next.
fn opened(seen: &[Recording; 3], step: &'static str) -> Vec<u8> {
    let mut sum = Vec::new();
    for (from, seen) in PartyId::all(3).zip(seen) {
        let body = seen.bodies(MessageDirection::Out, from.next(3), step).pop().expect("an opening");
        sum.resize(body.len(), 0);
        sum.iter_mut().zip(body).for_each(|(sum, x)| *sum ^= x);
    }
    sum
}

fn of_64(bytes: &[u8]) -> Gf64 {
    Gf64(u64::from_le_bytes(bytes.try_into().expect("an element")))
}

/// Flips a bit of x^3, on which all that follows is built, and keeps the coins.
struct Liar(Arc<Mutex<Vec<[u8; 16]>>>);

impl Deviate for Liar {
    fn reshare(&mut self, step: Step, share: &mut [u8]) {
        if step.name == GUESSED {
            share[0] ^= 1;
        }
    }

    fn coin(&mut self, coin: [u8; 16]) {
        self.0.lock().unwrap().push(coin);
    }
}

/// A failed verification of an S-box of this byte: sigma, divided by all that its error was multiplied by in
/// public, so that without its mask it is `1 + Y^2 x`; and rho, t, and the messages that the liar received.
fn failed(secret: u8, check: Option<Check>) -> Vec<Vec<u8>> {
    let parts = deal_all(&[vec![secret]]);
    let harness = TrioHarness::without(check).patient();
    let seen = [1, 2, 3].map(|p| harness.recording(party(p)));
    let coins = Arc::new(Mutex::new(Vec::new()));
    let results = harness.act(|mut trio| {
        if trio.me() == party(1) {
            trio.deviate(Liar(Arc::clone(&coins)));
        }
        let mut x = trio.input(&parts[trio.me().index()][0])?;
        let mut e = Rep3::new(trio, Protocol::Gf8Circuit, Security::Malicious);
        e.sbox(Direction::Encrypt, &mut [&mut x])?;
        let pending = e.close(x);
        settle(&mut e, pending).map(drop)
    });
    assert!(check.is_some() || results.iter().any(Result::is_err), "{results:?}");
    let coins = coins.lock().unwrap().iter().map(|coin| Coin::seen(*coin)).collect::<Vec<_>>();
    let [first, point, level, t] = coins[..] else { panic!("{} coins", coins.len()) };
    let mut drawn = [Gf64::ZERO; 9];
    next_words(&mut first.expand(), &mut drawn); // beta of eight lanes, and the first alpha
    let mut at = [Gf64::ZERO; 3];
    next_elements(&mut point.expand(), &mut at);
    // at corner 0 of the fold, then at 0 of the level
    let r: Gf64 = level.element();
    let known = at.iter().fold(drawn[0] * drawn[8] * (Gf64::ONE + r), |known, r| known * (Gf64::ONE + *r));
    let sigma = of_64(&opened(&seen, OPEN)) * known.inverse();
    let liar = |step| seen[0].bodies(MessageDirection::In, party(2), step).pop().expect("a message");
    let values = vec![sigma.0.to_le_bytes().to_vec(), opened(&seen, RHO), t.bytes()[..8].to_vec()];
    [values, vec![liar(H), liar(Z_PRIME), liar(SIGMA)]].concat()
}

/// The comparison of a tag whose difference is made of `secret`: the opened values, and the messages that
/// party 1 received.
fn compared(secret: u8, check: Option<Check>) -> Vec<Vec<u8>> {
    let parts = deal_all(&(0..16).map(|i| vec![if i % 3 == 0 { secret } else { 0 }]).collect::<Vec<_>>());
    let harness = TrioHarness::without(check).patient();
    let seen = [1, 2, 3].map(|p| harness.recording(party(p)));
    let results = harness.act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let mine = &parts[e.trio().me().index()];
        let bytes = mine.iter().map(|part| e.trio().input(part)).collect::<Result<Vec<Byte>, Abort>>()?;
        let block: Block = e.convert(<[Byte; 16]>::try_from(bytes).ok().expect("sixteen bytes"))?;
        e.are_zero(&[block])
    });
    assert!(results.iter().all(|result| *result.as_ref().unwrap() == [false]), "{results:?}");
    let party_1 = |step| seen[0].bodies(MessageDirection::In, party(2), step).pop().expect("a message");
    let opened_here = vec![opened(&seen, TAG), opened(&seen, RHO)];
    [opened_here, vec![party_1(DOT), party_1(Z_PRIME), party_1(SIGMA)]].concat()
}

#[test]
fn what_an_abort_opens_is_independent_of_the_secret_jointly_with_all_that_was_seen() {
    const SECRETS: [u8; 2] = [0x00, 0x53];
    let all = samples(SAMPLES, |secret| failed(SECRETS[secret], None));
    for (i, j, far) in of_all_pairs(&all) {
        assert!(far < FAR, "values {i} and {j}: {far}");
    }
    // the control: without its mask, what is opened is a function of the secret
    let all = samples(128, |secret| failed(SECRETS[secret], Some(checks::A7)));
    assert!(of_all_pairs(&all)[0].2 > FAR, "{:?}", of_all_pairs(&all));
    assert!(all.iter().all(|samples| samples.iter().all(|values| values[0] == samples[0][0])));
}

#[test]
fn what_a_wrong_tag_opens_is_independent_of_it_jointly_with_all_that_was_seen() {
    const SECRETS: [u8; 2] = [0x01, 0xfe];
    let all = samples(SAMPLES, |secret| compared(SECRETS[secret], None));
    for (i, j, far) in of_all_pairs(&all) {
        assert!(far < FAR, "values {i} and {j}: {far}");
    }
    // the control: the difference itself
    let all = samples(128, |secret| compared(SECRETS[secret], Some(checks::S7)));
    assert!(of_all_pairs(&all)[0].2 > FAR, "{:?}", of_all_pairs(&all));
}

#[test]
fn tables_that_differ_are_far_and_those_of_one_distribution_are_not() {
    let sample = |seed: u8| -> Vec<(usize, usize)> {
        let mut bytes = vec![0; 2 * SAMPLES];
        blake3::Hasher::new().update(&[seed]).finalize_xof().fill(&mut bytes);
        bytes.chunks(2).map(|pair| (usize::from(pair[0]) % SIDE, usize::from(pair[1]) % SIDE)).collect()
    };
    let (one, two) = (sample(1), sample(2));
    assert!(chi_square([&one, &two]) < 120.0);
    // each value is uniform, but the second equals the first: no marginal shows it
    let copied: Vec<(usize, usize)> = one.iter().map(|(x, _)| (*x, *x)).collect();
    assert!(chi_square([&one, &copied]) > FAR);
}
