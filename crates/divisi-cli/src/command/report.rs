//! `divisi bench report`.

use super::{Context, Done};
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use divisi::bench::report::mixed::{MixedPlan, MixedWritten};
use divisi::bench::report::{self, MatrixPlan, Progress, RunGroup};
use divisi::failure::Failure;
use divisi::local::this_program;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

/// One figure of the page.
#[derive(Clone, Copy, ValueEnum)]
enum Figure {
    /// One block over round-trip times, in the three modes
    Latency,
    /// Numbers and bits among many semi-honest parties: only the page of the engine mixed
    Mixed,
}

/// Measure everything, and write one page with tables and plots, beside the same as JSON.
///
/// All protocols with either security, both directions, one and two threads, batches and single blocks, near
/// and far apart; the papers' figures stand beside them, with their machines. A second
/// page is about numbers and bits among many curious parties: operations, and five applications.
#[derive(Args)]
#[command(after_help = "Example: divisi bench report --quick --out measured\n\
                        One figure: divisi bench report --figure latency --rtt 1,15,30,50,100\n\
                        Numbers and bits alone: divisi bench report --figure mixed --quick")]
pub struct Arguments {
    /// The directory for report.html, report.json, mixed.html and mixed.json
    #[arg(long, default_value = "divisi-report", value_name = "DIR")]
    out: PathBuf,
    /// Fewer runs, with fewer blocks and repetitions
    #[arg(long)]
    quick: bool,
    /// Only the measurements of this figure
    #[arg(long, value_name = "NAME")]
    figure: Option<Figure>,
    /// Blocks of a run [default: 100000, quick: 20000]
    #[arg(long, value_name = "N")]
    blocks: Option<u64>,
    /// Repetitions of every run [default: 5; for one block 100, fewer over slow links; quick: fewer]
    #[arg(long, value_name = "R")]
    reps: Option<usize>,
    /// Round-trip times of the latency figure, in milliseconds [default: 1,15,30,50,100]
    #[arg(long, value_name = "MS,...", value_delimiter = ',')]
    rtt: Option<Vec<f64>>,
}

/// The page of the engine mixed.
fn mixed_page(context: &Context, arguments: &Arguments) -> Result<MixedWritten, Failure> {
    let usual = MixedPlan::usual(arguments.quick);
    let plan = MixedPlan {
        reps: arguments.reps.unwrap_or(usual.reps),
        timeout: context.timeout.unwrap_or(usual.timeout),
        ..usual
    };
    let bar = progress();
    let tell = |now: &Progress| show(&bar, now);
    let written = report::mixed::write(&plan, &arguments.out, &this_program()?, &context.cleanup, &tell);
    bar.finish_and_clear();
    written
}

fn mixed_text(written: &MixedWritten) -> String {
    format!(
        "{} runs of numbers and bits in {:.0} s, all outputs checked: {} (as JSON: {})",
        written.runs,
        written.seconds,
        written.html.display(),
        written.json.display()
    )
}

fn mixed_json(written: &MixedWritten) -> Value {
    json!({
        "html": written.html.display().to_string(),
        "json": written.json.display().to_string(),
        "runs": written.runs,
        "seconds": written.seconds,
    })
}

pub fn run(context: &Context, arguments: &Arguments) -> Result<Done, Failure> {
    if matches!(arguments.figure, Some(Figure::Mixed)) {
        let written = mixed_page(context, arguments)?;
        let mut json = mixed_json(&written);
        json["schema"] = json!(1);
        return Ok(Done::new(mixed_text(&written), json));
    }
    let usual = MatrixPlan::default();
    let mut round_trips_ms = arguments.rtt.clone().unwrap_or(usual.round_trips_ms);
    round_trips_ms.sort_by(f64::total_cmp);
    round_trips_ms.dedup();
    let plan = MatrixPlan {
        quick: arguments.quick,
        latency_only: matches!(arguments.figure, Some(Figure::Latency)),
        blocks: arguments.blocks,
        reps: arguments.reps,
        round_trips_ms,
        timeout: context.timeout.unwrap_or(usual.timeout),
    };
    let bar = progress();
    let written =
        report::write(&plan, &arguments.out, &this_program()?, &context.cleanup, &|now| show(&bar, now));
    bar.finish_and_clear();
    let written = written?;
    let mut json = written.outcome.to_json();
    json["html"] = json!(written.html.display().to_string());
    json["json"] = json!(written.json.display().to_string());
    let mut text = text(&written);
    if arguments.figure.is_none() {
        let mixed = mixed_page(context, arguments)?;
        text = format!("{text}\n{}", mixed_text(&mixed));
        json["mixed"] = mixed_json(&mixed);
    }
    Ok(Done::new(text, json))
}

/// A bar on standard error, if somebody is there to see it.
fn progress() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(250));
    match ProgressStyle::with_template("{bar:16} {pos}/{len}, {elapsed} so far{wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn show(bar: &ProgressBar, now: &Progress) {
    bar.set_length(now.of as u64);
    bar.set_position(now.done as u64);
    let left = now.left.map_or(String::new(), |left| format!(", about {} left", HumanDuration(left)));
    bar.set_message(format!("{left}: {}", now.now));
}

fn text(written: &report::Written) -> String {
    let outcome = &written.outcome;
    let mut out = String::new();
    let mut add = |table: Table| out += &format!("{table}\n\n");
    if outcome.of(RunGroup::Throughput).next().is_some() {
        let mut table = plain(["protocol", "security", "online, blocks/s", "total, blocks/s"]);
        for measured in outcome.of(RunGroup::Throughput) {
            let report = &measured.report;
            table.add_row([
                measured.protocol().to_string(),
                report.options.security.to_string(),
                format!("{:.0}", report.online_per_second()),
                format!("{:.0}", report.total_per_second()),
            ]);
        }
        add(table);
    }
    let mut table = plain(["one block", "round trip, ms", "latency, ms", "bound, ms"]);
    for point in outcome.points() {
        table.add_row([
            point.measured.report.options.choice.to_string(),
            point.rtt_ms.to_string(),
            format!("{:.2}", point.seconds() * 1e3),
            format!("{:.2}", point.bound_seconds() * 1e3),
        ]);
    }
    add(table);
    format!(
        "{out}{} runs in {:.0} s, all outputs checked. All figures, plots and the papers' figures: {} (as JSON: {})",
        outcome.measured.len(),
        outcome.seconds,
        written.html.display(),
        written.json.display()
    )
}

fn plain<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.column_iter_mut().skip(N - 2).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
