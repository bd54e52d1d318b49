//! Lies about products of Boolean programs.

use crate::common::prelude::*;

const PRODUCTS: &str = "divisi_rep3::engine::boolean/products";

/// Random bytes in nine lanes and their products, opened: whether they are right.
fn multiply(trio: Trio) -> Result<bool, Abort> {
    let program = byte_product(2);
    let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
    let (x, y) = (e.random_bytes(9)?, e.random_bytes(9)?);
    let wires = bits(&mut e, &[x.clone(), y.clone()])?;
    let z = run_one(&mut e, &program, wires)?;
    let z = bytes(&mut e, &z)?.remove(0);
    let opened = e.reveal(vec![x, y, z])?;
    Ok((0..9).all(|l| opened[0][l] & opened[1][l] == opened[2][l]))
}

pub fn lie_in_the_last_gate(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    // the last lane of the last product
    harness.change(party(3), party(2), PRODUCTS, 0, |share| *share.last_mut().unwrap() ^= 1);
    let results = harness.act(multiply);
    results[..2].contains(&Ok(false))
}
