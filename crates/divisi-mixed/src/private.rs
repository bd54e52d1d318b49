//! The ciphertext of private tables: GYKW, Figure 7, steps 2 and 3 for case 2.
//!
//! Adversary: semi-honest, all parties but one; [`crate::prep_lut`] says why it is private, and what it
//! costs.

use crate::circle::{self, Order, Product};
use crate::tree;
use divisi_bgv::parameters::Form;
use divisi_bgv::{Ciphertext, Keys, Sampler, encode};
use divisi_core::{Abort, PartyId, Session, Step, step};

const MASK: Step = step!("mask");
const GATHER: Step = step!("gather");

/// Step 2: the ciphertext of shared values, at the first party of the order.
pub(crate) fn encrypt(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    order: &Order,
    share: &[u64],
) -> Result<Option<Ciphertext>, Abort> {
    let first = order.at(session, 0)?;
    if keys.ring().parameters().form() == Form::Paper {
        gather(session, keys, sampler, first, share)
    } else {
        keys.a2e(session, sampler, first, share) // [G13]
    }
}

/// Step 3: the ciphertext times the signs of all parties. It passes around the ring, or meets the product of
/// signs that comes along a tree.
pub(crate) fn permute(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    order: &Order,
    x: Option<Ciphertext>,
    signs: &[u64],
) -> Result<Product, Abort> {
    if keys.ring().parameters().form() == Form::LeanTree {
        times_tree(session, keys, sampler, order, x, signs)
    } else {
        circle::permute(session, keys, sampler, order, x, signs)
    }
}

/// The ciphertext of the shares as in Figure 7: the sum of one encryption under the public key by each party,
/// along a tree. If all came to the first party at once, it would have those of all others in memory.
fn gather(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    first: PartyId,
    share: &[u64],
) -> Result<Option<Ciphertext>, Abort> {
    let (ring, top) = (keys.ring(), keys.ring().parameters().top());
    // a party waits for those below it in the tree, which wait for others
    session.set_patience(session.parties());
    let plain = encode::coefficients(ring, share);
    let x = keys.encrypt(sampler, top, Some(&plain));
    drop(plain);
    x.add_up(session, ring, GATHER, first) // [G10]
}

/// At the first party: the ciphertext of the shares, times the product of all signs.
fn times_tree(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    order: &Order,
    shared: Option<Ciphertext>,
    signs: &[u64],
) -> Result<Product, Abort> {
    let ring = keys.ring();
    let (holder, product, factor) = tree::permute(session, keys, sampler, order, signs)?;
    // both factors must be at the same level: the one above the bottom, which the product of signs has
    let of_shares = Ciphertext::factor_after(ring, 1, ring.parameters().top(), 1);
    let factor = Ciphertext::factor_after(ring, ring.plain().mul(factor, of_shares), 1, 0);
    let masked = match (product, shared) {
        (Some(product), Some(shared)) => {
            Some(product.times(keys, session, MASK, &shared.switch(ring, 1))?.switch(ring, 0))
        }
        _ => None,
    };
    Ok((holder, masked, factor))
}
