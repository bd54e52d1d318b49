//! The page of a report: one file with its style and its plots, which fetches nothing, readable on telephones
//! and desktops, with a light and a dark style.

use super::escape::escape;
use super::matrix::RunGroup;
use super::outcome::{MatrixOutcome, MeasuredRun};
use super::paper_page::warning;
use super::svg::{self, Bars, Line, Lines};
use super::{papers, tables};
use crate::mode::Priority;
use divisi_rep3::{Protocol, Security};

const STYLE: &str = include_str!("page.css");
const SECURITIES: [Security; 2] = [Security::SemiHonest, Security::Malicious];

pub(super) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>{svg}<figcaption>{}</figcaption></figure>\n", escape(caption))
}

pub(super) fn section(title: &str, body: &str) -> String {
    if body.is_empty() {
        String::new()
    } else {
        format!("<section>\n<h2>{}</h2>\n{body}</section>\n", escape(title))
    }
}

/// A whole document, of sections.
pub(super) fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// The whole page.
pub fn page(outcome: &MatrixOutcome) -> String {
    let title = if outcome.plan.latency_only {
        "Divisi: latency of one AES block"
    } else {
        "Divisi: AES among three servers"
    };
    let body = [
        warning(&outcome.meanwhile),
        introduction(outcome),
        section("Throughput", &throughput(outcome)),
        section("Processor time", &processor_time(outcome)),
        section("Memory", &memory(outcome)),
        section("Latency of one block", &latency(outcome)),
        section("Decryption, two threads, longer keys, other batches", &variations(outcome)),
        section("Lookups in 65,536 entries, by three factors and by two", &lookups(outcome)),
        section("The papers' figures beside these", &beside_papers(outcome)),
        section("Rounds beside the paper's", &rounds(outcome)),
        section("What the figures mean", MEANING),
    ];
    document(title, &body.concat())
}

/// The comparison of lookups by three factors with lookups by two, for each security.
fn lookups(outcome: &MatrixOutcome) -> String {
    let runs: Vec<&MeasuredRun> = outcome.of(RunGroup::Lookups).collect();
    runs.chunks_exact(2)
        .map(|pair| {
            let (_, text) = crate::bench::lookups::beside(&pair[0].report, &pair[1].report);
            let lines = text.lines().map(|line| format!("<li>{}</li>\n", escape(line)));
            let security = escape(pair[0].report.options.security.name());
            let table = tables::lookups(pair);
            format!("<h3>{security}</h3>\n{table}<ul>\n{}</ul>\n", lines.collect::<String>())
        })
        .collect()
}

fn introduction(outcome: &MatrixOutcome) -> String {
    let (host, before, after) = (&outcome.host, &outcome.before, &outcome.after);
    let memory =
        host.memory_bytes.map_or(String::new(), |bytes| format!(", {:.0} GiB", bytes as f64 / 2f64.powi(30)));
    let hurry = if outcome.plan.quick { ", with --quick" } else { "" };
    let cores = if host.cores == 1 { "one core" } else { &format!("{} cores", host.cores) };
    paragraph(
        "Three servers encrypt and decrypt with an AES key that none of them has. They are three processes on one machine, \
         joined by TLS 1.3 over loopback; a fourth makes the inputs and checks every output after the clock has stopped. Each \
         figure is a median over repetitions, and where the parties differ the largest of the three. Below a figure stand the least \
         and the greatest of its repetitions."
    ) + &format!(
        "<div class=\"wide\"><table><tbody>{}</tbody></table></div>\n",
        [
            ("Date", outcome.date()),
            ("Version", format!("divisi {}, commit {}", env!("CARGO_PKG_VERSION"), outcome.commit)),
            ("Machine", format!("{}, {cores}{memory}, {}", host.processor, host.system)),
            ("Meanwhile", outcome.meanwhile.line()),
            ("Field kernels", outcome.kernel().to_owned()),
            (
                "Calibration, before and after",
                format!(
                    "AES-128-CTR {:.1} and {:.1} GB/s, loopback {:.1} and {:.1} Gbit/s, product in GF(2^64) {:.2} and {:.2} ns",
                    before.aes_ctr_gb_s,
                    after.aes_ctr_gb_s,
                    before.loopback_gbit_s,
                    after.loopback_gbit_s,
                    before.clmul_ns,
                    after.clmul_ns
                ),
            ),
            (
                "Measured in",
                format!("{} runs, {:.0} s{hurry}", outcome.measured.len(), outcome.seconds),
            ),
        ]
        .map(|(name, value)| format!("<tr><th>{name}</th><td class=\"words\">{}</td></tr>", escape(&value)))
        .concat()
    )
}

/// The runs of encryption under one security, in the order of the protocols, and their names.
fn encryption(outcome: &MatrixOutcome, security: Security) -> (Vec<String>, Vec<&MeasuredRun>) {
    let runs = Protocol::ALL.iter().filter_map(|protocol| outcome.throughput(*protocol, security));
    runs.map(|measured| (measured.protocol().name().to_owned(), measured)).unzip()
}

fn figures(runs: &[&MeasuredRun], figure: impl Fn(&MeasuredRun) -> f64) -> Vec<Option<f64>> {
    runs.iter().map(|measured| Some(figure(measured))).collect()
}

fn throughput(outcome: &MatrixOutcome) -> String {
    if outcome.of(RunGroup::Throughput).next().is_none() {
        return String::new();
    }
    let plot = |security| {
        let (labels, runs) = encryption(outcome, security);
        let series = [
            ("online", figures(&runs, |m| m.report.online_per_second())),
            ("total, preprocessing included", figures(&runs, |m| m.report.total_per_second())),
        ];
        let title = format!("AES-128 blocks a second, {security}");
        let svg = svg::bars(&Bars {
            title: &title,
            unit: "blocks a second",
            labels: &labels,
            series: &series,
            stacked: false,
        });
        if runs.is_empty() { String::new() } else { figure(&svg, &title) }
    };
    grid(&SECURITIES.map(plot).concat()) + &tables::throughput(outcome.of(RunGroup::Throughput))
}

fn grid(plots: &str) -> String {
    if plots.is_empty() { String::new() } else { format!("<div class=\"plots\">\n{plots}</div>\n") }
}

fn processor_time(outcome: &MatrixOutcome) -> String {
    let plot = |security| {
        let (labels, runs) = encryption(outcome, security);
        let phase = |name: &'static str| {
            (name, figures(&runs, |m| m.phase(name).cpu_seconds * 1e6 / m.report.options.count() as f64))
        };
        let series = ["preprocessing", "online", "verification"].map(phase);
        let title = format!("Processor time of a block and party by phase, {security}");
        let unit = "microseconds a block and party";
        let svg = svg::bars(&Bars { title: &title, unit, labels: &labels, series: &series, stacked: true });
        if runs.is_empty() { String::new() } else { figure(&svg, &title) }
    };
    grid(&SECURITIES.map(plot).concat())
}

fn memory(outcome: &MatrixOutcome) -> String {
    let runs = SECURITIES.map(|security| encryption(outcome, security));
    let [(labels, curious), (_, malicious)] = &runs;
    if labels.is_empty() {
        return String::new();
    }
    let mebibytes = |runs: &[&MeasuredRun]| {
        let of =
            |m: &&MeasuredRun| m.report.measured.peak_rss_bytes.map(|bytes| bytes as f64 / 2f64.powi(20));
        runs.iter().map(of).collect::<Vec<_>>()
    };
    let series = [("semi-honest", mebibytes(curious)), ("malicious", mebibytes(malicious))];
    let title = format!("Peak memory of a party, {} blocks", outcome.plan.blocks());
    let unit = "MiB, the whole process";
    figure(&svg::bars(&Bars { title: &title, unit, labels, series: &series, stacked: false }), &title)
}

fn latency(outcome: &MatrixOutcome) -> String {
    let points = outcome.points();
    let (mut lines, mut expected) = (Vec::new(), Vec::new());
    for (colour, mode) in Priority::ALL.into_iter().enumerate() {
        let of = || points.iter().filter(move |p| p.measured.report.options.choice.mode() == Some(mode));
        let points = of().map(|p| (p.rtt_ms, p.seconds() * 1e3)).collect();
        lines.push(Line { name: Some(mode.name()), colour, expected: false, points });
        let points = of().map(|p| (p.rtt_ms, p.expected_seconds() * 1e3)).collect();
        let name = (colour == 0).then_some("expected (dashed)");
        expected.push(Line { name, colour, expected: true, points });
    }
    lines.extend(expected);
    let mut out = String::new();
    if !points.is_empty() {
        let title = "Latency of one block by round-trip time, malicious";
        let up = "milliseconds, online and verification";
        let svg = svg::lines(&Lines { title, across: "emulated round-trip time, ms", up, lines: &lines });
        out += &figure(
            &svg,
            "From shares of the input to verified shares of the output, on connections and keys that are there; what the \
             modes make ahead is not in it. Dashed, what is expected: 1.1 x rounds x RTT/2 + the same over loopback, rounds being the longest chain \
             of dependent messages, verification included.",
        );
        out += &tables::latency(&points);
        out += &paragraph(papers::SLIDES_LATENCY);
    }
    if outcome.of(RunGroup::OneBlock).next().is_some() {
        out += "<h3>Over loopback</h3>\n";
        out += &tables::one_block(outcome.of(RunGroup::OneBlock));
    }
    out
}

fn variations(outcome: &MatrixOutcome) -> String {
    let table = |title: &str, group| {
        let runs: Vec<_> = outcome.of(group).collect();
        let table = tables::variations(outcome, &runs);
        if runs.is_empty() { String::new() } else { format!("<h3>{}</h3>\n{table}", escape(title)) }
    };
    [
        table("Decryption", RunGroup::Decryption),
        table("Two threads a party", RunGroup::Threads),
        table("AES-256", RunGroup::LongKey),
        table("Smaller batches", RunGroup::Batch),
    ]
    .concat()
}

fn beside_papers(outcome: &MatrixOutcome) -> String {
    if outcome.of(RunGroup::Throughput).next().is_none() {
        return String::new();
    }
    paragraph(papers::REMARK)
        + &tables::beside_papers(outcome)
        + "<h3>Slower networks</h3>\n"
        + &tables::networks()
}

/// The rounds of MAESTRO's Table 1 beside those that the meter counted.
fn rounds(outcome: &MatrixOutcome) -> String {
    let table = tables::beside_rounds(&outcome.rounds());
    if table.is_empty() {
        return table;
    }
    paragraph(
        "MAESTRO: Table 1, which leaves out verification (of the order of log N rounds for N products, where the protocol has any). \
         Here: as metered, the comparison of what was agreed on inputs included.",
    ) + &table
}

const MEANING: &str = "<ul>\n\
<li><b>setup</b>: session keys, agreement on the inputs, the key schedule inside the computation, shares of the inputs. In no \
throughput and no latency.</li>\n\
<li><b>preprocessing</b>: all that needs neither key nor input, its own verification included.</li>\n\
<li><b>online</b>: from shares of inputs to shares of outputs. <b>verification</b>: what is then left to wait for until those are \
verified, and what had to be verified before, to limit memory.</li>\n\
<li><b>online blocks a second</b> counts online and verification; <b>total</b> adds preprocessing.</li>\n\
<li><b>rounds</b>: the longest chain of dependent messages of a strand, in all its chunks one after the other; a round is half \
a round-trip time.</li>\n\
<li><b>bits</b> are field elements times the bits of their field, as the papers count; <b>bytes</b> all that is handed to \
TLS.</li>\n\
<li><b>expected</b>: 1.1 x rounds x RTT/2 + the time over loopback.</li>\n\
<li><b>meanwhile</b>: the load is the system's average of one minute; what others took is the time that the cores were busy, less that \
of the measurement. Above a tenth of the cores the page begins with a warning.</li>\n\
<li><b>report.csv</b> has a line for each figure of each run that follows from times: run, figure, unit, value, least and greatest of the \
repetitions, their number.</li>\n\
<li><b>error</b>: a lie passes the worst verification with probability 2^-error.</li>\n\
</ul>\n";

#[cfg(test)]
mod tests {
    use super::super::matrix::{MatrixPlan, Run};
    use super::super::{sample, width};
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_section_without_a_body_is_left_out() {
        assert_eq!(section("t", ""), "");
        assert_eq!(section("a<b>", "x"), "<section>\n<h2>a&lt;b&gt;</h2>\nx</section>\n");
    }

    /// All runs of a plan, as if each had been repeated three times.
    fn outcome(plan: MatrixPlan, others: f64) -> MatrixOutcome {
        let times: [&[f64]; 3] =
            [&[0.0125, 0.2, 0.0625, 0.03125], &[0.0123, 0.3, 0.05, 0.03], &[0.0127, 0.4, 0.07, 0.04]];
        let measured =
            |run: &Run| MeasuredRun { group: run.group, report: sample::report(&run.options, &times) };
        MatrixOutcome {
            measured: plan.runs().iter().map(measured).collect(),
            plan,
            unix_time: Duration::ZERO,
            seconds: 1.0,
            commit: "0123456789abcdef0123456789abcdef01234567".into(),
            host: sample::host(),
            meanwhile: sample::meanwhile(others),
            before: sample::calibration(),
            after: sample::calibration(),
        }
    }

    #[test]
    fn tables_fit_a_screen_of_1280_pixels() {
        let page = page(&outcome(MatrixPlan::default(), 0.0));
        let widths = width::tables(&page);
        assert!(widths.len() >= 12, "tables are found: {widths:?}");
        assert!(widths.iter().all(|width| *width <= width::AVAILABLE), "{widths:?}");
    }

    #[test]
    fn a_page_names_commit_processor_and_load_and_shows_spreads() {
        let outcome = outcome(MatrixPlan::default(), 0.1);
        let page = page(&outcome);
        for part in [
            "commit 0123456789abcdef0123456789abcdef01234567",
            "Some(R) Processor @ 2.60GHz, 2 cores",
            "load 0.25 before and 2.50 after; other processes meanwhile: 10.0 % of the cores",
            // 100,000 blocks in 93.75, 80 and 110 ms
            "<td>1,066,667<small>909,091–1,250,000</small></td>",
            // one block: the median of the sums, and each phase
            "<td>93.75<small>80.00–110.00</small></td>",
            "<td>300.00<small>200.00–400.00</small></td>",
            "<th>expected, ms</th>",
            "expected (dashed)",
            "<h2>Rounds beside the paper&#39;s</h2>",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("bound") && !page.contains("Warning"));
    }

    #[test]
    fn a_disturbed_report_says_so_at_once() {
        let plan = MatrixPlan { latency_only: true, ..MatrixPlan::default() };
        let outcome = outcome(plan, 0.375);
        let page = page(&outcome);
        let warning =
            page.find("<p class=\"warning\">Warning: other processes took 37.5 % of the cores").unwrap();
        assert!(page.find("<p>Three servers").is_some_and(|introduction| warning < introduction));
        let json = outcome.to_json();
        assert!(json["disturbed"] == true && json["others_share"] == 0.375 && json["load"]["after"] == 2.5);
        assert_eq!(json["commit"], outcome.commit);
        assert_eq!(json["rounds"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn each_run_has_a_name_of_its_own_in_the_csv() {
        let outcome = outcome(MatrixPlan::default(), 0.0);
        let csv = outcome.to_csv();
        let figures: Vec<&str> = csv.split_terminator("\r\n").skip(1).collect();
        assert_eq!(figures.len(), outcome.measured.len() * (4 + 2 * 4));
        let row =
            "\"one-block: lut16, malicious, 1 block\",latency_seconds,s,0.09375,0.08,0.11000000000000001,3";
        assert!(figures.contains(&row), "{csv}");
        let distinct = |columns: usize| {
            let name = |line: &&str| line.rsplitn(8 - columns, ',').last().map(str::to_owned);
            figures.iter().map(name).collect::<std::collections::BTreeSet<_>>().len()
        };
        // a run and a figure name a line
        assert_eq!(distinct(2), figures.len());
    }
}
