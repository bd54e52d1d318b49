//! The page of a reproduction: a template with the report's JSON inside, from which a script draws plots,
//! and plain tables that stand alone without it.

use super::page_files::{SCRIPT, STYLE, TEMPLATE, UPLOT, UPLOT_STYLE};
use serde_json::Value;
use std::fmt::Write;

/// The page of a report.
#[must_use]
pub fn page(report: &Value) -> String {
    // no text of a report ends the element that it stands in
    let json = report.to_string().replace('<', "\\u003c");
    let style = format!("{UPLOT_STYLE}\n{STYLE}");
    let parts = [
        ("/*STYLE*/", style.as_str()),
        ("/*UPLOT*/", UPLOT),
        ("/*SCRIPT*/", SCRIPT),
        ("<!--HEAD-->", &head(report)),
        ("<!--TABLES-->", &list(report, "papers").iter().map(|paper| self::paper(paper)).collect::<String>()),
        ("/*REPORT*/", &json),
    ];
    // what is put in is not searched for what comes next
    let mut out = String::new();
    let mut rest = TEMPLATE;
    while let Some((at, (mark, part))) =
        parts.iter().filter_map(|part| Some((rest.find(part.0)?, part))).min_by_key(|(at, _)| *at)
    {
        let (before, after) = rest.split_at(at);
        out += before;
        out += part;
        rest = after.strip_prefix(mark).unwrap_or_default();
    }
    out + rest
}

/// Text for HTML, between tags or within quotes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

fn list<'r>(of: &'r Value, name: &str) -> &'r [Value] {
    of.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A member as text for HTML; empty if it is null.
fn text(of: &Value, pointer: &str) -> String {
    match of.pointer(pointer) {
        Some(Value::String(text)) => escape(text),
        None | Some(Value::Null) => String::new(),
        Some(Value::Number(value)) => value.as_f64().map_or(String::new(), number),
        Some(other) => escape(&other.to_string()),
    }
}

/// A number for people: whole ones in groups of three digits, others with three digits that count.
fn number(value: f64) -> String {
    let whole = value.fract() == 0.0 || value.abs() >= 100.0;
    if !whole || value.abs() >= 1e15 {
        let digits = if value == 0.0 { 0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 12.0) as usize };
        return format!("{value:.digits$}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The conditions under which everything was measured.
fn head(report: &Value) -> String {
    let mut out = String::new();
    let mut add = |line: String| {
        let _ = writeln!(out, "<p>{line}</p>");
    };
    let of = |pointer| text(report, pointer);
    add(format!(
        "Divisi {}, commit {}; {} runs, {} s, {}.",
        of("/version"),
        of("/commit"),
        of("/mode"),
        of("/seconds"),
        of("/date")
    ));
    add(format!(
        "Here: {}, {} cores for all parties, {} bytes of memory, {}; kernel {}. AES-128-CTR {} GB/s on one core, loopback {} \
         Gbit/s, a product in GF(2^64) {} ns; afterwards {}, {} and {}.",
        of("/machine/processor"),
        of("/machine/cores"),
        of("/machine/memory_bytes"),
        of("/machine/system"),
        of("/kernel"),
        of("/calibration/aes_ctr_gb_s"),
        of("/calibration/loopback_gbit_s"),
        of("/calibration/clmul_ns"),
        of("/calibration_after/aes_ctr_gb_s"),
        of("/calibration_after/loopback_gbit_s"),
        of("/calibration_after/clmul_ns"),
    ));
    let settings = [("machine", "machines", ""), ("rtt_ms", "round trip", " ms"), ("rate_mbit", "rate", " Mbit/s")];
    for (name, what, unit) in settings {
        let value = of(&format!("/settings/{name}"));
        if !value.is_empty() {
            add(format!("All runs, by the command line: {what} {value}{unit}."));
        }
    }
    if report.get("disturbed") == Some(&Value::Bool(true)) {
        add("<strong class=\"warning\">Warning: other processes took more than a tenth of the cores meanwhile: the figures \
             are those of a busy machine; measure again when it is idle.</strong>"
            .to_owned());
    }
    add(format!(
        "Exact figures: {} equal, {} differ. Measured: {}; derived: {}; out of reach: {}; failed: {}; not run: {}.",
        of("/counts/exact"),
        of("/counts/differ"),
        of("/counts/measured"),
        of("/counts/derived"),
        of("/counts/out_of_reach"),
        of("/counts/failed"),
        of("/counts/not_run"),
    ));
    out
}

fn paper(paper: &Value) -> String {
    let name = text(paper, "/name");
    let mut out = format!("<section class=\"paper\" id=\"{name}\">\n<h2>{}</h2>\n", text(paper, "/title"));
    out.extend(list(paper, "tables").iter().map(|of| table(&name, of)));
    let left_out = list(paper, "left_out");
    if !left_out.is_empty() {
        out += "<h3>Left out</h3>\n<ul class=\"left-out\">\n";
        for left in left_out {
            let of = |pointer| text(left, pointer);
            let (table, what, numbers, why) = (of("/table"), of("/what"), of("/numbers"), of("/reason"));
            let _ = writeln!(out, "<li>{table}: {what} ({numbers} numbers): {why}</li>");
        }
        out += "</ul>\n";
    }
    out + "</section>\n"
}

/// The notes of a table, each once.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    /// A mark for a note.
    fn mark(&mut self, note: String) -> String {
        let at = self.0.iter().position(|other| *other == note).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(note);
        }
        format!("<sup>{}</sup>", at + 1)
    }
}

fn table(paper: &str, of: &Value) -> String {
    let id = text(of, "/id");
    let mut out = format!(
        "<section class=\"table\" id=\"{paper}/{id}\" data-table=\"{id}\">\n<h3>{id}: {}</h3>\n",
        text(of, "/title")
    );
    let mut about = vec![format!("The paper: {}; network: {}.", text(of, "/machines"), text(of, "/network"))];
    if of.get("machine_a_party") == Some(&Value::Bool(true)) {
        about.push(
            "<strong>Marked: the paper had a machine for each party; here all parties share one. Compare the CPU of a \
             party, which stands beside ours.</strong>"
                .into(),
        );
    }
    let more = [("/we_leave_out", "Ours leaves out: "), ("/note", "")];
    about.extend(
        more.iter().map(|(at, word)| (text(of, at), word)).filter(|(t, _)| !t.is_empty()).map(|(t, w)| format!("{w}{t}")),
    );
    for line in about {
        let _ = writeln!(out, "<p class=\"about\">{line}</p>");
    }
    out += "<div class=\"scroll\"><table>\n<thead><tr><th></th>";
    let (columns, peers) = (list(of, "columns"), list(of, "peers"));
    let mut notes = Notes::default();
    for column in columns {
        let parts = ["label", "unit", "network"].map(|name| text(column, &format!("/{name}")));
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let _ = write!(out, "<th scope=\"col\">{}</th>", parts.join(", "));
    }
    for peer in peers {
        let p = |name| text(peer, name);
        let beside = columns.iter().find(|column| column.get("id") == peer.get("column"));
        let of = |name| beside.map_or(String::new(), |column| text(column, name));
        let unit = if p("/unit").is_empty() { of("/unit") } else { p("/unit") };
        let note = notes.mark(format!(
            "{}, commit {}: {}; on {}; leaves out: {}",
            p("/name"),
            p("/commit"),
            p("/flags"),
            p("/machine"),
            p("/leaves_out")
        ));
        let _ = write!(out, "<th scope=\"col\" class=\"peer\">{}: {}, {unit}{note}</th>", p("/name"), of("/label"));
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in list(of, "rows") {
        let r = |name| text(row, name);
        let id = r("/id");
        let _ = write!(
            out,
            "<tr data-row=\"{id}\" data-engine=\"{}\" data-security=\"{}\"><th scope=\"row\">{}</th>",
            r("/engine"),
            r("/security"),
            r("/label")
        );
        for (column, cell) in columns.iter().zip(list(row, "cells")) {
            out += &self::cell(&text(column, "/id"), cell, &mut notes);
        }
        for peer in peers {
            let value = row.get("id").and_then(Value::as_str).and_then(|id| peer.get("values")?.get(id)?.as_f64());
            let _ = write!(out, "<td class=\"peer\">{}</td>", value.map_or(String::new(), number));
        }
        out += "</tr>\n";
    }
    out += "</tbody>\n</table></div>\n<div class=\"plot\"></div>\n";
    if !notes.0.is_empty() {
        out += "<ol class=\"notes\">\n";
        out.extend(notes.0.iter().map(|note| format!("<li>{note}</li>\n")));
        out += "</ol>\n";
    }
    out + "</section>\n"
}

fn cell(column: &str, cell: &Value, notes: &mut Notes) -> String {
    if cell.is_null() {
        return format!("<td data-column=\"{column}\"></td>");
    }
    let of = |pointer| text(cell, pointer);
    let (kind, state, ours) = (of("/kind"), of("/state"), of("/ours"));
    let ours = match (state.as_str(), ours.is_empty()) {
        ("differs", _) => format!("{ours}, not {}", of("/asserted")),
        (_, false) if kind == "out-of-reach" => format!("nearest: {ours}"),
        (_, false) => ours,
        ("failed", _) => "failed".into(),
        _ => "-".into(),
    };
    let mut out = format!("<td data-column=\"{column}\" class=\"cell {kind} {state}\"><span class=\"ours\">{ours}</span>");
    let mut add = |class: &str, what: String| {
        let _ = write!(out, " <span class=\"{class}\">{what}</span>");
    };
    if !of("/least").is_empty() && of("/repetitions") != "1" {
        add("spread", format!("{} to {} of {}", of("/least"), of("/greatest"), of("/repetitions")));
    }
    if !of("/cpu_us").is_empty() && (kind == "measured" || kind == "out-of-reach") {
        add("cpu", format!("CPU {} us", of("/cpu_us")));
    }
    add("paper", format!("paper: {}", of("/printed")));
    if !of("/corrected").is_empty() {
        add("corrected", format!("corrected: {}", of("/corrected")));
    }
    let marks = [("erratum", "Corrected: "), ("why", "Ours: "), ("reason", "Out of reach: "), ("nearest", "Nearest: "),
        ("failure", "")];
    for (name, word) in marks {
        let note = of(&format!("/{name}"));
        if !note.is_empty() {
            out += &notes.mark(format!("{word}{note}"));
        }
    }
    out + "</td>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_written_for_people() {
        for (value, shown) in [
            (3200.0, "3,200"),
            (1_234_567.8, "1,234,568"),
            (0.55, "0.550"),
            (12.345, "12.3"),
            (-1000.0, "-1,000"),
            (0.0, "0"),
            (0.000_012_34, "0.0000123"),
        ] {
            assert_eq!(number(value), shown);
        }
    }

    #[test]
    fn no_text_of_a_report_is_markup() {
        let evil = "</script><img src=x onerror=alert(1)> /*SCRIPT*/ <!--TABLES-->";
        let cell = json!({ "kind": "exact", "state": "failed", "printed": evil, "failure": evil });
        let report = json!({ "papers": [{ "name": "p", "title": evil, "tables": [{
            "id": "t", "title": evil, "columns": [{ "id": "c", "label": evil, "unit": "" }],
            "rows": [{ "id": "r", "label": evil, "cells": [cell] }],
        }] }] });
        let page = page(&report);
        assert!(!page.contains("<img") && page.contains("&lt;img") && page.contains("\\u003cimg"));
        assert_eq!(page.matches("data-row=\"r\"").count(), 1);
    }
}
