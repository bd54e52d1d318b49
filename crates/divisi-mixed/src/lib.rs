//! Computation on numbers and bits among many parties: GYKW, "Scalable Mixed-Mode MPC" (Guo, Yang, Katz,
//! Wang). **Semi-honest**: the adversary may see all but one of the n parties, but every party follows the
//! protocol.
//!
//! "Both worlds" are sharings modulo 2 and modulo p. A *row* is one correlated transfer of [`divisi_ot`], and
//! its *payload* the value that is transferred. "We", "our" mean the party that runs the code. G1 to G14 are
//! checks (docs/mixed.md, 8; docs/bgv.md, 7), D8 is a deviation from the paper (docs/mixed.md, 6).
//!
//! | module | what | source |
//! |---|---|---|
//! | [`abb`] | F_ABB, the arithmetic black box; products of numbers | section 3.3 |
//! | [`conv`] | F_Conv: B2A, A2B, E2A, A2E | sections 3.3, 5.1 and 5.2, A.3 |
//! | [`prep_lut`] | F_prep-LUT: masked tables | sections 4.1 and 4.2 |
//! | [`lut`] | F_LUT: lookups in public and private tables of 2 to 256 entries | section 4.3 |
//! | [`mixed`] | one party that does all of this, and its stocks | |
//! | [`together`] | conversions, lookups and products that share one opening | |
//! | [`dabit`] | random bits shared in both worlds, by ciphertexts of three forms | section 4.1 |
//! | [`cot`] | the same by correlated oblivious transfer, without ciphertexts | docs/mixed.md, 2 |
//! | [`triples`] | Boolean triples by correlated oblivious transfer | section 3.3; Gilboa 1999; Beaver 1991 |
//! | [`gmw`] | Boolean circuits on these triples | Goldreich, Micali, Wigderson 1987 |
//! | [`arithmetic`] | arithmetic triples by one product of ciphertexts | section 3.3, A.3 |
//! | [`num`], [`open`] | shared numbers, and their openings; openings of packed bits | section 3.1 |
//! | `planes`, [`a2b`], [`adders`] | steps of B2A; steps of A2B; circuits of A2B | sections 5.1 and 5.2 |
//! | [`table`] | steps of masking and looking up, in the Walsh basis; signs | sections 4.2 and 4.3 |
//! | [`vectors`] | shared vectors at shared indices, with keys of their own | section 4.1, special case |
//! | [`encrypted`] | encrypted numbers, and linear combinations of them | section 3.3 |
//!
//! The paper's figures and appendices; test `every_figure_has_its_function` looks for the functions:
//!
//! | | functionality or protocol | function |
//! |---|---|---|
//! | Figure 2 | F_ABB, module [`abb`] | [`Mixed::multiply`], [`Gmw::input`], [`Gmw::output`] |
//! | Figure 3 | F_Conv, module [`conv`] | [`Mixed::b2a`], [`Mixed::a2b`], [`conv::e2a`], [`conv::a2e`] |
//! | Figure 4 | F_prep-LUT, module [`prep_lut`] | [`Mixed::prep_lut`], [`prep_lut::prep_lut_polysize`] |
//! | Figure 5 | F_LUT, module [`lut`] | [`Mixed::lookup`], [`Mixed::lookup_private`] |
//! | Figure 6 | masked tables of two entries | `prep_lut_size2`, called by [`dabit::dabit`]; special case of section 4.1: [`prep_lut::prep_lut_vectors`] |
//! | Figure 7 | masked tables of 2^m entries | case 1: [`Mixed::prep_lut`]; case 2: [`prep_lut::prep_lut_polysize`] |
//! | Figure 8 | lookup | case 1: [`Mixed::lookup`]; case 2: [`Mixed::lookup_private`] |
//! | Figure 9 | B2A | [`Mixed::b2a`] |
//! | Figure 10 | A2B | [`Mixed::a2b`], with [`Mixed::prepare_masks`] |
//! | Figure 11 | garbling | `divisi_mpgc::garble::GarblingContext::garble` |
//! | Figure 12 | evaluation of garbled circuits | `divisi_mpgc::evaluate::evaluate` |
//! | Figures 13, 14 | measurements, by `divisi bench mixed` | `divisi_program::operations::OperationBatch::preprocess`, `divisi_program::operations::OperationBatch::online` |
//! | Figure 15 | E2A of a ciphertext | [`Keys::e2a`](divisi_bgv::Keys::e2a) |
//! | Appendix A.1 | threshold BGV | [`Keys::generate`](divisi_bgv::Keys::generate), [`Keys::encrypt`](divisi_bgv::Keys::encrypt), [`Keys::hop`](divisi_bgv::Keys::hop) |
//! | Appendix A.2 | encryption of garbled rows | `divisi_mpgc::scheme::Scheme::encrypt`, `divisi_mpgc::scheme::Scheme::decrypt` |
//! | Appendix A.3 | conversions of a ciphertext | [`Keys::a2e`](divisi_bgv::Keys::a2e), [`Keys::e2a`](divisi_bgv::Keys::e2a) |
//!
//! Appendix B proves these protocols; docs/mixed.md, docs/bgv.md and docs/linear-garbling.md say why ours are
//! private where they differ.
//!
//! ```
//! use divisi_bgv::parameters::{Form, Operation, Parameters};
//! use divisi_bgv::{Keys, Ring, Sampler};
//! use divisi_core::{PublicParameters as Agreed, local};
//! use std::sync::Arc;
//!
//! let p = (1 << 32) - (1 << 30) + 1;
//! // a ring for tests: with `Parameters::derive` it protects
//! let parameters = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 3, p).unwrap();
//! let agreed = parameters.describe(Agreed::new("an example"));
//! let ring = Arc::new(Ring::new(parameters).unwrap());
//! local::run(3, &agreed, |mut session| {
//!     let keys = Keys::generate(&mut session, &ring)?;
//!     let mut sampler = Sampler::new(&session);
//!     let bits = divisi_mixed::dabit::dabit(&mut session, &keys, &mut sampler)?;
//!     // shares modulo 2 and modulo p of the same bits: handed out once
//!     let (modulo_2, modulo_p) = bits.open();
//!     assert_eq!((modulo_2.len(), modulo_p.len()), (1024, 1024));
//!     Ok(())
//! })?;
//! # Ok::<(), divisi_core::Abort>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod a2b;
pub mod abb;
pub mod adders;
mod and;
pub mod arithmetic;
pub mod bit;
pub mod checks;
mod circle;
pub mod conv;
pub mod cot;
pub mod dabit;
pub mod encrypted;
#[cfg(test)]
mod fuzz;
pub mod gmw;
#[doc(hidden)]
pub mod guarded;
pub mod lut;
pub mod mixed;
pub mod num;
pub mod open;
mod origin;
mod pipeline;
mod planes;
pub mod prep_lut;
mod private;
pub mod purposes;
mod random;
pub mod table;
pub mod together;
mod tree;
pub mod triples;
pub mod vectors;
mod wires;

pub use bit::GmwBit;
pub use gmw::Gmw;
pub use mixed::Mixed;
pub use num::Num;
