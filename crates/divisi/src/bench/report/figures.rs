//! The figures of a run that follow from times, each with the spread of its repetitions: as members of a
//! report's JSON, and as the lines of its CSV, whose columns [`mod@super`] describes.

use crate::bench::{BenchReport, Spread};
use serde_json::{Map, Value};

/// The names of the CSV's columns.
pub const COLUMNS: [&str; 7] = ["run", "figure", "unit", "value", "least", "greatest", "repetitions"];

/// A figure that follows from times.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The report's value.
    pub value: f64,
    /// The spread of the repetitions.
    pub spread: Option<Spread>,
}

impl Figure {
    /// A figure by its name.
    pub fn new(name: impl Into<String>, unit: &'static str, value: f64, spread: Option<Spread>) -> Figure {
        Figure { name: name.into(), unit, value, spread }
    }
}

/// The figures that every run has.
pub fn of(report: &BenchReport) -> Vec<Figure> {
    let rates = [
        Figure::new("online_per_second", "1/s", report.online_per_second(), report.online_spread()),
        Figure::new("total_per_second", "1/s", report.total_per_second(), report.total_spread()),
        Figure::new("latency_seconds", "s", report.latency_seconds(), report.latency_spread()),
        Figure::new("cpu_us_per_block_and_party", "us", report.cpu_us_per_block(), report.cpu_spread()),
    ];
    let phases = report.measured.phases.iter().enumerate().flat_map(|(place, (name, phase))| {
        let spread =
            |of: fn(&crate::engine::Took) -> f64| report.spread(|times| times.get(place).map_or(0.0, of));
        [
            Figure::new(format!("{name}_seconds"), "s", phase.seconds, spread(|took| took.seconds)),
            Figure::new(
                format!("{name}_cpu_seconds_per_party"),
                "s",
                phase.cpu_seconds,
                spread(|took| took.cpu_seconds),
            ),
        ]
    });
    rates.into_iter().chain(phases).collect()
}

/// The member `spread` of a run's JSON: for each figure `least` and `greatest`.
pub fn spread_json(figures: &[Figure]) -> Value {
    let member = |figure: &Figure| Some((figure.name.clone(), figure.spread?.to_json()));
    figures.iter().filter_map(member).collect::<Map<String, Value>>().into()
}

/// A line of a CSV. Cells with commas or quotes stand in quotes.
fn line<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let cell = |cell: &str| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    };
    cells.into_iter().map(cell).collect::<Vec<_>>().join(",") + "\r\n"
}

/// The whole CSV: for each run its name, its figures, and the number of its repetitions.
pub fn csv<'r>(runs: impl IntoIterator<Item = (String, Vec<Figure>, &'r BenchReport)>) -> String {
    let number = |x: f64| if x.is_finite() { x.to_string() } else { String::new() };
    let mut out = line(COLUMNS);
    for (run, figures, report) in runs {
        let repetitions = report.measured.repetitions.len().to_string();
        for figure in figures {
            let [least, greatest] = figure
                .spread
                .map_or(["".into(), "".into()], |spread| [spread.least, spread.greatest].map(number));
            let value = number(figure.value);
            out += &line([run.as_str(), &figure.name, figure.unit, &value, &least, &greatest, &repetitions]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::bench::BenchOptions;

    /// 100 blocks; two repetitions of set-up, preprocessing, online and verification.
    fn report() -> BenchReport {
        let options = BenchOptions::default().counted(100);
        sample::report(&options, &[&[9.0, 2.0, 1.0, 1.0], &[9.5, 3.0, 4.0, 1.0]])
    }

    #[test]
    fn each_figure_has_the_spread_of_its_repetitions() {
        let figures = of(&report());
        let spread = |name: &str| {
            let figure = figures.iter().find(|figure| figure.name == name).unwrap();
            let Spread { least, greatest } = figure.spread.unwrap();
            (figure.value, least, greatest)
        };
        assert_eq!(spread("latency_seconds"), (3.5, 2.0, 5.0));
        assert_eq!(spread("online_per_second"), (100.0 / 3.5, 20.0, 50.0));
        assert_eq!(spread("total_per_second"), (100.0 / 6.0, 12.5, 25.0));
        assert_eq!(spread("preprocessing_seconds"), (2.5, 2.0, 3.0));
        assert_eq!(spread("verification_seconds"), (1.0, 1.0, 1.0));
        // the sample's processor time is half of the time
        assert_eq!(spread("online_cpu_seconds_per_party"), (1.25, 0.5, 2.0));
        assert_eq!(spread("cpu_us_per_block_and_party"), (30_000.0, 20_000.0, 40_000.0));
        let json = spread_json(&figures);
        assert_eq!(json["latency_seconds"], serde_json::json!({ "least": 2.0, "greatest": 5.0 }));
        assert_eq!(json.as_object().unwrap().len(), 4 + 2 * 4);
    }

    #[test]
    fn a_line_of_the_csv_is_a_figure_of_a_run() {
        let report = report();
        let text = csv([("lut16, \"100\" blocks".to_owned(), of(&report), &report)]);
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 1 + 4 + 2 * 4);
        assert_eq!(lines[0], "run,figure,unit,value,least,greatest,repetitions");
        assert_eq!(lines[3], "\"lut16, \"\"100\"\" blocks\",latency_seconds,s,3.5,2,5,2");
    }

    #[test]
    fn a_rate_of_no_time_is_an_empty_cell() {
        let rate = Figure::new("online_per_second", "1/s", f64::INFINITY, Spread::of([f64::INFINITY]));
        let text = csv([("a".to_owned(), vec![rate], &report())]);
        assert!(text.ends_with("\r\na,online_per_second,1/s,,,,2\r\n"), "{text}");
    }
}
