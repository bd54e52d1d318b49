//! `divisi run`.

use super::differences::{about_security, about_statistical_option, securities};
use super::engine::{EQUAL_KEYS, EngineOf, caution, settings_with};
use super::options::{OfRun, OwnOptions};
use super::{AdderChoice, CONNECTION, CommandOutput, Context, given};
use clap::Args;
use divisi::circuit;
use divisi::engine::stock::PREP_FROM;
use divisi::engine::{self, EngineSettings};
use divisi::failure::Failure;
use divisi::local::this_program;
use divisi::mode::Priority;
use divisi::name::Name;
use divisi::run::{self, Membership, RunOptions};
use divisi_core::Security;
use divisi_net::{Config, PartyId};
use serde_json::json;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Run a Boolean circuit, or a program on numbers and bits, among parties that keep their inputs to
/// themselves.
///
/// All parties are processes on this machine; with --party, one of them is here and the others run the same
/// command elsewhere. Give --input once for each input value, in the circuit's order: the number of the party
/// that owns it, and the value in hexadecimal as the standard prints it; with --party, the values of other
/// parties have no digits (--input 2=). For a program (--engine mixed) each input is --input NAME=V,V,...,
/// and the program says who owns it and who learns the outputs.
#[derive(Args)]
#[command(
    after_help = "Example: divisi run --circuit aes128 --input 1=000102030405060708090a0b0c0d0e0f --input 2=00112233445566778899aabbccddeeff --output 3\n\
                        Any number, nobody trusted: divisi run --engine garble --parties 2 --circuit aes128 --input 1=000102030405060708090a0b0c0d0e0f --input 2=00112233445566778899aabbccddeeff\n\
                        Curious parties, who follow the protocol (semi-honest): divisi run --engine mixed --parties 5 --circuit aes128 --input 1=000102030405060708090a0b0c0d0e0f --input 2=00112233445566778899aabbccddeeff\n\
                        Each output value to its own parties: divisi run --circuit two.txt --input 1=09 --input 2=03 --output 1=2,3 --output 2=1\n\
                        One real party: divisi run --circuit aes128 --input 1=000102030405060708090a0b0c0d0e0f --input 2= --party 1 --config mesh.toml --identity party-1.key"
)]
pub struct RunArgs {
    #[command(flatten)]
    pub(super) engine: EngineOf<OfRun>,
    /// A file in Bristol Fashion or the old Bristol format, or the name of a built-in circuit
    #[arg(long, value_name = "FILE|NAME", required_unless_present = "program")]
    pub(super) circuit: Option<Name>,
    /// A program on numbers and bits: a text that begins with the line `divisi program 1`, or biomatch,
    /// kmeans, mnist, gauss or merge-db
    #[arg(long, value_name = "FILE", conflicts_with_all = ["circuit", "output", "first_bit_first", "adder", "mode"])]
    pub(super) program: Option<Name>,
    /// For a circuit, an input value as OWNER=HEX: the number of the party that gives it, and its digits if
    /// they are known here (1=@FILE reads them from a file, 1=- from standard input, so that they do not
    /// appear in the list of processes). For a program, the values of an input, by its name
    #[arg(long = "input", value_name = "P=HEX|P=@FILE|P=-|NAME=V,V,...")]
    inputs: Vec<OsString>,
    /// Wire 0 is the first bit of a value, as in most files of the old Bristol format
    #[arg(long)]
    first_bit_first: bool,
    /// The parties that learn all output values of a circuit, or, with the number of a value from 1 before
    /// them, those that learn this value; then give it once for each value [default: all learn all]
    #[arg(long, value_name = "P,...|VALUE=P,...")]
    output: Vec<String>,
    #[arg(long, value_name = "NAME", value_parser = securities(|_| true), help = about_security())]
    security: Option<Security>,
    #[arg(long, value_name = "BITS", help = about_statistical_option())]
    statistical: Option<u32>,
    #[command(flatten)]
    pub(super) adder: AdderChoice,
    #[command(flatten)]
    pub(super) own: OwnOptions<OfRun>,
    /// Run only this party of a mesh
    #[arg(long, value_name = "I", requires_all = ["config", "identity"])]
    #[arg(help_heading = CONNECTION)]
    party: Option<u8>,
    /// The configuration of the mesh
    #[arg(long, value_name = "FILE", requires = "party", help_heading = CONNECTION)]
    config: Option<PathBuf>,
    /// This party's own identity
    #[arg(long, value_name = "FILE", requires = "party", help_heading = CONNECTION)]
    identity: Option<PathBuf>,
    /// The address on which this party listens, if others reach it at an address that is not this machine's
    /// own [default: the configuration's]
    #[arg(long, value_name = "ADDR:PORT", requires = "party", help_heading = CONNECTION)]
    listen: Option<String>,
}

/// The settings of the engine. Without --parties the configuration determines the number of parties, if the
/// engine can have several.
pub(super) fn settings(arguments: &RunArgs) -> Result<EngineSettings, Failure> {
    let RunArgs { engine: choice, security, statistical, config, .. } = arguments;
    if statistical.is_some() {
        engine::belongs(choice.engine(), "statistical")?;
    }
    let (mut choice, mut own) = (**choice, arguments.own.own(choice.engine())?);
    if let Some(config) = config {
        let config = Config::load(config).map_err(|e| Failure::usage(e.to_string()))?;
        let range = choice.engine().profile().parties;
        if choice.parties.is_none() && range.start() < range.end() {
            choice.parties = Some(config.parties().len());
        }
        if own.contains_key(PREP_FROM) {
            // a stock is bound to the identities of its parties
            own.extend(divisi::prep::peers_option(&config));
        }
    }
    let words = arguments.adder.choice(&arguments.own);
    settings_with(choice, choice.security(*security), *statistical, own, words)
}

/// Whether the key of the circuit des3, as `P=HEX`, is no more than single DES.
fn has_equal_keys(given: &str) -> bool {
    let digits = given.split_once('=').map_or("", |(_, digits)| digits.trim());
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    // digits that are no key are refused later
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap_or("00"), 16).unwrap_or(0);
    let key = Zeroizing::new(digits.as_bytes().chunks_exact(2).map(byte).collect::<Vec<u8>>());
    key.len() == 24 && divisi_symmetric::des::has_equal_keys(&key)
}

pub fn run(context: &Context, arguments: &RunArgs) -> Result<CommandOutput, Failure> {
    let (engine, settings) = (arguments.engine.engine(), settings(arguments)?);
    let parties = engine::parties(engine, &settings);
    let party = |number: u8| run::party(engine, &settings, number);
    let me = arguments.party.map(party).transpose()?;
    let membership = match (me, &arguments.config, &arguments.identity) {
        (Some(party), Some(config), Some(identity)) => {
            let (config, identity) = (config.clone(), identity.clone());
            Some(Membership { party, config, identity, listen: arguments.listen.clone() })
        }
        _ => None,
    };
    if let Some(program) = &arguments.program {
        return super::program::among(context, program, &arguments.inputs, engine, settings, membership);
    }
    let adder = arguments.adder.get(&arguments.own);
    let name = arguments.circuit.clone().unwrap_or_else(|| "".into());
    let circuit = Arc::new(circuit::hold(name, adder, settings.is_streamed())?);
    let receivers = run::receivers(&circuit, &arguments.output, parties, party)?;
    let given = given::inputs(&arguments.inputs)?;
    if *circuit.name() == *"des3" && given.first().is_some_and(|key| has_equal_keys(key)) {
        super::warn(format_args!("the key has {EQUAL_KEYS}"));
    }
    let inputs = run::inputs(&circuit, &given, parties, me)?;
    let options = RunOptions {
        circuit,
        adder,
        inputs,
        first_bit_first: arguments.first_bit_first,
        receivers,
        engine,
        settings,
        timeout: context.timeout,
    };
    let report = match &membership {
        Some(membership) => run::one(&options, membership)?,
        None => run::local(&options, &this_program()?, &context.cleanup)?,
    };
    caution(engine, options.settings.security);
    let numbers = |list: &Vec<PartyId>| list.iter().map(|party| party.number()).collect::<Vec<u8>>();
    let receivers: Vec<Vec<u8>> = options.receivers.iter().map(numbers).collect();
    let to: BTreeSet<u8> = receivers.iter().flatten().copied().collect();
    let told = |to: &[u8]| to.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let values = report.outputs.iter().any(Option::is_some).then_some(&report.outputs);
    let line = |(value, (digits, to)): (usize, (&Option<String>, &Vec<u8>))| match digits {
        Some(digits) => digits.clone(),
        None => format!("(the output value {} went to party {}, and to nobody else)", value + 1, told(to)),
    };
    let text = match values {
        Some(values) => {
            values.iter().zip(&receivers).enumerate().map(line).collect::<Vec<String>>().join("\n")
        }
        None => {
            let to: Vec<u8> = to.iter().copied().collect();
            format!("done; the outputs went to party {}, and to nobody else", told(&to))
        }
    };
    let circuit = &options.circuit;
    let priority = arguments.adder.priority(&arguments.own).map(Priority::name);
    let mode = arguments.own.formerly("mode").or(priority);
    let mut json = json!({
        "schema": 1,
        "engine": engine.name(),
        "protocol": null,
        "parties": parties,
        "party": me.map(PartyId::number),
        "circuit": circuit.name(),
        "security": options.settings.security.name(),
        "mode": mode,
        "form": null,
        "k": null,
        "statistical_bits": null,
        "computational_bits": null,
        "streamed": null,
        "outputs": values,
        "output_to": to,
        "receivers": receivers,
        "and": circuit.and_count(),
        "and_depth": circuit.and_depth(),
        "seconds": report.seconds,
        "bits_sent_per_party": report.bits_sent,
        "bytes_sent_per_party": report.bytes_sent,
        "rounds": report.rounds,
    });
    if let Some(object) = json.as_object_mut() {
        object.extend(report.facts);
    }
    Ok(CommandOutput::new(text, json))
}
