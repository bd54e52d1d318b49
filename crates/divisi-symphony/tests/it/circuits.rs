//! Circuits among three: a receiver takes outputs only if both holders of the component that it lacks agree
//! on it, and only if all three have the same circuit, owners and receivers.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Abort, Check, PartyId, PublicParameters, Step};
use divisi_net::tamper::Tap;
use divisi_net::{Frame, memory};
use divisi_rep3::{Protocol, Rep3, Security, Trio, checks, local};
use divisi_symphony::circuit::OwnedCircuit;
use std::sync::{Arc, Mutex};

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

/// The public parameters of a party: a digest of the circuit, owners, and the receivers of both values.
type Meant = ([u8; 32], [PartyId; 3], [Vec<PartyId>; 2]);

/// All parties learn both values.
const ALL: [&[usize]; 2] = [&[1, 2, 3], &[1, 2, 3]];
/// Party 2 learns the first value, the others learn the second.
const SPLIT: [&[usize]; 2] = [&[2], &[1, 3]];

fn meant(receivers: [&[usize]; 2]) -> Meant {
    let list = |list: &[usize]| list.iter().map(|number| party(*number)).collect();
    ([7; 32], [1, 2, 3].map(party), receivers.map(list))
}

fn engine(trio: Trio) -> Rep3 {
    Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious)
}

/// A run in which one byte is changed of the component that a receiver lacks ([`OUTPUT`]), or of its digest
/// ([`DIGEST`]).
fn told(receivers: [&[usize]; 2], receiver: PartyId, step: &str, at: usize) -> Vec<Result<Vec<u8>, Abort>> {
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
        let (digest, owners, receivers) = meant(receivers);
        let circuit = OwnedCircuit::with_receivers(&program, &digest, &owners, &receivers)?;
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
    let expected = |byte: u8| (0..8).map(move |i| byte >> i & 1).collect::<Vec<u8>>();
    let values = [expected(0x5a & 0xf6), expected(0x31)];
    for (receivers, values_of_each) in [(ALL, 2), (SPLIT, 1)] {
        for receiver in PartyId::all(3) {
            // more bytes than there are: nothing is changed
            let ends = told(receivers, receiver, OUTPUT, usize::MAX);
            for (me, end) in (1..).zip(&ends) {
                let own = values.iter().zip(receivers).filter(|(_, to)| to.contains(&me));
                let own: Vec<u8> = own.flat_map(|(value, _)| value.clone()).collect();
                assert_eq!(end.as_ref(), Ok(&own), "{me} {receivers:?}");
            }
            for (step, bytes) in [(OUTPUT, values_of_each), (DIGEST, 32)] {
                for at in 0..bytes {
                    let ends = told(receivers, receiver, step, at);
                    assert_eq!(failed(&ends[receiver.index()]), Some(checks::A1), "{receiver} {step} {at}");
                    // nobody else was lied to
                    let others = PartyId::all(3).zip(&ends).filter(|(me, _)| *me != receiver);
                    assert!(others.into_iter().all(|(_, end)| failed(end).is_none()), "{ends:?}");
                }
            }
        }
    }
}

/// A party that is not named for a value gets no byte of it, and no digest: its neighbours send it the
/// component and the digest of its own values, one byte and 32, and nothing at all if it has none.
#[test]
fn who_is_not_named_for_a_value_gets_nothing_of_it() {
    let program = program();
    let cases: [([&[usize]; 2], [usize; 3]); 4] =
        [(ALL, [2, 2, 2]), (SPLIT, [1, 1, 1]), ([&[2], &[2]], [0, 2, 0]), ([&[1], &[1, 2]], [2, 1, 0])];
    for (receivers, bytes) in cases {
        let meshes = memory::mesh(3);
        let seen: Arc<Mutex<Vec<(usize, bool, usize)>>> = Arc::default();
        for (from, to) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)] {
            let seen = seen.clone();
            let note = move |frame: Frame| {
                for (is_output, step) in [(true, OUTPUT), (false, DIGEST)] {
                    if frame.step == Step::new(step).id {
                        seen.lock().unwrap().push((to, is_output, frame.body.len()));
                    }
                }
                vec![frame]
            };
            Tap::new(&meshes[from]).intercept(party(to + 1), Box::new(note)).unwrap();
        }
        let ends = local::run_over(meshes, &PublicParameters::new("circuits"), |trio| {
            let me = trio.me();
            let (digest, owners, receivers) = meant(receivers);
            let circuit = OwnedCircuit::with_receivers(&program, &digest, &owners, &receivers)?;
            Ok(circuit.evaluate(&mut engine(trio), &inputs(me))?.to_vec())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let mut seen = std::mem::take(&mut *seen.lock().unwrap());
        seen.sort_unstable();
        let each = bytes.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0);
        let expected: Vec<_> = each.flat_map(|(to, bytes)| [(to, false, 32), (to, true, bytes)]).collect();
        assert_eq!(seen, expected, "{receivers:?}");
    }
}

/// If a party has another circuit, other owners or other receivers, all end before anything is computed
/// \[A25\].
#[test]
fn all_three_mean_the_same() {
    let program = program();
    type Way = fn(&mut Meant);
    let ways: [([&[usize]; 2], Way); 7] = [
        (ALL, |meant| meant.0[0] ^= 1),
        (ALL, |meant| meant.0[31] ^= 1),
        (ALL, |meant| meant.1.swap(0, 1)),
        (ALL, |meant| meant.2 = [(); 2].map(|()| vec![party(1), party(3), party(2)])),
        // the receivers of one value
        (ALL, |meant| meant.2[1] = vec![party(1), party(3)]),
        (SPLIT, |meant| meant.2[0] = vec![party(1)]),
        (SPLIT, |meant| meant.2.swap(0, 1)),
    ];
    for odd in PartyId::all(3) {
        for (i, (receivers, way)) in ways.iter().enumerate() {
            let ends = local::run_over(memory::mesh(3), &PublicParameters::new("circuits"), |trio| {
                let me = trio.me();
                let mut meant = meant(*receivers);
                if me == odd {
                    way(&mut meant);
                }
                let (digest, owners, receivers) = meant;
                let circuit = OwnedCircuit::with_receivers(&program, &digest, &owners, &receivers)?;
                circuit.compute(&mut engine(trio), &inputs(me)).map(|_| Vec::new())
            });
            assert!(ends.iter().any(|end| failed(end) == Some(checks::A25)), "{odd} {i}: {ends:?}");
            assert!(ends.iter().all(Result::is_err), "{odd} {i}: {ends:?}");
        }
    }
}
