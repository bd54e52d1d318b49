//! Reports made up for tests of the pages.

use super::machine::{Meanwhile, MeasuredOn};
use crate::bench::{BenchOptions, BenchReport, median};
use crate::calibrate::Calibration;
use crate::engine::{Measured, Phase, Took};
use serde_json::Map;
use std::collections::BTreeMap;

/// A report with the seconds of each phase in each repetition; half of the time is processor time.
pub fn report(options: &BenchOptions, seconds: &[&[f64]]) -> BenchReport {
    let engine = options.engine().unwrap();
    let clocks = engine.phases(&options.settings());
    let middle = |place: usize| median(seconds.iter().map(|times| times[place]).collect());
    let phase = |(place, seconds): (usize, f64)| {
        let phase = Phase { seconds, cpu_seconds: seconds / 2.0, bits: 40_000, bytes: 5_000, rounds: 40 };
        (clocks[place].name, phase)
    };
    let took = |seconds: &f64| Took { seconds: *seconds, cpu_seconds: seconds / 2.0 };
    let measured = Measured {
        settings: options.settings(),
        about: options.job.about(),
        count: options.count(),
        unit: options.job.unit(),
        facts: Map::new(),
        parties: options.parties.unwrap_or(3),
        reps: seconds.len(),
        connect_seconds: 0.5,
        clocks,
        phases: (0..clocks.len()).map(|place| (place, middle(place))).map(phase).collect(),
        repetitions: seconds.iter().map(|times| times.iter().map(took).collect()).collect(),
        bytes_by_party: Vec::new(),
        peak_rss_bytes: Some(1_234 << 20),
        verification_error_bits: Some(58.4),
        computational_bits: None,
        checks: BTreeMap::new(),
        kernel: "portable".into(),
        calibration: calibration(),
    };
    let (json, page) = (engine.report(&measured), engine.page(&measured));
    BenchReport { options: options.clone(), measured, json, page }
}

/// Some calibration.
pub fn calibration() -> Calibration {
    Calibration { aes_ctr_gb_s: 12.3, loopback_gbit_s: 34.5, clmul_ns: 0.25 }
}

/// Some machine.
pub fn host() -> MeasuredOn {
    MeasuredOn {
        processor: "Some(R) Processor @ 2.60GHz".into(),
        cores: 2,
        memory_bytes: Some(8 << 30),
        system: "linux 6.1".into(),
    }
}

/// A machine on which others took this share of the cores.
pub fn meanwhile(others: f64) -> Meanwhile {
    Meanwhile { load: [Some(0.25), Some(2.5)], others_share: Some(others) }
}
