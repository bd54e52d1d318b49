//! The census of what linear garbling draws.

use crate::circuits::{agreed, hops, products};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::{IdlePart, PartNet};
use divisi_core::{Abort, PartyId, Session};
use divisi_mixed::{Gmw, GmwBit};
use divisi_mpgc::{Garbler, LookupMethod, Wiring, purposes};
use divisi_ot::SetupConfig;

fn program() -> Program {
    let mut g = Build::new();
    let x = g.input(2);
    let first = g.and(x[0], x[1]);
    let sum = g.xor(first, x[0]);
    let second = g.and(sum, x[1]);
    g.output(&[first, second]);
    g.finish()
}

/// A circuit in two calls.
fn play(session: Session, way: LookupMethod) -> Result<Vec<u8>, Abort> {
    let mut garbler = Garbler::new(Gmw::new(session, SetupConfig::default())?, way)?;
    let program = program();
    let wiring = Wiring::new(&program);
    let all: Vec<PartyId> = PartyId::all(garbler.gmw().session().parties()).collect();
    let me = garbler.gmw().session().me();
    let mut told = Vec::new();
    for lanes in [2, 1] {
        let garbled = garbler.garble(&wiring, lanes)?;
        let mut own = Vec::new();
        for i in 0..2 {
            let (owner, value) = (all[i % all.len()], GmwBit::new(lanes, &[1 + i as u64]));
            own.push(garbler.gmw().input(owner, lanes, Some(&value).filter(|_| owner == me))?);
        }
        let outputs = garbler.evaluate(garbled, &own)?;
        let opened = garbler.gmw().output(&all, &outputs)?.unwrap_or_default();
        told.extend(opened.iter().flat_map(|bit| bit.words().to_vec()).flat_map(u64::to_le_bytes));
    }
    Ok(told)
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![
            DrawShape {
                name: "transfers",
                parties: 2,
                parameters: agreed(&LookupMethod::Transfers),
                runs: 2,
                play: |session| play(session, LookupMethod::Transfers),
            },
            DrawShape {
                name: "hops",
                parties: 2,
                parameters: agreed(&hops(2)),
                runs: 1,
                play: |session| play(session, hops(2)),
            },
            DrawShape {
                name: "products",
                parties: 2,
                parameters: agreed(&products(2)),
                runs: 1,
                play: |session| play(session, products(2)),
            },
        ],
        again: vec![
            ("ot hash", 4, "a session has one hash"),
            ("mpgc polynomial", 2, "the first party encrypts a row with a label, and decrypts the sum"),
        ],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// The first and the last part of what is drawn first and last anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let idle = &[(
        "bgv ternary",
        "key.rs",
        IdlePart::First,
        "the first coefficient of a share is replaced by the colour",
    )];
    let net = PartNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        packages: &["divisi-mpgc"],
        shapes: super::shapes(super::PARTIES),
        idle,
    };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
