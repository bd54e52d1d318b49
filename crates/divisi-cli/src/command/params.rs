//! `divisi params`.

mod garbling;

use super::CommandOutput;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use divisi::failure::Failure;
use divisi_bgv::parameters::{Form, Hardness, Operation, Parameters};
use divisi_field::zp::P32;
use divisi_program::adapter::lattice_json;
use serde_json::json;
use std::fmt::Write as _;

/// Print how the parameters of threshold BGV are derived, for semi-honest protocols: ring, primes, noise,
/// floods (wide noise that hides other noise); with mpgc, the parameters of garbled circuits, and their cost.
/// In the JSON `partial_decryptions` is the most that a session may make; that of `divisi bench mixed` is how
/// many a party made.
#[derive(Args)]
#[command(after_help = "Example: divisi params --op dabit --parties 8 --form lean-tree\n\
                        Garbled circuits, and the default way of lookup: divisi params --op mpgc --parties 128")]
pub struct ParamsArgs {
    /// The operation on ciphertexts, or mpgc for garbled circuits
    #[arg(long, value_enum, value_name = "OP")]
    op: Name,
    /// The number of parties
    #[arg(long, default_value_t = 3, value_name = "N")]
    parties: usize,
    /// How bits pass from party to party: lean-tree, lean-ring or paper [default: lean-tree]
    #[arg(long, value_name = "NAME", value_parser = forms())]
    form: Option<Form>,
    /// The plaintext modulus [default: 3221225473; with mpgc 65537]
    #[arg(long, value_name = "P")]
    plain_modulus: Option<u64>,
    /// Use the ring of tests, of dimension 1024, which protects nothing
    #[arg(long)]
    danger_insecure_parameters: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// Random bits shared modulo 2 and modulo p, and lookups in public tables of two entries
    Dabit,
    /// Lookups in private tables of two entries
    Lookup,
    /// Triples of numbers
    TripleArith,
    /// Garbled circuits: rows, and both ways to look up keys
    Mpgc,
}

/// The parser of the forms that have ciphertexts.
fn forms() -> impl TypedValueParser<Value = Form> {
    let all = [Form::LeanTree, Form::LeanRing, Form::Paper];
    let of = move |name: &str| all.into_iter().find(|form| form.name() == name);
    PossibleValuesParser::new(all.map(Form::name))
        .try_map(move |name| of(&name).ok_or("choose lean-tree, lean-ring or paper"))
}

/// The output of the command.
///
/// # Errors
/// [`Failure`] if the options make no sense, with a sentence that says what to correct.
pub fn run(arguments: &ParamsArgs) -> Result<CommandOutput, Failure> {
    let operation = match arguments.op {
        Name::Dabit => Operation::Bits,
        Name::Lookup => Operation::PrivateTables,
        Name::TripleArith => Operation::Triples,
        Name::Mpgc => return garbling::run(arguments),
    };
    let form = arguments.form.unwrap_or(Form::LeanTree);
    let derive =
        if arguments.danger_insecure_parameters { Parameters::danger_insecure } else { Parameters::derive };
    let made = derive(operation, form, arguments.parties, arguments.plain_modulus.unwrap_or(P32))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let report = made.report();
    let levels = report.levels.iter().map(|level| {
        json!({
            "step": level.step,
            "log2_q": level.log2_q,
            "noise_bits": level.noise_bits,
            "bound_bits": level.bound_bits,
        })
    });
    let json = json!({
        "schema": 1,
        "op": report.op,
        "form": report.form,
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
    });
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
    Ok(CommandOutput::new(text, json))
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
