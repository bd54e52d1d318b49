//! The nets of masked tables (docs/nets.md): shapes of everything that the engine computes, and of what it
//! stands on, and the censuses over them.

mod client;
mod draws;
mod made;
pub mod online;
mod openings;
mod stocks;
mod worlds;

use crate::engines;
use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity, varied};
use divisi_core::testing::party;
use divisi_core::{Abort, Bytes, Direction, PartyId, Plain, PlainByte, Session};
use divisi_spdz::{Host, Spdz, SpdzProtocol};

/// Chooses what default tests change.
const SEED: u64 = 1;

/// The steps that give outputs away.
const RELEASES: &[&str] = &[
    "divisi_spdz::engine/output",
    "divisi_spdz::input/output.to",
    "divisi_spdz::engine::values/values.output",
    client::GIVES,
];

fn shape(
    name: &'static str,
    parties: usize,
    run: fn(Session, u64, &mut ShapeOutcome) -> Result<(), Abort>,
) -> NetShape {
    NetShape::new(name, parties, ShapeSecurity::AllButOne, run)
        .carries(&["divisi_spdz::input/input"], lawful)
        .releases(RELEASES)
}

/// Inputs are opened, too: each output `sboxes` is that of the bytes before it.
fn lawful(corrupt: PartyId, out: &ShapeOutcome, right: &ShapeOutcome) -> bool {
    let given = ["bytes of 1", "bytes of 2", "bytes of 3"];
    let mut last: &[u8] = &[];
    out.outputs().iter().zip(right.outputs()).all(|((name, value), (_, right))| {
        if *name == "own" {
            return corrupt == party(2) || value == right;
        }
        if let Some(owner) = given.iter().position(|given| given == name) {
            last = value;
            return owner == corrupt.index() || value == right;
        }
        if *name == "sboxes" { *value == sboxes(last) } else { value == right }
    })
}

fn sboxes(values: &[u8]) -> Vec<u8> {
    let mut x = PlainByte::new(values.to_vec());
    Plain.sbox(Direction::Encrypt, &mut [&mut x]).unwrap();
    x.values().to_vec()
}

/// An engine whose preprocessing is dealt, other values in each session.
fn dealt<F: Host>(session: Session, protocol: SpdzProtocol) -> Result<Spdz<F>, Abort> {
    let seed = session.id().as_bytes()[0];
    engines::dealt(session, seed, protocol)
}

/// Bytes of a party.
fn values(seed: u64, lanes: usize) -> Vec<u8> {
    (0..lanes as u64).map(|i| (varied(seed, i * 41 + i * i * 3) + seed * 7) as u8).collect()
}

/// What chance decides.
const VARIES: &[(&str, &str)] =
    &[("divisi_spdz::stock/stock.used_up", "whoever notices first says it, and the others need not")];

fn net() -> MessageNet<'static> {
    let shapes = [online::shapes(3), made::shapes(3), stocks::shapes()].into_iter().flatten().collect();
    let crowds =
        online::shapes(5).into_iter().chain(made::shapes(4)).filter(|shape| shape.parties > 3).collect();
    let silent = &[];
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes,
        crowds,
        silent,
        checks: divisi_spdz::checks::ALL,
        idle: &[],
        varies: VARIES,
        narrow: &[("M0.3", "what a client sends may be a few bytes, all of which are digested")],
    }
}

#[test]
fn census_of_messages() {
    let [tried, noticed] = net().demand(Extent::sample(SEED, 2));
    assert!(noticed > tried * 3 / 4, "{noticed} of {tried}");
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}
