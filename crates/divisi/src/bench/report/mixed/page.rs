//! The page itself: one file, which fetches nothing.

use super::super::escape::escape;
use super::super::html::{document, paragraph, section};
use super::super::tables::{NONE, list, table, whole};
use super::papers::{self, GARBLING, MACHINES, PARTIES, SOURCE};
use super::{Column, MixedOutcome, item_seconds};
use crate::bench::BenchReport;
use crate::bench::table4::{self, PARTIES as PARTIES_OF_TABLE_4};
use crate::engine::job::Op;
use divisi_mpgc::GarblingCost;
use divisi_mpgc::cost::{AES_128, cheaper};
use divisi_ot::SetupConfig;
use divisi_program::applications::table6::Row;

/// The whole page.
pub fn page(outcome: &MixedOutcome) -> String {
    let title = "Divisi: numbers and bits among many curious parties";
    let body = [
        introduction(outcome),
        section(
            "Conversions online (Table 2)",
            &operations(outcome, &[Op::B2a, Op::A2b], 1e3, "milliseconds an item"),
        ),
        section(
            "Triples (Table 3)",
            &operations(outcome, &[Op::TripleBool, Op::TripleArith], 1e6, "microseconds a triple"),
        ),
        section("Applications (Table 4)", &applications(outcome)),
        section("Operations of the applications (Table 6)", &counts(outcome)),
        section("Garbling (section 8.6)", &garbling()),
    ];
    document(title, &body.concat())
}

fn introduction(outcome: &MixedOutcome) -> String {
    let insecure = if outcome.plan.danger_insecure {
        paragraph("INSECURE lattices, for tests: these figures mean nothing.")
    } else {
        String::new()
    };
    insecure
        + &paragraph(
            "Semi-honest: all parties but one may be curious together, and everybody follows the protocol. The parties are processes \
             on one machine, joined by TLS 1.3 over loopback; another deals the inputs and checks every output after the clock has \
             stopped. The machines differ: read the paper's figures beside ours for the shape, not for a race.",
        )
        + &list(&[
            outcome
                .conditions
                .line(&format!("all parties, one thread each; medians of {}", outcome.plan.reps)),
            format!("{SOURCE}: {MACHINES}"),
        ])
}

fn figure(x: f64) -> String {
    if x >= 100.0 { whole(x) } else { format!("{x:.3}") }
}

/// A table with our figures in the first row of each operation, and the paper's, a row for each network,
/// below it.
fn operations(outcome: &MixedOutcome, ops: &[Op], factor: f64, unit: &str) -> String {
    // the paper's columns, and those that only we have
    let mut columns: Vec<usize> = PARTIES.to_vec();
    columns.extend(outcome.columns.iter().map(|column| column.parties));
    columns.sort_unstable();
    columns.dedup();
    let ours = |op: Op, parties: usize| {
        let column = outcome.columns.iter().find(|column| column.parties == parties)?;
        let (_, report) = column.operations.iter().find(|(other, _)| *other == op)?;
        Some(item_seconds(op, report) * factor)
    };
    let line = |name: String, figures: &dyn Fn(usize) -> Option<String>| {
        let cells = columns.iter().map(|parties| figures(*parties).unwrap_or(NONE.into()));
        std::iter::once(name).chain(cells).collect::<Vec<String>>()
    };
    let rows = ops.iter().flat_map(|op| {
        let printed = papers::rows(op.name()).map(|row| {
            let at = |parties| {
                let place = PARTIES.iter().position(|n| *n == parties);
                place.and_then(|i| row.figures.get(i)).map(f64::to_string)
            };
            line(format!("{}, paper, {}", op.name(), row.network), &at)
        });
        let here = line(format!("{}, here", op.name()), &|parties| ours(*op, parties).map(figure));
        std::iter::once(here).chain(printed).collect::<Vec<_>>()
    });
    let header: Vec<String> =
        std::iter::once(unit.to_owned()).chain(columns.iter().map(|n| format!("n = {n}"))).collect();
    table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}

fn applications(outcome: &MixedOutcome) -> String {
    let of = |runs: &[(&'static Row, BenchReport)], row: &Row| {
        let run = runs.iter().find(|(other, _)| other.name == row.name);
        run.map_or(NONE.into(), |(_, report)| format!("{:.3}", table4::seconds(report)))
    };
    let rows = outcome.plan.rows().map(|row| {
        let here = |column: &Column| [of(&column.whole, row), of(&column.counted, row)];
        std::iter::once(row.title.to_owned())
            .chain(outcome.columns.iter().flat_map(here))
            .chain(row.seconds.map(|seconds| seconds.to_string()))
            .collect::<Vec<String>>()
    });
    let here = |column: &Column| {
        [format!("here, n = {}", column.parties), format!("its counts, n = {}", column.parties)]
    };
    let header: Vec<String> = std::iter::once("seconds, set-up of keys apart".to_owned())
        .chain(outcome.columns.iter().flat_map(here))
        .chain(PARTIES_OF_TABLE_4.map(|n| format!("paper, LAN, n = {n}")))
        .collect();
    paragraph(
        "Here: the application itself, from its inputs to its outputs, preprocessing included. Its counts: as many operations as \
         the paper's Table 6 has for it, whatever they compute. The paper's figures are an estimate from its counts and its times of \
         single operations. Gauss Dist. is defined nowhere in the paper; ours is the density of a normal distribution at seven \
         points.",
    ) + &table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}

fn counts(outcome: &MixedOutcome) -> String {
    let rows = outcome.costs.iter().map(|(row, cost)| {
        let pair = |here: usize, paper: usize| [whole(here as f64), whole(paper as f64)];
        let figures = [
            pair(cost.ands + cost.a2b_ands, row.ands),
            pair(cost.products, row.products),
            pair(cost.b2a, row.b2a),
            pair(cost.a2b, row.a2b),
        ];
        std::iter::once(row.title.to_owned()).chain(figures.concat()).collect::<Vec<String>>()
    });
    let header = [
        "application",
        "AND, here",
        "AND, paper",
        "products, here",
        "products, paper",
        "B2A, here",
        "B2A, paper",
        "A2B, here",
        "A2B, paper",
    ];
    table(&header, rows)
        + &paragraph(
            "ANDs inside A2B are among ours. The paper's one A2B of MNIST cannot be one for each value that is compared with 0; its \
             network has 10,340 of them.",
        )
}

fn garbling() -> String {
    let [each_way, received, sent] = GARBLING;
    let ours = [10, 128].map(|n| {
        let by = cheaper(n, AES_128, SetupConfig::default());
        let cost = GarblingCost::of(n, AES_128, SetupConfig::default(), by.as_ref());
        let way = by.map_or("transfers", |_| "ciphertexts along a tree");
        format!("{:.2} GB among {n} with keys by {way}", cost.bytes() as f64 / 1e9)
    });
    format!(
        "<p>{}</p>\n",
        escape(&format!(
            "The paper estimates {each_way} GB sent and as many received by each of 128 parties for AES-128 by Figure 11, where the \
             optimized BMR receives {received} GB and sends {sent} GB. Here a party sends {}, of the same circuit ({} ANDs, {} XORs), by \
             the formula of docs/linear-garbling.md, which the meter confirms among few; `divisi params --op mpgc` derives it, and \
             `divisi bench mixed --op mpgc` measures it.",
            ours.join(", "),
            AES_128[1],
            AES_128[0] - AES_128[1]
        ))
    )
}
