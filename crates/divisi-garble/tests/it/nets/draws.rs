//! The census of what garbling draws.

use crate::common::ands;
use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::PartNet;
use divisi_core::{Abort, PartyId, Session};
use divisi_garble::lab::{BitSource, GarbleLab, of_party};
use divisi_garble::{Garble, GarblingForm, Plan, purposes};
use divisi_ot::Setup;

/// Two layers of ANDs of this width.
fn layers(width: usize) -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(width), g.input(width));
    let first: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    let out: Vec<_> = (0..width).map(|i| g.and(first[i], first[(i + 7) % width])).collect();
    g.output(&out);
    g.finish()
}

/// Garbles and evaluates these circuits, one after the other, several instances of each.
fn play(
    mut session: Session,
    form: GarblingForm,
    programs: &[Program],
    instances: usize,
) -> Result<Vec<u8>, Abort> {
    let lab = GarbleLab { bits: BitSource::Protocol, ..GarbleLab::of(form, false) };
    let setup = Setup::new(&mut session, lab.config)?;
    let mut garble = Garble::new(&session, setup, lab.options);
    let owners: Vec<PartyId> = PartyId::all(2).collect();
    let mut told = Vec::new();
    for program in programs {
        let plan = Plan::for_all(program, session.parties(), &owners).unwrap();
        let all = vec![(0..plan.input_bits()).map(|i| u8::from(i % 3 == 0)).collect(); instances];
        let mine = of_party(&plan, session.me(), &all);
        let (count, wires) = (instances * plan.and_count(), plan.and_count() + plan.input_bits());
        let mut made = garble.function_independent(&mut session, count, instances * wires)?;
        let garbled = garble.function_dependent(&mut session, &mut made, &plan, instances)?;
        let outputs = garble.online(&mut session, garbled, &mine)?;
        told.extend(outputs.iter().flat_map(|bits| bits.to_vec()));
    }
    Ok(told)
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let lab = GarbleLab { bits: BitSource::Protocol, ..GarbleLab::default() };
    let shape =
        |name, parties, runs, play| DrawShape { name, parties, parameters: lab.parameters(), runs, play };
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![
            shape("two parties", 2, 24, |session| play(session, GarblingForm::Improved, &[ands(20)], 3)),
            shape("three parties, two circuits", 3, 8, |session| {
                play(session, GarblingForm::Paper, &[ands(9), layers(5)], 4)
            }),
            shape("130 lanes", 2, 1, |session| {
                play(session, GarblingForm::Improved, &[layers(130), ands(3)], 3)
            }),
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
        packages: &["divisi-garble"],
        shapes: super::shapes(),
        idle: &[],
    };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
