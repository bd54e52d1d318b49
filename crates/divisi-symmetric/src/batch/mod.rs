//! Hashes and MACs of many messages at once on an engine that runs Boolean programs.
//!
//! Each lane has a message. Lengths are public and may differ: messages are sorted by length, each step of a
//! hash runs on the lanes that have a block left, and the results are in the order of the messages. The
//! contents of messages, keys and results are secret until an engine opens them.

mod absorb;
pub mod block;
mod chain;
pub mod chains;
pub mod cmac;
mod drawn;
mod function;
pub mod gmac;
pub mod hash;
pub mod hkdf;
pub mod hmac;
pub mod kmac;
mod messages;
mod one_shot;
mod programs;
pub mod triple;
pub mod xof;

pub use crate::engines::MacEngine;
pub use function::{Function, State};
pub use messages::Messages;

use divisi_core::{Abort, Boolean, Misuse, step};
use messages::gather;

/// Converts bytes to bits; without communication.
///
/// # Errors
/// The abort that ends the session.
pub fn bits<E: MacEngine>(e: &mut E, bytes: Vec<E::Byte>) -> Result<Vec<SecretByte<E>>, Abort> {
    bytes.into_iter().map(|byte| e.convert(byte)).collect()
}

/// Converts bits to bytes; without communication.
///
/// # Errors
/// The abort that ends the session.
pub fn byte_values<E: MacEngine>(e: &mut E, bits: Vec<SecretByte<E>>) -> Result<Vec<E::Byte>, Abort> {
    bits.into_iter().map(|bits| e.convert(bits)).collect()
}

/// The 16 bytes of a block.
fn block_bytes<E: MacEngine>(e: &mut E, bits: Vec<SecretByte<E>>) -> Result<[E::Byte; 16], Abort> {
    byte_values(e, bits)?.try_into().map_err(|_| unfit(Misuse::BlockLength))
}

/// Eight secret bits, the lowest first.
pub type SecretByte<E> = [<E as Boolean>::Bit; 8];

/// Public bytes, the same in every lane.
fn public<E: Boolean>(e: &mut E, bytes: &[u8], lanes: usize) -> Vec<SecretByte<E>> {
    let all = [false, true].map(|bit| e.public_bit(&vec![bit; lanes]));
    let byte = |byte: &u8| std::array::from_fn(|i| all[usize::from(byte >> i & 1)].clone());
    bytes.iter().map(byte).collect()
}

/// The bits of bytes in order, the lowest bit of each byte first.
fn wires<B>(bytes: Vec<[B; 8]>) -> Vec<B> {
    bytes.into_iter().flatten().collect()
}

/// The bytes that these bits form.
fn bytes<B>(wires: Vec<B>) -> Vec<[B; 8]> {
    let mut wires = wires.into_iter();
    std::iter::from_fn(|| {
        let bits: Vec<B> = wires.by_ref().take(8).collect();
        bits.try_into().ok()
    })
    .collect()
}

fn unfit(what: Misuse) -> Abort {
    Abort::Misuse { step: step!("batch"), what }
}
