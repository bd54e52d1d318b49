//! Triple DES (NIST SP 800-67, after FIPS 46-3) over [`Lookups`].
//!
//! A block and a key are 64 secret bits in the standard's order: bit 1, the highest, is the first. All steps
//! but the S-boxes only reorder and add bits. A round has one layer of eight lookups.
//!
//! Three DES in sequence have 48 rounds, but only 46 layers. Between two of them the permutations cancel and
//! the halves are swapped, so the last round of one and the first round of the next read the same half R.
//! They map (L, R) to (R, L + f(R, k) + f(R, k')), like one Feistel round with two keys.

mod tables;

pub use tables::SBOXES;

use divisi_core::{Abort, Direction, Lanes, LookupOnto, Lookups, Misuse, Step, step};
use tables::{CHOICE_1, CHOICE_2, EXPANSION, INITIAL, PERMUTATION, SHIFTS};

const KEYS: Step = step!("des keys");

/// Rounds of one DES.
const ROUNDS: usize = 16;

/// How many lookups one block takes, under three keys.
pub const LOOKUPS: usize = 3 * ROUNDS * 8;

/// In how many layers they are done.
pub const LAYERS: usize = 3 * ROUNDS - 2;

/// Whether a triple DES key is equivalent to a single DES key: K1 = K2 or K2 = K3, ignoring parity bits (SP
/// 800-67, 3.2). It is for the party that has the key. The comparison has no branch that depends on where the
/// keys differ.
///
/// ```
/// use divisi_symmetric::des::has_equal_keys;
///
/// let keys = |bytes: &[u8]| bytes.iter().flat_map(|byte| [*byte; 8]).collect::<Vec<u8>>();
/// assert!(has_equal_keys(&keys(&[2, 3, 4])) && has_equal_keys(&keys(&[2, 4, 5])) && has_equal_keys(&keys(&[2, 2])));
/// assert!(!has_equal_keys(&keys(&[2, 4, 2])) && !has_equal_keys(&keys(&[2, 4, 6])) && !has_equal_keys(&keys(&[2, 4])));
/// ```
#[must_use]
pub fn has_equal_keys(key: &[u8]) -> bool {
    let keys: Vec<&[u8]> = key.chunks_exact(8).collect();
    let differ = |pair: &[&[u8]]| match pair {
        [one, other] => one.iter().zip(*other).fold(0, |all, (x, y)| all | (x ^ y) & 0xfe) != 0,
        _ => true,
    };
    keys.windows(2).fold(false, |equal, pair| equal | !differ(pair))
}

/// The three keys of triple DES, which may be equal; parity bits are ignored. Keys with one lane are used for
/// all lanes of a block.
#[derive(Clone)]
pub struct TripleKey<B> {
    /// For each of the three DES its round keys, in the order of encryption. On the heap, because 2,304
    /// shared bits are too many for a thread's stack.
    rounds: [Vec<[B; 48]>; 3],
}

impl<B: Clone + Lanes> TripleKey<B> {
    /// From two keys (K1, K2, K1) or three, concatenated, in the standard's order of bits. It only selects
    /// bits.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are not 128 or 192 bits, or if their numbers of lanes differ.
    pub fn new(bits: &[B]) -> Result<Self, Abort> {
        let misuse = |what| Abort::Misuse { step: KEYS, what };
        let (keys, rest) = bits.as_chunks::<64>();
        if bits.iter().any(|bit| bit.lanes() != bits[0].lanes()) {
            return Err(misuse(Misuse::LanesDiffer));
        }
        match (keys, rest) {
            ([k1, k2], []) => Ok(TripleKey { rounds: [schedule(k1), schedule(k2), schedule(k1)] }),
            ([k1, k2, k3], []) => Ok(TripleKey { rounds: [schedule(k1), schedule(k2), schedule(k3)] }),
            _ => Err(misuse(Misuse::LengthUnsupported)),
        }
    }
}

impl<B: Lanes> Lanes for TripleKey<B> {
    fn lanes(&self) -> usize {
        self.rounds[0].first().map_or(0, |key| key[0].lanes())
    }

    /// The keys with key `index[l]` in lane `l`, for a batch of blocks under different keys.
    fn gather(&self, index: &[usize]) -> Option<Self> {
        let gathered = |des: &Vec<[B; 48]>| -> Option<Vec<[B; 48]>> {
            let key = |key: &[B; 48]| {
                let bits: Option<Vec<B>> = key.iter().map(|bit| bit.gather(index)).collect();
                <[B; 48]>::try_from(bits?).ok()
            };
            des.iter().map(key).collect()
        };
        let [k1, k2, k3] = &self.rounds;
        Some(TripleKey { rounds: [gathered(k1)?, gathered(k2)?, gathered(k3)?] })
    }
}

/// The round keys of DES (FIPS 46-3, key schedule), each a selection of bits of the key.
fn schedule<B: Clone>(key: &[B; 64]) -> Vec<[B; 48]> {
    let mut chosen = CHOICE_1;
    let round = |shift: &usize| {
        chosen[..28].rotate_left(*shift);
        chosen[28..].rotate_left(*shift);
        CHOICE_2.map(|i| key[usize::from(chosen[usize::from(i) - 1]) - 1].clone())
    };
    SHIFTS.iter().map(round).collect()
}

/// TDEA in either direction (SP 800-67, section 3), in place and in every lane: E_K3(D_K2(E_K1(x))), or its
/// inverse D_K1(E_K2(D_K3(x))).
///
/// Cost: [`LAYERS`] layers of lookups, [`LOOKUPS`] in all (test `triple_des_costs`: as a circuit, three
/// levels for each layer).
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the key has neither one lane nor as many as the
/// block.
pub fn triple<E: Lookups + ?Sized>(
    e: &mut E,
    direction: Direction,
    key: &TripleKey<E::Bit>,
    block: &mut [E::Bit; 64],
) -> Result<(), Abort> {
    let lanes = block[0].lanes();
    let all: Vec<_> = SBOXES.iter().map(|table| (table, 3 * ROUNDS * lanes)).collect();
    e.foresee(&all)?;
    // each DES, with the order of its round keys
    let turns: [(usize, bool); 3] = match direction {
        Direction::Encrypt => [(0, false), (1, true), (2, false)],
        Direction::Decrypt => [(2, true), (1, false), (0, true)],
    };
    let mut keys: Vec<&[E::Bit; 48]> = Vec::with_capacity(3 * ROUNDS);
    for (des, backwards) in turns {
        let rounds = &key.rounds[des];
        if backwards { keys.extend(rounds.iter().rev()) } else { keys.extend(rounds) }
    }
    let permuted = INITIAL.map(|i| block[usize::from(i) - 1].clone());
    let (left, right) = permuted.split_at(32);
    let (mut left, mut right) = (left.to_vec(), right.to_vec());
    let mut at = 0;
    while at < keys.len() {
        // the last round of one DES and the first round of the next are done together
        let together = if at % ROUNDS == ROUNDS - 1 && at + 1 < keys.len() { 2 } else { 1 };
        feistel(e, &keys[at..at + together], &mut left, &right)?;
        std::mem::swap(&mut left, &mut right);
        at += together;
    }
    // after the last round the halves are swapped and IP is inverted
    let output: Vec<E::Bit> = right.into_iter().chain(left).collect();
    for (bit, i) in output.into_iter().zip(INITIAL) {
        block[usize::from(i) - 1] = bit;
    }
    Ok(())
}

/// `left += f(right, k)` for each of these keys, all in one layer.
fn feistel<E: Lookups + ?Sized>(
    e: &mut E,
    keys: &[&[E::Bit; 48]],
    left: &mut [E::Bit],
    right: &[E::Bit],
) -> Result<(), Abort> {
    let mut layer = Vec::with_capacity(8 * keys.len());
    for key in keys {
        for (s, (table, key)) in SBOXES.iter().zip(key.chunks(6)).enumerate() {
            // the first bit of the index is its highest
            let bits = EXPANSION[6 * s..6 * s + 6].iter().zip(key).rev();
            let index = bits.map(|(i, key)| [&right[usize::from(*i) - 1], key]).collect();
            layer.push(LookupOnto { table, index, to: PLACES[s].to_vec() });
        }
    }
    e.look_up_onto(&layer, left)
}

/// For each S-box, the places in the half of a block to which P moves the four bits of its value, that of the
/// lowest bit first.
const PLACES: [[usize; 4]; 8] = {
    let (mut places, mut to) = ([[0; 4]; 8], 0);
    while to < 32 {
        let bit = PERMUTATION[to] as usize - 1;
        places[bit / 4][3 - bit % 4] = to;
        to += 1;
    }
    places
};

/// The bits of bytes in the standard's order: the highest bit of each byte first.
#[must_use]
pub fn bits_of(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1 == 1)).collect()
}

/// The bytes of bits in the standard's order.
#[must_use]
pub fn bytes_of(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect()
}
