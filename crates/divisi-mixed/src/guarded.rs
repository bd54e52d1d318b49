//! Computations on secrets outside of any session: divisi-measure tests whether their time, branches and
//! addresses depend on the secrets. This is not a protocol: the peer's message is a constant, and the result
//! is not used.

use crate::and;
use crate::bit::Dense;

/// A party's part of this many ANDs with one peer: both masked factors as bytes, those of a peer added, and
/// our share of the products. Returns whether the peer's message was well-formed.
pub fn and(bits: usize, [x, y, a, b, c]: [&[u64]; 5], theirs: &[u8], out: &mut [u64]) -> bool {
    let [x, y] = [x, y].map(|words| Dense::of(words.to_vec(), bits));
    let (mut d, mut e) = (and::masked(&x, a), and::masked(&y, b));
    let mut body = Vec::with_capacity(2 * theirs.len());
    d.to_bytes(&mut body);
    e.to_bytes(&mut body);
    std::hint::black_box(&body);
    let right = d.add_bytes(theirs) & e.add_bytes(theirs);
    let z = and::product([&d, &e], [a, b, c], true);
    out.iter_mut().zip(z.words()).for_each(|(out, z)| *out = *z);
    right
}
