//! Words and bytes made of wires, for everything that is written over [`Gates`](divisi_circuit::Gates).
//!
//! A byte is `[Bit; 8]` and a word a slice of bits, both with the **lowest bit first**. A string of bytes has
//! the standards' order. Lengths are public.

mod adder;
mod bytes;
mod engine;
mod linear;
mod lookups;
mod sbox;
mod word;

pub use adder::Adder;
pub use bytes::{GateByte, GateBytes};
pub use engine::{GateBit, GateBlock};
pub use sbox::{SBOX_ANDS, sbox};
pub use word::{in_the_clear, public_bytes};

pub(crate) use word::{
    byte_program, choose, constant, from_big_endian, from_little_endian, majority, rotate_right, shift_right,
    to_big_endian, to_little_endian, xor,
};
