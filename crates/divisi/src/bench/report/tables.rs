//! The tables of the page, with their units.

use super::escape::escape;
use super::matrix::RunGroup;
use super::outcome::{MatrixOutcome, MeasuredRun, Point};
use super::papers;
use crate::bench::direction_name;
use divisi_rep3::{Protocol, Security};

/// The cell of a missing figure.
pub(super) const NONE: &str = "\u{2013}";

/// A table of which the first column names the rows.
pub(super) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head: String = header.iter().map(|name| format!("<th>{}</th>", escape(name))).collect();
    let mut out = format!("<div class=\"wide\"><table><thead><tr>{head}</tr></thead>\n<tbody>\n");
    for row in rows {
        out += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let tag = if column == 0 { "th" } else { "td" };
            out += &format!("<{tag}>{}</{tag}>", escape(cell));
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

/// A list of lines, which say where figures come from.
pub(super) fn list(lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    format!("<ul class=\"soft\">\n{lines}</ul>\n")
}

/// A whole number with commas between its thousands.
pub(super) fn whole(x: f64) -> String {
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

fn milliseconds(seconds: f64) -> String {
    format!("{:.2}", seconds * 1e3)
}

fn error(measured: &MeasuredRun) -> String {
    measured.report.measured.verification_error_bits.map_or(NONE.into(), |bits| format!("{bits:.1}"))
}

fn memory(measured: &MeasuredRun) -> String {
    measured
        .report
        .measured
        .peak_rss_bytes
        .map_or(NONE.into(), |bytes| format!("{:.0}", bytes as f64 / 2f64.powi(20)))
}

/// The rounds of the online phase and of the verification.
fn rounds(measured: &MeasuredRun) -> String {
    format!("{} + {}", measured.phase("online").rounds, measured.phase("verification").rounds)
}

fn name(measured: &MeasuredRun) -> String {
    format!("{}, {}", measured.protocol(), measured.report.options.security)
}

/// Encryption by every protocol.
pub fn throughput<'o>(runs: impl Iterator<Item = &'o MeasuredRun>) -> String {
    let row = |m: &MeasuredRun| {
        let blocks = m.report.options.blocks as f64;
        let printed = papers::bits(m.protocol()).map(|(ahead, online)| format!("{ahead} + {online}"));
        let phases = ["preprocessing", "online", "verification"].map(|name| m.phase(name));
        let sum = |figure: fn(&crate::bench::Phase) -> f64| phases.iter().map(figure).sum::<f64>() / blocks;
        vec![
            name(m),
            whole(m.report.online_per_second()),
            whole(m.report.total_per_second()),
            format!("{:.2}", m.report.cpu_us_per_block()),
            phases.map(|phase| format!("{:.1}", phase.bits as f64 / blocks)).join(" + "),
            printed.unwrap_or(NONE.into()),
            whole(sum(|phase| phase.bytes as f64)),
            rounds(m),
            memory(m),
            error(m),
        ]
    };
    table(
        &[
            "protocol",
            "online, blocks/s",
            "total, blocks/s",
            "CPU, us a block and party",
            "bits a block and party: preprocessing + online + verification",
            "MAESTRO Table 1: preprocessing + online",
            "bytes a block and party",
            "rounds: online + verification",
            "memory, MiB a party",
            "error, bits",
        ],
        runs.map(row),
    )
}

/// One block alone.
pub fn one_block<'o>(runs: impl Iterator<Item = &'o MeasuredRun>) -> String {
    let row = |m: &MeasuredRun| {
        let phase = |name| milliseconds(m.phase(name).seconds);
        vec![
            name(m),
            milliseconds(m.report.latency_seconds()),
            phase("online"),
            phase("verification"),
            phase("preprocessing"),
            phase("setup"),
            rounds(m),
            m.report.options.reps.to_string(),
        ]
    };
    let header = [
        "protocol",
        "latency, ms",
        "online, ms",
        "verification, ms",
        "preprocessing, ms",
        "setup, ms",
        "rounds: online + verification",
        "repetitions",
    ];
    table(&header, runs.map(row))
}

/// The latency figure's points.
pub fn latency(points: &[Point<'_>]) -> String {
    let row = |p: &Point<'_>| {
        vec![
            p.measured.report.options.choice.to_string(),
            format!("{}", p.rtt_ms),
            milliseconds(p.seconds()),
            milliseconds(p.bound_seconds()),
            if p.seconds() <= p.bound_seconds() { "yes" } else { "no" }.into(),
            rounds(p.measured),
            milliseconds(p.loopback_seconds),
            milliseconds(p.measured.phase("preprocessing").seconds),
            p.measured.report.options.reps.to_string(),
        ]
    };
    let header = [
        "protocol (mode)",
        "round trip, ms",
        "latency, ms",
        "bound, ms",
        "within",
        "rounds: online + verification",
        "over loopback, ms",
        "preprocessing, ms",
        "repetitions",
    ];
    table(&header, points.iter().map(row))
}

/// Runs compared with encryption by one thread under a key of 128 bits.
pub fn variations(outcome: &MatrixOutcome, runs: &[&MeasuredRun]) -> String {
    let row = |m: &&MeasuredRun| {
        let (o, r) = (&m.report.options, &m.report);
        let usual = outcome.throughput(m.protocol(), o.security);
        let beside = usual.map_or(NONE.into(), |usual| {
            let per = 100.0 * r.total_per_second() / usual.report.total_per_second();
            format!("{per:.0} %")
        });
        vec![
            format!("{}, AES-{} {}", name(m), o.key.bits(), direction_name(o.direction)),
            whole(o.blocks as f64),
            o.threads.to_string(),
            whole(r.online_per_second()),
            whole(r.total_per_second()),
            beside,
            format!("{:.2}", r.cpu_us_per_block()),
            memory(m),
        ]
    };
    let header = [
        "protocol",
        "blocks",
        "threads",
        "online, blocks/s",
        "total, blocks/s",
        "total, of encryption above",
        "CPU, us a block and party",
        "memory, MiB a party",
    ];
    table(&header, runs.iter().map(row))
}

/// Figures of this project, of MAESTRO in its fastest network, and of Symphony.
pub fn beside_papers(outcome: &MatrixOutcome) -> String {
    let row = |m: &MeasuredRun| {
        let security = m.report.options.security;
        let of_table = papers::throughput(m.protocol(), security).map(|row| row.per_second[0]);
        let slide =
            papers::SLIDES.iter().find(|s| s.protocol == m.protocol() && security == Security::Malicious);
        let printed = |figure: Option<u32>| figure.map_or(NONE.into(), |figure| whole(f64::from(figure)));
        vec![
            name(m),
            whole(m.report.online_per_second()),
            whole(m.report.total_per_second()),
            printed(of_table.map(|(online, _)| online)),
            printed(of_table.map(|(_, total)| total)),
            printed(slide.map(|slide| slide.per_second.0)),
            printed(slide.map(|slide| slide.per_second.1)),
        ]
    };
    let settings = &papers::SETTINGS[0];
    let machines = list(&[
        format!(
            "here: {}, {} cores for all three parties, one thread each",
            outcome.host.processor, outcome.host.cores
        ),
        format!("{}: {}; {}", papers::TABLE_5_SOURCE, settings.machines, settings.network),
        format!("{}: {}", papers::SLIDES_SOURCE, papers::SLIDES_MACHINES),
    ]);
    let header = [
        "blocks/s",
        "online, here",
        "total, here",
        "online, MAESTRO",
        "total, MAESTRO",
        "online, Symphony",
        "total, Symphony",
    ];
    let megabytes = |s: &papers::Slide| {
        let ahead = s
            .preprocessing
            .map_or(String::new(), |(seconds, mb)| format!("preprocessing {seconds} s and {mb} MB, "));
        format!("{} ({}): {ahead}online {} s and about {} MB", s.name, s.protocol, s.online.0, s.online.1)
    };
    let note = papers::SLIDES.iter().map(megabytes).collect::<Vec<_>>().join("; ");
    machines
        + &table(&header, outcome.of(RunGroup::Throughput).map(row))
        + &format!("<p class=\"soft\">The slide's times and data: {}.</p>\n", escape(&note))
}

/// MAESTRO, Table 5, complete.
pub fn networks() -> String {
    let place = |setting: &papers::Setting| format!("{}: {}", setting.network, setting.machines);
    let machines = list(&papers::SETTINGS.each_ref().map(place));
    let columns = ["MAESTRO, Table 5: online / total, blocks/s", "here called"];
    let header: Vec<&str> =
        columns.into_iter().chain(papers::SETTINGS.iter().map(|setting| setting.network)).collect();
    let row = |row: &papers::Throughput| {
        let figures = row
            .per_second
            .map(|(online, total)| format!("{} / {}", whole(f64::from(online)), whole(f64::from(total))));
        let ours = row.protocol.map_or(NONE, Protocol::name).to_owned();
        [format!("{}, {}", row.name, row.security), ours].into_iter().chain(figures).collect()
    };
    machines + &table(&header, papers::TABLE_5.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart_and_cells_are_escaped() {
        assert_eq!([0.0, 999.4, 1000.0, 1_234_567.0].map(whole), ["0", "999", "1,000", "1,234,567"]);
        let html = table(&["a<"], [vec!["b&".to_owned(), "c".to_owned()]]);
        assert!(html.contains("<th>a&lt;</th>") && html.contains("<tr><th>b&amp;</th><td>c</td></tr>"));
    }

    #[test]
    fn the_whole_table_of_the_paper_is_there() {
        let html = networks();
        assert_eq!(html.matches("<tr>").count(), 1 + papers::TABLE_5.len());
        assert!(html.contains("775,697 / 320,622") && html.contains("5,056 / 3,289"));
    }
}
