//! What a session derives from its keys: pseudo-random streams and keys of a pair, each for one purpose, and
//! numbers that never repeat; and what it notes for tests.

use super::Session;
use crate::DrawPurpose;
use crate::Prg;
use divisi_net::PartyId;
#[cfg(feature = "testing")]
use std::panic::Location;
use std::sync::PoisonError;
use zeroize::Zeroizing;

impl Session {
    /// A pseudo-random stream that this party shares with `peer` alone, for one purpose in this strand
    /// \[A3\]. A repeated request for one purpose gives another stream, so that no value is drawn twice
    /// \[M0.5\]: both parties must make equally many requests.
    #[cfg_attr(feature = "testing", track_caller)]
    #[must_use]
    pub fn prg(&mut self, peer: PartyId, purpose: &'static DrawPurpose) -> Prg {
        let asked = self.asked.entry((peer, purpose.name())).or_default();
        let generation = *asked;
        *asked += 1;
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 strand stream v1");
        hasher.update(self.shared.pair_keys.get(peer.index()).map_or(&[][..], |k| k.as_slice()));
        hasher.update(&self.strand.to_le_bytes()).update(&generation.to_le_bytes());
        hasher.update(purpose.name().as_bytes());
        let mut key = Zeroizing::new([0; 16]);
        #[expect(clippy::disallowed_methods, reason = "the key belongs to the purpose of its stream")]
        hasher.finalize_xof().fill(key.as_mut_slice());
        zeroize::Zeroize::zeroize(&mut hasher);
        #[cfg(feature = "testing")]
        if let Some(draws) = self.drawing() {
            let caller = Location::caller();
            let (key, record) = draws.pair(self.strand, peer, purpose, generation, *key, caller);
            return Prg::recorded(&key, record);
        }
        Prg::seeded(&key)
    }

    /// The draws from all streams of pairs in this session so far, in all strands: none unless the parameters
    /// asked for a record ([`crate::PublicParameters::recording`]).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn draws(&self) -> Vec<crate::draws::DrawnStream> {
        self.shared.draws.as_ref().map_or_else(Vec::new, |draws| draws.read().pairs)
    }

    /// A coin is opened now.
    #[cfg(feature = "testing")]
    pub(crate) fn note_coin(&self, step: divisi_net::Step) {
        self.shared.meter.coin(step, self.depth);
    }

    /// Reads the meter, also when the session has ended.
    #[cfg(feature = "testing")]
    pub(crate) fn counter(&self) -> impl Fn() -> crate::meter::Metered + use<> {
        let shared = std::sync::Arc::clone(&self.shared);
        move || shared.meter.all()
    }

    /// A check by a random combination covers so many bits, or values: tests compare it with what there was.
    /// In what ships this does nothing, and `bits` is not called.
    #[inline(always)]
    pub fn covers(&self, check: crate::Check, bits: impl FnOnce() -> usize) {
        #[cfg(feature = "testing")]
        self.shared.meter.covered(check, bits() as u64);
        #[cfg(not(feature = "testing"))]
        let _ = (check, bits);
    }

    /// Write something to a disk: tests note how many checks were executed before.
    #[inline(always)]
    pub fn stored<T>(&self, step: divisi_net::Step, write: impl FnOnce() -> T) -> T {
        #[cfg(feature = "testing")]
        self.shared.meter.stores(step);
        #[cfg(not(feature = "testing"))]
        let _ = step;
        write()
    }

    /// The record of all draws of this party in this session: none unless the parameters asked for it.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn draw_record(&self) -> Option<crate::draws::DrawRecord> {
        self.shared.draws.clone()
    }

    /// The record of draws, to which what this thread draws belongs from now on.
    #[cfg(feature = "testing")]
    #[inline]
    pub(super) fn drawing(&self) -> Option<&crate::draws::DrawRecord> {
        crate::draws::enter(self.shared.draws.as_ref(), self.strand);
        self.shared.draws.as_ref()
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
    #[cfg_attr(feature = "testing", track_caller)]
    #[must_use]
    pub fn key(&self, peer: PartyId, purpose: &'static DrawPurpose) -> Zeroizing<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 strand key v1");
        hasher.update(self.shared.pair_keys.get(peer.index()).map_or(&[][..], |k| k.as_slice()));
        hasher.update(&self.strand.to_le_bytes());
        hasher.update(purpose.name().as_bytes());
        #[cfg_attr(not(feature = "testing"), expect(unused_mut, reason = "a test may change it"))]
        let mut key = Zeroizing::new(*hasher.finalize().as_bytes());
        zeroize::Zeroize::zeroize(&mut hasher);
        #[cfg(feature = "testing")]
        if let Some(draws) = self.drawing() {
            draws.pair_key(purpose, self.strand, Location::caller(), &mut key);
        }
        key
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{failed_check, run};
    use crate::{Echo, PublicParameters, checks};
    use std::sync::Arc;

    static TEST: DrawPurpose = DrawPurpose::of_test("all bytes of a key");

    /// Each of many requests for one purpose gives another stream, and another number.
    #[test]
    fn no_stream_comes_twice_however_many_there_are() {
        let ends = run(2, &PublicParameters::new("streams"), |mut session| {
            let peer = session.peers()[0];
            let mut seen = std::collections::HashSet::new();
            for number in 0..66_000 {
                let mut stream = [0; 16];
                session.prg(peer, &TEST).fill(&mut stream);
                assert!(seen.insert(stream), "{number}");
                assert_eq!(session.count("numbers"), number + 1);
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }

    /// Streams and keys of one purpose are others in each of many strands, however high their numbers are.
    #[test]
    fn nothing_is_shared_by_strands() {
        let ends = run(2, &PublicParameters::new("strands"), |session| {
            let peer = session.peers()[0];
            let mut seen = std::collections::BTreeSet::new();
            for number in (1..260).chain([16, 24, 31].map(|bit| (1 << bit) + 1)) {
                session.shared.next_strand.store(number, std::sync::atomic::Ordering::Relaxed);
                let mut strand = session.strand()?;
                let mut stream = [0; 32];
                strand.prg(peer, &TEST).fill(&mut stream);
                assert!(seen.insert(stream) && seen.insert(*strand.key(peer, &TEST)), "{number}");
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }

    /// What two parties share depends on each byte of their key.
    #[test]
    fn streams_and_keys_depend_on_the_whole_key_of_a_pair() {
        let ends = run(2, &PublicParameters::new("keys"), |mut session| {
            let peer = session.peers()[0];
            let mut seen = std::collections::BTreeSet::new();
            for byte in 0..32 {
                let shared = Arc::get_mut(&mut session.shared).unwrap();
                shared.pair_keys[peer.index()][byte] ^= 0x80;
                session.asked.clear();
                let mut stream = [0; 32];
                session.prg(peer, &TEST).fill(&mut stream);
                assert!(seen.insert(stream) && seen.insert(*session.key(peer, &TEST)), "{byte}");
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }

    /// Digests and commitments of one strand serve no other, however high its number is.
    #[test]
    fn all_bits_of_a_strands_number_are_hashed() {
        const STEP: divisi_net::Step = divisi_net::step!("told");
        for bit in [8, 16, 24, 31] {
            let ends = run(3, &PublicParameters::new("strands"), |session| {
                let mut echoes = std::collections::BTreeSet::new();
                let mut strands = Vec::new();
                for number in [1, 1 + (1 << bit)] {
                    session.shared.next_strand.store(number, std::sync::atomic::Ordering::Relaxed);
                    let mut strand = session.strand()?;
                    let mut echo = Echo::new(&mut strand, STEP);
                    echo.absorb(strand.me(), &[]);
                    let _ = echo.send(&mut strand)?;
                    let mut theirs = [0; 32];
                    strand.recv(STEP, strand.peers()[0], &mut theirs)?;
                    assert!(echoes.insert(theirs), "{bit}");
                    strands.push(strand);
                }
                let (commitment, nonce) = strands[0].commit(STEP, 1, &[]);
                strands[1].opened(checks::M0_2, STEP, 1, session.me(), &commitment, nonce.as_bytes(), &[])
            });
            assert!(ends.iter().any(|end| failed_check(end) == Some(checks::M0_2)), "{bit}: {ends:?}");
        }
    }
}
