//! What a curious party learns from a run without a check, and how runs end in which contributions are
//! missing, doubled or somebody else's.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{Harness, MessageDirection, failed_check, party};
use divisi_core::{Abort, Check, PartyId, PublicParameters, Session, mutants};
use divisi_mixed::{Gmw, GmwBit};
use divisi_mpgc::checks;
use divisi_mpgc::parameters::{DIMENSION, MODULUS, PLAIN, ROW_BYTES, SHARE_BYTES};
use divisi_mpgc::scheme::{Scheme, pack, unpack};
use divisi_mpgc::{Garbler, LookupMethod, Wiring};
use divisi_ot::SetupConfig;

const ROWS: &str = "divisi_mpgc::tree/rows";
const HEADER: usize = 40;

/// Two layers of gates on 24 wires: enough for two batches of rows.
fn program() -> Program {
    let mut g = Build::new();
    let x = g.input(24);
    let mut outputs = Vec::new();
    for i in 0..24 {
        let xor = g.xor(x[i], x[(i + 1) % 24]);
        let and = g.and(x[i], x[(i + 1) % 24]);
        let mixed = g.and(xor, x[(i + 5) % 24]);
        outputs.push(g.xor(and, mixed));
    }
    g.output(&outputs);
    g.finish()
}

fn garbler(session: Session) -> Result<Garbler, Abort> {
    Garbler::new(Gmw::new(session, SetupConfig::default())?, LookupMethod::Transfers)
}

/// All outputs, learned by everybody, of zeros.
fn whole(session: Session) -> Result<Vec<u64>, Abort> {
    let wiring = Wiring::new(&program());
    let mut garbler = garbler(session)?;
    let garbled = garbler.garble(&wiring, 1)?;
    let all: Vec<PartyId> = PartyId::all(garbler.gmw().session().parties()).collect();
    let outputs = garbler.evaluate(garbled, &vec![GmwBit::zero(1); 24])?;
    let opened = garbler.gmw().output(&all, &outputs)?.unwrap_or_default();
    Ok(opened.iter().map(|bit| bit.lane(0)).collect())
}

fn harness(without: Option<Check>) -> Harness {
    Harness::without(3, &PublicParameters::new("garbled attacks"), without).patient()
}

/// One label for all gates: two gates that share their operands have one key and one polynomial. So whoever
/// sees the contributions reads the difference of the messages: the difference of the rows is small modulo q,
/// and is that of the messages modulo p.
fn labels_that_return(without: Option<Check>) -> bool {
    let mut g = Build::new();
    let x = g.input(2);
    let (xor, and) = (g.xor(x[0], x[1]), g.and(x[0], x[1]));
    g.output(&[xor, and]);
    let wiring = Wiring::new(&g.finish());
    let harness = Harness::without(2, &PublicParameters::new("labels"), without).patient();
    let seen = harness.recording(party(2));
    let ends = harness.act(|session| {
        let scheme = Scheme::new(&session).unwrap();
        garbler(session)?.garble(&wiring, 1)?;
        Ok(scheme)
    });
    let scheme = ends.into_iter().next().unwrap().unwrap();
    let told = seen.bodies(MessageDirection::Out, party(1), ROWS).pop().unwrap();
    let row = |i: usize| {
        let mut row = vec![0; DIMENSION];
        assert!(unpack(&told[HEADER + i * ROW_BYTES..HEADER + (i + 1) * ROW_BYTES], &mut row));
        row
    };
    let small = |d: &i64| d.unsigned_abs() < 60 * PLAIN;
    scheme.difference(&row(0), &row(4)).iter().all(small)
}

/// The contributions of one party are replaced by zeros, so the sums decrypt to no key. Without the check the
/// garbage is taken for an output.
fn missing_contributions(without: Option<Check>) -> bool {
    let harness = harness(without);
    harness.change(party(3), party(1), ROWS, 0, |body| body[HEADER..].fill(0));
    let ends = harness.act(whole);
    if without.is_none() {
        assert_eq!(failed_check(&ends[0]), Some(checks::G9));
    }
    // 24 bits of garbage are right once in 2^24
    ends.iter().any(|end| end.as_ref().is_ok_and(|outputs| outputs.contains(&1)))
}

/// The third of three is to learn nothing of outputs for the first: whether it can put them together.
fn outputs_of_another(without: Option<Check>) -> bool {
    let harness = harness(without);
    let seen = harness.recording(party(3));
    let ends = harness.act(|session| {
        let mut garbler = garbler(session)?;
        let garbled = garbler.garble(&Wiring::new(&program()), 1)?;
        let outputs = garbler.evaluate(garbled, &vec![GmwBit::zero(1); 24])?;
        garbler.gmw().output(&[party(1)], &outputs)?;
        Ok(outputs.iter().map(|bit| bit.lane(0) as u8).collect::<Vec<_>>())
    });
    let own = ends.into_iter().nth(2).unwrap().unwrap();
    let mut sum: Vec<u8> = own.chunks(8).map(|bits| bits.iter().rev().fold(0, |b, x| b << 1 | x)).collect();
    for peer in [party(1), party(2)] {
        // masked inputs are opened to all; shares of outputs, if they come, come behind them
        for body in seen.bodies(MessageDirection::In, peer, "divisi_mixed::gmw/output").iter().skip(1) {
            sum.iter_mut().zip(body).for_each(|(sum, byte)| *sum ^= byte);
        }
    }
    sum == [0; 3]
}

mutants! {
    labels_of_gates_do_not_return: G8, "calls every gate by the number of the first", labels_that_return;
    rows_have_all_contributions: G9, "takes any sum for that of all", missing_contributions;
    outputs_go_to_their_receivers: G11, "tells everybody", outputs_of_another;
}

/// Every check of this crate has a mutant, and so has the check of who learns outputs.
#[test]
fn every_check_has_a_mutant() {
    let killed: Vec<Check> = MUTANTS.iter().map(|(check, ..)| *check).collect();
    assert_eq!(killed, [checks::G8, checks::G9, checks::G11]);
}

/// If a batch never comes, or says that it is somebody else's or of other labels, the party that adds it up
/// aborts and names the sender.
#[test]
fn contributions_are_those_of_the_tree() {
    assert!(harness(None).act(whole).into_iter().all(|end| end.unwrap() == [0; 24]));
    // a full batch, and one of another length
    assert_eq!(Wiring::new(&program()).gates(), 96);
    let rows = divisi_core::Step::new(ROWS).id;
    for peer in [2, 3] {
        let culprit = Some(party(peer));
        // dropped: the next one has another length
        let harness = harness(None);
        let mut dropped = false;
        harness.hand(party(peer), party(1), move |frame| {
            let now = frame.step == rows && !std::mem::replace(&mut dropped, true);
            if frame.step == rows && now { vec![] } else { vec![frame] }
        });
        let ends = harness.act(whole);
        assert!(ends[0].as_ref().is_err_and(|abort| abort.peer() == culprit), "{:?}", ends[0]);
        // the first claims to be nobody's, everybody's, another party's; the second to be of other labels
        let senders = [0_u8, 0b111, 0b110 ^ (1 << (peer - 1)), 1 << (peer - 1) | 1 << 5];
        let claims = senders.map(|senders| (0, 0, senders)).into_iter().chain([(1, 32, 4)]);
        for (batch, at, value) in claims {
            let harness = self::harness(None);
            harness.change(party(peer), party(1), ROWS, batch, move |body| {
                body[at] = if batch == 0 { value } else { body[at] ^ value };
            });
            let ends = harness.act(whole);
            let named = match &ends[0] {
                Err(Abort::CheckFailed { check: checks::G9, culprit, .. }) => *culprit,
                end => panic!("{end:?}"),
            };
            assert_eq!(named, culprit, "{batch} {value:b} from {peer}");
        }
    }
}

/// A message has an honest header, and twice the contribution or that of other rows: the evaluator finds no
/// key and ends the session, and nobody learns an output.
#[test]
fn contents_under_an_honest_header() {
    let doubled = |body: &mut Vec<u8>| {
        let mut out = body[..HEADER].to_vec();
        for packed in body[HEADER..].chunks(ROW_BYTES) {
            let mut row = vec![0; DIMENSION];
            assert!(unpack(packed, &mut row));
            row.iter_mut().for_each(|word| *word = 2 * *word % MODULUS);
            pack(&row, &mut out);
        }
        assert_eq!(out.len(), body.len());
        *body = out;
    };
    let of_other_rows = |body: &mut Vec<u8>| body[HEADER..].rotate_left(ROW_BYTES);
    let changes: [fn(&mut Vec<u8>); 2] = [doubled, of_other_rows];
    for peer in [2, 3] {
        for change in changes {
            let harness = harness(None);
            harness.change(party(peer), party(1), ROWS, 0, change);
            let ends = harness.act(whole);
            assert_eq!(failed_check(&ends[0]), Some(checks::G9), "{:?}", ends[0]);
            assert!(ends.iter().all(Result::is_err), "{ends:?}");
        }
    }
}

/// A share of a key has digits of three values, of each wire in each instance: who sends another one is
/// named.
#[test]
fn keys_of_inputs_are_sums_of_shares() {
    for (instance, peer, wire) in [(0, 2, 0), (1, 2, 11), (1, 3, 23)] {
        let harness = harness(None);
        let keys = "divisi_mpgc::evaluate/input.keys";
        harness
            .change(party(peer), party(1), keys, instance, move |body| body[wire * SHARE_BYTES + 5] = 0b11);
        let ends = harness.act(|session| {
            let mut garbler = garbler(session)?;
            let garbled = garbler.garble(&Wiring::new(&program()), 2)?;
            garbler.evaluate(garbled, &vec![GmwBit::zero(2); 24])
        });
        let named = ends[0].as_ref().err().and_then(Abort::peer);
        assert_eq!(named, Some(party(peer)), "instance {instance}");
    }
}

/// A row with a value that is not below q is refused.
#[test]
fn rows_are_reduced() {
    let harness = harness(None);
    harness.change(party(2), party(1), ROWS, 0, |body| body[HEADER..HEADER + 4].fill(0xff));
    let ends = harness.act(whole);
    assert_eq!(failed_check(&ends[0]), Some(checks::G10));
}
