//! The benchmark's figures: the paper's counts to the bit, the fields that scripts rely on, emulated networks, many strands.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi::bench::{self, CHUNK, Options, Phase, Report};
use divisi::calibrate::Calibration;
use divisi::cleanup::Cleanup;
use divisi_core::Direction;
use divisi_rep3::{Protocol, Security};
use divisi_symmetric::aes::KeySize;
use std::path::Path;

const CALIBRATION: Calibration = Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 };

fn run(options: &Options) -> Report {
    let program = Path::new(env!("CARGO_BIN_EXE_divisi"));
    bench::aes(options, program, CALIBRATION, &Cleanup::new(), &|_, _| {}).unwrap()
}

fn phase(report: &Report, name: &str) -> Phase {
    report.phases.iter().find(|(n, _)| *n == name).unwrap().1
}

#[test]
fn cost_of_a_block_is_the_papers() {
    // MAESTRO, Table 1 for the bits; four products in sequence make 40 rounds of gf4-circuit, as in Table 3.
    for (protocol, bits, rounds) in [(Protocol::Gf8Circuit, 5120, 30), (Protocol::Gf4Circuit, 3200, 40)] {
        for key in KeySize::ALL {
            let direction = if key == KeySize::Aes192 { Direction::Decrypt } else { Direction::Encrypt };
            let blocks = 600;
            let options = Options {
                protocol,
                security: Security::SemiHonest,
                key,
                direction,
                blocks,
                reps: 1,
                warmup: 0,
                ..Options::default()
            };
            let report = run(&options);
            let online = phase(&report, "online");
            let aes_rounds = key.rounds() as u64;
            assert_eq!(online.bits * 10, blocks * bits * aes_rounds, "{options:?}");
            assert_eq!(u64::from(online.rounds) * 10, rounds * aes_rounds, "{options:?}");
            assert_eq!(
                (phase(&report, "preprocessing"), phase(&report, "verification").bits),
                (Phase::default(), 0)
            );
            assert_eq!(report.verification_error_bits, None);
        }
    }
}

#[test]
fn verification_adds_little_to_a_chunk_and_says_its_error() {
    let sent = |blocks| {
        let report = run(&Options { blocks, reps: 1, warmup: 0, ..Options::default() });
        assert!(report.verification_error_bits.unwrap() >= 57.0 && report.checks["A7"] > 0);
        assert_eq!(phase(&report, "online").bits, blocks * 3200);
        phase(&report, "verification").bits
    };
    let (small, large) = (sent(64), sent(CHUNK as u64));
    // Sixty-four times the products: a fixed number of field elements for each of the six doublings.
    assert!(small < large && large - small <= 6 * 1024, "{small} {large}");
}

#[test]
fn many_strands_compute_what_one_does() {
    let blocks = 5 * CHUNK as u64 + 77;
    let options = Options { blocks, threads: 3, reps: 2, warmup: 1, ..Options::default() };
    let report = run(&options);
    assert_eq!((report.chunks, phase(&report, "online").bits), (6, blocks * 3200));
    assert_eq!(phase(&report, "online").rounds, 40, "the rounds of one chunk");
    assert!(report.online_per_second() > 0.0 && report.total_per_second() > 0.0);
}

#[test]
fn an_emulated_network_takes_its_time() {
    let options = Options {
        blocks: 512,
        security: Security::SemiHonest,
        reps: 1,
        warmup: 0,
        rtt_ms: Some(10.0),
        rate_mbit: Some(10.0),
        ..Options::default()
    };
    let online = phase(&run(&options), "online");
    // 40 rounds of half a round trip each, and 512 blocks of 3,200 bits at 10 Mbit/s.
    let least = 40.0 * 0.005 + 512.0 * 3200.0 / 10e6;
    assert!(online.seconds >= least && online.seconds < 4.0 * least, "{} {least}", online.seconds);
}

#[test]
fn json_has_every_field_that_scripts_rely_on() {
    let json = run(&Options { blocks: 10, reps: 1, warmup: 0, ..Options::default() }).to_json();
    let fields = [
        "schema",
        "engine",
        "protocol",
        "mode",
        "algorithm",
        "circuit",
        "security",
        "direction",
        "key_bits",
        "message_bytes",
        "parties",
        "count",
        "unit",
        "threads",
        "reps",
        "warmup",
        "chunks",
        "rtt_ms",
        "rate_mbit",
        "connect_seconds",
        "phases",
        "online_per_second",
        "total_per_second",
        "peak_rss_bytes_per_party",
        "statistical_bits",
        "verification_error_bits",
        "checks",
        "kernel",
        "calibration",
        "checked",
    ];
    let object = json.as_object().unwrap();
    assert!(fields.iter().all(|field| object.contains_key(*field)) && object.len() == fields.len(), "{json}");
    let phases = json["phases"].as_array().unwrap();
    let names: Vec<_> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["setup", "preprocessing", "online", "verification"]);
    for field in ["seconds", "cpu_seconds_per_party", "bits_sent_per_party", "bytes_sent_per_party", "rounds"]
    {
        assert!(phases.iter().all(|phase| phase[field].is_number()), "{field}");
    }
    for field in ["aes_ctr_gb_s", "loopback_gbit_s", "clmul_ns"] {
        assert!(json["calibration"][field].is_number(), "{field}");
    }
    #[cfg(target_os = "linux")]
    assert!((1 << 20..512 << 20).contains(&json["peak_rss_bytes_per_party"].as_u64().unwrap()));
    assert!(json["checks"]["A15"].is_u64() && json["checks"]["M0.4"].is_u64(), "{json}");
}
