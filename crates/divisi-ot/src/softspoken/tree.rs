//! All-but-one trees: the maker knows 2^k leaves, the holder all but the one at its piece of Delta.
//!
//! Source: SoftSpokenOT, Figures 13 and 14: the tree of Goldreich, Goldwasser and Micali with one base OT for
//! each level, and the consistency check. A maker that deviates must guess one bit of Delta for each
//! deviation, or is caught \[O2\].
//!
//! The level that decides bit b of Delta uses base OT b. At each level the holder needs the sum of those
//! children that lie on the other side than its path, so its choice is the complement of its bit of Delta.
//! The base OT's choice was random; the holder sends one bit that corrects it. The holder keeps all nodes in
//! the order of y + alpha, so that no index depends on Delta.
//!
//! If bit 0 of Delta is public ([`crate::lowest_bit`]), the maker sends in the clear the one sum that belongs
//! to the public bit, and does not send the other sum. So a holder cannot have another bit there \[W1\].
//!
//! Message, one way: two blocks for each base OT, 32 bytes for each tree, and 32 bytes.

use super::layout::{Key, Layout, Piece, bit as bit_of};
use crate::cipher::Permutation;
use crate::delta::mask;
use crate::purposes;
use aes::Aes128Enc;
use aes::cipher::KeyInit;
use divisi_core::{ComparedDigest, Expands, PartyId, Session, same_bytes};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use divisi_field::counter::Counter;
use std::mem::ManuallyDrop;
use zeroize::{Zeroize, Zeroizing};

/// The most memory, in bytes, that a party spends on leaves whose cipher keys are kept expanded. If it needed
/// more (many peers, with few rows each), it keeps only the seeds and expands the keys each time.
const READY: usize = 16 << 20;

/// Whether leaves are kept with expanded keys, among this number of parties.
pub(crate) fn kept_ready(parties: usize, layout: Layout) -> bool {
    let leaves: usize = (0..layout.pieces()).map(|c| 1 << layout.piece(c).bits).sum();
    2 * parties * leaves * size_of::<Aes128Enc>() <= READY
}

/// The leaves of one tree.
pub(crate) enum Leaves {
    /// With expanded keys, for the vector kernel and for the crate `aes`.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Vector(Vec<Counter>),
    Blocks(Vec<Aes128Enc>),
    /// Only their seeds.
    Seeds(Zeroizing<Vec<u128>>),
}

/// A leaf with an expanded key: AES-128 in counter mode, in one of two implementations of the same stream.
pub(crate) enum Leaf<'a> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Vector(&'a Counter),
    Blocks(&'a Aes128Enc),
}

impl Leaves {
    pub(crate) fn new(seeds: &[u128], ready: bool) -> Leaves {
        if !ready {
            return Leaves::Seeds(Zeroizing::new(seeds.to_vec()));
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(leaves) = seeds.iter().map(counter).collect() {
            return Leaves::Vector(leaves);
        }
        Leaves::Blocks(seeds.iter().map(cipher).collect())
    }

    /// Calls `f` on all leaves in order.
    pub(crate) fn each(&self, mut f: impl FnMut(usize, Leaf<'_>)) {
        match self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Leaves::Vector(leaves) => {
                leaves.iter().enumerate().for_each(|(y, leaf)| f(y, Leaf::Vector(leaf)))
            }
            Leaves::Blocks(ciphers) => {
                ciphers.iter().enumerate().for_each(|(y, leaf)| f(y, Leaf::Blocks(leaf)))
            }
            Leaves::Seeds(seeds) => {
                // each key overwrites the one before, and the last one is wiped
                let mut leaf = ManuallyDrop::new(cipher(&0));
                for (y, seed) in seeds.iter().enumerate() {
                    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
                    if let Some(counter) = counter(seed) {
                        f(y, Leaf::Vector(&counter));
                        continue;
                    }
                    leaf = ManuallyDrop::new(cipher(seed));
                    f(y, Leaf::Blocks(&leaf));
                }
                drop(ManuallyDrop::into_inner(leaf));
            }
        }
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn counter(seed: &u128) -> Option<Counter> {
    Counter::new(&seed.to_le_bytes())
}

fn cipher(seed: &u128) -> Aes128Enc {
    Aes128Enc::new(&seed.to_le_bytes().into())
}

/// The fixed permutations for a pair's trees in one session: two for children, one for the seeds of streams,
/// two for the values that are checked.
pub(crate) struct Permutations([Permutation; 5]);

impl Permutations {
    pub(crate) fn new(session: &Session, maker: PartyId, holder: PartyId) -> Permutations {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 softspoken tree v1");
        hasher.update(session.id().as_bytes()).update(&session.number().to_le_bytes());
        hasher.update(&[maker.number(), holder.number()]);
        let mut source = hasher.expand(purposes::PERMUTATIONS);
        Permutations(std::array::from_fn(|_| {
            let mut key = [0; 16];
            source.fill(&mut key);
            Permutation::new(&key)
        }))
    }

    /// Some permutations that belong to no session.
    pub(crate) fn fixed() -> Permutations {
        Permutations(std::array::from_fn(|i| Permutation::new(&[i as u8; 16])))
    }

    /// pi(x) + x for each x, under permutation `which`.
    fn apply(&self, which: usize, x: &[u128]) -> Zeroizing<Vec<u128>> {
        let mut out = Zeroizing::new(x.to_vec());
        self.0[which].permute(&mut out);
        out.iter_mut().zip(x).for_each(|(out, x)| *out ^= x);
        out
    }

    /// For each leaf, the seed of its stream and the value that is checked.
    pub(crate) fn leaves(&self, leaves: &[u128]) -> (Zeroizing<Vec<u128>>, Zeroizing<Vec<[u128; 2]>>) {
        let (low, high) = (self.apply(3, leaves), self.apply(4, leaves));
        let checked = low.iter().zip(high.iter()).map(|(l, h)| [*l, *h]).collect();
        (self.apply(2, leaves), Zeroizing::new(checked))
    }
}

/// The length in bytes of a maker's message: sums, then totals, then the digest.
pub(crate) fn message_bytes(layout: Layout) -> usize {
    layout.all() * 32 + layout.pieces() * 32 + 32
}

/// Makes the trees towards a holder and appends the message. `flips` corrects the holder's choices in the
/// base OTs; `lowest` is its bit 0, if that is public.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn make(
    session: &Session,
    permutations: &Permutations,
    (layout, ready): (Layout, bool),
    keys: &[[u128; 2]],
    flips: &Key,
    lowest: u128,
    message: &mut [u8],
) -> Vec<Leaves> {
    let mut roots = Zeroizing::new(vec![0; 16 * layout.pieces()]);
    session.entropy(purposes::ROOTS, roots.as_mut_slice());
    grow(&roots, permutations, (layout, ready), keys, flips, lowest, message)
}

/// [`make`] from these roots.
pub(crate) fn grow(
    roots: &[u8],
    permutations: &Permutations,
    (layout, ready): (Layout, bool),
    keys: &[[u128; 2]],
    flips: &Key,
    lowest: u128,
    message: &mut [u8],
) -> Vec<Leaves> {
    let (sums, rest) = message.split_at_mut(layout.all() * 32);
    let (totals, digest) = rest.split_at_mut(layout.pieces() * 32);
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 softspoken leaves v1");
    let mut trees = Vec::with_capacity(layout.pieces());
    for (c, (root, total)) in roots.as_chunks::<16>().0.iter().zip(totals.chunks_exact_mut(32)).enumerate() {
        let Piece { first, bits } = layout.piece(c);
        let mut nodes = Zeroizing::new(vec![u128::from_le_bytes(*root)]);
        for bit in (first..first + bits).rev() {
            let sides = [permutations.apply(0, &nodes), permutations.apply(1, &nodes)];
            let [left, right] = &sides;
            nodes = Zeroizing::new(left.iter().zip(right.iter()).flat_map(|(l, r)| [*l, *r]).collect());
            for (e, (side, out)) in sides.iter().zip(sums[bit * 32..].chunks_exact_mut(16)).enumerate() {
                let sum = side.iter().fold(0, |sum, node| sum ^ node);
                let key = keys[bit];
                // the holder has the key of its random choice, which is e + flip if it needs the sum of side
                // e
                let pad = key[0] ^ (key[0] ^ key[1]) & mask((e as u64) ^ bit_of(flips, bit) as u64);
                // [W1] of a public bit only the sum of the other side is sent, in the clear
                let public = layout.public && bit == 0;
                let said = if public { sum & mask(e as u64 ^ lowest as u64) } else { sum ^ pad };
                out.copy_from_slice(&said.to_le_bytes());
            }
        }
        let (seeds, checked) = permutations.leaves(&nodes);
        total.copy_from_slice(&bytes(&checked.iter().fold([0; 2], |sum, x| [sum[0] ^ x[0], sum[1] ^ x[1]])));
        for x in checked.iter() {
            hasher.update(&bytes(x));
        }
        trees.push(Leaves::new(&seeds, ready));
    }
    digest.copy_from_slice(hasher.finalize().as_bytes());
    hasher.zeroize();
    trees
}

/// Reads the maker's message with Delta and the keys of the base OTs. The result has the leaves, and whether
/// the trees are consistent \[O2\].
pub(crate) fn hold(
    permutations: &Permutations,
    (layout, ready): (Layout, bool),
    keys: &[u128],
    delta: &Key,
    message: &[u8],
) -> (Vec<Leaves>, bool) {
    let (sums, rest) = message.split_at(layout.all() * 32);
    let (totals, digest) = rest.split_at(layout.pieces() * 32);
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 softspoken leaves v1");
    let mut trees = Vec::with_capacity(layout.pieces());
    for (c, total) in totals.chunks_exact(32).enumerate() {
        let Piece { first, bits } = layout.piece(c);
        // in the order of y + alpha the first node is the one on the path, which is unknown
        let mut nodes = Zeroizing::new(vec![0]);
        for bit in (first..first + bits).rev() {
            let alpha = mask(bit_of(delta, bit) as u64);
            let (left, right) = (permutations.apply(0, &nodes), permutations.apply(1, &nodes));
            let mut children = Zeroizing::new(Vec::with_capacity(2 * nodes.len()));
            for (l, r) in left.iter().zip(right.iter()) {
                let swap = (l ^ r) & alpha;
                children.extend([l ^ swap, r ^ swap]);
            }
            // the sum that we chose: that of the side on which our path does not lie
            let (said, _) = sums[bit * 32..].as_chunks::<16>();
            let (zero, one) = (u128::from_le_bytes(said[0]), u128::from_le_bytes(said[1]));
            let sum = zero ^ (zero ^ one) & !alpha ^ keys[bit];
            (children[0], children[1]) = (0, 0);
            children[1] = children.iter().skip(1).step_by(2).fold(sum, |sum, node| sum ^ node);
            nodes = children;
        }
        let (seeds, mut checked) = permutations.leaves(&nodes);
        let (total, _) = total.as_chunks::<16>();
        checked[0] = [u128::from_le_bytes(total[0]), u128::from_le_bytes(total[1])];
        checked[0] = checked.iter().skip(1).fold(checked[0], |sum, x| [sum[0] ^ x[0], sum[1] ^ x[1]]);
        // back to the order of y
        for bit in 0..bits {
            let alpha = mask(bit_of(delta, first + bit) as u64);
            for pair in checked.chunks_exact_mut(2 << bit) {
                let (low, high) = pair.split_at_mut(1 << bit);
                for (l, h) in low.iter_mut().flatten().zip(high.iter_mut().flatten()) {
                    let swap = (*l ^ *h) & alpha;
                    (*l, *h) = (*l ^ swap, *h ^ swap);
                }
            }
        }
        for x in checked.iter() {
            hasher.update(&bytes(x));
        }
        trees.push(Leaves::new(&seeds[1..], ready));
    }
    let consistent = same_bytes(&hasher.to_compare(), digest);
    hasher.zeroize();
    (trees, consistent)
}

fn bytes(x: &[u128; 2]) -> [u8; 32] {
    let mut out = [0; 32];
    out[..16].copy_from_slice(&x[0].to_le_bytes());
    out[16..].copy_from_slice(&x[1].to_le_bytes());
    out
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use divisi_core::testing::{links, run};
    use divisi_core::{PublicParameters, step};
    use std::collections::HashSet;

    /// All five permutations differ, in both directions of two sessions.
    #[test]
    fn permutations_serve_one_purpose() {
        let mut seen = HashSet::new();
        for _ in 0..2 {
            let ends = run(3, &PublicParameters::new("tree tests"), |session| {
                let strand = session.strand()?;
                let of = |session: &Session| {
                    let each = links(3).map(|(maker, holder)| Permutations::new(session, maker, holder));
                    each.flat_map(|p| (0..5).map(move |which| p.apply(which, &[77])[0])).collect::<Vec<_>>()
                };
                Ok([of(&session), of(&strand)].concat())
            });
            for value in ends.into_iter().next().unwrap().unwrap() {
                assert!(seen.insert(value));
            }
        }
        assert_eq!(seen.len(), 2 * 2 * 6 * 5);
    }

    /// The permutation alone could be inverted: each element is added to its image.
    #[test]
    fn hashes_add_their_inputs() {
        let (permutations, x) = (Permutations::fixed(), [0, 7, u128::MAX]);
        for which in 0..5 {
            let mut image = x;
            permutations.0[which].permute(&mut image);
            let hashed = permutations.apply(which, &x);
            assert!(hashed.iter().zip(&x).map(|(hashed, x)| hashed ^ x).eq(image), "{which}");
        }
    }

    const DELTA: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834;

    /// No two leaves are equal, in any tree, and the holder lacks exactly its own.
    #[test]
    fn leaves_differ_and_one_is_unknown() {
        let fields = [1, 4, 8].map(|k| Layout::field(k, 42));
        for layout in [1, 3, 4, 8].map(Layout::labels).into_iter().chain(fields) {
            let all = layout.all();
            let ends = run(2, &PublicParameters::new("tree tests"), |mut session| {
                let peer = session.peers()[0];
                let mut message = vec![0; message_bytes(layout)];
                let keys = |side: u128| (0..all as u128).map(move |i| 1000 * side + i);
                let delta = [DELTA, if layout.public { 0 } else { DELTA >> 86 }];
                let seeds = |leaves: &[Leaves]| {
                    let of = |leaves: &Leaves| match leaves {
                        Leaves::Seeds(seeds) => seeds.to_vec(),
                        _ => unreachable!("not kept ready"),
                    };
                    leaves.iter().map(of).collect::<Vec<_>>()
                };
                if session.me().index() == 0 {
                    let permutations = Permutations::new(&session, session.me(), peer);
                    let keys: Vec<[u128; 2]> = keys(1).zip(keys(2)).map(|(zero, one)| [zero, one]).collect();
                    let made = make(
                        &session,
                        &permutations,
                        (layout, false),
                        &keys,
                        &[0; 2],
                        delta[0] & 1,
                        &mut message,
                    );
                    session.send(step!("trees"), peer, &message, 0)?;
                    return Ok((seeds(&made), true, message));
                }
                session.recv(step!("trees"), peer, &mut message)?;
                let permutations = Permutations::new(&session, peer, session.me());
                // the choice is the complement of the bit; at the public bit there is no choice
                let key = |i: usize| 1000 * (2 - (bit_of(&delta, i) & 1)) + i as u128;
                let keys: Vec<u128> =
                    (0..all).map(|i| if layout.public && i == 0 { 0 } else { key(i) }).collect();
                let (held, consistent) = hold(&permutations, (layout, false), &keys, &delta, &message);
                Ok((seeds(&held), consistent, message))
            });
            let mut ends = ends.into_iter().map(Result::unwrap);
            let ((made, ..), (held, consistent, message)) = (ends.next().unwrap(), ends.next().unwrap());
            assert!(consistent, "{layout:?}");
            let different: HashSet<u128> = made.iter().flatten().copied().collect();
            assert_eq!(different.len(), made.iter().map(Vec::len).sum::<usize>(), "{layout:?}");
            for (c, (made, held)) in made.iter().zip(&held).enumerate() {
                let Piece { first, bits } = layout.piece(c);
                let delta = [DELTA, DELTA >> 86];
                let alpha = (0..bits).map(|b| ((bit_of(&delta, first + b) & 1) as usize) << b).sum::<usize>();
                assert_eq!(held.len() + 1, made.len());
                for (z, seed) in held.iter().enumerate() {
                    assert_eq!(made[(z + 1) ^ alpha], *seed);
                }
                assert!(!held.contains(&made[alpha]), "{layout:?} {c}");
                // nor does the total reveal it: it is not the total minus the known leaves' seeds
                let total = message[all * 32 + 32 * c..].as_chunks::<16>().0;
                for half in [total[0], total[1]] {
                    let rest = held.iter().fold(u128::from_le_bytes(half), |sum, seed| sum ^ seed);
                    assert_ne!(rest, made[alpha], "{layout:?} {c}");
                }
            }
        }
    }
}
