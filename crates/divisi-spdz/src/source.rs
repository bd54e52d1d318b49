//! Preprocessing: authenticated random bits and products, each used once.

use crate::part::{Mac, Projects, Shareable};
use crate::party::Party;
use crate::share::{Auth, Tail};
use divisi_core::{Abort, PartyId};
use divisi_field::{Gf2, Gf6, Gf8};
use zeroize::Zeroizing;

/// In every lane a random s of `log` bits, and the unit vector of 2^log bits with its one at position s.
pub struct Units<F: Mac> {
    /// Bit k of s of all lanes, at the positions from k `lanes` on.
    pub(crate) s: Auth<Gf2, F>,
    /// Entry j of the vectors of all lanes, at the positions from j `lanes` on.
    pub(crate) vector: Auth<Gf2, F>,
    pub(crate) lanes: usize,
}

/// \[\[a\]\], \[\[b\]\], \[\[ab\]\] for a random bit a and a random element b of the field: for the products
/// of Demux.
pub(crate) struct BitTriples<F: Mac> {
    pub(crate) a: Auth<Gf2, F>,
    pub(crate) b: Auth<F, F>,
    pub(crate) c: Auth<F, F>,
}

/// \[\[a\]\], \[\[b\]\], \[\[ab\]\] of random elements of a subfield, with all shares in it. (If the shares
/// of the products come from all of the field, each party projects its own: a GF(2)-linear map changes
/// neither the sum nor its MAC.)
pub struct Triples<V: Shareable, F: Mac> {
    pub(crate) a: Auth<V, F>,
    pub(crate) b: Auth<V, F>,
    pub(crate) c: Auth<V, F>,
}

impl<V: Shareable, F: Mac> Default for Triples<V, F> {
    fn default() -> Self {
        Triples { a: Auth::default(), b: Auth::default(), c: Auth::default() }
    }
}

impl<V: Shareable, F: Mac> Triples<V, F> {
    /// The last `count` triples, in place; `None` if there are fewer.
    pub(crate) fn tail(&mut self, count: usize) -> Option<LastTriples<'_, V, F>> {
        let [a, b, c] = [&mut self.a, &mut self.b, &mut self.c].map(|part| part.tail(count));
        Some(LastTriples { a: a?, b: b?, c: c? })
    }
}

/// The last of many [`Triples`], which are gone after use.
pub(crate) struct LastTriples<'a, V: Shareable, F: Mac> {
    pub(crate) a: Tail<'a, V, F>,
    pub(crate) b: Tail<'a, V, F>,
    pub(crate) c: Tail<'a, V, F>,
}

/// Random bits of which one party knows the values.
pub struct KnownBits<F: Mac> {
    /// The values, at that party; `None` at the others.
    pub(crate) values: Option<Zeroizing<Vec<Gf2>>>,
    pub(crate) shares: Auth<Gf2, F>,
}

impl<F: Mac> KnownBits<F> {
    /// The last `count` of these bits, which are gone then; `None` if there are fewer.
    pub(crate) fn take(&mut self, count: usize) -> Option<KnownBits<F>> {
        let shares = self.shares.pop(count)?;
        let values = self.values.as_mut().map(|values| {
            let from = values.len().saturating_sub(count);
            let last = Zeroizing::new(values[from..].to_vec());
            values.truncate(from);
            last
        });
        Some(KnownBits { values, shares })
    }
}

/// A source of correlated randomness. All parties call it in the same order with the same counts. The values
/// that it returns were checked, or the openings for them are in the ledger of the party, so that the next
/// check covers them \[M0.7\].
pub trait Source<F: Mac>: Send {
    /// `count` random bits that nobody knows; the type of the shares ensures that they are bits \[K5\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn bits(&mut self, party: &mut Party<F>, count: usize) -> Result<Auth<Gf2, F>, Abort>;

    /// Random bits that `owner` alone knows.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn known(&mut self, party: &mut Party<F>, owner: PartyId, count: usize) -> Result<KnownBits<F>, Abort>;

    /// Random bits for each of these parties, which it alone knows; each party stands there once.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn known_each(
        &mut self,
        party: &mut Party<F>,
        counts: &[(PartyId, usize)],
    ) -> Result<Vec<KnownBits<F>>, Abort> {
        counts.iter().map(|(owner, count)| self.known(party, *owner, *count)).collect()
    }

    /// Whether a request makes values, in some rounds; a stock has what it has, and gives it without a round.
    fn makes(&self) -> bool {
        true
    }

    /// Announce unit vectors of 2^log entries, `lanes` in all: the source can then do one-time work once for
    /// all of them.
    fn foresee(&mut self, _log: usize, _lanes: usize) {}

    /// Random bits s_0, .., s_(log-1) and the unit vectors of 2^log entries with their one at position s, in
    /// `lanes` lanes. Values opened meanwhile are in the party's ledger: the vectors must not be used before
    /// its next check \[K17\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn units(&mut self, party: &mut Party<F>, log: usize, lanes: usize) -> Result<Units<F>, Abort>;

    /// Products of bytes \[K6\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn byte_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf8, F>, Abort>
    where
        F: Projects<Gf8>;

    /// Products in GF(2^6) \[K6\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn six_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf6, F>, Abort>
    where
        F: Projects<Gf6>;

    /// Products of bits \[K6\]. Values opened meanwhile are checked before the products are returned \[K17\].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn bit_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort>;
}

/// A source of products of bits and elements, by which [`Party::demux`] makes unit vectors.
pub(crate) trait Products<F: Mac>: Source<F> {
    /// Products of bits and elements \[K6\].
    fn element_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<BitTriples<F>, Abort>;
}
