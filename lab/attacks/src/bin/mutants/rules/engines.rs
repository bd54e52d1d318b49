//! The crates of each engine, which of their files are protocol files, and the tests that judge them.

/// The crates of each engine, of what all engines rest on, and of the servers, and the programs of tests that
/// judge a weakening of them, beside those of its own crate.
pub const CRATES: [(&str, &[&str], &[&str]); 14] = [
    (
        "rep3",
        &["divisi-rep3", "divisi-symphony"],
        &[
            "divisi-attacks/rep3_checks",
            "divisi-attacks/rep3_blackbox",
            "divisi-attacks/rep3_lookup",
            "divisi-attacks/rep3_sbox",
            "divisi-rep3/key_in_memory",
            "divisi-symphony/it",
            "divisi/lib::kat::tests_of_circuits",
        ],
    ),
    (
        "ot",
        &["divisi-ot"],
        &[
            "divisi-attacks/ot_proof",
            "divisi-attacks/ot_random",
            "divisi-attacks/ot_rows",
            "divisi-attacks/garble_triples",
            "divisi-ot/delta_in_memory",
        ],
    ),
    (
        "garble",
        &["divisi-garble"],
        &[
            "divisi-attacks/garble_openings",
            "divisi-attacks/garble_order",
            "divisi-attacks/garble_tables",
            "divisi-attacks/garble_triples",
            "divisi-garble/delta_in_memory",
        ],
    ),
    ("spdz", &["divisi-spdz"], &["divisi-spdz/alpha_in_memory", "divisi/lib::kat::tests_of_one_shot"]),
    ("bgv", &["divisi-bgv"], &["divisi-mixed/it"]),
    ("mixed", &["divisi-mixed"], &[]),
    ("mpgc", &["divisi-mpgc"], &[]),
    ("program", &["divisi-program"], &[]),
    (
        "core",
        &["divisi-core", "divisi-store"],
        &[
            "divisi-attacks/rep3_checks",
            "divisi-garble/it",
            "divisi-garble/lib",
            "divisi-node/lib",
            "divisi-ot/delta_in_memory",
            "divisi-rep3/it",
            "divisi-rep3/key_in_memory",
            "divisi-spdz/lib::engine::bits",
        ],
    ),
    ("net", &["divisi-net"], &[]),
    ("circuit", &["divisi-circuit"], &[]),
    (
        "modes",
        &["divisi-symmetric", "divisi-engine"],
        // the copy has an engine more, which other tests of this package do not expect
        &[
            "divisi/lib::kat::tests_of_acvp",
            "divisi/lib::kat::tests_of_functions",
            "divisi/lib::kat::tests_of_ivs",
            "divisi/lib::kat::tests_of_long",
            "divisi/lib::kat::tests_of_one_shot",
            "divisi-rep3/it",
            "divisi-symphony/it",
        ],
    ),
    (
        "node",
        &["divisi-node"],
        &["divisi-node/pressure", "divisi-cli/it::servers", "divisi-cli/it::faults", "divisi-gateway/it"],
    ),
    ("gateway", &["divisi-gateway"], &[]),
];

/// What makes protocols engines, in whichever crate, and the programs of tests that judge it.
pub const ADAPTERS: (&str, &[&str]) = (
    "adapters",
    &[
        "divisi/it::agreement",
        "divisi/it::announced",
        "divisi/lib::kat::tests_of_circuits",
        "divisi/lib::kat::tests_of_engines",
        "divisi/lib::kat::tests_of_functions",
        "divisi/lib::kat::tests_of_one_shot",
        "divisi-cli/it::bench",
        "divisi-cli/it::garble",
        "divisi-cli/it::mixed",
        "divisi-cli/it::prep",
        "divisi-cli/it::spdz",
    ],
);

/// Their names.
pub fn engines() -> Vec<&'static str> {
    CRATES.iter().map(|(name, ..)| *name).chain([ADAPTERS.0]).collect()
}

/// What in a crate's source is no protocol.
const OTHERS: [&str; 30] = [
    "/tests",
    "/adversary",
    "/fuzz",
    "/guarded",
    "/lab.rs",
    "/toy",
    "/testing",
    "/cut.rs",
    "/backend/memory.rs",
    "/dealer",
    "/lies",
    "/checks.rs",
    "/compiled.rs",
    "/cost.rs",
    "/options.rs",
    "/applications",
    "/plain/",
    "/plain.rs",
    "/known/",
    "/measured.rs",
    "/suite/",
    "/local.rs",
    "/skip.rs",
    "/tamper.rs",
    "/draws",
    "/taint.rs",
    "/demo",
    "/bench",
    "/log.rs",
    "/generated/",
];

/// The engine that a file belongs to, with its tests; `None` if it is no protocol file.
pub fn engine_of(file: &str) -> Option<(&'static str, Vec<String>)> {
    let (package, rest) = file.strip_prefix("crates/")?.split_once("/src")?;
    if OTHERS.iter().any(|other| rest.contains(other)) || !rest.ends_with(".rs") {
        return None;
    }
    let &(mut engine, _, mut more) = CRATES.iter().find(|(_, packages, _)| packages.contains(&package))?;
    if rest.contains("/adapter") {
        (engine, more) = ADAPTERS;
    }
    let own = ["lib", "it"].map(|target| format!("{package}/{target}"));
    Some((engine, own.into_iter().chain(more.iter().map(|test| (*test).to_owned())).collect()))
}
