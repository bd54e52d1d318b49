//! What preprocessing brings: authenticated random bits and products, each used once.

use crate::part::{Mac, Part};
use crate::party::Party;
use crate::share::Auth;
use divisi_core::{Abort, Check, PartyId};
use divisi_field::{Field, Gf2, Gf8, Holds};
use zeroize::Zeroizing;

/// A random s of `log` bits, and the vector of its 2^log bits that has a one at s alone, in every lane.
pub struct Units<F: Mac> {
    /// Bit k of s in the lanes from k times their number on.
    pub(crate) s: Auth<Gf2, F>,
    /// Entry j of the vector in the lanes from j times their number on.
    pub(crate) vector: Auth<Gf2, F>,
    pub(crate) lanes: usize,
}

/// \[\[a\]\], \[\[b\]\], \[\[ab\]\], a a random bit and b a random element of the field: for the products of
/// Demux.
pub(crate) struct BitTriples<F: Mac> {
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

    /// Say that unit vectors of 2^log entries will be asked for, in so many lanes in all: what is made once
    /// for many costs less each.
    fn foresee(&mut self, _log: usize, _lanes: usize) {}

    /// Random bits s_0, .., s_(log-1) and the unit vectors of their 2^log entries, in so many lanes. What was
    /// opened on the way is in the party's ledger: nothing is to be made of them before its next check
    /// \[K17\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn units(&mut self, party: &mut Party<F>, log: usize, lanes: usize) -> Result<Units<F>, Abort>;

    /// Products of bits \[K6\]. Where a source has none of its own they are made of products of bytes: of random bits a and b,
    /// which lie in the subfield, Beaver's method gives shares of a b in GF(2^8), of which each party projects its own to
    /// GF(2), which changes neither the sum nor its MAC. What was opened on the way is checked before they are used
    /// \[K17\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn and_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort>
    where
        F: Holds<Gf8>,
    {
        let (a, b) = (self.bits(party, count)?, self.bits(party, count)?);
        party.session.observe_each(Check::K5, 2 * count as u64); // [K5]
        let triples = self.byte_triples(party, count)?;
        let wide = |bits: &Auth<Gf2, F>| {
            Auth::new(bits.x.iter().map(|x| Gf8(x.to_bits() as u8)).collect(), bits.m.clone())
        };
        let c = party.multiply(&wide(&a), &wide(&b), triples)?;
        party.check_opened()?; // [K17]
        let c = Auth::new(c.x.iter().map(|x| Gf2::new(x.0)).collect(), c.m.clone());
        Ok(Triples { a, b, c })
    }

    /// Products of bytes \[K6\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn byte_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf8, F>, Abort>
    where
        F: Holds<Gf8>;

    /// Products of bits \[K6\].
    ///
    /// # Errors
    /// Whatever ends the session.
    fn bit_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort>;
}

/// A source of products of bits and elements, by which [`Party::demux`] makes unit vectors.
pub(crate) trait Products<F: Mac>: Source<F> {
    /// Products of bits and elements \[K6\].
    fn element_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<BitTriples<F>, Abort>;
}
