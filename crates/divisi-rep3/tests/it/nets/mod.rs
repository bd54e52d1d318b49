//! The nets of replicated sharing (docs/nets.md): shapes of everything that the engine computes, and the
//! censuses over them.

mod blackbox;
mod draws;
mod engine;
mod rounds;
mod worlds;

use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity};
use divisi_core::{Abort, Prg, Session};
use divisi_rep3::deal::{Part, split};
use std::cell::RefCell;

/// Chooses what default tests change.
const SEED: u64 = 1;

/// Three groups of lanes, and a tail.
const LANES: usize = 130;

fn shape(
    name: &'static str,
    run: impl Fn(Session, u64, &mut ShapeOutcome) -> Result<(), Abort> + Send + Sync + 'static,
) -> NetShape {
    NetShape::new(name, 3, ShapeSecurity::OneOfThree, run).releases(&[
        "divisi_rep3::open/open.bytes",
        "divisi_rep3::masked/open_to.component",
        "divisi_rep3::blackbox/output",
    ])
}

/// The parts of the party that has this place, of inputs that a client deals from a seed.
fn dealt(seed: u64, inputs: &[Vec<u8>], place: usize) -> Vec<Part> {
    let prg = RefCell::new(Prg::new(&u128::from(seed).to_le_bytes()));
    let part = |input: &Vec<u8>| split(input, |out| prg.borrow_mut().fill(out))[place].clone();
    inputs.iter().map(part).collect()
}

fn net() -> MessageNet<'static> {
    let shapes = [engine::shapes(), blackbox::shapes(), rounds::shapes()].into_iter().flatten().collect();
    let silent = &[];
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes,
        crowds: Vec::new(),
        silent,
        checks: divisi_rep3::checks::ALL,
        idle: &[],
        varies: &[],
        narrow: &[],
    }
}

#[test]
fn census_of_messages() {
    let [tried, noticed] = net().demand(Extent::sample(SEED, 2));
    assert!(noticed > tried * 4 / 5, "{noticed} of {tried}");
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}
