//! A program on numbers and bits among parties: all of them processes on this machine, or one of them here.
//!
//! Trust: as for a circuit ([`super`]).

use super::local::across;
use super::{Membership, OwnedJob, PartyReport, alone, differs};
use crate::cleanup::Cleanup;
use crate::engine::job::JobSpec;
use crate::engine::{Engine, EngineSettings, Own};
use crate::failure::{Failure, Kind};
use crate::local::PartyProgram;
use crate::program::{HeldProgram, shown};
use divisi_net::PartyId;
use divisi_program::adapter::jobs::ProgramJob;
use divisi_program::entries::{decode, encode};
use divisi_program::plain::Entries;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The options of a run.
pub struct ProgramOptions {
    /// The program.
    pub program: Arc<HeldProgram>,
    /// The entries of each input that is known here ([`HeldProgram::inputs`]).
    pub inputs: Vec<Option<Entries>>,
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The settings of the engine.
    pub settings: EngineSettings,
    /// How long a receive waits for a message.
    pub timeout: Option<Duration>,
}

/// An output, with its values if a party that learns it is known here.
pub struct LearnedOutput {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The parties that learn it.
    pub receivers: Vec<u8>,
    /// Its values, as text ([`shown`]).
    pub values: Option<Vec<String>>,
}

/// The result of a run; costs are the maximum over the parties known here.
pub struct ProgramReport {
    /// The outputs, in the program's order.
    pub outputs: Vec<LearnedOutput>,
    /// Seconds from the first input to the last output.
    pub seconds: f64,
    /// Payload that a party sent, in bits.
    pub bits_sent: u64,
    /// Bytes handed to TLS.
    pub bytes_sent: u64,
    /// The longest chain of dependent messages.
    pub rounds: u32,
    /// The engine's facts about the job, for JSON.
    pub facts: Map<String, Value>,
}

impl ProgramOptions {
    fn owned(&self) -> OwnedJob<'_> {
        let own = |party: PartyId| {
            let mut own = Own::default();
            for (input, entries) in self.program.program().inputs().iter().zip(&self.inputs) {
                if let (true, Some(entries)) = (input.owner == party.number(), entries) {
                    encode(entries, &mut own);
                }
            }
            own
        };
        OwnedJob {
            engine: self.engine,
            settings: &self.settings,
            timeout: self.timeout,
            job: JobSpec::Own(Arc::new(ProgramJob {
                program: Arc::clone(&self.program),
                count: 1,
                images: None,
            })),
            own: Box::new(own),
            learns: Box::new(|_| true),
        }
    }

    fn report(
        &self,
        facts: Map<String, Value>,
        reports: Vec<(PartyId, PartyReport)>,
    ) -> Result<ProgramReport, Failure> {
        let PartyReport { seconds, bits, bytes, rounds, .. } = PartyReport::most(&reports);
        let mut found: Vec<Option<Entries>> = vec![None; self.program.program().outputs().len()];
        for (party, report) in reports {
            let own = Own::new(report.outputs.unwrap_or_default());
            let mut rest = own.as_slice();
            for (output, found) in self.program.program().outputs().iter().zip(&mut found) {
                if !output.receivers.contains(&party.number()) {
                    continue;
                }
                let Some((entries, others)) = decode(&output.value, rest) else {
                    let error = "a party did not receive its output: report this";
                    return Err(Failure::new(Kind::Abort, error));
                };
                rest = others;
                if found.as_ref().is_some_and(|found| *found != entries) {
                    return Err(differs());
                }
                *found = Some(entries);
            }
        }
        let outputs =
            self.program.program().outputs().iter().zip(&found).map(|(output, found)| LearnedOutput {
                name: output.name.clone(),
                shape: output.value.shape().sides().to_vec(),
                receivers: output.receivers.clone(),
                values: found.as_ref().map(shown),
            });
        let outputs = outputs.collect();
        Ok(ProgramReport { outputs, seconds, bits_sent: bits, bytes_sent: bytes, rounds, facts })
    }
}

/// Run the program with all parties as processes on this machine.
///
/// # Errors
/// [`Failure`] if a party fails.
pub fn local(
    options: &ProgramOptions,
    program: &PartyProgram,
    cleanup: &Cleanup,
) -> Result<ProgramReport, Failure> {
    let (facts, reports) = across(&options.owned(), program, cleanup)?;
    options.report(facts, reports)
}

/// Run as one party of a mesh; the other parties run the same command with their own numbers elsewhere.
///
/// # Errors
/// [`Failure`] if a file is wrong, or the run fails.
pub fn one(options: &ProgramOptions, membership: &Membership) -> Result<ProgramReport, Failure> {
    let (facts, own) = alone(&options.owned(), membership)?;
    options.report(facts, vec![(membership.party, own)])
}
