//! Oblivious transfer, and the correlations that authenticated garbling and SPDZ build on it. n parties; the
//! adversary is malicious and controls all but one of them; security with abort.
//!
//! | module | what | source |
//! |---|---|---|
//! | [`base`] | base OTs over Ristretto, two forms of set-up | endemic OT (Masny, Rindal 2019), batched and tagged (McQuoid, Rosulek, Roy 2021) |
//! | [`softspoken`] | small-field and subspace VOLE from all-but-one trees | SoftSpokenOT (Roy 2022) |
//! | [`vole`] | correlated rows of a pair, streamed, and their check | the same, section 4 |
//! | [`abit`] | authenticated bits among n parties | WRK17, Figures 14 and 15 |
//! | [`correlate`] | products of bits with payloads | Gilboa 1999; MASCOT (KOS16) |
//! | [`bucket`], [`partition`] | bucket sizes, and which item goes into which bucket | WRK17, section B.5, corrected; Figure 18 |
//! | [`hash`] | the tweakable circular correlation-robust hash | Guo, Katz, Wang, Yu 2020 |
//!
//! A session has one [`Setup`], which holds Delta_i (the party's secret MAC key), the trees towards each
//! peer, and the coins. Every authenticated bit of the session comes from it, in whatever thread and batch,
//! so that all of them are under the same Delta_i.
//!
//! Words of this crate's comments. "We", "our" mean the party that runs the code. The *maker* of a row is the
//! party that has the bit and its MAC M; the *holder* has the key K and Delta (both in [`softspoken`]). A
//! *tile* is 128 positions of rows, and a *pad* is a hash that masks a payload. "H" is the hash of [`hash`].
//! Ids in brackets name checks, which the tables in docs/garbling.md (section 9) and docs/ot.md explain; M0.x
//! are checks of every session, and Q17 is the wiping of secrets.
//!
//! ```
//! use divisi_core::{PublicParameters, local, step};
//! use divisi_ot::{SetupConfig, Setup};
//!
//! let config = SetupConfig::default();
//! local::run(3, &config.describe(PublicParameters::new("an example")), |mut session| {
//!     session.phase("setup");
//!     let mut setup = Setup::new(&mut session, config)?;
//!     session.phase("function-independent");
//!     // checked; the first call also proves everybody's Delta consistent
//!     let mut bits = setup.authenticated_bits(&mut session, 1000)?;
//!     // each position is used once
//!     let first = bits.take(100).unwrap();
//!     let peer = session.peers()[0];
//!     // x^i, M_j[x^i], K_i[x^j], Delta_i
//!     let (x, m, k) = (first.bits(), first.macs(peer), first.keys(peer));
//!     assert_eq!((x.len(), m.len(), k.len()), (2, 100, 100));
//!     assert_eq!(setup.delta().get() & 1, divisi_ot::lowest_bit(session.me()));
//!     let coin: [u8; 16] = setup.toss(&mut session, step!("coin"))?;
//!     # let _ = coin;
//!     Ok(())
//! })?;
//! # Ok::<(), divisi_core::Abort>(())
//! ```
//!
//! What it does not protect from. A party may stop. And a malicious party may guess bits of another's Delta:
//! a guess of one bit is right with probability 1/2, and a wrong guess ends the session (docs/garbling.md,
//! 2).
//!
//! With the feature `testing`, `testing::deal` makes a `Setup` without running this crate's protocols: its
//! methods then return bits that all parties derive from a common seed.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods))]

pub mod abit;
#[cfg(feature = "testing")]
pub mod adversary;
pub mod base;
pub mod bucket;
pub mod checks;
mod cipher;
pub mod correlate;
#[cfg(feature = "testing")]
mod dealer;
mod delta;
#[doc(hidden)]
pub mod guarded;
pub mod hash;
mod links;
mod pads;
pub mod partition;
pub mod purposes;
#[cfg(feature = "testing")]
pub mod record;
mod setup;
pub mod softspoken;
#[cfg(feature = "testing")]
pub mod testing;
pub mod vole;

pub use abit::produce::Bits;
pub use abit::shares::MacShares;
pub use abit::{AuthBits, AuthRows};
pub use delta::{Delta, lowest_bit};
pub use links::Links;
pub use pads::{Checked, Pads, SemiHonest, Trust};
pub use setup::{
    Base, FIELDS, PreprocessedRows, RowsReceived, SemiHonestPreprocessed, Setup, SetupConfig, WideBits,
    WideShares,
};
