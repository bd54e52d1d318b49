//! Circuits among three: a receiver takes outputs only if both holders of the component that it lacks agree
//! on it, and only if all three have the same circuit, owners and receivers.

use crate::common::{all_end, engine};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Abort, Misuse, PartyId};
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, failed_check, party};
use divisi_rep3::{Protocol, checks};
use divisi_symphony::circuit::OwnedCircuit;

const OUTPUT: &str = "divisi_symphony::circuit/output";
const DIGEST: &str = "divisi_symphony::circuit/output.digest";

/// The products of the first two values' bits, and the third.
fn program() -> Program {
    let mut g = Build::new();
    let [x, y, z] = [(); 3].map(|()| g.input(8));
    let out: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&out);
    g.output(&z);
    g.finish()
}

/// The bits of each party's value, one to a byte, whose lowest bit counts alone.
fn inputs(me: PartyId) -> Vec<u8> {
    [0x5a, 0xf6, 0x31][me.index()..][..1]
        .iter()
        .flat_map(|byte| (0..8).map(move |i| 0xfe | byte >> i))
        .collect()
}

/// The public parameters of a party: a digest of the circuit, owners, and the receivers of both values.
type Meant = ([u8; 32], [PartyId; 3], [Vec<PartyId>; 2]);

/// All parties learn both values.
const ALL: [&[u8]; 2] = [&[1, 2, 3], &[1, 2, 3]];
/// Party 2 learns the first value, the others learn the second.
const SPLIT: [&[u8]; 2] = [&[2], &[1, 3]];
/// Party 1 learns both values, the others learn the first.
const MORE: [&[u8]; 2] = [&[1, 2, 3], &[1]];
/// Each value has one receiver.
const EACH: [&[u8]; 2] = [&[1], &[2]];

fn meant(receivers: [&[u8]; 2]) -> Meant {
    let list = |list: &[u8]| list.iter().map(|number| party(*number)).collect();
    ([7; 32], [1, 2, 3].map(party), receivers.map(list))
}

/// How the parties evaluate the circuit with these receivers.
fn evaluate(harness: TrioHarness, receivers: [&[u8]; 2]) -> Vec<Result<Vec<u8>, Abort>> {
    let program = program();
    harness.act(|trio| {
        let me = trio.me();
        let (digest, owners, receivers) = meant(receivers);
        let circuit = OwnedCircuit::with_receivers(&program, &digest, &owners, &receivers)?;
        Ok(circuit.evaluate(&mut engine(trio, Protocol::Gf4Circuit), &inputs(me))?.to_vec())
    })
}

/// Each input value has one owner, each output value one list of receivers, and all of them are of the three.
#[test]
fn who_is_not_of_the_three_owns_and_learns_nothing() {
    let program = program();
    let fits = |owners: &[u8], receivers: &[&[u8]]| {
        let parties = |list: &[u8]| list.iter().map(|number| party(*number)).collect::<Vec<_>>();
        let receivers: Vec<_> = receivers.iter().map(|list| parties(list)).collect();
        OwnedCircuit::with_receivers(&program, &[7; 32], &parties(owners), &receivers).is_ok()
    };
    assert!(fits(&[1, 2, 3], &ALL) && fits(&[3, 3, 3], &[&[], &[2]]));
    for owners in [&[4, 2, 3][..], &[1, 4, 3], &[1, 2, 4], &[1, 2], &[1, 2, 3, 1]] {
        assert!(!fits(owners, &ALL), "{owners:?}");
    }
    for receivers in
        [&[&[4, 1][..], &[2]][..], &[&[1, 4], &[2]], &[&[1], &[2, 4]], &[&[1]], &[&[1], &[1], &[1]]]
    {
        assert!(!fits(&[1, 2, 3], receivers), "{receivers:?}");
    }
}

/// A run in which one byte is changed of the component that a receiver lacks ([`OUTPUT`]), or of its digest
/// ([`DIGEST`]).
fn told(
    receivers: [&[u8]; 2],
    receiver: PartyId,
    step: &'static str,
    at: usize,
) -> Vec<Result<Vec<u8>, Abort>> {
    let harness = TrioHarness::default();
    let from = if step == OUTPUT { receiver.prev(3) } else { receiver.next(3) };
    harness.change(from, receiver, step, 0, move |body| {
        body.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x10);
    });
    evaluate(harness, receivers)
}

/// Every byte of the missing component and every byte of its digest is compared, at each receiver \[A1\].
#[test]
fn every_byte_that_a_receiver_is_told_counts() {
    let expected = |byte: u8| (0..8).map(move |i| byte >> i & 1).collect::<Vec<u8>>();
    let values = [expected(0x5a & 0xf6), expected(0x31)];
    for receivers in [ALL, SPLIT, MORE] {
        for receiver in PartyId::all(3) {
            let learns = |to: &&&[u8]| to.contains(&receiver.number());
            let values_of_each = receivers.iter().filter(learns).count();
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
                    assert_eq!(
                        failed_check(&ends[receiver.index()]),
                        Some(checks::A1),
                        "{receiver} {step} {at}"
                    );
                    // nobody else was lied to
                    let others = PartyId::all(3).zip(&ends).filter(|(me, _)| *me != receiver);
                    assert!(others.into_iter().all(|(_, end)| failed_check(end).is_none()), "{ends:?}");
                }
            }
        }
    }
}

/// A party that is not named for a value gets no byte of it, and no digest: its neighbours send it the
/// component and the digest of its own values, one byte and 32, and nothing at all if it has none.
#[test]
fn who_is_not_named_for_a_value_gets_nothing_of_it() {
    let cases: [([&[u8]; 2], [usize; 3]); 4] =
        [(ALL, [2, 2, 2]), (SPLIT, [1, 1, 1]), ([&[2], &[2]], [0, 2, 0]), ([&[1], &[1, 2]], [2, 1, 0])];
    for (receivers, bytes) in cases {
        let harness = TrioHarness::default();
        let recordings = harness.recordings();
        let ends = evaluate(harness, receivers);
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        for ((me, seen), bytes) in PartyId::all(3).zip(&recordings).zip(bytes) {
            let lengths = |step| {
                let came = seen.of(MessageDirection::In, step).into_iter();
                came.map(|seen| seen.frame.body.len()).collect::<Vec<_>>()
            };
            let expected = if bytes == 0 { [vec![], vec![]] } else { [vec![bytes], vec![32]] };
            assert_eq!([OUTPUT, DIGEST].map(lengths), expected, "{me} {receivers:?}");
        }
    }
}

/// If a party has another circuit, other owners or other receivers, all end before anything is computed
/// \[A25\].
#[test]
fn all_three_mean_the_same() {
    let program = program();
    type Way = fn(&mut Meant);
    let ways: [([&[u8]; 2], Way); 8] = [
        (ALL, |meant| meant.0[0] ^= 1),
        (ALL, |meant| meant.0[31] ^= 1),
        (ALL, |meant| meant.1.swap(0, 1)),
        (ALL, |meant| meant.2 = [(); 2].map(|()| vec![party(1), party(3), party(2)])),
        // the receivers of one value
        (ALL, |meant| meant.2[1] = vec![party(1), party(3)]),
        (SPLIT, |meant| meant.2[0] = vec![party(1)]),
        (SPLIT, |meant| meant.2.swap(0, 1)),
        (EACH, |meant| meant.2[1] = vec![party(3)]),
    ];
    for odd in PartyId::all(3) {
        for (i, (receivers, way)) in ways.iter().enumerate() {
            let ends = TrioHarness::default().act(|trio| {
                let me = trio.me();
                let mut meant = meant(*receivers);
                if me == odd {
                    way(&mut meant);
                }
                let (digest, owners, receivers) = meant;
                let circuit = OwnedCircuit::with_receivers(&program, &digest, &owners, &receivers)?;
                circuit.compute(&mut engine(trio, Protocol::Gf4Circuit), &inputs(me)).map(drop)
            });
            all_end(ends, checks::A25, &format!("{odd} {i}"));
        }
    }
}

/// Inputs have a bit for each wire: more are refused even if they take as many bytes.
#[test]
fn inputs_have_as_many_bits_as_wires() {
    let mut g = Build::new();
    let [x, y] = [(); 2].map(|()| g.input(5));
    let out: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&out);
    let program = g.finish();
    for bits in [4, 5, 6, 8, 9] {
        let ends = TrioHarness::default().act(|trio| {
            let own = [[1; 9].get(..bits), Some(&[1; 5][..]), Some(&[][..])][trio.me().index()];
            let circuit = OwnedCircuit::new(&program, &[7; 32], &[party(1), party(2)], &[party(1)])?;
            circuit.compute(&mut engine(trio, Protocol::Gf4Circuit), own.unwrap_or_default()).map(drop)
        });
        let refused = matches!(ends[0], Err(Abort::Misuse { what: Misuse::LengthDiffers, .. }));
        assert_eq!(refused, bits != 5, "{bits}: {:?}", ends[0]);
    }
}
