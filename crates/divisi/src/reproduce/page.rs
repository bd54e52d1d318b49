//! The page of a reproduction: a template with the report's JSON inside, from which a script draws plots,
//! and tables as HTML, which stand alone without it.

mod cell;
mod figures;
mod head;
mod html;
mod table;

use super::page_files::{SCRIPT, STYLE, TEMPLATE, UPLOT, UPLOT_LICENSE, UPLOT_STYLE};
use data_encoding::BASE64;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The page of a report.
#[must_use]
pub fn page(report: &Value) -> String {
    // no text of a report ends the element that it stands in
    let json = report.to_string().replace('<', "\\u003c");
    fill([
        // nothing else that is inline runs, wherever it came from
        ("/*SOURCES*/", &format!("{} {}", source(UPLOT), source(SCRIPT))),
        ("/*STYLE*/", &format!("{UPLOT_STYLE}\n{STYLE}")),
        ("<!--HEAD-->", &head::head(report)),
        ("<!--TABLES-->", &table::papers(report)),
        ("<!--LICENSE-->", &html::escape(UPLOT_LICENSE)),
        ("/*REPORT*/", &json),
        ("/*UPLOT*/", UPLOT),
        ("/*SCRIPT*/", SCRIPT),
    ])
}

/// The template with its parts; what is put in is not searched for what comes next.
fn fill(parts: [(&str, &str); 8]) -> String {
    let mut out = String::new();
    for line in TEMPLATE.lines() {
        let part = parts.iter().find(|(mark, _)| *mark == line.trim());
        out += part.map_or(line, |(_, part)| part);
        out.push('\n');
    }
    out
}

/// A script as Content-Security-Policy names it: the digest of all between its tags, line breaks included.
fn source(script: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(format!("\n{script}\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_part_has_one_line_in_the_template() {
        for mark in [
            "/*SOURCES*/",
            "/*STYLE*/",
            "<!--HEAD-->",
            "<!--TABLES-->",
            "<!--LICENSE-->",
            "/*REPORT*/",
            "/*UPLOT*/",
            "/*SCRIPT*/",
        ] {
            assert_eq!(TEMPLATE.lines().filter(|line| line.trim() == mark).count(), 1, "{mark}");
        }
    }

    #[test]
    fn no_text_of_a_report_is_markup_or_a_place_for_a_part() {
        let evil = "</script><img src=x onerror=alert(1)>\n/*SCRIPT*/\n<!--TABLES-->\n\"'&";
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
        let page = page(&report);
        assert!(!page.contains("<img") && page.contains("&lt;img") && page.contains("\\u003cimg"));
        assert_eq!(page.matches("data-row=\"r\"").count(), 1);
        assert_eq!(page.matches("const Plots = ").count(), 1);
        assert_eq!(page.matches("</script>").count(), 3);
    }

    #[test]
    fn the_policy_names_the_scripts_that_stand_in_the_page() {
        let page = page(&json!({}));
        let scripts: Vec<&str> =
            page.split("<script>").skip(1).filter_map(|rest| rest.split("</script>").next()).collect();
        assert_eq!(scripts.len(), 2);
        for script in scripts {
            let digest = BASE64.encode(&Sha256::digest(script));
            assert!(page.contains(&format!("'sha256-{digest}'")));
        }
    }
}
