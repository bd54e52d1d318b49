//! Opening of authenticated shares: a message has the packed bits and one digest of all their MACs.
//!
//! Adversary: any number of malicious parties. A right digest proves that the sender sent its true shares:
//! another bit would need another MAC, which differs by the receiver's secret Delta. Honest parties that
//! accept have therefore the same values, and no echo is needed. The digest covers session, strand, step,
//! number of the opening, sender and receiver, so that no digest can be used for another message.

use crate::bits;
use crate::share::{Seats, Shares, spread};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Check, ComparedDigest, PartyId, Session, Step};

/// The length of a digest.
pub(crate) const DIGEST: usize = 32;

/// How many bytes are collected before they are hashed.
const CAPACITY: usize = 16 << 10;

/// One opening. Its digests contain how often this step was opened before.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    pub step: Step,
    count: u64,
    seats: Seats,
}

impl Opening {
    pub fn new(session: &mut Session, seats: Seats, step: Step) -> Opening {
        Opening { step, count: session.count(step.name), seats }
    }

    /// How many bytes the shares of `bits` bits take in a message; none if there are no bits.
    pub fn len(bits: usize) -> usize {
        if bits == 0 { 0 } else { bits::packed(bits) + DIGEST }
    }

    /// Appends our shares of all lists, for the peer at `place`.
    pub fn append(&self, session: &Session, place: usize, lists: &[&Shares], body: &mut Vec<u8>) {
        let all: Vec<u8> = lists.iter().flat_map(|list| list.bits.iter().copied()).collect();
        let macs = |tags: &mut Tags| {
            lists.iter().for_each(|list| list.macs[place].iter().for_each(|mac| tags.push(*mac)));
        };
        self.append_bits(session, place, &all, macs, body);
    }

    /// Appends these bits of ours for the peer at `place`; `macs` yields their MACs, in order.
    pub fn append_bits(
        &self,
        session: &Session,
        place: usize,
        ours: &[u8],
        macs: impl FnOnce(&mut Tags),
        body: &mut Vec<u8>,
    ) {
        if ours.is_empty() {
            return;
        }
        bits::pack(ours, body);
        let mut tags = self.tags(session, self.seats.me, self.seats.party(place));
        macs(&mut tags);
        body.extend_from_slice(&tags.digest());
    }

    /// Reads the message of the peer at `place`: its shares of all lists, one in each byte.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`], which names the peer, if a MAC is wrong: only the peer's own messages enter
    /// the digest.
    pub fn read(
        &self,
        session: &Session,
        check: Check,
        place: usize,
        lists: &[&Shares],
        delta: u128,
        body: &[u8],
    ) -> Result<Vec<u8>, Abort> {
        let len = lists.iter().map(|list| list.len()).sum();
        let expected = |bits: &[u8], tags: &mut Tags| {
            let keys = lists.iter().flat_map(|list| list.keys[place].iter());
            keys.zip(bits).for_each(|(key, bit)| tags.push(key ^ spread(*bit) & delta));
        };
        self.read_bits(session, check, place, len, expected, body)
    }

    /// The same for `len` bits. `expected` yields, for the bits that the peer sent, the MACs that belong to
    /// them.
    ///
    /// # Errors
    /// It fails as [`Opening::read`] does.
    pub fn read_bits(
        &self,
        session: &Session,
        check: Check,
        place: usize,
        len: usize,
        expected: impl FnOnce(&[u8], &mut Tags),
        body: &[u8],
    ) -> Result<Vec<u8>, Abort> {
        let party = self.seats.party(place);
        let culprit = PartyId::all(self.seats.n).nth(party);
        if len == 0 {
            return Ok(Vec::new());
        }
        let (packed, digest) = body.split_at(body.len().saturating_sub(DIGEST));
        let bits = bits::unpack(packed, len);
        if let Some(peer) = culprit {
            session.well_formed(self.step, peer, packed.len(), bits.is_some())?;
        }
        let bits = bits.unwrap_or_else(|| vec![0; len]);
        let mut tags = self.tags(session, party, self.seats.me);
        expected(&bits, &mut tags);
        let mut theirs = [0; DIGEST];
        theirs.copy_from_slice(digest);
        let same = session.same_digest(&tags.digest(), &theirs);
        session.require(check, self.step, same, culprit)?;
        Ok(bits)
    }

    fn tags(&self, session: &Session, from: usize, to: usize) -> Tags {
        let mut context = session.id().as_bytes().to_vec();
        context.extend_from_slice(&session.number().to_le_bytes());
        context.extend_from_slice(&self.step.id.to_le_bytes());
        context.extend_from_slice(&self.count.to_le_bytes());
        context.extend_from_slice(&[from as u8, to as u8]);
        // padded to whole words; the length is the same for all openings
        context.resize(context.len().next_multiple_of(16), 0);
        let hasher = blake3::Hasher::new_derive_key("divisi 2026 garble opening v2");
        let mut tags = Tags { hasher, buffer: WipedVec::zeros(CAPACITY), used: 0 };
        context.as_chunks::<16>().0.iter().for_each(|word| tags.push(u128::from_le_bytes(*word)));
        tags
    }
}

/// Feeds MACs to a digest in whole chunks, of which the hash processes many at once.
pub(crate) struct Tags {
    hasher: blake3::Hasher,
    buffer: WipedVec<u8>,
    used: usize,
}

impl Tags {
    /// Adds the next MAC.
    #[inline]
    pub fn push(&mut self, word: u128) {
        if let Some(place) = self.buffer[self.used..].first_chunk_mut::<16>() {
            *place = word.to_le_bytes();
        }
        self.used += 16;
        if self.used == CAPACITY {
            self.hasher.update(&self.buffer);
            self.used = 0;
        }
    }

    fn digest(mut self) -> [u8; DIGEST] {
        self.hasher.update(&self.buffer[..self.used]);
        self.hasher.to_compare()
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use divisi_core::testing::run;
    use divisi_core::{PublicParameters, step};
    use std::collections::HashSet;

    /// The digest of these MACs, as it is sent to the peer at `place`.
    fn digest(session: &Session, opening: Opening, place: usize, macs: &[u128]) -> Vec<u8> {
        let mut body = Vec::new();
        opening.append_bits(
            session,
            place,
            &[1],
            |tags| macs.iter().for_each(|mac| tags.push(*mac)),
            &mut body,
        );
        body.split_off(body.len() - DIGEST)
    }

    /// The digest of lists of shares depends on each MAC of each of them, wherever it stands, and the packed
    /// bits on each bit.
    #[test]
    fn all_of_all_lists_is_opened() {
        let ends = run(3, &PublicParameters::new("opening tests"), |mut session| {
            let seats = Seats { me: session.me().index(), n: 3 };
            let opening = Opening::new(&mut session, seats, step!("one"));
            let mut lists = [70, 1, 130].map(|len| Shares::zero(2, len));
            let body = |lists: &[Shares; 3]| {
                let mut body = Vec::new();
                opening.append(&session, 1, &lists.each_ref(), &mut body);
                body
            };
            let mut seen = HashSet::from([body(&lists)]);
            for (list, len) in [70, 1, 130].into_iter().enumerate() {
                for at in 0..len {
                    lists[list].macs[1][at] ^= 1 << 100;
                    assert!(seen.insert(body(&lists)), "MAC {at} of list {list}");
                    lists[list].macs[1][at] ^= 1 << 100;
                    lists[list].bits[at] ^= 1;
                    assert!(seen.insert(body(&lists)), "bit {at} of list {list}");
                    lists[list].bits[at] ^= 1;
                }
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }

    /// The digest depends on every bit of every MAC and on the MACs' order; on session, strand, step, number,
    /// sender and receiver.
    #[test]
    fn digests_are_over_all_macs_and_their_place() {
        let mut seen = HashSet::new();
        for _ in 0..2 {
            let ends = run(3, &PublicParameters::new("opening tests"), |mut session| {
                let mut strand = session.strand()?;
                let seats = Seats { me: session.me().index(), n: 3 };
                let mut made = Vec::new();
                for session in [&mut session, &mut strand] {
                    for step in [step!("one"), step!("two")] {
                        for _ in 0..2 {
                            let opening = Opening::new(session, seats, step);
                            made.extend([0, 1].map(|place| digest(session, opening, place, &[5; 3])));
                        }
                    }
                }
                // more MACs than one chunk of the hash
                let opening = Opening::new(&mut session, seats, step!("three"));
                let macs: Vec<u128> = (0..2500).collect();
                made.push(digest(&session, opening, 0, &macs));
                // a chunk ends some MACs before a multiple of 1,024, because the place comes first
                let ends = (1000..1024).chain(2020..2050);
                for at in [0, 1, 511, 1024, 1025, 2498, 2499].into_iter().chain(ends) {
                    for bit in [0, 31, 64, 127] {
                        let mut other = macs.clone();
                        other[at] ^= 1 << bit;
                        made.push(digest(&session, opening, 0, &other));
                    }
                }
                // many chunks
                let mut long: Vec<u128> = (0..20_000).collect();
                for at in [4093, 4096, 8192, 16_383, 16_384, 19_999] {
                    long[at] ^= 1;
                    made.push(digest(&session, opening, 0, &long));
                    long[at] ^= 1;
                }
                for bit in 0..128 {
                    made.push(digest(&session, opening, 0, &[1 << bit]));
                }
                made.push(digest(&session, opening, 0, &macs[1..]));
                Ok(made)
            });
            for made in ends.into_iter().flat_map(|made| made.unwrap()) {
                assert!(seen.insert(made));
            }
        }
    }
}
