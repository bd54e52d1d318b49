//! A cell of a table, as the report tells of it: what the paper prints, and what is to be put beside it.

use super::figure::Figure;
use serde::{Deserialize, Serialize, Serializer};

/// How a figure of ours stands to the one of a paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// A count that has to be equal: bits, rounds, gates, bytes.
    Exact,
    /// A figure of time, or of a size that depends on parameters.
    #[default]
    Measured,
    /// A formula over other figures.
    Derived,
    /// What this machine or this project cannot do, with the reason.
    OutOfReach,
}

/// A value as a paper prints it: a text, whose first number counts, or a number.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct PrintedValue(toml::Value);

impl PrintedValue {
    /// The text that is shown; `None` where the paper prints nothing.
    pub fn text(&self) -> Option<String> {
        let text = match &self.0 {
            toml::Value::String(text) => text.clone(),
            toml::Value::Float(number) => number.to_string(),
            other => other.to_string(),
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// The number.
    pub fn number(&self) -> Option<f64> {
        let text = self.text()?;
        let text = text.get(text.find(|c: char| c.is_ascii_digit())?..)?;
        let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(text.len());
        text.get(..end)?.replace(',', "").trim_end_matches('.').parse().ok()
    }
}

/// A command that runs.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// Its arguments, without the program, separated by spaces.
    pub command: String,
    /// The estimate of its seconds.
    pub seconds: f64,
    /// The memory of all its processes, in MiB, if it is much.
    pub memory_mib: Option<u64>,
}

/// A cell: the plan, and what came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReportCell {
    /// Its name, `TABLE/ROW/COLUMN`.
    #[serde(skip)]
    pub at: String,
    pub kind: CellKind,
    /// What the paper prints.
    pub printed: String,
    #[serde(serialize_with = "whole")]
    pub paper: Option<f64>,
    /// The value that the paper should print, and why.
    #[serde(serialize_with = "whole")]
    pub corrected: Option<f64>,
    pub erratum: Option<String>,
    /// What an exact figure of ours has to be, and why where that is another value.
    #[serde(serialize_with = "whole")]
    pub asserted: Option<f64>,
    pub why: Option<String>,
    /// Why it is out of reach, and what is measured instead.
    pub reason: Option<String>,
    pub nearest: Option<String>,
    pub figure: Option<Figure>,
    /// The command; `None` if none runs for this cell.
    #[serde(skip)]
    pub command: Option<PlannedRun>,
    /// Whether it runs with `--full` alone, and this is not that.
    #[serde(skip)]
    pub left_out: bool,
    pub state: &'static str,
    #[serde(serialize_with = "whole")]
    pub ours: Option<f64>,
    /// The ends of the spread, and of how many repetitions.
    #[serde(serialize_with = "whole")]
    pub least: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub greatest: Option<f64>,
    pub repetitions: Option<usize>,
    pub cpu_us: Option<f64>,
    pub cpu_least: Option<f64>,
    pub cpu_greatest: Option<f64>,
    pub failure: Option<String>,
    /// The run's place in the list.
    pub run: Option<usize>,
}

/// A figure in a report; a whole number as such.
fn whole<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => to.serialize_i64(*value as i64),
        other => other.serialize(to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::Value;

    #[test]
    fn the_first_number_of_a_text_counts() {
        let of = |text: &str| PrintedValue(Value::from(text));
        for (text, number) in [
            ("2,979", 2979.0),
            ("~32", 32.0),
            ("\u{2248} 714KB/s", 714.0),
            ("0.23", 0.23),
            ("8.4 MB (all)", 8.4),
            ("5.", 5.0),
        ] {
            assert_eq!(of(text).number(), Some(number), "{text}");
        }
        assert_eq!((of("-").number(), of("").number(), of(" ").text()), (None, None, None));
    }

    #[test]
    fn numbers_are_shown_without_digits_that_say_nothing() {
        for (value, text, number) in [
            (Value::from(8.0), "8", 8.0),
            (Value::from(0.5), "0.5", 0.5),
            (Value::from(568_504), "568504", 568_504.0),
        ] {
            let value = PrintedValue(value);
            assert_eq!((value.text().as_deref(), value.number()), (Some(text), Some(number)));
        }
    }
}
