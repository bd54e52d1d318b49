//! The file of differences: which recorded exchanges the gateway answers otherwise, and why.

use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Differences {
    difference: Vec<Difference>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    reason: String,
    exchanges: Vec<String>,
}

/// The groups of which at most [`MOST`] exchanges may differ.
const GROUPS: [&str; 6] = ["list", "encrypt", "decrypt", "batch", "random", "hash"];
const MOST: usize = 90;

#[test]
fn each_difference_stands_once_and_has_a_reason() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differences.toml")).unwrap();
    let all: Differences = toml::from_str(&text).unwrap();
    let mut seen = BTreeSet::new();
    for difference in &all.difference {
        assert!(difference.reason.len() > 10, "{}", difference.reason);
        for id in &difference.exchanges {
            assert!(seen.insert(id.as_str()), "{id} is there twice");
        }
    }
    let group = |id: &&str| GROUPS.contains(&id.split('.').next().unwrap());
    let counted = seen.iter().filter(|id| group(id)).count();
    assert!(counted <= MOST, "{counted} of the groups that count differ");
}
