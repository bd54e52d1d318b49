//! Threshold BGV: n parties have a share each of one secret key, all but one of them may be curious together.
//!
//! Brakerski, Gentry, Vaikuntanathan 2012 in residues, after appendix A of Guo, Yang, Katz, Wang (GYKW,
//! "Scalable Mixed-Mode MPC"): N slots modulo p in a ciphertext, modulus switching, products with plaintexts
//! and with ciphertexts, conversions from and to additive shares. **Semi-honest**: nobody deviates. Nothing
//! here protects from a party that does, beyond what a well-formed message is.
//!
//! | module | what | source |
//! |---|---|---|
//! | [`parameters`] | ring, primes, floods, computed from what is to be done | docs/bgv.md |
//! | [`keys`] | key shares, public key, relinearisation key in two rounds | A.1; MTBH21 |
//! | [`cipher`] | sums, products, modulus switching | A.1 |
//! | [`hop`] | a party's signs on a ciphertext that passes it | Figure 6, A.1 CP |
//! | [`shares`] | E2A, A2E | Figure 15, A.3 |
//! | [`refresh`] | interactive bootstrapping | section 7.1 |
//! | [`flood`], [`sample`] | noise, in constant time | docs/bgv.md |
//! | [`wire`] | polynomials in exact bits, checked when read | |
//!
//! Random signs of two parties, multiplied under encryption and shared again:
//!
//! ```
//! use divisi_bgv::parameters::{Form, Operation, PublicParameters};
//! use divisi_bgv::{Ciphertext, Keys, Ring, Sampler, encode, wire};
//! use divisi_core::{PublicParameters as Agreed, PartyId, local, step};
//! use divisi_field::zp::P32;
//! use std::sync::Arc;
//!
//! // a ring for tests: with `PublicParameters::derive` it protects
//! let parameters = PublicParameters::danger_insecure(Operation::Bits, Form::LeanRing, 2, P32).unwrap();
//! let agreed = parameters.describe(Agreed::new("an example"));
//! let ring = Arc::new(Ring::new(parameters).unwrap());
//! let (first, last) = (PartyId::new(1).unwrap(), PartyId::new(2).unwrap());
//! local::run(2, &agreed, |mut session| {
//!     let keys = Keys::generate(&mut session, &ring)?;
//!     let mut sampler = Sampler::new(&session);
//!     let signs = encode::signs(&ring, &vec![1; ring.dimension()]);
//!     let top = ring.parameters().top();
//!     let pass = step!("pass");
//!     let mut product = None;
//!     if session.me() == first {
//!         let plain = encode::encode(&ring, &signs, ring.parameters().limbs(top));
//!         let x = keys.encrypt(&mut sampler, top, Some(&plain));
//!         wire::send(&mut session, &ring, pass, last, &x.components())?;
//!     } else {
//!         let x = Ciphertext::receive(&mut session, &ring, pass, first, top, 1)?;
//!         product = Some(keys.hop(&session, &mut sampler, x, &signs)?);
//!     }
//!     let factor = Ciphertext::factor_after(&ring, 1, top, 0);
//!     let share = keys.to_shares(&mut session, &mut sampler, last, product.as_ref(), factor)?;
//!     # let _ = share;
//!     Ok(())
//! })?;
//! # Ok::<(), divisi_core::Abort>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// tests inside the crate share tools with those outside
#[cfg(all(test, feature = "testing"))]
extern crate self as divisi_bgv;

pub mod cipher;
pub mod common;
pub mod encode;
pub mod flood;
pub mod hidden;
pub mod hop;
pub mod keys;
pub mod parameters;
mod product;
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
