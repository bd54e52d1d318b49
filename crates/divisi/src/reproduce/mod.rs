//! Every table of the papers beside what is measured here, by one command: a page, the same as JSON and CSV.
//!
//! A catalogue has each table with the paper's values, the commands that measure the same, and the kind of
//! each figure: *exact*, *measured*, *derived* or *out of reach*. [`write()`] makes the runs, each of which
//! is this program again, takes the figures out of their reports, and compares exact ones with what they
//! have to be. Finished runs are kept in the directory, so that an interrupted reproduction goes on.

mod catalogue;
mod cell;
mod figure;
mod machine;
mod outcome;
mod page;
mod passes;
mod plan;
mod resume;
mod runner;

pub use catalogue::{
    Catalogue, CatalogueColumn, CataloguePaper, CatalogueRow, CatalogueTable, LeftOut, Thoroughness,
};
pub use cell::PrintedValue;
pub use machine::{Meanwhile, MeasuredOn};
pub use outcome::CellCounts;
pub use plan::{EmulatedNetwork, ReproduceRequest};
pub use runner::{Progress, ReportProgram};

use crate::bench::calibration_json;
use crate::calibrate::calibrate;
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use divisi_net::{Machine, World};
use machine::Counters;
use outcome::{Evaluation, runs};
use plan::plan;
use resume::RunStore;
use runner::RunRecord;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// A reproduction as it was written.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The page.
    pub html: PathBuf,
    /// The same as JSON.
    pub json: PathBuf,
    /// The cells as CSV.
    pub csv: PathBuf,
    /// The number of runs.
    pub runs: usize,
    /// The first run that failed, and why, if one did.
    pub failed: Option<(String, String)>,
    /// The first exact figure that differs, in words, if one does.
    pub differs: Option<String>,
    /// How the cells ended.
    pub counts: CellCounts,
    /// How long it took.
    pub seconds: f64,
    /// The machine.
    pub host: MeasuredOn,
    /// What it did beside the runs.
    pub meanwhile: Meanwhile,
}

/// The commands of the whole catalogue, without the program; [`Failure`] if it does not hold together.
pub fn commands(thoroughness: Thoroughness) -> Result<Vec<String>, Failure> {
    let request = ReproduceRequest { thoroughness, ..ReproduceRequest::default() };
    let (_, runs) = plan(&Catalogue::built_in()?, &request)?;
    Ok(runs.into_iter().map(|run| run.command).collect())
}

/// The program as its runs name it: by the commit that it was built from; without that, by its file.
fn program_name(program: ReportProgram<'_>) -> Result<String, Failure> {
    if program.commit != "unknown" {
        return Ok(program.commit.to_owned());
    }
    let path = program.party.path();
    let no =
        |e| Failure::unavailable(format!("{} cannot be read ({e}): start it by its path", path.display()));
    let bytes = std::fs::read(path).map_err(no)?;
    Ok(format!("unknown, program {:.16}", hex::encode(Sha256::digest(&bytes))))
}

/// Make the runs of a request, and write `report.html`, `report.json` and `report.csv` into its directory,
/// which is made if it does not exist. `tell` is called with the progress before each run.
///
/// # Errors
/// [`Failure`] if there is no such paper or table, the files cannot be written, or the directory has runs
/// that cannot be taken up. A run that fails is no error: the report says so.
pub fn write(
    catalogue: &Catalogue,
    request: &ReproduceRequest,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<Reproduction, Failure> {
    let (papers, planned) = plan(catalogue, request)?;
    let of: [&str; 2] = [&program_name(program)?, &catalogue.digest];
    let store = RunStore::open(&request.out, of, request.resume, cleanup)?;
    let (began, date) = (Machine.now(), std::time::UNIX_EPOCH + Machine.unix_time());
    let (counters, before) = (Counters::now(), calibrate()?);
    let records = runner::run(&planned, &store, program, cleanup, tell)?;
    let (meanwhile, after) = (counters.until(&Counters::now()), calibrate()?);
    let (host, seconds) = (MeasuredOn::here(), began.elapsed().as_secs_f64());
    let (evaluation, network) = (Evaluation::new(request, &papers, &records), request.network);
    let report = json!({
        "schema": 1, "version": env!("CARGO_PKG_VERSION"), "commit": program.commit,
        "mode": request.thoroughness, "selected": { "paper": request.paper, "table": request.table },
        "date": humantime::format_rfc3339_seconds(date).to_string(), "seconds": seconds,
        "settings": { "machine": request.machine, "rtt_ms": network.rtt_ms, "rate_mbit": network.rate_mbit },
        "machine": host,
        "kernel": divisi_field::kernel::select().map_or_else(|e| e.to_string(), |kernel| kernel.to_string()),
        "calibration": calibration_json(&before), "calibration_after": calibration_json(&after),
        "load": { "before": meanwhile.load[0], "after": meanwhile.load[1] },
        "others_share": meanwhile.others_share, "disturbed": meanwhile.is_disturbed(),
        "catalogue": catalogue.digest,
        "counts": evaluation.counts, "papers": evaluation.papers, "runs": runs(&records),
    });
    let wrong =
        |e| Failure::unavailable(format!("a template of the report does not hold ({e}): report this"));
    let failed = |record: &RunRecord| Some((record.run.command.clone(), record.end.clone().err()?));
    Ok(Reproduction {
        html: store.write("report.html", &page::page(&report).map_err(wrong)?)?,
        json: store.write("report.json", &format!("{report:#}\n"))?,
        csv: store.write("report.csv", &page::csv(&report).map_err(wrong)?)?,
        runs: records.len(),
        failed: records.iter().filter(|record| record.began).find_map(failed),
        differs: evaluation.differs,
        counts: evaluation.counts,
        seconds,
        host,
        meanwhile,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each table and figure that a paper numbers has something with `--quick`, which what only others refer
    /// to need not have; and the estimates keep the times that the command promises.
    #[test]
    fn quick_has_something_of_each_table_and_both_keep_their_time() {
        let catalogue = Catalogue::built_in().unwrap();
        for (thoroughness, most) in [(Thoroughness::Quick, 15.0 * 60.0), (Thoroughness::Full, 2.0 * 3600.0)] {
            let request = ReproduceRequest { thoroughness, ..ReproduceRequest::default() };
            let (papers, runs) = plan(&catalogue, &request).unwrap();
            let seconds: f64 = runs.iter().map(|run| run.seconds).sum();
            assert!(seconds > 60.0 && seconds < most, "{thoroughness:?}: {seconds} s");
            let silent: Vec<String> = papers
                .iter()
                .flat_map(|of| of.tables.iter().map(move |table| (of, table)))
                .filter(|(_, table)| {
                    ["table-", "figure-", "slide-"].iter().any(|name| table.id.starts_with(name))
                })
                .filter(|(_, table)| {
                    let mut cells = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
                    !cells.any(|cell| cell.figure.is_some() && !cell.left_out)
                })
                .map(|(of, table)| format!("{} {}", of.name, table.id))
                .collect();
            assert!(silent.is_empty(), "{thoroughness:?}: {silent:?}");
        }
    }

    #[test]
    fn what_is_near_to_an_unknown_name_is_said() {
        let catalogue = Catalogue::built_in().unwrap();
        for (paper, table, part) in [
            (Some("meastro"), None, "no paper meastro: give --paper maestro or another of maestro, kor17"),
            (Some("gykw"), Some("table-11"), "no table table-11 of gykw: give --table table-2 "),
            (None, Some("slide"), "--table slide-"),
        ] {
            let refused = catalogue.has(paper, table).unwrap_err();
            assert!(refused.error.contains(part) && refused.kind.exit_code() == 2, "{refused}");
        }
        assert!(catalogue.has(Some("wrk17"), Some("table-8")).is_ok());
    }

    /// A command over another network emulates this one instead, and what emulates none stays.
    #[test]
    fn a_network_replaces_those_of_the_papers() {
        let catalogue = Catalogue::built_in().unwrap();
        let network = EmulatedNetwork { rtt_ms: Some(7.5), rate_mbit: None };
        let request = ReproduceRequest { network, ..ReproduceRequest::default() };
        let (_, runs) = plan(&catalogue, &request).unwrap();
        for run in &runs {
            let words: Vec<&str> = run.command.split(' ').collect();
            let times = words.iter().filter(|word| **word == "--rtt").count();
            let emulates = run.command.starts_with("bench ") && !run.command.starts_with("bench calibrate");
            assert_eq!(times, usize::from(emulates), "{}", run.command);
            assert!(!emulates || run.command.contains("--rtt 7.5"), "{}", run.command);
        }
        assert!(runs.iter().any(|run| run.command.contains("--rate ")));
    }
}
