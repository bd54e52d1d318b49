//! A mutant for each check of this crate: with the check in place a named attack is stopped, without it the
//! same attack succeeds.

mod bits;
mod field;
mod proof;
mod setup;

use divisi_core::testing::Harness;
use divisi_core::{Abort, Check, PartyId, PublicParameters};
use divisi_ot::checks;
use divisi_ot::testing::unsound;
use divisi_ot::{AuthBits, Base, SetupConfig};

fn harness(n: usize, without: Option<Check>) -> Harness {
    Harness::without(n, &PublicParameters::new("ot attacks"), without)
}

/// All parties make a set-up and one batch.
fn play(harness: Harness, config: SetupConfig, count: usize) -> Vec<Result<(u128, AuthBits), Abort>> {
    harness.act(|mut session| {
        let mut setup = unsound(&mut session, config)?;
        Ok((setup.delta().get(), setup.authenticated_bits(&mut session, count)?))
    })
}

/// Whether the MACs and keys of two views fit, both ways, at the positions from `from` on.
fn fits(a: &(u128, AuthBits), b: &(u128, AuthBits), from: usize) -> bool {
    let one = |owner: &(u128, AuthBits), holder: &(u128, AuthBits)| {
        let (x, delta) = (&owner.1, holder.0);
        (from..x.len().min(holder.1.len()))
            .all(|p| x.macs(holder.1.me())[p] == holder.1.keys(x.me())[p] ^ (delta * u128::from(x.bit(p))))
    };
    one(a, b) && one(b, a)
}

fn config(k: u32, rho: u32) -> SetupConfig {
    SetupConfig { k, rho, base: Base::Both }
}

fn all(n: usize) -> Vec<PartyId> {
    PartyId::all(n).collect()
}

divisi_core::mutants! {
    our_own_element_is_refused: O1, "takes any base OT message", setup::reflected_element;
    trees_are_what_was_committed: O2, "does not compare the trees", setup::false_tree;
    coins_are_opened_not_chosen: M0_2, "takes any link as an opening", setup::reflected_link;
    coins_are_committed_alike: M0_3, "does not compare echoes of commitments", setup::split_commitment;
    first_rows_belong_to_one_x: W1, "takes any sums of first rows", setup::flipped_correction;
    corrections_belong_to_one_x: W5, "takes any sums", bits::flipped_correction;
    sums_are_padded: W2, "leaves the pad out of the sums", bits::bare_sum;
    macs_of_sums_are_checked: W5, "takes any sums", bits::false_mac_sum;
    sacrificed_bits_are_dropped: W6, "hands the sacrificed bits out", bits::too_many_bits;
    commitments_of_the_proof_are_broadcast: W7, "does not compare echoes of commitments", proof::split_commitment;
    one_sum_of_each_pair_is_opened: W9, "opens both sums", proof::both_sums;
    bits_of_the_proof_are_dropped: W11, "hands the bits of the proof out", proof::too_many_bits;
    rows_of_a_field_belong_to_one_x: K11, "takes any sums", field::flipped_correction;
    few_bits_are_not_tried_offline: K14, "hashes rows of the columns of MACs", field::delta_found_offline;
    a_pad_serves_one_payload: G14, "lets rows serve again", field::two_payloads;
    a_pad_serves_one_bit: G14, "lets rows serve again", field::two_bits;
}

/// The attacks on these need a party whose own code deviates: they are in the copy of `lab/attacks`.
const ELSEWHERE: [Check; 6] = [checks::W3, checks::W4, checks::W8, checks::W10, checks::K12, checks::K13];

/// Every check of this crate has a mutant. The other checks W belong to divisi-garble.
#[test]
fn every_check_has_a_mutant() {
    for check in checks::ALL.iter().filter(|check| !ELSEWHERE.contains(check)) {
        assert!(
            MUTANTS.iter().any(|(c, what, name)| c == check && !what.is_empty() && !name.is_empty()),
            "{check}"
        );
    }
}

/// docs/garbling.md and docs/ot.md name every check of this crate with the tests that kill its mutants.
#[test]
fn the_table_of_checks_is_complete() {
    let table =
        concat!(include_str!("../../../../../docs/garbling.md"), include_str!("../../../../../docs/ot.md"));
    for (check, _, name) in MUTANTS {
        let row = table.lines().find(|line| line.starts_with(&format!("| {check} |")) && line.contains(name));
        assert!(row.is_some(), "no page has {check}: {name}");
    }
}
