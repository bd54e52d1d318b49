//! How the parameters of the engine mixed are derived: those of threshold BGV, and those of garbled circuits
//! among many parties.
//!
//! Trust: nothing is secret here.

mod garbling;

use crate::failure::Failure;
use divisi_bgv::parameters::{Form, Hardness, Operation, Parameters};
use divisi_field::zp::P32;
use divisi_program::adapter::lattice_json;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The weight of linear combinations, if none is given: sums of 1,024 ciphertexts.
pub const WEIGHT: u32 = 1024;

/// What parameters are for.
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamsPurpose {
    /// An operation on ciphertexts.
    Ciphertexts(Operation),
    /// Garbled circuits: rows, and both ways to look up keys.
    GarbledCircuits,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ParamsOptions {
    /// What the parameters are for.
    pub purpose: ParamsPurpose,
    /// The number of parties.
    pub parties: usize,
    /// How bits pass from party to party; lean-tree by default.
    pub form: Option<Form>,
    /// The plaintext modulus, if it is not the usual one.
    pub plain_modulus: Option<u64>,
    /// Whether to use the ring of tests, which protects nothing.
    pub danger_insecure: bool,
}

/// Parameters that were derived.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The object that `--json` prints.
    pub json: Value,
    /// The text for people.
    pub text: String,
}

/// Derive parameters.
///
/// # Errors
/// [`Failure`] if the options make no sense, with a sentence that says what to correct.
pub fn derive(options: &ParamsOptions) -> Result<Derived, Failure> {
    let ParamsPurpose::Ciphertexts(operation) = options.purpose else { return garbling::derive(options) };
    let derive = if options.danger_insecure { Parameters::danger_insecure } else { Parameters::derive };
    let modulus = options.plain_modulus.unwrap_or(P32);
    let made = derive(operation, options.form.unwrap_or(Form::LeanTree), options.parties, modulus)
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Derived { json: json_of(&made), text: text_of(&made) })
}

fn json_of(made: &Parameters) -> Value {
    let report = made.report();
    let levels = report.levels.iter().map(|level| {
        json!({
            "step": level.step,
            "log2_q": level.log2_q,
            "noise_bits": level.noise_bits,
            "bound_bits": level.bound_bits,
        })
    });
    json!({
        "schema": 1,
        "op": report.op,
        "form": report.form,
        "weight": report.weight,
        "security": "semi-honest",
        "parties": report.parties,
        "plain_modulus": report.plain_modulus,
        "ring_dimension": report.ring_dimension,
        "log2_q": report.log2_q,
        "log2_whole": report.log2_whole,
        "log2_limit": report.log2_limit,
        "lattice": lattice_json(report.hardness),
        "limbs": report.limbs,
        "levels": levels.collect::<Vec<_>>(),
        "flooding_bits": report.flooding_bits,
        "partial_decryptions": report.partial_decryptions,
        "failure_bits": report.failure_bits,
        "bootstraps": report.bootstraps,
        "bytes_per_item": report.bytes_per_item,
        "rounds": report.rounds,
        "insecure": report.insecure,
    })
}

fn text_of(made: &Parameters) -> String {
    let report = made.report();
    let mut text = format!(
        "{} among {} parties, {}, semi-honest{}: N = {}, q of {:.1} bits, {:.1} with the special prime",
        report.op,
        report.parties,
        report.form,
        if report.insecure { ", INSECURE: for tests" } else { "" },
        report.ring_dimension,
        report.log2_q,
        report.log2_whole,
    );
    if let Some(limit) = report.log2_limit {
        let _ = write!(text, " (at most {limit:.0} for 128 bits)");
    }
    if let Some(hardness) = report.hardness {
        let _ = write!(text, "\nthe lattice, by the primal attack: {}", bits_of(&hardness));
    }
    if let Some(weight) = report.weight {
        let _ = write!(
            text,
            "\ncombinations weigh at most {weight}: a ciphertext and an addend 1, a multiple as many times as much"
        );
    }
    text.push_str("\n\nstep                  log2 q   noise   bound\n");
    for level in &report.levels {
        let _ = writeln!(
            text,
            "{:<20} {:>7.1} {:>7.1} {:>7.1}",
            level.step, level.log2_q, level.noise_bits, level.bound_bits
        );
    }
    text.push_str("\nprimes, from the one that is dropped last:");
    for (i, prime) in report.limbs.iter().enumerate() {
        text.push_str(if i % 6 == 0 { "\n" } else { " " });
        let _ = write!(text, "{prime}");
    }
    text.push_str(if made.special().is_some() { "; the last is the special one\n" } else { "\n" });
    if report.bootstraps > 0 {
        let _ = writeln!(text, "\na ciphertext is refreshed {} times on its path", report.bootstraps);
    }
    let _ = write!(
        text,
        "\nfloods of {:.1} bits for 2^{} partial decryptions a session, which fails with 2^-{}; {:.1} bytes an item and party, {} rounds",
        report.flooding_bits,
        report.partial_decryptions.ilog2(),
        report.failure_bits,
        report.bytes_per_item,
        report.rounds,
    );
    text
}

/// The security of a ring in each cost model, for people.
fn bits_of(hardness: &Hardness) -> String {
    format!(
        "{:.0} bits classical, {:.0} quantum (BKZ-{}, 2^(0.292 b + 16.4) and 2^(0.265 b + 16.4) a call, 8d calls); core-SVP {:.0} and {:.0}",
        hardness.classical_bits().floor(),
        hardness.quantum_bits().floor(),
        hardness.block_size,
        hardness.core_svp_bits().floor(),
        hardness.core_svp_quantum_bits().floor(),
    )
}
