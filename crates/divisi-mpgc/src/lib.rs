//! Garbled circuits among many parties; the bytes that a party sends for rows do not grow with the number of
//! parties. GYKW, "Scalable Mixed-Mode MPC", section 6, Figures 11 and 12. **Semi-honest**: the adversary may
//! see all but one of the n parties, but every party follows the protocol.
//!
//! A *row* is one ciphertext of a garbled gate; all parties contribute to it. A *look-up* gives shares of the
//! key that a shared bit selects. Letters are those of the paper; G7 to G14 are checks
//! (docs/linear-garbling.md, docs/mixed.md and docs/bgv.md).
//!
//! | module | what | source |
//! |---|---|---|
//! | [`parameters`] | ring, sizes, when a row decrypts | docs/linear-garbling.md |
//! | [`scheme`] | rows: encryptions under sums of keys; [`Scheme::encrypt`](scheme::Scheme::encrypt), [`Scheme::decrypt`](scheme::Scheme::decrypt) | appendix A.2 |
//! | [`label`] | labels, each for one row | Figure 11, step 4 |
//! | [`wiring`] | a circuit as gates that cost something | |
//! | [`lookup`] | the key that a shared bit chooses | Figure 11, step 3 |
//! | [`cost`] | what garbling costs, and the cheaper way to look up | docs/linear-garbling.md, 6 |
//! | [`tree`] | contributions, added up on their way | section 7.2 |
//! | [`garble`] | the garbled circuit: [`GarblingContext::garble`] | Figure 11 |
//! | [`evaluate`] | its evaluation: [`evaluate::evaluate`] | Figure 12 |
//!
//! Inputs and outputs are shared bits of [`divisi_mixed::Gmw`], so that a garbled circuit can be a part of
//! other computations. The AND of two bits of two parties:
//!
//! ```
//! use divisi_circuit::{Build, Gates};
//! use divisi_core::{PublicParameters, PartyId, local};
//! use divisi_mixed::{GmwBit, Gmw};
//! use divisi_mpgc::{Garbler, LookupMethod, Wiring};
//! use divisi_ot::SetupConfig;
//!
//! let mut g = Build::new();
//! let (x, y) = (g.input(1)[0], g.input(1)[0]);
//! let product = g.and(x, y);
//! g.output(&[product]);
//! let wiring = Wiring::new(&g.finish());
//! let all: Vec<PartyId> = PartyId::all(2).collect();
//! let learned = local::run(2, &PublicParameters::new("an example"), |session| {
//!     let gmw = Gmw::new(session, SetupConfig::default())?;
//!     let mut garbler = Garbler::new(gmw, LookupMethod::Transfers)?;
//!     // two instances, which evaluate once
//!     let garbled = garbler.garble(&wiring, 2)?;
//!     let own = GmwBit::of([1, 0].into_iter());
//!     let me = garbler.gmw().session().me();
//!     let input = |owner: PartyId, garbler: &mut Garbler| {
//!         garbler.gmw().input(owner, 2, Some(&own).filter(|_| owner == me))
//!     };
//!     let inputs = vec![input(all[0], &mut garbler)?, input(all[1], &mut garbler)?];
//!     let outputs = garbler.evaluate(garbled, &inputs)?;
//!     // the second party learns what comes out
//!     garbler.gmw().output(&all[1..], &outputs)
//! })?;
//! assert!(learned[0].is_none());
//! assert_eq!(learned[1].as_ref().unwrap()[0].words(), [0b01]);
//! # Ok::<(), divisi_core::Abort>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod checks;
pub mod cost;
pub mod evaluate;
#[cfg(test)]
mod fuzz;
pub mod garble;
mod group;
pub mod key;
pub mod label;
pub mod lookup;
pub mod parameters;
pub mod purposes;
pub mod scheme;
pub mod tree;
pub mod wiring;

pub use cost::GarblingCost;
pub use garble::{GarbledInstances, Garbler, GarblingContext};
pub use lookup::LookupMethod;
pub use wiring::Wiring;
