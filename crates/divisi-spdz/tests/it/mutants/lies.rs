//! A lie about any of the values that are opened together is detected before anything of an output is sent.

use super::prep::mascot;
use super::{COMMIT, DECOMPOSE, ENTRIES, INDICES, LOOKUP, OUTPUT, OUTPUT_TO};
use super::{engine, expected, flip, harness, shared, tiny, two_layers, values};
use crate::engines::{dealt, given_bits, sent};
use divisi_core::testing::{Harness, failed_check, party};
use divisi_core::{Abort, Bytes, Direction, Lookup, Lookups, Pending, Session, Settles, settle};
use divisi_field::{Field, Gf40};
use divisi_spdz::checks;
use divisi_spdz::{Source, SpdzProtocol, TinyBits};
use divisi_symmetric::des::SBOXES;

const BITS: &str = "divisi_spdz::multiply/multiply.bit";
const ELEMENT: &str = "divisi_spdz::multiply/multiply.element";
const LOOKUP_OF_BITS: &str = "divisi_spdz::engine::bits/lookup.bits.2";
const INDICES_OF_BITS: &str = "divisi_spdz::engine::tiny_bits/tinytable.bits.e";
const ENTRIES_OF_BITS: &str = "divisi_spdz::engine::tiny_bits/tinytable.bits.entry";
const E: &str = "divisi_spdz::prep::mascot::parts/parts.e";
const D: &str = "divisi_spdz::prep::mascot::parts/parts.d";

/// P_2 changes this bit of this message of a step, and continues with the values that all parties then see
/// opened.
fn flip_at(harness: &Harness, step: &'static str, message: usize, bit: usize) {
    let change = move |body: &mut Vec<u8>| body[bit / 8] ^= 1 << (bit % 8);
    harness.change(party(1), party(2), step, message, change);
    harness.change(party(2), party(1), step, message, change);
}

/// Two layers of two lookups of eight lanes each in a table of DES, over masks and then over public values.
fn tiny_bits(session: Session) -> Result<Vec<u8>, Abort> {
    let mut tiny = TinyBits::new(engine(session)?);
    let mut ends = Vec::new();
    for run in [0, 1] {
        let mut last = Vec::new();
        for _ in 0..2 {
            let mut wires = || (0..6).map(|_| tiny.constant_bit(&[false; 8])).collect::<Vec<_>>();
            let mut layer = [wires(), wires()].map(|wires| Lookup { table: &SBOXES[0], wires });
            tiny.look_up(&mut layer)?;
            last.extend(layer.into_iter().flat_map(|lookup| lookup.wires));
        }
        if run == 0 {
            tiny.open_indices()?;
        }
        ends.push(last);
    }
    let [masks, public] = [ends.remove(0), ends.remove(0)];
    let outs = masks.into_iter().zip(public).map(|(mask, public)| tiny.output(mask, public));
    let outs = outs.collect::<Result<Vec<_>, _>>()?;
    let mut bits = Vec::new();
    for out in outs {
        let verified = tiny.engine().settled(out)?;
        bits.extend(tiny.engine().output(verified)?.into_iter().map(|bit| bit.to_bits() as u8));
    }
    Ok(bits)
}

/// A lie about the first, a middle, or the last bit \[K3, K22\].
#[test]
fn a_lie_about_any_index_or_entry_is_noticed() {
    type Run = fn(Session) -> Result<Vec<u8>, Abort>;
    let bytes = 8 * values().len();
    let lanes = 16;
    // the run, a step, the number of one of its messages, and how many bits the message has
    let cases: [(Run, &'static str, usize, usize); 9] = [
        (tiny, INDICES, 0, 2 * bytes),
        (tiny, ENTRIES, 0, bytes),
        (tiny, ENTRIES, 1, bytes),
        (two_layers, LOOKUP, 0, bytes),
        (two_layers, LOOKUP, 1, bytes),
        (tiny_bits, INDICES_OF_BITS, 0, 2 * 6 * lanes),
        (tiny_bits, ENTRIES_OF_BITS, 0, 4 * lanes),
        (tiny_bits, ENTRIES_OF_BITS, 1, 4 * lanes),
        (tiny, OUTPUT, 0, bytes),
    ];
    for (run, step, message, bits) in cases {
        for bit in [0, bits / 2 + 1, bits - 1] {
            let harness = harness(2, None);
            flip_at(&harness, step, message, bit);
            let recording = harness.recording(party(1));
            let ends = harness.act(run);
            assert!(ends.iter().all(Result::is_err), "{step} {message} {bit}");
            assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K4)), "{step} {message} {bit}");
            // the check comes before any output [M0.7]
            assert_eq!(sent(&recording, OUTPUT) > 0, step == OUTPUT, "{step} {message} {bit}");
            assert!(sent(&recording, COMMIT) > 0);
        }
    }
    for run in [tiny as Run, two_layers] {
        assert!(harness(2, None).act(run).iter().all(|end| end.as_deref() == Ok(&expected()[..])));
    }
    let looked = harness(2, None).act(tiny_bits);
    let value = SBOXES[0].values[0];
    let all: Vec<u8> = (0..4).flat_map(|k| [value >> k & 1; 8]).collect();
    assert!(looked.iter().all(|end| end.as_deref() == Ok(&all.repeat(4)[..])), "{looked:?}");
}

/// P_2 lies in the second of two computations, between which everything was checked. Their outputs are opened
/// together, after the checks that either of them owes \[M0.7\].
#[test]
fn joined_outputs_owe_what_each_of_them_does() {
    for swapped in [false, true] {
        let harness = harness(2, None);
        flip_at(&harness, LOOKUP, 1, 0);
        let recording = harness.recording(party(1));
        let ends = harness.act(|session| {
            let mut engine = engine(session)?;
            let mut x = shared(&mut engine)?;
            engine.sbox(Direction::Encrypt, &mut [&mut x])?;
            let first = engine.close(x.clone());
            // from here on the first output owes nothing
            let checked = engine.close(());
            settle(&mut engine, checked)?;
            engine.sbox(Direction::Encrypt, &mut [&mut x])?;
            let second = engine.close(x);
            let both = if swapped { [second, first] } else { [first, second] };
            let both = Pending::join(both).unwrap();
            let verified = settle(&mut engine, both)?;
            verified.each().into_iter().try_for_each(|x| engine.output(x).map(drop))
        });
        assert!(ends.iter().all(Result::is_err));
        assert_eq!(sent(&recording, OUTPUT), 0, "{swapped}");
    }
}

/// P_2 lies about bits that P_1 alone is to learn \[K24\].
#[test]
fn a_receiver_checks_its_bits() {
    let bits = [true, false, false, true, true];
    for lie in [false, true] {
        let harness = harness(2, None);
        if lie {
            flip(&harness, OUTPUT_TO);
        }
        let ends = harness.act(|session| {
            let mut engine = engine(session)?;
            let x = given_bits(&mut engine, party(1), &bits)?;
            let verified = engine.settled(x)?;
            Ok(engine.output_bits_to(party(1), verified)?.map(|out| out.to_vec()))
        });
        assert_eq!(ends[0].is_err(), lie);
        assert!(lie || matches!(&ends[0], Ok(Some(out)) if *out == bits));
    }
}

/// If P_2 lies where unit vectors for tables of bits are made, P_1 makes no lookup \[K17\].
#[test]
fn a_false_piece_makes_no_table_of_bits() {
    for lie in [false, true] {
        let harness = harness(2, None);
        if lie {
            flip(&harness, DECOMPOSE);
        }
        let recording = harness.recording(party(1));
        let ends = harness.act(|session| {
            let mut engine = engine(session)?;
            let wires = (0..6).map(|_| engine.constant_bit(&[false; 3])).collect();
            engine.look_up(&mut [Lookup { table: &SBOXES[0], wires }])
        });
        assert_eq!(ends[0].is_err(), lie);
        assert_eq!(sent(&recording, LOOKUP_OF_BITS) == 0, lie);
    }
}

/// If P_2 lies about e or d where products of parts are made of products of elements, P_1 does not use the
/// result \[K17\].
#[test]
fn a_false_sum_makes_no_product_of_parts() {
    type Make = fn(Session) -> Result<(), Abort>;
    let bits: Make = |session| {
        let (mut party, mut source) = mascot(session)?;
        source.bit_triples(&mut party, 2).map(drop)
    };
    let bytes: Make = |session| {
        let (mut party, mut source) = mascot(session)?;
        source.byte_triples(&mut party, 2).map(drop)
    };
    let units: Make = |session| {
        let (mut party, mut source) = mascot(session)?;
        source.units(&mut party, 2, 1).map(drop)
    };
    let lies = [(bits, Some(E)), (bits, Some(D)), (bytes, Some(E)), (bytes, Some(D)), (units, Some(E))];
    for (make, step) in lies.into_iter().chain([bits, bytes, units].map(|make| (make, None))) {
        let harness = harness(2, None);
        step.into_iter().for_each(|step| flip(&harness, step));
        let recording = harness.recording(party(1));
        let ends = harness.act(make);
        assert_eq!(ends[0].is_err(), step.is_some(), "{step:?}");
        let used = sent(&recording, BITS) > 0;
        assert_eq!(used, step.is_none() && std::ptr::fn_addr_eq(make, units));
    }
}

/// P_2 sets one of the bits beyond the last one that it opens: P_1 does not continue \[K8\].
#[test]
fn no_bit_beyond_the_last_is_taken() {
    // 21 bits lie in three bytes
    assert_eq!(values().len(), 21);
    for bit in 5..8 {
        let harness = harness(2, None);
        let recording = harness.recording(party(1));
        harness.change(party(2), party(1), BITS, 0, move |body| body[2] ^= 1 << bit);
        let ends = harness.act(two_layers);
        assert_eq!(failed_check(&ends[0]), Some(checks::K8), "{bit}");
        assert_eq!(sent(&recording, BITS), 1);
    }
}

/// Over a field of MACs that does not hold GF(2^6), no factor of a product in GF(2^6) is opened \[K10\].
#[test]
fn sixes_beside_the_field_are_not_multiplied() {
    let harness = harness(2, None);
    let recording = harness.recording(party(1));
    let ends = harness.act(|session| {
        let mut engine = dealt::<Gf40>(session, 9, SpdzProtocol::Raw)?;
        let wires = (0..6).map(|_| engine.constant_bit(&[false; 3])).collect();
        engine.look_up(&mut [Lookup { table: &SBOXES[0], wires }])
    });
    assert!(ends.iter().all(Result::is_err) && sent(&recording, ELEMENT) == 0);
}
