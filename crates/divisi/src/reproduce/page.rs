//! The page of a reproduction, and its cells as CSV: templates that are filled with the report's JSON. The
//! page carries that JSON inside, from which a script draws plots; its tables stand alone without it.

mod figures;

use data_encoding::BASE64;
use figures::{exact, factor, measured, percent, printed};
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, UndefinedBehavior, Value, context, escape_formatter};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page/template.html");
const CSV: &str = include_str!("page/report.csv");
const STYLE: &str = concat!(include_str!("vendor/uPlot.min.css"), "\n", include_str!("page/page.css"));
/// The page's script: marks, plots that are made of them, and what there is to draw.
const SCRIPT: &str =
    concat!(include_str!("page/marks.js"), include_str!("page/plots.js"), include_str!("page/page.js"));
/// The library that draws.
const UPLOT: &str = include_str!("vendor/uPlot.iife.min.js");
/// Its licence, which goes with every copy.
const UPLOT_LICENSE: &str = include_str!("vendor/LICENSE");

/// The page of a report. It fails only if the template does.
pub fn page(report: &Json) -> Result<String, Error> {
    // no text of a report ends the element that it stands in
    let json = report.to_string().replace('<', "\\u003c");
    let safe = |text: &str| Value::from_safe_string(text.to_owned());
    engine().render_named_str(
        "page.html",
        PAGE,
        context! {
            report => Value::from_serialize(report),
            json => safe(&json),
            // nothing else that is inline runs, wherever it came from
            sources => safe(&format!("{} {}", source(UPLOT), source(SCRIPT))),
            style => safe(STYLE),
            script => safe(SCRIPT),
            uplot => safe(UPLOT),
            licence => UPLOT_LICENSE,
        },
    )
}

/// The cells of a report as CSV (RFC 4180): a line for each cell. It fails only if the template does.
pub fn csv(report: &Json) -> Result<String, Error> {
    engine().render_named_str("report.csv", CSV, context! { report => Value::from_serialize(report) })
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
    engine.add_filter("factor", factor);
    engine.add_filter("percent", percent);
    engine.add_filter("printed", |text: &str| printed(text));
    engine.add_filter("usual", usual);
    engine.add_filter("flat", flat);
    engine.add_filter("neighbours", neighbours);
    engine.add_filter("place", |texts: Vec<Value>, text: Value| {
        texts.iter().position(|other| *other == text).map(|at| at + 1)
    });
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
    names.chunk_by(|one, next| one == next).map(|group| Value::from_serialize((group.first(), group.len()))).collect()
}

/// A line of a CSV. Cells with commas, quotes or ends of lines stand in quotes.
fn record(cells: Vec<Value>) -> String {
    let cell = |cell: &Value| match (cell.as_str(), cell.kind()) {
        (Some(text), _) if text.contains([',', '"', '\n', '\r']) => format!("\"{}\"", text.replace('"', "\"\"")),
        (Some(text), _) => text.to_owned(),
        (None, ValueKind::Number) => serde_json::json!(cell).to_string(),
        (None, _) => String::new(),
    };
    cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\r\n"
}
