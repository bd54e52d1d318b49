//! The examples, built with `divisi` alone.

#[path = "../../crates/divisi/examples/circuit_among_five.rs"]
pub mod circuit_among_five;
#[path = "../../crates/divisi/examples/own_protocol.rs"]
pub mod own_protocol;
#[path = "../../crates/divisi/examples/three_machines.rs"]
pub mod three_machines;
