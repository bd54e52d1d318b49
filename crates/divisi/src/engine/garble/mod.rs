//! Authenticated garbling among any number of parties, all but one of whom may be corrupt
//! ([`divisi_garble`]).

mod evaluations;
mod garbling;
mod known;
mod report;

use super::job::Job;
use super::settings::STREAMED;
use super::{
    Adversary, Clock, Engine, EngineOption, EngineSettings, Measured, Page, Prepared, SecurityClaim,
    Unsupported, members,
};
use divisi_garble::{DEPENDENT_PHASE, INDEPENDENT_PHASE, MOST_PARTIES, ONLINE_PHASE, SETUP_PHASE};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use evaluations::Evaluations;
use garbling::{Garbling, STATISTICAL_BITS};
use known::KnownAnswers;
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

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

impl Engine for GarbleEngine {
    fn name(&self) -> &'static str {
        "garble"
    }

    fn about(&self) -> &'static str {
        "Authenticated garbling among n = 2 to 128 parties, secure against up to n - 1 malicious ones: circuits"
    }

    fn parties(&self) -> RangeInclusive<usize> {
        2..=MOST_PARTIES
    }

    fn claims(&self) -> Vec<SecurityClaim> {
        let [least, most] = STATISTICAL_BITS;
        vec![
            SecurityClaim::new("garble", &self.parties())
                .statistical(format!("{least} bits, {most} on request"))
                .computational(format!("{COMPUTATIONAL_BITS} bits")),
        ]
    }

    fn adversary(&self) -> Adversary {
        Adversary::AllButOne
    }

    fn phases(&self, settings: &EngineSettings) -> &'static [Clock] {
        if settings.is_streamed() { STREAMED_PHASES } else { PHASES }
    }

    fn options(&self) -> Vec<EngineOption> {
        garbling::options()
    }

    fn statistical_bits(&self, settings: &EngineSettings) -> Option<u32> {
        Garbling::new(settings).ok().map(|garbling| garbling.config.rho)
    }

    fn statistical_choice(&self) -> &'static str {
        "40 or 64"
    }

    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported> {
        Garbling::new(settings).map(drop)
    }

    fn prepare<'j>(
        &self,
        job: &'j Job,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        super::check(self, settings)?;
        let garbling = Garbling::new(settings)?;
        match job {
            Job::Circuit(circuit) => Ok(Box::new(Evaluations::new(circuit, garbling)?)),
            Job::Texts(_) | Job::Messages(_) => Ok(Box::new(KnownAnswers::new(job, garbling)?)),
            Job::Chain(_) => {
                Err(Unsupported::new("a Monte Carlo test, for which the engine garble has no circuit"))
            }
            Job::Large(_) => {
                Err(Unsupported::new("a test of large data, for which the engine garble has no circuit"))
            }
            Job::Blocks(_) | Job::Digests(_) | Job::Operation(_) | Job::Lookups(_) | Job::Program(_) => {
                Err(Unsupported::new(
                    "the engine garble computes circuits: use `divisi run` or `divisi bench circuit`",
                ))
            }
        }
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
