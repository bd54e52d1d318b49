//! Products of bits with payloads of one bit, packed. Boolean triples are made from them; the hashes are most
//! of the cost.
//!
//! Steps, rows, tweaks and messages are those of [`BitVectors`](super::BitVectors) of width 1. But there is
//! no word of 128 bits for each row.

use super::{AHEAD, BATCH, Direction, MESSAGE, PAYLOAD, Round};
use crate::hash::TweakableHash;
use crate::pads::{Pads, Trust};
use crate::setup::Setup;
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, Misuse, PartyId, Session};
use divisi_field::kernel::vectorize;
use std::ops::Range;

/// The class of payloads that need one block.
pub(super) const CLASS: u8 = 0;

/// The lowest bit of each of at most 64 words, the first one lowest.
fn lowest(words: &[u128]) -> u64 {
    vectorize(
        #[inline(always)]
        || words.iter().enumerate().fold(0, |bits, (i, word)| bits | ((*word as u64) & 1) << i),
    )
}

/// A word whose lowest `count` bits are one.
pub(super) fn below(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

impl Setup {
    /// [`Setup::correlate`] without a chooser, for payloads of one bit, packed like [`Pads::bits`]. Returns
    /// our shares of the products, packed.
    ///
    /// # Errors
    /// Those of [`Setup::correlate`]; also [`Abort::Misuse`] if bits after the last row are set.
    pub fn correlate_bits<S: Trust>(
        &mut self,
        session: &mut Session,
        pads: &mut Pads<S>,
        values: &[u64],
    ) -> Result<WipedVec<u64>, Abort> {
        self.admit(session, pads)?;
        let last = values.last().map_or(0, |last| last & !below(1 + (pads.len() + 63) % 64));
        if values.len() != pads.len().div_ceil(64) || last != 0 {
            return Err(session.misuse(PAYLOAD, Misuse::CountsDiffer));
        }
        let round = Round::taken(session, pads, None)?;
        session.observe(S::CHECK); // [K14] [G14]
        let made = wipe::stack(|| session.exchange(|session| self.products_of_bits(session, &round, values)));
        self.keep_if(&made);
        made
    }

    fn products_of_bits<S: Trust>(
        &self,
        session: &mut Session,
        round: &Round<S>,
        values: &[u64],
    ) -> Result<WipedVec<u64>, Abort> {
        let me = session.me();
        let hash = TweakableHash::new(session);
        let messages: Vec<Range<usize>> =
            (0..round.len).step_by(MESSAGE).map(|first| first..round.len.min(first + MESSAGE)).collect();
        let direction = |session: &Session, part: &crate::pads::Part, pair: [PartyId; 2]| {
            Direction::new::<S>(session, &hash, 1, CLASS, pair, part.first)
        };
        let mut sending: Vec<_> =
            round.others.iter().map(|(peer, part)| direction(session, part, [me, *peer])).collect();
        let mut receiving: Vec<_> =
            round.own.iter().map(|(peer, part)| direction(session, part, [*peer, me])).collect();
        // our own bits times our own payloads
        let mut out: WipedVec<u64> = values.iter().zip(round.bits.iter()).map(|(y, x)| x & y).collect();
        let mut body = Vec::new();
        for step in 0..messages.len() + AHEAD {
            if let Some(rows) = messages.get(step) {
                for ((peer, part), direction) in round.others.iter().zip(&mut sending) {
                    let key = self.key_of_pads(*peer);
                    body.clear();
                    let at = rows.start / 64..rows.end.div_ceil(64);
                    let (values, out) = (&values[at.clone()], &mut out[at]);
                    holder_step(direction, &part.words[rows.clone()], key, values, out, &mut body);
                    session.send(PAYLOAD, *peer, &body, rows.len() as u64)?;
                }
            }
            let Some(rows) = step.checked_sub(AHEAD).and_then(|step| messages.get(step)) else { continue };
            for ((peer, part), direction) in round.own.iter().zip(&mut receiving) {
                body.resize(rows.len().div_ceil(8), 0);
                session.recv(PAYLOAD, *peer, &mut body)?;
                let at = rows.start / 64..rows.end.div_ceil(64);
                mask(direction, &part.words[rows.clone()], &mut out[at.clone()]);
                let right = add_corrections(&round.bits[at.clone()], rows.len(), &body, &mut out[at]);
                session.well_formed(PAYLOAD, *peer, body.len(), right)?;
            }
        }
        Ok(out)
    }
}

/// Step 1 for rows from a multiple of 64 on: appends d = H(K) + H(K + Delta') + y to `body`, and adds H(K) to
/// our shares.
pub(super) fn holder_step(
    direction: &mut Direction<'_>,
    rows: &[u128],
    key: u128,
    values: &[u64],
    out: &mut [u64],
    body: &mut Vec<u8>,
) {
    let mut pads = [WipedVec::<u128>::zeros(BATCH), WipedVec::<u128>::zeros(BATCH)];
    let from = body.len();
    body.reserve(rows.len().div_ceil(8) + 8);
    let words = values.chunks(BATCH / 64).zip(out.chunks_mut(BATCH / 64));
    for (here, (values, out)) in rows.chunks(BATCH).zip(words) {
        let [zero, one] = pads.each_mut().map(|pads| &mut pads[..here.len()]);
        direction.hashes(here, 0, zero);
        direction.hashes(here, key, one);
        direction.unit += here.len() as u64;
        for ((zero, one), (y, out)) in zero.chunks(64).zip(one.chunks(64)).zip(values.iter().zip(out)) {
            let (zero, one) = (lowest(zero), lowest(one));
            *out ^= zero;
            body.extend_from_slice(&(zero ^ one ^ y).to_le_bytes());
        }
    }
    body.truncate(from + rows.len().div_ceil(8));
}

/// The first part of step 2, which needs no message: H(M).
pub(super) fn mask(direction: &mut Direction<'_>, rows: &[u128], out: &mut [u64]) {
    let mut pads = WipedVec::<u128>::zeros(BATCH);
    for (here, out) in rows.chunks(BATCH).zip(out.chunks_mut(BATCH / 64)) {
        let pads = &mut pads[..here.len()];
        direction.hashes(here, 0, pads);
        direction.unit += here.len() as u64;
        pads.chunks(64).zip(out).for_each(|(pads, out)| *out ^= lowest(pads));
    }
}

/// The rest of step 2 for `rows` rows: adds x d. Returns whether the bits after the last row are zero.
pub(super) fn add_corrections(bits: &[u64], rows: usize, body: &[u8], out: &mut [u64]) -> bool {
    let mut last = 0;
    for ((d, x), out) in body.chunks(8).zip(bits).zip(out) {
        let mut word = [0; 8];
        word[..d.len()].copy_from_slice(d);
        last = u64::from_le_bytes(word);
        *out ^= x & last;
    }
    // only the last word can have bits after the last row
    last & !below(1 + (rows + 63) % 64) == 0
}
