//! What the engine claims.

use divisi_engine::Engine;
use divisi_engine::stock::statistical_bits;
use divisi_spdz::adapter::Authenticated;

/// The claim names each field that leaves fewer bits than the least that can be chosen among some number of
/// parties, with the least among all numbers of them.
#[test]
fn the_claim_has_the_least_of_all_fields_and_parties() {
    const FIELDS: [u32; 4] = [40, 42, 48, 72];
    let profile = Authenticated.profile();
    let chosen = 40;
    let bits = |field: u32| profile.parties.clone().map(move |n| statistical_bits(chosen, field, n));
    let least = |field| bits(field).min().unwrap_or(0);
    let claim = &(profile.claims)()[0].statistical;
    for field in FIELDS {
        let (most, least) = (bits(field).max().unwrap_or(0), least(field));
        let says = format!("`--field {field}` {most} between two parties to {least} among 32");
        assert_eq!(claim.contains(&says), least < chosen, "{field}: {says}");
    }
    assert_eq!(FIELDS.map(least), [35, 37, 40, 40]);
    assert_eq!(FIELDS.into_iter().flat_map(bits).min(), Some(35));
}
