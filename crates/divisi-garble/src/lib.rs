//! Authenticated garbling among any number of parties, all but one of them possibly malicious: any Boolean
//! circuit in a constant number of rounds (WRK17: Wang, Ranellucci, Katz, *Global-Scale Secure Multiparty
//! Computation*, CCS 2017).
//!
//! Setting: 2 to 128 parties. The adversary is malicious, static and rushing, and controls any number of
//! parties but not all of them. Security with abort: 40 or 64 bits statistical, 117 bits computational. There
//! is no fairness: corrupt parties may learn the output first, and may keep honest parties from learning it.
//! docs/garbling.md has the security arguments.
//!
//! A run has four phases, each a call on a live session: the set-up of [`divisi_ot`], then
//! [`function_independent`](Garble::function_independent), [`function_dependent`](Garble::function_dependent)
//! and [`online`](Garble::online). [`streamed`](Garble::streamed) replaces the last three; its memory does
//! not depend on the size of the circuit. Each output goes to any set of parties. Many instances run
//! together, and instance i is evaluated by party i mod n. [`GarblingForm`] chooses between the paper's
//! tables and smaller ones.
//!
//! Notation of this crate's comments: "we", "our" mean the party that runs the code. A *place* is a peer's
//! index among the peers, without ourselves. lambda is the mask of a wire, Delta_i the secret key of party i,
//! and a *label for zero* is a wire's label for the masked value 0. Steps and figures are those of the paper.
//! Letters and numbers in brackets name checks: the table in docs/garbling.md (section 17) says what each
//! prevents; M0.x are checks of every session, Q17 is the wiping of secrets.
//!
//! | module | what | paper |
//! |---|---|---|
//! | `circuit`, `plan`, `batch` | what is garbled for whom, and its gates in order | |
//! | `context`, `laand`, `zero`, `haand`, `aand` | AND triples | Fig. 8, 16, 18 |
//! | `masks` | shares of the masks of all wires, ANDs of given masks | Fig. 2, steps 3 and 4(a) |
//! | `table`, `evaluate`, `labels` | tables of both forms, made and read | Fig. 2, step 4; Fig. 3, step 7 |
//! | `online` | inputs, labels, outputs | Fig. 3, steps 5 to 8 |
//! | `phases`, `held`, `streamed`, `run` | what happens when, and what is kept between | Fig. 2 and 3 |
//!
//! ```
//! use divisi_circuit::{Build, Gates};
//! use divisi_core::{PublicParameters, PartyId, local};
//! use divisi_garble::{Garble, GarbleOptions, Plan};
//! use divisi_ot::{SetupConfig, Setup};
//!
//! // x AND y, x of the first party and y of the second; both learn it
//! let mut g = Build::new();
//! let (x, y) = (g.input(1)[0], g.input(1)[0]);
//! let xy = g.and(x, y);
//! g.output(&[xy]);
//! let program = g.finish();
//! let owners: Vec<PartyId> = PartyId::all(2).collect();
//! let plan = Plan::for_all(&program, 2, &owners).unwrap();
//!
//! let (config, options) = (SetupConfig::default(), GarbleOptions::default());
//! let parameters = options.describe(config.describe(PublicParameters::new("example")));
//! let outputs = local::run(2, &parameters, |mut session| {
//!     let setup = Setup::new(&mut session, config)?;
//!     let mut garble = Garble::new(&session, setup, options);
//!     let mut made = garble.function_independent(&mut session, plan.and_count(), plan.wires())?;
//!     let garbled = garble.function_dependent(&mut session, &mut made, &plan, 1)?;
//!     let outputs = garble.online(&mut session, garbled, &[vec![1]])?;
//!     Ok(outputs[0].to_vec())
//! })?;
//! assert_eq!(outputs, [[1], [1]]);
//! # Ok::<(), divisi_core::Abort>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod aand;
pub mod adapter;
#[cfg(feature = "testing")]
pub mod adversary;
mod batch;
mod bits;
pub mod checks;
mod circuit;
mod context;
mod evaluate;
#[cfg(test)]
mod fuzz;
mod haand;
mod hash;
mod held;
mod laand;
#[cfg(feature = "testing")]
pub mod lab;
mod labels;
mod masks;
mod online;
mod open;
mod options;
mod phases;
mod plan;
pub mod purposes;
mod run;
mod share;
mod streamed;
mod table;
mod triples;
mod zero;

pub use held::Garbled;
pub use options::{DEPENDENT_PHASE, GarbleOptions, INDEPENDENT_PHASE, ONLINE_PHASE, SETUP_PHASE, k_for};
pub use phases::Garble;
pub use plan::{MOST_PARTIES, Plan, Unfit};
pub use table::GarblingForm;
pub use triples::Preprocessed;
