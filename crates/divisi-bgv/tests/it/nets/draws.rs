//! The census of what keys, ciphertexts and their decryption draw.

use crate::tools::{PASS, elements, party, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Ciphertext, Keys, Sampler, purposes};
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::{IdlePart, PartNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity};
use divisi_core::{Abort, PublicParameters, Session};

const FORM: Form = Form::LeanTree;

/// Keys; then products of shared numbers and a refresh, in two calls.
fn triples(mut session: Session) -> Result<Vec<u8>, Abort> {
    let ring = small(Operation::Triples, FORM, session.parties());
    let (n, p, me) = (ring.dimension(), ring.parameters().plain(), session.me().index() as u64);
    let keys = Keys::generate(&mut session, &ring)?;
    let mut sampler = Sampler::new(&session);
    let mut told = Vec::new();
    for call in 0..2 {
        let holder = party(call);
        let x = keys.a2e(&mut session, &mut sampler, holder, &elements(me, p, n))?;
        let y = keys.a2e(&mut session, &mut sampler, holder, &elements(me + 50, p, n))?;
        let z = match (x, y) {
            (Some(x), Some(y)) => Some(x.times(&keys, &session, PASS, &y)?.switch(&ring, 0)),
            _ => None,
        };
        let factor = Ciphertext::factor_after(&ring, 1, ring.parameters().top(), 0);
        let shares = keys.e2a(&mut session, &mut sampler, holder, z.as_ref(), factor)?;
        told.extend(shares.iter().flat_map(|x| x.to_le_bytes()));
    }
    Ok(told)
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let parameters =
        |n| small(Operation::Triples, FORM, n).parameters().describe(PublicParameters::new("draws"));
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![
            DrawShape { name: "triples", parties: 2, parameters: parameters(2), runs: 12, play: triples },
            DrawShape { name: "of three", parties: 3, parameters: parameters(3), runs: 1, play: triples },
        ],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

type Made = fn(&mut Session, &Keys, &mut Sampler) -> Result<Vec<Ciphertext>, Abort>;

/// A shape that puts out ciphertexts as they were made: later their errors are rounded away.
fn told(name: &'static str, operation: Operation, form: Form, make: Made) -> NetShape {
    let ring = small(operation, form, 3);
    let agreed = ring.parameters().describe(PublicParameters::new("told"));
    NetShape::new(name, 3, ShapeSecurity::Curious, move |mut session, _, out: &mut ShapeOutcome| {
        let keys = Keys::generate(&mut session, &ring)?;
        let mut sampler = Sampler::new(&session);
        let made = make(&mut session, &keys, &mut sampler)?;
        let words = made.iter().flat_map(Ciphertext::components).flat_map(|poly| poly.words());
        out.put("ciphertexts", words.flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        Ok(())
    })
    .agreeing(agreed)
}

fn refreshed(session: &mut Session, keys: &Keys, sampler: &mut Sampler) -> Result<Vec<Ciphertext>, Abort> {
    let (ring, holder) = (keys.ring(), party(2));
    let (top, factor) =
        (ring.parameters().top(), Ciphertext::factor_after(ring, 1, ring.parameters().top(), 0));
    let made = (session.me() == holder).then(|| keys.encrypt(sampler, top, None));
    let held = made.clone().map(|made| made.switch(ring, 0));
    let refreshed = keys.refresh(session, sampler, holder, held.as_ref(), factor, top)?;
    Ok(made.into_iter().chain(refreshed).collect())
}

/// The first and the last part of what is drawn anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let mut shapes = super::net().shapes;
    shapes.extend([
        told("ciphertexts", Operation::Triples, Form::LeanTree, |_, keys, sampler| {
            Ok(vec![keys.encrypt(sampler, keys.ring().parameters().top(), None)])
        }),
        told("refreshed", Operation::PrivateTables, Form::LeanRing, refreshed),
        told("refreshed as in the paper", Operation::PrivateTables, Form::Paper, refreshed),
    ]);
    let made = "numbers are made of these words, and are judged themselves";
    let rounded = "a switch of the modulus rounds it away before anything is sent or put out";
    let idle = &[
        ("bgv errors", "hop.rs", IdlePart::Any, rounded),
        ("bgv sampler", "sample.rs", IdlePart::Any, made),
        ("bgv sampler", "flood.rs", IdlePart::Any, made),
        ("bgv common", "common.rs", IdlePart::Last, "a polynomial ends within the last piece of its stream"),
    ];
    let net = PartNet { folder: env!("CARGO_MANIFEST_DIR"), packages: &["divisi-bgv"], shapes, idle };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
