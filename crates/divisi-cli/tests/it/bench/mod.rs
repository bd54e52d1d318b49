//! The benchmark's figures: the paper's counts to the bit, the fields that scripts rely on, emulated
//! networks, many strands.

mod messages;

use crate::has;
use crate::program::{command, measure as run, measured as phase, phases, told};
use divisi::bench::{BenchOptions, BenchReport, Phase};
use divisi::calibrate::VARIABLE;
use divisi::engine::job::{Cipher, JobSpec, LookupJob};
use divisi::mode::Priority;
use divisi_core::Direction;
use divisi_fuzz::repetitions;
use divisi_rep3::{Protocol, Security};
use divisi_symmetric::aes::KeySize;

/// MAESTRO, Table 1: bits of a block made ahead and online, and rounds online. Four products in sequence make
/// 40 rounds of gf4-circuit, as in Table 3; a chain of additive layers has one round more than layers.
const COSTS: [(Protocol, u64, u64, u32); 5] = [
    (Protocol::Gf8Circuit, 0, 5120, 30),
    (Protocol::Gf4Circuit, 0, 3200, 40),
    (Protocol::Lut16, 1760, 2560, 20),
    (Protocol::Lut256, 39520, 1280, 10),
    (Protocol::Lut256Additive, 3520, 2560, 11),
];

#[test]
fn cost_of_a_block_is_the_papers() {
    assert!(COSTS.iter().map(|(protocol, ..)| protocol).eq(Protocol::ALL));
    for (protocol, ahead, bits, rounds) in COSTS {
        for key in KeySize::ALL {
            let direction = if key == KeySize::Aes192 { Direction::Decrypt } else { Direction::Encrypt };
            let blocks = 600;
            let options = BenchOptions {
                choice: protocol.into(),
                security: Security::SemiHonest,
                reps: 1,
                warmup: 0,
                ..BenchOptions::default()
            }
            .of_blocks(Cipher::Aes(key), direction, blocks);
            let report = run(&options);
            let (preprocessing, online) = (phase(&report, "preprocessing"), phase(&report, "online"));
            let layers = key.rounds() as u64;
            assert_eq!(preprocessing.bits * 10, blocks * ahead * layers, "{options:?}");
            assert_eq!(online.bits * 10, blocks * bits * layers, "{options:?}");
            let end = rounds % 10; // of the chain, however long
            assert_eq!(u64::from(online.rounds - end) * 10, u64::from(rounds - end) * layers, "{options:?}");
            assert_eq!(phase(&report, "verification").bits, 0);
            assert_eq!(report.measured.verification_error_bits, None);
            // what is made ahead is made for all rounds at once
            if protocol.has_vectors() {
                assert!((1..=4).contains(&preprocessing.rounds) && preprocessing.seconds > 0.0);
                assert!(preprocessing.cpu_seconds > 0.0 && preprocessing.bytes * 8 > preprocessing.bits);
                assert!(report.total_per_second() < report.online_per_second());
            } else {
                assert_eq!(preprocessing, Phase::default());
                assert!(report.total_per_second() == report.online_per_second());
            }
        }
    }
}

#[test]
fn verification_adds_little_to_a_chunk_and_says_its_error() {
    for (protocol, ahead, bits, rounds) in COSTS {
        let sent = |blocks| {
            let choice = protocol.into();
            let options = BenchOptions { choice, reps: 1, warmup: 0, ..BenchOptions::default() };
            let report = run(&options.counted(blocks));
            assert!(
                report.measured.verification_error_bits.unwrap() >= 57.0 && report.measured.checks["A7"] > 0
            );
            let online = phase(&report, "online");
            assert_eq!((online.bits, online.rounds), (blocks * bits, rounds), "{protocol}");
            let verified = phase(&report, "preprocessing").bits - blocks * ahead;
            assert_eq!(verified > 0, protocol.has_vectors());
            verified + phase(&report, "verification").bits
        };
        let (small, large) = (sent(64), sent(1024));
        // Sixteen times the products: a fixed number of field elements for each of the four doublings, of at
        // most two calls.
        assert!(small < large && large - small <= 2 * 4 * 1024, "{protocol} {small} {large}");
    }
}

#[test]
fn many_strands_compute_what_one_does() {
    for (protocol, ahead, bits, rounds) in COSTS {
        let choice = protocol.into();
        let mut options = BenchOptions { choice, threads: 3, reps: 2, warmup: 1, ..BenchOptions::default() };
        options.security = Security::SemiHonest;
        let blocks = 5 * options.chunk().unwrap() as u64 + 77;
        options = options.counted(blocks);
        let report = run(&options);
        assert_eq!(
            (report.measured.number("chunks"), phase(&report, "online").bits),
            (6, blocks * bits),
            "{protocol}"
        );
        assert_eq!(phase(&report, "online").rounds, 2 * rounds, "two chunks of a strand");
        let preprocessing = phase(&report, "preprocessing");
        assert_eq!(preprocessing.bits, blocks * ahead, "{protocol}");
        assert_eq!(preprocessing.seconds > 0.0, protocol.has_vectors());
        assert!(report.online_per_second() > 0.0 && report.total_per_second() > 0.0);
    }
}

#[test]
fn many_strands_verify_what_they_make_ahead() {
    for mode in Priority::ALL {
        let options = BenchOptions { choice: mode.into(), threads: 2, reps: 1, ..BenchOptions::default() };
        let blocks = 2 * options.chunk().unwrap() as u64 + 808;
        let report = run(&options.counted(blocks));
        assert!(report.measured.verification_error_bits.unwrap() >= 57.0, "{mode}");
        has!(report.to_json(), "mode": mode.name(), "chunks": 3, "protocol": mode.protocol().name());
    }
}

#[test]
fn an_emulated_network_takes_its_time() {
    let options = BenchOptions {
        security: Security::SemiHonest,
        reps: 1,
        warmup: 0,
        rtt_ms: Some(10.0),
        rate_mbit: Some(10.0),
        ..BenchOptions::default()
    }
    .counted(512);
    // 40 rounds of half a round trip each, and 512 blocks of 3,200 bits at 10 Mbit/s.
    let least = 40.0 * 0.005 + 512.0 * 3200.0 / 10e6;
    // a busy machine may delay a run, and not each of three
    let is_soon = |seconds: &f64| *seconds < 4.0 * least;
    let mut took: Vec<f64> = Vec::new();
    while took.len() < 3 && !took.last().is_some_and(is_soon) {
        took.push(phase(&run(&options), "online").seconds);
    }
    assert!(took.iter().all(|seconds| *seconds >= least), "{took:?} {least}");
    assert!(took.last().is_some_and(is_soon), "{took:?} {least}");
}

/// Repetitions of one chunk share a session: each costs what one alone does, its session's setup included.
#[test]
fn a_repetition_in_a_session_that_serves_many_costs_what_one_alone_does() {
    for (protocol, ..) in COSTS {
        let options = BenchOptions { choice: protocol.into(), warmup: 0, ..BenchOptions::default() };
        let options = options.counted(1);
        let repeated = BenchOptions { reps: 7, warmup: 1, ..options.clone() };
        let (one, many) = (run(&BenchOptions { reps: 1, ..options }), run(&repeated));
        for ((name, one), (_, many)) in one.measured.phases.iter().zip(&many.measured.phases) {
            let counts = |phase: &Phase| (phase.bits, phase.bytes, phase.rounds);
            assert_eq!(counts(one), counts(many), "{protocol} {name}");
        }
        assert_eq!(
            (&one.measured.checks, one.measured.verification_error_bits),
            (&many.measured.checks, many.measured.verification_error_bits)
        );
        assert!(phase(&many, "setup").bits > 0 && phase(&many, "setup").seconds > 0.0);
        // of one repetition: that of all seven is seven times as long; where a busy machine delays most of
        // them, they are measured again
        let ratio = |many: &BenchReport| {
            many.latency_seconds() / (phase(many, "online").seconds + phase(many, "verification").seconds)
        };
        let fits = |ratio: &f64| (0.2..5.0).contains(ratio);
        let mut ratios = vec![ratio(&many)];
        while ratios.len() < 3 && !ratios.last().is_some_and(fits) {
            ratios.push(ratio(&run(&repeated)));
        }
        assert!(ratios.last().is_some_and(fits), "{protocol}: {ratios:?}");
    }
}

#[test]
fn as_many_bits_are_reached_as_are_asked_for() {
    // a circuit and a table, and every night all
    for &(protocol, _, bits, _) in repetitions(&COSTS[1..3], &COSTS) {
        let of = |statistical, threads| {
            let choice = protocol.into();
            let options =
                BenchOptions { choice, statistical, threads, reps: 1, warmup: 0, ..BenchOptions::default() };
            let blocks = 1 + threads as u64 * options.chunk().unwrap() as u64;
            let report = run(&options.counted(blocks));
            assert_eq!(phase(&report, "online").bits, blocks * bits);
            let verified = phase(&report, "verification").bits + phase(&report, "preprocessing").bits;
            let json = report.to_json();
            assert_eq!(json["verification_error_bits"].as_f64(), report.measured.verification_error_bits);
            (
                json["statistical_bits"].as_u64().unwrap(),
                report.measured.verification_error_bits.unwrap(),
                verified,
            )
        };
        let (asked, reached, once) = of(None, 1);
        assert!(asked == 57 && reached >= 57.0, "{protocol} {reached}");
        let (asked, reached, twice) = of(Some(100), 1);
        assert!(asked == 100 && reached >= 100.0 && twice > once, "{protocol} {reached}");
        let (_, reached, _) = of(Some(100), 2);
        assert!(reached >= 100.0, "{protocol}, every strand: {reached}");
    }
    let security = Security::SemiHonest;
    let options = BenchOptions { security, reps: 1, ..BenchOptions::default() };
    assert!(run(&options.counted(1)).to_json()["statistical_bits"].is_null());
}

#[test]
fn json_has_every_field_that_scripts_rely_on() {
    let options = BenchOptions { reps: 2, warmup: 1, ..BenchOptions::default() };
    let json = run(&options.counted(10)).to_json();
    // those that warm up are none of the figures
    let repetitions = json["repetitions"].as_object().unwrap();
    assert!(repetitions.values().all(|of| of.as_array().unwrap().len() == 2), "{repetitions:?}");
    assert_eq!(phases(&json), ["setup", "preprocessing", "online", "verification"]);
    let phases = json["phases"].as_array().unwrap();
    for field in ["seconds", "cpu_seconds_per_party", "bits_sent_per_party", "bytes_sent_per_party", "rounds"]
    {
        assert!(phases.iter().all(|phase| phase[field].is_number()), "{field}");
    }
    for field in ["aes_ctr_gb_s", "loopback_gbit_s", "clmul_ns"] {
        assert!(json["calibration"][field].is_number(), "{field}");
    }
    #[cfg(target_os = "linux")]
    assert!((1 << 20..512 << 20).contains(&json["peak_rss_bytes_per_party"].as_u64().unwrap()));
    has!(json, "mode": null, "protocol": "gf4-circuit");
    assert!(json["checks"]["A15"].is_u64() && json["checks"]["M0.4"].is_u64(), "{json}");
}

/// Figures that nobody should compare say so, and no others do.
#[test]
fn a_calibration_in_another_time_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for is_other in [true, false] {
        let mut command = command(dir.path(), "bench calibrate");
        if !is_other {
            command.env_remove(VARIABLE);
        }
        let output = command.output().unwrap();
        let told = told(&output);
        assert!(told["loopback_gbit_s"].is_number(), "{told}");
        assert_eq!(told.get("measured_in_ms").is_some(), is_other, "{told}");
        assert_eq!(String::from_utf8_lossy(&output.stderr).contains(VARIABLE), is_other, "{output:?}");
    }
}

/// Preprocessing and online alternate by chunks, so that what is kept does not grow with the blocks.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_what_is_made_ahead() {
    for protocol in Protocol::ALL.iter().copied().filter(|protocol| protocol.has_vectors()) {
        let choice = protocol.into();
        let options = BenchOptions { choice, reps: 1, warmup: 0, ..BenchOptions::default() };
        let blocks = 8 * options.chunk().unwrap() as u64;
        let report = run(&options.counted(blocks));
        assert!(
            report.measured.peak_rss_bytes.unwrap() < 128 << 20,
            "{protocol}: {:?}",
            report.measured.peak_rss_bytes
        );
    }
}

/// Any circuit, one that only copies among them: each evaluation against the one in the clear, its ANDs to
/// the bit.
#[test]
fn circuits_are_measured_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    let copies = dir.path().join("copies.txt");
    std::fs::write(&copies, "3 13\n2 9 1\n2 1 2\n\n1 1 0 10 EQW\n1 1 9 11 INV\n1 1 1 12 EQ\n").unwrap();
    let copies = copies.to_str().unwrap();
    for (name, ands, rounds) in [("aes128", 6_400, 60), ("keccak-f", 38_400, 24), (copies, 0, 0)] {
        for security in [Security::Malicious, Security::SemiHonest] {
            let options = BenchOptions { reps: 1, warmup: 0, security, ..BenchOptions::default() };
            let report = run(&options.of_circuit(&name.into(), 70).unwrap());
            let online = phase(&report, "online");
            assert_eq!((online.bits, online.rounds), (70 * ands, rounds), "{name}");
            let json = report.to_json();
            has!(json, "circuit": name, "unit": "evaluation");
            has!(json, "algorithm": null, "message_bytes": null, "key_bits": null);
        }
    }
}

/// What a lookup costs, ahead and online, to the bit, by every number of factors and in chunks.
#[test]
fn a_lookup_costs_what_its_factors_do() {
    use divisi_rep3::ohverture::Dimensions;
    // of 2^10 entries in one chunk, of 2^16 in two
    for (k, count, inputs) in [(10, 700_u64, 1), (16, 9000, 3)] {
        for factors in 1..=3 {
            // with one factor 65,519 bits each; with three every night
            if k == 16 && (factors == 1 || factors == repetitions(3, 0)) {
                continue;
            }
            for security in [Security::SemiHonest, Security::Malicious] {
                let dimensions = Some(factors);
                let job = LookupJob { entries: 1 << k, inputs, dimensions, count: 1, table: None };
                let job = JobSpec::Lookups(job);
                let options = BenchOptions { job, security, reps: 2, warmup: 0, ..BenchOptions::default() };
                let options = options.counted(count);
                assert_eq!(options.factors(), Some(factors as u64));
                let report = run(&options);
                let way = match factors {
                    1 => Dimensions::One,
                    2 => Dimensions::Two,
                    _ => Dimensions::three(k, 8).unwrap(),
                };
                let [ahead, online] = ["preprocessing", "online"].map(|name| phase(&report, name));
                assert_eq!(online.bits, count * way.bits_online(k, 8), "{options:?}");
                // chunk after chunk
                let chunks = report.measured.number("chunks");
                assert_eq!(u64::from(online.rounds), chunks * u64::from(way.rounds_online()));
                let bits = count * way.bits_ahead(k);
                let verification = phase(&report, "verification").bits;
                if security == Security::SemiHonest {
                    assert_eq!((ahead.bits, verification), (bits, 0), "{options:?}");
                    assert_eq!(report.measured.verification_error_bits, None);
                } else {
                    // verifications grow with the logarithm of a chunk
                    assert!(ahead.bits > bits && ahead.bits < bits + 2 * 8000, "{options:?} {ahead:?}");
                    assert!(verification < 2 * 8000);
                    assert!(report.measured.verification_error_bits.unwrap() > 57.0);
                }
                has!(report.to_json(), "protocol": "ohverture", "unit": "item", "dimensions": factors);
            }
        }
    }
}
