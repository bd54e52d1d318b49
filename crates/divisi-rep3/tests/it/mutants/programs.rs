//! Lies about products of Boolean programs.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Abort, Boolean, Check, Convert, ProgramRun, settle};
use divisi_rep3::adversary::harness::{TrioHarness, party};
use divisi_rep3::{Bit, Byte, Protocol, Rep3, Security, Trio};

const PRODUCTS: &str = "divisi_rep3::engine::boolean/products";

/// Bit by bit the products of two bytes, all in one level.
fn products() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(8), g.input(8));
    let z: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&z);
    g.finish()
}

/// Random bytes in nine lanes and their products, opened: whether they are right.
fn multiply(trio: Trio) -> Result<bool, Abort> {
    let program = products();
    let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
    let (x, y) = (e.random_bytes(9)?, e.random_bytes(9)?);
    let bits: [[Bit; 8]; 2] = [e.convert(x.clone())?, e.convert(y.clone())?];
    let mut jobs = [ProgramRun::new(&program, bits.into_iter().flatten().collect())];
    e.run(&mut jobs)?;
    let [job] = jobs;
    let z: Byte = e.convert(std::array::from_fn::<Bit, 8, _>(|i| job.wires[i].clone()))?;
    let pending = e.close(vec![x, y, z]);
    let verified = settle(&mut e, pending)?;
    let opened = e.trio().open(&verified)?;
    Ok((0..9).all(|l| opened[0][l] & opened[1][l] == opened[2][l]))
}

pub fn lie_in_the_last_gate(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    // the last lane of the last product
    harness.change(party(3), party(2), PRODUCTS, 0, |share| *share.last_mut().unwrap() ^= 1);
    let results = harness.act(multiply);
    results[..2].contains(&Ok(false))
}
