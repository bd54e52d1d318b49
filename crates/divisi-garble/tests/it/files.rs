//! Circuits that stay in their file: the same outputs as the plain engine has, no wire whose value everybody
//! knows, and no output from a file that changed.

use divisi_circuit::bristol;
use divisi_circuit::stream::{Origin, Stream};
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{MessageDirection, Recording, party};
use divisi_core::{Abort, Misuse, PartyId};
use divisi_garble::checks;
use divisi_garble::lab::{GarbleLab, expected, in_turn};
use divisi_garble::{GarbleOptions, GarblingForm, Plan, Unfit};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};

fn for_all(stream: &Stream, parties: usize) -> Plan<'_> {
    let all: Vec<PartyId> = PartyId::all(parties).collect();
    let lists = vec![all; stream.outputs().len()];
    Plan::streamed(stream, parties, &in_turn(stream.inputs().len(), parties), &lists).unwrap()
}

/// A random file: gates by kind and operands modulo what is there; the outputs are the last wires, inputs
/// among them if need be.
fn file(inputs: usize, gates: &[(u8, u16, u16)], outputs: usize) -> String {
    let mut text = String::new();
    for (wire, &(kind, x, y)) in (inputs..).zip(gates) {
        let (x, y) = (usize::from(x) % wire, wire - 1 - usize::from(y) % wire.min(6));
        text += &match kind % 9 {
            0 => format!("1 1 {} {wire} EQ\n", x & 1),
            1 => format!("1 1 {x} {wire} EQW\n"),
            2 | 3 => format!("1 1 {y} {wire} INV\n"),
            4 => format!("2 1 {y} {x} {wire} XOR\n"),
            5 => format!("2 1 {y} {y} {wire} AND\n"),
            6 => format!("2 1 {x} {y} {wire} XOR\n"),
            7 => format!("2 1 {x} {y} {wire} MAND\n"),
            _ => format!("2 1 {x} {y} {wire} AND\n"),
        };
    }
    let wires = inputs + gates.len();
    format!(
        "{} {wires}\n2 {} {}\n1 {}\n\n{text}",
        gates.len(),
        inputs / 2,
        inputs - inputs / 2,
        outputs.min(wires)
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn random_files(
        inputs in 1..6_usize,
        gates in vec(any::<(u8, u16, u16)>(), 1..60),
        outputs in 1..12_usize,
        bits in vec(vec(0..2_u8, 6), 1..4),
        parties in 2..5_usize,
        paper in any::<bool>(),
        batch in 1..30_usize,
    ) {
        let text = file(inputs, &gates, outputs);
        let program = bristol::read(text.as_bytes()).unwrap().program;
        let stream = Stream::open(text.into_bytes()).unwrap();
        let form = if paper { GarblingForm::Paper } else { GarblingForm::Improved };
        let options = GarbleOptions { form, batch, memory: 1 << 16, ..GarbleOptions::default() };
        let lab = GarbleLab { options, streamed: true, ..GarbleLab::default() };
        let inputs: Vec<Vec<u8>> = bits.iter().map(|b| b[..inputs].to_vec()).collect();
        for (outputs, _) in lab.run(&for_all(&stream, parties), &inputs).unwrap() {
            for (input, output) in inputs.iter().zip(outputs) {
                prop_assert_eq!(output, expected(&program, input));
            }
        }
    }
}

/// Layers of hundreds of products that do not depend on each other, in many batches.
#[test]
fn wide_files() {
    let (inputs, layers) = (300, 6);
    let mut text = format!("{} {}\n2 150 150\n1 40\n", 2 * inputs * layers, inputs * (2 * layers + 1));
    for wire in inputs..inputs * (2 * layers + 1) {
        let name = if wire / inputs % 2 == 0 { "XOR" } else { "AND" };
        let (x, y) = (wire - inputs, if wire % inputs == 0 { wire - 1 } else { wire - inputs - 1 });
        text += &format!("2 1 {x} {y} {wire} {name}\n");
    }
    let program = bristol::read(text.as_bytes()).unwrap().program;
    let stream = Stream::open(text.into_bytes()).unwrap();
    let input: Vec<u8> = (0..inputs).map(|i| u8::from(i % 7 != 2)).collect();
    for batch in [100, 257, 8192] {
        let lab = GarbleLab::in_batches(batch);
        for (outputs, _) in lab.run(&for_all(&stream, 3), std::slice::from_ref(&input)).unwrap() {
            assert_eq!(outputs[0], expected(&program, &input));
        }
    }
}

/// All kinds of gates with public results, hidden behind copies and negations; W29 is checked for each batch.
#[test]
fn no_gate_reads_what_everybody_knows() {
    let text = "14 16\n2 1 1\n1 5\n\n1 1 1 2 EQ\n1 1 0 3 EQW\n1 1 3 4 INV\n2 1 0 4 5 XOR\n2 1 0 3 6 XOR\n2 1 5 1 7 AND\n\
        2 1 6 1 8 XOR\n2 1 4 0 9 AND\n2 1 3 0 10 AND\n2 1 10 8 11 AND\n2 1 2 11 12 XOR\n2 1 9 12 13 AND\n1 1 5 14 INV\n\
        2 1 12 2 15 AND\n";
    let program = bristol::read(text.as_bytes()).unwrap().program;
    let stream = Stream::open(text.as_bytes().to_vec()).unwrap();
    assert_eq!((stream.and_count(), stream.counts().and), (1, 6));
    let plan = for_all(&stream, 2);
    assert_eq!(plan.and_count(), 1);
    let lab = GarbleLab { streamed: true, ..GarbleLab::default() };
    let inputs: Vec<Vec<u8>> = (0..4).map(|i| vec![i & 1, i >> 1]).collect();
    for (outputs, counts) in lab.run(&plan, &inputs).unwrap() {
        for (input, output) in inputs.iter().zip(outputs) {
            assert_eq!(output, expected(&program, input), "{input:?}");
        }
        // before the inputs, and for the one batch
        assert_eq!(counts.checks.get(&checks::W29).copied(), Some(2));
    }
}

/// A batch with a product of a wire with itself is not garbled, wherever it comes from.
#[test]
fn a_batch_that_reads_a_wire_twice_is_refused() {
    let mut g = Build::verbatim();
    let (x, y) = (g.input(1)[0], g.input(1)[0]);
    let product = g.and(x, y);
    let square = g.and(product, product);
    g.output(&[square]);
    let program = g.finish();
    let plan = Plan::for_all(&program, 2, &in_turn(2, 2)).unwrap().unfolded(&program).believed();
    let abort = GarbleLab::in_batches(1).run(&plan, &[vec![1, 1]]).unwrap_err();
    assert!(matches!(abort, Abort::CheckFailed { check: checks::W29, culprit: None, .. }), "{abort}");
}

/// A file whose contents change at its third reading, the first after its survey, and change back after that
/// if it `returns`.
#[derive(Debug)]
struct Changing {
    first: Vec<u8>,
    then: Option<Vec<u8>>,
    returns: bool,
    readings: AtomicUsize,
}

impl Changing {
    fn open(first: &str, then: Option<&str>, returns: bool) -> Stream {
        let [first, then] = [Some(first), then].map(|text| text.map(|text| text.as_bytes().to_vec()));
        let first = first.unwrap_or_default();
        Stream::open(Changing { first, then, returns, readings: AtomicUsize::new(0) }).unwrap()
    }
}

impl Origin for Changing {
    fn open(&self) -> io::Result<(u64, Box<dyn Read + '_>)> {
        let opened = self.readings.fetch_add(1, Ordering::SeqCst);
        // a survey reads it twice
        let changed = if self.returns { opened == 2 } else { opened >= 2 };
        let now = if changed { self.then.as_ref() } else { Some(&self.first) };
        let now = now.ok_or_else(|| io::Error::other("gone"))?;
        Ok((now.len() as u64, Box::new(&now[..])))
    }
}

/// A file whose gates make many batches; `last` is the kind of its last gate.
fn chain(last: &str) -> String {
    let gates = 200;
    let mut text = format!("{gates} {}\n2 1 1\n1 1\n\n", gates + 2);
    for i in 0..gates - 1 {
        text += &format!("2 1 {i} {} {} {}\n", i + 1, i + 2, ["AND", "XOR"][i % 2]);
    }
    text + &format!("2 1 {} {} {} {last}\n", gates - 1, gates, gates + 1)
}

/// One party's file changes after it was surveyed, for good or for one reading: this party says so, and
/// nobody gets an output or a share of an output's mask.
#[test]
fn a_file_that_changed_gives_no_output() {
    let first = chain("XOR");
    let short = first.replacen("2 1 0 1 2 AND", "2 1 0 1 2 XOR", 1);
    let changes = [
        (Some(chain("AND")), Misuse::FileChanged),
        (Some(short), Misuse::FileChanged),
        (Some(first.replacen("2 1 0 1 2 AND", "2 1 1 0 2 AND", 1)), Misuse::FileChanged),
        (Some(first.trim_end().to_owned()), Misuse::FileChanged),
        (Some(first.clone() + "\n"), Misuse::FileChanged),
        (Some(first.clone() + "2 1 0 1 202 AND\n"), Misuse::FileChanged),
        (None, Misuse::FileUnreadable),
    ];
    for (then, what) in &changes {
        for (n, changed, returns) in [(2, 1, true), (2, 2, false), (3, 1, false), (3, 3, true)] {
            let own = |p: PartyId| if p == party(changed) { then.as_deref() } else { Some(&first[..]) };
            let streams = PartyId::all(n).map(|p| Changing::open(&first, own(p), returns)).collect();
            let (ends, masks) = ends_of(n, streams, &[1, 1]);
            let abort = ends[changed as usize - 1].as_ref().unwrap_err();
            assert!(matches!(abort, Abort::Misuse { what: told, .. } if told == what), "{abort}");
            // a party that waits for this one blames nobody for a failed check
            let failed = |end: &Result<_, _>| matches!(end, Err(Abort::CheckFailed { .. }));
            assert!(ends.iter().all(|end| end.is_err() && !failed(end)), "{ends:?}");
            assert_eq!(masks, 0);
        }
    }
}

/// The file of all parties changes in the same way, as on one machine: no check between them can tell, and
/// there is no output of the other circuit.
#[test]
fn a_file_that_changed_for_all_gives_no_output() {
    let first = "5 8\n2 1 2\n1 4\n\n1 1 0 4 EQW\n1 1 1 5 EQW\n1 1 2 6 EQW\n2 1 0 1 3 XOR\n2 1 3 0 7 AND\n";
    let then = first.replacen("2 1 0 1 3", "2 1 0 2 3", 1);
    for returns in [false, true] {
        let streams = (0..2).map(|_| Changing::open(first, Some(&then), returns)).collect();
        let (ends, masks) = ends_of(2, streams, &[1, 1, 0]);
        let told = |end: &Result<_, _>| matches!(end, Err(Abort::Misuse { what: Misuse::FileChanged, .. }));
        assert!(ends.iter().all(Result::is_err) && ends.iter().any(told), "{ends:?}");
        assert_eq!(masks, 0);
    }
}

/// How a run ends in which each party has its own one of these circuits, and how many messages with shares of
/// output masks the parties sent.
fn ends_of(n: usize, streams: Vec<Stream>, input: &[u8]) -> (Vec<Result<Vec<Vec<u8>>, Abort>>, usize) {
    let plans: Vec<Plan<'_>> = streams.iter().map(|stream| for_all(stream, n)).collect();
    assert!(plans.iter().all(|plan| plan.digest() == plans[0].digest()));
    let lab = GarbleLab::in_batches(10);
    let harness = lab.harness(n);
    let recordings = harness.recordings();
    let ends = harness.act(|mut session| {
        let plan = &plans[session.me().index()];
        lab.outputs(&mut session, plan, &[input.to_vec()])
    });
    let masks =
        |recording: &Recording| recording.of(MessageDirection::Out, "divisi_garble::streamed/8.masks").len();
    (ends, recordings.iter().map(masks).sum())
}

/// Control: if the file does not change, the messages with mask shares, which the tests above must not find,
/// are found.
#[test]
fn output_masks_leave_where_the_file_stays() {
    let streams = (0..2).map(|_| Stream::open(chain("XOR").into_bytes()).unwrap()).collect();
    let (ends, masks) = ends_of(2, streams, &[1, 1]);
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    assert_eq!(masks, 2);
}

/// Garbling ahead needs the whole circuit, so a circuit in a file is refused, with a sentence, before
/// anything is garbled.
#[test]
fn a_file_is_not_garbled_ahead() {
    let stream = Stream::open(chain("AND").into_bytes()).unwrap();
    let plan = for_all(&stream, 2);
    assert_eq!(plan.ahead(), Err(Unfit::Streamed));
    assert!(Unfit::Streamed.to_string().contains("use the streamed mode"));
    let ends = GarbleLab::default().each(2, |session, garble| {
        assert_eq!(garble.admit(&plan, 1), Err(Unfit::Streamed));
        let mut made = garble.function_independent(session, 0, 0)?;
        garble.function_dependent(session, &mut made, &plan, 1).map(drop)
    });
    // the first party to refuse ends the session, and the other one is told of that
    let aborts: Vec<Abort> = ends.into_iter().map(Result::unwrap_err).collect();
    let refused = |abort: &Abort| matches!(abort, Abort::Misuse { what: Misuse::CircuitInFile, .. });
    assert!(aborts.iter().any(refused), "{aborts:?}");
    assert!(aborts.iter().all(|abort| refused(abort) || matches!(abort, Abort::Network(_))), "{aborts:?}");
}

/// A digest differs with all that the parties must agree on: the file to the byte, owners, receivers, and
/// that it is streamed.
#[test]
fn a_digest_is_that_of_the_file() {
    let [one, other] = [chain("AND"), chain("XOR")].map(|text| Stream::open(text.into_bytes()).unwrap());
    let program = bristol::read(chain("AND").as_bytes()).unwrap().program;
    let (two, three) = (in_turn(2, 2), in_turn(2, 3));
    let list = |numbers: &[u8]| vec![numbers.iter().map(|number| party(*number)).collect::<Vec<_>>()];
    let digests = [
        Plan::streamed(&one, 2, &two, &list(&[1])).unwrap().digest(),
        Plan::streamed(&one, 2, &two, &list(&[2])).unwrap().digest(),
        Plan::streamed(&one, 2, &[party(2), party(1)], &list(&[1])).unwrap().digest(),
        Plan::streamed(&one, 3, &three, &list(&[1])).unwrap().digest(),
        Plan::streamed(&other, 2, &two, &list(&[1])).unwrap().digest(),
        Plan::new(&program, 2, &two, &list(&[1])).unwrap().digest(),
    ];
    for (i, digest) in digests.iter().enumerate() {
        assert!(!digests[..i].contains(digest), "{i}");
    }
    assert_eq!(
        Plan::streamed(&one, 2, &[party(1)], &list(&[1])).unwrap_err(),
        Unfit::Owners { values: 2, owners: 1 }
    );
    assert_eq!(Plan::streamed(&one, 2, &two, &list(&[3])).unwrap_err(), Unfit::Stranger { party: party(3) });
}
