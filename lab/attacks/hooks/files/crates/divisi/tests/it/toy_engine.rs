//! An engine that was added as CONTRIBUTING says, a crate and three lines: everything that asks the registry
//! has it.

use divisi::engine::job::{Between, CircuitJob, DigestsJob, JobSpec};
use divisi::engine::{self, EngineSettings, Rows, together};
use divisi_net::PartyId;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::gates::Adder;
use std::sync::Arc;

#[test]
fn an_engine_is_a_crate_and_three_lines() {
    let toy = engine::named("toy").unwrap();
    let settings = EngineSettings::default().among(4);
    let dir = tempfile::tempdir().unwrap();
    // z = x + y of three bits each without carries, and y's first bit turned
    let xors = "4 10\n2 3 3\n2 3 1\n\n2 1 0 3 6 XOR\n2 1 1 4 7 XOR\n2 1 2 5 8 XOR\n1 1 3 9 INV\n";
    let file = dir.path().join("xors");
    std::fs::write(&file, xors).unwrap();
    let circuit = divisi::circuit::hold(file.into_os_string(), Adder::FewestAnds, false).unwrap();
    let owners = vec![PartyId::P3, PartyId::P2];
    let between = Between::with_all_to(owners, &[PartyId::P1], 2);
    let job = JobSpec::Circuit(CircuitJob {
        circuit: Arc::new(circuit),
        adder: Adder::FewestAnds,
        between,
        count: 1,
    });
    let prepared = engine::prepare(toy, &job, &settings).unwrap();
    let mut inputs = Rows::default();
    // x = 5, y = 3, the first bit of each value first
    inputs.push(&[&[0b011_101]]);
    let (outputs, _) = together(&*prepared, &[], &inputs).unwrap();
    assert_eq!(outputs, [0b0_110]);

    // what it does not give is refused with the name of one that has it, and its option is its own
    let using = Settings::new("sha256".parse().unwrap());
    let hash = JobSpec::Digests(DigestsJob { using, message_bytes: 3, count: 1 });
    let refused = engine::prepare(toy, &hash, &settings).err().unwrap().reason;
    assert!(refused.contains("toy") && refused.contains("--engine rep3"), "{refused}");
    let other = engine::named("garble").unwrap();
    let refused = engine::check(other, &EngineSettings::default().with("times", 2)).unwrap_err().reason;
    assert!(refused.contains("--times belongs to the engine toy"), "{refused}");
}
