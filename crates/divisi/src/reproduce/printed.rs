//! Values as papers print them: numbers with commas, signs and units.

use serde::Deserialize;

/// A value as a paper prints it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "a value of the catalogue is a number or a text")]
pub enum PrintedValue {
    /// A number, which is shown as it is written.
    Number(f64),
    /// A text, whose first number counts.
    Text(String),
}

impl PrintedValue {
    /// The text that is shown; `None` where the paper prints nothing.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            PrintedValue::Number(number) => Some(number.to_string()),
            PrintedValue::Text(text) => (!text.trim().is_empty()).then(|| text.clone()),
        }
    }

    /// The number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        let PrintedValue::Text(text) = self else { return self.text()?.parse().ok() };
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
        let of = |text: &str| PrintedValue::Text(text.into()).number();
        for (text, number) in [
            ("2,979", 2979.0),
            ("~32", 32.0),
            ("\u{2248} 714KB/s", 714.0),
            ("0.23", 0.23),
            ("8.4 MB (all)", 8.4),
            ("5.", 5.0),
        ] {
            assert_eq!(of(text), Some(number), "{text}");
        }
        assert_eq!((of("-"), of(""), PrintedValue::Text(" ".into()).text()), (None, None, None));
        assert_eq!(PrintedValue::Number(8.0).text().as_deref(), Some("8"));
        assert_eq!(PrintedValue::Number(0.5).number(), Some(0.5));
    }
}
