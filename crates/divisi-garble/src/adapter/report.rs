//! The report of a benchmark of this engine, in JSON and for people.

use divisi_engine::{Measured, Page, Phase, columns, members};
use serde_json::{Map, Value, json};

/// A figure divided by the number of ANDs of all instances; `None` for a circuit without ANDs.
fn per_and(measured: &Measured, figure: f64) -> Option<f64> {
    let ands = measured.number("and_gates") as f64 * measured.count as f64;
    (ands > 0.0).then(|| figure / ands)
}

/// The size of the largest buckets; `None` for a circuit without ANDs.
fn bucket(measured: &Measured) -> Option<u64> {
    let batches = measured.facts.get("batches").and_then(Value::as_array)?;
    batches.iter().filter_map(|batch| batch.get("bucket").and_then(Value::as_u64)).max()
}

pub(super) fn json(measured: &Measured) -> Map<String, Value> {
    let phases = measured.phases_json().into_iter().enumerate().map(|(i, mut phase)| {
        let by_party: Vec<u64> =
            measured.bytes_by_party.iter().filter_map(|phases| phases.get(i).copied()).collect();
        let bytes = phase.get("bytes_sent_per_party").and_then(Value::as_u64).unwrap_or(0);
        phase["bytes_sent_by_party"] = json!(by_party);
        phase["bytes_per_and"] = json!(per_and(measured, bytes as f64));
        phase
    });
    let total = measured.all_phases();
    let mut all = members(json!({
        "security": "malicious",
        "bucket": bucket(measured),
        "phases": phases.collect::<Vec<_>>(),
        "total_seconds": total.seconds,
        "cpu_seconds_per_party": total.cpu_seconds,
        "bytes_sent_per_party": total.bytes,
        "bytes_sent_by_party": measured.all_bytes_by_party(),
        "bytes_per_and": per_and(measured, total.bytes as f64),
        "cpu_us_per_and": per_and(measured, total.cpu_seconds * 1e6),
        "computational_bits": measured.computational_bits,
    }));
    let facts = ["form", "k", "base_ot", "statistical_bits", "streamed", "waves", "batches", "and_gates"];
    all.extend(measured.members_of_facts(facts));
    all
}

pub(super) fn page(measured: &Measured) -> Page {
    let each = |phase: &Phase| {
        per_and(measured, phase.bytes as f64).map_or("-".to_owned(), |each| format!("{each:.1}"))
    };
    let mut page = measured.table(&[columns::MS, columns::CPU_MS, columns::BYTES, columns::ROUNDS]);
    let total = measured.all_phases();
    let figures = [columns::MS, columns::CPU_MS, columns::BYTES].map(|(_, of)| of(&total));
    page.rows.push(["total".to_owned()].into_iter().chain(figures).chain([String::new()]).collect());
    page.head.insert(4, "bytes/AND".into());
    let phases = measured.phases.iter().map(|(_, phase)| phase).chain([&total]);
    page.rows.iter_mut().zip(phases).for_each(|(row, phase)| row.insert(4, each(phase)));
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
            measured.about_text("circuit").unwrap_or_default(),
            measured.number("and_gates"),
            measured.parties,
            measured.text("form"),
            measured.number("k"),
            measured.text("base_ot"),
            measured.number("statistical_bits"),
            measured.computational_bits.map_or("none".into(), |bits| format!("{:.0}", bits.floor())),
            measured.reps,
        ),
        below: format!("memory {}; all outputs checked; {}", measured.memory(), measured.machine()),
        ..page
    }
}
