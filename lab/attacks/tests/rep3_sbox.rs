//! Random bytes and blocks, which are what products are checked with, and comparisons.

mod common;

use common::are_fresh;
use divisi_core::{Abort, Blocks, Convert, settle};
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
