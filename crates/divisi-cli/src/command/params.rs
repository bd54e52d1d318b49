//! `divisi params`.

use super::CommandOutput;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use divisi::failure::Failure;
use divisi::params::{self, ParamsOptions, ParamsPurpose};
use divisi_bgv::parameters::{Form, Operation};
use divisi_program::NumberSize;

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
    /// With linear: how much a combination weighs, the sum of the sizes of its multiples, a public addend
    /// counting one [default: 1024]
    #[arg(long, value_name = "W")]
    weight: Option<u32>,
    /// The modulus of numbers of this many bits, 31 or 61, as in the head of a program
    #[arg(long, value_name = "BITS", conflicts_with = "plain_modulus", value_parser = sizes())]
    numbers: Option<NumberSize>,
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
    /// Numbers that are encrypted, combined linearly, and shared again
    Linear,
    /// Products of shared vectors of 1,024 numbers by shared bits
    VectorProduct,
    /// Lookups in private tables of two vectors, each of as many numbers as a ciphertext has slots
    VectorLookup,
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

/// The parser of sizes of numbers.
pub fn sizes() -> impl TypedValueParser<Value = NumberSize> {
    let names = NumberSize::ALL.map(|size| if size == NumberSize::Bits31 { "31" } else { "61" });
    let of = |name: &str| NumberSize::ALL.into_iter().find(|size| size.bits().to_string() == name);
    PossibleValuesParser::new(names).try_map(move |name| of(&name).ok_or("choose 31 or 61"))
}

/// The output of the command.
///
/// # Errors
/// [`Failure`] if the options make no sense, with a sentence that says what to correct.
pub fn run(arguments: &ParamsArgs) -> Result<CommandOutput, Failure> {
    if arguments.weight.is_some() && !matches!(arguments.op, Name::Linear) {
        return Err(Failure::usage("only linear combinations have a weight: leave --weight out"));
    }
    let derived = params::derive(&ParamsOptions {
        purpose: match arguments.op {
            Name::Dabit => ParamsPurpose::Ciphertexts(Operation::Bits),
            Name::Lookup => ParamsPurpose::Ciphertexts(Operation::PrivateTables),
            Name::TripleArith => ParamsPurpose::Ciphertexts(Operation::Triples),
            Name::Linear => {
                let weight = arguments.weight.unwrap_or(params::WEIGHT);
                ParamsPurpose::Ciphertexts(Operation::Linear { weight })
            }
            Name::VectorProduct => ParamsPurpose::Ciphertexts(Operation::BlockProducts),
            Name::VectorLookup => ParamsPurpose::Ciphertexts(Operation::VectorTables),
            Name::Mpgc => ParamsPurpose::GarbledCircuits,
        },
        parties: arguments.parties,
        form: arguments.form,
        plain_modulus: arguments.plain_modulus.or(arguments.numbers.map(NumberSize::modulus)),
        danger_insecure: arguments.danger_insecure_parameters,
    })?;
    Ok(CommandOutput::new(derived.text, derived.json))
}
