//! Authenticated garbling through the command line: parties of their own that agree or are told what they
//! disagree on; figures that are the paper's and the smaller form's to the bit; parties that die.

use crate::program::{CALIBRATION, PROGRAM, measure, phases};
use crate::{has, separate};
use divisi::bench::{self, BenchOptions, BenchReport};
use divisi::cleanup::Cleanup;
use divisi::failure::Kind;
use divisi::local::PartyProgram;
use divisi_net::PartyId;
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

#[test]
fn one_party_each() {
    separate::one_party_each("garble", 4);
}

/// Two programs, of which each learns one of two output values.
#[test]
fn each_value_to_its_own() {
    separate::each_value_to_its_own("garble", "with other owners or receivers");
}

/// Parties with different arguments get an error that says so, all of them, with both digests, before
/// anything secret is there.
#[test]
fn parties_that_disagree_are_refused_with_both_digests() {
    let differences: [(&[&str], &str); 7] = [
        (&["--circuit", "xor"], "another circuit"),
        (&["--circuit", "and", "--output", "1"], "another circuit"),
        (&["--circuit", "and", "--form", "paper"], "with other settings"),
        (&["--circuit", "and", "--k", "3"], "with other settings"),
        (&["--circuit", "and", "--statistical", "64"], "with other settings"),
        (&["--circuit", "and", "--base-ot", "both"], "with other settings"),
        (&["--circuit", "and", "--streamed"], "in another mode"),
    ];
    separate::refused_with_both_digests("garble", &differences);
}

/// One run of AES-128's circuit among this many parties.
fn garbled(parties: usize, own: &[(&str, &str)]) -> BenchOptions {
    let options = BenchOptions {
        engine: "garble",
        parties: Some(parties),
        own: own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        reps: 1,
        warmup: 0,
        ..BenchOptions::default()
    };
    options.of_circuit(&"aes128".into(), 1).unwrap()
}

fn of(parties: usize, form: &str, base: &str, count: u64) -> BenchReport {
    let own = [("form", form), ("base-ot", base), ("k", "4")];
    measure(&garbled(parties, &own).counted(count))
}

/// Triples that were made, by the report's batches.
fn triples(report: &BenchReport) -> u64 {
    let told = report.to_json();
    told["batches"].as_array().unwrap().iter().map(|batch| batch["triples"].as_u64().unwrap()).sum()
}

/// The forms differ in their tables alone once the triples are there: 64 n bytes and four bits an AND, and 16
/// (3 n - 4) + 24 bytes and three bits. Rounds are constant.
#[test]
fn a_garbler_sends_what_its_form_has() {
    for n in [2, 3, 5] {
        let [paper, improved] = ["paper", "improved"].map(|form| of(n, form, "half", 1));
        let ands = paper.measured.number("and_gates") as usize;
        let tables = |bytes: usize, bits: usize| 8 * (bytes * ands + (bits * ands).div_ceil(8)) as u64;
        let saved = tables(64 * n, 4) - tables(16 * (3 * n - 4) + 24, 3);
        assert_eq!(paper.measured.phases[2].1.bits - improved.measured.phases[2].1.bits, saved, "{n}");
        assert_eq!(paper.measured.phases[3].1.bits, improved.measured.phases[3].1.bits, "{n}");
        for report in [&paper, &improved] {
            let rounds = report.measured.phases.iter().map(|(_, phase)| phase.rounds).collect::<Vec<_>>();
            let (triples, online) = if n == 2 { (9, 2) } else { (13, 3) };
            assert!(rounds[0] > 4 && rounds[0] <= 8 && rounds[1] <= triples, "{n} {rounds:?}");
            assert_eq!((rounds[2], rounds[3]), (2, online), "{n}");
        }
    }
}

#[test]
fn a_report_has_what_scripts_rely_on() {
    let report = of(3, "improved", "both", 4);
    let told = report.to_json();
    assert_eq!(phases(&told), ["setup", "function-independent", "function-dependent", "online"]);
    let (mut seconds, mut bytes) = (0.0, [0; 3]);
    for phase in told["phases"].as_array().unwrap() {
        seconds += phase["seconds"].as_f64().unwrap();
        let by_party: Vec<u64> =
            phase["bytes_sent_by_party"].as_array().unwrap().iter().map(|b| b.as_u64().unwrap()).collect();
        assert_eq!(phase["bytes_sent_per_party"].as_u64(), by_party.iter().copied().max());
        bytes.iter_mut().zip(by_party).for_each(|(sum, bytes)| *sum += bytes);
        assert!(phase["seconds"].as_f64().unwrap() > 0.0 && phase["rounds"].as_u64().unwrap() > 0);
    }
    assert!((told["total_seconds"].as_f64().unwrap() - seconds).abs() < 1e-9);
    assert_eq!(told["bytes_sent_by_party"], serde_json::to_value(bytes).unwrap());
    let per_and = *bytes.iter().max().unwrap() as f64 / (4.0 * 6400.0);
    assert!((told["bytes_per_and"].as_f64().unwrap() - per_and).abs() < 1e-9);
    has!(told, "form": "improved", "base_ot": "both", "k": 4, "and_gates": 6400, "bucket": 4);
    assert_eq!(triples(&report), 4 * 6400);
    assert!(told["connect_seconds"].as_f64().unwrap() > 0.0);
    assert!(told["verification_error_bits"].as_f64().unwrap() >= 40.0);
    assert!((117.0..118.0).contains(&told["computational_bits"].as_f64().unwrap()));
    for check in ["W18", "W20", "W22", "W29"] {
        assert!(told["checks"][check].as_u64().unwrap() > 0, "{check}");
    }
    // base OTs in both directions: the session's two rounds, and two
    assert!(told["phases"][0]["rounds"].as_u64().unwrap() <= 4);
}

/// Many instances go in waves: memory is that of one wave, and what they send is what each sends.
#[test]
fn many_instances_take_the_memory_of_a_wave() {
    let report = of(3, "improved", "half", 32);
    assert!(report.measured.number("waves") > 5, "{:?}", report.measured.facts);
    let memory = report.measured.peak_rss_bytes;
    assert!(memory.is_none_or(|bytes| bytes < 64 << 20), "{memory:?}");
    let bytes = report.to_json()["bytes_sent_per_party"].as_u64().unwrap();
    assert!(bytes < 32 * 2_000_000, "{bytes}");
    assert_eq!(triples(&report), 32 * report.measured.number("and_gates"));
}

/// The streamed mode has the set-up's clock and one more.
#[test]
fn a_streamed_run_is_measured_as_a_whole() {
    let report = measure(&garbled(2, &[("streamed", "")]).counted(2));
    let told = report.to_json();
    assert_eq!(phases(&told), ["setup", "streamed"]);
    has!(told, "waves": 1, "k": 4, "streamed": true);
    assert!(report.measured.phases[1].1.bytes > 1_000_000);
    assert!(told["batches"].as_array().unwrap().len() > 1);
}

/// A process that is killed ends the benchmark long before the time limit, and is named.
#[test]
fn a_party_that_is_killed_is_named() {
    let timeout = Duration::from_secs(30);
    for (victim, after) in [(1, 0), (2, 300), (4, 900)] {
        let options = BenchOptions { reps: 100_000, timeout, ..garbled(4, &[]) };
        let sent = std::sync::Mutex::new(None);
        let failure = std::thread::scope(|scope| {
            let sent = &sent;
            let on_start = |party: PartyId, number: u32| {
                if party.number() == victim {
                    scope.spawn(move || {
                        std::thread::sleep(Duration::from_millis(after));
                        kill_process(Pid::from_raw(number as i32).unwrap(), Signal::KILL).unwrap();
                        *sent.lock().unwrap() = Some(Instant::now());
                    });
                }
            };
            bench::run(&options, &PartyProgram::at(PROGRAM), CALIBRATION, &Cleanup::new(), &on_start)
                .unwrap_err()
        });
        let took = sent.lock().unwrap().unwrap().elapsed();
        let told = format!("party {victim} after {after} ms: {failure:?}, {took:?}");
        assert_eq!((failure.kind, failure.peer), (Kind::Abort, Some(victim)), "{told}");
        assert!(failure.step.is_some() && took < timeout / 2, "{told}");
    }
}
