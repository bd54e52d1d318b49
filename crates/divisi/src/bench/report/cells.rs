//! Cells of tables, and the tables that they make.

use super::escape::escape;
use crate::bench::{BenchReport, Spread};

/// The cell of a missing figure.
pub const NONE: &str = "\u{2013}";

/// The shortest cell that counts as words: longer ones with a space in them may break into lines.
const WORDS: usize = 30;

/// A table of which the first column names the rows. Of a cell with two lines the second is in small print.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head: String = header.iter().map(|name| format!("<th>{}</th>", escape(name))).collect();
    let mut out = format!("<div class=\"wide\"><table><thead><tr>{head}</tr></thead>\n<tbody>\n");
    for row in rows {
        out += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let (figure, small) = cell.split_once('\n').unwrap_or((cell, ""));
            let (begin, end) = match column {
                0 => ("<th>", "</th>"),
                _ if figure.len() >= WORDS && figure.contains(' ') => ("<td class=\"words\">", "</td>"),
                _ => ("<td>", "</td>"),
            };
            out += &format!("{begin}{}", escape(figure));
            if !small.is_empty() {
                out += &format!("<small>{}</small>", escape(small));
            }
            out += end;
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

/// A list of lines, which say where figures come from.
pub fn list(lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    format!("<ul class=\"soft\">\n{lines}</ul>\n")
}

/// A whole number with commas between its thousands.
pub fn whole(x: f64) -> String {
    let digits = format!("{:.0}", x.max(0.0));
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The cell of a figure, with the least and the greatest of its repetitions if there are several.
pub fn with_spread(
    value: f64,
    report: &BenchReport,
    spread: Option<Spread>,
    show: impl Fn(f64) -> String,
) -> String {
    let figure = show(value);
    match spread.filter(|_| report.measured.repetitions.len() > 1) {
        Some(Spread { least, greatest }) => format!("{figure}\n{}\u{2013}{}", show(least), show(greatest)),
        None => figure,
    }
}

/// The cell of the online rate.
pub fn online(report: &BenchReport) -> String {
    with_spread(report.online_per_second(), report, report.online_spread(), whole)
}

/// The cell of the total rate.
pub fn total(report: &BenchReport) -> String {
    with_spread(report.total_per_second(), report, report.total_spread(), whole)
}

/// The cell of the processor time of an item, in microseconds.
pub fn cpu(report: &BenchReport) -> String {
    with_spread(report.cpu_us_per_block(), report, report.cpu_spread(), |us| format!("{us:.2}"))
}

/// The cell of the latency, in milliseconds.
pub fn latency_of(report: &BenchReport) -> String {
    with_spread(report.latency_seconds(), report, report.latency_spread(), milliseconds)
}

/// The cell of a phase's milliseconds.
pub fn phase_of(report: &BenchReport, name: &str) -> String {
    let (seconds, spread) = (report.measured.phase(name).seconds, report.seconds_spread(&[name]));
    with_spread(seconds, report, spread, milliseconds)
}

/// Seconds in milliseconds.
pub fn milliseconds(seconds: f64) -> String {
    format!("{:.2}", seconds * 1e3)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::bench::BenchOptions;

    #[test]
    fn thousands_stand_apart_and_cells_are_escaped() {
        assert_eq!([0.0, 999.4, 1000.0, 1_234_567.0].map(whole), ["0", "999", "1,000", "1,234,567"]);
        let html = table(&["a<"], [vec!["b&".to_owned(), "c".to_owned()]]);
        assert!(html.contains("<th>a&lt;</th>") && html.contains("<tr><th>b&amp;</th><td>c</td></tr>"));
        let html = table(&["a", "b", "c"], [vec!["x".to_owned(), "12\n11–13".into(), "word ".repeat(6)]]);
        assert!(html.contains("<td>12<small>11–13</small></td><td class=\"words\">word word"), "{html}");
    }

    #[test]
    fn a_figure_of_several_repetitions_shows_the_least_and_the_greatest() {
        let options = BenchOptions::default().counted(100);
        let report = sample::report(&options, &[&[9.0, 2.0, 0.01, 0.0], &[9.0, 3.0, 0.02, 0.0]]);
        assert_eq!(online(&report), "6,667\n5,000–10,000");
        assert_eq!(total(&report), "40\n33–50");
        assert_eq!(latency_of(&report), "15.00\n10.00–20.00");
        assert_eq!(phase_of(&report, "preprocessing"), "2500.00\n2000.00–3000.00");
        let once = sample::report(&options, &[&[9.0, 2.0, 0.01, 0.0]]);
        assert_eq!((online(&once), latency_of(&once)), ("10,000".into(), "10.00".into()));
    }
}
