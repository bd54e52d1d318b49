//! Products of all parties' signs along a binary tree of parties (docs/bgv.md, 5).
//!
//! Adversary: semi-honest, all but one. The first join of each party is a product by its own signs and a
//! fresh encryption of zero \[G1\]; all others are products of ciphertexts that all may know. Cost: each
//! party but the first sends one ciphertext; ceil(log2 n) rounds at most.

use crate::circle::{Order, Product};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler, encode, wire};
use divisi_core::{Abort, Session, Step, step};

const JOIN: Step = step!("join");

/// A fresh encryption of one's own signs, at the top.
pub(crate) fn begin(keys: &Keys, sampler: &mut Sampler, signs: &[u64]) -> Ciphertext {
    let ring = keys.ring();
    let top = ring.parameters().top();
    let plain = encode::encode(ring, signs, ring.parameters().limbs(top));
    keys.encrypt(sampler, top, Some(&plain))
}

/// The product of all parties' signs at the first of the order, as many levels below the top as the tree is
/// high. At height h each position that 2^(h+1) divides joins what 2^h positions
/// further on has; the first join is by the receiver's own signs and a fresh encryption of zero, the others
/// are public. Where nobody stands a ciphertext only goes down a level.
pub(crate) fn along(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    order: &Order,
    signs: &[u64],
) -> Result<Product, Abort> {
    let (ring, me, parties) = (keys.ring(), order.me, order.parties.len());
    let top = ring.parameters().top();
    let heights = heights(parties);
    let factors = factors(ring, parties);
    let factor_at = |height: usize, position: usize| {
        factors.get(height).and_then(|f| f.get(position >> height)).copied().unwrap_or(1)
    };
    let mut own = None;
    for height in 0..heights {
        let (distance, level) = (1 << height, top - height);
        if me & (2 * distance - 1) == distance {
            // the end of our way: to whom we belong
            let x = match own.take() {
                Some(x) => x,
                None => begin(keys, sampler, signs),
            };
            let to = order.at(session, me - distance)?;
            wire::send(session, ring, JOIN, to, &x.components())?;
            return Ok((order.at(session, 0)?, None, factor_at(heights, 0)));
        }
        let partner = me + distance;
        let joined = if partner < parties {
            let from = order.at(session, partner)?;
            let factor = factor_at(height, partner);
            let theirs = Ciphertext::receive(session, ring, JOIN, from, level, factor)?; // [G10]
            match own.take() {
                None => keys.hop(session, sampler, theirs, signs)?, // [G1]
                Some(ours) => ours.times(keys, session, JOIN, &theirs)?.switch(ring, level - 1),
            }
        } else {
            let alone = match own.take() {
                Some(x) => x,
                None => begin(keys, sampler, signs),
            };
            alone.switch(ring, level - 1)
        };
        own = Some(joined);
    }
    Ok((order.at(session, 0)?, own, factor_at(heights, 0)))
}

/// How high a tree of so many is.
fn heights(parties: usize) -> usize {
    parties.next_power_of_two().trailing_zeros() as usize
}

/// The factors of the ciphertexts of each height, which follow from who joins whom.
fn factors(ring: &Ring, parties: usize) -> Vec<Vec<u64>> {
    let top = ring.parameters().top();
    let mut all = vec![vec![1; parties]];
    for height in 0..heights(parties) {
        let below = all.last().cloned().unwrap_or_default();
        let join = |pair: &[u64]| {
            let product = match pair {
                // the first join is with a plaintext
                [x, _] if height == 0 => *x,
                [x, y] => ring.plain().mul(*x, *y),
                _ => pair.first().copied().unwrap_or(1),
            };
            Ciphertext::factor_after(ring, product, top - height, top - height - 1)
        };
        all.push(below.chunks(2).map(join).collect());
    }
    all
}
