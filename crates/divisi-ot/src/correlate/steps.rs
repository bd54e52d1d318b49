//! The two steps of a correlation on one direction of a pair: the holder's message, and what its maker makes
//! of it.

use super::payload::Payload;
use super::wire::{Reader, Writer};
use super::{BATCH, Direction};
use crate::Kept;
use crate::pads::Part;
use std::ops::Range;

/// Step 1 for some rows towards one maker: appends the message and computes our share.
pub(super) fn holder_step<P: Payload>(
    direction: &mut Direction<'_>,
    part: &Part,
    key: u128,
    rows: Range<usize>,
    payload: &P,
    values: &[P::Word],
    out: &mut [P::Word],
    body: &mut Vec<u8>,
) {
    let (words, blocks) = (payload.words(), payload.blocks());
    let mut pads = [Kept::<u128>::zeros(BATCH * blocks), Kept::<u128>::zeros(BATCH * blocks)];
    let mut writer = Writer::new(body);
    for first in rows.clone().step_by(BATCH) {
        let rows = first..rows.end.min(first + BATCH);
        let [zero, one] = pads.each_mut().map(|pads| &mut pads[..rows.len() * blocks]);
        direction.hashes(&part.words[rows.clone()], 0, zero);
        direction.hashes(&part.words[rows.clone()], key, one);
        direction.unit += rows.len() as u64;
        let at = rows.start * words..rows.end * words;
        let (values, out) = (&values[at.clone()], &mut out[at]);
        let mut one_word = |w: usize, [zero, one]: [&[u128]; 2], y: &P::Word, out: &mut P::Word| {
            let (zero, one) = (payload.pad(zero, w), payload.pad(one, w));
            let d = payload.add(payload.sub(zero, one), *y);
            writer.push(payload.on_wire(d), payload.wire_bits(w));
            *out = payload.sub(*out, zero);
        };
        if (words, blocks) == (1, 1) {
            // the common case of one word and one block for each row, which random bits modulo 2 and modulo p
            // need
            for ((zero, one), (y, out)) in zero.iter().zip(one.iter()).zip(values.iter().zip(out)) {
                one_word(0, [zero, one].map(std::slice::from_ref), y, out);
            }
            continue;
        }
        let (values, out) = (values.chunks(words), out.chunks_mut(words));
        for ((zero, one), (values, out)) in zero.chunks(blocks).zip(one.chunks(blocks)).zip(values.zip(out)) {
            values.iter().zip(out).enumerate().for_each(|(w, (y, out))| one_word(w, [zero, one], y, out));
        }
    }
    writer.end();
}

/// Step 2 for some rows towards one holder: computes our share. Returns whether the message was well-formed.
pub(super) fn maker_step<P: Payload>(
    direction: &mut Direction<'_>,
    part: &Part,
    bits: &[u64],
    rows: Range<usize>,
    payload: &P,
    body: &[u8],
    out: &mut [P::Word],
) -> bool {
    let (words, blocks) = (payload.words(), payload.blocks());
    let mut pads = Kept::<u128>::zeros(BATCH * blocks);
    let mut reader = Reader::new(body);
    let mut right = true;
    for first in rows.clone().step_by(BATCH) {
        let rows = first..rows.end.min(first + BATCH);
        let pads = &mut pads[..rows.len() * blocks];
        direction.hashes(&part.words[rows.clone()], 0, pads);
        direction.unit += rows.len() as u64;
        let out = &mut out[rows.start * words..rows.end * words];
        let mut one_word = |w: usize, row: usize, pads: &[u128], out: &mut P::Word| {
            let d = payload.off_wire(reader.pull(payload.wire_bits(w)));
            right &= d.is_some();
            let product = payload.times(bits[row / 64] >> (row % 64), d.unwrap_or_default());
            *out = payload.add(*out, payload.add(payload.pad(pads, w), product));
        };
        if (words, blocks) == (1, 1) {
            for (row, (pad, out)) in rows.zip(pads.iter().zip(out)) {
                one_word(0, row, std::slice::from_ref(pad), out);
            }
            continue;
        }
        for (row, (pads, out)) in rows.zip(pads.chunks(blocks).zip(out.chunks_mut(words))) {
            out.iter_mut().enumerate().for_each(|(w, out)| one_word(w, row, pads, out));
        }
    }
    right && reader.ends()
}
