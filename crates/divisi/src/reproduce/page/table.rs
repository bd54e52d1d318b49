//! The tables of the papers, in the papers' own form, with our figures in their cells.

use super::cell::{Notes, cell, kind_name};
use super::figures::measured;
use super::html::{counted, escape, holds, list, number, raw, text, title};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// All papers of a report.
pub(super) fn papers(report: &Value) -> String {
    list(report, "papers").iter().map(|paper| self::paper(paper, list(report, "runs"))).collect()
}

fn paper(paper: &Value, runs: &[Value]) -> String {
    let name = text(paper, "name");
    let mut out = format!("<section class=\"paper\" id=\"{name}\">\n<h2>{}</h2>\n", text(paper, "title"));
    out.extend(list(paper, "tables").iter().map(|of| table(&name, of, runs)));
    let left_out = list(paper, "left_out");
    if !left_out.is_empty() {
        let numbers: f64 = left_out.iter().filter_map(|left| number(left, "numbers")).sum();
        let _ = writeln!(
            out,
            "<details>\n<summary>What stands in no table here: {} of the paper</summary>\n<ul>",
            counted(numbers as usize, "number")
        );
        for left in left_out {
            let of = |name| text(left, name);
            let numbers = number(left, "numbers").unwrap_or(0.0);
            let table = title(raw(left, "table"));
            let _ = writeln!(out, "<li>{table}: {} ({numbers}): {}</li>", of("what"), of("reason"));
        }
        out += "</ul>\n</details>\n";
    }
    out + "</section>\n"
}

fn table(paper: &str, of: &Value, runs: &[Value]) -> String {
    let id = format!("{paper}/{}", text(of, "id"));
    let dagger = if holds(of, "machine_a_party") { "†" } else { "" };
    let mut notes = Notes::of(id.clone());
    let body = rows(of, dagger, &mut notes);
    let parts = [
        format!("<section class=\"table\" id=\"{id}\" aria-labelledby=\"{id}/title\">\n"),
        format!("<h3 id=\"{id}/title\">{}. {}</h3>\n", title(raw(of, "id")), text(of, "title")),
        about(of, dagger),
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}/title\"><table>\n"
        ),
        heading(of),
        body,
        "</table></div>\n".to_owned(),
        notes.html(),
        peers_below(of, &id),
        peers(of),
        commands(of, runs),
        // the script draws here; last, so that nothing is missing without it
        "<div class=\"plot\"></div>\n</section>\n".to_owned(),
    ];
    parts.concat()
}

/// The paper's machines and network, and what ours leaves out.
fn about(of: &Value, dagger: &str) -> String {
    let each =
        if dagger.is_empty() { "" } else { " († a machine for each party; here all parties share one)" };
    let mut out = format!(
        "<p class=\"about\"><b>The paper&#39;s machines:</b> {}{each}. <b>Network:</b> {}.",
        text(of, "machines"),
        text(of, "network")
    );
    if !raw(of, "we_leave_out").is_empty() {
        let _ = write!(out, " <b>Ours leaves out:</b> {}.", text(of, "we_leave_out"));
    }
    out += "</p>\n";
    if !raw(of, "note").is_empty() {
        let _ = writeln!(out, "<p class=\"about\">{}</p>", text(of, "note"));
    }
    out
}

/// The kind that most cells of a column have.
fn usual_kind(of: &Value, column: usize) -> Option<&str> {
    let cells =
        list(of, "rows").iter().filter_map(|row| list(row, "cells").get(column)?.get("kind")?.as_str());
    let kinds: Vec<&str> = cells.collect();
    let count = |kind: &str| kinds.iter().filter(|other| **other == kind).count();
    kinds.iter().copied().max_by_key(|kind| (count(kind), *kind != "out-of-reach"))
}

/// Of a table with more columns than this, what others reach stands in a table of its own.
const WIDE: usize = 13;

/// Other implementations whose values stand in the table itself.
fn beside(of: &Value) -> &[Value] {
    let peers = list(of, "peers");
    if list(of, "columns").len() + peers.len() > WIDE { &[] } else { peers }
}

/// The heading of a peer's column, which is that of the column beside which it stands.
fn peer_heading(of: &Value, peer: &Value) -> String {
    let column = list(of, "columns").iter().find(|column| column.get("id") == peer.get("column"));
    let own = |name| column.map_or("", |column| raw(column, name));
    let unit = if raw(peer, "unit").is_empty() { own("unit") } else { raw(peer, "unit") };
    format!(
        "<th scope=\"col\">{}<span class=\"unit\">{}</span><span class=\"facet\">{}</span></th>\n",
        escape(own("label")),
        escape(unit),
        escape(own("network"))
    )
}

/// A heading over each group of neighbours that have this in common.
fn over<'n>(names: impl Iterator<Item = &'n str>, class: &str) -> String {
    let names: Vec<&str> = names.collect();
    let groups = names.chunk_by(|one, next| one == next);
    let heading = |group: &[&str]| {
        let (span, name) = (group.len(), group.first().map_or(String::new(), |name| escape(name)));
        format!("<th scope=\"colgroup\" class=\"{class}\" colspan=\"{span}\">{name}</th>\n")
    };
    groups.map(heading).collect()
}

fn heading(of: &Value) -> String {
    let (columns, peers) = (list(of, "columns"), beside(of));
    let networks = columns.iter().any(|column| !raw(column, "network").is_empty());
    let two = networks || !peers.is_empty();
    let both = if two { " rowspan=\"2\"" } else { "" };
    let mut out = format!("<thead>\n<tr><th scope=\"col\"{both}>as the paper names it</th>\n");
    if two {
        out += &if networks {
            over(columns.iter().map(|column| raw(column, "network")), "network")
        } else {
            over(columns.iter().map(|_| "ours, and the paper's"), "network")
        };
        out += &over(peers.iter().map(|peer| raw(peer, "name")), "by");
        out += "</tr>\n<tr>\n";
    }
    for (at, column) in columns.iter().enumerate() {
        let kind = usual_kind(of, at).map_or("", kind_name);
        let _ = writeln!(
            out,
            "<th scope=\"col\">{}<span class=\"unit\">{}</span><span class=\"facet\">{}</span></th>",
            text(column, "label"),
            text(column, "unit"),
            escape(kind)
        );
    }
    out.extend(peers.iter().map(|peer| peer_heading(of, peer)));
    out + "</tr>\n</thead>\n"
}

/// What a peer reaches in a row.
fn peer_cell(peer: &Value, row: &Value) -> String {
    let value = peer.get("values").and_then(|values| number(values, raw(row, "id")));
    let shown = value.map_or(String::new(), |v| format!("<span class=\"peer\">{}</span>", measured(v, 3)));
    format!("<td class=\"cell\">{shown}</td>")
}

/// What others reach, as a table below a wide one.
fn peers_below(of: &Value, id: &str) -> String {
    let peers = list(of, "peers");
    if peers.is_empty() || !beside(of).is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<h4 id=\"{id}/others\">Other implementations</h4>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-labelledby=\"{id}/others\"><table>\n<thead>\n<tr><th scope=\"col\" rowspan=\"2\">as the paper names it</th>\n"
    );
    out += &over(peers.iter().map(|peer| raw(peer, "name")), "by");
    out += "</tr>\n<tr>\n";
    out.extend(peers.iter().map(|peer| peer_heading(of, peer)));
    out += "</tr>\n</thead>\n<tbody>\n";
    let known = |row: &&Value| {
        peers.iter().any(|peer| peer.get("values").is_some_and(|values| values.get(raw(row, "id")).is_some()))
    };
    for row in list(of, "rows").iter().filter(known) {
        let _ =
            write!(out, "<tr data-of=\"{}\"><th scope=\"row\">{}</th>", text(row, "id"), text(row, "label"));
        out.extend(peers.iter().map(|peer| peer_cell(peer, row)));
        out += "</tr>\n";
    }
    out + "</tbody>\n</table></div>\n"
}

fn rows(of: &Value, dagger: &str, notes: &mut Notes) -> String {
    let mut out = String::from("<tbody>\n");
    for row in list(of, "rows") {
        let r = |name| text(row, name);
        let parties = number(row, "parties").filter(|parties| *parties > 0.0);
        let facts = [r("engine"), r("security"), parties.map_or(String::new(), counted_parties)];
        let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
        let _ = write!(
            out,
            "<tr data-row=\"{}\" data-engine=\"{}\" data-security=\"{}\"><th scope=\"row\">{}<span class=\"facet\">{}</span></th>",
            r("id"),
            r("engine"),
            r("security"),
            r("label"),
            facts.join(", ")
        );
        for (at, (column, cell)) in list(of, "columns").iter().zip(list(row, "cells")).enumerate() {
            out += &self::cell(&text(column, "id"), cell, usual_kind(of, at), dagger, notes);
        }
        out.extend(beside(of).iter().map(|peer| peer_cell(peer, row)));
        out += "</tr>\n";
    }
    out + "</tbody>\n"
}

fn counted_parties(parties: f64) -> String {
    if parties == 1.0 { "1 party".to_owned() } else { format!("{parties} parties") }
}

/// Other implementations: what was measured of them, and what they leave out.
fn peers(of: &Value) -> String {
    let mut items = BTreeSet::new();
    for peer in list(of, "peers") {
        let p = |name| text(peer, name);
        items.insert(format!(
            "<li><b>{}</b>, commit {}: {}. Leaves out: {}. Measured on {}.</li>\n",
            p("name"),
            p("commit"),
            p("flags"),
            p("leaves_out"),
            p("machine")
        ));
    }
    let items: String = items.into_iter().collect();
    if items.is_empty() { items } else { format!("<ul class=\"peers\">\n{items}</ul>\n") }
}

/// The commands whose figures the table has.
fn commands(of: &Value, runs: &[Value]) -> String {
    let cells = list(of, "rows").iter().flat_map(|row| list(row, "cells"));
    let used: BTreeSet<usize> =
        cells.filter_map(|cell| cell.get("run")?.as_u64()).map(|run| run as usize).collect();
    let mut items = String::new();
    for run in used.iter().filter_map(|run| runs.get(*run)) {
        let seconds = number(run, "seconds").map_or(String::new(), |s| format!(" ({} s)", measured(s, 2)));
        let kept = if holds(run, "resumed") { ", kept from an earlier run" } else { "" };
        let _ = writeln!(items, "<li><code>{}</code>{seconds}{kept}</li>", text(run, "command"));
    }
    if items.is_empty() {
        return items;
    }
    format!(
        "<details>\n<summary>{}</summary>\n<ol>\n{items}</ol>\n</details>\n",
        counted(used.len(), "command")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with_columns(count: usize) -> String {
        let columns: Vec<Value> = (0..count)
            .map(|n| json!({ "id": format!("c{n}"), "label": "total", "unit": "ms", "network": "LAN" }))
            .collect();
        let cells: Vec<Value> = (0..count)
            .map(|n| json!({ "kind": "measured", "state": "ok", "ours": 1.5, "run": n / 2 }))
            .collect();
        let peer = json!({ "name": "other", "commit": "01c1d39", "column": "c0", "values": { "r": 4842 } });
        let of = json!({ "id": "table-5", "title": "t", "columns": columns, "peers": [peer, peer],
            "rows": [{ "id": "r", "label": "row", "parties": 3, "cells": cells }, { "id": "s", "cells": [] }] });
        let runs = [
            json!({ "command": "divisi bench aes", "seconds": 4.1, "resumed": true }),
            json!({ "command": "b" }),
        ];
        table("p", &of, &runs)
    }

    #[test]
    fn others_stand_in_the_table_or_below_a_wide_one() {
        let narrow = with_columns(3);
        assert!(
            narrow.contains("class=\"by\" colspan=\"2\">other</th>")
                && !narrow.contains("Other implementations")
        );
        assert_eq!(narrow.matches("<span class=\"peer\">4,842</span>").count(), 2);
        let wide = with_columns(12);
        let (own, below) = wide.split_once("Other implementations").unwrap();
        assert!(!own.contains("4,842") && below.matches("4,842").count() == 2);
        assert!(below.contains("data-of=\"r\"") && !below.contains("data-of=\"s\""));
        // what they are is told once
        assert_eq!(wide.matches("commit 01c1d39").count(), 1);
    }

    #[test]
    fn columns_have_their_network_unit_and_kind_and_the_table_its_commands() {
        let html = with_columns(3);
        for part in [
            "colspan=\"3\">LAN</th>",
            "total<span class=\"unit\">ms</span><span class=\"facet\">measured</span>",
            "<summary>2 commands</summary>",
            "<code>divisi bench aes</code> (4.1 s), kept from an earlier run",
            "3 parties</span></th>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
