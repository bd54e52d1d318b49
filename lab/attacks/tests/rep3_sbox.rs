//! Random bytes and blocks, which are what products are checked with, and comparisons.

use divisi_core::{Abort, Blocks, Convert, settle};
use divisi_rep3::adversary::compare::{chi_square, chi_square_limit};
use divisi_rep3::adversary::harness::TrioHarness;
use divisi_rep3::{Byte, Protocol, Rep3, Security};

/// The two components of each value that the engine holds, at each party.
fn held(draw: impl Fn(&mut Rep3) -> Result<Vec<Byte>, Abort> + Sync) -> Vec<Vec<[Vec<u8>; 2]>> {
    let results = TrioHarness::default().patient().act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let mut parts = Vec::new();
        for byte in draw(&mut e)? {
            let pending = e.close_linear(byte)?;
            let verified = settle(&mut e, pending)?;
            let part = e.trio().part(&verified)?;
            parts.push([part.first.clone(), part.second.clone()]);
        }
        Ok(parts)
    });
    results.into_iter().map(Result::unwrap).collect()
}

/// Both components are uniform at each party, and so is what they are components of; lanes and values are
/// independent of one another.
fn are_fresh(held: &[Vec<[Vec<u8>; 2]>]) {
    let uniform = |what: &str, values: &mut dyn Iterator<Item = u8>| {
        let mut counts = [0; 256];
        values.for_each(|value| counts[usize::from(value)] += 1);
        assert!(chi_square(&counts) < chi_square_limit(255.0), "{what}");
    };
    for (p, values) in held.iter().enumerate() {
        for (i, [first, second]) in values.iter().enumerate() {
            let what = format!("value {i} at party {}", p + 1);
            uniform(&what, &mut first.iter().copied());
            uniform(&what, &mut second.iter().copied());
            uniform(&what, &mut first.iter().zip(second).map(|(x, y)| x ^ y));
        }
    }
    let value = |i: usize, l: usize| held.iter().fold(0, |sum, values| sum ^ values[i][0][l]);
    let lanes = held[0][0][0].len();
    for i in 0..held[0].len() {
        uniform("a value", &mut (0..lanes).map(|l| value(i, l)));
        uniform("neighbours", &mut (1..lanes).map(|l| value(i, l) ^ value(i, l - 1)));
        let next = (i + 1) % held[0].len();
        uniform("two values", &mut (0..lanes).map(|l| value(i, l) ^ value(next, l)));
    }
}

#[test]
fn random_bytes_are_fresh_and_nobody_knows_them() {
    are_fresh(&held(|e| (0..3).map(|_| e.random_bytes(1 << 13)).collect()));
}

#[test]
fn random_blocks_are_fresh_and_nobody_knows_them() {
    are_fresh(&held(|e| {
        let mut all = Vec::new();
        for _ in 0..2 {
            let blocks = e.random_blocks(1 << 13);
            let bytes: [Byte; 16] = e.convert(blocks)?;
            all.extend(bytes);
        }
        Ok(all)
    }));
}

/// None of thousands of differences that are not zero is said to be zero: of each, 16 bytes are opened.
#[test]
fn no_difference_of_thousands_is_zero() {
    let results = TrioHarness::default().patient().act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let mut groups = Vec::new();
        for i in 0..4096 {
            let mut group = e.random_blocks(1);
            let same = group.clone();
            e.add_block(&mut group, &same)?;
            e.add_public_block(&mut group, &[1 << (i % 128)])?;
            groups.push(group);
        }
        e.are_zero(&groups)
    });
    for result in &results {
        assert!(result.as_ref().is_ok_and(|zero| zero.iter().all(|zero| !zero)));
    }
}
