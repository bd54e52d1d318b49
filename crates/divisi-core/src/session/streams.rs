//! What a session derives from its keys: pseudo-random streams and keys of a pair, each for one purpose, and
//! numbers that never repeat.

use super::Session;
use crate::Prg;
use divisi_net::PartyId;
use std::sync::PoisonError;
use zeroize::Zeroizing;

impl Session {
    /// A pseudo-random stream that this party shares with `peer` alone, for one purpose in this strand
    /// \[A3\]. A repeated request for one purpose gives another stream, so that no value is drawn twice
    /// \[M0.5\]: both parties must make equally many requests.
    #[must_use]
    pub fn prg(&mut self, peer: PartyId, purpose: &'static str) -> Prg {
        let asked = self.asked.entry((peer, purpose)).or_default();
        let generation = *asked;
        *asked += 1;
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 strand stream v1");
        hasher.update(self.shared.pair_keys.get(peer.index()).map_or(&[][..], |k| k.as_slice()));
        hasher.update(&self.strand.to_le_bytes()).update(&generation.to_le_bytes());
        hasher.update(purpose.as_bytes());
        let mut key = Zeroizing::new([0; 16]);
        hasher.finalize_xof().fill(key.as_mut_slice());
        zeroize::Zeroize::zeroize(&mut hasher);
        #[cfg(feature = "testing")]
        if let Some(draws) = &self.shared.draws {
            return Prg::recorded(&key, draws.begin(self.strand, peer, purpose, generation, *key));
        }
        Prg::new(&key)
    }

    /// The draws from all streams of this session so far, in all strands: none unless the parameters asked
    /// for a record ([`crate::PublicParameters::recording`]).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn draws(&self) -> Vec<crate::draws::DrawnStream> {
        self.shared.draws.as_ref().map_or_else(Vec::new, crate::draws::Draws::read)
    }

    /// How many times this was called for a purpose in this strand, this call included: a number that never
    /// repeats, to derive fresh values from a [`Session::key`] \[M0.5\].
    pub fn count(&mut self, purpose: &'static str) -> u64 {
        let count = self.asked.entry((self.me(), purpose)).or_default();
        *count += 1;
        *count
    }

    /// Whether this is the first call for `what` in the session, in any strand: for one-time events of a
    /// session.
    #[must_use]
    pub fn first(&self, what: &'static str) -> bool {
        self.shared.happened.lock().unwrap_or_else(PoisonError::into_inner).insert(what)
    }

    /// A key that this party shares with `peer` alone, for one purpose in this strand: for digests that a
    /// third party must not be able to make.
    #[must_use]
    pub fn key(&self, peer: PartyId, purpose: &'static str) -> Zeroizing<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 strand key v1");
        hasher.update(self.shared.pair_keys.get(peer.index()).map_or(&[][..], |k| k.as_slice()));
        hasher.update(&self.strand.to_le_bytes());
        hasher.update(purpose.as_bytes());
        let key = Zeroizing::new(*hasher.finalize().as_bytes());
        zeroize::Zeroize::zeroize(&mut hasher);
        key
    }
}
