//! Products of bits with payloads of one bit each, all of them packed: what Boolean triples are made of, at
//! about the cost of the hashes.
//!
//! The same steps, rows, tweaks and messages as those of [`BitVectors`](super::BitVectors) of width 1, without
//! a word of 128 bits for each row.

use super::{AHEAD, BATCH, Direction, MESSAGE, PAYLOAD, Round};
use crate::Kept;
use crate::hash::Hash;
use crate::pads::{Pads, Part, Trust};
use crate::setup::Setup;
use crate::wipe;
use divisi_core::{Abort, PartyId, Session};
use std::ops::Range;

/// The class of payloads of one block.
const CLASS: u8 = 0;

/// The lowest bits of some words, the first one lowest.
#[inline]
fn lowest(words: &[u128]) -> u64 {
    words.iter().enumerate().fold(0, |bits, (i, word)| bits | ((*word as u64) & 1) << i)
}

/// The lowest `count` bits.
fn below(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

impl Setup {
    /// [`Setup::correlate`] with everybody's bits and payloads of one bit a row, packed as [`Pads::bits`]: our
    /// shares of the products, packed.
    ///
    /// # Errors
    /// As [`Setup::correlate`]; [`Abort::Misuse`] for bits behind the last row.
    pub fn correlate_bits<S: Trust>(
        &mut self,
        session: &mut Session,
        pads: &mut Pads<S>,
        values: &[u64],
    ) -> Result<Kept<u64>, Abort> {
        self.admit(session, pads)?;
        let last = values.last().map_or(0, |last| last & !below(1 + (pads.len() + 63) % 64));
        if values.len() != pads.len().div_ceil(64) || last != 0 {
            return Err(session.misuse(PAYLOAD, "other words than payloads"));
        }
        let mut round = Round::taken(session, pads, None)?;
        session.observe(S::CHECK); // [K14] [G14]
        let made =
            wipe::stack(|| session.exchange(|session| self.products_of_bits(session, &mut round, values)));
        self.keep_if(&made);
        made
    }

    fn products_of_bits<S: Trust>(
        &self,
        session: &mut Session,
        round: &mut Round<'_, S>,
        values: &[u64],
    ) -> Result<Kept<u64>, Abort> {
        let me = session.me();
        let hash = Hash::new(session);
        let messages: Vec<Range<usize>> =
            (0..round.len).step_by(MESSAGE).map(|first| first..round.len.min(first + MESSAGE)).collect();
        let direction = |session: &Session, part: &Part, pair: [PartyId; 2]| {
            Direction::new::<S>(session, &hash, 1, CLASS, pair, part.first)
        };
        let mut told: Vec<_> =
            round.others.iter().map(|(peer, part)| direction(session, part, [me, *peer])).collect();
        let mut heard: Vec<_> =
            round.own.iter().map(|(peer, part)| direction(session, part, [*peer, me])).collect();
        // our own bits times our own payloads
        let mut out: Kept<u64> = values.iter().zip(round.bits).map(|(y, x)| x & y).collect();
        let mut body = Vec::new();
        for step in 0..messages.len() + AHEAD {
            if let Some(rows) = messages.get(step) {
                for ((peer, part), direction) in round.others.iter().zip(&mut told) {
                    let key = self.key_of_pads(session, *peer);
                    body.clear();
                    tell(direction, part, key, rows.clone(), values, &mut out, &mut body);
                    session.send(PAYLOAD, *peer, &body, rows.len() as u64)?;
                }
            }
            let Some(rows) = step.checked_sub(AHEAD).and_then(|step| messages.get(step)) else { continue };
            for ((peer, part), direction) in round.own.iter().zip(&mut heard) {
                body.resize(rows.len().div_ceil(8), 0);
                session.recv(PAYLOAD, *peer, &mut body)?;
                let right = hear(direction, part, round.bits, rows.clone(), &body, &mut out);
                session.well_formed(PAYLOAD, *peer, body.len(), right)?;
            }
        }
        Ok(out)
    }
}

/// Step 1: d = H(K) + H(K + Delta') + y, and H(K) for us.
fn tell(
    direction: &mut Direction<'_>,
    part: &Part,
    key: u128,
    rows: Range<usize>,
    values: &[u64],
    out: &mut [u64],
    body: &mut Vec<u8>,
) {
    let mut pads = [Kept::<u128>::zeros(BATCH), Kept::<u128>::zeros(BATCH)];
    body.reserve(rows.len().div_ceil(8) + 8);
    for first in rows.clone().step_by(BATCH) {
        let here = first..rows.end.min(first + BATCH);
        let [zero, one] = pads.each_mut().map(|pads| &mut pads[..here.len()]);
        direction.hashes(&part.words[here.clone()], 0, zero);
        direction.hashes(&part.words[here.clone()], key, one);
        direction.unit += here.len() as u64;
        let words = values[first / 64..].iter().zip(&mut out[first / 64..]);
        for ((zero, one), (y, out)) in zero.chunks(64).zip(one.chunks(64)).zip(words) {
            let (zero, one) = (lowest(zero), lowest(one));
            *out ^= zero;
            body.extend_from_slice(&(zero ^ one ^ y).to_le_bytes());
        }
    }
    body.truncate(rows.len().div_ceil(8));
}

/// Step 2: H(M) + x d; whether there was nothing behind the last row.
fn hear(
    direction: &mut Direction<'_>,
    part: &Part,
    bits: &[u64],
    rows: Range<usize>,
    body: &[u8],
    out: &mut [u64],
) -> bool {
    let mut pads = Kept::<u128>::zeros(BATCH);
    let mut over = 0;
    for first in rows.clone().step_by(BATCH) {
        let here = first..rows.end.min(first + BATCH);
        let pads = &mut pads[..here.len()];
        direction.hashes(&part.words[here.clone()], 0, pads);
        direction.unit += here.len() as u64;
        let words = bits[first / 64..].iter().zip(&mut out[first / 64..]);
        let bytes = body[(first - rows.start) / 8..].chunks(8);
        for ((pads, d), (x, out)) in pads.chunks(64).zip(bytes).zip(words) {
            let mut word = [0; 8];
            word[..d.len()].copy_from_slice(d);
            let d = u64::from_le_bytes(word);
            over |= d & !below(pads.len());
            *out ^= lowest(pads) ^ x & d;
        }
    }
    over == 0
}
