//! Zero tests of chosen blocks.

use super::*;
use crate::{Protocol, Security, Trio};
use divisi_core::draws::KnownDraws;
use divisi_core::{Bytes, PublicParameters, local};
use divisi_field::{Field, Gf128};

const BITS: usize = 128;

/// Run at each party of a session whose draws are the same each time.
fn known<R: Send>(f: impl Fn(&mut Rep3) -> Result<R, Abort> + Sync) -> Vec<R> {
    let draws = KnownDraws { seed: 1, session: 1, changed: None, part: None, doubt: false };
    let parameters = PublicParameters::new("zero").drawing(draws);
    let party = |session| f(&mut Rep3::new(Trio::new(session)?, Protocol::Lut256, Security::Malicious));
    local::run(3, &parameters, party).unwrap()
}

/// Every bit of the opened block counts: blocks are chosen, by known r, whose products have one bit each.
#[test]
fn a_block_is_zero_in_all_its_bits() {
    let drawn = known(|e| Ok((0..BITS).map(|_| e.random_blocks(1).rep.a[0]).collect::<Vec<_>>()));
    let products = (0..BITS).map(|bit| {
        let r = drawn.iter().fold(Gf128::ZERO, |sum, of_party| sum + of_party[bit]);
        Gf128(1 << bit) * r.inverse()
    });
    let blocks: Vec<[u8; 16]> = products.map(Gf128::to_ghash).collect();
    let answers = known(|e| {
        let mut group = |block: &[u8; 16]| {
            let bytes = block.map(|byte| e.public(&[byte]));
            e.convert(bytes)
        };
        let groups: Vec<Block> = blocks.iter().map(&mut group).collect::<Result<_, _>>()?;
        e.are_zero(&groups)
    });
    assert_eq!(answers, vec![vec![false; BITS]; 3]);
}
