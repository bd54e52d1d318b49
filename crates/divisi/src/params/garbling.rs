//! The parameters of garbled circuits among many parties, and their cost.

use super::{Derived, ParamsOptions, bits_of};
use crate::failure::Failure;
use divisi_bgv::parameters::{Form, Hardness, Parameters};
use divisi_mpgc::GarblingCost;
use divisi_mpgc::cost::{AES_128, cheaper, lattice};
use divisi_mpgc::parameters::{
    BITS, DIMENSION, MODULUS, MOST_GATES, PLAIN, ROW_BYTES, SHARE_BYTES, failure_bits, fits,
};
use divisi_ot::SetupConfig;
use divisi_program::adapter::lattice_json;
use serde_json::json;
use std::fmt::Write as _;

/// The rows, their decryption bound, and the cost of AES-128 by both ways to look up keys.
///
/// # Errors
/// [`Failure`] if the options make no sense, with a sentence that says what to correct.
pub(super) fn derive(options: &ParamsOptions) -> Result<Derived, Failure> {
    let parties = options.parties;
    if options.plain_modulus.is_some_and(|p| p != PLAIN) {
        return Err(Failure::usage(format!(
            "the plaintext modulus of garbled rows is {PLAIN}: leave --plain-modulus out"
        )));
    }
    if options.danger_insecure {
        return Err(Failure::usage(
            "garbled rows have only one ring: leave --danger-insecure-parameters out",
        ));
    }
    if !(2..=255).contains(&parties) {
        return Err(Failure::usage("the number of parties must be from 2 to 255"));
    }
    if !fits(parties) {
        let most = (2..=255).take_while(|n| fits(*n)).last().unwrap_or(2);
        return Err(Failure::usage(format!(
            "rows of {parties} parties may fail to decrypt: give at most {most} parties"
        )));
    }
    let form = options.form.unwrap_or(Form::LeanTree);
    let ciphertexts = lattice(form, parties).ok_or_else(|| {
        Failure::usage("no ring is large enough for the modulus that this needs: give another --form")
    })?;
    let (config, [gates, ands]) = (SetupConfig::default(), AES_128);
    let cost = |by: Option<&Parameters>| GarblingCost::of(parties, AES_128, config, by);
    let default = cheaper(parties, AES_128, config).map_or("cot", |lattice| lattice.form().name());
    let ways = [("cot", cost(None)), (form.name(), cost(Some(&ciphertexts)))];
    let rows = Hardness::of(DIMENSION, (MODULUS as f64).log2());
    let failure = failure_bits(parties, MOST_GATES);
    let way = |(name, cost): &(&str, GarblingCost)| {
        json!({
            "form": name,
            "bytes_per_party": cost.bytes(),
            "bytes_of_rows": cost.row_bytes(),
            "bits_of_all_parties": cost.bits(),
            "rounds": cost.rounds,
            "cpu_seconds": cost.cpu_seconds,
        })
    };
    let json = json!({
        "schema": 1,
        "op": "mpgc",
        "security": "semi-honest",
        "parties": parties,
        "plain_modulus": PLAIN,
        "ring_dimension": DIMENSION,
        "modulus": MODULUS,
        "log2_q": (MODULUS as f64).log2(),
        "lattice": lattice_json(rows),
        "row_bytes": ROW_BYTES,
        "share_bytes": SHARE_BYTES,
        "most_gates": MOST_GATES,
        "failure_bits": failure,
        "lookup_ring_dimension": ciphertexts.dimension(),
        "lookup_log2_q": ciphertexts.log2_q(),
        "lookup_lattice": lattice_json(ciphertexts.hardness()),
        "circuit": "aes128",
        "gates": gates,
        "and": ands,
        "k": config.k,
        "ways": ways.iter().map(way).collect::<Vec<_>>(),
        "form": default,
    });
    let mut text = format!(
        "garbled circuits among {parties} parties, semi-honest: rows of N = {DIMENSION}, q = {MODULUS} of {BITS} bits, p = {PLAIN}: \
         {ROW_BYTES} bytes, four a gate; one of {MOST_GATES} gates' rows fails with 2^-{failure:.1}\n\
         AES-128 ({ands} ANDs, {} XORs), sent by a party, and about what it computes:\n\n\
         keys by        rows, MB  the rest, MB  in all, MB  rounds   CPU, s\n",
        gates - ands
    );
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    for (name, cost) in &ways {
        let _ = writeln!(
            text,
            "{name:<13} {:>9.1} {:>13.1} {:>11.1} {:>7} {:>8.1}",
            megabytes(cost.row_bytes()),
            megabytes(cost.other_bytes()),
            megabytes(cost.bytes()),
            cost.rounds,
            cost.cpu_seconds
        );
    }
    if let Some(rows) = rows {
        let _ = writeln!(text, "\nthe lattice of rows, by the primal attack: {}", bits_of(&rows));
    }
    let _ = write!(
        text,
        "\nciphertexts of N = {}, q of {:.1} bits; the default among {parties}: {default}",
        ciphertexts.dimension(),
        ciphertexts.log2_q()
    );
    Ok(Derived { json, text })
}
