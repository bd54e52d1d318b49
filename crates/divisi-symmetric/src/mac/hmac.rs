//! HMAC (FIPS 198-1) over gates, with any [hash](crate::hash).

use crate::gates::{Adder, public_bytes};
use crate::hash::Hash;
use divisi_circuit::Gates;

/// The two states in which a key leaves the hash: all that tags need of it, made once and kept with it.
#[derive(Clone)]
pub struct PadStates<B> {
    /// After `K0 + ipad`.
    pub inner: Vec<[B; 8]>,
    /// After `K0 + opad`.
    pub outer: Vec<[B; 8]>,
}

/// A key -> its states: two steps of the hash side by side, and a digest before them if the key is longer
/// than a block.
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

/// The tag of a message under the key of these states, in full length.
///
/// # Panics
/// If the states are those of another hash, and differ in length.
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
