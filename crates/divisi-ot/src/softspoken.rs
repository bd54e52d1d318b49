//! SoftSpokenOT (Roy 2022, ePrint 2022/192): correlated rows of a pair from all-but-one trees.
//!
//! The *maker* (the paper's P_S, the extension's receiver) chooses bits u; the *holder* (P_R) has Delta in GF(2)^128. They get v and w
//! with w = v + u Delta in each row, which authenticated bits call M, K: K = M + x Delta. Delta is cut into pieces of k bits, and for
//! each piece there is a tree of 2^k leaves (`tree`): the maker knows them all, the holder all but the one at its piece of Delta.
//! Leaves are expanded to streams r_y, one bit a row (Figure 3):
//!
//! - maker: u_c = sum of r_y, v_c = sum of y r_y; holder: w_c = sum of (y + Delta_c) r_y = v_c + u_c Delta_c, in which the unknown leaf
//!   has coefficient zero.
//! - The repetition code makes one u of all pieces (Figure 5): the maker sends D_c = u_c + x, and the holder adds D_c Delta_c to w_c.
//!
//! The check that all D_c were made with one x is in [`crate::vole`]. Cost: ceil(128 / k) bits a row, one way, one message a chunk.

pub(crate) mod tree;

use crate::wipe;
use aes::Block;
use aes::cipher::BlockCipherEncrypt;
use divisi_field::kernel::vectorize;
use tree::{Leaf, Leaves};
use zeroize::Zeroize;

/// Rows come in tiles of this many: one block of a stream.
pub const TILE: usize = 128;
/// The most tiles of one chunk, and of one message: what streams of a chunk fill stays in the cache nearest to the core, and a call of
/// the cipher is long enough to be worth its beginning.
pub const CHUNK: usize = 128;
/// The largest k.
pub const MAX_K: u32 = 8;

/// One stream, or a sum of streams, for the tiles of a chunk.
type Stream = [u64; 2 * CHUNK];

/// How many pieces Delta has, and so how many bits a row costs.
#[must_use]
pub fn pieces(k: u32) -> usize {
    128_usize.div_ceil(k as usize)
}

/// The bits of Delta that make a piece: where it begins, and how many they are.
pub(crate) fn piece(k: u32, c: usize) -> (usize, usize) {
    let first = c * k as usize;
    (first, (k as usize).min(128 - first))
}

/// The maker's end of a pair's rows.
pub(crate) struct Maker {
    k: u32,
    leaves: Vec<Leaves>,
    /// How many blocks of the streams were used.
    used: u64,
}

/// The holder's end: the leaves of each piece from the second on in the order of y + Delta_c, whose first is the unknown one.
pub(crate) struct Holder {
    k: u32,
    leaves: Vec<Leaves>,
    used: u64,
}

impl Maker {
    pub(crate) fn new(k: u32, leaves: Vec<Leaves>) -> Maker {
        Maker { k, leaves, used: 0 }
    }

    /// The next tiles of rows for the bits `x`, one word a tile: `v` gets tiles of 128 columns, `d` the corrections, piece by piece.
    pub(crate) fn extend(&mut self, x: &[u128], v: &mut [u128], d: &mut Vec<u128>) {
        let tiles = x.len();
        let mut sums = Sums::new(self.used, tiles);
        for (c, leaves) in self.leaves.iter().enumerate() {
            let (first, bits) = piece(self.k, c);
            sums.begin(bits);
            leaves.each(|y, leaf| {
                sums.stream(&leaf);
                sums.fold(y, bits);
            });
            for (t, tile) in v.chunks_exact_mut(TILE).enumerate() {
                for (column, sum) in tile[first..][..bits].iter_mut().zip(&sums.weighted) {
                    *column = block(sum, t);
                }
            }
            d.extend(x.iter().enumerate().map(|(t, x)| block(&sums.current, t) ^ x));
        }
        self.used += tiles as u64;
    }
}

impl Holder {
    pub(crate) fn new(k: u32, leaves: Vec<Leaves>) -> Holder {
        Holder { k, leaves, used: 0 }
    }

    /// The next tiles of rows, from the corrections that the maker sent for them: `w` gets tiles of 128 columns.
    pub(crate) fn extend(&mut self, delta: u128, d: &[u128], w: &mut [u128]) {
        let tiles = w.len() / TILE;
        let mut sums = Sums::new(self.used, tiles);
        for (c, leaves) in self.leaves.iter().enumerate() {
            let (first, bits) = piece(self.k, c);
            sums.begin(bits);
            // the unknown leaf stands first and counts nothing
            sums.fold(0, bits);
            leaves.each(|y, leaf| {
                sums.stream(&leaf);
                sums.fold(y + 1, bits);
            });
            let d = &d[c * tiles..][..tiles];
            let masks: [u128; MAX_K as usize] =
                core::array::from_fn(|bit| (delta >> ((first + bit) % 128) & 1).wrapping_neg());
            for (t, (tile, d)) in w.chunks_exact_mut(TILE).zip(d).enumerate() {
                for ((column, sum), mask) in tile[first..][..bits].iter_mut().zip(&sums.weighted).zip(&masks)
                {
                    *column = block(sum, t) ^ (d & mask);
                }
            }
        }
        self.used += tiles as u64;
    }
}

/// Sums of streams r_y with weights y, bit by bit of y, in two additions a stream: the streams come in the order of y, and two sums over
/// blocks of 2^b that lie side by side make one over 2^(b + 1), of which the second counts for bit b.
struct Sums {
    /// How many tiles there are.
    tiles: usize,
    /// The first block of every stream.
    from: u64,
    /// Room for the crate's cipher, and whether it was used.
    blocks: [Block; CHUNK],
    blocks_used: bool,
    /// The stream just made; after the last one of a tree, the sum of all.
    current: Stream,
    /// Sums of first blocks that wait for their second.
    waiting: [Stream; MAX_K as usize],
    weighted: [Stream; MAX_K as usize],
}

impl Sums {
    /// For blocks `from` on of every stream, at most a chunk.
    fn new(from: u64, tiles: usize) -> Sums {
        let none = [0; 2 * CHUNK];
        let many = [none; MAX_K as usize];
        let blocks = [Block::default(); CHUNK];
        Sums {
            tiles: tiles.min(CHUNK),
            from,
            blocks,
            blocks_used: false,
            current: none,
            waiting: many,
            weighted: many,
        }
    }

    fn begin(&mut self, bits: usize) {
        self.current.fill(0);
        self.weighted[..bits].iter_mut().for_each(|sum| sum[..2 * self.tiles].fill(0));
    }

    /// The current stream becomes this leaf's: AES in counter mode.
    fn stream(&mut self, leaf: &Leaf<'_>) {
        let out = &mut self.current[..2 * self.tiles];
        match leaf {
            #[cfg(target_arch = "x86_64")]
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

    /// Take the current stream in as number `y` of 2^bits.
    fn fold(&mut self, y: usize, bits: usize) {
        let Sums { tiles, current, waiting, weighted, .. } = self;
        let words = 2 * *tiles;
        let current = &mut current[..words];
        vectorize(
            #[inline(always)]
            || {
                let mut bit = 0;
                while bit < bits && y >> bit & 1 == 1 {
                    let first = &waiting[bit][..words];
                    let sum = &mut weighted[bit][..words];
                    for ((c, first), sum) in current.iter_mut().zip(first).zip(sum) {
                        *sum ^= *c;
                        *c ^= first;
                    }
                    bit += 1;
                }
                if bit < bits {
                    waiting[bit][..words].copy_from_slice(current);
                }
            },
        );
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        let words = 2 * self.tiles;
        let streams = self.waiting.iter_mut().chain(&mut self.weighted).chain([&mut self.current]);
        streams.for_each(|stream| wipe::words(&mut stream[..words]));
        if self.blocks_used {
            self.blocks[..self.tiles].iter_mut().for_each(|block| block.as_mut_slice().zeroize());
        }
    }
}

/// The block of a stream for one tile.
#[inline]
fn block(stream: &Stream, tile: usize) -> u128 {
    u128::from(stream[2 * tile]) | u128::from(stream[2 * tile + 1]) << 64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_field::kernel::{Kernel, with};

    /// Against the definition, for every k, with trees whose leaves both ends take from one list.
    #[test]
    fn rows_are_correlated_for_every_k() {
        let mut state = 0x1234_5678_9abc_def1_u128;
        let mut random = || {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
            state ^ state >> 67
        };
        for k in 1..=MAX_K {
            let delta = random();
            let mut maker = Vec::new();
            let mut holder = Vec::new();
            for c in 0..pieces(k) {
                let (first, bits) = piece(k, c);
                let seeds: Vec<u128> = (0..1 << bits).map(|_| random()).collect();
                let alpha = (delta >> first) as usize & ((1 << bits) - 1);
                let known: Vec<u128> = (1..1 << bits).map(|z| seeds[z ^ alpha]).collect();
                // kept ready or not, the streams are the same
                holder.push(Leaves::new(&known, k % 2 == 0));
                maker.push(Leaves::new(&seeds, true));
            }
            let (mut maker, mut holder) = (Maker::new(k, maker), Holder::new(k, holder));
            for tiles in [1, 3, CHUNK, 2] {
                let x: Vec<u128> = (0..tiles).map(|_| random()).collect();
                let (mut v, mut w, mut d) = (vec![0; tiles * TILE], vec![0; tiles * TILE], Vec::new());
                maker.extend(&x, &mut v, &mut d);
                assert_eq!(d.len(), tiles * pieces(k));
                holder.extend(delta, &d, &mut w);
                for (tile, x) in x.iter().enumerate() {
                    for column in 0..128 {
                        let (v, w) = (v[tile * TILE + column], w[tile * TILE + column]);
                        assert_eq!(w, v ^ x & (delta >> column & 1).wrapping_neg(), "{k} {tile} {column}");
                        assert!(v != 0 && v.count_ones() > 20, "{k} {tile} {column}");
                    }
                }
            }
        }
    }

    /// Parties on different processors make the same rows.
    #[test]
    fn rows_do_not_depend_on_the_processor() {
        for ready in [true, false] {
            let rows = |kernel| {
                with(kernel, || {
                    let leaves = |c: usize| Leaves::new(&[c as u128, 2 << c, 3, 4], ready);
                    let mut maker = Maker::new(2, (0..pieces(2)).map(leaves).collect());
                    let (mut v, mut d) = (vec![0; 5 * TILE], Vec::new());
                    maker.extend(&[6; 3], &mut v[..3 * TILE], &mut d);
                    maker.extend(&[7; 2], &mut v[3 * TILE..], &mut d);
                    (v, d)
                })
                .unwrap()
            };
            let all: Vec<_> =
                Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).map(rows).collect();
            assert!(all.iter().all(|rows| *rows == all[0]));
        }
    }

    #[test]
    #[ignore = "a measurement"]
    fn speed() {
        for k in 1..=MAX_K {
            let leaves = |less: usize| {
                (0..pieces(k))
                    .map(|c| {
                        let seeds: Vec<u128> =
                            (less..1 << piece(k, c).1).map(|y| (c * 1000 + y) as u128).collect();
                        Leaves::new(&seeds, true)
                    })
                    .collect()
            };
            let (mut maker, mut holder) = (Maker::new(k, leaves(0)), Holder::new(k, leaves(1)));
            let x = [5; CHUNK];
            let (mut v, mut d) = (vec![0; CHUNK * TILE], Vec::new());
            let mut best = [f64::MAX; 2];
            for _ in 0..30 {
                d.clear();
                let now = std::time::Instant::now();
                maker.extend(&x, &mut v, &mut d);
                best[0] = best[0].min(now.elapsed().as_secs_f64());
                let now = std::time::Instant::now();
                holder.extend(77, &d, &mut v);
                best[1] = best[1].min(now.elapsed().as_secs_f64());
            }
            println!("k = {k}: {:?} ns a row", best.map(|s| s * 1e9 / (CHUNK * TILE) as f64));
        }
    }
}
