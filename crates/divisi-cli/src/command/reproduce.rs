//! `divisi reproduce`, and what `divisi bench report` says now.

use super::progress::RunsDisplay;
use super::{CommandOutput, Context, named, positive, warn};
use clap::Args;
use divisi::failure::Failure;
use divisi::local::this_program;
use divisi::reproduce::{
    self, Catalogue, EmulatedNetwork, ReportProgram, ReproduceRequest, Reproduction, Thoroughness,
};
use serde_json::json;
use std::path::PathBuf;

/// The commit that this program was built from, if it is known (`build/main.rs`).
const COMMIT: &str = match option_env!("DIVISI_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// Measure the tables of the papers, and put them beside what the papers print.
///
/// The page has every table and figure of five papers: exact figures (bits, rounds, gates), which have to be
/// equal; measured ones with the spread of their repetitions; those that follow from others by a formula; and
/// what two cores cannot do, with the reason and the nearest run. It needs no network. The same is there as
/// JSON and CSV, and in the folder `runs` the whole report of each run.
///
/// A run that fails stops no other, and the page says why it failed. Finished runs are kept: --resume goes on
/// after an interruption, with the same program. Exit code 1: an exact figure differs, or a run failed.
#[derive(Args)]
#[command(after_help = "Example: divisi reproduce --quick --out report\n\
                        One table: divisi reproduce --paper maestro --table table-5 --out report\n\
                        After an interruption: divisi reproduce --quick --out report --resume\n\n\
                        Papers: maestro, kor17, wrk17, gykw, symphony. A warning comes if other processes took\n\
                        more than a tenth of the cores.")]
pub struct ReproduceArgs {
    /// The directory for report.html, report.json, report.csv and the runs
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only this paper
    #[arg(long, value_name = "NAME")]
    paper: Option<String>,
    /// Only this table or figure, by its number in the paper: table-5, figure-13
    #[arg(long, value_name = "ID")]
    table: Option<String>,
    /// Few repetitions and small batches: at most 15 minutes on two cores for all papers
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// All runs, in full: at most two hours for all papers [default]
    #[arg(long)]
    full: bool,
    /// Take up the finished runs in the directory
    #[arg(long)]
    resume: bool,
    /// What machines these are, in words for the page
    #[arg(long, value_name = "TEXT")]
    machines: Option<String>,
    /// Emulate this round-trip time in milliseconds in all runs, instead of the papers'
    #[arg(long, value_name = "MS", value_parser = positive)]
    rtt: Option<f64>,
    /// Emulate links of this bandwidth in all runs, in 10^6 bits a second, instead of the papers'
    #[arg(long, value_name = "MBIT", value_parser = positive)]
    rate: Option<f64>,
}

pub fn run(context: &Context, arguments: &ReproduceArgs) -> Result<CommandOutput, Failure> {
    let request = ReproduceRequest {
        paper: arguments.paper.clone(),
        table: arguments.table.clone(),
        thoroughness: if arguments.quick { Thoroughness::Quick } else { Thoroughness::Full },
        network: EmulatedNetwork { rtt_ms: arguments.rtt, rate_mbit: arguments.rate },
        machine: arguments.machines.clone(),
        out: arguments.out.clone(),
        resume: arguments.resume,
    };
    let this = this_program()?;
    let program = ReportProgram { party: &this, commit: COMMIT, timeout: context.timeout };
    let shown = RunsDisplay::new();
    let catalogue = Catalogue::built_in()?;
    let done = reproduce::write(&catalogue, &request, program, &context.cleanup, &|now| shown.at(now));
    drop(shown);
    let done = done?;
    if let Some(warning) = done.meanwhile.warning() {
        warn(warning);
    }
    Ok(output(&done))
}

fn output(done: &Reproduction) -> CommandOutput {
    let Reproduction { html, json, csv, runs, counts, seconds, host, meanwhile, .. } = done;
    let plural = if host.cores == 1 { "" } else { "s" };
    let text = format!(
        "{} (as JSON: {}, as CSV: {})\n{runs} runs in {seconds:.0} s. Exact figures: {} equal, {} differ; measured {}, derived {}, \
         out of reach {}, failed {}, not run {}\ncommit {COMMIT}; {}, {} core{plural}; {}",
        html.display(),
        json.display(),
        csv.display(),
        counts.exact,
        counts.differ,
        counts.measured,
        counts.derived,
        counts.out_of_reach,
        counts.failed,
        counts.not_run,
        host.processor,
        host.cores,
        meanwhile.line(),
    );
    let object = json!({
        "schema": 1,
        "html": named(html),
        "json": named(json),
        "csv": named(csv),
        "commit": COMMIT,
        "runs": runs,
        "seconds": seconds,
        "counts": counts,
        "disturbed": meanwhile.is_disturbed(),
    });
    let mut output = CommandOutput::new(text, object);
    output.failure = match (&done.differs, &done.failed) {
        (Some(differs), _) => Some(Failure::mismatch(format!(
            "an exact figure differs: {differs}; {} shows all that do: report this",
            html.display()
        ))),
        (None, Some((command, why))) => Some(Failure::unavailable(format!(
            "a run failed, `divisi {command}`: {why}; give --resume to run again what failed"
        ))),
        (None, None) => None,
    };
    output
}

/// What `bench report` took. Its pages are parts of that of `reproduce`.
#[derive(Args)]
#[command(after_help = "Example: divisi reproduce --quick --out report")]
pub struct FormerReportArgs {
    /// All that the former command took
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _former: Vec<String>,
}

/// Refuse `bench report`: what its options measured are other runs now, and none of them would be silently
/// another one.
pub fn former() -> Failure {
    Failure::usage(
        "bench report is now `divisi reproduce --out DIR`, which has its pages: --paper maestro or symphony for that of \
         rep3, --paper kor17 for spdz, --paper gykw for mixed",
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi::reproduce::{CellCounts, Meanwhile, MeasuredOn};

    #[test]
    fn what_differs_and_what_failed_are_failures_beside_the_report() {
        let done = Reproduction {
            html: "out/report.html".into(),
            json: "out/report.json".into(),
            csv: "out/report.csv".into(),
            runs: 3,
            failed: None,
            differs: None,
            counts: CellCounts::default(),
            seconds: 1.0,
            host: MeasuredOn::here(),
            meanwhile: Meanwhile::default(),
        };
        assert!(output(&done).failure.is_none());
        let failed = Reproduction { failed: Some(("bench aes".into(), "no memory".into())), ..done };
        let failure = output(&failed).failure.unwrap();
        assert!(failure.error.contains("`divisi bench aes`: no memory") && failure.kind.exit_code() == 1);
        let differs = Reproduction { differs: Some("a is 1, not 2".into()), ..failed };
        let failure = output(&differs).failure.unwrap();
        assert!(failure.error.contains("a is 1, not 2") && failure.kind.exit_code() == 1);
    }
}
