//! What a party brings to a batch is as long as its share of the job, by every engine and for each kind of
//! job: less is refused, and so is more, unless an engine reads the rows of a job one by one.

use crate::agreement::KINDS;
use divisi::engine::job::Own;
use divisi::engine::{Engine, EngineSettings, JobSpec, Prepared, Rows, Unwatched, all, prepare};
use divisi::layers::core::{Abort, Session, local};

/// Kinds of jobs whose rows have different lengths, and are read one by one.
const ROW_BY_ROW: [&str; 2] = ["answers", "operations"];

/// All parties of a job of zeros, of which one brings so many bytes more or less than its share; whether it
/// has a share at all.
fn brought(
    job: &JobSpec,
    prepared: &dyn Prepared,
    (party, more): (usize, isize),
) -> (bool, Result<(), Abort>) {
    let widths = (0..job.count()).map(|i| job.input_bytes(i));
    let rows = Rows::cut(vec![0; widths.clone().sum()], widths);
    let (keys, owns) = (prepared.deal_key(&vec![0; job.key_bytes()]), prepared.deal(&rows));
    let run = |session: Session| {
        let me = session.me().index();
        let mut own = owns[me].to_vec();
        if me == party {
            own.resize(own.len().saturating_add_signed(more), 0);
        }
        prepared.start(session, job.count(), &keys[me])?.batch(job.count(), &Own::new(own), &mut Unwatched)
    };
    let end = local::run(prepared.parties(), &prepared.parameters(job.count()), run);
    (!owns[party].is_empty(), end.map(drop))
}

/// Two of the first job of a kind that an engine has.
fn one(engine: &dyn Engine, jobs: &[JobSpec], settings: &EngineSettings) -> Option<JobSpec> {
    jobs.iter().map(|job| job.clone().counted(2)).find(|job| prepare(engine, job, settings).is_ok())
}

#[test]
fn parties_bring_as_much_as_their_share_of_a_job() {
    for engine in all().into_iter().filter(|engine| engine.profile().parties.end() > &1) {
        let settings = EngineSettings { security: engine.profile().security, ..EngineSettings::default() };
        let mut seen = 0;
        for (kind, jobs) in &*KINDS {
            let Some(job) = one(engine, jobs, &settings) else { continue };
            let prepared = prepare(engine, &job, &settings).unwrap();
            for party in 0..prepared.parties() {
                let with = |more| brought(&job, &*prepared, (party, more));
                let of = format!("{}, {kind}, party {}", engine.name(), party + 1);
                assert_eq!(with(0).1, Ok(()), "{of}");
                let is_refused = |more| match with(more) {
                    (true, end) => matches!(end, Err(Abort::Misuse { .. })),
                    (false, _) => true,
                };
                assert!(is_refused(-1), "{of} may bring less");
                assert!(ROW_BY_ROW.contains(kind) || is_refused(1), "{of} may bring more");
                seen += 1;
            }
        }
        assert!(seen > 0, "{}", engine.name());
    }
}
