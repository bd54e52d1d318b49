//! AES and triple DES among any number of parties, all but one of which may be malicious. An S-box of AES
//! takes one opened byte, by masked lookup tables over SPDZ's MACs (KOR+17: Keller, Orsini, Rotaru, Scholl,
//! Soria-Vazquez, Vivek, *Faster Secure Multi-Party Computation of AES and DES Using Lookup Tables*, ACNS
//! 2017).
//!
//! Setting: n parties; one adversary, static and rushing, controls up to n - 1 of them. Security with abort,
//! statistical: a lie passes a check of MACs over F with probability at most n/|F|, 2^-47 to 2^-43 over the
//! default GF(2^48). There is no fairness: when one honest party learns its output, others may abort. There
//! is no protection if every party is corrupt. docs/spdz.md has the arguments.
//!
//! Preprocessing (authenticated bits and products) comes from a [`Source`]: [`Bucketed`] by default, or
//! [`Mascot`], the paper's. (The dealer of the tests, feature `testing`, protects nothing.)
//!
//! | module | what | paper |
//! |---|---|---|
//! | `part`, `share` | of which elements shares may consist; \[\[x\]\] | section 2.1 |
//! | `party`, `check` | openings, and the check of their MACs | Fig. 1; SPDZ (Damgård et al. 2013) |
//! | `input` | inputs of a party, outputs to one | Fig. 1 |
//! | `client` | inputs of clients, outputs to them | docs/spdz.md, section 10 |
//! | `source`, `exact`, `multiply` | preprocessing, the check of its number of lanes, products | section 2.1 |
//! | `prep` | preprocessing from oblivious transfer | docs/spdz.md; MASCOT (KOS16) |
//! | `stock` | preprocessing from disk | docs/spdz.md, section 11 |
//! | `demux`, `table` | unit vectors and masked tables | Protocols 2 and 3 |
//! | `engine` | AES-LT, AES-RP, AES-BD, AES-TinyTable; 3DES-LT, 3DES-PV, 3DES-Raw, 3DES-TinyTable | Protocol 1, sections 3.3 and 4.1, appendix |
//! | `engine` | lookups of values in any public table | Fig. 3 |
//! | `protocol`, `ciphers` | the protocols by name; both ciphers on the engine, their runs over masks, tags | sections 3 and 4 |
//! | `circuit` | circuits with inputs of any party and outputs to chosen ones | docs/spdz.md, section 10 |
//! | `engine` | Boolean programs; zero tests; openings | docs/spdz.md, section 10 |
//!
//! ```
//! use divisi_core::{Bytes, Direction, PublicParameters, PartyId, local, settle};
//! use divisi_field::Gf48;
//! use divisi_ot::SetupConfig;
//! use divisi_spdz::{Bucketed, Preparation, SpdzProtocol, Spdz};
//!
//! // the first party's byte goes through the S-box of AES, and the second party alone learns the result
//! let config = SetupConfig::default();
//! let parameters = Preparation::Bucketed.describe::<Gf48>(config, PublicParameters::new("example"));
//! let ends = local::run(3, &parameters, |session| {
//!     let (first, second) = (PartyId::P1, PartyId::P2);
//!     let mine = session.me() == first;
//!     let (party, source) = Bucketed::<Gf48>::start(session, config)?;
//!     let mut engine = Spdz::new(party, Box::new(source), SpdzProtocol::Lookup)?;
//!     let mut x = engine.input(first, mine.then_some(&[0x53]), 1)?;
//!     engine.sbox(Direction::Encrypt, &mut [&mut x])?;
//!     let pending = engine.close(x);
//!     let verified = settle(&mut engine, pending)?; // all that was opened is checked
//!     Ok(engine.output_to(second, verified)?.map(|bytes| bytes.to_vec()))
//! })?;
//! assert_eq!(ends, [None, Some(vec![0xed]), None]);
//! # Ok::<(), divisi_core::Abort>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods))]

pub mod adapter;
mod check;
pub mod checks;
mod ciphers;
mod circuit;
mod client;
mod compiled;
#[cfg(feature = "testing")]
pub mod dealer;
mod demux;
mod engine;
mod exact;
mod input;
#[cfg(feature = "testing")]
pub mod lab;
mod multiply;
mod pages;
mod part;
mod party;
mod prep;
mod protocol;
pub mod purposes;
mod share;
mod source;
pub mod stock;
mod table;
#[cfg(feature = "testing")]
pub mod toy;

pub use check::VERIFICATION_PHASE;
pub use client::{ClientFault, ClientMask, ForClient, Receipt};
#[doc(hidden)]
pub use compiled::compiled;
pub use engine::{
    AuthBit, AuthByte, AuthValue, LOAD_PHASE, Openings, PREPROCESSING_PHASE, PublicTable, Spdz, SpdzProtocol,
    Tiny, TinyBit, TinyBits, TinyByte,
};
pub use input::{BitMask, InputMask};
pub use part::{Embeds, Host, Mac, Projects, Shareable, Small, Word32};
pub use party::Party;
pub use prep::{Bucketed, Mascot, Preparation};
pub use share::Auth;
pub use source::Units;
pub use source::{KnownBits, Source, Triples};
