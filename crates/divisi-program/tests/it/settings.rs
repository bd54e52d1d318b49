//! The settings of the engine, from its options.

use divisi_bgv::parameters::{Hardness, security};
use divisi_core::{PublicParameters, Security, local};
use divisi_engine::job::EngineJob;
use divisi_engine::{Engine, EngineSettings, Rows, Unwatched};
use divisi_mixed::adders::NumberAdder;
use divisi_mpgc::parameters::{BITS, DIMENSION};
use divisi_ot::SetupConfig;
use divisi_program::NumberSize;
use divisi_program::adapter::MixedEngine;
use divisi_program::adapter::jobs::ProgramJob;
use divisi_program::adapter::manner::{INSECURE, Manner};
use divisi_program::form::BitForm;
use divisi_program::operations::{Op, OperationJob};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[test]
fn what_does_not_fit_is_refused() {
    let default = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() };
    assert_eq!(
        Manner::new(&default.clone().among(7)).unwrap(),
        Manner {
            parties: 7,
            config: SetupConfig::default(),
            form: None,
            insecure: false,
            circuits: None,
            adder: None
        }
    );
    assert_eq!(Manner::new(&default.clone().with(Manner::K, 2)).unwrap().config.k, 2);
    for wrong in [
        EngineSettings::default(),
        EngineSettings { threads: 2, ..default.clone() },
        EngineSettings { statistical: Some(40), ..default.clone() },
        default.clone().with(Manner::K, 9),
        default.clone().with(Manner::K, "x"),
        default.clone().with("streamed", ""),
        default.clone().with(Manner::PROTOCOL, "yao"),
        default.clone().with(Manner::ADDER, "ripple"),
    ] {
        assert!(Manner::new(&wrong).is_err());
    }
    let adding = Manner::new(&default.clone().with(Manner::ADDER, "low-depth")).unwrap();
    assert_eq!(adding.adder, Some(NumberAdder::LowDepth));
    assert!(adding.without_adder().is_err());
    let garbled = Manner::new(&default.with(Manner::PROTOCOL, "mpgc")).unwrap();
    assert!(garbled.without_adder().is_ok());
    assert!(garbled.is_garbled() && garbled.of_circuits().is_ok());
    assert!(garbled.without_circuits().is_err());
}

fn operation(op: Op) -> OperationJob {
    OperationJob { op, numbers: NumberSize::default(), bits: 8, entries: 4, private: false, count: 1 }
}

/// Programs on bits with a garbled circuit, of which the second makes numbers of bits, too, and programs that
/// do this or multiply, and nothing else.
fn programs() -> [ProgramJob; 4] {
    // several tests write and read the same files
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let circuit = dir.join("settings-and.txt");
    std::fs::write(&circuit, "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n").unwrap();
    let both = format!("input x 1 bits 1\ninput y 2 bits 1\nc = garbled {} x y\n", circuit.display());
    let products = "input x 1 num in 0..9\ny = mul x x\noutput y 1\n".to_owned();
    [
        ("settings-bits.txt", format!("{both}output c 1\n")),
        ("settings-numbers.txt", format!("{both}n = num c\noutput n 1\n")),
        ("settings-products.txt", products),
        ("settings-converted.txt", "input x 1 bits 9\ny = num x\noutput y 1\n".to_owned()),
    ]
    .map(|(name, body)| {
        let path = dir.join(name);
        std::fs::write(&path, format!("divisi program 1\n{body}")).unwrap();
        ProgramJob::load(&path.into_os_string().into(), None, 1).unwrap()
    })
}

/// Settings with which a job is done otherwise have other parameters, which parties compare before they
/// begin: where these are the same, so is what the job says of itself.
#[test]
fn whatever_differs_is_agreed_on() {
    let default = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() }.among(3);
    let mut all = vec![default.clone(), default.clone().with(Manner::K, 2)];
    for adder in NumberAdder::ALL {
        all.push(default.clone().with(Manner::ADDER, adder.name()));
    }
    for form in BitForm::ALL {
        let of_form = default.clone().with(Manner::FORM, form.name());
        // these have ciphertexts
        if form != BitForm::Cot {
            all.push(of_form.clone().with(INSECURE, ""));
        }
        all.push(of_form);
    }
    let operations = [Op::A2b, Op::B2a].map(operation);
    let programs = programs();
    let jobs = programs.iter().map(|job| job as &dyn EngineJob);
    for (number, job) in jobs.chain(operations.iter().map(|job| job as &dyn EngineJob)).enumerate() {
        let mut found = BTreeMap::new();
        for settings in &all {
            let Ok(prepared) = MixedEngine.jobs().own.unwrap().prepare(job, settings) else { continue };
            let facts = prepared.facts();
            let agreed: Vec<[u8; 32]> = prepared.agreement().into_iter().map(|(_, digest)| digest).collect();
            for agreed in
                [vec![prepared.parameters(1).digest()], agreed].into_iter().filter(|all| !all.is_empty())
            {
                let same = found.entry(agreed).or_insert_with(|| facts.clone());
                assert_eq!(
                    *same, facts,
                    "job {number}: {:?} is done otherwise, and not agreed on",
                    settings.own
                );
            }
        }
        assert!(found.len() >= 8, "job {number}: {}", found.len());
    }
}

/// Whatever a job computes, it says whether lattices are those of tests.
#[test]
fn insecure_lattices_are_said_to_be() {
    let default = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() }.among(3);
    let (programs, operations) = (programs(), [Op::A2b, Op::B2a, Op::TripleArith].map(operation));
    let jobs = programs.iter().map(|job| job as &dyn EngineJob);
    for (number, job) in jobs.chain(operations.iter().map(|job| job as &dyn EngineJob)).enumerate() {
        for form in [None, Some("lean-tree")] {
            let said = [false, true].map(|insecure| {
                let of_form = form.map_or(default.clone(), |form| default.clone().with(Manner::FORM, form));
                let settings = if insecure { of_form.with(INSECURE, "") } else { of_form };
                let prepared = MixedEngine.jobs().own.unwrap().prepare(job, &settings);
                prepared.ok().map_or(insecure, |prepared| prepared.facts()["insecure"] == true)
            });
            assert_eq!(said, [false, true], "job {number}, {form:?}");
        }
    }
}

/// With a larger k, less is sent: the option comes to the transfers of each job.
#[test]
fn k_comes_to_the_transfers() {
    let default = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() }.among(2);
    let default = default.with(Manner::FORM, "cot");
    let b2a = OperationJob {
        op: Op::B2a,
        numbers: NumberSize::default(),
        bits: 8,
        entries: 4,
        private: false,
        count: 64,
    };
    let [bits, ..] = programs();
    for job in [&bits as &dyn EngineJob, &b2a] {
        let sent = [2, 8].map(|k| {
            let settings = default.clone().with(Manner::K, k);
            let prepared = MixedEngine.jobs().own.unwrap().prepare(job, &settings).unwrap();
            let mut rows = Rows::default();
            (0..job.count()).for_each(|_| rows.push(&[&vec![0; job.input_bytes()]]));
            let own = prepared.deal(&rows);
            let sent = local::run(2, &PublicParameters::new("k"), |session| {
                let own = &own[session.me().index()];
                let mut member = prepared.start(session, job.count(), own)?;
                member.batch(job.count(), own, &mut Unwatched)?;
                Ok(member.meter().phases["preprocessing"].bits)
            });
            sent.unwrap()[0]
        });
        assert!(sent[1] < sent[0] && sent[1] > 0, "{sent:?}");
    }
}

/// No ring is claimed to be harder than it is, and the least of all is.
#[test]
fn the_hardness_of_the_weakest_ring_is_claimed() {
    let claim = (MixedEngine.profile().claims)().remove(0).computational;
    let (_, text) = claim.split_once("at least ").unwrap();
    let numbers: Vec<f64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
    let rings = security::LIMITS.into_iter().filter_map(|(n, log2_q)| Hardness::of(n, log2_q));
    let rings: Vec<Hardness> = rings.chain(Hardness::of(DIMENSION, f64::from(BITS))).collect();
    let floors = |bits: fn(&Hardness) -> f64| rings.iter().map(|ring| bits(ring).floor()).collect::<Vec<_>>();
    for (claimed, floors) in
        numbers.iter().zip([floors(Hardness::core_svp_bits), floors(Hardness::core_svp_quantum_bits)])
    {
        assert!(floors.iter().all(|bits| bits >= claimed) && floors.contains(claimed), "{claim}: {floors:?}");
    }
    assert!(numbers.len() == 2 && rings.len() > 2);
}
