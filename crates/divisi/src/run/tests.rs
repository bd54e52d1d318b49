//! What a run makes of what its parties report.

use super::*;
use crate::circuit::hold;
use divisi_core::PhaseCounts;

/// The report of party `number`, which learned these wires, with costs in two phases.
fn reported(number: u8, wires: Option<Vec<u8>>, costs: [u64; 3]) -> (PartyId, PartyReport) {
    let of = |part: u64| PhaseCounts {
        bits: costs[0] / part,
        bytes: costs[1] / part,
        rounds: (costs[2] / part) as u32,
    };
    let phases = [("online", of(1)), ("set-up", of(2))].into();
    let outcome = Outcome { outputs: wires.map(Own::new), counts: Counts { phases, ..Counts::default() } };
    (PartyId::new(number).unwrap(), PartyReport::new(&outcome, f64::from(number)))
}

/// The report has the largest sum of each cost, and what two receivers learned is the same to the last wire.
#[test]
fn receivers_that_learn_different_values_end_a_run() {
    let engine = engine::by_default();
    let parties: Vec<PartyId> = PartyId::all(3).collect();
    let options = RunOptions {
        circuit: Arc::new(hold("aes128", Adder::FewestAnds, false).unwrap()),
        adder: Adder::FewestAnds,
        inputs: Vec::new(),
        first_bit_first: false,
        receivers: vec![vec![parties[0], parties[2]]],
        engine,
        settings: EngineSettings::default(),
        timeout: None,
    };
    let wires = vec![1; 128];
    let of = |last: Vec<u8>| {
        let reports = vec![
            reported(1, Some(wires.clone()), [30, 20, 4]),
            reported(2, None, [20, 40, 2]),
            reported(3, Some(last), [10, 10, 8]),
        ];
        report(&options, Map::new(), reports)
    };
    let whole = of(wires.clone()).unwrap();
    assert_eq!(whole.outputs, [Some("ff".repeat(16))]);
    assert_eq!((whole.seconds, whole.bits_sent, whole.bytes_sent, whole.rounds), (3.0, 45, 60, 12));
    for wire in [0, 64, 127] {
        let mut other = wires.clone();
        other[wire] = 0;
        let Err(refused) = of(other) else { panic!("two values for one output") };
        assert!(refused.error.contains("learned different outputs"), "{refused}");
    }
}
