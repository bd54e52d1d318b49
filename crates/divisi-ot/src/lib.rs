//! Oblivious transfer, and what authenticated garbling and SPDZ build on it: n parties, all but one of them possibly malicious,
//! security with abort.
//!
//! | module | what | source |
//! |---|---|---|
//! | [`base`] | base OTs over Ristretto, two forms of set-up | endemic OT (Masny, Rindal 2019), batched and tagged (McQuoid, Rosulek, Roy 2021) |
//! | [`softspoken`] | small-field and subspace VOLE from all-but-one trees | SoftSpokenOT (Roy 2022) |
//! | [`vole`] | correlated rows of a pair, streamed, and their check | the same, section 4 |
//! | [`abit`] | authenticated bits among n parties | WRK17, Figures 14 and 15 |
//! | [`bucket`] | bucket sizes | WRK17, section B.5, corrected |
//! | [`hash`] | the tweakable circular correlation-robust hash | Guo, Katz, Wang, Yu 2020 |
//!
//! One [`Setup`] a session holds Delta_i, the trees towards each peer, and the coins: every authenticated bit of the session
//! comes from it, so that every batch in every thread is bound to the same Delta_i (ASSURANCE 1.32).
//!
//! ```ignore
//! let config = Config::default();
//! let mut session = Session::start(&mesh, 1, &config.describe(Parameters::new("garble")))?;
//! session.phase("setup");
//! let mut setup = Setup::new(&mut session, config)?;       // base OTs, trees, coins committed and echoed
//! session.phase("function-independent");
//! let mut bits = setup.authenticated_bits(&mut session, 1000)?; // 1,000 positions, checked; Delta proven on the first call
//! let first = bits.take(100);                               // each position once
//! let x = bits.bits();                                      // my bits, packed
//! let (m, k) = (bits.macs(peer), bits.keys(peer));          // M_j[x^i] and K_i[x^j] as u128, by position
//! let delta = setup.delta();                                // lowest bit public: one for P_1, zero for the others
//! let coin = setup.toss(&mut session, step!("coin"))?;      // 16 bytes nobody could foresee, one round
//! ```
//!
//! With the feature `testing`, [`testing::deal`] makes a `Setup` in one process without any of this crate's protocols: the same
//! calls then give bits dealt from a common seed.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod abit;
#[cfg(feature = "fault")]
pub mod adversary;
pub mod base;
pub mod bucket;
mod delta;
pub mod hash;
mod setup;
pub mod softspoken;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod vole;

pub use abit::AuthBits;
pub use delta::{Delta, lowest_bit};
pub use setup::{Base, Config, Setup};
