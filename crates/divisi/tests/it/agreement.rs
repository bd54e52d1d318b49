//! What parties compare before a job, by every engine: jobs that differ have other parameters, and so have
//! settings that differ, whichever of them it is and however little.

use divisi::circuit::hold;
use divisi::engine::job::{
    Between, BlocksJob, Cipher, CipherMode, CircuitJob, DesKeys, DigestsJob, LookupJob, ModeMessage,
    ModesJob, UserTable,
};
use divisi::engine::{
    Demonstration, Engine, EngineOption, EngineSettings, JobSpec, OptionValue, all, prepare,
};
use divisi::layers::core::{Direction, PartyId, Security};
use divisi::layers::program::NumberSize;
use divisi::layers::program::operations::{Op, OperationJob};
use divisi::layers::symmetric::aes::KeySize;
use divisi::layers::symmetric::algorithm::{Algorithm, Settings as Using};
use divisi::layers::symmetric::gates::Adder;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

/// Settings of an engine (of all, if it is not named) in which parties need not agree for jobs of a kind (of
/// every kind, if it is not named).
const APART: [(&str, &str, &str, &str); 10] = [
    ("", "", "parties", "other numbers of parties have other links, and no session"),
    ("garble", "", "budget", "how much of its own memory a party takes"),
    ("rep3", "answers", "threads", "known answers have one thread"),
    ("rep3", "circuits", "on-demand", "one evaluation has nothing ahead"),
    ("rep3", "answers", "on-demand", "known answers have nothing ahead"),
    ("rep3", "circuits", "threads", "one evaluation has one thread"),
    ("rep3", "circuits", "protocol", "gates have one protocol"),
    ("rep3", "circuits", "priority", "gates have one protocol"),
    ("rep3", "lookups", "protocol", "lookups have one protocol"),
    ("rep3", "lookups", "priority", "lookups have one protocol"),
];

/// Engines whose parties need not agree in the number of instances: a client deals them.
const COUNTED_BY_A_CLIENT: [&str; 1] = ["rep3"];

/// So many instances that every thread has some.
const MANY: usize = 1 << 22;

/// The name of a file with this circuit.
fn circuit_of(name: &str, text: &str) -> String {
    let path = format!("{}/agreement-{name}.txt", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Evaluations of each circuit, from memory and from its file, between each of these.
fn circuits(between: &[Between]) -> Vec<JobSpec> {
    let adder = Adder::FewestAnds;
    let mut jobs = Vec::new();
    for (gate, streamed) in [("AND", false), ("XOR", false), ("AND", true), ("XOR", true)] {
        let path = circuit_of(gate, &format!("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 {gate}\n"));
        let circuit = Arc::new(hold(path, adder, streamed).unwrap());
        let of = |between: &Between| {
            let between = between.clone();
            CircuitJob { circuit: Arc::clone(&circuit), adder, between, count: 1 }
        };
        jobs.extend(between.iter().map(of).map(JobSpec::Circuit));
    }
    jobs
}

fn of_parties() -> Vec<JobSpec> {
    let [one, two] = [PartyId::P1, PartyId::P2];
    let both = [one, two];
    let owned = |owners: [PartyId; 2], to: &[PartyId]| Between::with_all_to(owners.to_vec(), to, 1);
    circuits(&[owned(both, &both), owned([two, one], &both), owned(both, &[one]), owned(both, &[two])])
}

fn ciphers() -> impl Iterator<Item = Cipher> {
    let of_aes = [KeySize::Aes128, KeySize::Aes192, KeySize::Aes256].map(Cipher::Aes);
    of_aes.into_iter().chain([DesKeys::Two, DesKeys::Three].map(Cipher::TripleDes))
}

fn blocks() -> Vec<JobSpec> {
    let both = [Direction::Encrypt, Direction::Decrypt];
    let of = |cipher| both.map(|direction| JobSpec::Blocks(BlocksJob { cipher, direction, count: 1 }));
    ciphers().flat_map(of).collect()
}

fn digests() -> Vec<JobSpec> {
    let of = |algorithm| {
        let job = |message_bytes| DigestsJob { using: Using::new(algorithm), message_bytes, count: 1 };
        [16, 17].map(job).map(JobSpec::Digests)
    };
    Algorithm::hashes().chain(Algorithm::macs()).flat_map(of).collect()
}

fn lookups() -> Vec<JobSpec> {
    let job = LookupJob { entries: 16, inputs: 1, dimensions: None, count: 1, table: None };
    let of = |zeros, last| UserTable::new([vec![0; zeros], vec![last]].concat()).map(Arc::new).ok();
    let table = |last| of(15, last);
    let jobs = [
        job.clone(),
        LookupJob { entries: 256, ..job.clone() },
        LookupJob { entries: 512, table: of(255, 1), ..job.clone() },
        LookupJob { inputs: 2, ..job.clone() },
        LookupJob { dimensions: Some(3), ..job.clone() },
        LookupJob { table: table(1), ..job.clone() },
        LookupJob { table: table(3), ..job.clone() },
        LookupJob { table: table(257), ..job },
    ];
    jobs.map(JobSpec::Lookups).to_vec()
}

/// Known answers run in one process, which has one list of them.
fn answers() -> Vec<JobSpec> {
    let direction = Direction::Encrypt;
    let message = ModeMessage {
        direction,
        iv: Vec::new(),
        aad: Vec::new(),
        bytes: 16,
        spare_bits: 0,
        tag_bytes: 0,
        sealed: None,
    };
    let cipher = Cipher::Aes(KeySize::Aes128);
    // GCM has no empty IV, and is refused
    [CipherMode::Ecb, CipherMode::Gcm]
        .map(|mode| JobSpec::from(ModesJob { mode, cipher, messages: vec![message.clone()] }))
        .to_vec()
}

/// Operations on numbers and bits.
fn operations() -> Vec<JobSpec> {
    let of = |op, bits, entries| {
        let numbers = NumberSize::default();
        OperationJob { op, numbers, bits, entries, private: false, count: 1 }
    };
    let others = [Op::Dabit, Op::E2a, Op::A2e, Op::Lookup2, Op::TripleArith, Op::TripleBool];
    let jobs = [
        of(Op::A2b, 8, 8),
        OperationJob { numbers: NumberSize::Bits61, ..of(Op::A2b, 8, 8) },
        of(Op::B2a, 8, 8),
        of(Op::B2a, 9, 8),
        of(Op::Lookup, 8, 8),
        of(Op::Lookup, 8, 256),
        OperationJob { private: true, ..of(Op::Lookup, 8, 8) },
    ];
    let all = jobs.into_iter().chain(others.map(|op| of(op, 8, 8)));
    all.map(|job| JobSpec::Own(Arc::new(job))).collect()
}

/// Jobs of each kind.
pub static KINDS: LazyLock<Vec<(&'static str, Vec<JobSpec>)>> = LazyLock::new(|| {
    vec![
        ("circuits", of_parties()),
        ("circuits of a client", circuits(&[Between::Client])),
        ("blocks", blocks()),
        ("digests", digests()),
        ("lookups", lookups()),
        ("answers", answers()),
        ("operations", operations()),
    ]
});

/// Each setting with its values, beside `base`: what all engines know, and each option of this one.
pub fn settings(
    engine: &dyn Engine,
    base: &EngineSettings,
) -> Vec<(&'static str, Vec<(String, EngineSettings)>)> {
    let parties = (2..6).map(|n| (n.to_string(), base.clone().among(n))).collect();
    let security = [Security::SemiHonest, Security::Malicious]
        .map(|security| (security.name().to_owned(), EngineSettings { security, ..base.clone() }));
    let bits = [40, 64, 80]
        .map(|bits| (bits.to_string(), EngineSettings { statistical: Some(bits), ..base.clone() }));
    let threads = [1, 2, 3].map(|threads| (threads.to_string(), EngineSettings { threads, ..base.clone() }));
    let mut all = vec![
        ("parties", parties),
        ("security", security.to_vec()),
        ("statistical", bits.to_vec()),
        ("threads", threads.to_vec()),
    ];
    let options = engine.profile().options;
    let given: Vec<_> = options.iter().filter(|option| base.own.contains_key(option.name)).collect();
    let excludes = |a: &EngineOption, b: &EngineOption| a.excludes == Some(b.name);
    for option in options.iter().filter(|option| !option.scopes.is_empty()) {
        if given.iter().any(|given| excludes(given, option) || excludes(option, given)) {
            continue;
        }
        let values: Vec<String> = match &option.value {
            OptionValue::Switch => vec![String::new()],
            OptionValue::Number(_) => (1..50).map(|n: u32| n.to_string()).collect(),
            _ => option.names().map(str::to_owned).collect(),
        };
        let of = |value: String| (value.clone(), base.clone().with(option.name, value));
        let is_off = option.value == OptionValue::Switch && !base.own.contains_key(option.name);
        let off = is_off.then(|| ("off".to_owned(), base.clone()));
        all.push((option.name, values.into_iter().map(of).chain(off).collect()));
    }
    all
}

/// The usual settings, and for each option that takes names those with each name.
pub fn bases(engine: &dyn Engine) -> Vec<EngineSettings> {
    let base = EngineSettings { security: engine.profile().security, ..EngineSettings::default() };
    let named = |option: &EngineOption| -> Vec<_> {
        option.names().map(|name| base.clone().with(option.name, name)).collect()
    };
    let options = engine.profile().options;
    [base.clone()].into_iter().chain(options.iter().flat_map(named)).collect()
}

fn is_a_path(option: &EngineOption) -> bool {
    matches!(option.value, OptionValue::Path(_))
}

/// What the parties compare, before a session and at its start; `None` if the engine cannot do it.
fn compared(
    engine: &dyn Engine,
    job: &JobSpec,
    settings: &EngineSettings,
    count: usize,
) -> Option<Vec<[u8; 32]>> {
    let prepared = prepare(engine, job, settings).ok().filter(|prepared| prepared.parties() > 1)?;
    let before = prepared.agreement().into_iter().map(|(_, digest)| digest);
    Some(before.chain([prepared.parameters(count).digest()]).collect())
}

/// That no two of these have the same digests; the number of those that the engine can do.
fn all_differ<V: Debug + Copy>(of: &str, values: impl Iterator<Item = (V, Option<Vec<[u8; 32]>>)>) -> usize {
    let mut seen = BTreeMap::new();
    for (value, digests) in values {
        let Some(digests) = digests else { continue };
        assert!(!digests.contains(&[0; 32]), "{of}: {value:?} has no digest");
        if let Some(other) = seen.insert(digests, value) {
            panic!("{of}: parties do not notice that one has {value:?} and another {other:?}");
        }
    }
    seen.len()
}

/// Whether parties need not agree in a setting of an engine, for jobs of this kind.
fn is_apart(engine: &dyn Engine, kind: &str, setting: &str) -> bool {
    let fits = |wanted: &str, is: &str| [is, ""].contains(&wanted);
    APART.iter().any(|(of, jobs, name, _)| *name == setting && fits(of, engine.name()) && fits(jobs, kind))
}

/// That everything that can differ is compared, by an engine with these settings beside what differs; the
/// settings that did differ.
fn all_is_compared(
    engine: &dyn Engine,
    (kind, jobs): (&str, &[JobSpec]),
    base: &EngineSettings,
) -> Vec<&'static str> {
    let of = format!("{}, {kind}, {base:?}", engine.name());
    let digests = |job: &JobSpec, settings: &EngineSettings, count| compared(engine, job, settings, count);
    all_differ(&of, jobs.iter().map(|job| (job, digests(job, base, 1))));
    let Some(job) = jobs.iter().find(|job| digests(job, base, 1).is_some()) else { return Vec::new() };
    let counts = [1, 2, 64, 65, 257].into_iter();
    if !COUNTED_BY_A_CLIENT.contains(&engine.name()) {
        all_differ(&of, counts.map(|count| (count, digests(job, base, count))));
    }
    let differs = |(name, values): &(&'static str, Vec<(String, EngineSettings)>)| {
        let seen = values.iter().map(|(value, settings)| (value, digests(job, settings, MANY)));
        !is_apart(engine, kind, name) && all_differ(&format!("{of}, {name}"), seen) > 1
    };
    settings(engine, base).into_iter().filter(differs).map(|(name, _)| name).collect()
}

#[test]
fn whatever_differs_has_other_parameters() {
    for engine in all() {
        let mut differed = BTreeSet::new();
        for base in bases(engine) {
            for (kind, jobs) in &*KINDS {
                differed.extend(all_is_compared(engine, (kind, jobs), &base));
            }
        }
        // no option is left out
        let options = engine.profile().options.into_iter();
        let compared = options.filter(|option| !option.scopes.is_empty() && !is_a_path(option));
        for option in compared.filter(|option| !is_apart(engine, "", option.name)) {
            assert!(differed.contains(option.name), "{}: --{}", engine.name(), option.name);
        }
    }
}

/// All of a circuit's digest is compared: those of some of these circuits begin alike.
#[test]
fn all_of_a_circuits_digest_is_compared() {
    let (adder, both) = (Adder::FewestAnds, vec![PartyId::P1, PartyId::P2]);
    let gates = (0..10).flat_map(|y| (0..y).map(move |x| [x, y]));
    let circuits: Vec<_> = gates
        .map(|[x, y]| {
            let path = circuit_of("pairs", &format!("1 11\n2 5 5\n1 1\n\n2 1 {x} {y} 10 AND\n"));
            ([x, y], Arc::new(hold(path, adder, false).unwrap()))
        })
        .collect();
    let begins: BTreeSet<u8> = circuits.iter().map(|(_, circuit)| circuit.digest()[0]).collect();
    assert!(begins.len() < circuits.len());
    for engine in all() {
        let base = EngineSettings { security: engine.profile().security, ..EngineSettings::default() };
        for between in [Between::Client, Between::with_all_to(both.clone(), &both, 1)] {
            let job = |circuit: &Arc<_>| {
                let (circuit, between) = (Arc::clone(circuit), between.clone());
                JobSpec::Circuit(CircuitJob { circuit, adder, between, count: 1 })
            };
            let digests = |circuit| compared(engine, &job(circuit), &base, 1);
            all_differ(engine.name(), circuits.iter().map(|(wires, circuit)| (wires, digests(circuit))));
        }
    }
}

/// Where parties encrypt files without a client, so has a file of another cipher or length, or with other
/// settings.
#[test]
fn files_that_differ_have_other_parameters() {
    let mut engines = Vec::new();
    for engine in all() {
        let Some(Demonstration::Parties(of)) = engine.demonstration() else { continue };
        let digests = |cipher, settings: &EngineSettings, bytes| {
            let prepared = of.prepare_file(settings, cipher).ok()?;
            Some(vec![prepared.parameters(bytes).digest()])
        };
        let mut differed = BTreeSet::new();
        for base in bases(engine) {
            let name = format!("{}, files, {base:?}", engine.name());
            all_differ(&name, ciphers().map(|cipher| (cipher, digests(cipher, &base, 16))));
            for cipher in ciphers().filter(|cipher| digests(*cipher, &base, 16).is_some()) {
                let lengths = [16, 32, 272, 65_552].into_iter();
                all_differ(&name, lengths.map(|bytes| (bytes, digests(cipher, &base, bytes))));
                let differs = |(option, values): &(&'static str, Vec<(String, EngineSettings)>)| {
                    let seen = values.iter().map(|(value, with)| (value, digests(cipher, with, 16)));
                    !is_apart(engine, "files", option) && all_differ(&format!("{name}, {option}"), seen) > 1
                };
                let options = settings(engine, &base).into_iter().filter(differs);
                differed.extend(options.map(|(option, _)| option));
            }
        }
        engines.push((engine.name(), differed));
    }
    let options = ["statistical", "protocol", "prep", "field", "k"];
    assert_eq!(engines, [("spdz", BTreeSet::from(options))]);
}
