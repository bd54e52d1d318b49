//! `divisi bench report`.

use super::progress::RunsDisplay;
use super::{CommandOutput, Context, warn};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use divisi::bench::report::{
    self, EnginePage, MatrixPlan, Meanwhile, MeasuredOn, PAGES, PageRequest, PaperPage, ReportProgram,
    RunGroup,
};
use divisi::engine;
use divisi::failure::Failure;
use divisi::local::this_program;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The commit that this program was built from, if it is known (`build/main.rs`).
const COMMIT: &str = match option_env!("DIVISI_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// One figure of the page.
#[derive(Clone, Copy, ValueEnum)]
enum Figure {
    /// One block over round-trip times, in the three modes
    Latency,
    /// Numbers and bits among many semi-honest parties: only the page of the engine mixed
    Mixed,
}

/// The page of one engine; `None` for the first page, which is that of the default engine.
#[derive(Clone, Copy)]
struct Page(Option<&'static EnginePage>);

/// The parser of the engines that have a page.
fn pages() -> impl TypedValueParser<Value = Page> {
    let first = PossibleValue::new(engine::by_default().name()).help("Three parties: report.html");
    let page = |page: &EnginePage| PossibleValue::new(page.engine).help(page.about);
    let values: Vec<PossibleValue> = std::iter::once(first).chain(PAGES.iter().map(page)).collect();
    PossibleValuesParser::new(values).map(|name| Page(of_engine(&name)))
}

fn of_engine(name: &str) -> Option<&'static EnginePage> {
    PAGES.iter().find(|page| page.engine == name)
}

/// Measure everything, and write pages with tables and plots, and the same figures as JSON and CSV.
///
/// The first page has all protocols with both kinds of security, both directions, one and two threads,
/// batches and single blocks, short and long round-trip times, next to the papers' figures and the machines
/// of the papers. A second page is about numbers and bits among many semi-honest parties: operations, and
/// five applications. A third is about AES and triple DES by masked tables among two parties that trust
/// nobody.
///
/// Beside each figure that follows from times stand the least and the greatest of its repetitions. The CSV
/// has a line for each of them: run, figure, unit, value, least, greatest, repetitions. Each page names the
/// commit that this program was built from, the processor and its load, and the share of the cores that other
/// processes took meanwhile; if it is more than a tenth, a warning comes on standard error, too. If standard
/// error is no terminal, a line there announces each run.
#[derive(Args)]
#[command(after_help = "Example: divisi bench report --quick --out measured\n\
                        One figure: divisi bench report --figure latency --rtt 1,15,30,50,100\n\
                        Numbers and bits alone: divisi bench report --engine mixed --quick\n\
                        Masked tables alone: divisi bench report --engine spdz --quick\n\n\
                        The CSV has a line for each figure that follows from times:\n\
                        run, figure, unit, value, least, greatest, repetitions\n\
                        A warning comes if other processes took more than a tenth of the cores.")]
pub struct ReportArgs {
    /// The directory for report.html, mixed.html, spdz.html and the same as JSON and CSV
    #[arg(long, default_value = "divisi-report", value_name = "DIR")]
    out: PathBuf,
    /// Fewer runs, with fewer blocks and repetitions
    #[arg(long)]
    quick: bool,
    /// Only the measurements of this figure
    #[arg(long, value_name = "NAME")]
    figure: Option<Figure>,
    /// Only the page of this engine
    #[arg(long, value_name = "NAME", conflicts_with = "figure", value_parser = pages())]
    engine: Option<Page>,
    /// Blocks of a run of rep3 [default: 100000, quick: 20000]
    #[arg(long, value_name = "N")]
    blocks: Option<u64>,
    /// Repetitions of every run [default: 5; for one block 100, fewer over slow links; quick: fewer]
    #[arg(long, value_name = "R")]
    reps: Option<usize>,
    /// Round-trip times of the latency figure, in milliseconds [default: 1,15,30,50,100]
    #[arg(long, value_name = "MS,...", value_delimiter = ',')]
    rtt: Option<Vec<f64>>,
}

/// A page of one engine, after it was written.
struct PageWritten {
    of: &'static EnginePage,
    page: PaperPage,
}

impl PageWritten {
    /// Measure the figures for the page of an engine, and write the page.
    fn new(
        context: &Context,
        arguments: &ReportArgs,
        of: &'static EnginePage,
    ) -> Result<PageWritten, Failure> {
        let ReportArgs { quick, reps, out, .. } = arguments;
        let request = PageRequest { quick: *quick, reps: *reps, timeout: context.timeout };
        let party = this_program()?;
        let program = ReportProgram { party: &party, commit: COMMIT };
        let shown = RunsDisplay::new();
        let written = of.write(request, out, program, &context.cleanup, &|now| shown.at(now));
        drop(shown);
        let page = written?;
        warn_of_others(&page.meanwhile, of.engine);
        Ok(PageWritten { of, page })
    }

    fn text(&self) -> String {
        let PaperPage { html, json, csv, runs, seconds, host, meanwhile } = &self.page;
        let what = self.of.what;
        format!(
            "{runs} runs of {what} in {seconds:.0} s, all outputs checked: {} (as JSON: {}, as CSV: {})\n{}",
            html.display(),
            json.display(),
            csv.display(),
            conditions(host, meanwhile),
        )
    }

    fn to_json(&self) -> Value {
        let PaperPage { html, json, csv, runs, seconds, meanwhile, .. } = &self.page;
        json!({
            "html": html.display().to_string(),
            "json": json.display().to_string(),
            "csv": csv.display().to_string(),
            "runs": runs,
            "seconds": seconds,
            "disturbed": meanwhile.is_disturbed(),
        })
    }
}

/// Commit, processor, load, and what others took, in one line.
fn conditions(host: &MeasuredOn, meanwhile: &Meanwhile) -> String {
    let MeasuredOn { processor, cores, .. } = host;
    let plural = if *cores == 1 { "" } else { "s" };
    format!("commit {COMMIT}; {processor}, {cores} core{plural}; {}", meanwhile.line())
}

/// Say on standard error that other processes disturbed a page's measurements, if they did.
fn warn_of_others(meanwhile: &Meanwhile, page: &str) {
    if let Some(warning) = meanwhile.warning() {
        warn(format!("{page}: {warning}"));
    }
}

pub fn run(context: &Context, arguments: &ReportArgs) -> Result<CommandOutput, Failure> {
    let alone = match (arguments.engine, arguments.figure) {
        (_, Some(Figure::Mixed)) => of_engine("mixed"),
        (page, _) => page.and_then(|page| page.0),
    };
    if let Some(page) = alone {
        if arguments.blocks.is_some() || arguments.rtt.is_some() {
            return Err(Failure::usage(
                "--blocks and --rtt are for the page of rep3: leave them out, or give --engine rep3",
            ));
        }
        if arguments.reps == Some(0) {
            return Err(Failure::usage("--reps is 0: give at least 1"));
        }
        let written = PageWritten::new(context, arguments, page)?;
        let mut json = written.to_json();
        json["schema"] = json!(1);
        return Ok(CommandOutput::new(written.text(), json));
    }
    let default = MatrixPlan::default();
    let mut round_trips_ms = arguments.rtt.clone().unwrap_or(default.round_trips_ms);
    round_trips_ms.sort_by(f64::total_cmp);
    round_trips_ms.dedup();
    let plan = MatrixPlan {
        quick: arguments.quick,
        latency_only: matches!(arguments.figure, Some(Figure::Latency)),
        blocks: arguments.blocks,
        reps: arguments.reps,
        round_trips_ms,
        timeout: context.timeout.unwrap_or(default.timeout),
    };
    let party = this_program()?;
    let program = ReportProgram { party: &party, commit: COMMIT };
    let shown = RunsDisplay::new();
    let written = report::write(&plan, &arguments.out, program, &context.cleanup, &|now| shown.at(now));
    drop(shown);
    let written = written?;
    warn_of_others(&written.outcome.meanwhile, engine::by_default().name());
    let mut json = written.outcome.to_json();
    json["html"] = json!(written.html.display().to_string());
    json["json"] = json!(written.json.display().to_string());
    json["csv"] = json!(written.csv.display().to_string());
    let mut text = text(&written);
    if arguments.figure.is_none() && arguments.engine.is_none() {
        for page in &PAGES {
            let written = PageWritten::new(context, arguments, page)?;
            text = format!("{text}\n{}", written.text());
            json[page.engine] = written.to_json();
        }
    }
    Ok(CommandOutput::new(text, json))
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
    let mut table = plain(["one block", "round trip, ms", "latency, ms", "expected, ms"]);
    for point in outcome.points() {
        table.add_row([
            point.measured.report.options.choice.to_string(),
            point.rtt_ms.to_string(),
            format!("{:.2}", point.seconds() * 1e3),
            format!("{:.2}", point.expected_seconds() * 1e3),
        ]);
    }
    add(table);
    format!(
        "{out}{} runs in {:.0} s, all outputs checked. All figures, plots and the papers' figures: {} (as JSON: {}, as CSV: {})\n{}",
        outcome.measured.len(),
        outcome.seconds,
        written.html.display(),
        written.json.display(),
        written.csv.display(),
        conditions(&outcome.host, &outcome.meanwhile),
    )
}

fn plain<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.column_iter_mut().skip(N - 2).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
