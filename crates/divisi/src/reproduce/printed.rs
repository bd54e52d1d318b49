//! Values as papers print them: numbers with commas, signs and units.

use serde::Deserialize;
use toml::Value;

/// A value as a paper prints it: a text, whose first number counts, or a number.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct PrintedValue(Value);

impl PrintedValue {
    /// The text that is shown; `None` where the paper prints nothing.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let text = match &self.0 {
            Value::String(text) => text.clone(),
            Value::Float(number) => number.to_string(),
            other => other.to_string(),
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// The number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        let text = self.text()?;
        let text = text.get(text.find(|c: char| c.is_ascii_digit())?..)?;
        let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(text.len());
        text.get(..end)?.replace(',', "").trim_end_matches('.').parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
