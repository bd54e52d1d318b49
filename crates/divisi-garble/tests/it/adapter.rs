//! What the engine of the commands sends beside what the protocol sends (nothing), and what becomes of its
//! options, one by one.

use crate::settings::facts;
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{Harness, party, sent};
use divisi_core::{Abort, Direction, PartyId, PublicParameters, Session};
use divisi_engine::circuit::{HeldCircuit, NamedCircuit};
use divisi_engine::job::{
    AnswersJob, Between, Cipher, CipherMode, CircuitJob, JobSpec, ModeMessage, ModesJob,
};
use divisi_engine::{Engine, EngineSettings, Unwatched, prepare};
use divisi_garble::adapter::GarbleEngine;
use divisi_garble::lab::{BitSource, GarbleLab};
use divisi_garble::{GarbleOptions, GarblingForm, Plan};
use divisi_ot::{Base, SetupConfig};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::gates::Adder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const COUNT: usize = 3;

/// Three values of different widths, the first for party 1, the second for party 2, the third for both.
fn job() -> CircuitJob {
    job_of(false)
}

/// The same, or all bits of it negated.
fn job_of(negated: bool) -> CircuitJob {
    let mut g = Build::new();
    let (x, y) = (g.input(6), g.input(6));
    let mut out: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    if negated {
        out.iter_mut().for_each(|bit| *bit = g.not(*bit));
    }
    [0..1, 1..3, 3..6].into_iter().for_each(|value| g.output(&out[value]));
    let (one, two) = (party(1), party(2));
    let circuit = NamedCircuit { name: "ands".into(), program: g.finish(), file: None };
    let circuit = Arc::new(HeldCircuit::Program(circuit));
    let between =
        Between::Parties { owners: vec![one, two], receivers: vec![vec![one], vec![two], vec![one, two]] };
    CircuitJob { circuit, adder: Adder::FewestAnds, between, count: COUNT }
}

/// To whom each message of two parties went, its step, and its length.
fn shapes(act: impl Fn(Session) -> Result<(), Abort> + Sync) -> Vec<(u8, u32, usize)> {
    let harness = Harness::new(2, &PublicParameters::new("adapter")).patient();
    let recordings = harness.recordings();
    let ends = harness.act(act);
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let mut shapes = Vec::new();
    for ((_, to), frames) in sent(&recordings) {
        shapes.extend(frames.into_iter().map(|frame| (to.number(), frame.step, frame.body.len())));
    }
    shapes
}

/// Settings, and what they mean.
fn meant() -> [(EngineSettings, GarbleLab); 3] {
    let two = EngineSettings::default().among(2);
    let lab = GarbleLab { bits: BitSource::Protocol, ..GarbleLab::default() };
    let other = two.clone().with("form", "paper").with("base-ot", "both").with("k", 2);
    let config = SetupConfig { k: 2, base: Base::Both, rho: 64 };
    let options = GarbleOptions { form: GarblingForm::Paper, ..GarbleOptions::default() };
    [
        (two.clone(), lab),
        (two.with("streamed", ""), GarbleLab { streamed: true, ..lab }),
        (EngineSettings { statistical: Some(64), ..other }, GarbleLab { config, options, ..lab }),
    ]
}

/// Whatever the options are, the engine sends what the protocol sends with these settings, owners and
/// receivers, message by message: nothing is opened beside that, and no option is lost on the way.
#[test]
fn the_engine_sends_what_the_protocol_sends() {
    let job = job();
    let program = job.circuit.program().unwrap();
    let plan = Plan::new(program, 2, job.owners(), job.receivers()).unwrap();
    let mut seen = BTreeSet::new();
    for (settings, lab) in meant() {
        let spec = JobSpec::Circuit(job.clone());
        let prepared = prepare(&GarbleEngine, &spec, &settings).unwrap();
        let of_engine = shapes(|session| {
            let me = session.me();
            let mut member = prepared.start(session, COUNT, &Default::default())?;
            let own = vec![1; job.wires_of(me).len() * COUNT];
            let learned = member.batch(COUNT, &own.into(), &mut Unwatched)?;
            assert_eq!(learned.to_vec(), vec![1; job.results_of(me).len() * COUNT]);
            Ok(())
        });
        let of_protocol =
            shapes(|mut session| lab.outputs(&mut session, &plan, &vec![vec![1; 12]; COUNT]).map(drop));
        assert_eq!(of_engine, of_protocol, "{settings:?}");
        seen.insert(of_engine);
    }
    assert_eq!(seen.len(), 3);
}

/// Circuits, owners and the receivers of each value that differ are told apart, before a session and by what
/// it is bound to.
#[test]
fn circuits_that_differ_are_told_apart() {
    let [one, two] = [1, 2].map(party);
    let whole = vec![vec![one], vec![two], vec![one, two]];
    let of = |owners: [PartyId; 2], receivers: &[Vec<PartyId>], negated: bool| {
        let job = if negated { job_of(true) } else { job() };
        let between = Between::Parties { owners: owners.to_vec(), receivers: receivers.to_vec() };
        JobSpec::Circuit(CircuitJob { between, ..job })
    };
    let mut all =
        vec![of([one, two], &whole, false), of([two, one], &whole, false), of([one, two], &whole, true)];
    for at in 0..3 {
        for other in [vec![one], vec![two], vec![one, two]].into_iter().filter(|other| *other != whole[at]) {
            let mut receivers = whole.clone();
            receivers[at] = other;
            all.push(of([one, two], &receivers, false));
        }
    }
    let settings = EngineSettings::default().among(2);
    let (mut sessions, mut first) = (BTreeSet::new(), BTreeSet::new());
    for job in &all {
        let prepared = prepare(&GarbleEngine, job, &settings).unwrap();
        first.insert(prepared.agreement().into_iter().map(|(_, digest)| digest).collect::<Vec<_>>());
        sessions.extend([COUNT, 257].map(|count| prepared.parameters(count).digest()));
    }
    assert_eq!([sessions.len(), first.len()], [2 * all.len(), all.len()]);
}

/// Known answers of the modes of AES.
fn answers() -> JobSpec {
    let message = ModeMessage {
        direction: Direction::Encrypt,
        iv: Vec::new(),
        aad: Vec::new(),
        bytes: 16,
        spare_bits: 0,
        tag_bytes: 0,
        sealed: None,
    };
    let (mode, cipher) = (CipherMode::Ecb, Cipher::Aes(KeySize::Aes128));
    JobSpec::Answers(AnswersJob::Modes(ModesJob { mode, cipher, messages: vec![message] }))
}

/// Each option is reported and compared as it was given, if no other one is given with it, too.
#[test]
fn each_option_counts_alone() {
    let one = EngineSettings::default();
    let all: [(EngineSettings, usize, Value); 6] = [
        (one.clone(), 4, json!(false)),
        (one.clone().with("form", "paper"), 0, json!("paper")),
        (one.clone().with("k", 2), 1, json!(2)),
        (one.clone().with("base-ot", "both"), 2, json!("both")),
        (EngineSettings { statistical: Some(64), ..one.clone() }, 3, json!(64)),
        (one.with("streamed", ""), 4, json!(true)),
    ];
    let circuit = JobSpec::Circuit(job());
    let default = facts(&circuit, &all[0].0);
    let (mut sessions, mut first) = (BTreeSet::new(), BTreeSet::new());
    for (settings, at, value) in &all {
        let mut meant = default.clone();
        meant[*at] = value.clone();
        assert_eq!(facts(&circuit, settings), meant, "{settings:?}");
        assert_eq!(GarbleEngine.statistical_bits(settings).map(Value::from), Some(meant[3].clone()));
        let prepared = prepare(&GarbleEngine, &circuit, settings).unwrap();
        assert!(sessions.insert(prepared.parameters(COUNT).digest()), "{settings:?}");
        first.insert(prepared.agreement().into_iter().map(|(_, digest)| digest).collect::<Vec<_>>());
        let answers = answers();
        let prepared = prepare(&GarbleEngine, &answers, settings);
        // known answers are streamed by themselves
        let Ok(prepared) = prepared else { continue };
        assert!(sessions.insert(prepared.parameters(COUNT).digest()), "known answers: {settings:?}");
    }
    assert_eq!(first.len(), all.len());
    assert!(sessions.len() >= 2 * all.len() - 1);
}
