//! The report of a benchmark of this engine, in JSON and for people.

use super::lookups::{self, ENTRIES, OHVERTURE};
use super::options::{choice, is_constant_round, is_on_demand, mode_name};
use super::{CHUNKS, statistical};
use divisi_engine::{Measured, Page, members};
use serde_json::{Map, Value, json};

pub(super) fn json(measured: &Measured) -> Map<String, Value> {
    let protocol = choice(&measured.settings).protocol();
    // a job without S-boxes is the same under every protocol
    let lookups = measured.facts.contains_key(ENTRIES);
    let has_sboxes = !is_constant_round(&measured.settings)
        && measured.about_text("algorithm").is_some_and(|name| name.contains("aes"));
    let [online, total] = measured.rates();
    let mut object = members(json!({
        "protocol": if lookups { Some(OHVERTURE) } else { has_sboxes.then(|| protocol.name()) },
        "mode": mode_name(&measured.settings),
        "security": measured.settings.security.name(),
        "chunks": measured.number(CHUNKS),
        "phases": measured.phases_json(),
        "online_per_second": online,
        "total_per_second": total,
        "statistical_bits": statistical(&measured.settings),
        "computational_bits": measured.computational_bits,
    }));
    object.extend(measured.members_of_job(["algorithm", "direction", "key_bits", "message_bytes"]));
    object.extend(lookups::told(&measured.facts));
    if is_constant_round(&measured.settings) {
        object.insert("on_demand".into(), is_on_demand(&measured.settings).into());
    }
    object
}

/// The probability with which a lie passes, as text.
fn error(measured: &Measured) -> String {
    match (measured.verification_error_bits, measured.computational_bits) {
        (Some(bits), _) => format!("a lie passes with 2^-{bits:.0}"),
        (None, Some(bits)) => {
            format!("every lie is detected, with {:.0} bits of computational security", bits.floor())
        }
        (None, None) => "nothing verified".into(),
    }
}

pub(super) fn page(measured: &Measured) -> Page {
    let settings = &measured.settings;
    let unit = measured.unit;
    let plural = |n: u64| if n == 1 { "" } else { "s" };
    let head = ["CPU us", "bits", "bytes"].map(|what| format!("{what}/{unit}"));
    let [cpu, bits, bytes] = head;
    let each = |figure: f64| figure / measured.count as f64;
    let row = |(name, phase): &(&'static str, divisi_engine::Phase)| {
        vec![
            (*name).to_owned(),
            format!("{:.4}", phase.seconds),
            format!("{:.3}", each(phase.cpu_seconds * 1e6)),
            format!("{:.1}", each(phase.bits as f64)),
            format!("{:.1}", each(phase.bytes as f64)),
            phase.rounds.to_string(),
        ]
    };
    let error = error(measured);
    let mode = mode_name(settings).map(|mode| format!(" ({mode})")).unwrap_or_default();
    let lookups = lookups::about(&measured.facts);
    let what = match (measured.about_text("circuit"), measured.about_text("algorithm")) {
        (Some(circuit), _) => format!("the circuit {circuit}{mode}"),
        _ if lookups.is_some() => lookups.unwrap_or_default(),
        (_, Some("aes")) => {
            let number = |name| measured.about.get(name).and_then(Value::as_u64).unwrap_or(0);
            let way = measured.about_text("direction").unwrap_or_default();
            if is_constant_round(settings) {
                format!("AES-{} {way} from its key{mode}", number("key_bits"))
            } else {
                format!("AES-{} {way} by {}", number("key_bits"), choice(&measured.settings))
            }
        }
        (_, algorithm) => {
            let bytes = measured.about.get("message_bytes").and_then(Value::as_u64).unwrap_or(0);
            format!("{} of {bytes} bytes{mode}", algorithm.unwrap_or_default())
        }
    };
    let (memory, [online, total]) = (measured.memory(), measured.rates());
    let cpu_us: f64 = measured.phases.iter().skip(1).map(|(_, phase)| phase.cpu_seconds).sum::<f64>() * 1e6;
    Page {
        above: format!(
            "{what}, {}, {} {unit}{}, {} thread{} a party, median of {}, per party:",
            settings.security,
            measured.count,
            plural(measured.count),
            settings.threads,
            plural(settings.threads as u64),
            measured.reps,
        ),
        head: vec!["phase".into(), "seconds".into(), cpu, bits, bytes, "rounds".into()],
        rows: measured.phases.iter().map(row).collect(),
        below: format!(
            "{online:.0} {unit}s/s online, {total:.0} in all; CPU {:.2} us for each and party without setup; memory {memory}; {error}\n\
             all outputs checked; {}",
            each(cpu_us),
            measured.machine(),
        ),
    }
}
