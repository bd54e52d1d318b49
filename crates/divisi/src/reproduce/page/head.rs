//! The head of the page: what was measured where, when and how, and the contents with their counts.

use super::figures::measured;
use super::html::{counted, escape, holds, list, number, raw, text, title};
use serde_json::Value;
use std::fmt::Write;

const LEAD: &str = "Each table of the papers, with the figures that this machine gave. What can be counted has to agree \
                    to the last bit; what is measured is told with its spread.";
const DISTURBED: &str = "Other programs took more than a tenth of the cores meanwhile: times are those of a busy machine. \
                         Measure again when it is idle.";

/// The head of a report's page.
pub(super) fn head(report: &Value) -> String {
    let mut out = format!("<h1>The papers&#39; tables, beside Divisi</h1>\n<p class=\"lead\">{LEAD}</p>\n");
    if holds(report, "disturbed") {
        let _ = writeln!(out, "<p class=\"warning\" role=\"note\">{DISTURBED}</p>");
    }
    out += "<dl class=\"facts\">\n";
    for (name, value) in facts(report) {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    out + "</dl>\n" + &contents(report)
}

/// What a figure depends on, as HTML.
fn facts(report: &Value) -> Vec<(&'static str, String)> {
    let nothing = Value::Null;
    let of = |name: &str| report.get(name).unwrap_or(&nothing);
    let (machine, settings, load) = (of("machine"), of("settings"), of("load"));
    let two = |name: &str, digits: usize, unit: &str| {
        let one = |when| number(of(when), name).map_or("?".to_owned(), |value| format!("{value:.digits$}"));
        format!("{} and {} {unit}", one("calibration"), one("calibration_after"))
    };
    let flag = |name: &str, unit: &str, by: &str| match number(settings, name) {
        Some(value) => format!("{value} {unit}, by {by}"),
        None => "what each table names, emulated".to_owned(),
    };
    let plain = |value: Option<f64>, digits: usize| value.map_or("?".to_owned(), |v| format!("{v:.digits$}"));
    let memory = number(machine, "memory_bytes").map(|bytes| bytes / 2f64.powi(30));
    let here = format!(
        "{}, {}, {} GiB, {}",
        text(machine, "processor"),
        counted(number(machine, "cores").unwrap_or(0.0) as usize, "core"),
        plain(memory, 0),
        text(machine, "system")
    );
    let resumed = list(report, "runs").iter().filter(|run| holds(run, "resumed")).count();
    let kept = if resumed == 0 { String::new() } else { format!(", {resumed} kept from before by --resume") };
    let failed = list(report, "runs").iter().filter(|run| run.get("ok") == Some(&Value::Bool(false))).count();
    let failed = if failed == 0 { String::new() } else { format!(", {failed} failed") };
    let selected = ["paper", "table"].map(|name| raw(of("selected"), name)).join(" ");
    let mut facts = vec![
        ("Version", text(report, "version")),
        ("Commit", format!("<code>{}</code>", text(report, "commit"))),
        ("Begun", text(report, "date").replace('T', " ").replace('Z', " UTC")),
        ("Took", format!("{} s, with --{}", plain(number(report, "seconds"), 0), text(report, "mode"))),
        ("Commands", format!("{}{kept}{failed}", list(report, "runs").len())),
        ("Machine of this program", here),
        ("Kernels for fields", text(report, "kernel")),
        (
            "Load before and after",
            format!(
                "{} and {}; others took {} % of the cores",
                plain(number(load, "before"), 2),
                plain(number(load, "after"), 2),
                plain(number(report, "others_share").map(|share| share * 100.0), 1)
            ),
        ),
        ("AES-128-CTR, before and after", two("aes_ctr_gb_s", 1, "GB/s")),
        ("Loopback, before and after", two("loopback_gbit_s", 1, "Gbit/s")),
        ("Product in GF(2^64), before and after", two("clmul_ns", 2, "ns")),
        ("Round-trip time", flag("rtt_ms", "ms", "--rtt")),
        ("Rate of a link", flag("rate_mbit", "Mbit/s", "--rate")),
    ];
    if !raw(settings, "machine").is_empty() {
        facts.push(("Machines, by --machine", text(settings, "machine")));
    }
    if !selected.trim().is_empty() {
        facts.push(("Only", escape(selected.trim())));
    }
    let catalogue: String = raw(report, "catalogue").chars().take(16).collect();
    facts.push(("Catalogue, SHA-256", format!("<code>{}</code>", escape(&catalogue))));
    facts
}

/// A column of the contents: its heading, and which cells it counts, by kind and state.
type Counted = (&'static str, fn(&str, &str) -> bool);

const COUNTED: [Counted; 7] = [
    ("exact", |kind, state| kind == "exact" && matches!(state, "ok" | "differs")),
    ("of these differ", |_, state| state == "differs"),
    ("measured", |kind, state| kind == "measured" && state == "ok"),
    ("derived", |kind, state| kind == "derived" && state == "ok"),
    ("out of reach", |kind, state| kind == "out-of-reach" && state != "failed"),
    ("failed", |_, state| state == "failed"),
    ("not run", |kind, state| kind != "out-of-reach" && state == "not-run"),
];

/// The contents: for each table how many figures of each kind it has.
fn contents(report: &Value) -> String {
    let mut out = String::from(
        "<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">Contents</h2>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-labelledby=\"contents\"><table class=\"contents\">\n<thead><tr><th scope=\"col\">table</th>\
         <th scope=\"col\" class=\"words\">subject</th>",
    );
    for (name, _) in COUNTED {
        let _ = write!(out, "<th scope=\"col\">{name}<span class=\"unit\">figures</span></th>");
    }
    out += "</tr></thead>\n";
    for paper in list(report, "papers") {
        let name = text(paper, "name");
        let _ = writeln!(
            out,
            "<tbody>\n<tr><th scope=\"rowgroup\" colspan=\"9\"><a href=\"#{name}\">{}</a></th></tr>",
            text(paper, "title")
        );
        for table in list(paper, "tables") {
            let id = raw(table, "id");
            let _ = write!(
                out,
                "<tr><td class=\"words\"><a href=\"#{name}/{}\">{}</a></td><td class=\"words\">{}</td>",
                escape(id),
                title(id),
                text(table, "title")
            );
            for (_, counts) in COUNTED {
                let cells = list(table, "rows").iter().flat_map(|row| list(row, "cells"));
                let count = cells.filter(|cell| counts(raw(cell, "kind"), raw(cell, "state"))).count();
                let _ = write!(
                    out,
                    "<td>{}</td>",
                    if count == 0 { String::new() } else { measured(count as f64, 1) }
                );
            }
            out += "</tr>\n";
        }
        out += "</tbody>\n";
    }
    out + "</table></div>\n</nav>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_contents_count_the_cells_of_each_kind() {
        let cell = |kind: &str, state: &str| json!({ "kind": kind, "state": state });
        let cells = [
            cell("exact", "ok"),
            cell("exact", "differs"),
            cell("measured", "ok"),
            cell("measured", "failed"),
            cell("measured", "not-run"),
            cell("derived", "ok"),
            cell("out-of-reach", "not-run"),
            json!(null),
        ];
        let table = json!({ "id": "table-1", "title": "t", "rows": [{ "cells": cells }] });
        let html = contents(&json!({ "papers": [{ "name": "p", "title": "P", "tables": [table] }] }));
        let counts: String = ["2", "1", "1", "1", "1", "1", "1"].map(|n| format!("<td>{n}</td>")).concat();
        assert!(html.contains(&counts), "{html}");
        assert!(html.contains("<a href=\"#p/table-1\">Table 1</a>"));
    }

    #[test]
    fn the_flags_are_repeated() {
        let report = json!({ "settings": { "machine": "three <hosts>", "rtt_ms": 15, "rate_mbit": 200 },
            "selected": { "paper": "maestro", "table": null }, "disturbed": true, "mode": "full" });
        let html = head(&report);
        for part in [
            "three &lt;hosts&gt;",
            "15 ms, by --rtt",
            "200 Mbit/s, by --rate",
            "maestro",
            "busy machine",
            "--full",
        ] {
            assert!(html.contains(part), "{part}");
        }
    }
}
