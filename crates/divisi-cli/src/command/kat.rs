//! `divisi kat`.

use super::differences::{about_security, about_statistical_option, securities};
use super::engine::{EQUAL_KEYS, EngineOf, caution, settings_with};
use super::options::{OfKat, OwnOptions};
use super::{CommandOutput, Context};
use clap::Args;
use divisi::engine::{self, EngineSettings};
use divisi::failure::Failure;
use divisi::kat::{self, KatOptions, KatReport, Tally};
use divisi_core::Security;
use serde_json::json;
use std::path::PathBuf;

/// Run published test vectors through an engine, and print one line for each algorithm.
#[derive(Args)]
#[command(after_help = "Example: divisi kat --engine rep3 aes_gcm_test.json\n\
                        Files: Wycheproof (AES-GCM, -CCM, -GCM-SIV, -SIV-CMAC, -XTS, -WRAP, -KWP, AES-CBC-PKCS5, HMAC, KMAC, AES-CMAC, AES-GMAC), and of ACVP (AES-GCM,\n\
                        -XPN, -CCM, -GCM-SIV, -XTS, -KW, -KWP, -ECB, -CBC, -CBC-CS1 to -CS3, -CFB1, -CFB8, -CFB128, -OFB, -CTR, TDES-ECB, -CBC, SHA-1, SHA2,\n\
                        SHA3, SHAKE, cSHAKE, HMAC, KMAC, CMAC-AES, CMAC-TDES, AES-GMAC) internalProjection.json, or prompt.json and expectedResults.json.\n\
                        Of NIST's CAVP .rsp (AES-ECB, -CBC, -CFB8, -CFB128, -OFB, -GCM, TDES-ECB, -CBC, CMAC, HMAC, SHA-1, SHA-2, SHA-3, SHAKE; a vector's number is its line),\n\
                        of Rooterberg JSON. Vectors that cannot run are counted with the reason. Large data, and Monte Carlo tests but those of SHA-3, need --long.\n\
                        Nobody trusted: divisi kat --engine garble --parties 5 ACVP-AES-ECB.json; vectors without a circuit are counted.\n\
                        Curious parties (semi-honest): divisi kat --engine mixed --parties 5 ACVP-AES-ECB.json\n\
                        By masked tables: divisi kat --engine spdz --parties 2 --protocol aes-lt ACVP-AES-CBC.json")]
pub struct KatArgs {
    #[command(flatten)]
    pub(super) engine: EngineOf<OfKat>,
    #[arg(long, value_name = "NAME", value_parser = securities(|_| true), help = about_security())]
    security: Option<Security>,
    #[arg(long, value_name = "BITS", help = about_statistical_option())]
    statistical: Option<u32>,
    #[command(flatten)]
    own: OwnOptions<OfKat>,
    /// Also run tests that take long, with an estimate of the time on standard error: Monte Carlo tests, some
    /// of a hundred thousand steps, and messages of gigabytes, which take days
    #[arg(long)]
    long: bool,
    /// The files of test vectors
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// The settings of the engine.
pub(super) fn settings(arguments: &KatArgs) -> Result<EngineSettings, Failure> {
    let engine = arguments.engine.engine();
    let security = arguments.engine.security(arguments.security);
    if arguments.statistical.is_some() {
        engine::belongs(engine, "statistical")?;
    }
    let (own, sboxes) = (arguments.own.own(engine)?, arguments.own.choice());
    settings_with(*arguments.engine, security, arguments.statistical, own, sboxes)
}

pub fn run(_: &Context, arguments: &KatArgs) -> Result<CommandOutput, Failure> {
    let (engine, settings) = (arguments.engine.engine(), settings(arguments)?);
    let options = KatOptions { engine, settings, long: arguments.long };
    let report = kat::run(&arguments.files, &options)?;
    if report.equal_keys > 0 {
        super::warn(format_args!("{} vectors of triple DES have {EQUAL_KEYS}", report.equal_keys));
    }
    if report.is_good() {
        caution(engine, options.settings.security);
    }
    let mut done = CommandOutput::new(
        report.algorithms.iter().map(line).collect::<Vec<_>>().join("\n"),
        to_json(&options, &report),
    );
    done.failure = (!report.is_good()).then(|| {
        Failure::mismatch(match report.algorithms.iter().map(|tally| tally.failed).sum::<u64>() {
            0 => {
                "this engine supports none of the vectors: give a file with others, or another engine".into()
            }
            failed => format!("{failed} vectors failed: either the engine or the file is wrong"),
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

fn to_json(options: &KatOptions, report: &KatReport) -> serde_json::Value {
    let KatOptions { engine, settings, .. } = options;
    let mut json = json!({
        "schema": 1,
        "engine": engine.name(),
        "protocol": null,
        "mode": null,
        "security": null,
        "form": null,
        "parties": engine::parties(*engine, settings),
        "algorithms": report.algorithms,
        "engine_calls": report.calls,
        "openings": report.openings,
    });
    if let Some(object) = json.as_object_mut() {
        object.extend(engine.facts(settings));
    }
    json
}
