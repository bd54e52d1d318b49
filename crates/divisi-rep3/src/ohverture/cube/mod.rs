//! Lookups by three factors: in tables of N <= 2^24 entries, with preprocessing of about 3 N^(1/3) bits; the
//! index may be split over several inputs, and an entry may be a vector.
//!
//! | | bits a party and lookup | rounds | terms over GF(2^64) |
//! |---|---|---|---|
//! | [`BlackBox::rohv_cube`], parts of k1, k2, k3 bits | sum of 2^ki - ki - 1 | ceil(log2 max ki) | 3 |
//! | [`BlackBox::lookup_cube`], entries of w bits | k + 2^k1 w | 3 | 2^k1 + 2^k2 - 1 |
//! | [`BlackBox::sample_cube`] | 2^k1 w | 2 | 2^k1 + 2^k2 - 1 |
//!
//! (Test `three_factors_cost_what_the_table_says`.) With r = (r1, r2, r3) e^(r) is the tensor product of
//! three vectors, of which MAESTRO's section 3.5.4 has two: 2^16 entries take 125 bits ahead by parts of
//! 4, 6 and 6 where two halves take 494. The product of three replicated values is not local, so that a
//! lookup is:
//!
//! 1. c = x + r is opened, as in every lookup.
//! 2. Each party has the products m_S of all sets of bits of x = c + r, part by part (`make.rs`,
//!    `shifted`), and sums the table over the third factor: g(S1, S2) = sum over S3 of a(S1, S2, S3)
//!    m_S3, replicated, since the coefficients a of the table's bits are public (`grid.rs`).
//! 3. weakDotProduct with the second factor: `<h_S1>` = sum over S2 of m_S2 g(S1, S2), all of which are
//!    reshared except that of the empty set, whose product is 1: (2^k1 - 1) w bits.
//! 4. weakDotProduct with the first: `<T(x)>` = `<h_0>` + sum over S1 of m_S1 h_S1, and Reshare: w bits.
//!
//! **Adversary**: one malicious party of three, who can add an error to each product of a vector and to both
//! Reshares. All are owed to [`BlackBox::verify_mul`], with weights drawn after them (`relation.rs`), which
//! fails exactly if there is an error, whatever the secrets are \[A17, A18, S2\]. Until then nothing that
//! depends on them is opened without a mask; c is compared before the next opening, and the last one before
//! any output \[A22, S1\]. Shares that are resent are functions of values that their receiver partly knows,
//! and go out under a fresh share of zero \[A16, A19\]. Vectors are used once (\[A18\], like
//! [`super::OneHotsRss`]).

mod grid;
mod lookup;
mod make;
mod relation;

use super::{Lot, MAX_BYTES, VECTORS};
use crate::blackbox::{BlackBox, Element, TERM_BYTES};
use divisi_core::{Abort, Misuse};
use divisi_field::plane::LANES;
use divisi_field::{Gf64, Plane};
use grid::Grid;
use make::{Products, starts};
use std::sync::Arc;

/// The largest width of an index, in bits.
pub const MAX_CUBE_BITS: usize = 24;

/// The largest width of an entry, in bits, all its components together.
pub const MAX_CUBE_WIDTH: usize = 1024;

/// The most bytes of a table's coefficients.
const MAX_TABLE: usize = 1 << 26;

/// The most bytes of a list of entries. The coefficients are made while the list is in memory, and a party
/// has 256 MiB.
const MAX_LIST: usize = 1 << 27;

/// How many bits of the entries are read at a time: of 2^24 entries they take 16 MiB.
const BITS_AT_ONCE: usize = 8;

/// The most bits of a part of an index.
const MAX_PART: usize = 12;

/// Whether a table of these parts and entries of this many bits has room.
pub(super) fn has_capacity(parts: [usize; 3], width: usize) -> bool {
    parts.iter().all(|part| (1..=MAX_PART).contains(part))
        && width <= MAX_CUBE_WIDTH
        && Grid::bytes(parts, width) <= MAX_TABLE
}

/// A public table of 2^k entries for lookups by three factors, k from 3 to [`MAX_CUBE_BITS`]; an entry is one
/// element, or a vector of them.
pub struct Cube<G: Element> {
    grid: Arc<Grid>,
    /// How many low bits of each component of an entry are used.
    widths: Vec<usize>,
    digest: [u8; 32],
    entry: std::marker::PhantomData<G>,
}

impl<G: Element> Cube<G> {
    /// A table of these entries, in order, of `components` elements each, whose index is split into three
    /// parts of these widths in bits, the last part the lowest. A lookup sends 2^(first width) entries, and
    /// takes vectors of 2^(each width) bits: [`super::Dimensions::of`] chooses the widths.
    ///
    /// `None` unless the parts have 1 to 12 bits each and at most [`MAX_CUBE_BITS`] together, there are as
    /// many entries, and these have at most [`MAX_CUBE_WIDTH`] bits; and if its coefficients take more than
    /// 64 MiB, those of the third part in whole words, or the list more than 128 MiB: [`Cube::from_fn`] needs
    /// no list.
    #[must_use]
    pub fn new(parts: [usize; 3], components: usize, entries: &[G]) -> Option<Cube<G>> {
        let k = index_bits(parts)?;
        if entries.len() != components.checked_mul(1 << k)? || size_of_val(entries) > MAX_LIST {
            return None;
        }
        Cube::from_fn(parts, components, |at| entries.get(at).copied().unwrap_or(G::ZERO))
    }

    /// The same without a list of the entries: `entry` gives component `c` of entry `j` for `components * j +
    /// c`. It is called twice for each of them, and once more for every eight bits of the component's width.
    ///
    /// Memory: the coefficients, and eight bits of each entry.
    #[must_use]
    pub fn from_fn(parts: [usize; 3], components: usize, entry: impl Fn(usize) -> G) -> Option<Cube<G>> {
        let k = index_bits(parts)?;
        if !(1..=MAX_CUBE_WIDTH).contains(&components) {
            return None;
        }
        let mut all = vec![0; components];
        for at in (0..1 << k).map(|j| components * j) {
            for (c, all) in all.iter_mut().enumerate() {
                *all |= entry(at + c).to_bits();
            }
        }
        let widths: Vec<usize> = all.iter().map(|all| (128 - all.leading_zeros() as usize).max(1)).collect();
        let width: usize = widths.iter().sum();
        if !has_capacity(parts, width) {
            return None;
        }
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 cube v1");
        for number in parts.into_iter().chain([components, G::BITS]) {
            hasher.update(&(number as u64).to_le_bytes());
        }
        for at in 0..components << k {
            hasher.update(&entry(at).to_bits().to_le_bytes());
        }
        let some = widths.iter().enumerate().flat_map(|(component, width)| {
            let from = (0..*width).step_by(BITS_AT_ONCE);
            from.map(move |from| (component, from..*width.min(&(from + BITS_AT_ONCE))))
        });
        let planes = some.map(|(component, bits)| {
            let mut planes = vec![vec![0_u64; (1_usize << k).div_ceil(64)]; bits.len()];
            for j in 0..1 << k {
                let entry = entry(components * j + component).to_bits() >> bits.start;
                for (b, plane) in planes.iter_mut().enumerate() {
                    plane[j / 64] |= ((entry >> b) as u64 & 1) << (j % 64);
                }
            }
            planes
        });
        let grid = Arc::new(Grid::new(parts, width, planes.flatten()));
        Some(Cube { grid, widths, digest: *hasher.finalize().as_bytes(), entry: std::marker::PhantomData })
    }

    /// The width of an index, in bits.
    #[must_use]
    pub fn index_bits(&self) -> usize {
        self.grid.bits.iter().sum()
    }

    /// The widths of the parts of an index in bits, the last part the lowest.
    #[must_use]
    pub fn parts(&self) -> [usize; 3] {
        self.grid.bits
    }

    /// The width of an entry in bits, all its components together.
    #[must_use]
    pub fn width(&self) -> usize {
        self.grid.width
    }

    /// The number of components of an entry.
    #[must_use]
    pub fn components(&self) -> usize {
        self.widths.len()
    }
}

/// The number of bits of an index with these parts; `None` if there is no such index.
fn index_bits(parts: [usize; 3]) -> Option<usize> {
    let fit = parts.iter().all(|part| (1..=MAX_PART).contains(part));
    let k: usize = parts.iter().fold(0, |sum, part| sum.saturating_add(*part));
    (fit && k <= MAX_CUBE_BITS).then_some(k)
}

/// For each lookup three replicated one-hot vectors, whose tensor product is `e^(r)`, with `[r]`, for a
/// single use: they cannot be copied.
pub struct OneHotsCube {
    made: Arc<Products>,
    lot: Lot,
}

impl OneHotsCube {
    /// The number of lookups for which the vectors are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lot.range.len()
    }

    /// The first `n`, and the rest; `None` if there are fewer, or if n is no multiple of 512, the number that
    /// a tile holds.
    #[must_use]
    pub fn split(self, n: usize) -> Option<[OneHotsCube; 2]> {
        let OneHotsCube { made, lot } = self;
        let whole = n.is_multiple_of(LANES).then_some(n)?;
        Some(lot.split(whole)?.map(|lot| OneHotsCube { made: Arc::clone(&made), lot }))
    }
}

impl BlackBox {
    /// rOHV of three factors: `[r]` for `count` random r with parts of these widths, and `[e^(ri)]` for each
    /// part, the last the lowest of r. The products are owed to verify_mul.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless [`Cube::new`] accepts such parts, and for no vectors or more than
    /// [`MAX_BYTES`] of them; the abort that ends the session.
    pub fn rohv_cube(&mut self, parts: [usize; 3], count: usize) -> Result<OneHotsCube, Abort> {
        let fits = index_bits(parts).is_some()
            && count > 0
            && bytes(parts, 1).checked_mul(count.div_ceil(LANES)).is_some_and(|n| n <= MAX_BYTES);
        if !fits {
            return Err(self.trio.session.misuse(VECTORS, Misuse::LengthUnsupported));
        }
        let made = Arc::new(Products::make(&mut self.trio, parts, count)?);
        self.owe_parts(&made)?;
        Ok(OneHotsCube { made, lot: self.lot(count) })
    }

    /// The products of vectors are owed a verification: one relation a vector \[A17, A18\].
    fn owe_parts(&mut self, made: &Arc<Products>) -> Result<(), Abort> {
        let parts: Vec<usize> = (0..3).filter(|p| made.bits[*p] > 1).collect();
        if parts.is_empty() {
            return Ok(());
        }
        let each: usize = parts.iter().map(|p| (1 << made.bits[*p]) - made.bits[*p] - 1).sum();
        let relations = (parts.len() * made.lanes) as u64;
        self.relations += relations; // [A17]
        let held = (bytes(made.bits, made.tiles.len()) / TERM_BYTES) as u64;
        let statement = Box::new(relation::Vectors { made: Arc::clone(made), parts });
        self.owe::<Gf64>(statement, (each * made.lanes) as u64, relations.max(held))
    }
}

/// Bytes of the products of this many tiles.
fn bytes(parts: [usize; 3], tiles: usize) -> usize {
    2 * Plane::BYTES * starts(parts)[3] * tiles
}
