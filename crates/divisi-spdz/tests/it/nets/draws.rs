//! The census of what masked tables, their preprocessing and clients draw.

use super::dealt;
use crate::engines::{given, given_bits};
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::{IdlePart, PartNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity};
use divisi_core::testing::party;
use divisi_core::{
    Abort, Bytes, Compares, Direction, Lanes, Lookup, Lookups, PublicParameters, Session, Settles,
};
use divisi_field::{Field, Gf48};
use divisi_ot::{Base, SetupConfig, testing};
use divisi_spdz::{Bucketed, Mascot, Party, Preparation, Source, Spdz, SpdzProtocol, purposes};
use divisi_symmetric::des::SBOXES;

/// An engine whose preprocessing the parties make. What is drawn does not depend on the size of buckets.
fn prepared(
    mut session: Session,
    preparation: Preparation,
    protocol: SpdzProtocol,
) -> Result<Spdz<Gf48>, Abort> {
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let setup = testing::unsound_over_field(&mut session, config, 48)?;
    let (party, source): (Party<Gf48>, Box<dyn Source<Gf48>>) = match preparation {
        Preparation::Bucketed => {
            let (party, source) = Bucketed::over(session, setup)?;
            (party, Box::new(source))
        }
        _ => {
            let (party, source) = Mascot::over(session, setup)?;
            (party, Box::new(source))
        }
    };
    Spdz::new(party, source, protocol)
}

/// Bytes of two parties through S-boxes, opened to all.
fn through(mut e: Spdz<Gf48>, lanes: [usize; 2]) -> Result<Vec<u8>, Abort> {
    let mut told = Vec::new();
    for (owner, lanes) in lanes.into_iter().enumerate() {
        let bytes: Vec<u8> = (0..lanes).map(|i| (i * 41 + owner) as u8).collect();
        let mut x = given(&mut e, party(1 + owner as u8), &bytes)?;
        e.sbox(Direction::Encrypt, &mut [&mut x])?;
        let verified = e.settled(x)?;
        told.extend(e.output(verified)?.into_iter().map(|byte| byte.0));
    }
    Ok(told)
}

fn mascot(session: Session) -> Result<Vec<u8>, Abort> {
    through(prepared(session, Preparation::Mascot, SpdzProtocol::BitDecomposition)?, [3, 2])
}

fn buckets(session: Session) -> Result<Vec<u8>, Abort> {
    through(prepared(session, Preparation::Bucketed, SpdzProtocol::Lookup)?, [3, 2])
}

/// 130 lanes of masked tables.
fn lanes(session: Session) -> Result<Vec<u8>, Abort> {
    through(dealt(session, SpdzProtocol::Lookup)?, [130, 5])
}

/// Comparisons with zero, tables of DES, and outputs to a client.
fn leaves(session: Session) -> Result<Vec<u8>, Abort> {
    let mut e = dealt::<Gf48>(session, SpdzProtocol::BitDecomposition)?;
    let mut told = Vec::new();
    for call in 0..2_u8 {
        let x = given(&mut e, party(1), &[0, call, 3])?;
        told.extend(e.vanish(std::slice::from_ref(&x))?.into_iter().map(u8::from));
        let bits = given_bits(&mut e, party(2), &[call > 0, false, true, false, true, true])?;
        told.extend(e.vanish(std::slice::from_ref(&bits))?.into_iter().map(u8::from));
        let wires = (0..6).map(|wire| bits.gather(&[wire]).unwrap()).collect();
        let mut layer = [Lookup { table: &SBOXES[0], wires }];
        e.look_up(&mut layer)?;
        for wire in layer.into_iter().flat_map(|lookup| lookup.wires) {
            let verified = e.settled(wire)?;
            told.extend(e.output(verified)?.into_iter().map(|bit| bit.to_bits() as u8));
        }
        let verified = e.settled(x)?;
        let (of, body) = e.show(verified)?;
        told.extend(body.iter());
        let mut challenge = [call; 16];
        challenge[..8].copy_from_slice(&e.session().id().as_bytes()[..8]);
        told.extend(e.prove(of, &challenge)?.iter());
    }
    Ok(told)
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let shape = |name, parties, runs, play| DrawShape {
        name,
        parties,
        parameters: PublicParameters::new("draws"),
        runs,
        play,
    };
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![
            shape("zeros, tables and clients", 3, 24, leaves),
            shape("MASCOT", 2, 12, mascot),
            shape("MASCOT of three", 3, 1, mascot),
            shape("buckets", 3, 1, buckets),
            shape("130 lanes", 3, 1, lanes),
        ],
        spared: vec![("spdz joint", "only a job of the command line draws the key of a file")],
        again: vec![("ot hash", 4, "a session has one hash")],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// The first and the last part of what is drawn first and last anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let shape = |name, play: fn(Session) -> Result<Vec<u8>, Abort>| {
        NetShape::new(name, 2, ShapeSecurity::AllButOne, move |session, _, out: &mut ShapeOutcome| {
            out.put("told", play(session)?);
            Ok(())
        })
    };
    let few =
        [shape("zeros, tables and clients", leaves), shape("MASCOT", mascot), shape("buckets", buckets)];
    let shapes = super::online::shapes(3).into_iter().chain(few).collect();
    let words = "an element is made of 16 bytes, of which 48 bits remain";
    let idle = &[
        ("spdz own", "triple.rs", IdlePart::End(80), words),
        ("spdz zero", "party/openings.rs", IdlePart::Last, "openings are of elements, or of a few bytes"),
        ("spdz zero", "check.rs", IdlePart::End(80), words),
    ];
    let net = PartNet { folder: env!("CARGO_MANIFEST_DIR"), packages: &["divisi-spdz"], shapes, idle };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
