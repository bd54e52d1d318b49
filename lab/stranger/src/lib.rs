//! The examples of `divisi`, built with `divisi` as the one dependency of the project.

#[path = "../../../crates/divisi/examples/circuit_among_five.rs"]
pub mod circuit_among_five;
#[path = "../../../crates/divisi/examples/encrypt_in_one_process.rs"]
pub mod encrypt_in_one_process;
#[path = "../../../crates/divisi/examples/many_requests.rs"]
pub mod many_requests;
#[path = "../../../crates/divisi/examples/own_protocol.rs"]
pub mod own_protocol;
#[path = "../../../crates/divisi/examples/three_machines.rs"]
pub mod three_machines;
