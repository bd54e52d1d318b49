//! HMAC (FIPS 198-1) over gates, with any [hash](crate::hash).

use crate::gates::{Adder, public_bytes};
use crate::hash::Hash;
use divisi_circuit::Gates;

/// The two states of the hash after a key's pads. Tags depend on the key only through them, so they are made
/// once.
#[derive(Clone)]
pub struct PadStates<B> {
    /// The state after `K0 + ipad`.
    pub inner: Vec<[B; 8]>,
    /// The state after `K0 + opad`.
    pub outer: Vec<[B; 8]>,
}

/// The states of a key: two steps of the hash at once, and a digest before them if the key is longer than a
/// block.
pub fn pad_states<G: Gates>(g: &mut G, hash: Hash, adder: Adder, key: &[[G::Bit; 8]]) -> PadStates<G::Bit> {
    let block = hash.block_bytes();
    let mut k0 = if key.len() > block { hash.digest(g, adder, key) } else { key.to_vec() };
    k0.extend(public_bytes(g, &vec![0; block - k0.len()]));
    let initial = public_bytes(g, &hash.initial());
    let mut state = |pad: u8| {
        let mut padded = public_bytes(g, &vec![pad; block]);
        for (padded, key) in padded.as_flattened_mut().iter_mut().zip(k0.as_flattened()) {
            *padded = g.xor(*padded, *key);
        }
        hash.step(g, adder, &initial, &padded)
    };
    PadStates { inner: state(0x36), outer: state(0x5c) }
}

/// The full tag of a message, from the states of its key.
///
/// # Panics
/// If the states do not have the length of this hash's states.
pub fn tag<G: Gates>(
    g: &mut G,
    hash: Hash,
    adder: Adder,
    states: &PadStates<G::Bit>,
    message: &[[G::Bit; 8]],
) -> Vec<[G::Bit; 8]> {
    let block = hash.block_bytes() as u64;
    let digest = hash.resume(g, adder, &states.inner, block, message);
    hash.resume(g, adder, &states.outer, block, &digest)
}
