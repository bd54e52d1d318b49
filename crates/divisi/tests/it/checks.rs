//! The checks of all crates together: each id stands for one check.

use std::collections::BTreeMap;

#[test]
fn an_id_stands_for_one_check() {
    let crates = [
        ("core", divisi_core::checks::ALL),
        ("rep3", divisi_rep3::checks::ALL),
        ("ot", divisi_ot::checks::ALL),
        ("garble", divisi_garble::checks::ALL),
        ("spdz", divisi_spdz::checks::ALL),
        ("bgv", divisi_bgv::checks::ALL),
        ("mixed", divisi_mixed::checks::ALL),
        ("mpgc", divisi_mpgc::checks::ALL),
    ];
    let mut owners = BTreeMap::new();
    for (name, checks) in crates {
        assert!(!checks.is_empty(), "{name} registers no check");
        for check in checks {
            let other = owners.insert(check.id(), name);
            assert!(other.is_none(), "{check} is registered by {name} and by {}", other.unwrap_or_default());
        }
    }
    assert!(owners.len() > 100, "{} checks", owners.len());
}
