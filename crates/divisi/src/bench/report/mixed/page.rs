//! The page itself: one file, which fetches nothing.

use super::super::cells::{NONE, list, table, whole, with_spread};
use super::super::escape::escape;
use super::super::html::{document, paragraph, section};
use super::super::paper_page::warning;
use super::papers::{self, GARBLING, MACHINES, PARTIES, SOURCE};
use super::{Column, MixedOutcome, application_spread, item_seconds, item_spread};
use crate::bench::BenchReport;
use crate::bench::table4::{self, PARTIES as PARTIES_OF_TABLE_4};
use divisi_mpgc::GarblingCost;
use divisi_mpgc::cost::{AES_128, cheaper};
use divisi_ot::SetupConfig;
use divisi_program::applications::table6::Row;
use divisi_program::operations::Op;

/// The whole page.
pub fn page(outcome: &MixedOutcome) -> String {
    let title = "Divisi: numbers and bits among many curious parties";
    let body = [
        warning(&outcome.conditions.meanwhile),
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
    let [here, commit] =
        outcome.conditions.lines(&format!("all parties, one thread each; medians of {}", outcome.plan.reps));
    insecure
        + &paragraph(
            "Semi-honest: all parties but one may be curious together, and everybody follows the protocol. The parties are processes \
             on one machine, joined by TLS 1.3 over loopback; another deals the inputs and checks every output after the clock has \
             stopped. The machines differ: read the paper's figures beside ours for the shape, not for a race. Below a figure stand the \
             least and the greatest of its repetitions; mixed.csv has them all.",
        )
        + &list(&[here, commit, format!("{SOURCE}: {MACHINES}")])
}

fn figure(x: f64) -> String {
    if x >= 100.0 { whole(x) } else { format!("{x:.3}") }
}

/// A table with our figures in the first row of each operation, and the paper's, a row for each network,
/// below it.
fn operations(outcome: &MixedOutcome, ops: &[Op], factor: f64, unit: &str) -> String {
    let columns = Columns::new(outcome, &PARTIES);
    let ours = |op: Op, parties: usize| {
        let column = outcome.columns.iter().find(|column| column.parties == parties)?;
        let (_, report) = column.operations.iter().find(|(other, _)| *other == op)?;
        let spread = item_spread(op, report).map(|spread| spread.map(|seconds| seconds * factor));
        Some(with_spread(item_seconds(op, report) * factor, report, spread, figure))
    };
    let rows = ops.iter().flat_map(|op| {
        let printed = papers::rows(op.name()).map(|row| {
            let at = |parties| {
                let place = PARTIES.iter().position(|n| *n == parties);
                place.and_then(|i| row.figures.get(i)).map(f64::to_string)
            };
            columns.row(format!("{}, paper, {}", op.name(), row.network), &at)
        });
        let here = columns.row(format!("{}, here", op.name()), &|parties| ours(*op, parties));
        std::iter::once(here).chain(printed).collect::<Vec<_>>()
    });
    columns.table(unit, rows)
}

/// The numbers of parties that a table has a column for: those of the paper, and those that were measured.
struct Columns(Vec<usize>);

impl Columns {
    fn new(outcome: &MixedOutcome, papers: &[usize]) -> Columns {
        let measured = outcome.columns.iter().map(|column| column.parties);
        let mut all: Vec<usize> = papers.iter().copied().chain(measured).collect();
        all.sort_unstable();
        all.dedup();
        Columns(all)
    }

    /// A row with a figure for each number of parties that has one.
    fn row(&self, name: String, figures: &dyn Fn(usize) -> Option<String>) -> Vec<String> {
        let cells = self.0.iter().map(|parties| figures(*parties).unwrap_or(NONE.into()));
        std::iter::once(name).chain(cells).collect()
    }

    fn table(&self, unit: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
        let numbers = self.0.iter().map(|n| format!("n = {n}"));
        let header: Vec<String> = std::iter::once(unit.to_owned()).chain(numbers).collect();
        table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows)
    }
}

fn applications(outcome: &MixedOutcome) -> String {
    let columns = Columns::new(outcome, &PARTIES_OF_TABLE_4);
    let of = |runs: fn(&Column) -> &[(&'static Row, BenchReport)], row: &Row, parties: usize| {
        let column = outcome.columns.iter().find(|column| column.parties == parties)?;
        let (_, report) = runs(column).iter().find(|(other, _)| other.name == row.name)?;
        let show = |seconds: f64| format!("{seconds:.3}");
        Some(with_spread(table4::seconds(report), report, application_spread(report), show))
    };
    let rows = outcome.plan.rows().flat_map(|row| {
        let name = |what: &str| format!("{}, {what}", row.title);
        [
            columns.row(name("here"), &|parties| of(|column| &column.whole, row, parties)),
            columns.row(name("its counts"), &|parties| of(|column| &column.counted, row, parties)),
            columns.row(name("paper, LAN"), &|parties| {
                table4::printed(row, parties).map(|seconds| seconds.to_string())
            }),
        ]
    });
    paragraph(
        "Here: the application itself, from its inputs to its outputs, preprocessing included. Its counts: as many operations as \
         the paper's Table 6 has for it, whatever they compute. The paper's figures are an estimate from its counts and its times of \
         single operations. Gauss Dist. is defined nowhere in the paper; ours is the density of a normal distribution at seven \
         points.",
    ) + &columns.table("seconds, set-up of keys apart", rows)
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

#[cfg(test)]
mod tests {
    use super::super::super::paper_page::{Conditions, Outcome, PageRequest};
    use super::super::super::{sample, width};
    use super::super::{MixedPlan, OPERATIONS};
    use super::*;
    use crate::engine::JobSpec;
    use divisi_program::adapter::jobs::ProgramJob;

    /// All runs of the plan, as if each had been repeated three times.
    fn outcome() -> MixedOutcome {
        let plan = MixedPlan::of(PageRequest::default());
        let times: [&[f64]; 3] = [&[1.5, 0.2, 0.5, 0.0], &[1.5, 0.3, 0.25, 0.0], &[1.5, 0.4, 1.0, 0.0]];
        let column = |parties: &usize| {
            let operation = |(op, count): (Op, u64)| {
                let job = super::super::operation(op);
                (op, sample::report(&plan.options(*parties, job, count), &times))
            };
            let application = |row: &'static Row| {
                let job = ProgramJob::load(&row.name.into(), None, 1).unwrap();
                let job = JobSpec::Own(std::sync::Arc::new(job));
                (row, sample::report(&plan.options(*parties, job, 1), &times))
            };
            Column {
                parties: *parties,
                operations: OPERATIONS.map(operation).into(),
                counted: plan.rows().map(application).collect(),
                whole: plan.rows().map(application).collect(),
            }
        };
        let columns = plan.parties.iter().map(column).collect();
        let conditions = Conditions {
            commit: "0123456789abcdef".into(),
            host: sample::host(),
            meanwhile: sample::meanwhile(0.25),
            calibration: sample::calibration(),
            runs: 1,
            seconds: 1.0,
        };
        MixedOutcome { plan, conditions, columns, costs: Vec::new() }
    }

    #[test]
    fn tables_fit_a_screen_of_1280_pixels_and_show_spreads() {
        let page = page(&outcome());
        let widths = width::tables(&page);
        assert_eq!(widths.len(), 4);
        assert!(widths.iter().all(|width| *width <= width::AVAILABLE), "{widths:?}");
        for part in [
            "commit 0123456789abcdef; load 0.25 before",
            "Warning: other processes took 25.0 % of the cores",
            // 20,000 conversions in 0.5, 0.25 and 1 s, in milliseconds
            "<td>0.025<small>0.013–0.050</small></td>",
            // an application: preprocessing and online
            "<td>0.800<small>0.550–1.400</small></td>",
            "<th>Gauss Dist., its counts</th>",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn json_and_csv_have_the_spread_of_the_papers_figures() {
        let outcome = outcome();
        let json = outcome.to_json();
        let item = &json["operations"][0]["spread"]["item_seconds"];
        assert_eq!((item["least"].as_f64(), item["greatest"].as_f64()), (Some(1.25e-5), Some(5e-5)));
        assert!(json["commit"] == "0123456789abcdef" && json["disturbed"] == true);
        let csv = outcome.to_csv();
        assert!(csv.contains("\"b2a, 2 parties\",item_seconds,s,0.000025,0.0000125,0.00005,3\r\n"), "{csv}");
        assert!(csv.contains("\"table4-gauss, 16 parties\",seconds,s,0.8,0.55,1.4,3\r\n"), "{csv}");
    }
}
