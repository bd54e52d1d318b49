//! Functions that are compiled in the crate itself.

/// Each field has code of its own.
#[test]
fn each_field_has_code_of_its_own() {
    let all = divisi_spdz::compiled();
    assert!(all.windows(2).all(|two| two[0].len() == two[1].len() && two[0] != two[1]));
}
