//! The census of what the three parties draw.

use crate::common::prelude::*;
use divisi_core::testing::nets::NetShape;
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::{IdlePart, PartNet};
use divisi_rep3::{deal, purposes};

/// This party's part of these bytes, whose components are known.
fn part(session: &Session, bytes: &[u8]) -> Part {
    let parts = deal::split(bytes, |out| out.fill(0x5c));
    let [first, second, third] = parts;
    [first, second, third].into_iter().nth(session.me().index()).unwrap()
}

/// Inputs, S-boxes, masked openings, products, comparisons, kept values, coins and a verification.
fn level_by_level(session: Session, protocol: Protocol, lanes: [usize; 2]) -> Result<Vec<u8>, Abort> {
    let mine = part(&session, &[7; 130]);
    let mut e = Rep3::new(Trio::new(session)?, protocol, Security::Malicious);
    let mut told = Vec::new();
    for lanes in lanes {
        let public = *blake3::hash(b"a request").as_bytes();
        e.trio().agree_input(checks::A24, &public, Some(&mine))?;
        let random = e.random_bytes(lanes)?;
        let mut x = [e.random_bytes(lanes)?, random];
        e.sbox(Direction::Encrypt, &mut x.iter_mut().collect::<Vec<_>>())?;
        let mask = e.mask(lanes)?;
        told.extend(e.open_masked(&x[0], mask)?.0);
        let blocks = e.random_blocks(lanes);
        let product = e.multiply(&blocks, &blocks)?;
        // each group has masks of its own, also if two have the same value
        e.are_zero(&[product.clone(), product])?;
        told.extend(e.reveal(x.to_vec())?.concat());
        let kept = e.trio().random_part(32);
        told.extend(kept.first.iter().chain(&kept.second));
        let fixed = e.trio().barrier()?;
        told.extend(e.trio().coin(&fixed)?.bytes());
    }
    Ok(told)
}

fn circuit(session: Session) -> Result<Vec<u8>, Abort> {
    level_by_level(session, Protocol::Gf4Circuit, [5, 2])
}

/// Verifications of two passes: bits of programs, bytes and elements of the black box.
fn two_passes(session: Session) -> Result<Vec<u8>, Abort> {
    let mut trio = Trio::new(session)?;
    trio.set_passes(Passes::Twice);
    let mut e = Rep3::new(trio, Protocol::Lut16, Security::Malicious);
    let x = random_sbox(&mut e, 3)?;
    let wires = bits(&mut e, &[x.clone(), x])?;
    let products = run_one(&mut e, &byte_product(2), wires)?;
    let products = bytes(&mut e, &products)?;
    let mut told = e.reveal(products)?.concat();
    let mut b = BlackBox::new(e.into_trio());
    let x = b.random::<Gf8>(3);
    let square = b.local_mul(&x, &x)?;
    let square = b.reshare(square)?;
    told.extend(b.output(&square)?.into_iter().map(|x| x.0));
    Ok(told)
}

fn lookups(session: Session) -> Result<Vec<u8>, Abort> {
    level_by_level(session, Protocol::Lut256, [130, 3])
}

/// Three programs in constant rounds, so that each party has each role.
fn constant_rounds(session: Session) -> Result<Vec<u8>, Abort> {
    let mine = part(&session, &[7, 9, 200]);
    let mut e = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, Security::Malicious);
    e.use_rounds(Rounds::Constant);
    let program = byte_product(3);
    let mut told = Vec::new();
    for _ in 0..3 {
        let secret = vec![e.trio().input(&mine)?, e.random_bytes(3)?, e.trio().input(&mine)?];
        let wires = bits(&mut e, &secret)?;
        let results = run_one(&mut e, &program, wires)?;
        let results = bytes(&mut e, &results)?;
        told.extend(e.reveal(results)?.concat());
        e.trio().barrier()?;
    }
    Ok(told)
}

/// Inputs of each party to the black box.
fn black_box(session: Session) -> Result<Vec<u8>, Abort> {
    let mut b = BlackBox::new(Trio::new(session)?);
    let mut told = Vec::new();
    for owner in PartyId::all(3) {
        let elements: Vec<Gf128> = (0..9).map(Gf128).collect();
        let mine = (b.me() == owner).then_some(&elements[..]);
        let x = b.input(owner, mine, elements.len())?;
        let product = b.local_mul(&x, &x)?;
        let product = b.reshare(product)?;
        told.extend(b.output(&product)?.into_iter().flat_map(|x| x.0.to_le_bytes()));
    }
    Ok(told)
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let shape = |name, runs, play| DrawShape {
        name,
        parties: 3,
        parameters: PublicParameters::new("draws"),
        runs,
        play,
    };
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![
            shape("level by level", 16, circuit),
            shape("constant rounds", 16, constant_rounds),
            shape("black box", 2, black_box),
            shape("two passes", 2, two_passes),
            shape("lookups of 130 lanes", 1, lookups),
        ],
        again: vec![(
            "rep3 coefficients",
            3,
            "a verification goes through its records three times, with the same coefficients",
        )],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// The first and the last part of what is drawn first and last anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let shape = |name, play: fn(Session) -> Result<Vec<u8>, Abort>| -> NetShape {
        super::shape(name, move |session, _, out| {
            out.put("told", play(session)?);
            Ok(())
        })
    };
    let few = [
        shape("level by level", circuit),
        shape("constant rounds, few lanes", constant_rounds),
        shape("black box, few lanes", black_box),
        shape("lookups", lookups),
    ];
    let shapes = super::net().shapes.into_iter().chain(few).collect();
    let tiles = "coefficients are drawn for whole tiles, of which these shapes fill a few lanes";
    let idle = &[
        ("rep3 coefficients", "verify/ands.rs", IdlePart::Last, tiles),
        ("rep3 coefficients", "cube/relation.rs", IdlePart::Last, tiles),
        ("rep3 coefficients", "planes/values.rs", IdlePart::Last, tiles),
        ("rep3 coefficients", "planes/terms.rs", IdlePart::Last, tiles),
        ("rep3 coefficients", "planes/batch.rs", IdlePart::Any, tiles),
    ];
    let net = PartNet { folder: env!("CARGO_MANIFEST_DIR"), packages: &["divisi-rep3"], shapes, idle };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
