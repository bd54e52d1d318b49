//! Circuits among three: a receiver takes outputs only if both holders of the component that it lacks agree
//! on it, and only if all three have the same circuit, owners and receivers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Abort, Check, PartyId, PublicParameters, Step};
use divisi_net::tamper::Tap;
use divisi_net::{Frame, memory};
use divisi_rep3::{Protocol, Rep3, Security, Trio, checks, local};
use divisi_symphony::circuit::OwnedCircuit;

const OUTPUT: &str = "divisi_symphony::circuit/output";
const DIGEST: &str = "divisi_symphony::circuit/output.digest";

fn party(number: usize) -> PartyId {
    PartyId::from_index(number - 1).unwrap()
}

/// The products of the first two values' bits, and the third.
fn program() -> Program {
    let mut g = Build::new();
    let [x, y, z] = [(); 3].map(|()| g.input(8));
    let out: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&out);
    g.output(&z);
    g.finish()
}

fn inputs(me: PartyId) -> Vec<u8> {
    [0x5a, 0xf6, 0x31][me.index()..][..1].iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1)).collect()
}

/// The public parameters of a party: a digest of the circuit, owners and receivers.
type Meant = ([u8; 32], [PartyId; 3], Vec<PartyId>);

fn meant() -> Meant {
    ([7; 32], [1, 2, 3].map(party), [1, 2, 3].map(party).to_vec())
}

fn engine(trio: Trio) -> Rep3 {
    Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious)
}

/// A run in which one byte is changed of the component that a receiver lacks ([`OUTPUT`]), or of its digest
/// ([`DIGEST`]).
fn told(receiver: PartyId, step: &str, at: usize) -> Vec<Result<Vec<u8>, Abort>> {
    let program = program();
    let meshes = memory::mesh(3);
    let from = if step == OUTPUT { receiver.prev(3) } else { receiver.next(3) };
    let id = Step::new(if step == OUTPUT { OUTPUT } else { DIGEST }).id;
    let change = move |mut frame: Frame| {
        if frame.step == id
            && let Some(byte) = frame.body.get_mut(at)
        {
            *byte ^= 0x10;
        }
        vec![frame]
    };
    Tap::new(&meshes[from.index()]).intercept(receiver, Box::new(change)).unwrap();
    local::run_over(meshes, &PublicParameters::new("circuits"), |trio| {
        let me = trio.me();
        let (digest, owners, receivers) = meant();
        let circuit = OwnedCircuit::new(&program, &digest, &owners, &receivers)?;
        Ok(circuit.evaluate(&mut engine(trio), &inputs(me))?.to_vec())
    })
}

fn failed(end: &Result<Vec<u8>, Abort>) -> Option<Check> {
    match end {
        Err(Abort::CheckFailed { check, .. }) => Some(*check),
        _ => None,
    }
}

/// Every byte of the missing component and every byte of its digest is compared, at each receiver \[A1\].
#[test]
fn every_byte_that_a_receiver_is_told_counts() {
    let expected = |byte: u8| (0..8).map(move |i| byte >> i & 1);
    let right: Vec<u8> = expected(0x5a & 0xf6).chain(expected(0x31)).collect();
    for receiver in PartyId::all(3) {
        // more bytes than there are: nothing is changed
        let ends = told(receiver, OUTPUT, usize::MAX);
        assert!(ends.iter().all(|end| end.as_ref() == Ok(&right)), "{ends:?}");
        for (step, bytes) in [(OUTPUT, 2), (DIGEST, 32)] {
            for at in 0..bytes {
                let ends = told(receiver, step, at);
                assert_eq!(failed(&ends[receiver.index()]), Some(checks::A1), "{receiver} {step} {at}");
            }
        }
    }
}

/// If a party has another circuit, other owners or other receivers, all end before anything is computed
/// \[A25\].
#[test]
fn all_three_mean_the_same() {
    let program = program();
    let ways: [fn(&mut Meant); 4] = [
        |meant| meant.0[0] ^= 1,
        |meant| meant.0[31] ^= 1,
        |meant| meant.1.swap(0, 1),
        |meant| meant.2 = vec![party(1), party(3), party(2)],
    ];
    for odd in PartyId::all(3) {
        for (i, way) in ways.iter().enumerate() {
            let ends = local::run_over(memory::mesh(3), &PublicParameters::new("circuits"), |trio| {
                let me = trio.me();
                let mut meant = meant();
                if me == odd {
                    way(&mut meant);
                }
                let (digest, owners, receivers) = meant;
                let circuit = OwnedCircuit::new(&program, &digest, &owners, &receivers)?;
                circuit.compute(&mut engine(trio), &inputs(me)).map(|_| Vec::new())
            });
            assert!(ends.iter().any(|end| failed(end) == Some(checks::A25)), "{odd} {i}: {ends:?}");
            assert!(ends.iter().all(Result::is_err), "{odd} {i}: {ends:?}");
        }
    }
}
