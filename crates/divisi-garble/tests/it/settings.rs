//! The settings of the engine, from its options, as its jobs report them.

use divisi_circuit::{Build, Gates};
use divisi_core::{PartyId, Security};
use divisi_engine::circuit::{HeldCircuit, NamedCircuit};
use divisi_engine::job::{Between, CircuitJob, JobSpec};
use divisi_engine::{Engine, EngineSettings, prepare};
use divisi_garble::adapter::GarbleEngine;
use divisi_symmetric::gates::Adder;
use serde_json::{Value, json};
use std::sync::Arc;

/// Evaluations of a chain of ANDs.
fn job(ands: usize, count: usize) -> JobSpec {
    let mut g = Build::new();
    let input = Build::input(&mut g, 2);
    let out = (0..ands).fold(input[0], |x, _| {
        let not = g.not(x);
        g.and(not, input[1])
    });
    g.output(&[out]);
    let circuit = NamedCircuit { name: "chain".into(), program: g.finish(), file: None };
    let circuit = Arc::new(HeldCircuit::Program(circuit));
    let between = Between::with_all_to(vec![PartyId::P1], &[PartyId::P2], 1);
    JobSpec::Circuit(CircuitJob { circuit, adder: Adder::FewestAnds, between, count })
}

pub fn facts(job: &JobSpec, settings: &EngineSettings) -> Vec<Value> {
    let facts = prepare(&GarbleEngine, job, settings).unwrap().facts();
    ["form", "k", "base_ot", "statistical_bits", "streamed"].map(|name| facts[name].clone()).to_vec()
}

#[test]
fn settings_are_read_as_they_were_meant() {
    let default = EngineSettings::default();
    let settings =
        default.clone().among(5).with("form", "paper").with("base-ot", "both").with("streamed", "");
    let settings = EngineSettings { statistical: Some(64), ..settings.with("k", 3).with("budget", 7) };
    let job = job(1, 1);
    assert_eq!(prepare(&GarbleEngine, &job, &settings).unwrap().parties(), 5);
    assert_eq!(prepare(&GarbleEngine, &job, &default).unwrap().parties(), 3);
    let all = |all: [Value; 5]| all.to_vec();
    let meant = [json!("paper"), json!(3), json!("both"), json!(64), json!(true)];
    assert_eq!(facts(&job, &settings), all(meant));
    let meant = [json!("improved"), json!(4), json!("half"), json!(40), json!(false)];
    assert_eq!(facts(&job, &default), all(meant));
}

/// The budget is in MiB, 1024 by default; the streamed mode has no need of it.
#[test]
fn tables_above_the_budget_are_refused() {
    let (large, default) = (job(1 << 17, 1), EngineSettings::default());
    let narrow = default.clone().with("budget", 1);
    let refused = prepare(&GarbleEngine, &large, &narrow).map(drop).unwrap_err();
    assert!(refused.reason.contains("1048576 are allowed"), "{refused}");
    for wide in [narrow.with("streamed", ""), default] {
        assert!(prepare(&GarbleEngine, &large, &wide).is_ok());
    }
}

#[test]
fn k_is_chosen_by_the_amount_unless_it_was_given() {
    let k = |count, settings: &EngineSettings| facts(&job(1, count), settings)[1].clone();
    let (open, given) = (EngineSettings::default(), EngineSettings::default().with("k", 2));
    assert_eq!([k((1 << 18) - 1, &open), k(1 << 18, &open)], [json!(4), json!(5)]);
    assert_eq!(k(1 << 20, &given), json!(2));
}

#[test]
fn what_cannot_be_is_refused() {
    let default = EngineSettings::default();
    for bad in [
        default.clone().with("k", 0),
        default.clone().with("k", 9),
        default.clone().with("k", "x"),
        default.clone().with("form", "round"),
        default.clone().with("base-ot", "none"),
        EngineSettings { statistical: Some(39), ..default.clone() },
        EngineSettings { threads: 2, ..default.clone() },
        EngineSettings { security: Security::SemiHonest, ..default.clone() },
    ] {
        assert!(GarbleEngine.check(&bad).is_err(), "{bad:?}");
    }
}
