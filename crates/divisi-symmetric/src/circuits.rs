//! The circuits that have a name, wired as those that are published under it in Bristol Fashion.
//!
//! A value is written as the standard prints it: its last byte's lowest bit is wire 0, its first byte's highest bit the
//! last wire.
//!
//! | name | inputs | output | ANDs |
//! |---|---|---|---|
//! | `aes128`, `aes192`, `aes256` | key, plaintext | ciphertext | 6,400, 7,168, 8,832: key schedule included |
//! | `sha256`, `sha512` | block, state | the next state | 22,573, 57,947: one compression |
//! | `keccak-f` | state | state | 38,400 |

use crate::aes::{self, KeySize};
use crate::gates::{Adder, GateByte, GateBytes};
use crate::sha2::Sha2;
use crate::sha3::{STATE_BYTES, keccak_f};
use divisi_circuit::{Bit, Build, Program};
use divisi_core::{Abort, Direction};

/// All names.
pub const NAMES: [&str; 6] = ["aes128", "aes192", "aes256", "sha256", "sha512", "keccak-f"];

/// The circuit of that name; `adder` is for those that add.
///
/// # Errors
/// None of the circuits as they are; the trait over which AES is written has engines that can fail.
pub fn named(name: &str, adder: Adder) -> Result<Option<Program>, Abort> {
    Ok(Some(match name {
        "aes128" => aes(KeySize::Aes128, Direction::Encrypt)?,
        "aes192" => aes(KeySize::Aes192, Direction::Encrypt)?,
        "aes256" => aes(KeySize::Aes256, Direction::Encrypt)?,
        "sha256" => compression(Sha2::Sha256, adder),
        "sha512" => compression(Sha2::Sha512, adder),
        "keccak-f" => keccak(),
        _ => return Ok(None),
    }))
}

/// AES with its key schedule: key and block -> block.
///
/// # Errors
/// See [`named`].
pub fn aes(size: KeySize, direction: Direction) -> Result<Program, Abort> {
    let mut g = Build::new();
    let (key, block) = (input(&mut g, size.bytes()), input(&mut g, 16));
    let mut e = GateBytes::new(&mut g);
    let byte = |bits: [Bit; 8]| GateByte::new(vec![bits]);
    let key: Vec<GateByte<Bit>> = key.into_iter().map(byte).collect();
    let round_keys = aes::expand(&mut e, &key)?;
    let mut state: [GateByte<Bit>; 16] = std::array::from_fn(|i| byte(block[i]));
    match direction {
        Direction::Encrypt => aes::encrypt(&mut e, &round_keys, &mut state)?,
        Direction::Decrypt => aes::decrypt(&mut e, &round_keys, &mut state)?,
    }
    let bytes: Vec<[Bit; 8]> = state.iter().flat_map(|byte| byte.bits().to_vec()).collect();
    output(&mut g, bytes);
    Ok(g.finish())
}

/// One compression: block and state -> the next state.
#[must_use]
pub fn compression(hash: Sha2, adder: Adder) -> Program {
    let mut g = Build::new();
    let (block, state) = (input(&mut g, hash.block_bytes()), input(&mut g, hash.state_bytes()));
    let next = hash.compress(&mut g, adder, &state, &block);
    output(&mut g, next);
    g.finish()
}

/// The permutation.
#[must_use]
pub fn keccak() -> Program {
    let mut g = Build::new();
    let state = input(&mut g, STATE_BYTES);
    let next = keccak_f(&mut g, &state);
    output(&mut g, next);
    g.finish()
}

/// An input value of that many bytes, the first one first.
fn input(g: &mut Build, bytes: usize) -> Vec<[Bit; 8]> {
    let mut value = g.input(8 * bytes).as_chunks().0.to_vec();
    value.reverse();
    value
}

/// An output value, the first byte first.
fn output(g: &mut Build, mut bytes: Vec<[Bit; 8]>) {
    bytes.reverse();
    g.output(bytes.as_flattened());
}
