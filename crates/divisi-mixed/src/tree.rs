//! Products of all parties' signs along a binary tree of parties (docs/bgv.md, 5).
//!
//! Adversary: semi-honest, all parties but one. In its first join a party multiplies by its own signs and
//! adds a fresh encryption of zero \[G1\]. All other joins multiply ciphertexts that every party may know.
//! Cost: each party but the first sends one ciphertext; at most ceil(log2 n) rounds.

use crate::circle::{Order, Product};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler, encode, wire};
use divisi_core::{Abort, Session, Step, step};

const JOIN: Step = step!("join");

/// A fresh encryption of our own signs, at the top.
pub(crate) fn encrypt(keys: &Keys, sampler: &mut Sampler, signs: &[u64]) -> Ciphertext {
    let ring = keys.ring();
    keys.encrypt(sampler, ring.parameters().top(), Some(&encode::coefficients(ring, signs)))
}

/// In place of step 3 of GYKW's Figures 6 and 7: multiplies all parties' signs; the first party of the order
/// gets the product. Its level is below the top by the height of the tree. At height h each position that is
/// a multiple of 2^(h+1) receives a ciphertext from the position 2^h further on and joins it with its own. In
/// its first join it multiplies by its own signs and adds a fresh encryption of zero; later joins multiply
/// ciphertexts. A party for which there is no such position only switches its ciphertext one level down.
pub(crate) fn permute(
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
            // we send our ciphertext to the party that joins it, and are done
            let x = match own.take() {
                Some(x) => x,
                None => encrypt(keys, sampler, signs),
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
                None => encrypt(keys, sampler, signs),
            };
            alone.switch(ring, level - 1)
        };
        own = Some(joined);
    }
    Ok((order.at(session, 0)?, own, factor_at(heights, 0)))
}

/// The height of a tree of this number of parties.
fn heights(parties: usize) -> usize {
    parties.next_power_of_two().trailing_zeros() as usize
}

/// The factors of the ciphertexts at each height. They depend only on which positions are joined.
fn factors(ring: &Ring, parties: usize) -> Vec<Vec<u64>> {
    let top = ring.parameters().top();
    let mut all = vec![vec![1; parties]];
    for height in 0..heights(parties) {
        let below = all.last().cloned().unwrap_or_default();
        let join = |pair: &[u64]| {
            let product = match pair {
                // the first join multiplies by a plaintext
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
