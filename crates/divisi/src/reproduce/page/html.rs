//! Texts of the report's JSON as HTML.

use serde_json::Value;

/// Text for HTML, between tags or within quotes.
pub(super) fn escape(text: &str) -> String {
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

/// The elements of a member that is a list.
pub(super) fn list<'r>(of: &'r Value, name: &str) -> &'r [Value] {
    of.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A member that is a text, or no text if there is none: as it is, not as HTML.
pub(super) fn raw<'r>(of: &'r Value, name: &str) -> &'r str {
    of.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A member that is a text, as HTML.
pub(super) fn text(of: &Value, name: &str) -> String {
    escape(raw(of, name))
}

/// A member that is a number.
pub(super) fn number(of: &Value, name: &str) -> Option<f64> {
    of.get(name).and_then(Value::as_f64)
}

/// Whether a member is true.
pub(super) fn holds(of: &Value, name: &str) -> bool {
    of.get(name) == Some(&Value::Bool(true))
}

/// A table's id as a title: `figure-13b` is "Figure 13b", and what no paper has is "Ours".
pub(super) fn title(id: &str) -> String {
    let id = if id.starts_with("ours-") { "ours" } else { id };
    let mut letters = id.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    escape(&first.into_iter().chain(letters).collect::<String>().replace('-', " "))
}

/// "1 command", "2 commands".
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
