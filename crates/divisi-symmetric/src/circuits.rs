//! Circuits by name, with the wires of the circuits that are published under these names in Bristol Fashion.
//!
//! The bits of a value are on the wires in the order of these files, which `divisi::WireValue` describes.
//!
//! | name | inputs | output | ANDs |
//! |---|---|---|---|
//! | `aes128`, `aes192`, `aes256` | key, plaintext | ciphertext | 6,400, 7,168, 8,832, with key schedule |
//! | `des3` | 192 bits of key, parity ignored; plaintext | ciphertext | 13,248: at most 36 for an S-box |
//! | `sha1-for-old-data` | block, state | the next state | one compression |
//! | `sha256`, `sha512` | block, state | the next state | 22,573, 57,947: one compression |
//! | `keccak-f` | state | state | 38,400 |
//!
//! There is also a circuit of every hash and MAC for messages of one length ([`function`]). Its inputs are
//! key, nonce and message, as far as the algorithm has them; its output is the digest or tag.

pub use crate::ciphers::{aes, triple_des};
pub use crate::drawn::{DrawnBytes, drawn};

use crate::aes::KeySize;
use crate::algorithm::{Algorithm, Settings};
use crate::batch::{Function, Messages, bits, byte_values, gmac};
use crate::drawn::{input, output};
use crate::gates::Adder;
use crate::hash::Hash;
use crate::sha2::Sha2;
use crate::sha3::{STATE_BYTES, keccak_f};
use divisi_circuit::{Build, Program};
use divisi_core::{Abort, Bytes, Direction, Misuse, Step, step};

const CIRCUIT: Step = step!("circuit");

/// All names.
pub const NAMES: [&str; 8] =
    ["aes128", "aes192", "aes256", "des3", "sha1-for-old-data", "sha256", "sha512", "keccak-f"];

/// The circuit of this name; `adder` is for circuits with additions.
///
/// # Errors
/// None for these circuits; but AES is written over a trait whose engines can fail.
pub fn named(name: &str, adder: Adder) -> Result<Option<Program>, Abort> {
    Ok(Some(match name {
        "aes128" => aes(KeySize::Aes128, Direction::Encrypt)?,
        "aes192" => aes(KeySize::Aes192, Direction::Encrypt)?,
        "aes256" => aes(KeySize::Aes256, Direction::Encrypt)?,
        "des3" => triple_des(Direction::Encrypt)?,
        "sha1-for-old-data" => compression(Hash::Sha1, adder),
        "sha256" => compression(Hash::Sha2(Sha2::Sha256), adder),
        "sha512" => compression(Hash::Sha2(Sha2::Sha512), adder),
        "keccak-f" => keccak(),
        _ => return Ok(None),
    }))
}

/// One compression; the inputs are block and state, the output is the next state.
#[must_use]
pub fn compression(hash: Hash, adder: Adder) -> Program {
    let mut g = Build::new();
    let (block, state) = (input(&mut g, hash.block_bytes()), input(&mut g, hash.state_bytes()));
    let next = hash.step(&mut g, adder, &state, &block);
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

/// The largest length of a message of a [`function`] in bytes: 16 blocks of SHA-256, two million gates.
pub const LONGEST_MESSAGE: usize = 1024;

/// A hash or MAC of messages and keys of these lengths in bytes, as a circuit; it is what [`Function`] runs
/// on engines. Inputs without bytes are left out. A product over GF(2^128) takes 2,187 ANDs (Karatsuba's
/// method, seven times).
///
/// # Errors
/// [`Abort::Misuse`] if the settings or the key's length do not fit the algorithm, or if the message is
/// longer than [`LONGEST_MESSAGE`].
pub fn function(settings: &Settings, key_bytes: usize, message_bytes: usize) -> Result<Program, Abort> {
    if [message_bytes, key_bytes, settings.output_bytes].iter().any(|bytes| *bytes > LONGEST_MESSAGE) {
        return Err(Abort::Misuse { step: CIRCUIT, what: Misuse::TooLarge });
    }
    let fixed = match settings.algorithm {
        Algorithm::Cmac(size) | Algorithm::Gmac(size) => size.bytes() != key_bytes,
        _ => false,
    };
    if fixed || settings.check().is_err() {
        return Err(Abort::Misuse { step: CIRCUIT, what: Misuse::Unsupported });
    }
    let Settings { algorithm, output_bytes, .. } = *settings;
    drawn(&[key_bytes, algorithm.nonce_bytes(), message_bytes], |e, values| {
        let [key, nonce, message] = &values[..] else { return Ok(Vec::new()) };
        let message = bits(e, message.clone())?;
        let messages = Messages::even(message, 1)?;
        let mut tag = if let Algorithm::Gmac(_) = algorithm {
            // the nonce is an input here
            let function = gmac::prepare(e, key)?;
            let start = gmac::initial(e);
            let hash = gmac::hash(e, &function, &start, 0, &messages)?;
            let counter = [0, 0, 0, 1].map(|byte| e.public(&[byte]));
            let misfit = |_| Abort::Misuse { step: CIRCUIT, what: Misuse::LengthUnsupported };
            let j0 = nonce.iter().cloned().chain(counter).collect::<Vec<_>>().try_into().map_err(misfit)?;
            gmac::seal(e, &function, j0, &hash)?
        } else {
            Function::prepare(e, settings, key)?.output(e, &messages, &[])?
        };
        tag.truncate(output_bytes);
        Ok(vec![byte_values(e, tag)?])
    })
}
