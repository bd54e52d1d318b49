//! The census of what programs of bits and numbers draw.

use crate::common::{agreed, plain, product, share, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::PartNet;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, PartyId, ProgramRun, Session};
use divisi_field::zp::P32;
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, num, purposes};
use divisi_ot::SetupConfig;

/// Inputs of every party, and products of them in two calls, opened to all.
fn products(gmw: &mut Gmw, lanes: usize) -> Result<Vec<u8>, Abort> {
    let all: Vec<PartyId> = PartyId::all(gmw.session().parties()).collect();
    let (me, mut told) = (gmw.session().me(), Vec::new());
    let program = product();
    for call in 0..2_u64 {
        let value = GmwBit::new(lanes, &vec![0x5555_1234 << call; lanes.div_ceil(64)]);
        let mut inputs = Vec::new();
        for owner in &all {
            inputs.push(gmw.input(*owner, lanes, Some(&value).filter(|_| *owner == me))?);
        }
        let wires = vec![inputs[0].clone(), inputs[1].clone()];
        let mut jobs = [ProgramRun::new(&program, wires)];
        divisi_core::Boolean::run(gmw, &mut jobs)?;
        let opened = gmw.output(&all, &jobs[0].wires)?.unwrap_or_default();
        told.extend(opened.iter().flat_map(|bit| bit.words().to_vec()).flat_map(u64::to_le_bytes));
    }
    Ok(told)
}

fn bits(session: Session) -> Result<Vec<u8>, Abort> {
    products(&mut Gmw::new(session, SetupConfig::default())?, 130)
}

/// Products of numbers, and their bits, by ciphertexts of toy rings.
fn numbers(session: Session) -> Result<Vec<u8>, Abort> {
    let n = session.parties();
    let rings = [small(Operation::Bits, Form::LeanTree, n), small(Operation::Triples, Form::LeanTree, n)];
    let gmw = Gmw::new(session, SetupConfig::default())?;
    let mut mixed = Mixed::new(gmw, plain(), Some(&rings[0]), Some(&rings[1]))?;
    let me = mixed.session().me().index();
    let shares: Vec<u64> = (0..70).map(|i| share(n, me, i, 12_345 * i as u64, P32)).collect();
    let x = Num::new(WipedVec::from(&*shares));
    let mut told = Vec::new();
    for _ in 0..2 {
        let y = mixed.multiply(&x, &x)?;
        let bits = mixed.a2b(&y)?;
        told.extend(bits.iter().flat_map(|bit| bit.words().to_vec()).flat_map(u64::to_le_bytes));
        let opened = num::open(mixed.session(), plain(), &y)?;
        told.extend(opened.iter().flat_map(|x| x.to_le_bytes()));
    }
    Ok(told)
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let lattices = [Operation::Bits, Operation::Triples]
        .into_iter()
        .fold(agreed(), |all, operation| small(operation, Form::LeanTree, 3).parameters().describe(all));
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![
            DrawShape { name: "bits", parties: 2, parameters: agreed(), runs: 24, play: bits },
            DrawShape { name: "numbers", parties: 3, parameters: lattices, runs: 1, play: numbers },
        ],
        again: vec![("ot hash", 4, "a session has one hash")],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// The first and the last part of what is drawn anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let net = PartNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        packages: &["divisi-mixed"],
        shapes: super::shapes(super::PARTIES),
        idle: &[],
    };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
