//! The nets of linear garbling (docs/nets.md): a shape for each way of looking keys up, and the censuses over
//! them. Whoever deviates may make results wrong; nobody waits for ever, panics, or accepts a message of
//! another length.

mod draws;
mod worlds;

use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Parameters as Lattice};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity, varied};
use divisi_core::testing::party;
use divisi_core::{Abort, PublicParameters, Session};
use divisi_field::zp::P16;
use divisi_mixed::{Gmw, GmwBit};
use divisi_mpgc::lookup::operation;
use divisi_mpgc::{Garbler, LookupMethod, Wiring};
use divisi_ot::SetupConfig;
use std::sync::Arc;
use std::time::Duration;

/// Chooses what default tests change.
const SEED: u64 = 1;
const PARTIES: usize = 3;

/// The time limit, because a thread of a party may wait for another one of it, so that no time is skipped: a
/// hundred times what a run computes.
const LIMIT: Duration = Duration::from_secs(4);

/// Each way among so many parties.
fn shapes(parties: usize) -> Vec<NetShape> {
    let by = |form| {
        let lattice = Lattice::danger_insecure(operation(form), form, parties, P16).unwrap();
        let agreed = lattice.describe(PublicParameters::new("ciphertexts"));
        (LookupMethod::Ciphertexts(Arc::new(Ring::new(lattice).unwrap())), agreed)
    };
    let [(hops, agreed_hops), (products, agreed_products)] = [Form::LeanRing, Form::LeanTree].map(by);
    let of = |name, lanes, way: LookupMethod| {
        let run =
            move |session: Session, seed, out: &mut ShapeOutcome| whole(session, seed, out, lanes, &way);
        NetShape::new(name, parties, ShapeSecurity::Curious, run).waiting(LIMIT)
    };
    vec![
        of("transfers", 3, LookupMethod::Transfers),
        of("transfers for 130 lanes", 130, LookupMethod::Transfers),
        of("hops", 3, hops).agreeing(agreed_hops),
        of("products", 3, products).agreeing(agreed_products),
    ]
}

fn program() -> Program {
    let mut g = Build::new();
    let x = g.input(3);
    let (and, xor) = (g.and(x[0], x[1]), g.xor(x[1], x[2]));
    let both = g.and(and, xor);
    g.output(&[and, xor, both]);
    g.finish()
}

/// Set-up, a circuit garbled and evaluated twice, unevenly; inputs of all parties, outputs to two.
fn whole(
    session: Session,
    seed: u64,
    out: &mut ShapeOutcome,
    lanes: usize,
    way: &LookupMethod,
) -> Result<(), Abort> {
    let wiring = Wiring::new(&program());
    let mut garbler = Garbler::new(Gmw::new(session, SetupConfig::default())?, way.clone())?;
    let me = garbler.gmw().session().me();
    for lanes in [lanes, 1] {
        let garbled = garbler.garble(&wiring, lanes)?;
        let mut inputs = Vec::new();
        for owner in [1, 2, 3].map(party) {
            let value = GmwBit::of((0..lanes).map(|i| (varied(seed, (i + owner.index()) as u64) + seed) % 2));
            inputs.push(garbler.gmw().input(owner, lanes, Some(&value).filter(|_| owner == me))?);
        }
        let outputs = garbler.evaluate(garbled, &inputs)?;
        let told = garbler.gmw().output(&[party(1), party(3)], &outputs)?;
        let bits = told.iter().flatten().flat_map(|bit| (0..lanes).map(|lane| bit.lane(lane) as u8));
        out.put("outputs", bits.collect::<Vec<u8>>());
    }
    Ok(())
}

/// Steps with which no shape sends anything.
const SILENT: &[(&str, &str)] = &[];

fn net() -> MessageNet<'static> {
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes: shapes(PARTIES),
        crowds: shapes(5),
        silent: SILENT,
        checks: divisi_mpgc::checks::ALL,
        idle: &[],
        varies: &[],
        narrow: &[],
    }
}

#[test]
fn census_of_messages() {
    net().demand(Extent::sample(SEED, 2));
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}
