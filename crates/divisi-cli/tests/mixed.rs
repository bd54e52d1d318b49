//! Circuits among curious parties through the command line: parties of their own that agree, or are told what
//! they disagree on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod separate;

/// Four programs, each one party: the number of parties is the configuration's.
#[test]
fn one_party_each() {
    separate::one_party_each("mixed");
}

/// Parties that mean different things are told so, all of them, before anything secret is there.
#[test]
fn parties_that_disagree_are_refused_with_both_digests() {
    let differences: [(&[&str], &str); 4] = [
        (&["--circuit", "xor"], "another circuit"),
        (&["--circuit", "and", "--output", "1"], "another circuit"),
        (&["--circuit", "and", "--k", "3"], "with other settings"),
        (&["--circuit", "and", "--protocol", "mpgc"], "with other settings"),
    ];
    separate::refused_with_both_digests("mixed", &differences);
}
