//! Lookups by three factors, measured side by side with lookups by two.

use super::{BenchOptions, BenchReport};
use crate::engine::members;
use serde_json::{Map, Value, json};

/// Two claims of MARLUT (IACR ePrint, November 2025) about preprocessing for tables of 2^16 entries,
/// semi-honest: how many times fewer bytes, and how many times less computation, three factors need than two.
/// Its lookups over GF(2^k) were not run here, so these are claims and not measurements.
pub const CLAIMED: [f64; 2] = [3.23, 5.95];

impl BenchOptions {
    /// The number of factors of the one-hot vectors, if lookups are measured and this table allows them.
    #[must_use]
    pub fn factors(&self) -> Option<u64> {
        let engine = self.engine().ok()?;
        let prepared = crate::engine::prepare(engine, &self.job, &self.settings()).ok()?;
        prepared.facts().get("dimensions")?.as_u64()
    }
}

/// The costs of one lookup for a party.
struct Each {
    per_second: f64,
    ahead_bits: f64,
    ahead_cpu_us: f64,
    bits: f64,
    cpu_us: f64,
}

impl Each {
    fn of(report: &BenchReport) -> Each {
        let (measured, count) = (&report.measured, report.measured.count as f64);
        let [ahead, online, verification] =
            ["preprocessing", "online", "verification"].map(|name| measured.phase(name));
        Each {
            per_second: report.total_per_second(),
            ahead_bits: ahead.bits as f64 / count,
            ahead_cpu_us: ahead.cpu_seconds * 1e6 / count,
            bits: (ahead.bits + online.bits) as f64 / count,
            cpu_us: (ahead.cpu_seconds + online.cpu_seconds + verification.cpu_seconds) * 1e6 / count,
        }
    }

    fn json(&self) -> Value {
        json!({
            "total_per_second": self.per_second,
            "bits_ahead": self.ahead_bits,
            "cpu_us_ahead": self.ahead_cpu_us,
            "bits_ahead_and_online": self.bits,
            "cpu_us": self.cpu_us,
        })
    }

    fn line(&self, name: &str) -> String {
        format!(
            "{name}: {:.0} items/s in all; ahead {:.1} bits and {:.3} us of CPU an item; ahead and online {:.1} bits; \
             CPU in all {:.3} us",
            self.per_second, self.ahead_bits, self.ahead_cpu_us, self.bits, self.cpu_us
        )
    }
}

/// The comparison of both, for JSON and for people: figures for one item and party; how many times more two
/// factors cost ahead; and, for bits ahead and online and for CPU in all, the cost of three factors as a
/// fraction of that of two.
#[must_use]
pub fn beside(three: &BenchReport, two: &BenchReport) -> (Map<String, Value>, String) {
    let [ours, theirs] = [three, two].map(Each::of);
    let times = |ours: f64, theirs: f64| if ours > 0.0 { theirs / ours } else { 0.0 };
    let ratios = [
        times(ours.ahead_bits, theirs.ahead_bits),
        times(ours.ahead_cpu_us, theirs.ahead_cpu_us),
        times(theirs.bits, ours.bits),
        times(theirs.cpu_us, ours.cpu_us),
    ];
    let [bits_ahead, cpu_ahead, bits, cpu] = ratios;
    let [bytes, computation] = CLAIMED;
    let json = members(json!({
        "three_factors": ours.json(),
        "two_factors": theirs.json(),
        "three_beside_two": {
            "bits_ahead_times_fewer": bits_ahead,
            "cpu_ahead_times_less": cpu_ahead,
            "bits_ahead_and_online": bits,
            "cpu": cpu,
        },
        "claimed_by_marlut": {
            "bits_ahead_times_fewer": bytes,
            "cpu_ahead_times_less": computation,
            "measured": false,
        },
    }));
    let text = format!(
        "{}\n{}\nthree factors compared with two: ahead {bits_ahead:.2} times fewer bits, {cpu_ahead:.1} times less CPU; ahead and online \
         {bits:.3} of the bits; {cpu:.3} of the CPU in all\n\
         MARLUT claims {bytes} times fewer bytes and {computation} times less computation ahead (semi-honest); \
         this was not measured",
        ours.line("by three factors"),
        theirs.line("by two"),
    );
    (json, text)
}
