//! Plots as SVG, to be embedded in a page: bars, and lines over an axis. Classes of the page determine
//! colours and fonts.

use super::escape::escape;
use std::fmt::Write;

/// Horizontal bars: a group for each label, with a bar or a segment for each series.
pub struct Bars<'a> {
    /// A description, for people who cannot see the plot.
    pub title: &'a str,
    /// The unit of the axis.
    pub unit: &'a str,
    /// The names of the groups.
    pub labels: &'a [String],
    /// The names of the series, and their values, one for each label; `None` where nothing was measured.
    pub series: &'a [(&'a str, Vec<Option<f64>>)],
    /// Whether a group is one bar, with the series stacked.
    pub stacked: bool,
}

/// A line through points.
pub struct Line<'a> {
    /// Its name in the legend; `None` for a line that another line's entry includes.
    pub name: Option<&'a str>,
    /// The number of a colour of the page.
    pub colour: usize,
    /// Whether it is what is expected, drawn dashed and without marks.
    pub expected: bool,
    /// The points, in the order in which the line connects them.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common axis from 0.
pub struct Lines<'a> {
    /// A description, for people who cannot see the plot.
    pub title: &'a str,
    /// The unit of the horizontal axis.
    pub across: &'a str,
    /// The unit of the vertical axis.
    pub up: &'a str,
    /// The lines.
    pub lines: &'a [Line<'a>],
}

const WIDTH: f64 = 480.0;
const LEFT: f64 = 118.0;
const RIGHT: f64 = 58.0;
const BAR: f64 = 13.0;

/// A number for people: three significant figures, thousands and millions by letter.
pub fn short(x: f64) -> String {
    let (scaled, letter) = match x.abs() {
        a if a >= 999_500.0 => (x / 1e6, "M"),
        a if a >= 9_999.5 => (x / 1e3, "k"),
        _ => (x, ""),
    };
    let digits = match scaled.abs() {
        a if a >= 99.95 || a == 0.0 => 0,
        a if a >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.digits$}{letter}")
}

/// The text of a mark of an axis, as short as it can be and still exact.
fn mark(x: f64) -> String {
    let (scaled, letter) = match x {
        x if x >= 1e6 => (x / 1e6, "M"),
        x if x >= 1e4 => (x / 1e3, "k"),
        _ => (x, ""),
    };
    let text = format!("{scaled:.3}");
    format!("{}{letter}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The distance between marks of an axis that reaches to `most`: 1, 2 or 5 times a power of ten, with four to
/// ten distances on the axis.
fn step(most: f64) -> f64 {
    if !most.is_finite() || most <= 0.0 {
        return 1.0;
    }
    let decade = 10f64.powf((most / 4.0).log10().floor());
    let factor = match most / 4.0 / decade {
        f if f >= 5.0 => 5.0,
        f if f >= 2.0 => 2.0,
        _ => 1.0,
    };
    factor * decade
}

fn open(out: &mut String, title: &str, height: f64) {
    let title = escape(title);
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    );
}

fn words(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let _ = write!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
}

fn rule(out: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ =
        write!(out, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
}

/// Draw names beside their symbols, row by row; returns the height that they take.
fn legend(out: &mut String, names: &[(&str, String)]) -> f64 {
    let (mut x, mut y) = (8.0, 14.0);
    for (name, symbol) in names {
        let width = 30.0 + 7.0 * name.chars().count() as f64;
        if x + width > WIDTH && x > 8.0 {
            (x, y) = (8.0, y + 18.0);
        }
        let _ = write!(out, "<g transform=\"translate({x:.1} {y:.1})\">{symbol}</g>");
        words(out, "name", x + 20.0, y, name);
        x += width;
    }
    y + 12.0
}

/// Draw bars.
pub fn bars(bars: &Bars<'_>) -> String {
    let value =
        |values: &[Option<f64>], label: usize| values.get(label).copied().flatten().unwrap_or(0.0).max(0.0);
    let sum = |label| bars.series.iter().map(|(_, values)| value(values, label)).sum::<f64>();
    let largest = |label| bars.series.iter().map(|(_, values)| value(values, label)).fold(0.0, f64::max);
    let reach = |label| if bars.stacked { sum(label) } else { largest(label) };
    let most = (0..bars.labels.len()).map(reach).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let rows = if bars.stacked { 1 } else { bars.series.len() };
    let group = BAR * rows as f64 + 9.0;

    let mut body = String::new();
    let square = |s: usize| format!("<rect class=\"c{s}\" x=\"0\" y=\"-10\" width=\"12\" height=\"12\"/>");
    let names: Vec<_> = bars.series.iter().enumerate().map(|(s, (name, _))| (*name, square(s))).collect();
    let top = legend(&mut body, &names) + 4.0;
    let bottom = top + group * bars.labels.len() as f64;
    let scale = (WIDTH - LEFT - RIGHT) / most;
    let (distance, mut at) = (step(most), 0.0);
    while at <= most {
        let x = LEFT + at * scale;
        rule(&mut body, "grid", (x, top - 2.0), (x, bottom));
        words(&mut body, "mark middle", x, bottom + 15.0, &mark(at));
        at += distance;
    }
    for (l, label) in bars.labels.iter().enumerate() {
        let y = top + group * l as f64 + 2.0;
        words(&mut body, "name end", LEFT - 7.0, y + BAR * rows as f64 / 2.0 + 4.0, label);
        let mut x = LEFT;
        for (s, (name, values)) in bars.series.iter().enumerate() {
            let Some(figure) = values.get(l).copied().flatten() else { continue };
            let (width, row) = (figure.max(0.0) * scale, if bars.stacked { 0.0 } else { s as f64 });
            let (y, label) =
                (y + row * BAR, escape(&format!("{label}, {name}: {} {}", short(figure), bars.unit)));
            let _ = write!(
                body,
                "<rect class=\"c{s}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\"><title>{label}</title></rect>",
                BAR - 1.5
            );
            if bars.stacked {
                x += width;
            } else {
                words(&mut body, "mark", x + width + 4.0, y + BAR - 3.0, &short(figure));
            }
        }
        if bars.stacked {
            words(&mut body, "mark", x + 4.0, y + BAR - 3.0, &short(sum(l)));
        }
    }
    words(&mut body, "mark middle", (LEFT + WIDTH - RIGHT) / 2.0, bottom + 32.0, bars.unit);
    let mut out = String::new();
    open(&mut out, bars.title, bottom + 38.0);
    out + &body + "</svg>"
}

/// The mark of a point. Its shape depends on the colour's number, so that lines differ not only in colour.
fn point(colour: usize, x: f64, y: f64) -> String {
    match colour % 3 {
        0 => format!("<circle class=\"c{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        1 => {
            let (x, y) = (x - 3.5, y - 3.5);
            format!("<rect class=\"c{colour}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"7\" height=\"7\"/>")
        }
        _ => {
            let (top, left, right, low) = (y - 4.5, x - 4.5, x + 4.5, y + 3.5);
            format!("<path class=\"c{colour}\" d=\"M{x:.1} {top:.1}L{right:.1} {low:.1}H{left:.1}Z\"/>")
        }
    }
}

/// Draw lines.
pub fn lines(lines: &Lines<'_>) -> String {
    let all = || lines.lines.iter().flat_map(|line| &line.points);
    let most = |of: fn(&(f64, f64)) -> f64| all().map(of).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let (far, high) = (most(|p| p.0), most(|p| p.1));
    let mut body = String::new();
    let symbol = |line: &Line<'_>| {
        let dash = format!(
            "<path class=\"line l{}{}\" d=\"M0 -4H16\"/>",
            line.colour,
            if line.expected { " expected" } else { "" }
        );
        if line.expected { dash } else { dash + &point(line.colour, 8.0, -4.0) }
    };
    let named = |line: &'_ Line<'_>| line.name.map(|name| (name.to_owned(), symbol(line)));
    let names: Vec<(String, String)> = lines.lines.iter().filter_map(named).collect();
    let names: Vec<(&str, String)> =
        names.iter().map(|(name, symbol)| (name.as_str(), symbol.clone())).collect();
    let top = legend(&mut body, &names) + 18.0;
    let (left, right, bottom) = (48.0, WIDTH - 14.0, top + 260.0);
    let x = |v: f64| left + v / far * (right - left);
    let y = |v: f64| bottom - v / high * (bottom - top);
    let (distance, mut at) = (step(high), 0.0);
    while at <= high {
        rule(&mut body, "grid", (left, y(at)), (right, y(at)));
        words(&mut body, "mark end", left - 6.0, y(at) + 4.0, &mark(at));
        at += distance;
    }
    let mut marks: Vec<f64> = all().map(|p| p.0).collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let mut last = f64::NEG_INFINITY;
    for at in marks {
        rule(&mut body, "grid", (x(at), bottom), (x(at), bottom + 4.0));
        if x(at) - last > 24.0 {
            words(&mut body, "mark middle", x(at), bottom + 17.0, &mark(at));
            last = x(at);
        }
    }
    words(&mut body, "mark", 8.0, top - 10.0, lines.up);
    words(&mut body, "mark middle", (left + right) / 2.0, bottom + 34.0, lines.across);
    for line in lines.lines {
        let mut path = String::new();
        for (i, (a, b)) in line.points.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x(*a), y(*b));
        }
        let expected = if line.expected { " expected" } else { "" };
        let _ = write!(body, "<path class=\"line l{}{expected}\" d=\"{path}\"/>", line.colour);
        if !line.expected {
            line.points.iter().for_each(|(a, b)| body += &point(line.colour, x(*a), y(*b)));
        }
    }
    let mut out = String::new();
    open(&mut out, lines.title, bottom + 40.0);
    out + &body + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_marks_exact() {
        let shorts = [0.0, 0.123, 9.996, 99.96, 4567.0, 45_678.0, 999_600.0, 12_345_678.0].map(short);
        assert_eq!(shorts, ["0", "0.12", "10.0", "100", "4567", "45.7k", "1.00M", "12.3M"]);
        assert_eq!(
            [0.0, 0.2, 2.5, 5000.0, 20_000.0, 1.5e6].map(mark),
            ["0", "0.2", "2.5", "5000", "20k", "1.5M"]
        );
        assert_eq!([0.7, 4.0, 9.0, 25.0, 900_000.0].map(step), [0.1, 1.0, 2.0, 5.0, 200_000.0]);
        assert!([0.0, f64::NAN, f64::INFINITY].iter().all(|x| step(*x) == 1.0));
    }

    #[test]
    fn a_bar_is_as_long_as_its_value_and_a_missing_one_is_not_there() {
        let labels = ["a".to_owned(), "b<".to_owned()];
        let series = [("x", vec![Some(100.0), Some(50.0)]), ("y", vec![Some(25.0), None])];
        let draw =
            |stacked| bars(&Bars { title: "t & u", unit: "n", labels: &labels, series: &series, stacked });
        let plain = draw(false);
        let full = WIDTH - LEFT - RIGHT;
        for width in [full, full / 2.0, full / 4.0] {
            assert!(plain.contains(&format!("width=\"{width:.1}\"")), "{width} {plain}");
        }
        assert_eq!(plain.matches("<rect class=\"c1\"").count(), 1 + 1);
        assert!(plain.contains("b&lt;") && plain.contains("t &amp; u"));
        let stacked = draw(true);
        assert!(stacked.contains(&format!("width=\"{:.1}\"", full * 0.8)) && stacked.contains(">125<"));
    }

    #[test]
    fn lines_meet_the_corners() {
        let of = |expected, points| Line { name: Some("one"), colour: 0, expected, points };
        let drawn = lines(&Lines {
            title: "t",
            across: "ms",
            up: "s",
            lines: &[of(false, vec![(0.0, 0.0), (10.0, 5.0)]), of(true, vec![(0.0, 0.0), (10.0, 10.0)])],
        });
        let (top, bottom) = (14.0 + 12.0 + 18.0, 14.0 + 12.0 + 18.0 + 260.0);
        assert!(drawn.contains(&format!("M48.0 {bottom:.1}L466.0 {top:.1}")), "{drawn}");
        assert_eq!(drawn.matches("<circle").count(), 3);
        assert!(lines(&Lines { title: "t", across: "", up: "", lines: &[] }).ends_with("</svg>"));
    }
}
