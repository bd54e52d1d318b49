//! Circuits among three: as in the clear, whoever owns the inputs and learns the outputs; one party of each
//! on its own; every message of a corrupt party changed.

use divisi::WireValue;
use divisi::circuit::{HeldCircuit, NamedCircuit};
use divisi::engine::{self, Between, Engine, EngineSettings, JobSpec, Own, Prepared, Unwatched, job};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::Security;
use divisi_core::{Abort, Counts, PartyId, Session, Step, local};
use divisi_net::tamper::Tap;
use divisi_net::{Frame, Mesh, Options, memory};
use divisi_symmetric::gates::Adder;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn party(number: u8) -> PartyId {
    PartyId::new(number).unwrap()
}

/// The sum and the product of two numbers of some bits, and whether the third is larger than the first.
fn program() -> Program {
    let mut g = Build::new();
    let [x, y, z] = [5, 5, 11].map(|width| g.input(width));
    let mut product = vec![g.constant(false); 10];
    for (i, x) in x.iter().enumerate() {
        let mut carry = g.constant(false);
        for (j, y) in y.iter().enumerate() {
            let term = g.and(*x, *y);
            let place = product[i + j];
            product[i + j] = [term, carry].into_iter().fold(place, |sum, bit| g.xor(sum, bit));
            carry = g.majority(place, term, carry);
        }
        product[i + 5] = carry;
    }
    g.output(&product);
    let differs: Vec<_> = z.iter().zip(&product).map(|(z, p)| g.xor(*z, *p)).collect();
    g.output(&differs);
    let one = g.constant(true);
    g.output(&[one, z[10]]);
    g.finish()
}

fn bits(value: u64, width: usize) -> Vec<u8> {
    (0..width).map(|i| (value >> i & 1) as u8).collect()
}

/// What a party learned, and what it cost.
struct Outcome {
    outputs: Vec<u8>,
    counts: Counts,
}

/// One evaluation of a circuit whose inputs these parties give, and whose outputs those learn.
fn circuit_job(program: Program, owners: [u8; 3], receivers: [&[u8]; 3]) -> JobSpec {
    let circuit = NamedCircuit { name: "c".into(), program, file: None };
    let lists = receivers.map(|list| list.iter().map(|number| party(*number)).collect());
    let between = Between::Parties { owners: owners.map(party).to_vec(), receivers: lists.to_vec() };
    let circuit = Arc::new(HeldCircuit::Program(circuit));
    JobSpec::Circuit(job::CircuitJob { circuit, adder: Adder::FewestAnds, between, count: 1 })
}

/// The time limit of runs that end by themselves: a busy machine does not reach it.
const PATIENT: Duration = Duration::from_secs(20);
/// The time limit of runs of which many wait for a message that was dropped, and each may end in an abort.
const HASTY: Duration = Duration::from_millis(500);

fn play(
    program: &Program,
    owners: [u8; 3],
    receivers: [&[u8]; 3],
    security: Security,
    values: [u64; 3],
    timeout: Duration,
    taps: impl Fn(PartyId, Tap),
) -> Vec<Result<Outcome, Abort>> {
    let job = circuit_job(program.clone(), owners, receivers);
    let settings = EngineSettings { security, ..EngineSettings::default() };
    let prepared = engine::prepare(engine::named("rep3").unwrap(), &job, &settings).unwrap();
    let prepared = &*prepared;
    let options = Options { timeout, ..Options::default() };
    let meshes = memory::mesh_with(3, &options, Arc::new(divisi_net::Machine));
    for mesh in &meshes {
        taps(mesh.me(), Tap::new(mesh));
    }
    let run = |session: Session| {
        let own = owners.iter().zip(program.inputs()).zip(values);
        let own = own.filter(|((owner, _), _)| **owner == session.me().number());
        let own: Vec<u8> = own.flat_map(|((_, width), value)| bits(value, *width)).collect();
        let mut party = prepared.start(session, 1, &Own::default())?;
        let outputs = party.batch(1, &Own::new(own), &mut Unwatched)?.to_vec();
        Ok(Outcome { outputs, counts: party.meter() })
    };
    local::run_over(meshes, |_| prepared.parameters(1), run)
}

fn expected(program: &Program, values: [u64; 3]) -> Vec<u8> {
    let inputs = program.inputs().iter().zip(values);
    let inputs: Vec<WireValue> =
        inputs.map(|(width, value)| WireValue::from_bits(&bits(value, *width))).collect();
    let circuit = NamedCircuit { name: "c".into(), program: program.clone(), file: None };
    circuit.evaluate(&inputs).unwrap().iter().flat_map(WireValue::bits).copied().collect()
}

#[test]
fn outputs_are_those_in_the_clear_and_go_to_whom_they_are_for() {
    let program = program();
    let values = [29, 23, 0x5a5];
    let want = expected(&program, values);
    assert_eq!(want[..10], bits(29 * 23, 10));
    for security in [Security::Malicious, Security::SemiHonest] {
        for (owners, receivers) in
            [([1, 2, 3], &[1, 2, 3][..]), ([2, 2, 2], &[1]), ([3, 1, 3], &[2, 3]), ([1, 3, 1], &[3])]
        {
            let ends = play(&program, owners, [receivers; 3], security, values, PATIENT, |_, _| {});
            for (me, end) in PartyId::all(3).zip(ends) {
                let outcome = end.unwrap();
                let learned = if receivers.contains(&me.number()) { &want[..] } else { &[] };
                assert_eq!(outcome.outputs, learned, "{me} {owners:?}");
                // the program's own bits, and what a circuit of 10 bits of inputs and 23 of outputs adds
                let sent = outcome.counts.phases["online"].bits;
                assert!(sent >= program.dot_count() as u64, "{sent}");
            }
        }
    }
}

/// Output values of 10, 11 and 2 bits: the first for party 2, the second for 1 and 3, the third for 3.
const SPLIT: [&[u8]; 3] = [&[2], &[1, 3], &[3]];

/// The wires of the values that a party learns by this assignment.
fn part(program: &Program, receivers: [&[u8]; 3], me: PartyId, all: &[u8]) -> Vec<u8> {
    let mut rest = all;
    let mut own = Vec::new();
    for (width, to) in program.outputs().iter().zip(receivers) {
        let (value, others) = rest.split_at(*width);
        rest = others;
        if to.contains(&me.number()) {
            own.extend_from_slice(value);
        }
    }
    own
}

/// A party gets the values that are for it, and of the others no component: what a party sends after the
/// verification are whole bytes of the values for the next party alone.
#[test]
fn each_value_goes_to_its_own_parties() {
    let program = program();
    let values = [29, 23, 0x5a5];
    let want = expected(&program, values);
    let bytes = |receivers: [&[u8]; 3], me: u8| -> usize {
        // values with the same receivers are packed together
        let mut groups: std::collections::BTreeMap<&[u8], usize> = std::collections::BTreeMap::new();
        for (width, to) in program.outputs().iter().zip(receivers).filter(|(_, to)| to.contains(&me)) {
            *groups.entry(to).or_default() += width;
        }
        groups.values().map(|bits| bits.div_ceil(8)).sum()
    };
    let cases: [[&[u8]; 3]; 4] = [SPLIT, [&[1], &[1], &[2]], [&[3], &[3], &[3]], [&[1, 2, 3], &[2], &[1, 2]]];
    for receivers in cases {
        let ends = play(&program, [1, 2, 3], receivers, Security::Malicious, values, PATIENT, |_, _| {});
        for (me, end) in PartyId::all(3).zip(ends) {
            let outcome = end.unwrap();
            assert_eq!(outcome.outputs, part(&program, receivers, me, &want), "{me} {receivers:?}");
            let sent = outcome.counts.phases["outputs"].bits;
            assert_eq!(sent, 8 * bytes(receivers, me.number() % 3 + 1) as u64, "{me} {receivers:?}");
        }
    }
}

/// The last message of each link to a party that learns something is a component of its values, or a digest
/// of it. Whichever bit of it is turned, this party takes nothing \[A1\]; nobody takes a wrong value.
#[test]
fn a_lie_about_a_value_is_noticed_where_it_goes() {
    let program = program();
    let values = [29, 23, 0x5a5];
    let want = expected(&program, values);
    for (from, to) in [(1, 2), (3, 2), (2, 3), (1, 3), (3, 1), (2, 1)] {
        let counted: Arc<Mutex<usize>> = Arc::default();
        let count = |me: PartyId, tap: Tap| {
            let counted = counted.clone();
            if me.number() == from {
                let count = move |frame: Frame| {
                    *counted.lock().unwrap() += 1;
                    vec![frame]
                };
                tap.intercept(party(to), Box::new(count)).unwrap();
            }
        };
        let ends = play(&program, [1, 2, 3], SPLIT, Security::Malicious, values, PATIENT, count);
        ends.into_iter().for_each(|end| drop(end.unwrap()));
        let last = *counted.lock().unwrap() - 1;
        for bit in [0, 7, 9] {
            let lie = |me: PartyId, tap: Tap| {
                let mut seen = 0;
                let change = move |mut frame: Frame| {
                    if seen == last
                        && let Some(byte) = frame.body.get_mut(bit / 8)
                    {
                        *byte ^= 1 << (bit % 8);
                    }
                    seen += 1;
                    vec![frame]
                };
                if me.number() == from {
                    tap.intercept(party(to), Box::new(change)).unwrap();
                }
            };
            let ends = play(&program, [1, 2, 3], SPLIT, Security::Malicious, values, PATIENT, lie);
            for (me, end) in PartyId::all(3).zip(ends).filter(|(me, _)| me.number() != from) {
                match end {
                    Ok(outcome) => {
                        assert!(me.number() != to, "{from} to {to}");
                        assert_eq!(outcome.outputs, part(&program, SPLIT, me, &want), "{me}");
                    }
                    Err(abort) => {
                        let a1 = format!("{abort:?}").contains("A1");
                        assert!(me.number() != to || a1, "{from} to {to}: {abort:?}");
                    }
                }
            }
        }
    }
}

/// A job with these receivers for an engine, and its settings.
fn job_for(
    engine: &str,
    receivers: [&[u8]; 3],
    protocol: Option<&str>,
) -> (&'static dyn Engine, JobSpec, EngineSettings) {
    let job = circuit_job(program(), [1, 2, 3], receivers);
    let engine = engine::named(engine).unwrap();
    let security = engine.profile().security;
    let mut settings = EngineSettings { parties: Some(3), security, ..EngineSettings::default() };
    settings.own.extend(protocol.map(|name| ("protocol".to_owned(), name.to_owned())));
    (engine, job, settings)
}

/// What each of three parties gets of a job on these links.
fn among_three(prepared: &dyn Prepared, meshes: Vec<Mesh>, values: [u64; 3]) -> Vec<Result<Own, Abort>> {
    let program = program();
    local::run_over(
        meshes,
        |_| prepared.parameters(1),
        |session: Session| {
            let me = session.me().index();
            let own = Own::new(bits(values[me], program.inputs()[me]));
            let mut party = prepared.start(session, 1, &Own::default())?;
            party.batch(1, &own, &mut Unwatched)
        },
    )
}

/// On every engine each value goes to its own parties, and parties that mean other ones have other
/// parameters, so that no session begins.
#[test]
fn every_engine_has_receivers_for_each_value() {
    let program = program();
    let values = [29, 23, 0x5a5];
    let want = expected(&program, values);
    let others: [[&[u8]; 3]; 4] = [[&[2], &[1], &[3]], [&[1], &[1, 3], &[3]], [&[2]; 3], [&[1, 2, 3]; 3]];
    for (name, protocol) in
        [("rep3", None), ("garble", None), ("spdz", None), ("mixed", None), ("mixed", Some("mpgc"))]
    {
        let (engine, job, settings) = job_for(name, SPLIT, protocol);
        let prepared = engine::prepare(engine, &job, &settings).unwrap();
        for other in others {
            let (_, job, _) = job_for(name, other, protocol);
            let other = engine::prepare(engine, &job, &settings).unwrap();
            assert_ne!(prepared.parameters(1).digest(), other.parameters(1).digest(), "{name}");
            let (ours, theirs) = (prepared.agreement(), other.agreement());
            assert!(ours.is_empty() || ours != theirs, "{name}");
        }
        let ends = among_three(&*prepared, local::links(3), values);
        let outputs: Vec<Own> = ends.into_iter().map(Result::unwrap).collect();
        for (me, output) in PartyId::all(3).zip(&outputs) {
            assert_eq!(output.to_vec(), part(&program, SPLIT, me, &want), "{name} {protocol:?} {me}");
        }
        assert!(prepared.collect(1, outputs).is_ok(), "{name}");
        // a party that there is not
        let (_, job, _) = job_for(name, [&[2], &[4], &[1]], protocol);
        assert!(engine::prepare(engine, &job, &settings).is_err(), "{name}");
    }
}

/// If all but one may be corrupt: whichever message about an output is changed on the way to a party, that
/// party takes nothing, and nobody takes a wrong value.
#[test]
fn a_lie_about_a_value_is_noticed_among_any_number() {
    let program = program();
    let values = [29, 23, 0x5a5];
    let want = expected(&program, values);
    let cases: [(&str, &str, &[(u8, u8)]); 3] = [
        ("garble", "divisi_garble::online/8.result", &[(1, 2), (1, 3), (2, 3)]),
        ("garble", "divisi_garble::online/6.labels", &[(3, 2), (2, 1)]),
        ("spdz", "divisi_spdz::input/output.to", &[(1, 2), (3, 2), (2, 3)]),
    ];
    let mut lies = 0;
    for (name, step, links) in cases {
        let (engine, job, settings) = job_for(name, SPLIT, None);
        let prepared = engine::prepare(engine, &job, &settings).unwrap();
        for &(from, to) in links {
            let meshes = local::links(3);
            let changed: Arc<Mutex<usize>> = Arc::default();
            let id = Step::new(step).id;
            let count = changed.clone();
            let change = move |mut frame: Frame| {
                if frame.step == id
                    && let Some(byte) = frame.body.last_mut()
                {
                    *byte ^= 1;
                    *count.lock().unwrap() += 1;
                }
                vec![frame]
            };
            Tap::new(&meshes[usize::from(from) - 1]).intercept(party(to), Box::new(change)).unwrap();
            let ends = among_three(&*prepared, meshes, values);
            let is_lie = *changed.lock().unwrap() > 0;
            lies += usize::from(is_lie);
            for (me, end) in PartyId::all(3).zip(ends).filter(|(me, _)| me.number() != from) {
                match end {
                    Ok(output) => {
                        assert!(!is_lie || me.number() != to, "{name} {step}: {from} to {to}");
                        assert_eq!(output.to_vec(), part(&program, SPLIT, me, &want), "{name} {me}");
                    }
                    Err(abort) => assert!(is_lie, "{name} {step}: {abort:?}"),
                }
            }
        }
    }
    assert!(lies >= 6, "{lies}");
}

/// Each message of a corrupt party, a bit of it turned or the message dropped: honest receivers have the
/// right outputs or none.
#[test]
fn no_change_of_a_message_gives_a_wrong_output() {
    let program = program();
    let values = [29, 23, 0x5a5];
    let want = expected(&program, values);
    let counted: Arc<Mutex<std::collections::BTreeMap<(u8, u8), usize>>> = Arc::default();
    let count = |from: PartyId, tap: Tap| {
        for to in PartyId::all(3).filter(|to| *to != from) {
            let counted = counted.clone();
            let count = move |frame: Frame| {
                *counted.lock().unwrap().entry((from.number(), to.number())).or_default() += 1;
                vec![frame]
            };
            tap.intercept(to, Box::new(count)).unwrap();
        }
    };
    play(&program, [1, 2, 3], [&[1, 2, 3]; 3], Security::Malicious, values, PATIENT, count)
        .into_iter()
        .for_each(|end| drop(end.unwrap()));
    let messages = counted.lock().unwrap().clone();
    let (mut attacks, mut aborts) = (0, 0);
    for ((from, to), n) in messages {
        for at in 0..n {
            // a message that is dropped takes the time limit: a few of them
            let drops = at % 9 == 0;
            let attack = |me: PartyId, tap: Tap| {
                if me.number() != from {
                    return;
                }
                let mut seen = 0;
                let change = move |mut frame: Frame| {
                    seen += 1;
                    if seen - 1 == at {
                        if drops {
                            return Vec::new();
                        }
                        let place = (11 * at) % frame.body.len().max(1);
                        if let Some(byte) = frame.body.get_mut(place) {
                            *byte ^= 1 << (at % 8);
                        }
                    }
                    vec![frame]
                };
                tap.intercept(party(to), Box::new(change)).unwrap();
            };
            let ends = play(&program, [1, 2, 3], [&[1, 2, 3]; 3], Security::Malicious, values, HASTY, attack);
            attacks += 1;
            for (me, end) in PartyId::all(3).zip(ends).filter(|(me, _)| me.number() != from) {
                match end {
                    Ok(outcome) => {
                        assert_eq!(outcome.outputs, want, "{me}: {from} to {to}, {at}")
                    }
                    Err(_) => aborts += 1,
                }
            }
        }
    }
    assert!(attacks > 50 && aborts > attacks, "{attacks} {aborts}");
}

/// Three programs, each one party of a mesh: as users run them.
#[test]
fn one_party_each() {
    crate::separate::one_party_each("rep3", 3);
}
