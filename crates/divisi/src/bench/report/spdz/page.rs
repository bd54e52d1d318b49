//! The page itself: one file, which fetches nothing.

use super::super::cells::{NONE, list, table, whole, with_spread};
use super::super::html::{document, paragraph, section};
use super::super::paper_page::warning;
use super::papers::{self, ENTRIES, LAN, MACHINES, SOURCE, Speed, TABLES, WAN};
use super::prices::{self, Material, Sizes, material};
use super::{Distance, Measurement, SpdzOutcome};

/// The whole page.
pub fn page(outcome: &SpdzOutcome) -> String {
    let title = "Divisi: AES and triple DES by masked tables among parties that trust nobody";
    let body = [
        warning(&outcome.conditions.meanwhile),
        introduction(outcome),
        section("What a block costs (Table 2)", &costs(outcome)),
        section("Near each other (Table 3)", &speeds(outcome, Distance::Near, &LAN)),
        section("Far apart (Table 4)", &speeds(outcome, Distance::Far, &WAN)),
        section("Tables (Table 5)", &sizes()),
    ];
    document(title, &body.concat())
}

fn introduction(outcome: &SpdzOutcome) -> String {
    let [here, commit] = outcome.conditions.lines(&format!(
        "both parties, one thread each; fields of 48 bits, preprocessing in buckets, k = 4; medians of {}",
        outcome.plan.reps
    ));
    paragraph(
        "Malicious: one of the two parties may do anything, and any deviation ends the computation or has no effect. The parties \
         are processes on one machine, joined by TLS 1.3 over loopback that is slowed down to the paper's networks; another deals \
         the inputs and checks every output after the clock has stopped. The machines differ: read the paper's figures beside ours \
         for the shape, not for a race. Below a figure stand the least and the greatest of its repetitions; spdz.csv has them all.",
    ) + &list(&[here, commit, format!("{SOURCE}: {MACHINES}")])
}

/// A figure, with fewer decimals the larger it is.
fn figure(x: f64) -> String {
    match x {
        x if x >= 100.0 => whole(x),
        x if x >= 1.0 => format!("{x:.2}"),
        x => format!("{x:.3}"),
    }
}

fn shown(x: Option<f64>) -> String {
    x.map_or(NONE.into(), figure)
}

fn costs(outcome: &SpdzOutcome) -> String {
    let count = |x: Option<usize>| x.map_or(NONE.into(), |x| whole(x as f64));
    let row = |protocol: &&'static str| {
        let (paper, of) = (papers::cost(protocol), material(protocol));
        let here = outcome.find(protocol, Distance::Near, false);
        let blocks = usize::try_from(outcome.plan.blocks[0]).unwrap_or(usize::MAX);
        let counts = of.and_then(Material::counts);
        let printed = |of: fn(&papers::Cost) -> u32| count(paper.map(|row| of(row) as usize));
        vec![
            (*protocol).to_owned(),
            here.map_or(NONE.into(), |m| m.rounds().to_string()),
            printed(|row| row.rounds),
            here.map_or(NONE.into(), |m| whole(m.openings())),
            printed(|row| row.openings),
            count(counts.map(|[triples, _]| triples)),
            printed(|row| row.triples),
            count(counts.map(|[_, bits]| bits)),
            printed(|row| row.bits),
            shown(here.map(Measurement::preprocessing_megabytes)),
            shown(of.and_then(|of| of.by_buckets(Sizes::new(48, 4), blocks))),
            shown(of.and_then(|of| of.by_mascot(Sizes::new(40, 1)))),
            shown(paper.map(|row| row.megabytes)),
        ]
    };
    let header = [
        "a block, without the key schedule",
        "rounds, here",
        "rounds, paper",
        "openings, here",
        "openings, paper",
        "triples, here",
        "triples, paper",
        "random bits, here",
        "random bits, paper",
        "MB ahead, here, measured",
        "MB ahead, in buckets, by formula",
        "MB ahead, as in the paper (--prep mascot, 40 bits, k = 1), by formula",
        "MB ahead, paper",
    ];
    table(&header, outcome.plan.protocols.iter().map(row))
        + &paragraph(
            "Rounds and openings are metered. Triples of masked tables multiply a bit by an element; triples and random bits are those \
             of --prep mascot. What is measured includes what a key and whole batches take, so it is more than the formula for few \
             blocks. The buckets are those of so many blocks as a batch has.",
        )
        + &rounds_that_differ(outcome)
}

/// The protocols with other rounds than in the paper, each with the reason.
fn rounds_that_differ(outcome: &SpdzOutcome) -> String {
    let line = |protocol: &&'static str| {
        let here = outcome.find(protocol, Distance::Near, false)?.rounds();
        let reason = papers::cost(protocol)?.rounds_reason(here)?;
        Some(format!("rounds of {protocol}: {reason}"))
    };
    let lines: Vec<String> = outcome.plan.protocols.iter().filter_map(line).collect();
    if lines.is_empty() { String::new() } else { list(&lines) }
}

/// The milliseconds of one block.
fn latency(m: &Measurement) -> String {
    let spread = m.report.latency_spread().map(|spread| spread.map(|seconds| seconds * 1e3));
    with_spread(m.report.latency_seconds() * 1e3, &m.report, spread, figure)
}

/// The rate online.
fn online(m: &Measurement) -> String {
    with_spread(m.report.online_per_second(), &m.report, m.report.online_spread(), figure)
}

/// The rate of preprocessing.
fn ahead(m: &Measurement) -> String {
    with_spread(m.preprocessing_per_second(), &m.report, m.preprocessing_spread(), figure)
}

fn speeds(outcome: &SpdzOutcome, place: Distance, printed: &[Speed]) -> String {
    let row = |protocol: &&'static str| {
        let paper = printed.iter().find(|row| row.protocol == *protocol);
        let (one, batch) = (outcome.find(protocol, place, true), outcome.find(protocol, place, false));
        vec![
            (*protocol).to_owned(),
            one.map_or(NONE.into(), latency),
            shown(paper.map(|row| row.latency_ms)),
            batch.map_or(NONE.into(), online),
            shown(paper.map(|row| row.online)),
            shown(paper.and_then(|row| row.threaded)),
            batch.map_or(NONE.into(), ahead),
            shown(paper.map(|row| row.preprocessing)),
            batch.map_or(NONE.into(), |m| whole(m.report.measured.count as f64)),
        ]
    };
    let header = [
        "protocol",
        "one block, ms, here",
        "one block, ms, paper",
        "online, blocks/s, here",
        "online, blocks/s, paper",
        "the same with threads, paper",
        "ahead, blocks/s, here",
        "ahead, blocks/s, paper",
        "blocks together, here",
    ];
    let network = outcome.plan.networks[place as usize];
    let has = |name: &&&'static str| outcome.find(name, place, false).is_some();
    paragraph(&format!(
        "Here: {} ms of round trip, {} Mbit/s. Online is from shares of the inputs to verified shares of the outputs, the check of MACs \
         included.",
        network.rtt_ms, network.rate_mbit
    )) + &table(&header, outcome.plan.protocols.iter().filter(has).map(row))
}

/// Kilobytes of tables with [`ENTRIES`] entries by our formulas, for each way to make them.
pub fn tables() -> Vec<(&'static str, [f64; 5])> {
    vec![
        (
            "products of bits in buckets, 48 bits, k = 4",
            ENTRIES.map(|entries| prices::by_ands(Sizes::new(48, 4), entries)),
        ),
        (
            "mascot, 40 bits, k = 1",
            ENTRIES.map(|entries| prices::products_by_mascot(Sizes::new(40, 1), entries)),
        ),
        (
            "mascot, 48 bits, k = 4",
            ENTRIES.map(|entries| prices::products_by_mascot(Sizes::new(48, 4), entries)),
        ),
        ("the whole table in buckets, 48 bits, k = 4", ENTRIES.map(|n| prices::table(Sizes::new(48, 4), n))),
        ("the whole table in buckets, 48 bits, k = 8", ENTRIES.map(|n| prices::table(Sizes::new(48, 8), n))),
    ]
}

fn sizes() -> String {
    let line = |name: String, kilobytes: &[f64; 5]| {
        std::iter::once(name).chain(kilobytes.iter().map(|x| figure(*x))).collect::<Vec<String>>()
    };
    let printed = TABLES.iter().map(|(bits, kilobytes)| {
        let by = if *bits == 1 { "TinyOT" } else { "MASCOT" };
        line(format!("paper, {by}, {bits} bits"), kilobytes)
    });
    let here = tables();
    let here = here.iter().map(|(name, kilobytes)| line(format!("here, {name}"), kilobytes));
    let header: Vec<String> = std::iter::once("kB, one party to the other".to_owned())
        .chain(ENTRIES.map(|n| format!("N = {n}")))
        .collect();
    table(&header.iter().map(String::as_str).collect::<Vec<_>>(), here.chain(printed))
        + &paragraph(
            "All by formula; the meter confirms it for tables of 64 and 256 (docs/spdz.md). The bits are those of the field of MACs; k is \
             SoftSpokenOT's parameter (docs/ot.md). The first rows are the products alone, as \
             in the paper; ours by MASCOT include what keeps one factor a bit, and take 19 and 35 products for 512 and 1,024 entries, \
             where the paper counts 18 and 31. In buckets a table is one item, all its random bits included. Buckets have three \
             items, as in 2,048 blocks.",
        )
}

#[cfg(test)]
mod tests {
    use super::super::super::paper_page::{Conditions, Outcome, PageRequest};
    use super::super::super::{sample, width};
    use super::super::SpdzPlan;
    use super::*;

    /// All runs of the plan, as if each had been repeated three times.
    fn outcome() -> SpdzOutcome {
        let plan = SpdzPlan::of(PageRequest::default());
        let times: [&[f64]; 3] =
            [&[1.0, 12.0, 4.0, 0.01, 0.01], &[1.0, 24.0, 8.0, 0.02, 0.02], &[1.0, 6.0, 2.0, 0.005, 0.005]];
        let measured = plan.runs().into_iter().map(|(protocol, place, single)| {
            let report = sample::report(&plan.options(protocol, place, single), &times);
            Measurement { protocol, place, single, report }
        });
        let conditions = Conditions {
            commit: "0123456789abcdef".into(),
            host: sample::host(),
            meanwhile: sample::meanwhile(0.0),
            calibration: sample::calibration(),
            runs: 1,
            seconds: 1.0,
        };
        SpdzOutcome { measured: measured.collect(), plan, conditions }
    }

    #[test]
    fn tables_fit_a_screen_of_1280_pixels_and_show_spreads() {
        let page = page(&outcome());
        let widths = width::tables(&page);
        assert_eq!(widths.len(), 4);
        assert!(widths.iter().all(|width| *width <= width::AVAILABLE), "{widths:?}");
        for part in [
            "commit 0123456789abcdef; load 0.25 before",
            // one block in 20, 40 and 10 ms, and 2,048 in the same time
            "<td>20.00<small>10.00–40.00</small></td>",
            "<td>102,400<small>51,200–204,800</small></td>",
            // preprocessing and tables: 16, 32 and 8 s
            "<td>128<small>64.00–256</small></td>",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("Warning"));
    }

    #[test]
    fn json_and_csv_have_spreads_and_the_reason_of_other_rounds() {
        let outcome = outcome();
        let json = outcome.to_json();
        let ahead = &json["runs"][1]["spread"]["preprocessing_per_second"];
        assert_eq!((ahead["least"].as_f64(), ahead["greatest"].as_f64()), (Some(64.0), Some(256.0)));
        let csv = outcome.to_csv();
        assert!(
            csv.contains("\"aes-bd, LAN, a batch\",preprocessing_per_second,1/s,128,64,256,3\r\n"),
            "{csv}"
        );
        // the sample has 40 rounds for every protocol
        let raw =
            json["costs"].as_array().unwrap().iter().find(|cost| cost["protocol"] == "3des-raw").unwrap();
        assert!(raw["paper_rounds"] == 2_979 && raw["rounds"] == 40);
        assert!(raw["rounds_reason"].as_str().unwrap().contains("48 x 62 + 3"));
        assert!(page(&outcome).contains("<li>rounds of 3des-raw: the paper&#39;s 2,979"));
    }
}
