//! The two steps of a correlation on one direction of a pair: the holder's message, and what its maker makes
//! of it.
//!
//! Rows are hashed in batches. What follows is done piece by piece: pads, arithmetic and packing are loops of
//! their own over the words of a piece, which stays in the nearest cache. Such loops become vector code.

use super::payload::Payload;
use super::wire::{PayloadWord, Reader, Writer};
use super::{BATCH, Direction};
use crate::pads::Part;
use divisi_core::wipe::WipedVec;
use divisi_field::kernel::vectorize;
use std::ops::Range;

/// The largest number of words of a piece, unless a single row has more.
const PIECE: usize = 1024;

/// Memory for the steps of a call. Wiped when dropped.
pub(super) struct Scratch<W: PayloadWord> {
    /// Blocks of the hashes of a batch of rows.
    blocks: [WipedVec<u128>; 2],
    /// How many rows a piece has.
    rows: usize,
    /// Words of a piece: two lists of pads, and the words of messages.
    words: [WipedVec<W>; 3],
    /// A word of ones for each row of a batch whose bit is one, else zero.
    masks: WipedVec<u64>,
}

impl<W: PayloadWord> Scratch<W> {
    pub(super) fn new<P: Payload<Word = W>>(payload: &P) -> Scratch<W> {
        let (words, blocks) = (payload.words(), payload.blocks());
        let rows = (PIECE / words).clamp(1, BATCH);
        Scratch {
            blocks: std::array::from_fn(|_| WipedVec::zeros(BATCH * blocks)),
            rows,
            words: std::array::from_fn(|_| WipedVec::zeros(rows * words)),
            masks: WipedVec::zeros(BATCH),
        }
    }
}

/// The number of bits of every word in messages; `None` if words differ.
fn uniform<P: Payload>(payload: &P) -> Option<u32> {
    let bits = payload.wire_bits(0);
    (1..payload.words()).all(|word| payload.wire_bits(word) == bits).then_some(bits)
}

/// Step 1 for some rows towards one maker: appends the message and computes our share.
pub(super) fn holder_step<P: Payload>(
    direction: &mut Direction<'_>,
    part: &Part,
    key: u128,
    rows: Range<usize>,
    payload: &P,
    values: &[P::Word],
    out: &mut [P::Word],
    scratch: &mut Scratch<P::Word>,
    body: &mut Vec<u8>,
) {
    let (words, blocks, uniform) = (payload.words(), payload.blocks(), uniform(payload));
    let mut writer = Writer::new(body, rows.len() * payload.bits());
    let Scratch { blocks: hashes, rows: each, words: [zero, one, sent], .. } = scratch;
    for first in rows.clone().step_by(BATCH) {
        let batch = first..rows.end.min(first + BATCH);
        let hashes = hashes.each_mut().map(|hashes| &mut hashes[..batch.len() * blocks]);
        let [zeros, ones] = hashes;
        direction.hashes(&part.words[batch.clone()], 0, zeros);
        direction.hashes(&part.words[batch.clone()], key, ones);
        direction.unit += batch.len() as u64;
        let at = batch.start * words..batch.end * words;
        let pieces = zeros.chunks(*each * blocks).zip(ones.chunks(*each * blocks));
        let values = values[at.clone()].chunks(*each * words);
        let outs = out[at].chunks_mut(*each * words);
        for ((zeros, ones), (values, out)) in pieces.zip(values.zip(outs)) {
            let [zero, one, sent] = [&mut *zero, one, sent].map(|words| &mut words[..out.len()]);
            payload.pads(zeros, zero);
            payload.pads(ones, one);
            let all = sent.iter_mut().zip(out).zip(zero.iter().zip(one.iter()).zip(values));
            vectorize(
                #[inline(always)]
                || {
                    all.for_each(|((d, out), ((zero, one), y))| {
                        *d = payload.add(payload.sub(*zero, *one), *y);
                        *out = payload.sub(*out, *zero);
                    });
                },
            );
            match uniform {
                Some(bits) => writer.push_all(sent, bits),
                None => sent.chunks(words).for_each(|row| {
                    row.iter().enumerate().for_each(|(w, d)| writer.push(*d, payload.wire_bits(w)));
                }),
            }
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
    scratch: &mut Scratch<P::Word>,
) -> bool {
    let (words, blocks, uniform) = (payload.words(), payload.blocks(), uniform(payload));
    let mut reader = Reader::new(body);
    let mut excess = 0;
    let Scratch { blocks: [hashes, _], rows: each, words: [pads, _, sent], masks } = scratch;
    for first in rows.clone().step_by(BATCH) {
        let batch = first..rows.end.min(first + BATCH);
        let hashes = &mut hashes[..batch.len() * blocks];
        direction.hashes(&part.words[batch.clone()], 0, hashes);
        direction.unit += batch.len() as u64;
        let masks = &mut masks[..batch.len()];
        fill_masks(bits, batch.clone(), masks);
        let outs = out[batch.start * words..batch.end * words].chunks_mut(*each * words);
        for ((hashes, masks), out) in hashes.chunks(*each * blocks).zip(masks.chunks(*each)).zip(outs) {
            let [pads, sent] = [&mut *pads, sent].map(|words| &mut words[..out.len()]);
            payload.pads(hashes, pads);
            match uniform {
                Some(bits) => reader.pull_all(bits, sent),
                None => sent.chunks_mut(words).for_each(|row| {
                    row.iter_mut().enumerate().for_each(|(w, d)| *d = reader.pull(payload.wire_bits(w)));
                }),
            }
            let wrong = excess_of(payload, sent);
            if wrong != 0 {
                // the message is refused in the end; arithmetic is for valid words only
                sent.fill(P::Word::default());
            }
            excess |= wrong;
            add_products(payload, masks, pads, sent, out);
        }
    }
    excess == 0 && reader.ends()
}

/// A mask for each row of a range.
fn fill_masks(bits: &[u64], rows: Range<usize>, masks: &mut [u64]) {
    let rows = masks.iter_mut().zip(rows);
    rows.for_each(|(mask, row)| *mask = (bits[row / 64] >> (row % 64) & 1).wrapping_neg());
    // the compiler must not know that there are only two masks: it would make branches of them
    zeroize::optimization_barrier(masks);
}

/// Adds pads and the masked words to `out`.
fn add_products<P: Payload>(
    payload: &P,
    masks: &[u64],
    pads: &[P::Word],
    sent: &[P::Word],
    out: &mut [P::Word],
) {
    let words = payload.words();
    #[inline(always)]
    fn add<P: Payload>(payload: &P, mask: u64, pad: &P::Word, d: &P::Word, out: &mut P::Word) {
        *out = payload.add(*out, payload.add(*pad, d.and(mask)));
    }
    vectorize(
        #[inline(always)]
        || {
            if words == 1 {
                let all = masks.iter().zip(out).zip(pads.iter().zip(sent));
                return all.for_each(|((mask, out), (pad, d))| add(payload, *mask, pad, d, out));
            }
            let rows = pads.chunks(words).zip(sent.chunks(words)).zip(out.chunks_mut(words));
            for (mask, ((pads, sent), out)) in masks.iter().zip(rows) {
                let all = out.iter_mut().zip(pads.iter().zip(sent));
                all.for_each(|(out, (pad, d))| add(payload, *mask, pad, d, out));
            }
        },
    );
}

/// Zero exactly if all words of some rows are valid.
pub(super) fn excess_of<P: Payload>(payload: &P, values: &[P::Word]) -> u64 {
    let words = payload.words();
    vectorize(
        #[inline(always)]
        || {
            if words == 1 {
                return values.iter().fold(0, |all, value| all | payload.excess(*value, 0));
            }
            let rows = values.chunks(words);
            let row = |row: &[P::Word]| {
                row.iter().enumerate().fold(0, |all, (word, value)| all | payload.excess(*value, word))
            };
            rows.fold(0, |all, values| all | row(values))
        },
    )
}

/// Adds our own bits times our own payloads.
pub(super) fn add_own<P: Payload>(payload: &P, bits: &[u64], values: &[P::Word], out: &mut [P::Word]) {
    let words = payload.words();
    let mut masks = WipedVec::<u64>::zeros(BATCH);
    let batches = values.chunks(BATCH * words).zip(out.chunks_mut(BATCH * words));
    for (first, (values, out)) in (0..).step_by(BATCH).zip(batches) {
        let masks = &mut masks[..values.len() / words];
        fill_masks(bits, first..first + masks.len(), masks);
        let add = |mask: u64, y: &P::Word, out: &mut P::Word| *out = payload.add(*out, y.and(mask));
        vectorize(
            #[inline(always)]
            || {
                if words == 1 {
                    let all = masks.iter().zip(values.iter().zip(out));
                    return all.for_each(|(mask, (y, out))| add(*mask, y, out));
                }
                for (mask, (values, out)) in masks.iter().zip(values.chunks(words).zip(out.chunks_mut(words)))
                {
                    values.iter().zip(out).for_each(|(y, out)| add(*mask, y, out));
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correlate::{Long, payload::Payload};

    /// Rows of one word, of several, and of as many as one is in eight bits.
    #[test]
    fn own_payloads_are_added_to_rows_of_any_length() {
        for words in [1, 2, 256, 257] {
            let payload = Long { count: words };
            let rows = BATCH + 3;
            let value = |i: usize| (i * 7919 % 65_537) as u32;
            let values: Vec<u32> = (0..rows * words).map(value).collect();
            let bits: Vec<u64> = (0..rows.div_ceil(64) as u64).map(|i| i.wrapping_mul(DIGITS)).collect();
            let mut out = vec![5; values.len()];
            add_own(&payload, &bits, &values, &mut out);
            for (i, (value, out)) in values.iter().zip(out).enumerate() {
                let row = i / words;
                let added = bits[row / 64] >> (row % 64) & 1;
                assert_eq!(out, payload.add(5, value * added as u32), "{words} {i}");
            }
        }
    }

    const DIGITS: u64 = 0x9e37_79b9_7f4a_7c15;
}
