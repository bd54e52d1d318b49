//! The report of a benchmark of this engine, in JSON and for people.

use divisi_engine::{Measured, Page, members};
use serde_json::{Map, Value, json};

/// A figure divided by the number of ANDs of all instances; `None` for a circuit without ANDs.
fn per_and(measured: &Measured, figure: f64) -> Option<f64> {
    let ands = measured.number("and_gates") as f64 * measured.count as f64;
    (ands > 0.0).then(|| figure / ands)
}

fn total_seconds(measured: &Measured) -> f64 {
    measured.phases.iter().map(|(_, phase)| phase.seconds).sum()
}

fn cpu_seconds(measured: &Measured) -> f64 {
    measured.phases.iter().map(|(_, phase)| phase.cpu_seconds).sum()
}

/// The bytes that each party handed to TLS in all phases.
fn bytes_by_party(measured: &Measured) -> Vec<u64> {
    measured.bytes_by_party.iter().map(|phases| phases.iter().sum()).collect()
}

/// The bytes that the party that sends most handed to TLS in all phases.
fn bytes(measured: &Measured) -> u64 {
    bytes_by_party(measured).into_iter().max().unwrap_or(0)
}

/// The size of the largest buckets; `None` for a circuit without ANDs.
fn bucket(measured: &Measured) -> Option<u64> {
    let batches = measured.facts.get("batches").and_then(Value::as_array)?;
    batches.iter().filter_map(|batch| batch.get("bucket").and_then(Value::as_u64)).max()
}

pub(super) fn json(measured: &Measured) -> Map<String, Value> {
    let fact = |name: &str| measured.facts.get(name).cloned().unwrap_or_default();
    let phases = measured.phases_json().into_iter().enumerate().map(|(i, mut phase)| {
        let by_party: Vec<u64> =
            measured.bytes_by_party.iter().filter_map(|phases| phases.get(i).copied()).collect();
        let bytes = phase.get("bytes_sent_per_party").and_then(Value::as_u64).unwrap_or(0);
        phase["bytes_sent_by_party"] = json!(by_party);
        phase["bytes_per_and"] = json!(per_and(measured, bytes as f64));
        phase
    });
    members(json!({
        "security": "malicious",
        "form": fact("form"),
        "k": fact("k"),
        "base_ot": fact("base_ot"),
        "statistical_bits": fact("statistical_bits"),
        "streamed": fact("streamed"),
        "waves": fact("waves"),
        "bucket": bucket(measured),
        "batches": fact("batches"),
        "and_gates": fact("and_gates"),
        "phases": phases.collect::<Vec<_>>(),
        "total_seconds": total_seconds(measured),
        "cpu_seconds_per_party": cpu_seconds(measured),
        "bytes_sent_per_party": bytes(measured),
        "bytes_sent_by_party": bytes_by_party(measured),
        "bytes_per_and": per_and(measured, bytes(measured) as f64),
        "cpu_us_per_and": per_and(measured, cpu_seconds(measured) * 1e6),
        "computational_bits": measured.computational_bits,
    }))
}

pub(super) fn page(measured: &Measured) -> Page {
    let each =
        |bytes: u64| per_and(measured, bytes as f64).map_or("-".to_owned(), |each| format!("{each:.1}"));
    let row = |name: &str, seconds: f64, cpu_seconds: f64, bytes: u64, rounds: String| {
        vec![
            name.to_owned(),
            format!("{:.2}", seconds * 1e3),
            format!("{:.2}", cpu_seconds * 1e3),
            bytes.to_string(),
            each(bytes),
            rounds,
        ]
    };
    let mut rows: Vec<Vec<String>> = measured
        .phases
        .iter()
        .map(|(name, phase)| {
            row(name, phase.seconds, phase.cpu_seconds, phase.bytes, phase.rounds.to_string())
        })
        .collect();
    let (seconds, cpu) = (total_seconds(measured), cpu_seconds(measured));
    rows.push(row("total", seconds, cpu, bytes(measured), String::new()));
    let text = |name: &str| measured.facts.get(name).and_then(Value::as_str).unwrap_or_default();
    let bucket = bucket(measured).map_or("no ANDs".into(), |bucket| format!("buckets of {bucket}"));
    let waves = match measured.number("waves") {
        many @ 2.. => format!(", {many} waves"),
        _ => String::new(),
    };
    Page {
        above: format!(
            "{} evaluation{} of {} ({} ANDs), garble, {} parties, form {}, k {}, base OTs {}, {} bits statistical and {} computational, {bucket}{waves}, median of {}, \
             the slowest party and the one that sends most:",
            measured.count,
            if measured.count == 1 { "" } else { "s" },
            measured.about.get("circuit").and_then(Value::as_str).unwrap_or_default(),
            measured.number("and_gates"),
            measured.parties,
            text("form"),
            measured.number("k"),
            text("base_ot"),
            measured.number("statistical_bits"),
            measured.computational_bits.map_or("none".into(), |bits| format!("{:.0}", bits.floor())),
            measured.reps,
        ),
        head: ["phase", "ms", "CPU ms", "bytes", "bytes/AND", "rounds"].map(str::to_owned).to_vec(),
        rows,
        below: format!(
            "memory {}; all outputs checked; kernel {}; connected in {:.3} s\n{}",
            measured.memory(),
            measured.kernel,
            measured.connect_seconds,
            measured.calibration.summary(),
        ),
    }
}
