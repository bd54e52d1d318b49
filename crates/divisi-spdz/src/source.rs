//! What preprocessing brings: authenticated random bits and products, each used once.

use crate::part::{Embeds, Mac, Part};
use crate::party::Party;
use crate::share::Auth;
use divisi_core::{Abort, PartyId};
use divisi_field::{Gf2, Gf8};
use zeroize::Zeroizing;

/// \[\[a\]\], \[\[b\]\], \[\[ab\]\], a a random bit and b a random element of the field: for the products of
/// Demux.
pub struct BitTriples<F: Mac> {
    pub(crate) a: Auth<Gf2, F>,
    pub(crate) b: Auth<F, F>,
    pub(crate) c: Auth<F, F>,
}

/// \[\[a\]\], \[\[b\]\], \[\[ab\]\] of random elements of a subfield: all shares lie in it. (Where the shares
/// of the products come from all of the field, each party projects its own: what is linear over GF(2) changes
/// neither the sum nor its MAC.)
pub struct Triples<V: Part, F: Mac> {
    pub(crate) a: Auth<V, F>,
    pub(crate) b: Auth<V, F>,
    pub(crate) c: Auth<V, F>,
}

/// Random bits of which one party knows the values.
pub struct Known<F: Mac> {
    /// At that party.
    pub(crate) values: Option<Zeroizing<Vec<Gf2>>>,
    pub(crate) shares: Auth<Gf2, F>,
}

/// Where correlated randomness comes from. All parties call in the same order with the same counts; what
/// comes out was checked, or its openings are in the ledger of the party, so that the next check covers it
/// \[M0.7\].
pub trait Source<F: Mac>: Send {
    /// Random bits that nobody knows: bits by the type of their shares \[K5\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn bits(&mut self, party: &mut Party<F>, count: usize) -> Result<Auth<Gf2, F>, Abort>;

    /// Random bits that `owner` alone knows.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn known(&mut self, party: &mut Party<F>, owner: PartyId, count: usize) -> Result<Known<F>, Abort>;

    /// Products of bits and elements \[K6\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn bit_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<BitTriples<F>, Abort>;

    /// Products of bytes \[K6\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn byte_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf8, F>, Abort>
    where
        F: Embeds<Gf8>;
}
