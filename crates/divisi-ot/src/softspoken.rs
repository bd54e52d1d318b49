//! SoftSpokenOT (Roy 2022, ePrint 2022/192): correlated rows of a pair from all-but-one trees.
//!
//! The *maker* (the paper's P_S, the extension's receiver) chooses bits u; the *holder* (P_R) has Delta in
//! GF(2)^128. In each row they get v and w with w = v + u Delta. For authenticated bits these are M and K: K
//! = M + x Delta. Delta is cut into pieces of k bits, and for each piece there is a tree of 2^k leaves
//! (`tree`). The maker knows all leaves, the holder all but the one at its piece of Delta. Leaves are
//! expanded to streams r_y, one bit for each row (Figure 3):
//!
//! - maker: u_c = sum of r_y, v_c = sum of y r_y; holder: w_c = sum of (y + Delta_c) r_y = v_c + u_c Delta_c.
//!   In the holder's sum the unknown leaf has coefficient zero.
//! - The repetition code makes the same bits x from the u_c of all pieces (Figure 5): the maker sends D_c =
//!   u_c + x, and the holder adds D_c Delta_c to w_c.
//!
//! [`crate::vole`] checks that all D_c were made with the same x. Cost: ceil(128 / k) bits for each row, one
//! way, one message for each chunk.

#[cfg(test)]
mod fuzz;
pub(crate) mod layout;
pub(crate) mod tree;

use aes::Block;
use aes::cipher::BlockCipherEncrypt;
use divisi_core::wipe;
#[cfg(target_arch = "x86_64")]
use divisi_field::counter::Counter;
use divisi_field::kernel::vectorize;
pub use layout::MAX_K;
use layout::{Key, Layout, MOST, Piece, bit};
use std::ops::Range;
use tree::{Leaf, Leaves};
use zeroize::Zeroize;

/// The number of rows in a tile. Each stream has one bit for each row, so one block of the cipher for a tile.
pub const TILE: usize = 128;
/// The largest number of tiles in a chunk, which is one message. The streams of a chunk fit into the
/// first-level cache, and calls of the cipher are long enough to be efficient.
pub const CHUNK: usize = 128;

/// A stream, or a sum of streams, for the tiles of a chunk. It begins at a cache line, because registers that
/// lie across two lines cost twice.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Stream([u64; 2 * CHUNK]);

/// How many pieces Delta has; also how many bits a row costs.
#[must_use]
pub fn pieces(k: u32) -> usize {
    128_usize.div_ceil(k as usize)
}

/// The maker's state for the rows with one peer.
pub(crate) struct Maker {
    layout: Layout,
    leaves: Vec<Leaves>,
    /// How many blocks of the streams have been used.
    used: u64,
}

/// The holder's state for the rows with one peer. For each piece it has the leaves in the order of y +
/// Delta_c, without the first one, which is the unknown leaf.
pub(crate) struct Holder {
    layout: Layout,
    leaves: Vec<Leaves>,
    used: u64,
}

/// Where the tiles of rows are written, by group of columns: the same number of words for each tile. A group
/// with fewer columns leaves the last words of a tile unchanged; the slice of a group that the rows do not
/// have is empty.
pub(crate) type Tiles<'a> = [&'a mut [u128]; 2];

impl Maker {
    pub(crate) fn new(layout: Layout, leaves: Vec<Leaves>) -> Maker {
        Maker { layout, leaves, used: 0 }
    }

    /// The number of the next row. Numbers are never reused in the rows that these trees give.
    pub(crate) fn next(&self) -> u64 {
        self.used * TILE as u64
    }

    /// Makes the next tiles of rows for the bits `x`, one word for each tile. `v` gets their columns, `d` the
    /// corrections, piece by piece.
    pub(crate) fn extend(
        &mut self,
        sums: &mut Sums,
        groups: &Range<usize>,
        x: &[u128],
        v: Tiles<'_>,
        d: &mut Vec<u128>,
    ) {
        let layout = self.layout;
        sums.begin(self.used, x.len(), layout, groups);
        for c in layout.trees(groups) {
            let Piece { first, bits } = layout.piece(c);
            sums.tree(&self.leaves[c], 0, first, bits);
            d.extend(sums.current.blocks().iter().zip(x).map(|(u, x)| word(*u) ^ x));
        }
        sums.write(layout, groups, v);
        self.used += x.len() as u64;
    }
}

impl Holder {
    pub(crate) fn new(layout: Layout, leaves: Vec<Leaves>) -> Holder {
        Holder { layout, leaves, used: 0 }
    }

    /// The number of the next row, as at the maker.
    pub(crate) fn next(&self) -> u64 {
        self.used * TILE as u64
    }

    /// Makes the next `tiles` tiles of rows from the maker's corrections for them; `w` gets their columns.
    pub(crate) fn extend(
        &mut self,
        sums: &mut Sums,
        groups: &Range<usize>,
        delta: &Key,
        tiles: usize,
        d: &[u128],
        w: Tiles<'_>,
    ) {
        let layout = self.layout;
        sums.begin(self.used, tiles, layout, groups);
        for (d, c) in d.chunks_exact(tiles).zip(layout.trees(groups)) {
            let Piece { first, bits } = layout.piece(c);
            // the unknown leaf comes first, with coefficient zero
            sums.tree(&self.leaves[c], 1, first, bits);
            (first..first + bits).for_each(|column| sums.add(column, d, bit(delta, column)));
        }
        sums.write(layout, groups, w);
        self.used += tiles as u64;
    }
}

/// Sums of streams r_y with weights y, for each bit of y, with about two additions for each stream. The
/// streams come in the order of y. Two neighbouring sums over 2^b streams each make one sum over 2^(b + 1);
/// the second of them is also added to the sum for bit b. The memory is reused for each chunk, and wiped when
/// dropped.
pub(crate) struct Sums {
    /// How many tiles the chunk has.
    tiles: usize,
    /// The number of the first block that is taken from every stream.
    from: u64,
    /// A buffer for the crate `aes`, and whether it was used.
    blocks: [Block; CHUNK],
    blocks_used: bool,
    /// The last stream that was made; after the last one of a tree, the sum of all.
    current: Stream,
    /// For each level, a sum that waits for the sum next to it.
    waiting: [Stream; MAX_K as usize],
    /// A sum for each bit of the key, which becomes a column of every tile. They are on the heap from the
    /// beginning, because they are too many for the stack.
    weighted: Vec<Stream>,
}

impl Sums {
    pub(crate) fn new() -> Sums {
        let none = Stream([0; 2 * CHUNK]);
        Sums {
            tiles: 0,
            from: 0,
            blocks: [Block::default(); CHUNK],
            blocks_used: false,
            current: none,
            waiting: [none; MAX_K as usize],
            weighted: Vec::with_capacity(MOST),
        }
    }

    /// Begins a chunk: `tiles` tiles (at most a chunk) from block `from` on of every stream.
    fn begin(&mut self, from: u64, tiles: usize, layout: Layout, groups: &Range<usize>) {
        debug_assert!(tiles <= CHUNK, "a chunk has at most {CHUNK} tiles");
        self.tiles = tiles.min(CHUNK);
        self.from = from;
        // within the capacity, so nothing moves
        self.weighted.resize(self.weighted.len().max(layout.all()), Stream([0; 2 * CHUNK]));
        for group in groups.clone() {
            let columns = &mut self.weighted[layout.columns(group)];
            columns.iter_mut().for_each(|sum| sum.0[..2 * self.tiles].fill(0));
        }
    }

    /// Adds the streams of these leaves, as numbers `before` and following of 2^bits, to the columns from
    /// `column` on; the numbers below `before` count as zeros. `current` becomes the sum of all streams.
    fn tree(&mut self, leaves: &Leaves, before: usize, column: usize, bits: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Leaves::Vector(leaves) = leaves {
            let words = 2 * self.tiles;
            let mut places: [&mut [u64]; MAX_K as usize] = Default::default();
            for (place, sum) in places.iter_mut().zip(&mut self.weighted[column..column + bits]) {
                *place = &mut sum.0[..words];
            }
            let total = &mut self.current.0[..words];
            if Counter::weigh(leaves, before, self.from, total, &mut places[..bits]) {
                return;
            }
        }
        for y in 0..before {
            place(&mut self.waiting, &mut self.current, y).0.fill(0);
            self.fold(y, column, bits);
        }
        leaves.each(|y, leaf| {
            self.stream(before + y, &leaf);
            self.fold(before + y, column, bits);
        });
    }

    /// Makes this leaf's stream, which has number `y`: AES in counter mode.
    fn stream(&mut self, y: usize, leaf: &Leaf<'_>) {
        let out = &mut place(&mut self.waiting, &mut self.current, y).0[..2 * self.tiles];
        match leaf {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Leaf::Vector(counter) => counter.words(self.from, out),
            Leaf::Blocks(cipher) => {
                self.blocks_used = true;
                let blocks = &mut self.blocks[..self.tiles];
                for (counter, block) in (self.from..).zip(blocks.iter_mut()) {
                    *block = u128::from(counter).to_le_bytes().into();
                }
                cipher.encrypt_blocks(blocks);
                for (words, block) in out.as_chunks_mut::<2>().0.iter_mut().zip(&*blocks) {
                    let halves = block.as_chunks::<8>().0;
                    *words = [0, 1].map(|half| u64::from_le_bytes(halves[half]));
                }
            }
        }
    }

    /// Adds stream number `y` of the 2^bits of a tree, which is in its [`place`], to the sums of the columns
    /// from `column` on: to that of each bit that is set in `y`. What is added later waits in `waiting`.
    fn fold(&mut self, y: usize, column: usize, bits: usize) {
        if y.is_multiple_of(2) {
            return;
        }
        let Sums { tiles, current, waiting, weighted, .. } = self;
        let weighted = &mut weighted[column..column + bits];
        let words = 2 * *tiles;
        let current = &mut current.0[..words];
        vectorize(
            #[inline(always)]
            || {
                let mut bit = 0;
                while bit < bits && y >> bit & 1 == 1 {
                    let first = &waiting[bit].0[..words];
                    let sum = &mut weighted[bit].0[..words];
                    for ((c, first), sum) in current.iter_mut().zip(first).zip(sum) {
                        *sum ^= *c;
                        *c ^= first;
                    }
                    bit += 1;
                }
                if bit < bits {
                    waiting[bit].0[..words].copy_from_slice(current);
                }
            },
        );
    }
}

impl Sums {
    /// Adds these words, one for each tile, to a column if the lowest bit of `delta` is set.
    fn add(&mut self, column: usize, words: &[u128], delta: u128) {
        let mask = (delta & 1).wrapping_neg() as u64;
        let sum = self.weighted[column].0.as_chunks_mut::<2>().0;
        for ([low, high], word) in sum.iter_mut().zip(words) {
            *low ^= *word as u64 & mask;
            *high ^= (*word >> 64) as u64 & mask;
        }
    }

    /// Writes the columns of each group to their places.
    fn write(&self, layout: Layout, groups: &Range<usize>, to: Tiles<'_>) {
        for (group, to) in to.into_iter().enumerate().filter(|(group, _)| groups.contains(group)) {
            self.tiles(&self.weighted[layout.columns(group)], to);
        }
    }

    /// Writes these columns tile by tile: memory that is not in the cache is then written in its order.
    fn tiles(&self, columns: &[Stream], out: &mut [u128]) {
        let each = out.len() / self.tiles.max(1);
        debug_assert!(each >= columns.len(), "room for all columns");
        // a cache line has four words of a column
        for (t, tiles) in out.chunks_mut((4 * each).max(1)).enumerate() {
            if tiles.len() == 4 * each {
                let (first, second) = tiles.split_at_mut(2 * each);
                let ((a, b), (c, d)) = (first.split_at_mut(each), second.split_at_mut(each));
                let places = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
                for (sum, ((a, b), (c, d))) in columns.iter().zip(places) {
                    let words = &sum.blocks().as_chunks::<4>().0[t];
                    [*a, *b, *c, *d] = words.map(word);
                }
            } else {
                for (column, sum) in columns.iter().enumerate() {
                    let words = sum.blocks()[4 * t..].iter();
                    let places = tiles[column..].iter_mut().step_by(each.max(1));
                    places.zip(words).for_each(|(place, words)| *place = word(*words));
                }
            }
        }
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        let streams = self.waiting.iter_mut().chain(&mut self.weighted).chain([&mut self.current]);
        streams.for_each(|stream| wipe::words(&mut stream.0));
        if self.blocks_used {
            self.blocks.iter_mut().for_each(|block| block.as_mut_slice().zeroize());
        }
    }
}

impl Stream {
    /// The blocks of the stream, one for each tile.
    #[inline]
    fn blocks(&self) -> &[[u64; 2]] {
        self.0.as_chunks().0
    }
}

/// Where stream number `y` of a tree is made: one with an even number waits for the next one at once.
fn place<'s>(waiting: &'s mut [Stream], current: &'s mut Stream, y: usize) -> &'s mut Stream {
    if y.is_multiple_of(2) { &mut waiting[0] } else { current }
}

#[inline]
fn word([low, high]: [u64; 2]) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

#[cfg(test)]
mod tests;
