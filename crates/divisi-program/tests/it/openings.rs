//! What is opened under masks is never alike, however equal the inputs are: signs that serve two lookups,
//! layers or batches would open the same twice.

use divisi_core::testing::{Harness, MessageDirection};
use divisi_core::{PublicParameters, Security};
use divisi_engine::job::EngineJob;
use divisi_engine::{Engine, EngineSettings, Rows, Unwatched};
use divisi_program::NumberSize;
use divisi_program::adapter::MixedEngine;
use divisi_program::adapter::jobs::ProgramJob;
use divisi_program::adapter::manner::{INSECURE, Manner};
use divisi_program::form::BitForm;
use divisi_program::operations::{Op, OperationJob};
use std::collections::BTreeSet;
use std::path::Path;

/// As many as fill whole words.
const LANES: usize = 128;
const WINDOW: usize = 16;

/// How many windows of what two parties open in two batches of a job, on inputs that are all zero, there are,
/// and how many different ones.
fn windows(job: &dyn EngineJob, form: BitForm) -> [usize; 2] {
    let settings = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() };
    let mut settings = settings.among(2).with(Manner::FORM, form.name());
    if form != BitForm::Cot {
        settings = settings.with(INSECURE, "");
    }
    let prepared = MixedEngine.jobs().own.unwrap().prepare(job, &settings).unwrap();
    let mut rows = Rows::default();
    (0..job.count()).for_each(|_| rows.push(&[&vec![0; job.input_bytes()]]));
    let own = prepared.deal(&rows);
    let harness = Harness::new(2, &PublicParameters::new("openings")).patient();
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let own = &own[session.me().index()];
        let mut member = prepared.start(session, job.count(), own)?;
        (0..2).try_for_each(|_| member.batch(job.count(), own, &mut Unwatched).map(drop))
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let opened =
        recordings.iter().flat_map(|all| all.of(MessageDirection::Out, "divisi_mixed::open/open.tell"));
    let opened: Vec<Vec<u8>> = opened.map(|seen| seen.frame.body).collect();
    let all: Vec<&[u8]> = opened.iter().flat_map(|body| body.chunks_exact(WINDOW)).collect();
    [all.len(), all.iter().collect::<BTreeSet<_>>().len()]
}

/// Two lookups beside each other, and two in a later layer.
#[test]
fn lookups_of_a_program_have_their_own_signs() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openings.txt");
    let body = format!(
        "divisi program 1\ninput x 1 bits 3 {LANES}\ninput y 2 bits 3 {LANES}\nz = and x y\n\
         k = const 8 0 1 2 3 4 5 6 7\nl = const 8 0 2 1 3 4 5 6 7\na = lookup k x\nb = lookup l x\n\
         c = lookup k z\nd = lookup l z\noutput a 1\noutput b 1\noutput c 1\noutput d 1\n"
    );
    std::fs::write(&path, body).unwrap();
    let job = ProgramJob::load(&path.into_os_string().into(), None, 1).unwrap();
    let [all, different] = windows(&job, BitForm::Cot);
    // each lookup opens three bits a lane
    assert!(all >= 2 * 4 * 3 * LANES / 8 / WINDOW);
    assert_eq!(different, all);
}

#[test]
fn batches_of_an_operation_have_their_own_masks() {
    let numbers = NumberSize::Bits31;
    for (op, private, form) in [
        (Op::Lookup, false, BitForm::Cot),
        (Op::Lookup2, false, BitForm::Cot),
        (Op::B2a, false, BitForm::Cot),
        (Op::Lookup, true, BitForm::Cot),
        (Op::Lookup, true, BitForm::ALL[1]),
    ] {
        let job = OperationJob { op, numbers, bits: 9, entries: 8, private, count: LANES };
        let [all, different] = windows(&job, form);
        assert!(all > 0 && different == all, "{op:?} {private} {form:?}: {different} of {all}");
    }
}
