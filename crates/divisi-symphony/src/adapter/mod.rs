//! The engine `rep3` of the commands: replicated sharing among three parties, of which one may be corrupt
//! ([`divisi_rep3`]).

mod answers;
mod batch;
mod circuits;
mod dealt;
mod lookups;
mod options;
mod report;

use crate::strands::{ONLINE, PREPROCESSING, SETUP, VERIFICATION, messages_at_once};
use answers::KnownAnswers;
use circuits::Circuits;
use dealt::Dealt;
use divisi_engine::evaluations::Evaluations;
use divisi_engine::job::{AnswersJob, Between, BlocksJob, CircuitJob, DigestsJob, JobSpec, LookupJob};
use divisi_engine::{
    Adversary, Clock, Demonstration, Engine, EngineSettings, Jobs, Measured, Page, PreparedJob, Prepares,
    Profile, SecurityClaim, Unsupported, has_option, members,
};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use divisi_rep3::{Passes, Rounds, Security};
use lookups::Looker;
pub use options::{CONSTANT, PRIORITY, ROUNDS};
use options::{choice, is_chosen, is_constant_round, is_on_demand, mode_name, unknown};
use serde_json::{Map, Value, json};

/// The engine of three parties.
pub struct Replicated;

/// The parties of the engine.
const PARTIES: usize = 3;

/// The default statistical security in bits: what one pass of the verification reaches for any batch.
pub const STATISTICAL: u32 = 57;

/// The bits of the keys of pseudo-random sharings and coins: what `divisi_core::Prg` takes.
const KEY_BITS: u32 = 128;

/// The default number of evaluations of a circuit in a benchmark.
const EVALUATIONS: usize = 10_000;

/// The fact that says in how many chunks a repetition goes through the engine.
const CHUNKS: &str = "chunks";

/// The phase after all phases that are measured, in which outputs are opened.
const OUTPUTS: &str = "outputs";
/// The refusal of a block cipher other than AES.
fn aes_alone() -> Unsupported {
    Unsupported::new("the engine rep3 has no block cipher but AES")
}

/// The refusal of lookups, which do not run in constant rounds.
const PROGRAMS_ALONE: &str =
    "--rounds constant is for AES, hashes, MACs and circuits, and not for lookups: leave it out";

const TOO_MANY_BITS: &str = "two passes over GF(2^64) reach 114 bits: give at most that as --statistical";

/// The phases of a benchmark. One-hot vectors and calls that are garbled ahead count, with their
/// verification, as *preprocessing*.
const PHASES: &[Clock] = &[
    Clock::apart(SETUP, &[SETUP]),
    Clock::ahead(PREPROCESSING, &[PREPROCESSING]),
    Clock::online(ONLINE, &[ONLINE]),
    Clock::online(VERIFICATION, &[VERIFICATION]),
];

/// The statistical security in bits that verifications have to reach; `None` if nothing is verified, or if no
/// check has a statistical error (constant rounds).
fn statistical(settings: &EngineSettings) -> Option<u32> {
    let verified = settings.security == Security::Malicious && !is_constant_round(settings);
    verified.then_some(settings.statistical.unwrap_or(STATISTICAL))
}

/// How programs run.
fn rounds(settings: &EngineSettings) -> Rounds {
    if is_constant_round(settings) { Rounds::Constant } else { Rounds::OfLevels }
}

fn facts(settings: &EngineSettings) -> Map<String, Value> {
    members(json!({
        "protocol": choice(settings).protocol().name(),
        "mode": mode_name(settings),
        "security": settings.security.name(),
    }))
}

impl Engine for Replicated {
    fn profile(&self) -> Profile {
        Profile {
            adversary: Adversary::One,
            claims,
            options: options::options(),
            statistical_choice: "up to 114, above 57 everything is verified twice",
            ciphers: &["aes"],
            evaluations: EVALUATIONS,
            deals: true,
            // a circuit without products has nothing to verify
            verifies_online: true,
            ..Profile::new(
                "rep3",
                "Replicated sharing among three parties, secure against one malicious party",
                PARTIES..=PARTIES,
            )
        }
    }

    fn jobs(&self) -> Jobs<'_> {
        Jobs {
            circuits: Some(self),
            blocks: Some(self),
            digests: Some(self),
            lookups: Some(self),
            answers: Some(self),
            long_answers: true,
            own: None,
        }
    }

    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported> {
        if let Some(option) = unknown(settings) {
            let error = format!("a value of --{option} that the engine rep3 does not have");
            return Err(Unsupported::new(error));
        }
        match settings {
            EngineSettings { threads: 0, .. } => Err(Unsupported::new("--threads is 0: give at least 1")),
            EngineSettings { threads, .. } if *threads > 1024 => {
                Err(Unsupported::new("--threads is more than 1024: give less"))
            }
            EngineSettings { statistical: Some(0), .. } => {
                Err(Unsupported::new("--statistical is 0: give at least 1"))
            }
            EngineSettings { statistical: Some(bits), .. } if Passes::for_bits(*bits).is_none() => {
                Err(Unsupported::new(format!("--statistical is {bits}, and {TOO_MANY_BITS}")))
            }
            EngineSettings { statistical: Some(_), security: Security::SemiHonest, .. } => {
                Err(Unsupported::new(
                    "--statistical is about the detection of deviations, and --security semi-honest detects none: leave one of them out",
                ))
            }
            _ if is_on_demand(settings) && !is_constant_round(settings) => Err(Unsupported::new(
                "--on-demand belongs to --rounds constant: give it too, or leave --on-demand out",
            )),
            EngineSettings { statistical: Some(_), .. } if is_constant_round(settings) => {
                Err(Unsupported::new("--rounds constant has no statistical error: leave --statistical out"))
            }
            EngineSettings { security: Security::SemiHonest, .. } if is_constant_round(settings) => {
                Err(Unsupported::new(
                    "--rounds constant is secure against a malicious party at no extra cost: leave --security \
                     semi-honest out",
                ))
            }
            _ if is_constant_round(settings) && is_chosen(settings) => Err(Unsupported::new(
                "--rounds constant has no S-boxes and no levels to choose: leave --protocol, --priority and --adder \
                 out",
            )),
            _ => Ok(()),
        }
    }

    fn phases(&self, _: &EngineSettings) -> &'static [Clock] {
        PHASES
    }

    fn statistical_bits(&self, settings: &EngineSettings) -> Option<u32> {
        statistical(settings)
    }

    fn demonstration(&self) -> Option<Demonstration> {
        Some(Demonstration::Servers)
    }

    fn facts(&self, settings: &EngineSettings) -> Map<String, Value> {
        facts(settings)
    }

    fn report(&self, measured: &Measured) -> Map<String, Value> {
        report::json(measured)
    }

    fn page(&self, measured: &Measured) -> Page {
        report::page(measured)
    }
}

fn claims() -> Vec<SecurityClaim> {
    // constant rounds are malicious only
    let row = |name| SecurityClaim::new(name, &(PARTIES..=PARTIES));
    let keys = format!("{} bits", KEY_BITS);
    vec![
        row("rep3, malicious")
            .statistical(format!("at least {STATISTICAL} bits in every verification (reported by the meter)"))
            .computational(format!("{keys}; {COMPUTATIONAL_BITS} in constant rounds")),
        row("rep3, semi-honest").statistical("exact").computational(keys),
    ]
}

impl Prepares<CircuitJob> for Replicated {
    fn prepare<'j>(&self, circuit: &'j CircuitJob, settings: &EngineSettings) -> PreparedJob<'j> {
        circuit.circuit.program()?;
        if circuit.between == Between::Client {
            return Ok(Box::new(Dealt::new(JobSpec::Circuit(circuit.clone()), settings)?));
        }
        if settings.statistical.is_some() && !has_option(self, "statistical") {
            // for the parties' own inputs, `--statistical` belongs to engines that have a choice of it
            return Err(Unsupported::new(
                "the engine rep3 has no choice of --statistical for the parties' own inputs: leave it out",
            ));
        }
        if circuit.count != 1 {
            return Err(Unsupported::new(
                "the engine rep3 computes one evaluation at a time with the parties' own inputs: leave --count out",
            ));
        }
        let circuits = Circuits { security: settings.security, rounds: rounds(settings) };
        Ok(Box::new(Evaluations::new(circuit, circuits)?))
    }

    fn at_once(&self, job: &CircuitJob, _: &EngineSettings) -> Option<usize> {
        Some(messages_at_once(job.input_bytes()))
    }
}

impl Prepares<BlocksJob> for Replicated {
    fn prepare<'j>(&self, job: &'j BlocksJob, settings: &EngineSettings) -> PreparedJob<'j> {
        Ok(Box::new(Dealt::new(JobSpec::Blocks(*job), settings)?))
    }

    fn at_once(&self, _: &BlocksJob, settings: &EngineSettings) -> Option<usize> {
        Some(choice(settings).protocol().blocks_at_once())
    }
}

impl Prepares<DigestsJob> for Replicated {
    fn prepare<'j>(&self, job: &'j DigestsJob, settings: &EngineSettings) -> PreparedJob<'j> {
        Ok(Box::new(Dealt::new(JobSpec::Digests(job.clone()), settings)?))
    }

    fn at_once(&self, job: &DigestsJob, _: &EngineSettings) -> Option<usize> {
        Some(messages_at_once(job.message_bytes))
    }
}

impl Prepares<LookupJob> for Replicated {
    fn prepare<'j>(&self, job: &'j LookupJob, settings: &EngineSettings) -> PreparedJob<'j> {
        Ok(Box::new(Looker::new(job, settings)?))
    }

    fn at_once(&self, _: &LookupJob, _: &EngineSettings) -> Option<usize> {
        Some(messages_at_once(4))
    }
}

impl Prepares<AnswersJob> for Replicated {
    fn prepare<'j>(&self, job: &'j AnswersJob, settings: &EngineSettings) -> PreparedJob<'j> {
        Ok(Box::new(KnownAnswers::new(job, settings)?))
    }
}
