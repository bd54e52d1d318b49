//! The black box and lookups of any length: lies that would make up for one another, values that may not be
//! opened or used, vectors that are not what the others take them for.

#[path = "../common/mod.rs"]
mod common;
mod indices;
mod refusals;
mod vectors;

use divisi_core::Abort;
use divisi_field::{Field, Gf8};
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, failed_check, party};
use divisi_rep3::blackbox::{BlackBox, Shared};
use divisi_rep3::ohverture::LookupTable;

const RECONST: &str = "divisi_rep3::blackbox/reconst";

const PRODUCTS: &str = "divisi_rep3::ohverture::make/products";

const LANES: usize = 20;

fn input(b: &mut BlackBox) -> Result<Shared<Gf8>, Abort> {
    let x: Vec<Gf8> = (0..LANES).map(|l| Gf8((29 * l + 3) as u8)).collect();
    let mine = b.me() == party(1);
    b.input(party(1), mine.then_some(&x[..]), LANES)
}

fn square(b: &mut BlackBox, x: &Shared<Gf8>) -> Result<Shared<Gf8>, Abort> {
    let xx = b.local_mul(x, x)?;
    b.reshare(xx)
}

fn table() -> LookupTable<Gf8> {
    LookupTable::new(&(0..=255_u8).map(|i| Gf8(i).inverse()).collect::<Vec<_>>()).unwrap()
}
