//! Packed finite fields of characteristic two, integers modulo primes for lattices, and their vector kernels.
//!
//! The bits of many instances are packed: a [`Plane`] holds one bit of each of 512 *lanes*, and eight planes
//! hold a byte of each of 512 instances. Elements of the large fields, in which protocols verify, are words,
//! with operations on slices.
//!
//! | module | field | form |
//! |---|---|---|
//! | [`gf2`] | GF(2) | bits of a [`Plane`] |
//! | [`gf4`] | GF(2^4) = F2\[X\]/(X^4 + X + 1) | scalar, and four planes |
//! | [`gf8`] | GF(2^8) of AES | scalar, packed bytes, and eight planes |
//! | [`gf64`] | GF(2^64) = F2\[Y\]/(Y^64 + Y^4 + Y^3 + Y + 1) | slices |
//! | [`gf128`] | GF(2^128) = F2\[x\]/(x^128 + x^7 + x^2 + x + 1) | slices |
//! | [`mac`] | GF(2^40), GF(2^42), GF(2^48), GF(2^72), for MACs; GF(2^6) within them | slices |
//!
//! There are also integers modulo primes below 2^50, and below 2^62 for plaintexts ([`zp`]), and their
//! negacyclic transforms ([`ntt`]), for lattice ciphertexts, whose coefficients are [`packed`] for messages.
//!
//! [`kernel`] chooses, once and at run time, between AVX-512 with GFNI and VPCLMULQDQ, AVX2 with PCLMULQDQ,
//! NEON with PMULL and AES, and portable code. Every kernel is tested against the same slow reference. All of
//! them run in constant time: no branch, index or loop bound depends on a value, unless a function says that
//! its argument is public. The portable kernel assumes that the processor's 64-bit integer multiplication
//! takes constant time.
//!
//! This crate does not handle sharings. Field elements implement `Debug`, because coins and public constants
//! are field elements, too; the types of shares do not.
//!
//! ```
//! use divisi_field::{BigField, Field, Gf64};
//!
//! let x = [Gf64(3), Gf64(5)];
//! let y = [Gf64(7), Gf64::ONE];
//! assert_eq!(Gf64::dot(&x, &y), Gf64(3) * Gf64(7) + Gf64(5));
//! ```
#![warn(missing_docs)]

#[cfg(test)]
mod bulk;
mod carryless;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod counter;
mod field;
pub mod gf128;
pub mod gf2;
pub mod gf4;
pub mod gf64;
pub mod gf8;
pub mod kernel;
pub mod laws;
pub mod mac;
pub mod ntt;
pub mod packed;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod permutation;
pub mod plane;
pub mod transpose;
pub mod word;
pub mod zp;

pub use field::{BigField, Field};
pub use gf2::Gf2;
pub use gf4::Gf4;
pub use gf8::Gf8;
pub use gf64::Gf64;
pub use gf128::Gf128;
pub use mac::{Gf6, Gf40, Gf42, Gf48, Gf72, Holds, MacField};
pub use plane::Plane;
pub use word::Word;
