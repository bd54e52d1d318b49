//! Products of random bits with payloads of one bit, made without keeping rows. Boolean triples are made from
//! them, in memory that hardly grows with their number.
//!
//! Steps, rows, tweaks and numbers are those of [`Setup::semi_honest_rows`] followed by
//! [`Setup::correlate_bits`], but chunk by chunk. The maker computes H(M) without waiting for messages. The
//! holder sends its message for a chunk as soon as it has corrected the chunk's rows. So a row is hashed
//! while it is in the cache, and then overwritten. No row can serve two payloads, because no copy of it
//! exists \[G14\].

use super::bits::{CLASS, add_corrections, below, holder_step, mask};
use super::{Direction, PAYLOAD};
use crate::abit::produce::{Bits, packed};
use crate::checks;
use crate::hash::TweakableHash;
use crate::links::Links;
use crate::pads::SemiHonest;
use crate::setup::{Setup, Source};
use crate::softspoken::{CHUNK, Sums, TILE};
use crate::vole::{CORRECT, Ends, read, write};
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, Misuse, PartyId, Session};
use std::ops::Range;
use zeroize::Zeroizing;

/// How many chunks, for all peers together, are sent before the first ones are awaited. There are enough that
/// the delay of a slow connection is paid once, and few enough that the data on its way fits into memory.
const AHEAD: usize = 64;

impl Setup {
    /// Draws random bits, and returns them with our shares of the products: the sum of all parties' bits
    /// times the sum of all parties' `values`, one bit for each row, packed like [`crate::Pads::bits`]. All
    /// parties call it with the same count and in the same order. Semi-honest.
    ///
    /// Two rounds. To each peer ceil(128 / k) bits for each row, and one bit for its payload. The memory is a
    /// few bits for each row, and a chunk of rows.
    ///
    /// # Errors
    /// The abort that ends the session, which erases all secrets; [`Abort::Misuse`] if bits after the last
    /// row are set, if there are no rows, or if this set-up's rows are checked.
    pub fn random_products(
        &mut self,
        session: &mut Session,
        count: usize,
        values: &[u64],
    ) -> Result<[WipedVec<u64>; 2], Abort> {
        self.enter(session, Bits::Random(count), false)?;
        self.admit_in_order(session)?;
        let last = values.last().map_or(0, |last| last & !below(1 + (count + 63) % 64));
        if values.len() != count.div_ceil(64) || last != 0 {
            return Err(session.misuse(PAYLOAD, Misuse::CountsDiffer));
        }
        // after an error the source stays erased
        match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                let made = wipe::stack(|| {
                    session.exchange(|session| self.chunks(session, &mut ends, count, values))
                });
                match made {
                    Ok(_) => self.source = Source::Trees(ends, proven),
                    Err(_) => self.deltas.erase(),
                }
                made
            }
            source => {
                // a dealer has no trees, and so nothing to put back
                self.source = source;
                let mut pads = self.semi_honest_rows(session, Bits::Random(count), Links::All)?;
                let bits = WipedVec::from(pads.bits());
                Ok([bits, self.correlate_bits(session, &mut pads, values)?])
            }
        }
    }

    fn chunks(
        &self,
        session: &mut Session,
        ends: &mut Ends,
        count: usize,
        values: &[u64],
    ) -> Result<[WipedVec<u64>; 2], Abort> {
        session.observe(checks::G14); // [G14]
        let (me, peers, hash) = (session.me(), session.peers(), TweakableHash::new(session));
        let tiles = count.div_ceil(TILE);
        let x = Zeroizing::new(Bits::Random(count).tiles(session, tiles));
        let mut bits: WipedVec<u64> = WipedVec::from(packed(&x).as_slice());
        bits.cut(count.div_ceil(64));
        if let Some(word) = bits.last_mut() {
            *word &= below(1 + (count + 63) % 64);
        }
        // our own bits times our own payloads
        let mut out: WipedVec<u64> = values.iter().zip(bits.iter()).map(|(y, x)| x & y).collect();
        let chunks: Vec<Range<usize>> =
            (0..tiles).step_by(CHUNK).map(|first| first..tiles.min(first + CHUNK)).collect();
        let direction = |session: &Session, holder: PartyId, maker: PartyId| {
            Direction::new::<SemiHonest>(session, &hash, 1, CLASS, [holder, maker], 0)
        };
        let mut sending: Vec<_> = peers.iter().map(|peer| direction(session, me, *peer)).collect();
        let mut receiving: Vec<_> = peers.iter().map(|peer| direction(session, *peer, me)).collect();
        let trees = self.layout.trees(&self.layout.groups(crate::softspoken::layout::Width::Pads)).len();
        let ahead = (AHEAD / peers.len().max(1)).clamp(4, AHEAD);
        let (mut sums, mut rows) = (Sums::new(), WipedVec::<u128>::zeros(CHUNK.min(tiles) * TILE));
        let (mut corrections, mut body) = (Vec::with_capacity(CHUNK * trees), Vec::new());
        // how many rows a chunk has, and which words of the packed bits they are
        let of = |tiles: &Range<usize>| {
            let (first, end) = (tiles.start * TILE, count.min(tiles.end * TILE));
            (end - first, first / 64..end.div_ceil(64))
        };
        for step in 0..chunks.len() + 2 * ahead {
            if let Some(chunk) = chunks.get(step) {
                let (count, at) = of(chunk);
                let rows = &mut rows[..chunk.len() * TILE];
                for (peer, direction) in peers.iter().zip(&mut receiving) {
                    let x = &x[chunk.clone()];
                    let first = ends.make_pads(peer.index(), &mut sums, x, rows, &mut corrections);
                    direction.unit = first.ok_or_else(|| session.misuse(PAYLOAD, Misuse::NotMade))?;
                    write(&corrections, &mut body);
                    session.send(CORRECT, *peer, &body, 128 * corrections.len() as u64)?;
                    mask(direction, &rows[..count], &mut out[at.clone()]);
                }
            }
            if let Some(chunk) = step.checked_sub(ahead).and_then(|step| chunks.get(step)) {
                let (count, at) = of(chunk);
                let rows = &mut rows[..chunk.len() * TILE];
                for (peer, direction) in peers.iter().zip(&mut sending) {
                    body.resize(16 * chunk.len() * trees, 0);
                    session.recv(CORRECT, *peer, &mut body)?;
                    corrections.clear();
                    read(&body, &mut corrections);
                    let key = self.deltas.towards(*peer);
                    let first = ends.hold_pads(peer.index(), &mut sums, &key, &corrections, rows);
                    direction.unit = first.ok_or_else(|| session.misuse(PAYLOAD, Misuse::NotMade))?;
                    body.clear();
                    let pads = self.key_of_pads(*peer);
                    let (values, out) = (&values[at.clone()], &mut out[at.clone()]);
                    holder_step(direction, &rows[..count], pads, values, out, &mut body);
                    session.next_round(|session| session.send(PAYLOAD, *peer, &body, count as u64))?;
                }
            }
            let Some(chunk) = step.checked_sub(2 * ahead).and_then(|step| chunks.get(step)) else { continue };
            let (count, at) = of(chunk);
            for peer in &peers {
                body.resize(count.div_ceil(8), 0);
                session.recv(PAYLOAD, *peer, &mut body)?;
                let right = add_corrections(&bits[at.clone()], count, &body, &mut out[at.clone()]);
                session.well_formed(PAYLOAD, *peer, body.len(), right)?;
            }
        }
        Ok([bits, out])
    }
}
