//! The page of a reproduction, and its cells as CSV: templates that are filled with the report's JSON. The
//! page carries that JSON inside, from which a script draws plots; its tables stand alone without it.

mod figures;

use data_encoding::BASE64;
use figures::{exact, measured, printed};
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, UndefinedBehavior, Value, context, escape_formatter};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// The page's script: marks, plots that are made of them, and what there is to draw.
const SCRIPT: &str =
    concat!(include_str!("page/marks.js"), include_str!("page/plots.js"), include_str!("page/page.js"));
/// The library that draws.
const UPLOT: &str = include_str!("vendor/uPlot.iife.min.js");

/// The page of a report. It fails only if the template does.
pub fn page(report: &Json) -> Result<String, Error> {
    let safe = |text: &str| Value::from_safe_string(text.to_owned());
    engine().render_named_str(
        "template.html",
        include_str!("page/template.html"),
        context! {
            report => Value::from_serialize(report),
            // no text of a report ends the element that it stands in
            json => safe(&report.to_string().replace('<', "\\u003c")),
            // nothing else that is inline runs, wherever it came from
            sources => safe(&format!("{} {}", source(UPLOT), source(SCRIPT))),
            style => safe(concat!(include_str!("vendor/uPlot.min.css"), "\n", include_str!("page/page.css"))),
            script => safe(SCRIPT),
            uplot => safe(UPLOT),
            licence => include_str!("vendor/LICENSE"),
        },
    )
}

/// The cells of a report as CSV (RFC 4180): a line for each cell. It fails only if the template does.
pub fn csv(report: &Json) -> Result<String, Error> {
    let report = Value::from_serialize(report);
    engine().render_named_str("report.csv", include_str!("page/report.csv"), context! { report })
}

/// A script as Content-Security-Policy names it: the digest of all between its tags, line breaks included.
fn source(script: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(format!("\n{script}\n"))))
}

/// The engine of templates, with what ours need: a file's ending says whether its texts are escaped.
fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_trim_blocks(true);
    engine.set_lstrip_blocks(true);
    // what a report does not have is empty
    engine.set_undefined_behavior(UndefinedBehavior::Chainable);
    engine.set_formatter(|out, state, value| match value.kind() {
        ValueKind::None => Ok(()),
        _ => escape_formatter(out, state, value),
    });
    engine.add_filter("digits", |value: Value, digits: usize| {
        f64::try_from(value).map_or("?".to_owned(), |value| format!("{value:.digits$}"))
    });
    engine.add_filter("measured", |value: f64, least: Option<usize>| measured(value, least.unwrap_or(4)));
    engine.add_filter("exact", exact);
    engine.add_filter("printed", printed);
    engine.add_filter("usual", usual);
    engine.add_filter("flat", flat);
    engine.add_filter("neighbours", neighbours);
    engine.add_filter("record", record);
    engine
}

/// The kind that stands most often.
fn usual(kinds: Vec<String>) -> Option<String> {
    let count = |kind: &String| kinds.iter().filter(|other| *other == kind).count();
    kinds.iter().max_by_key(|kind| (count(kind), *kind != "out-of-reach")).cloned()
}

/// The elements of all lists, without those that are empty.
fn flat(lists: Vec<Value>) -> Result<Vec<Value>, Error> {
    let lists: Vec<_> = lists.iter().map(Value::try_iter).collect::<Result<_, _>>()?;
    Ok(lists.into_iter().flatten().filter(|value| !value.is_none()).collect())
}

/// Each group of equal neighbours, with its length.
fn neighbours(names: Vec<Value>) -> Vec<Value> {
    let group = |of: &[Value]| Value::from_serialize((of.first(), of.len()));
    names.chunk_by(|one, next| one == next).map(group).collect()
}

/// A line of a CSV. Cells with commas, quotes or ends of lines stand in quotes.
fn record(cells: Vec<Value>) -> String {
    let cell = |cell: &Value| match (cell.as_str(), cell.kind()) {
        (Some(of), _) if of.contains([',', '"', '\n', '\r']) => format!("\"{}\"", of.replace('"', "\"\"")),
        (Some(text), _) => text.to_owned(),
        (None, ValueKind::Number) => serde_json::json!(cell).to_string(),
        (None, _) => String::new(),
    };
    cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The page of a table, without the JSON that it carries.
    fn with(table: &Json, runs: &Json) -> String {
        let report = json!({ "papers": [{ "name": "p", "title": "P", "tables": [table] }], "runs": runs });
        let page = page(&report).unwrap();
        page.split_once("<script type=").unwrap().0.replace("&#x2f;", "/")
    }

    /// A cell under a column whose cells are mostly measured, in a paper that had a machine for each party.
    fn cell(cell: &Json) -> String {
        let usual = json!([{ "id": "a", "cells": [{ "kind": "measured" }] }, { "id": "b", "cells": [{ "kind": "measured" }] },
            { "id": "r", "cells": [cell] }]);
        let table = json!({ "id": "t", "machine_a_party": true, "columns": [{ "id": "c" }], "rows": usual });
        with(&table, &json!([])).rsplit_once("<td data-column=\"c\"").unwrap().1.to_owned()
    }

    fn with_columns(count: usize) -> String {
        let column = |n| json!({ "id": format!("c{n}"), "label": "total", "unit": "ms", "network": "LAN" });
        let cell = |n| json!({ "kind": "measured", "state": "ok", "ours": 1.5, "run": n / 2 });
        let peer = json!({ "name": "other", "commit": "01c1d39", "column": "c0", "values": { "r": 4842 } });
        let table = json!({
            "id": "table-5", "title": "t", "peers": [peer, peer],
            "columns": (0..count).map(column).collect::<Vec<_>>(),
            "rows": [
                { "id": "r", "label": "row", "parties": 3, "cells": (0..count).map(cell).collect::<Vec<_>>() },
                { "id": "s", "cells": [] },
            ],
        });
        let runs =
            json!([{ "command": "divisi bench aes", "seconds": 4.1, "resumed": true }, { "command": "b" }]);
        with(&table, &runs)
    }

    #[test]
    fn no_text_of_a_report_is_markup_or_a_place_for_a_part() {
        let evil = "</script><img src=x onerror=alert(1)>\n{{ script }}\n{% if %}\n\"'&";
        let cell = json!({ "kind": "exact", "state": "failed", "printed": evil, "failure": evil, "run": 0 });
        let peer = json!({ "name": evil, "commit": evil, "column": "c", "values": { "r": 1 } });
        let report = json!({
            "commit": evil,
            "runs": [{ "command": evil, "seconds": 1 }],
            "papers": [{ "name": "p", "title": evil, "tables": [{
                "id": "t", "title": evil, "note": evil, "network": evil, "peers": [peer],
                "columns": [{ "id": "c", "label": evil, "unit": evil, "network": evil }],
                "rows": [{ "id": "r", "label": evil, "engine": evil, "cells": [cell] }],
            }], "left_out": [{ "table": "t", "what": evil, "reason": evil, "numbers": 1 }] }],
        });
        let page = page(&report).unwrap();
        assert!(!page.contains("<img") && page.contains("&lt;img") && page.contains("\\u003cimg"));
        assert_eq!(page.matches("data-row=\"r\"").count(), 1);
        assert_eq!(page.matches("const Plots = ").count(), 1);
        assert_eq!(page.matches("</script>").count(), 3);
    }

    #[test]
    fn the_policy_names_the_scripts_that_stand_in_the_page() {
        let page = page(&json!({})).unwrap();
        let scripts: Vec<&str> =
            page.split("<script>").skip(1).filter_map(|rest| rest.split("</script>").next()).collect();
        assert_eq!(scripts.len(), 2);
        for script in scripts {
            let digest = BASE64.encode(&Sha256::digest(script));
            assert!(page.contains(&format!("'sha256-{digest}'")));
        }
    }

    #[test]
    fn the_library_is_the_one_that_its_readme_names() {
        let readme = include_str!("vendor/README.md");
        let style = include_str!("vendor/uPlot.min.css");
        for (name, file) in [("uPlot.iife.min.js", UPLOT), ("uPlot.min.css", style)] {
            let line = format!("{}  {name}", hex::encode(Sha256::digest(file)));
            assert!(readme.lines().any(|other| other == line), "{line}");
        }
        assert!(UPLOT.contains("v1.6.32") && readme.contains("uPlot 1.6.32"));
    }

    #[test]
    fn no_script_ends_its_own_element() {
        for script in [UPLOT, SCRIPT] {
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
    }

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
        let html = with(&json!({ "id": "table-1", "title": "t", "rows": [{ "cells": cells }] }), &json!([]));
        let counts: String = ["2", "1", "1", "1", "1", "1", "1"].map(|n| format!("<td>{n}</td>")).concat();
        assert!(html.contains(&counts), "{html}");
        assert!(html.contains("<a href=\"#p/table-1\">Table 1</a>"));
    }

    #[test]
    fn the_flags_are_repeated() {
        let report = json!({ "settings": { "machine": "three <hosts>", "rtt_ms": 15, "rate_mbit": 200 },
            "selected": { "paper": "maestro", "table": null }, "disturbed": true, "mode": "full" });
        let html = page(&report).unwrap();
        let [by_rtt, by_rate] = ["<dd>15 ms, by --rtt<", "<dd>200 Mbit/s, by --rate<"];
        for part in ["three &lt;hosts&gt;", by_rtt, by_rate, "<dd>maestro<", "busy machine", "--full"] {
            assert!(html.contains(part), "{part}");
        }
    }

    #[test]
    fn a_measured_cell_has_both_figures_their_ratio_and_the_spread() {
        let html = cell(
            &json!({ "kind": "measured", "state": "ok", "printed": "5,844", "paper": 5844, "ours": 7012.4,
            "least": 6900.0, "greatest": 7100.0, "cpu_us": 5.4 }),
        );
        for part in [">7,012<", "5,844†<", "> 1.20×<", ">−1.6 to +1.2 %<", ">CPU 5.40 µs<"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("class=\"kind\""));
        let same =
            json!({ "kind": "measured", "state": "ok", "ours": 22.0, "least": 22.0, "greatest": 22.0 });
        assert!(!cell(&same).contains("spread"));
        let drawn = json!({ "kind": "measured", "state": "ok", "printed": "*", "ours": 22.0 });
        assert!(!cell(&drawn).contains("paper"));
    }

    #[test]
    fn factors_have_three_digits() {
        for (value, shown) in
            [(120, "1.20×"), (100, "1.00×"), (1500, "15.0×"), (40, "0.400×"), (1_000_000, "10,000×")]
        {
            let html = cell(&json!({ "kind": "measured", "printed": "1", "paper": 100, "ours": value }));
            assert!(html.contains(&format!("> {shown}<")), "{shown}: {html}");
        }
    }

    #[test]
    fn spreads_are_told_in_hundredths() {
        for (least, shown) in
            [(98.4, "−1.6"), (101.3, "+1.3"), (120.0, "+20"), (100.0, "+0.0"), (90.0, "−10")]
        {
            let html = cell(&json!({ "kind": "measured", "ours": 100, "least": least, "greatest": 1000 }));
            assert!(html.contains(&format!(">{shown} to +900 %<")), "{shown}: {html}");
        }
    }

    #[test]
    fn a_counted_cell_that_differs_says_what_it_has_to_be() {
        let html =
            cell(&json!({ "kind": "exact", "state": "differs", "printed": "30", "paper": 30, "ours": 41,
            "asserted": 40, "why": "four products", "corrected": 40, "erratum": "prints 30" }));
        for part in [
            "class=\"cell exact differs\"",
            ">41<",
            "<del>30</del> <ins>40</ins>†",
            "≠",
            "has to be 40",
            "<a href=\"#p/t/note-1\">1</a>, <a href=\"#p/t/note-2\">2</a>",
            ">exact<",
            "<li id=\"p/t/note-1\">prints 30</li>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn what_has_no_figure_says_why_and_has_no_ratio() {
        for (kind, state, failure, word) in [
            ("measured", "failed", "no answer", "failed"),
            ("measured", "not-run", "", "with --full"),
            ("measured", "not-run", "too little memory", "not run"),
            ("out-of-reach", "not-run", "", "out of reach"),
        ] {
            let html = cell(
                &json!({ "kind": kind, "state": state, "printed": "1", "paper": 1, "failure": failure }),
            );
            assert!(html.contains(&format!("ours none\">{word}<")), "{html}");
            assert!(!html.contains("ratio"));
        }
        let near =
            cell(&json!({ "kind": "out-of-reach", "state": "ok", "printed": "1", "paper": 1, "ours": 2.5,
            "reason": "no", "nearest": "another" }));
        assert!(near.contains("ours nearest") && !near.contains("ratio"), "{near}");
        assert!(near.contains("no. The nearest run: another</li>"), "{near}");
    }

    #[test]
    fn others_stand_in_the_table_or_below_a_wide_one() {
        let narrow = with_columns(3);
        assert!(
            narrow.contains("class=\"by\" colspan=\"2\">other</th>")
                && !narrow.contains("Other implementations</h4>")
        );
        assert_eq!(narrow.matches("<span class=\"peer\">4,842</span>").count(), 2);
        let wide = with_columns(12);
        let (own, below) = wide.split_once("Other implementations</h4>").unwrap();
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

    #[test]
    fn a_csv_quotes_what_would_end_a_cell() {
        let of = ["plain", "a,b", "\"so\"", "two\nlines"].map(Value::from);
        assert_eq!(record(of.to_vec()), "plain,\"a,b\",\"\"\"so\"\"\",\"two\nlines\"\r\n");
        let of = [Value::from(3200), Value::from(2.5e-7), Value::from(()), Value::UNDEFINED];
        assert_eq!(record(of.to_vec()), "3200,2.5e-7,,\r\n");
    }
}
