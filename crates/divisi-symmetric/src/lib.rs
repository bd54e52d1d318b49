//! Ciphers and modes written once against the engine traits of `divisi-core`.
//!
//! Ciphers do not know how secrets are shared, among how many parties, or who is trusted; all that, and all
//! security, is the engine's. A cipher determines what is computed. Its control flow depends on public values
//! only.
//!
//! | module | what | standard |
//! |---|---|---|
//! | [`aes`] | AES-128, AES-192, AES-256, both directions, with key schedule | FIPS 197 |
//! | [`des`] | triple DES with two or three keys, both directions | SP 800-67 |
//! | [`sha2`], [`sha3`], [`hash`] | all of SHA-2 and SHA-3, SHAKE, cSHAKE | FIPS 180-4, FIPS 202, SP 800-185 |
//! | [`sha1`] | SHA-1 for old data, and one-time passwords | FIPS 180-4, RFC 4226 |
//! | [`mode::one_shot`] | KW, KWP, SIV, CCM, GCM-SIV, XTS, CBC with stealing, CFB of bits | see there |
//! | [`mac::hmac`], [`mac::kmac`] | HMAC over these hashes; KMAC and KMACXOF | FIPS 198-1, SP 800-185 |
//! | [`batch`] | all of these on an engine, for many messages of different lengths at once | |
//! | [`hkdf`] | key derivation by HMAC | RFC 5869 |
//! | [`gates`], [`circuits`] | gates, over which hashes are written; AES as gates; circuits by name | |
//! | [`engines`] | the combinations of engine traits that all of these need | |
//! | [`mode::ctr`] | counter mode, 32-bit and 128-bit counters | SP 800-38A, SP 800-38D |
//! | [`mode::gcm`] | authenticated encryption: one text, a stream, many texts at once | SP 800-38D |
//! | [`mode::ghash`] | GHASH of public data under a secret key, in bounded memory | SP 800-38D, 6.4 |
//!
//! Feature `testing` adds `suite`: the standards' known answers, to be run on any engine.
//!
//! ```
//! use divisi_core::{Bytes, Plain};
//! use divisi_symmetric::aes;
//!
//! // Two keys and two blocks, on the engine that computes in the clear; engines that share secrets are used alike.
//! let e = &mut Plain;
//! let key: Vec<_> = (0..16).map(|i| e.public(&[i, 2 * i])).collect();
//! let mut state = std::array::from_fn(|i| e.public(&[0x11 * i as u8, 0]));
//! let round_keys = aes::expand(e, &key)?;
//! aes::encrypt(e, &round_keys, &mut state)?;
//! assert_eq!((state[0].values()[0], state[15].values()[0]), (0x69, 0x5a)); // FIPS 197, C.1
//! # Ok::<(), divisi_core::Abort>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod aes;
pub mod algorithm;
pub mod batch;
mod ciphers;
pub mod circuits;
pub mod des;
mod drawn;
pub mod engines;
pub mod gates;
pub mod hash;
pub mod hkdf;
pub mod mac;
pub mod mode;
pub mod sha1;
pub mod sha2;
pub mod sha3;
#[cfg(feature = "testing")]
pub mod suite;
