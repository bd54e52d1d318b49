//! The engine `mixed` of the commands: circuits by GMW, programs, and operations on numbers and bits, among many parties ([`divisi_mixed`]).
//! **Semi-honest**: all parties but one may pool what they see.

mod evaluations;
mod garbled;
pub mod images;
pub mod jobs;
mod known;
pub mod manner;
mod operation;
mod operations;
mod options;
mod programs;
mod values;
mod work;

use divisi_bgv::parameters::{Hardness, STATISTICAL_BITS, security};
use divisi_core::Security;
use divisi_engine::job::{CircuitJob, EngineJob, Job};
use divisi_engine::known::circuits::DrawnAnswers;
use divisi_engine::{
    Adversary, Clock, Engine, EngineJobs, EngineSettings, Failure, Jobs, Measured, Page, Phase, Prepared,
    Prepares, Profile, SecurityClaim, Unsupported, members,
};
use divisi_mpgc::parameters::{BITS, DIMENSION, fits};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use evaluations::Evaluations;
use jobs::{OperationJob, ProgramJob};
use manner::Manner;
use operation::Operations;
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

impl Engine for MixedEngine {
    fn profile(&self) -> Profile {
        Profile {
            adversary: Adversary::AllButOne,
            security: Security::SemiHonest,
            claims: vec![claim()],
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
        let fact = |name: &str| measured.facts.get(name).cloned().unwrap_or_default();
        let rate = |seconds: f64| (seconds > 0.0).then(|| measured.count as f64 / seconds);
        members(json!({
            "security": Security::SemiHonest.name(),
            "protocol": fact("protocol"),
            "op": fact("op"),
            "program": fact("program"),
            "images": fact("images"),
            "images_right": fact("images_right"),
            "and": fact("and"),
            "and_of_a2b": fact("and_of_a2b"),
            "products": fact("products"),
            "b2a": fact("b2a"),
            "a2b": fact("a2b"),
            "lookups": fact("lookups"),
            "garbled": fact("garbled"),
            "garbled_and": fact("garbled_and"),
            "garbled_form": fact("garbled_form"),
            "form": fact("form"),
            "adder": fact("adder"),
            "bits": fact("bits"),
            "entries": fact("entries"),
            "private": fact("private"),
            "ring_dimension": fact("ring_dimension"),
            "log2_q": fact("log2_q"),
            "log2_whole": fact("log2_whole"),
            "partial_decryptions": fact("partial_decryptions"),
            "insecure": fact("insecure"),
            "k": fact("k"),
            "and_gates": fact("and_gates"),
            "statistical_bits": null,
            "phases": measured.phases_json(),
            "online_per_second": rate(measured.online_seconds()),
            "total_per_second": rate(measured.total_seconds()),
            "computational_bits": measured.computational_bits.unwrap_or(f64::from(COMPUTATIONAL_BITS)),
            "lattice": fact("lattice"),
        }))
    }

    fn page(&self, measured: &Measured) -> Page {
        let row = |(name, phase): &(&'static str, Phase)| {
            vec![
                (*name).to_owned(),
                format!("{:.2}", phase.seconds * 1e3),
                format!("{:.2}", phase.cpu_seconds * 1e3),
                phase.bytes.to_string(),
                phase.rounds.to_string(),
            ]
        };
        let text = |name: &str| measured.facts.get(name).and_then(Value::as_str).unwrap_or_default();
        let circuit = measured.about.get("circuit").and_then(Value::as_str);
        let what = match circuit {
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
            head: ["phase", "ms", "CPU ms", "bytes", "rounds"].map(str::to_owned).to_vec(),
            rows: measured.phases.iter().map(row).collect(),
            below: format!(
                "{read}memory {}; all outputs checked; no protection against parties that deviate; kernel {}; connected in {:.3} s\n{}",
                measured.memory(),
                measured.kernel,
                measured.connect_seconds,
                measured.calibration.summary(),
            ),
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
    fn prepare<'j>(
        &self,
        job: &'j CircuitJob,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        let manner = Manner::new(settings)?.without_adder()?.of_circuits()?;
        Ok(Box::new(Evaluations::new(job, manner)?))
    }
}

impl Prepares<Job> for MixedEngine {
    fn prepare<'j>(
        &self,
        job: &'j Job,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        let manner = Manner::new(settings)?.without_adder()?.without_circuits()?.of_circuits()?;
        Ok(Box::new(DrawnAnswers::new(job, manner)?))
    }
}

impl Prepares<dyn EngineJob> for MixedEngine {
    fn prepare<'j>(
        &self,
        job: &'j dyn EngineJob,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        let manner = Manner::new(settings)?.without_circuits()?;
        if let Some(operation) = job.of::<OperationJob>() {
            return Ok(Box::new(Operations::new(*operation, manner)?));
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
