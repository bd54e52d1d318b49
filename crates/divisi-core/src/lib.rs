//! The common base of all protocol families of Divisi: sessions among parties, their keys, phases, meter and
//! checks; values that owe a verification ([`Pending`]) and values that passed it ([`Verified`]); and the
//! traits against which ciphers are written.
//!
//! The crate contains no protocol that computes on shares. It gives engines four guarantees:
//!
//! - a [`Session`] starts only after all parties agreed on every public parameter, has an identifier with
//!   fresh randomness of each of them, and pairwise keys that no other session has (M0.4, M0.5);
//! - every check whose failure is an [`Abort::CheckFailed`] goes through one place, [`Session::require`],
//!   which counts it by its id;
//! - an [`Abort`] poisons the session: afterwards it sends only the frame that tells the peers of the abort;
//! - only [`settle`] makes a [`Verified`] value, by discharging the [`Debt`] that the value carries.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods))]

mod abort;
mod broadcast;
mod check;
pub mod checks;
mod coin;
mod commit;
mod compared;
#[cfg(feature = "testing")]
pub mod draws;
mod expand;
#[cfg(test)]
mod fuzz;
mod leave;
pub mod local;
mod meter;
mod misuse;
mod pending;
mod plain;
mod prg;
mod purpose;
pub mod purposes;
mod security;
mod session;
mod stock;
mod stream;
pub mod taint;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod traits;
pub mod wipe;

/// Whether this is a build for tests (feature `testing`), in which a value can be declared verified: never
/// use it with real secrets.
pub const TEST_BUILD: bool = cfg!(feature = "testing");

pub use abort::{Abort, AbortOrRefusal, Refusal};
pub use broadcast::{Echo, Echoed};
pub use check::Check;
pub use coin::{Announced, Coins, Opened, UnconfirmedCoins};
pub use commit::{Commitment, Nonce};
pub use compared::{ComparedDigest, Difference, same_bytes};
pub use divisi_net::{PartyId, Step, step};
pub use expand::{ExpandedDigest, Expands};
pub use leave::{Compares, ComparesBytes, Opens, Settles};
pub use meter::{Counts, Meter, PhaseCounts};
pub use misuse::Misuse;
pub use pending::{Debt, Pending, Verified, settle};
pub use plain::{NoDebt, Plain, PlainBit, PlainBlock, PlainByte};
pub use prg::Prg;
pub use purpose::{Distribution, DrawPurpose, KnownTo};
pub use security::Security;
pub use session::{AtEnd, Bound, PhasePlace, PublicParameters, Session, SessionId, Settled};
pub use stock::Stock;
pub use traits::{
    Blocks, Boolean, Bytes, Convert, Direction, Lanes, Lookup, LookupOnto, Lookups, Matrix, ProgramRun,
    Table, look_up_in_parts,
};
