//! `divisi kat`.

use super::garbling::Manner;
use super::{Context, Done, EngineChoice, ProtocolChoice};
use clap::Args;
use divisi::failure::Failure;
use divisi::garbling::Garbling;
use divisi::kat::{self, Engine, Options, Report, Tally};
use divisi_rep3::Security;
use serde_json::json;
use std::path::PathBuf;

/// Run published test vectors through an engine, one line an algorithm.
#[derive(Args)]
#[command(after_help = "Example: divisi kat --engine rep3 aes_gcm_test.json\n\
                        Files: Wycheproof (v1: AES-GCM, HMAC, KMAC, AES-CMAC, AES-GMAC), and of ACVP (AES-GCM, AES-ECB, AES-CTR, SHA2, SHA3,\n\
                        SHAKE, cSHAKE, HMAC, KMAC, CMAC-AES, AES-GMAC) internalProjection.json, or prompt.json and expectedResults.json.\n\
                        What cannot run is counted, with the reason: Monte Carlo tests (but those of SHA-3) and large data, lengths that are no whole bytes.\n\
                        Nobody trusted: divisi kat --engine garble --parties 5 ACVP-AES-ECB.json; what it has no circuit of is counted.")]
pub struct Arguments {
    /// What computes: rep3 or garble (parties in this process), or plain (one party, in the clear)
    #[arg(long, default_value = "rep3", value_name = "NAME")]
    engine: Engine,
    #[command(flatten)]
    choice: ProtocolChoice,
    /// Against whom: malicious or semi-honest
    #[arg(long, default_value = "malicious", value_name = "NAME")]
    security: Security,
    /// How many parties: rep3 has 3, plain 1, garble 2 to 128 [default: 3]
    #[arg(long, value_name = "N")]
    parties: Option<usize>,
    #[command(flatten)]
    manner: Manner,
    /// The files of test vectors
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// How the engine garble garbles; another has nothing to choose there.
fn garbling(arguments: &Arguments) -> Result<Option<Garbling>, Failure> {
    let garbles = arguments.engine == Engine::Garble;
    let choice = EngineChoice {
        engine: if garbles { super::Engine::Garble } else { super::Engine::Rep3 },
        parties: arguments.parties.filter(|_| garbles),
    };
    arguments.manner.get(choice, arguments.security, None, false)
}

pub fn run(_: &Context, arguments: &Arguments) -> Result<Done, Failure> {
    let (engine, garbling) = (arguments.engine, garbling(arguments)?);
    let parties = match (engine, &garbling) {
        (_, Some(garbling)) => garbling.parties,
        (Engine::Plain, None) => 1,
        _ => 3,
    };
    if let Some(asked) = arguments.parties.filter(|asked| *asked != parties) {
        return Err(Failure::usage(format!(
            "the engine {engine} has {parties} parties, not {asked}: leave --parties out"
        )));
    }
    if garbling.is_some() && arguments.choice.mode.is_some() {
        return Err(Failure::usage("--mode belongs to the engine rep3: leave it out"));
    }
    let options = Options {
        engine,
        choice: arguments.choice.get(),
        security: arguments.security,
        garbling: garbling.unwrap_or_default(),
    };
    let report = kat::run(&arguments.files, &options)?;
    let mut done = Done::new(
        report.algorithms.iter().map(line).collect::<Vec<_>>().join("\n"),
        to_json(&options, parties, &report),
    );
    done.failure = (!report.is_good()).then(|| {
        Failure::mismatch(match report.algorithms.iter().map(|tally| tally.failed).sum::<u64>() {
            0 => "no vector could be run: give a file with vectors that this engine supports".into(),
            failed => format!("{failed} vectors failed: the engine is wrong, or the file is"),
        })
    });
    Ok(done)
}

fn line(tally: &Tally) -> String {
    let unsupported: u64 = tally.unsupported.values().sum();
    let mut line = format!(
        "{}: {} passed, {} failed, {unsupported} unsupported",
        tally.algorithm, tally.passed, tally.failed
    );
    if unsupported > 0 {
        let reasons: Vec<String> =
            tally.unsupported.iter().map(|(reason, n)| format!("{reason}: {n}")).collect();
        line += &format!(" ({})", reasons.join("; "));
    }
    if !tally.failures.is_empty() {
        line += &format!("; the first that failed: {}", tally.failures.join(", "));
    }
    line
}

fn to_json(options: &Options, parties: usize, report: &Report) -> serde_json::Value {
    let of_rep3 = options.engine == Engine::Rep3;
    let garbles = options.engine == Engine::Garble;
    json!({
        "schema": 1,
        "engine": options.engine.to_string(),
        "protocol": of_rep3.then(|| options.choice.protocol().name()),
        "mode": options.choice.mode_name().filter(|_| of_rep3),
        "security": (of_rep3 || garbles).then(|| options.security.name()),
        "form": garbles.then(|| options.garbling.options.form.name()),
        "parties": parties,
        "algorithms": report.algorithms,
        "engine_calls": report.calls,
        "openings": report.openings,
    })
}
