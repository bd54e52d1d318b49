//! The engine `mixed` of the commands: circuits by GMW, programs, and operations on numbers and bits, among
//! many parties ([`divisi_mixed`]).
//! **Semi-honest**: all parties but one may pool what they see.

mod circuits;
mod garbled;
pub mod jobs;
pub mod manner;
mod operations;
mod options;
mod programs;

use crate::operations::OperationJob;
use divisi_bgv::parameters::{Hardness, STATISTICAL_BITS, security};
use divisi_core::Security;
use divisi_engine::evaluations::Evaluations;
use divisi_engine::job::{AnswersJob, CircuitJob, EngineJob};
use divisi_engine::known::circuits::DrawnAnswers;
use divisi_engine::{
    Adversary, Clock, Engine, EngineJobs, EngineSettings, Failure, Jobs, Measured, Page, PreparedJob,
    Prepares, Profile, SecurityClaim, Unsupported, columns, members,
};
use divisi_mpgc::parameters::{BITS, DIMENSION, fits};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use garbled::Garbling;
use jobs::ProgramJob;
use manner::Manner;
use operations::Operation;
use programs::Programs;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The engine of GMW, and of threshold BGV above it.
pub struct MixedEngine;

const SETUP: &str = "setup";
const PREPROCESSING: &str = divisi_mixed::gmw::PREPROCESSING;
const ONLINE: &str = "online";

/// The phases of a benchmark. Nothing is verified: the phase `verification` is reported with zeros.
const PHASES: &[Clock] = &[
    Clock::apart(SETUP, &[SETUP]),
    Clock::ahead(PREPROCESSING, &[PREPROCESSING]),
    Clock::online(ONLINE, &[ONLINE]),
    Clock::online("verification", &["verification"]),
];

const MOST_PARTIES: usize = 255;

/// The facts of jobs that a benchmark reports.
const FACTS: &str = "protocol op program images images_right and and_of_a2b products b2a a2b lookups garbled \
                     garbled_and garbled_form form adder bits entries private ring_dimension log2_q log2_whole \
                     partial_decryptions insecure k and_gates lattice";

impl Engine for MixedEngine {
    fn profile(&self) -> Profile {
        Profile {
            adversary: Adversary::AllButOne,
            security: Security::SemiHonest,
            claims: || vec![claim()],
            options: options::options(),
            ..Profile::new(
                "mixed",
                "GMW among n = 2 to 255 parties, secure against up to n - 1 semi-honest ones: circuits, numbers, programs",
                2..=MOST_PARTIES,
            )
        }
    }

    fn jobs(&self) -> Jobs<'_> {
        Jobs { circuits: Some(self), answers: Some(self), own: Some(self), ..Jobs::default() }
    }

    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported> {
        Manner::new(settings).map(drop)
    }

    fn phases(&self, _: &EngineSettings) -> &'static [Clock] {
        PHASES
    }

    fn statistical_bits(&self, _: &EngineSettings) -> Option<u32> {
        None
    }

    fn facts(&self, settings: &EngineSettings) -> Map<String, Value> {
        members(json!({ "security": settings.security.name() }))
    }

    fn report(&self, measured: &Measured) -> Map<String, Value> {
        let [online, total] = measured.rates();
        let mut all = members(json!({
            "security": Security::SemiHonest.name(),
            "statistical_bits": null,
            "phases": measured.phases_json(),
            "online_per_second": online,
            "total_per_second": total,
            "computational_bits": measured.computational_bits.unwrap_or(f64::from(COMPUTATIONAL_BITS)),
        }));
        all.extend(measured.members_of_facts(FACTS.split_whitespace()));
        all
    }

    fn page(&self, measured: &Measured) -> Page {
        let text = |name: &str| measured.text(name);
        let what = match measured.about_text("circuit") {
            Some(circuit) if text("protocol") == "mpgc" => {
                format!(
                    "{circuit} ({} ANDs, garbled, keys by {})",
                    measured.number("and_gates"),
                    text("form")
                )
            }
            Some(circuit) => format!("{circuit} ({} ANDs, GMW)", measured.number("and_gates")),
            None if !text("program").is_empty() => format!(
                "{} ({} ANDs, {} products, {} B2A, {} A2B, form {})",
                text("program"),
                measured.number("and") + measured.number("and_of_a2b"),
                measured.number("products"),
                measured.number("b2a"),
                measured.number("a2b"),
                text("form")
            ),
            None if text("form").is_empty() => text("op").to_owned(),
            None => format!("{} (form {})", text("op"), text("form")),
        };
        let insecure = measured.facts.get("insecure").and_then(Value::as_bool).unwrap_or(false);
        let read = match measured.number("images") {
            0 => String::new(),
            images => {
                format!("{} of {images} images classified as labelled; ", measured.number("images_right"))
            }
        };
        Page {
            above: format!(
                "{}{} {}{} of {what}, mixed, semi-honest, {} parties, k {}, median of {}, the slowest party and the one that sends most:",
                if insecure { "INSECURE lattices, for tests: " } else { "" },
                measured.count,
                measured.unit,
                if measured.count == 1 { "" } else { "s" },
                measured.parties,
                measured.number("k"),
                measured.reps,
            ),
            below: format!(
                "{read}memory {}; all outputs checked; no protection against parties that deviate; {}",
                measured.memory(),
                measured.machine(),
            ),
            ..measured.table(&[columns::MS, columns::CPU_MS, columns::BYTES, columns::ROUNDS])
        }
    }
}

/// What the engine claims: the least over all rings that it can derive.
fn claim() -> SecurityClaim {
    let limits = security::LIMITS.into_iter().chain([(DIMENSION, f64::from(BITS))]);
    let rings: Vec<Hardness> = limits.filter_map(|(n, log2_q)| Hardness::of(n, log2_q)).collect();
    let least = |bits: fn(&Hardness) -> f64| rings.iter().map(bits).fold(f64::INFINITY, f64::min);
    let most = (2..=255).take_while(|n| fits(*n)).last().unwrap_or(2);
    let parties = format!("{} to {}; mpgc to {most}", 2, MOST_PARTIES);
    let claim =
        SecurityClaim::new("mixed, with bgv and mpgc on which it stands, semi-honest", &(2..=MOST_PARTIES));
    SecurityClaim { parties, ..claim }
            .statistical(format!("{STATISTICAL_BITS} bits over all decryptions of a session"))
            .computational(format!(
                "{COMPUTATIONAL_BITS} bits from hashes; the lattices, with circular security: {} in the classical \
                 model of the 2024 guideline, at least {:.0} in core-SVP and {:.0} in core-SVP against a quantum \
                 computer",
                security::CLASSICAL_BITS,
                least(Hardness::core_svp_bits).floor(),
                least(Hardness::core_svp_quantum_bits).floor(),
            ))
}

/// The hardness of a ring, as the JSON of commands has it; null for the ring of tests.
#[must_use]
pub fn lattice_json(hardness: Option<Hardness>) -> Value {
    let Some(hardness) = hardness else { return Value::Null };
    json!({
        "block_size": hardness.block_size,
        "dimension": hardness.dimension,
        "classical_bits": hardness.classical_bits(),
        "quantum_bits": hardness.quantum_bits(),
        "core_svp_bits": hardness.core_svp_bits(),
        "core_svp_quantum_bits": hardness.core_svp_quantum_bits(),
        "model": Hardness::MODELS,
    })
}

impl Prepares<CircuitJob> for MixedEngine {
    fn prepare<'j>(&self, job: &'j CircuitJob, settings: &EngineSettings) -> PreparedJob<'j> {
        let manner = Manner::new(settings)?.without_adder()?.of_circuits()?;
        if manner.is_garbled() {
            return Ok(Box::new(Evaluations::new(job, Garbling::new(job, manner)?)?));
        }
        Ok(Box::new(Evaluations::new(job, manner)?))
    }
}

impl Prepares<AnswersJob> for MixedEngine {
    fn prepare<'j>(&self, job: &'j AnswersJob, settings: &EngineSettings) -> PreparedJob<'j> {
        let manner = Manner::new(settings)?.without_adder()?.without_circuits()?.of_circuits()?;
        Ok(Box::new(DrawnAnswers::new(job, manner)?))
    }
}

impl Prepares<dyn EngineJob> for MixedEngine {
    fn prepare<'j>(&self, job: &'j dyn EngineJob, settings: &EngineSettings) -> PreparedJob<'j> {
        let manner = Manner::new(settings)?.without_circuits()?;
        if let Some(operation) = job.of::<OperationJob>() {
            return Ok(Box::new(Operation::new(*operation, manner)?));
        }
        let other = || Unsupported::new("a job of another engine");
        let program = job.of::<ProgramJob>().ok_or_else(other)?;
        Ok(Box::new(Programs::new(program, manner.without_adder()?)?))
    }
}

impl EngineJobs for MixedEngine {
    fn read(&self, message: &[u8]) -> Result<Arc<dyn EngineJob>, Failure> {
        jobs::read(message)
    }
}
