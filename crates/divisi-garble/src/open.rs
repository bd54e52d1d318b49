//! Openings of authenticated shares: the bits packed, and one digest over all their MACs.
//!
//! Adversary: any number of malicious parties. A digest that is right binds its sender to its shares: another bit would need another
//! MAC, which differs by the receiver's Delta. What every honest party checked is thus the same at all of them, without an echo.
//! The digest's context names session, strand, step, opening, sender and receiver, so that none can be sent back or again.

use crate::bits;
use crate::share::{Seats, Shares, spread};
use divisi_core::{Abort, Check, PartyId, Session, Step};

/// The length of a digest.
pub(crate) const DIGEST: usize = 32;

/// Words that are hashed at once.
const CHUNK: usize = 1024;

/// One opening: how often this step was opened before is in its digests.
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

    /// How many bytes the shares of so many bits take: of none, none.
    pub fn len(bits: usize) -> usize {
        if bits == 0 { 0 } else { bits::packed(bits) + DIGEST }
    }

    /// Append our shares of all lists, for the peer at a place.
    pub fn tell(&self, session: &Session, place: usize, lists: &[&Shares], body: &mut Vec<u8>) {
        let all: Vec<u8> = lists.iter().flat_map(|list| list.bits.iter().copied()).collect();
        if all.is_empty() {
            return;
        }
        bits::pack(&all, body);
        let mut tags = self.tags(session, self.seats.me, self.seats.party(place));
        for list in lists {
            absorb(&mut tags, list.macs[place].iter().copied());
        }
        body.extend_from_slice(tags.finalize().as_bytes());
    }

    /// What the peer at a place told: its shares of all lists, one to a byte.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] that names the peer if a MAC is wrong: nobody else sent anything that the digest depends on.
    pub fn hear(
        &self,
        session: &Session,
        check: Check,
        place: usize,
        lists: &[&Shares],
        delta: u128,
        body: &[u8],
    ) -> Result<Vec<u8>, Abort> {
        let party = self.seats.party(place);
        let culprit = PartyId::all(self.seats.n).nth(party);
        let len = lists.iter().map(|list| list.len()).sum();
        if len == 0 {
            return Ok(Vec::new());
        }
        let (packed, digest) = body.split_at(body.len().saturating_sub(DIGEST));
        let told = bits::unpack(packed, len);
        session.require(check, self.step, told.is_some(), culprit)?;
        let told = told.unwrap_or_else(|| vec![0; len]);
        let mut tags = self.tags(session, party, self.seats.me);
        let mut at = 0;
        for list in lists {
            let told = &told[at..at + list.len()];
            absorb(&mut tags, list.keys[place].iter().zip(told).map(|(key, bit)| key ^ spread(*bit) & delta));
            at += list.len();
        }
        let mut theirs = [0; DIGEST];
        theirs.copy_from_slice(digest);
        let same = session.same_digest(tags.finalize().as_bytes(), &theirs);
        session.require(check, self.step, same, culprit)?;
        Ok(told)
    }

    /// Open to everybody: the sums of all parties' shares. One round.
    pub fn to_all(
        self,
        session: &mut Session,
        check: Check,
        lists: &[&Shares],
        delta: u128,
    ) -> Result<Vec<u8>, Abort> {
        let len: usize = lists.iter().map(|list| list.len()).sum();
        for (place, peer) in session.peers().into_iter().enumerate() {
            let mut body = Vec::with_capacity(Self::len(len));
            self.tell(session, place, lists, &mut body);
            session.send(self.step, peer, &body, len as u64)?;
        }
        let mut sum: Vec<u8> = lists.iter().flat_map(|list| list.bits.iter().copied()).collect();
        let mut body = vec![0; Self::len(len)];
        for (place, peer) in session.peers().into_iter().enumerate() {
            session.recv(self.step, peer, &mut body)?;
            let told = self.hear(session, check, place, lists, delta, &body)?;
            sum.iter_mut().zip(told).for_each(|(sum, bit)| *sum ^= bit);
        }
        Ok(sum)
    }

    fn tags(&self, session: &Session, from: usize, to: usize) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 garble opening v1");
        hasher.update(session.id().as_bytes()).update(&session.number().to_le_bytes());
        hasher.update(&self.step.id.to_le_bytes()).update(&self.count.to_le_bytes());
        hasher.update(&[from as u8, to as u8]);
        hasher
    }
}

fn absorb(hasher: &mut blake3::Hasher, words: impl Iterator<Item = u128>) {
    // whole chunks of the hash, from its beginning: it works on many at once
    let bytes = 16 * CHUNK;
    let mut room = bytes - (hasher.count() % bytes as u64) as usize;
    let mut buffer = Vec::with_capacity(bytes + 16);
    for word in words {
        buffer.extend_from_slice(&word.to_le_bytes());
        if buffer.len() >= room {
            hasher.update(&buffer[..room]);
            buffer.drain(..room);
            room = bytes;
        }
    }
    hasher.update(&buffer);
}
