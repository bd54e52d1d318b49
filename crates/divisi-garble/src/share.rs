//! One party's authenticated shares of bits: ⟨x⟩ of the paper's section 2.
//!
//! P_i holds its share x^i; for each peer P_j the MAC M_j\[x^i\] under that peer's Delta_j; and the key
//! K_i\[x^j\] of the peer's share. M_j\[x^i\] = K_j\[x^i\] + x^i Delta_j. There are two layouts. [`Shares`]
//! stores the MACs and keys of one peer together: the protocols that make, open and hash shares use it.
//! [`Rows`] stores the words of one wire together: the evaluation of circuits uses it.
//!
//! To add the constant one, one party (in a garbled circuit the evaluator) flips its bit, and every other
//! party adds its Delta to the key that it holds for this bit; MACs do not change.

use crate::bits;
use divisi_core::PartyId;
use divisi_core::wipe::{self, Wipe, WipedVec};
use divisi_ot::AuthBits;
use std::ops::Range;

/// A party among `n` parties. Its peers are numbered 0 to n - 2 in order, without itself: a peer's number is
/// its *place*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seats {
    /// Our own index among all.
    pub me: usize,
    /// How many parties there are.
    pub n: usize,
}

impl Seats {
    /// How many peers there are.
    pub fn peers(self) -> usize {
        self.n - 1
    }

    /// The place of the party with this index, which must not be our own.
    pub fn place(self, party: usize) -> usize {
        party - usize::from(party > self.me)
    }

    /// The index of the peer at this place.
    pub fn party(self, place: usize) -> usize {
        place + usize::from(place >= self.me)
    }
}

/// A word of ones if the bit is set, else zero.
#[inline(always)]
pub(crate) fn spread(bit: u8) -> u128 {
    u128::from(bit & 1).wrapping_neg()
}

/// Authenticated shares of a vector of bits.
#[derive(Default)]
pub(crate) struct Shares {
    /// Our shares, one in each byte.
    pub bits: WipedVec<u8>,
    /// For each peer: the MACs of our shares under its Delta.
    pub macs: Vec<WipedVec<u128>>,
    /// For each peer: our keys for its shares.
    pub keys: Vec<WipedVec<u128>>,
}

impl Shares {
    /// Shares of zero.
    pub fn zero(peers: usize, len: usize) -> Self {
        let zeros = || (0..peers).map(|_| WipedVec::zeros(len)).collect();
        Shares { bits: WipedVec::zeros(len), macs: zeros(), keys: zeros() }
    }

    /// How many bits are shared.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// The authenticated bits of all parties as shares of random bits: each of these is the sum of all
    /// parties' bits at one position.
    pub fn of(me: PartyId, bits: AuthBits) -> Shares {
        let len = bits.len();
        let mut rows = bits.into_rows();
        rows.macs.remove(me.index());
        rows.keys.remove(me.index());
        let mut bits = WipedVec::with_capacity(64 * rows.bits.len());
        for byte in rows.bits.iter().flat_map(|word| word.to_le_bytes()) {
            bits.extend_from_slice(&bits::each(byte));
        }
        bits.cut(len);
        Shares { bits, macs: rows.macs, keys: rows.keys }
    }

    /// The shares at some positions, borrowed.
    #[cfg(feature = "testing")]
    pub fn view(&self, at: Range<usize>) -> View<'_> {
        View {
            bits: &self.bits[at.clone()],
            macs: self.macs.iter().map(|m| &m[at.clone()]).collect(),
            keys: self.keys.iter().map(|k| &k[at.clone()]).collect(),
        }
    }

    /// The shares at some positions, copied.
    pub fn copy(&self, at: Range<usize>) -> Shares {
        Shares {
            bits: WipedVec::from(&self.bits[at.clone()]),
            macs: self.macs.iter().map(|m| WipedVec::from(&m[at.clone()])).collect(),
            keys: self.keys.iter().map(|k| WipedVec::from(&k[at.clone()])).collect(),
        }
    }

    /// Removes the shares from position `at` on, and returns them.
    pub fn split_off(&mut self, at: usize) -> Shares {
        let rest = self.copy(at..self.len());
        self.bits.cut(at);
        self.macs.iter_mut().chain(&mut self.keys).for_each(|words| words.cut(at));
        rest
    }

    /// Appends other shares.
    pub fn append(&mut self, other: Shares) {
        if self.len() == 0 {
            *self = other;
            return;
        }
        // copied, not moved: the vectors of the others are wiped when they are dropped
        fn behind<T: Wipe>(words: &mut WipedVec<T>, other: &[T]) {
            words.reserve(other.len());
            words.extend_from_slice(other);
        }
        behind(&mut self.bits, &other.bits);
        self.macs.iter_mut().zip(&other.macs).for_each(|(m, o)| behind(m, o));
        self.keys.iter_mut().zip(&other.keys).for_each(|(k, o)| behind(k, o));
    }

    /// Removes the first `n` shares and returns them; if they are all, without a copy.
    pub fn take(&mut self, n: usize) -> Shares {
        if n == self.len() {
            return std::mem::take(self);
        }
        let rest = self.split_off(n);
        std::mem::replace(self, rest)
    }

    /// Removes the last `n` shares, or all if there are fewer, and returns them.
    pub fn take_last(&mut self, n: usize) -> Shares {
        self.split_off(self.len().saturating_sub(n))
    }

    /// Adds the rows one to one to the shares from `first` on.
    pub fn add_rows(&mut self, first: usize, rows: &Rows) {
        self.bits[first..].iter_mut().zip(rows.bits.iter()).for_each(|(bit, b)| *bit ^= b);
        let stride = rows.stride();
        // as many rows at once as stay in the cache
        for (block, rows) in rows.words.chunks(NEAR * stride.max(1)).enumerate() {
            let at = first + block * NEAR;
            for (k, column) in self.macs.iter_mut().chain(&mut self.keys).enumerate() {
                let words = rows.iter().skip(k).step_by(stride);
                column[at..].iter_mut().zip(words).for_each(|(word, r)| *word ^= r);
            }
        }
    }
}

/// Consecutive shares, borrowed.
pub(crate) struct View<'a> {
    pub bits: &'a [u8],
    pub macs: Vec<&'a [u128]>,
    pub keys: Vec<&'a [u128]>,
}

/// Consecutive shares, borrowed to be changed.
pub(crate) struct ViewMut<'a> {
    pub bits: &'a mut [u8],
    pub macs: Vec<&'a mut [u128]>,
    pub keys: Vec<&'a mut [u128]>,
}

impl ViewMut<'_> {
    /// The same shares, to be read only.
    pub fn view(&self) -> View<'_> {
        View {
            bits: self.bits,
            macs: self.macs.iter().map(|m| &**m).collect(),
            keys: self.keys.iter().map(|k| &**k).collect(),
        }
    }
}

impl Shares {
    /// All shares, borrowed to be changed.
    #[cfg(feature = "testing")]
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut {
            bits: &mut self.bits,
            macs: self.macs.iter_mut().map(|m| &mut m[..]).collect(),
            keys: self.keys.iter_mut().map(|k| &mut k[..]).collect(),
        }
    }

    /// The shares at positions 0 to m - 1, at m to 2 m - 1, and at 2 m to 3 m - 1.
    pub fn thirds(&mut self, m: usize) -> (View<'_>, View<'_>, ViewMut<'_>) {
        fn cut<T>(words: &mut [T], m: usize) -> (&[T], &[T], &mut [T]) {
            let (x, rest) = words.split_at_mut(m);
            let (y, rest) = rest.split_at_mut(m);
            (x, y, &mut rest[..m])
        }
        let (bits_x, bits_y, bits_r) = cut(&mut self.bits, m);
        let mut x = View { bits: bits_x, macs: Vec::new(), keys: Vec::new() };
        let mut y = View { bits: bits_y, macs: Vec::new(), keys: Vec::new() };
        let mut r = ViewMut { bits: bits_r, macs: Vec::new(), keys: Vec::new() };
        for words in &mut self.macs {
            let (of_x, of_y, of_r) = cut(words, m);
            x.macs.push(of_x);
            y.macs.push(of_y);
            r.macs.push(of_r);
        }
        for words in &mut self.keys {
            let (of_x, of_y, of_r) = cut(words, m);
            x.keys.push(of_x);
            y.keys.push(of_y);
            r.keys.push(of_r);
        }
        (x, y, r)
    }
}

impl View<'_> {
    /// How many bits are shared.
    pub fn len(&self) -> usize {
        self.bits.len()
    }
}

/// How many rows are transposed at once.
const NEAR: usize = 64;

/// Authenticated shares, one in each row: the MACs for each peer, then the keys for each peer's share.
pub(crate) struct Rows {
    peers: usize,
    /// Our shares, one in each byte.
    pub bits: WipedVec<u8>,
    /// The words of all rows, row after row.
    pub words: WipedVec<u128>,
}

impl Rows {
    /// Rows of zeros.
    pub fn zero(peers: usize, len: usize) -> Self {
        Rows { peers, bits: WipedVec::zeros(len), words: WipedVec::zeros(2 * peers * len) }
    }

    /// An empty list with capacity for `len` rows.
    pub fn with_capacity(peers: usize, len: usize) -> Self {
        Rows { peers, bits: WipedVec::with_capacity(len), words: WipedVec::with_capacity(2 * peers * len) }
    }

    /// Makes room for `more` rows. If the rows move, the old place is wiped.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        self.bits.reserve(more);
        self.words.reserve(more * self.stride());
    }

    /// How many words a row has.
    pub fn stride(&self) -> usize {
        2 * self.peers
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// The words of row `t`: MACs, then keys.
    pub fn row(&self, t: usize) -> &[u128] {
        &self.words[t * self.stride()..(t + 1) * self.stride()]
    }

    /// Appends a copy of row `t` of another list.
    pub fn push(&mut self, from: &Rows, t: usize) {
        self.reserve(1);
        self.bits.push(from.bits[t]);
        self.words.extend_from_slice(from.row(t));
    }

    /// Appends share `t` of a vector of shares.
    pub fn push_share(&mut self, from: &Shares, t: usize) {
        self.reserve(1);
        self.bits.push(from.bits[t]);
        self.words.extend(from.macs.iter().map(|m| m[t]));
        self.words.extend(from.keys.iter().map(|k| k[t]));
    }

    /// `self[out] = self[x] + self[y]`.
    #[inline]
    pub fn xor(&mut self, out: usize, x: usize, y: usize) {
        self.bits[out] = self.bits[x] ^ self.bits[y];
        match self.stride() {
            2 => xor::<2>(&mut self.words, out, x, y),
            4 => xor::<4>(&mut self.words, out, x, y),
            stride => {
                for k in 0..stride {
                    self.words[out * stride + k] = self.words[x * stride + k] ^ self.words[y * stride + k];
                }
            }
        }
    }

    /// `self[out] = self[x]`.
    pub fn copy(&mut self, out: usize, x: usize) {
        self.bits[out] = self.bits[x];
        let stride = self.stride();
        self.words.copy_within(x * stride..(x + 1) * stride, out * stride);
    }

    /// `self[out]` = the sum of the other's rows in the range.
    pub fn sum(&mut self, out: usize, from: &Rows, range: std::ops::Range<usize>) {
        let stride = self.stride();
        let words = &mut self.words[out * stride..(out + 1) * stride];
        words.fill(0);
        self.bits[out] = 0;
        for t in range {
            self.bits[out] ^= from.bits[t];
            words.iter_mut().zip(from.row(t)).for_each(|(w, r)| *w ^= r);
        }
    }

    /// Wipes these rows in place.
    pub fn wipe_some(&mut self, at: Range<usize>) {
        let stride = self.stride();
        wipe::words(&mut self.bits[at.clone()]);
        wipe::words(&mut self.words[at.start * stride..at.end * stride]);
    }

    /// Overwrites the memory of all rows, also of those that `clear` removed without overwriting them. The
    /// list is then empty; the memory stays its own.
    pub fn wipe(&mut self) {
        self.bits.wipe();
        self.words.wipe();
    }

    /// Empties the list without wiping: the rows stay in memory until others overwrite them, or the list is
    /// wiped or dropped \[Q17\].
    pub fn clear(&mut self) {
        self.bits.clear();
        self.words.clear();
    }
}

/// The holder of the share to which a public constant is added, as we see it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder {
    /// We have the bit: adding a constant flips it.
    Me,
    /// The peer at this place has the bit: adding a constant changes our key for it.
    Peer(usize),
}

impl Holder {
    /// The party with this index.
    pub fn of(seats: Seats, party: usize) -> Holder {
        if party == seats.me { Holder::Me } else { Holder::Peer(seats.place(party)) }
    }

    /// Adds a public bit to row `t`.
    #[inline]
    pub fn add(self, rows: &mut Rows, t: usize, constant: u8, delta: u128) {
        match self {
            Holder::Me => rows.bits[t] ^= constant,
            Holder::Peer(place) => {
                let at = t * rows.stride() + rows.peers + place;
                rows.words[at] ^= spread(constant) & delta;
            }
        }
    }
}

/// `rows[out] = rows[x] + rows[y]`, where a row has `WORDS` words.
#[inline(always)]
pub(crate) fn xor<const WORDS: usize>(words: &mut [u128], out: usize, x: usize, y: usize) {
    let rows = words.as_chunks_mut::<WORDS>().0;
    let (x, y) = (rows[x], rows[y]);
    let mut sum = [0; WORDS];
    sum.iter_mut().zip(x.iter().zip(&y)).for_each(|(sum, (x, y))| *sum = x ^ y);
    rows[out] = sum;
}

impl Rows {
    /// The same shares in the other layout, in which each peer's words are together.
    pub fn into_shares(mut self) -> Shares {
        let (peers, stride) = (self.peers, self.stride().max(1));
        let column = |k: usize| self.words.iter().skip(k).step_by(stride).copied().collect();
        let macs = (0..peers).map(column).collect();
        let keys = (peers..2 * peers).map(column).collect();
        Shares { bits: std::mem::take(&mut self.bits), macs, keys }
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn rows_are_wiped_and_no_others() {
        for (from, to) in [(0, 1), (1, 4), (3, 5), (2, 2), (0, 5)] {
            let mut rows = Rows::zero(2, 5);
            rows.bits.fill(1);
            rows.words.fill(7);
            rows.wipe_some(from..to);
            for t in 0..5 {
                let (bit, word) = if (from..to).contains(&t) { (0, 0) } else { (1, 7) };
                assert!(rows.bits[t] == bit && rows.row(t).iter().all(|own| *own == word), "{t}");
            }
        }
    }
}
