//! The engine `garble` of the commands: authenticated garbling among any number of parties, all but one of
//! whom may be corrupt.

mod circuits;
mod report;
mod settings;

use crate::{DEPENDENT_PHASE, INDEPENDENT_PHASE, MOST_PARTIES, ONLINE_PHASE, SETUP_PHASE, k_for};
use divisi_engine::evaluations::Evaluations;
use divisi_engine::job::{AnswersJob, CircuitJob};
use divisi_engine::known::circuits::DrawnAnswers;
use divisi_engine::settings::STREAMED;
use divisi_engine::{
    Adversary, Clock, Engine, EngineSettings, Jobs, Measured, Page, PreparedJob, Prepares, Profile,
    SecurityClaim, Unsupported, members,
};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use serde_json::{Map, Value, json};
use settings::{Garbling, STATISTICAL_BITS};

/// The engine of authenticated garbling.
pub struct GarbleEngine;

/// The phases of a benchmark. Each repetition has a set-up of its own, which therefore counts in the total.
const PHASES: &[Clock] = &[
    Clock::ahead(SETUP_PHASE, &[SETUP_PHASE]),
    Clock::ahead(INDEPENDENT_PHASE, &[INDEPENDENT_PHASE]),
    Clock::ahead(DEPENDENT_PHASE, &[DEPENDENT_PHASE]),
    Clock::online(ONLINE_PHASE, &[ONLINE_PHASE]),
];

/// The phases of the streamed mode: those after the set-up alternate, and are measured together.
const STREAMED_PHASES: &[Clock] = &[
    Clock::ahead(SETUP_PHASE, &[SETUP_PHASE]),
    Clock::online(STREAMED, &[INDEPENDENT_PHASE, DEPENDENT_PHASE, ONLINE_PHASE]),
];

fn claims() -> Vec<SecurityClaim> {
    let [least, most] = STATISTICAL_BITS;
    let claim = SecurityClaim::new("garble", &(2..=MOST_PARTIES));
    let claim = claim.statistical(format!("{least} bits, {most} on request"));
    vec![claim.computational(format!("{COMPUTATIONAL_BITS} bits"))]
}

impl Engine for GarbleEngine {
    fn profile(&self) -> Profile {
        Profile {
            adversary: Adversary::AllButOne,
            claims,
            options: settings::options(),
            statistical_choice: "40 or 64",
            ..Profile::new(
                "garble",
                "Authenticated garbling among n = 2 to 128 parties, secure against up to n - 1 malicious ones: circuits",
                2..=MOST_PARTIES,
            )
        }
    }

    fn jobs(&self) -> Jobs<'_> {
        Jobs { circuits: Some(self), answers: Some(self), ..Jobs::default() }
    }

    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported> {
        Garbling::new(settings).map(drop)
    }

    fn phases(&self, settings: &EngineSettings) -> &'static [Clock] {
        if settings.is_streamed() { STREAMED_PHASES } else { PHASES }
    }

    fn statistical_bits(&self, settings: &EngineSettings) -> Option<u32> {
        Garbling::new(settings).ok().map(|garbling| garbling.config.rho)
    }

    fn facts(&self, settings: &EngineSettings) -> Map<String, Value> {
        let form = Garbling::new(settings).ok().map(|garbling| garbling.options.form.name());
        members(json!({ "security": settings.security.name(), "form": form }))
    }

    fn report(&self, measured: &Measured) -> Map<String, Value> {
        report::json(measured)
    }

    fn page(&self, measured: &Measured) -> Page {
        report::page(measured)
    }
}

impl Prepares<CircuitJob> for GarbleEngine {
    fn prepare<'j>(&self, job: &'j CircuitJob, settings: &EngineSettings) -> PreparedJob<'j> {
        let mut garbling = Garbling::new(settings)?;
        if garbling.any_k {
            garbling.config.k = k_for(job.circuit.and_count().saturating_mul(job.count));
        }
        Ok(Box::new(Evaluations::new(job, garbling)?))
    }
}

impl Prepares<AnswersJob> for GarbleEngine {
    fn prepare<'j>(&self, job: &'j AnswersJob, settings: &EngineSettings) -> PreparedJob<'j> {
        let garbling = Garbling { streams_large: true, ..Garbling::new(settings)? };
        Ok(Box::new(DrawnAnswers::new(job, garbling)?))
    }
}
