//! Figures: what is taken from the report of a command, and computed from it. A figure is an expression of
//! numbers, `+ - * /`, brackets, `min`, `max`, and references in square brackets:
//!
//! - `[PHASE.bits]`, `[PHASE.bytes]`, `[PHASE.rounds]`, `[PHASE.seconds]`, `[PHASE.cpu]`: of one of `phases`;
//! - `[name]`: a member;
//! - `[/a/0/b]`: a JSON pointer;
//! - `[#TABLE/ROW/COLUMN]`: the figure of another cell of the same paper.

use minijinja::{Environment, Expression, context};
use serde::Serialize;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// What computes: the expressions of templates have the arithmetic of figures.
static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut engine = Environment::empty();
    engine.add_function("min", f64::min);
    engine.add_function("max", f64::max);
    engine
});

/// A figure, ready to be computed.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Figure {
    text: String,
    /// The references, in the order in which they stand.
    #[serde(skip)]
    pub references: Vec<String>,
    #[serde(skip)]
    expression: Arc<Expression<'static, 'static>>,
}

impl Figure {
    /// Read an expression, or say what is wrong with it.
    pub fn read(text: &str) -> Result<Figure, String> {
        let mut parts = text.split('[');
        let mut expression = parts.next().unwrap_or_default().to_owned();
        let mut references = Vec::new();
        for part in parts {
            let (name, rest) = part.split_once(']').ok_or("a reference has no end")?;
            expression += &format!("of[{}]{rest}", references.len());
            references.push(name.trim().to_owned());
        }
        let expression = ENGINE.compile_expression_owned(expression);
        let expression = expression.map_err(|e| format!("this gives no number: {e}"))?;
        Ok(Figure { text: text.to_owned(), references, expression: expression.into() })
    }

    /// The value; `of` gives that of a reference.
    pub fn value(&self, of: &mut dyn FnMut(&str) -> Result<f64, String>) -> Result<f64, String> {
        let of: Vec<f64> = self.references.iter().map(|name| of(name)).collect::<Result<_, _>>()?;
        let value = self.expression.eval(context! { of }).and_then(f64::try_from);
        let value = value.map_err(|e| format!("the figure is no number: {e}"))?;
        if value.is_finite() { Ok(value) } else { Err("the figure is a division by zero".into()) }
    }
}

/// What a reference finds in the report of a command; with the number of a repetition, as it was in that one,
/// where it depends on time.
pub fn in_report(report: &Value, reference: &str, repetition: Option<usize>) -> Result<f64, String> {
    let (series, found) = match reference.rsplit_once('.') {
        _ if reference.starts_with('/') => (String::new(), report.pointer(reference)),
        None => (reference.to_owned(), report.get(reference)),
        Some((phase, what)) => {
            let member = match what {
                "bits" | "bytes" => &format!("{what}_sent_per_party"),
                "cpu" => "cpu_seconds_per_party",
                what => what,
            };
            let mut phases = report.get("phases").and_then(Value::as_array).into_iter().flatten();
            let of = phases.find(|of| of.get("name").is_some_and(|name| name == phase));
            (format!("{phase}_{member}"), of.and_then(|of| of.get(member)))
        }
    };
    let repeated = repetition.and_then(|at| report.get("repetitions")?.get(series)?.get(at));
    match repeated {
        // a rate of no time at all is none
        Some(repeated) => Ok(repeated.as_f64().unwrap_or(f64::INFINITY)),
        None => found.and_then(Value::as_f64).ok_or_else(|| format!("the report has no number {reference}")),
    }
}

/// The number of repetitions of which a report tells.
pub fn repetitions(report: &Value) -> usize {
    let series = report.get("repetitions").and_then(Value::as_object);
    series.and_then(|series| series.values().next()?.as_array()).map_or(0, Vec::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(text: &str) -> Result<f64, String> {
        let report = json!({
            "count": 4,
            "online_per_second": 8.0,
            "phases": [{ "name": "pre-work", "bits_sent_per_party": 12, "seconds": 0.5, "rounds": 3 }],
            "deep": [{ "x": 7 }],
            "repetitions": { "online_per_second": [6.0, 9.0], "pre-work_seconds": [0.25, 0.75] },
        });
        Figure::read(text)?.value(&mut |name| in_report(&report, name, None))
    }

    #[test]
    fn expressions_have_the_values_of_arithmetic() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2)*3", 9.0),
            ("8 - 2 - 1", 5.0),
            ("8 / 2 / 2", 2.0),
            ("-2 + 1e3", 998.0),
            ("2.5e-1 * 4", 1.0),
            ("max(1, min(5, 3)) - 1", 2.0),
            ("[pre-work.bits] / [count]", 3.0),
            ("[pre-work.seconds] + [pre-work.rounds]", 3.5),
            ("[/deep/0/x] - [online_per_second]", -1.0),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        for bad in ["", "1 +", "(1", "1 2", "[count", "max(1)", "x", "1e", "[nothing]", "[online.bits]"] {
            assert!(value(bad).is_err(), "{bad}");
        }
        assert!(value("1 / 0").unwrap_err().contains("zero") && value("[pre-work.colour]").is_err());
        assert!(value(&"(".repeat(100_000)).is_err());
    }

    #[test]
    fn a_repetition_has_its_own_times_and_all_have_the_same_counts() {
        let report = json!({
            "count": 4,
            "repetitions": { "latency_seconds": [1.0, null] , "online_seconds": [2.0, 3.0] },
            "phases": [{ "name": "online", "seconds": 2.5, "rounds": 10 }],
        });
        let at = |name, repetition| in_report(&report, name, Some(repetition));
        assert_eq!((at("count", 1), at("online.rounds", 1)), (Ok(4.0), Ok(10.0)));
        assert_eq!((at("online.seconds", 1), at("latency_seconds", 0)), (Ok(3.0), Ok(1.0)));
        assert_eq!(at("latency_seconds", 1), Ok(f64::INFINITY));
        assert_eq!((repetitions(&report), repetitions(&json!({}))), (2, 0));
        assert_eq!(Figure::read("[a] * max([b], 2)").unwrap().references, ["a", "b"]);
    }
}
