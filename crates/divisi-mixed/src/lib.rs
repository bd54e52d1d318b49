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
//! | [`bits`] | random bits shared in both worlds | Figure 6, three forms |
//! | [`cot`] | the same by correlated oblivious transfer, without ciphertexts | docs/mixed.md, 2 |
//! | [`triples`] | Boolean triples by correlated oblivious transfer | section 3.3; Gilboa 1999; Beaver 1991 |
//! | [`gmw`] | Boolean circuits on these triples | Goldreich, Micali, Wigderson 1987 |
//! | `convert`, [`together`] | bits to numbers; conversions and lookups that share one opening | section 5.1, Figure 9; section 4.3, Figure 8, for size 2 |
//! | [`open`] | openings of packed bits | section 3.1 |
//! | [`arithmetic`] | arithmetic triples by one product of ciphertexts | section 3.3, A.3 |
//! | [`num`] | shared numbers, and their openings | section 3.1 |
//! | [`table`] | masks of indices; entries of tables of 2 to 256, public and private, also vectors | Figures 7 and 8 |
//! | [`private`] | private tables masked by hops, with keys of their own | Figure 7, case 2 |
//! | [`vectors`] | shared vectors at shared indices, with keys of their own | section 4.1, special case |
//! | [`encrypted`] | encrypted numbers, and the conversions A2E and E2A | Figures 2, 3 and 15, A.3 |
//! | [`a2b`], [`adders`] | numbers to bits: masks ahead, and the conversion | section 5.2; Figure 10, steps 1 to 3; 4 and 5 |
//! | [`mixed`] | one party that does all of this: stocks, products | |
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
//!     let bits = divisi_mixed::bits::random_bits(&mut session, &keys, &mut sampler)?;
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
pub mod adders;
mod and;
pub mod arithmetic;
pub mod bit;
pub mod bits;
pub mod checks;
mod circle;
mod convert;
pub mod cot;
pub mod encrypted;
#[cfg(test)]
mod fuzz;
pub mod gmw;
#[doc(hidden)]
pub mod guarded;
pub mod mixed;
pub mod num;
pub mod open;
mod origin;
mod pipeline;
pub mod private;
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
