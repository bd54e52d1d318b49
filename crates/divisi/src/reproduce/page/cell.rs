//! A cell of a table: our figure, the paper's, and what must be known of both.

use super::figures::{exact, factor, measured, percent, printed};
use super::html::{escape, number, raw, text};
use serde_json::Value;
use std::fmt::Write;

/// The notes of a table, each once.
pub(super) struct Notes {
    /// The id of the table's section.
    table: String,
    texts: Vec<String>,
}

impl Notes {
    pub(super) fn of(table: String) -> Self {
        Self { table, texts: Vec::new() }
    }

    /// The numbers of these notes, with links; those that are empty are none.
    fn marks(&mut self, notes: impl IntoIterator<Item = String>) -> String {
        let mut marks = Vec::new();
        for note in notes.into_iter().filter(|note| !note.is_empty()) {
            let at = self.texts.iter().position(|other| *other == note).unwrap_or(self.texts.len());
            if at == self.texts.len() {
                self.texts.push(note);
            }
            marks.push(format!("<a href=\"#{}/note-{}\">{}</a>", self.table, at + 1, at + 1));
        }
        if marks.is_empty() { String::new() } else { format!("<sup>{}</sup>", marks.join(", ")) }
    }

    /// All of them, as a list.
    pub(super) fn html(&self) -> String {
        let item = |(at, text)| format!("<li id=\"{}/note-{}\">{text}</li>\n", self.table, at + 1);
        let items: String = self.texts.iter().enumerate().map(item).collect();
        if items.is_empty() { items } else { format!("<ol class=\"notes\">\n{items}</ol>\n") }
    }
}

/// A kind in words.
pub(super) fn kind_name(kind: &str) -> &str {
    match kind {
        "out-of-reach" => "out of reach",
        kind => kind,
    }
}

/// A cell under a column whose cells are mostly of the kind `usual`; `dagger` stands behind figures of a
/// paper that had a machine for each party.
pub(super) fn cell(
    column: &str,
    cell: &Value,
    usual: Option<&str>,
    dagger: &str,
    notes: &mut Notes,
) -> String {
    if cell.is_null() {
        return format!("<td data-column=\"{column}\" class=\"cell empty\"></td>");
    }
    let (kind, state) = (raw(cell, "kind"), raw(cell, "state"));
    let ours = number(cell, "ours");
    let marks = notes.marks(notes_of(cell));
    let mut out = format!("<td data-column=\"{column}\" class=\"cell {kind} {state}\">");
    let mut add = |class: &str, what: &str| {
        let _ = write!(out, "<span class=\"{class}\">{what}</span>");
    };
    let shown = |value| if kind == "exact" { exact(value) } else { measured(value, 4) };
    match ours {
        Some(value) if kind == "out-of-reach" => {
            add("ours nearest", &format!("<span class=\"hide\">nearest run </span>{}{marks}", shown(value)));
        }
        Some(value) => add("ours", &format!("<span class=\"hide\">ours </span>{}{marks}", shown(value))),
        None => add("ours none", &format!("{}{marks}", missing(cell))),
    }
    // an asterisk: the paper draws it, or has no figure
    if !matches!(raw(cell, "printed"), "" | "*") {
        let printed = escape(&printed(raw(cell, "printed")));
        let paper = match number(cell, "corrected") {
            Some(corrected) => format!("<del>{printed}</del> <ins>{}</ins>", exact(corrected)),
            None => printed,
        };
        add("paper", &format!("<span class=\"hide\">paper </span>{paper}{dagger}"));
        if let Some(ratio) = ratio(cell, kind) {
            // the blank lets a narrow column break here
            add("ratio", &format!(" {ratio}"));
        }
    }
    if let Some(asserted) = number(cell, "asserted").filter(|_| state == "differs") {
        add("state", &format!("has to be {}", exact(asserted)));
    }
    let middle = ours.filter(|value| *value != 0.0);
    // bytes are the same in each repetition
    let greatest = number(cell, "greatest").filter(|greatest| number(cell, "least") != Some(*greatest));
    if let (Some(least), Some(greatest), Some(middle)) = (number(cell, "least"), greatest, middle) {
        add("spread", &format!("{} to {} %", percent(least, middle), percent(greatest, middle)));
    }
    if let Some(cpu) = number(cell, "cpu_us").filter(|_| kind != "exact" && ours.is_some()) {
        add("cpu", &format!("CPU {} µs", measured(cpu, 3)));
    }
    if usual != Some(kind) && (kind != "out-of-reach" || ours.is_some()) {
        add("kind", kind_name(kind));
    }
    out + "</td>"
}

/// What stands where there is no figure.
fn missing(cell: &Value) -> &'static str {
    match raw(cell, "state") {
        "failed" => "failed",
        _ if raw(cell, "kind") == "out-of-reach" => "out of reach",
        _ if !raw(cell, "failure").is_empty() => "not run",
        _ => "with --full",
    }
}

/// Our figure divided by the paper's; of counted figures whether they are equal.
fn ratio(cell: &Value, kind: &str) -> Option<String> {
    let ours = number(cell, "ours").filter(|_| kind != "out-of-reach")?;
    let paper = number(cell, "corrected").or_else(|| number(cell, "paper"))?;
    if kind == "exact" {
        return Some(if (ours - paper).abs() <= 1e-9 * paper.abs() { "=" } else { "≠" }.to_owned());
    }
    (paper != 0.0).then(|| factor(ours, paper))
}

/// Why the paper errs, why ours is another, why there is none, and what ran instead.
fn notes_of(cell: &Value) -> [String; 4] {
    let mut reason = text(cell, "reason");
    if !raw(cell, "nearest").is_empty() {
        reason += &format!(
            "{}The nearest run: {}",
            if reason.is_empty() { "" } else { ". " },
            text(cell, "nearest")
        );
    }
    [text(cell, "erratum"), text(cell, "why"), reason, text(cell, "failure")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(value: &Value) -> String {
        cell("c", value, Some("measured"), "†", &mut Notes::of("p/t".into()))
    }

    #[test]
    fn a_measured_cell_has_both_figures_their_ratio_and_the_spread() {
        let html = shown(
            &json!({ "kind": "measured", "state": "ok", "printed": "5,844", "paper": 5844, "ours": 7012.4,
            "least": 6900.0, "greatest": 7100.0, "cpu_us": 5.4 }),
        );
        for part in [">7,012<", "5,844†<", "> 1.20×<", ">−1.6 to +1.2 %<", ">CPU 5.40 µs<"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("class=\"kind\""));
        let same =
            json!({ "kind": "measured", "state": "ok", "ours": 22.0, "least": 22.0, "greatest": 22.0 });
        assert!(!shown(&same).contains("spread"));
        let drawn = json!({ "kind": "measured", "state": "ok", "printed": "*", "ours": 22.0 });
        assert!(!shown(&drawn).contains("paper"));
    }

    #[test]
    fn a_counted_cell_that_differs_says_what_it_has_to_be() {
        let html =
            shown(&json!({ "kind": "exact", "state": "differs", "printed": "30", "paper": 30, "ours": 41,
            "asserted": 40, "why": "four products", "corrected": 40, "erratum": "prints 30" }));
        for part in [
            "class=\"cell exact differs\"",
            ">41<",
            "<del>30</del> <ins>40</ins>†",
            "≠",
            "has to be 40",
            "<a href=\"#p/t/note-1\">1</a>, <a href=\"#p/t/note-2\">2</a>",
            ">exact<",
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
            let html = shown(
                &json!({ "kind": kind, "state": state, "printed": "1", "paper": 1, "failure": failure }),
            );
            assert!(html.contains(&format!("ours none\">{word}<")), "{html}");
            assert!(!html.contains("ratio"));
        }
        let near =
            shown(&json!({ "kind": "out-of-reach", "state": "ok", "printed": "1", "paper": 1, "ours": 2.5,
            "reason": "no", "nearest": "another" }));
        assert!(near.contains("ours nearest") && !near.contains("ratio"), "{near}");
    }
}
