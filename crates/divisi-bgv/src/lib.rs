//! Threshold BGV: n parties have additive shares of one secret key. The adversary is semi-honest and may see
//! all but one of them.
//!
//! BGV (Brakerski, Gentry, Vaikuntanathan 2012) with residues modulo several primes, after appendix A of Guo,
//! Yang, Katz, Wang (GYKW, "Scalable Mixed-Mode MPC"). A ciphertext has N slots modulo p. There are modulus
//! switching, linear combinations, products with plaintexts and with ciphertexts, and conversions from and to
//! additive shares.
//! **Semi-honest**: every party is assumed to follow the protocol. The only protection from a party that
//! deviates is that malformed messages are refused.
//!
//! The comments of this crate use these words. A *chain* is the list of primes of the modulus, which shrinks
//! from level to level; a *limb* is one of these primes. The *top* is the highest level, the *bottom* level
//! 0, where ciphertexts are decrypted. A *hop* multiplies a ciphertext by one party's secret signs. A *flood*
//! is wide noise that hides other noise. E2A and A2E convert an encryption to additive shares and back. "The
//! special prime" occurs in the relinearisation key alone. G1 to G14 are checks (docs/bgv.md, 7), D1 to D7
//! deviations from the paper (docs/bgv.md, 6).
//!
//! | module | what | source |
//! |---|---|---|
//! | [`parameters`] | ring, primes, floods, computed from what is to be done | docs/bgv.md |
//! | [`keys`] | key shares, public key, relinearisation key in two rounds: [`Keys::generate`] | A.1; MTBH21 |
//! | [`cipher`] | sums, products, modulus switching | A.1 |
//! | [`hop`] | a party's signs on a ciphertext that passes it: [`Keys::hop`] | Figure 6, A.1 CP |
//! | [`shares`] | E2A and A2E: [`Keys::e2a`], [`Keys::a2e`] | Figure 15, A.3 |
//! | [`linear`] | linear combinations of ciphertexts: [`Ciphertext::add`], [`Ciphertext::scale`] | Figure 2 |
//! | [`blocks`] | shared vectors times shared numbers, without a chain | section 4.1, special case |
//! | [`exchange`] | two vectors that are kept or exchanged | section 4.1, special case |
//! | [`refresh`] | interactive bootstrapping | section 7.1 |
//! | [`flood`], [`sample`] | noise, in constant time | docs/bgv.md |
//! | [`wire`] | polynomials in exact bits, checked when read | |
//!
//! Random signs of two parties, multiplied under encryption and shared again:
//!
//! ```
//! use divisi_bgv::parameters::{Form, Operation, Parameters};
//! use divisi_bgv::{Ciphertext, Keys, Ring, Sampler, encode, wire};
//! use divisi_core::{PublicParameters as Agreed, PartyId, local, step};
//! use divisi_field::zp::P32;
//! use std::sync::Arc;
//!
//! // a ring for tests: with `Parameters::derive` it protects
//! let parameters = Parameters::danger_insecure(Operation::Bits, Form::LeanRing, 2, P32).unwrap();
//! let agreed = parameters.describe(Agreed::new("an example"));
//! let ring = Arc::new(Ring::new(parameters).unwrap());
//! let (first, last) = (PartyId::P1, PartyId::P2);
//! local::run(2, &agreed, |mut session| {
//!     let keys = Keys::generate(&mut session, &ring)?;
//!     let mut sampler = Sampler::new(&session);
//!     let signs = encode::signs(&ring, &vec![1; ring.dimension()]);
//!     let top = ring.parameters().top();
//!     let pass = step!("pass");
//!     let mut product = None;
//!     if session.me() == first {
//!         let x = keys.encrypt(&mut sampler, top, Some(&encode::coefficients(&ring, &signs)));
//!         wire::send(&mut session, &ring, pass, last, &x.components())?;
//!     } else {
//!         let x = Ciphertext::receive(&mut session, &ring, pass, first, top, 1)?;
//!         product = Some(keys.hop(&session, &mut sampler, x, &signs)?);
//!     }
//!     let factor = Ciphertext::factor_after(&ring, 1, top, 0);
//!     let share = keys.e2a(&mut session, &mut sampler, last, product.as_ref(), factor)?;
//!     # let _ = share;
//!     Ok(())
//! })?;
//! # Ok::<(), divisi_core::Abort>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// unit tests use the same tools as integration tests
#[cfg(all(test, feature = "testing"))]
extern crate self as divisi_bgv;

pub mod blocks;
pub mod checks;
pub mod cipher;
pub mod common;
pub mod encode;
pub mod exchange;
pub mod flood;
#[cfg(test)]
mod fuzz;
#[doc(hidden)]
pub mod guarded;
pub mod hop;
pub mod keys;
pub mod linear;
pub mod parameters;
mod product;
pub mod purposes;
pub mod refresh;
pub mod ring;
pub mod sample;
pub mod shares;
pub mod tree;
pub mod wire;

pub use cipher::Ciphertext;
pub use keys::Keys;
pub use ring::{Poly, Ring};
pub use sample::Sampler;
