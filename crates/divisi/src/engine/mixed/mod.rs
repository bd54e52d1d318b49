//! Circuits by GMW, and operations on numbers and bits, among many parties ([`divisi_mixed`]).
//! **Semi-honest**: all parties but one may pool what they see.

mod evaluations;
mod garbled;
mod known;
pub mod manner;
mod operation;
mod operations;
mod options;
mod programs;
mod values;
mod work;

use super::job::Job;
use super::{
    Adversary, Clock, Engine, EngineOption, EngineSettings, ExpectedOutput, Measured, Page, Prepared,
    SecurityClaim, Unsupported, members,
};
use divisi_bgv::parameters::{Hardness, STATISTICAL_BITS, security};
use divisi_core::Security;
use divisi_mpgc::parameters::{BITS, DIMENSION, fits};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use evaluations::Evaluations;
use known::KnownAnswers;
use manner::Manner;
use operation::Operations;
use operation::expected;
use programs::Programs;
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

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

impl Engine for MixedEngine {
    fn name(&self) -> &'static str {
        "mixed"
    }

    fn about(&self) -> &'static str {
        "GMW among n = 2 to 255 parties, secure against up to n - 1 semi-honest ones: circuits, numbers, programs"
    }

    fn parties(&self) -> RangeInclusive<usize> {
        2..=255
    }

    fn claims(&self) -> Vec<SecurityClaim> {
        let limits = security::LIMITS.into_iter().chain([(DIMENSION, f64::from(BITS))]);
        let rings: Vec<Hardness> = limits.filter_map(|(n, log2_q)| Hardness::of(n, log2_q)).collect();
        let least = |bits: fn(&Hardness) -> f64| rings.iter().map(bits).fold(f64::INFINITY, f64::min);
        let most = (2..=255).take_while(|n| fits(*n)).last().unwrap_or(2);
        let parties = format!("{} to {}; mpgc to {most}", self.parties().start(), self.parties().end());
        let claim =
            SecurityClaim::new("mixed, with bgv and mpgc on which it stands, semi-honest", &self.parties());
        vec![SecurityClaim { parties, ..claim }
            .statistical(format!("{STATISTICAL_BITS} bits over all decryptions of a session"))
            .computational(format!(
                "{COMPUTATIONAL_BITS} bits from hashes; the lattices, with circular security: {} in the classical \
                 model of the 2024 guideline, at least {:.0} in core-SVP and {:.0} in core-SVP against a quantum \
                 computer",
                security::CLASSICAL_BITS,
                least(Hardness::core_svp_bits).floor(),
                least(Hardness::core_svp_quantum_bits).floor(),
            ))]
    }

    fn adversary(&self) -> Adversary {
        Adversary::AllButOne
    }

    fn usual_security(&self) -> Security {
        Security::SemiHonest
    }

    fn phases(&self, _: &EngineSettings) -> &'static [Clock] {
        PHASES
    }

    fn options(&self) -> Vec<EngineOption> {
        options::options()
    }

    fn has_programs(&self) -> bool {
        true
    }

    fn expected(&self, job: &Job) -> Option<ExpectedOutput> {
        match job {
            Job::Operation(job) => Some(expected(*job)),
            Job::Program(job) => Some(programs::expected(job)),
            _ => None,
        }
    }

    fn statistical_bits(&self, _: &EngineSettings) -> Option<u32> {
        None
    }

    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported> {
        Manner::new(settings).map(drop)
    }

    fn prepare<'j>(
        &self,
        job: &'j Job,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        super::check(self, settings)?;
        let manner = Manner::new(settings)?;
        match job {
            Job::Circuit(circuit) => {
                Ok(Box::new(Evaluations::new(circuit, manner.without_adder()?.of_circuits()?)?))
            }
            Job::Texts(_) | Job::Messages(_) => {
                let manner = manner.without_adder()?.without_circuits()?.of_circuits()?;
                Ok(Box::new(KnownAnswers::new(job, manner)?))
            }
            Job::Operation(operation) => {
                Ok(Box::new(Operations::new(*operation, manner.without_circuits()?)?))
            }
            Job::Program(program) => {
                Ok(Box::new(Programs::new(program, manner.without_adder()?.without_circuits()?)?))
            }
            Job::Chain(_) => {
                Err(Unsupported::new("a Monte Carlo test, for which the engine mixed has no circuit"))
            }
            Job::Large(_) => {
                Err(Unsupported::new("a test of large data, for which the engine mixed has no circuit"))
            }
            Job::Blocks(_) | Job::Digests(_) | Job::Lookups(_) => Err(Unsupported::new(
                "the engine mixed computes circuits: use `divisi run` or `divisi bench circuit`",
            )),
        }
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
        let row = |(name, phase): &(&'static str, super::Phase)| {
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
