//! What the engine of the commands does beside the protocol: what it opens, what it verifies, what it
//! compares, what it deals, and what it says of this.

use divisi_circuit::{Build, Gates};
use divisi_core::{Abort, Counts, Direction, Misuse, PartyId, PublicParameters, Security, local};
use divisi_engine::circuit::{HeldCircuit, NamedCircuit};
use divisi_engine::job::{
    AnswersJob, Between, BlocksJob, ChainJob, Cipher, CipherMode, CircuitJob, DigestsJob, JobSpec, LargeJob,
    LookupJob, MessagesJob, ModeMessage, ModesJob, Own, PublicMessage,
};
use divisi_engine::{
    Calibration, Engine, EngineSettings, Measured, Phase, Rows, Unwatched, prepare, together,
};
use divisi_rep3::adversary::harness::party;
use divisi_rep3::{Protocol, Rep3, Trio};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::gates::Adder;
use divisi_symphony::adapter::{CONSTANT, ROUNDS, Replicated};
use divisi_symphony::circuit::OwnedCircuit;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const AES: Cipher = Cipher::Aes(KeySize::Aes128);

/// ANDs of two values of 6 bits, in values of 1, 2 and 3 bits.
fn circuit(between: Between) -> CircuitJob {
    let mut g = Build::new();
    let (x, y) = (g.input(6), g.input(6));
    let out: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    [0..1, 1..3, 3..6].into_iter().for_each(|value| g.output(&out[value]));
    let circuit = NamedCircuit { name: "ands".into(), program: g.finish(), file: None };
    let circuit = Arc::new(HeldCircuit::Program(circuit));
    CircuitJob { circuit, adder: Adder::FewestAnds, between, count: 1 }
}

fn parties(owners: [u8; 2], receivers: [&[u8]; 3]) -> Between {
    let list = |list: &[u8]| list.iter().map(|number| party(*number)).collect::<Vec<PartyId>>();
    Between::Parties { owners: list(&owners), receivers: receivers.map(list).to_vec() }
}

fn malicious() -> EngineSettings {
    EngineSettings::default()
}

fn semi_honest() -> EngineSettings {
    EngineSettings { security: Security::SemiHonest, ..malicious() }
}

/// How many messages of each step were sent, how much was opened, and the payload.
fn costs(counts: &Counts) -> (Vec<(&'static str, u64)>, u64, u64) {
    (counts.steps.iter().map(|(step, sent)| (*step, *sent)).collect(), counts.openings, counts.bits())
}

/// A circuit's engine sends and opens what the protocol does, whoever receives, and with all settings.
#[test]
fn the_engine_sends_what_the_protocol_sends() {
    let constant = malicious().with(ROUNDS, CONSTANT);
    let mut seen = BTreeSet::new();
    for receivers in [[&[1][..], &[2], &[1, 3]], [&[2], &[2], &[2]]] {
        let job = circuit(parties([1, 2], receivers));
        let (program, digest) = (job.circuit.program().unwrap(), job.circuit.digest());
        let own = |me| vec![1; job.wires_of(me).len()];
        for settings in [malicious(), semi_honest(), constant.clone()] {
            let spec = JobSpec::Circuit(job.clone());
            let prepared = prepare(&Replicated, &spec, &settings).unwrap();
            let of_engine = local::run(3, &prepared.parameters(1), |session| {
                let me = session.me();
                let mut member = prepared.start(session, 1, &Own::default())?;
                let learned = member.batch(1, &own(me).into(), &mut Unwatched)?;
                assert_eq!(learned.to_vec(), vec![1; job.results_of(me).len()]);
                Ok(costs(&member.meter()))
            });
            let of_protocol = local::run(3, &PublicParameters::new("adapter"), |session| {
                let me = session.me();
                let mut rep = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, settings.security);
                if settings.own.contains_key(ROUNDS) {
                    rep.use_rounds(divisi_rep3::Rounds::Constant);
                }
                OwnedCircuit::with_receivers(program, &digest, job.owners(), job.receivers())?
                    .evaluate(&mut rep, &own(me))?;
                Ok(costs(&rep.trio().session().meter().read()))
            });
            assert_eq!(of_engine, of_protocol, "{settings:?} {receivers:?}");
            seen.extend(of_engine);
        }
    }
    assert!(seen.len() >= 6, "{}", seen.len());
}

/// Owners, the receivers of each value, and the settings are compared before a circuit runs.
#[test]
fn all_that_is_public_about_a_circuit_is_compared() {
    let all = [&[1, 2, 3][..]; 3];
    let betweens = [
        parties([1, 2], all),
        parties([2, 1], all),
        parties([1, 2], [&[1], &[2], &[1, 3]]),
        parties([1, 2], [&[2], &[1], &[1, 3]]),
        parties([1, 2], [&[1, 2], &[1], &[3]]),
    ];
    let mut seen = BTreeSet::new();
    for between in &betweens {
        for settings in [malicious(), semi_honest(), malicious().with(ROUNDS, CONSTANT)] {
            let job = JobSpec::Circuit(circuit(between.clone()));
            let prepared = prepare(&Replicated, &job, &settings).unwrap();
            assert!(seen.insert(prepared.parameters(1).digest()), "{between:?} {settings:?}");
        }
    }
}

/// Jobs that a client deals, or that have a choice of their security, each with the lengths of its key and of
/// an input.
fn jobs() -> [(JobSpec, usize, usize); 4] {
    let cmac = Settings::new("cmac-aes128".parse().unwrap());
    [
        (JobSpec::Blocks(BlocksJob { cipher: AES, direction: Direction::Encrypt, count: 2 }), 16, 16),
        (JobSpec::Digests(DigestsJob { using: cmac, message_bytes: 9, count: 2 }), 16, 9),
        (JobSpec::Circuit(CircuitJob { count: 2, ..circuit(Between::Client) }), 0, 2),
        (
            JobSpec::Lookups(LookupJob { entries: 16, inputs: 1, dimensions: None, count: 2, table: None }),
            0,
            4,
        ),
    ]
}

/// Known answers of each kind, each with the length of an input.
fn answers() -> [(JobSpec, usize); 4] {
    let message = ModeMessage {
        direction: Direction::Encrypt,
        iv: Vec::new(),
        aad: Vec::new(),
        bytes: 16,
        spare_bits: 0,
        tag_bytes: 0,
        sealed: None,
    };
    let modes = ModesJob { mode: CipherMode::Ecb, cipher: AES, messages: vec![message] };
    let [cmac, hash] = ["cmac-aes128", "sha256"].map(|name| Settings::new(name.parse().unwrap()));
    let nonce = vec![0; 12];
    let message = PublicMessage { bytes: 3, spare_bits: 0, nonce, makes: true, received: None };
    let messages = MessagesJob { using: cmac, key_bytes: 16, messages: vec![message] };
    [
        (JobSpec::Answers(AnswersJob::Modes(modes)), 32),
        (JobSpec::Answers(AnswersJob::Messages(messages)), 19),
        (ChainJob { using: hash.clone(), steps: 1, starts: vec![32] }.into(), 32),
        (LargeJob { using: hash, content: 1, lengths: vec![1] }.into(), 1),
    ]
}

/// The error of the worst verification of a job.
fn verified(job: &JobSpec, settings: &EngineSettings, key: usize, input: usize) -> Option<f64> {
    let rows = Rows::cut(vec![1; input * job.count()], vec![input; job.count()].into_iter());
    let prepared = prepare(&Replicated, job, settings).unwrap();
    together(&*prepared, &vec![7; key], &rows).unwrap().1.verification_error_bits
}

/// Each job verifies as well as was asked, also where one pass is not enough, and known answers as well as by
/// default; none does that is only to be semi-honest.
#[test]
fn jobs_verify_as_well_as_was_asked() {
    for (job, key, input) in jobs() {
        for bits in [None, Some(58), Some(114)] {
            let settings = EngineSettings { statistical: bits, ..malicious() };
            let reached = verified(&job, &settings, key, input).unwrap();
            assert!(reached >= f64::from(bits.unwrap_or(57)), "{job:?} {bits:?}: {reached}");
        }
        assert_eq!(verified(&job, &semi_honest(), key, input), None, "{job:?}");
    }
    for (job, input) in answers() {
        let reached = verified(&job, &malicious(), 0, input).unwrap_or(0.0);
        assert!(reached >= 57.0, "{job:?}: {reached}");
        let more = EngineSettings { statistical: Some(58), ..malicious() };
        assert!(prepare(&Replicated, &job, &more).is_err(), "{job:?}");
        assert_eq!(verified(&job, &semi_honest(), 0, input), None, "{job:?}");
    }
}

/// An owner of indices has four bytes for each lookup, and the others have none.
#[test]
fn indices_are_as_many_as_lookups() {
    let job = JobSpec::Lookups(LookupJob { entries: 16, inputs: 1, dimensions: None, count: 2, table: None });
    let prepared = prepare(&Replicated, &job, &malicious()).unwrap();
    let looked_up = |bytes: [usize; 3]| {
        local::run(3, &prepared.parameters(2), |session| {
            let own = Own::new(vec![0; bytes[session.me().index()]]);
            prepared.start(session, 2, &Own::default())?.batch(2, &own, &mut Unwatched)
        })
    };
    assert!(looked_up([8, 0, 0]).is_ok());
    for bytes in [[7, 0, 0], [9, 0, 0], [12, 0, 0], [8, 8, 0], [8, 0, 1]] {
        let refused = matches!(looked_up(bytes), Err(Abort::Misuse { what: Misuse::LengthDiffers, .. }));
        assert!(refused, "{bytes:?}");
    }
}

/// Whatever a client deals is under masks of its own: no two dealings have a component in common, of keys or
/// of inputs, in one job or in several.
#[test]
fn what_is_dealt_is_under_its_own_masks() {
    let mut seen = BTreeSet::new();
    let mut new = |component: &[u8], what: &JobSpec| {
        // too short a component may come again by chance
        let is_new = component.len() < 16 || seen.insert(component.to_vec());
        assert!(is_new, "{what:?}");
    };
    for (job, key, input) in jobs().into_iter().take(3).cycle().take(6) {
        let prepared = prepare(&Replicated, &job, &malicious()).unwrap();
        let rows = Rows::cut(vec![7; 8 * input], vec![input; 8].into_iter());
        for owns in [prepared.deal_key(&vec![7; key]), prepared.deal(&rows)] {
            // the first component of each party, which is the second one of the party before it
            owns.iter().for_each(|own| new(&own[..16.min(own.len() / 2)], &job));
        }
    }
    for (job, input) in answers().into_iter().take(3).cycle().take(6) {
        let prepared = prepare(&Replicated, &job, &malicious()).unwrap();
        let rows = Rows::cut(vec![7; input], [input].into_iter());
        // behind the length of the first piece
        prepared.deal(&rows).iter().for_each(|own| new(&own[..24.min(own.len())], &job));
    }
}

/// A benchmark of a job with these settings, in which nothing took any time.
fn measured(job: &JobSpec, settings: &EngineSettings) -> Measured {
    Measured {
        settings: settings.clone(),
        about: job.about(),
        count: 2,
        unit: job.unit(),
        facts: prepare(&Replicated, job, settings).unwrap().facts(),
        parties: 3,
        reps: 1,
        connect_seconds: 0.0,
        clocks: Replicated.phases(settings),
        phases: Replicated.phases(settings).iter().map(|clock| (clock.name, Phase::default())).collect(),
        repetitions: vec![Vec::new()],
        bytes_by_party: Vec::new(),
        peak_rss_bytes: None,
        verification_error_bits: None,
        computational_bits: None,
        checks: BTreeMap::new(),
        kernel: String::new(),
        calibration: Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 },
    }
}

/// A job and its benchmark say which adversary they withstand, and with how many bits: those that were asked
/// for.
#[test]
fn reports_say_what_was_asked_for() {
    let all = [
        (malicious(), "malicious", json!(57)),
        (EngineSettings { statistical: Some(58), ..malicious() }, "malicious", json!(58)),
        (semi_honest(), "semi-honest", json!(null)),
    ];
    for (job, _, _) in jobs() {
        for (settings, security, bits) in &all {
            let measured = measured(&job, settings);
            let report = Replicated.report(&measured);
            assert_eq!(measured.facts["security"], *security, "{job:?}");
            assert_eq!(
                (&report["security"], &report["statistical_bits"]),
                (&json!(security), bits),
                "{job:?}"
            );
            let page = Replicated.page(&measured);
            assert!(page.above.contains(&format!(", {security}, ")), "{}", page.above);
        }
    }
}
