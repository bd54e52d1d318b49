//! The local part of ANDs of packed bits: Beaver's products. No branch and no index depends on a share.

use crate::bit::{Dense, last};

/// x + a, modulo 2.
pub(crate) fn masked(x: &Dense, a: &[u64]) -> Dense {
    let words = x.words().iter().zip(a).map(|(x, a)| x ^ a).collect();
    cut(words, x.len())
}

/// Our share c + d b + e a of the products, for opened d and e and a triple; the first party adds d e.
pub(crate) fn product([d, e]: [&Dense; 2], [a, b, c]: [&[u64]; 3], first: bool) -> Dense {
    let first = u64::from(first).wrapping_neg();
    let opened = d.words().iter().zip(e.words());
    let ours = a.iter().zip(b).zip(c);
    let z = opened.zip(ours).map(|((d, e), ((a, b), c))| c ^ d & b ^ e & a ^ d & e & first);
    cut(z.collect(), d.len())
}

/// The first `bits` bits of these words; the bits after them become zero.
fn cut(mut words: Vec<u64>, bits: usize) -> Dense {
    if let Some(word) = words.last_mut() {
        *word &= last(bits);
    }
    Dense::of(words, bits)
}
