//! The example, run.

#[path = "../../examples/commands_as_data.rs"]
mod commands_as_data;

use divisi::local::PartyProgram;
use std::time::Duration;

#[test]
fn commands_are_run_within_a_program_as_data() {
    assert!(PartyProgram::at(env!("CARGO_BIN_EXE_divisi")).name());
    let phases = commands_as_data::aes_by_phase(100).unwrap();
    assert!(phases.iter().any(|(name, seconds, bits)| !name.is_empty() && *seconds > 0.0 && *bits > 0));

    // FIPS 197, C.1
    let (key, block) = ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff");
    let sealed = commands_as_data::encrypted(key, block, Duration::from_secs(120)).unwrap();
    assert_eq!(sealed, "69c4e0d86a7b0430d8cdb78070b4c55a");

    // nobody waits for what nobody wants any more
    commands_as_data::encrypted(key, block, Duration::ZERO).unwrap_err();
    let wrong = commands_as_data::encrypted(key, "no digits", Duration::from_secs(120)).unwrap_err();
    assert_eq!(wrong.kind.exit_code(), 2, "{wrong}");
}
