//! Figures as people read them.

/// A figure that was measured, with at least this many digits, its thousands apart.
pub fn measured(value: f64, least: usize) -> String {
    if value != 0.0 && !(1e-6..1e15).contains(&value.abs()) {
        return format!("{value:.2e}");
    }
    let whole = if value == 0.0 { 1 } else { value.abs().log10().floor() as i32 + 1 };
    let digits = if value.fract() == 0.0 { 0 } else { (least as i32 - whole).max(0) };
    grouped(&format!("{value:.*}", digits.unsigned_abs() as usize))
}

/// A figure that was counted: all its digits, up to twelve.
pub fn exact(value: f64) -> String {
    let rounded = format!("{value:.11e}").parse().unwrap_or(value);
    grouped(&format!("{rounded}"))
}

/// A figure as a paper prints it; thousands apart if it is a plain number.
pub fn printed(text: &str) -> String {
    let plain = text.parse::<f64>().is_ok() && text.starts_with(|c: char| c.is_ascii_digit());
    if plain && text.find('.').unwrap_or(text.len()) > 3 { grouped(text) } else { text.to_owned() }
}

fn grouped(text: &str) -> String {
    let start = text.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let end = text.find(['.', 'e']).unwrap_or(text.len());
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        if at > start && at < end && (end - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_figures_have_four_digits_and_groups_of_three() {
        for (value, shown) in [
            (3200.0, "3,200"),
            (1_234_567.8, "1,234,568"),
            (0.55, "0.5500"),
            (12.345, "12.35"),
            (-1000.0, "-1,000"),
            (-100.0, "-100"),
            (0.0, "0"),
            (0.000_012_34, "0.00001234"),
            (999.96, "1,000.0"),
            (1e15, "1.00e15"),
            (1e-7, "1.00e-7"),
        ] {
            assert_eq!(measured(value, 4), shown);
        }
        assert_eq!(measured(1.2, 3), "1.20");
        assert_eq!(measured(15.24, 3), "15.2");
    }

    #[test]
    fn counted_figures_keep_their_digits() {
        for (value, shown) in [(3200.0, "3,200"), (3.3, "3.3"), (0.1 + 0.2, "0.3"), (1234.5, "1,234.5")] {
            assert_eq!(exact(value), shown);
        }
    }

    #[test]
    fn a_papers_figure_stays_as_it_is_printed_but_for_its_thousands() {
        for (text, shown) in [
            ("568504", "568,504"),
            ("3200", "3,200"),
            ("33.0", "33.0"),
            ("743", "743"),
            ("16650.2", "16,650.2"),
            ("568 504", "568 504"),
            ("30*", "30*"),
            ("~ 1600", "~ 1600"),
            ("", ""),
        ] {
            assert_eq!(printed(text), shown);
        }
    }
}
