//! HKDF (RFC 5869) over gates: keys from a secret, by HMAC with any [hash](crate::hash).

use crate::gates::{Adder, public_bytes};
use crate::hash::Hash;
use crate::mac::hmac::{PadStates, pad_states, tag};
use divisi_circuit::Gates;

/// HKDF-Extract (2.2): the pseudorandom key, in the form of the states that [`expand`] needs. The salt may be
/// empty.
pub fn extract<G: Gates>(
    g: &mut G,
    hash: Hash,
    adder: Adder,
    salt: &[[G::Bit; 8]],
    material: &[[G::Bit; 8]],
) -> PadStates<G::Bit> {
    // HMAC pads short keys with zeros, so an absent salt and a string of zeros are the same.
    let salted = pad_states(g, hash, adder, salt);
    let key = tag(g, hash, adder, &salted, material);
    pad_states(g, hash, adder, &key)
}

/// HKDF-Expand (2.3): the output, from the key's states and a context. `None` if it is longer than 255
/// digests.
pub fn expand<G: Gates>(
    g: &mut G,
    hash: Hash,
    adder: Adder,
    key: &PadStates<G::Bit>,
    info: &[[G::Bit; 8]],
    bytes: usize,
) -> Option<Vec<[G::Bit; 8]>> {
    let count = u8::try_from(bytes.div_ceil(hash.digest_bytes())).ok()?;
    let mut output = Vec::new();
    let mut last = Vec::new();
    for i in 1..=count {
        let message = [last.as_slice(), info, &public_bytes(g, &[i])].concat();
        last = tag(g, hash, adder, key, &message);
        output.extend_from_slice(&last);
    }
    output.truncate(bytes);
    Some(output)
}
