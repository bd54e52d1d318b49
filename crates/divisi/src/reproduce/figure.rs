//! Figures: what is taken from the report of a command, and computed from it.
//!
//! A figure is an expression of numbers, `+ - * /`, brackets, `min`, `max`, and references in square
//! brackets, which [`Figure::value`] asks for. Of the report of a command there are:
//!
//! - `[PHASE.bits]`, `[PHASE.bytes]`, `[PHASE.rounds]`, `[PHASE.seconds]`, `[PHASE.cpu]`: of one of `phases`;
//! - `[name]`: a member;
//! - `[/a/0/b]`: a JSON pointer.
//!
//! `[#TABLE/ROW/COLUMN]` is the figure of another cell of the same paper.

use serde_json::Value;

/// A figure, ready to be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure(Term);

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(f64),
    Reference(String),
    Both(char, Box<Term>, Box<Term>),
}

/// How deep brackets may stand in brackets.
const DEEPEST: usize = 32;

impl Figure {
    /// Read an expression.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Figure, String> {
        let mut reader = Reader { rest: text.trim_start(), depth: 0 };
        let term = reader.sum()?;
        match reader.rest {
            "" => Ok(Figure(term)),
            rest => Err(format!("an operator is missing before {rest:?}")),
        }
    }

    /// The references, in the order in which they stand.
    #[must_use]
    pub fn references(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.0.references(&mut found);
        found
    }

    /// The value; `of` gives that of a reference.
    ///
    /// # Errors
    /// That of a reference, or that the value is not a number.
    pub fn value(&self, of: &mut dyn FnMut(&str) -> Result<f64, String>) -> Result<f64, String> {
        let value = self.0.value(of)?;
        if value.is_finite() { Ok(value) } else { Err("the figure is a division by zero".into()) }
    }
}

impl Term {
    fn references<'t>(&'t self, found: &mut Vec<&'t str>) {
        match self {
            Term::Number(_) => {}
            Term::Reference(name) => found.push(name),
            Term::Both(_, a, b) => {
                a.references(found);
                b.references(found);
            }
        }
    }

    fn value(&self, of: &mut dyn FnMut(&str) -> Result<f64, String>) -> Result<f64, String> {
        let (operator, a, b) = match self {
            Term::Number(number) => return Ok(*number),
            Term::Reference(name) => return of(name),
            Term::Both(operator, a, b) => (operator, a.value(of)?, b.value(of)?),
        };
        Ok(match operator {
            '+' => a + b,
            '-' => a - b,
            '*' => a * b,
            '/' => a / b,
            '<' => a.min(b),
            _ => a.max(b),
        })
    }
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// Whether the text goes on like this; then it is read.
    fn takes(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.takes(token) { Ok(()) } else { Err(format!("{token} is missing before {:?}", self.rest)) }
    }

    /// Operands of the next level with operators of this one between them.
    fn chain(
        &mut self,
        operators: [&'static str; 2],
        next: fn(&mut Self) -> Result<Term, String>,
    ) -> Result<Term, String> {
        let mut term = next(self)?;
        while let Some(operator) = operators.into_iter().find(|operator| self.takes(operator)) {
            let operator = operator.chars().next().unwrap_or('+');
            term = Term::Both(operator, term.into(), next(self)?.into());
        }
        Ok(term)
    }

    fn sum(&mut self) -> Result<Term, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("there are too many brackets".into());
        }
        let term = self.chain(["+", "-"], |reader| reader.chain(["*", "/"], Reader::operand))?;
        self.depth -= 1;
        Ok(term)
    }

    fn operand(&mut self) -> Result<Term, String> {
        if self.takes("-") {
            return Ok(Term::Both('-', Term::Number(0.0).into(), self.operand()?.into()));
        }
        if self.takes("[") {
            let (name, rest) = self.rest.split_once(']').ok_or("a reference has no end")?;
            self.rest = rest.trim_start();
            return Ok(Term::Reference(name.trim().to_owned()));
        }
        for (name, operator) in [("min", '<'), ("max", '>')] {
            if self.takes(name) {
                self.expect("(")?;
                let a = self.sum()?;
                self.expect(",")?;
                let b = self.sum()?;
                self.expect(")")?;
                return Ok(Term::Both(operator, a.into(), b.into()));
            }
        }
        if self.takes("(") {
            let term = self.sum()?;
            self.expect(")")?;
            return Ok(term);
        }
        self.number()
    }

    fn number(&mut self) -> Result<Term, String> {
        let mut last = ' ';
        let end = self.rest.find(|c: char| {
            let sign = matches!(c, '+' | '-') && last == 'e';
            last = c;
            !(c.is_ascii_digit() || c == '.' || c == 'e' || sign)
        });
        let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let value = number.parse().map_err(|_| format!("{:?} is no number", self.rest))?;
        self.rest = rest.trim_start();
        Ok(Term::Number(value))
    }
}

/// What a reference finds in the report of a command; with the number of a repetition, as it was in that one,
/// where it depends on time.
///
/// # Errors
/// That there is no such number.
pub fn in_report(report: &Value, reference: &str, repetition: Option<usize>) -> Result<f64, String> {
    let missing = || format!("the report has no number {reference}");
    let of_repetition = |series: &str| {
        let of = report.get("repetitions")?.get(series)?.get(repetition?)?;
        // a rate of no time at all
        Some(of.as_f64().unwrap_or(f64::INFINITY))
    };
    if reference.starts_with('/') {
        return report.pointer(reference).and_then(Value::as_f64).ok_or_else(missing);
    }
    let Some((phase, what)) = reference.rsplit_once('.') else {
        let whole = || report.get(reference).and_then(Value::as_f64);
        return of_repetition(reference).or_else(whole).ok_or_else(missing);
    };
    let member = match what {
        "bits" => "bits_sent_per_party",
        "bytes" => "bytes_sent_per_party",
        "cpu" => "cpu_seconds_per_party",
        "rounds" | "seconds" => what,
        _ => return Err(missing()),
    };
    let of_phase = || {
        let phases = report.get("phases")?.as_array()?;
        phases.iter().find(|of| of.get("name").is_some_and(|name| name == phase))?.get(member)?.as_f64()
    };
    of_repetition(&format!("{phase}_{member}")).or_else(of_phase).ok_or_else(missing)
}

/// The number of repetitions of which a report tells.
#[must_use]
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
        assert!(value(&"(".repeat(100)).unwrap_err().contains("brackets"));
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
        assert_eq!(Figure::read("[a] * max([b], 2)").unwrap().references(), ["a", "b"]);
    }
}
