//! A mutant for each check: with the check in place a named attack is stopped, without it the same attack
//! succeeds.
//!
//! `cargo test -p divisi-rep3 --test it mutants::`

mod blackbox;
mod inputs;
mod lookups;
mod modes;
mod planes;
mod products;
mod programs;
mod sboxes;
mod session;

use crate::common::prelude::*;

/// What a party sent up to its share of the last coin: to whom, at which step, how much. What follows may
/// come later than another's abort.
fn until_the_last_coin(recording: &Recording) -> Vec<(PartyId, u32, usize)> {
    let coin = Step::new("divisi_rep3::random/coin.share").id;
    let sent = recording.read().into_iter().filter(|seen| seen.way == MessageDirection::Out);
    let mut sent: Vec<_> = sent.map(|seen| (seen.peer, seen.frame.step, seen.frame.body.len())).collect();
    sent.truncate(1 + sent.iter().rposition(|(_, step, _)| *step == coin).unwrap());
    sent
}

divisi_core::mutants! {
    a_changed_contribution_is_confirmed_by_nobody: M0_1, "takes any proof of the pair's key", session::changed_contribution;
    a_coin_needs_all_three: M0_2, "hashes its own view instead of tossing", session::silent_tosser;
    different_nonces_end_the_start: M0_3, "does not compare the echoed id, nor bind keys to it", session::split_nonce;
    different_parameters_end_the_start: M0_4, "neither compares parameters nor binds the id to them", session::other_parameters;
    an_id_never_returns: M0_5, "makes the id of one party's randomness", session::repeated_nonce;
    a_digest_counts_to_its_last_byte: M0_6, "compares the first byte of digests", session::late_byte;
    a_client_gets_nothing_unverified: M0_7, "lets outputs leave before the verification", products::lie_to_a_client;
    a_false_component_is_noticed: A1, "does not compare the redundant holder's digest", products::false_component;
    different_views_stop_a_verification: A2, "absorbs nothing and compares nothing", session::different_views;
    streams_belong_to_one_session: A3, "makes streams of their purpose alone", session::same_streams;
    a_false_coin_is_noticed: A4, "does not compare the coin", session::false_coin;
    rho_is_compared_before_sigma: A6, "goes on with a rho that nobody compared", products::false_rho;
    z_is_bound: A10, "takes h(0) from the parties", products::lie_in_one_of_four;
    corners_are_derived: A10, "takes the corners of h from the parties", planes::lie_at_a_corner;
    the_last_product_counts: A11, "forgets the last product of a batch", products::lie_in_the_last;
    the_last_group_counts: A11, "forgets the last group of S-boxes", planes::lie_in_the_last_group;
    the_embedding_is_large_gf4: A12, "takes alpha inside the small field", sboxes::cancelling_gf4;
    the_embedding_is_large_gf8: A12, "takes Y inside the small field", sboxes::cancelling_gf8;
    the_embedding_is_large_lut16: A12, "takes alpha inside the small field", sboxes::cancelling_lut16;
    the_embedding_is_large_verify_sbox: A12, "takes Y inside the small field", lookups::second_root;
    outputs_wait_for_the_verification: A13, "verifies nothing", products::lie_in_the_last;
    relation_of_several_products_gf4: A14, "forgets Eq. 3", sboxes::outer_gf4;
    relation_of_several_products_gf8: A14, "forgets the relation of x^3, x^14, x^15", sboxes::middle_gf8;
    relation_of_several_products_lut16: A14, "forgets Eq. 3", sboxes::outer_lut16;
    every_product_is_owed_gf4: A15, "forgets the powers of v", sboxes::sixth_gf4;
    every_product_is_owed_gf8: A15, "forgets the last product", sboxes::last_gf8;
    an_opening_confirms_no_guess: A16, "sends its share of c as it is", lookups::unmasked_opening;
    vectors_are_verified_lut16: A17, "forgets the products of vectors", sboxes::vector_lut16;
    vectors_are_verified_lut256: A17, "forgets the products of vectors", sboxes::vector_lut256;
    both_vectors_are_verified: A18, "forgets the products of the second vector", lookups::second_nibble;
    parties_agree_on_the_place_of_a_vector: A18, "does not absorb the place of a vector", lookups::skipped_vector;
    the_end_of_a_chain_confirms_no_guess: A19, "sends its share as it is", lookups::bare_reshare;
    zero_has_one_inverse: A20, "checks the first equation alone", lookups::any_output_of_zero;
    an_abort_is_one_bit: A21, "verifies product by product", products::where_the_lie_is;
    no_digest_rests_on_a_false_opening: A22, "goes on from layer to layer with views that differ", lookups::digest_of_a_wrong_view;
    decryption_is_owed_gf4: A23, "does not record inverse S-boxes", sboxes::decrypting_gf4;
    decryption_is_owed_gf8: A23, "does not record inverse S-boxes", sboxes::decrypting_gf8;
    decryption_is_owed_lut16: A23, "does not record inverse S-boxes", sboxes::decrypting_lut16;
    decryption_is_owed_additive: A23, "does not record inverse S-boxes", sboxes::decrypting_additive;
    a_verdict_rests_on_what_is_owed: A23, "does not record inverse S-boxes", modes::lie_in_an_unwrapping;
    parts_of_nothing_are_refused: A24, "takes any parts from a dealer", inputs::inconsistent_parts;
    split_requests_are_refused: A25, "takes any public input", inputs::different_requests;
    an_additive_opening_confirms_no_guess: A16, "sends its share of c as it is", blackbox::unmasked_additive;
    vectors_of_any_length_are_verified: A17, "forgets the products of vectors", blackbox::vector;
    both_halves_are_verified: A18, "forgets the products of the second half", blackbox::second_half;
    vectors_of_three_factors_are_verified: A17, "forgets the products of the first vector", blackbox::first_of_three;
    all_three_vectors_are_verified: A18, "forgets the products of the second and third vector", blackbox::third_of_three;
    lookups_of_three_factors_are_verified: S2, "forgets the sums of a lookup", blackbox::sums_of_three;
    results_of_three_factors_are_verified: S2, "forgets the result of a lookup", blackbox::result_of_three;
    an_index_of_three_factors_is_compared: A22, "goes on from lookup to lookup with views that differ", blackbox::split_index_of_three;
    parties_agree_on_the_vectors_of_a_lookup: A18, "does not absorb the place of a vector", blackbox::skipped_vector;
    an_index_is_compared_before_the_next: A22, "goes on from lookup to lookup with views that differ", blackbox::split_index;
    a_coin_follows_what_it_verifies: A8, "takes a barrier that is older than the products", blackbox::withheld_input;
    openings_are_compared_before_they_count: S1, "compares nothing", blackbox::split_opening;
    an_opening_needs_a_later_proof: S1, "takes a comparison that is older than the opening", blackbox::split_opening_with_old_proofs;
    every_product_is_verified: S2, "forgets every product", blackbox::wrong_product;
    a_product_needs_a_later_proof: S2, "takes a verification that is older than the product", blackbox::wrong_product_with_an_old_proof;
    an_output_is_verified: S3, "opens what nobody verified", blackbox::wrong_output;
    an_unverified_product_is_not_opened: S3, "opens what nobody verified", blackbox::open_error;
    an_output_is_compared: S4, "takes an output of one holder's word", blackbox::false_component;
    every_gate_is_owed: S6, "forgets the last product of each level", programs::lie_in_the_last_gate;
    a_difference_is_not_opened: S7, "opens the difference itself", inputs::difference_in_the_open;
    an_integrity_value_is_not_opened: S7, "opens the difference itself", modes::integrity_value_in_the_open;
    mixed_stores_are_refused: A26, "takes any stored parts", inputs::mixed_stores;
}

/// The checks that this engine executes: its own, and those of every session.
fn ours() -> impl Iterator<Item = &'static Check> {
    // the mutants of constant rounds are in tests/garbled
    let here = checks::ALL.iter().filter(|check| !check.id().starts_with('Y'));
    divisi_core::checks::ALL.iter().chain(here)
}

/// Checks that only a party notices which computes its lies from coins, and keeps to them: such a party, and
/// the tests of these, are in the copy of `lab/attacks`.
const OF_THE_COPY: [Check; 3] = [checks::A5, checks::A7, checks::A9];

#[test]
fn every_check_has_a_mutant() {
    for check in ours().filter(|check| !OF_THE_COPY.contains(check)) {
        assert!(
            MUTANTS.iter().any(|(c, what, name)| c == check && !what.is_empty() && !name.is_empty()),
            "{check}"
        );
    }
}

/// The one table of checks names each with the test that kills its mutant.
#[test]
fn the_table_of_checks_is_complete() {
    let table = include_str!("../../../docs/checks.md");
    for (check, _, name) in MUTANTS {
        let row = table.lines().find(|line| line.starts_with(&format!("| {check} |")));
        assert!(row.is_some_and(|row| row.contains(name)), "docs/checks.md lacks {check}: {name}");
    }
}

/// The table has a row for each check, and is nowhere else: SECURITY.md says where it is.
#[test]
fn the_table_of_checks_stands_once() {
    let rows = |text: &'static str| -> usize {
        let of_check = |line: &&str| ["| A", "| M0", "| S"].iter().any(|start| line.starts_with(start));
        text.lines().filter(of_check).count()
    };
    assert_eq!(rows(include_str!("../../../docs/checks.md")), ours().count());
    let security = include_str!("../../../../../SECURITY.md");
    assert!(rows(security) == 0 && security.contains("(crates/divisi-rep3/docs/checks.md)"));
}

/// The tests that the table names beside the mutants are there.
#[test]
fn the_table_names_tests_that_exist() {
    let files = [
        ("attacks_inputs", include_str!("../attacks_inputs.rs")),
        ("attacks_lookups", include_str!("../attacks_lookups/openings.rs")),
        ("attacks_lookups", include_str!("../attacks_lookups/vectors.rs")),
        ("attacks_session", include_str!("../attacks_session.rs")),
        ("blackbox", include_str!("../blackbox/mod.rs")),
        ("blackbox", include_str!("../blackbox/refusals.rs")),
        ("blackbox", include_str!("../blackbox/lies.rs")),
        ("ohverture", include_str!("../ohverture/mod.rs")),
        ("ohverture", include_str!("../ohverture/lies.rs")),
        ("attacks_statistics", include_str!("../attacks_statistics.rs")),
        ("attacks_verification", include_str!("../attacks_verification.rs")),
        ("debts", include_str!("../debts.rs")),
        ("modes", include_str!("../modes/forged.rs")),
        ("modes", include_str!("../modes/verdicts.rs")),
        ("misuse", include_str!("../misuse.rs")),
        ("misuse_at_run_time", include_str!("../misuse_at_run_time.rs")),
        ("misuse_of_chains", include_str!("../misuse_of_chains.rs")),
        ("nets", include_str!("../nets/mod.rs")),
    ];
    let mut found = 0;
    for row in include_str!("../../../docs/checks.md").lines().filter(|line| line.starts_with("| ")) {
        let others = row.split('|').nth(5).unwrap();
        for part in others.split(';') {
            let Some((file, names)) = part.trim().split_once(": ") else { continue };
            let texts: Vec<&str> = files.iter().filter(|f| f.0 == file).map(|f| f.1).collect();
            for name in names.split(", ").filter(|_| !texts.is_empty()) {
                let test = format!("fn {}()", name.trim());
                assert!(texts.iter().any(|text| text.contains(&test)), "{file}: {name}");
                found += 1;
            }
        }
    }
    assert!(found > 30, "{found}");
}
