//! The columns of a pair's rows, and the trees that make them.
//!
//! The columns form one or two groups. Each group has its own key, which is cut into pieces of k bits
//! separately:
//!
//! - *labels*: 128 columns under Delta_i, whose lowest bit is public. They authenticate bits and make pads.
//! - *field*: f columns under Delta_i, a uniform element of GF(2^f), which authenticate bits; and 128 columns
//!   under an independent Delta'_i, which make pads. A row has the columns of the first group (narrow), of
//!   the second (a pad alone), or all of them with one bit (wide).
//!
//! Columns, base OTs and bits of a key have the same numbers, with those of the first group first. A [`Key`]
//! has all bits in this order.

use std::ops::Range;

/// The key of all columns: bit c, counted from the lowest bit of the first word, is that of column c.
pub(crate) type Key = [u128; 2];

/// The largest k.
pub const MAX_K: u32 = 8;
/// The largest number of columns of both groups together.
pub(crate) const MOST: usize = 256;
/// The number of columns of pads: so many that their key cannot be found by an offline search.
pub(crate) const PADS: usize = 128;
/// The group of the columns that authenticate.
pub(crate) const MACS: usize = 0;

/// Bit c of a key, as the lowest bit of the result; the higher bits are those that follow it in the key.
#[inline]
pub(crate) fn bit(key: &Key, c: usize) -> u128 {
    key[c / 128] >> (c % 128)
}

/// The layout of the columns of a set of trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// SoftSpokenOT's parameter.
    pub(crate) k: u32,
    /// How many columns each group has; zero if there is no such group.
    columns: [usize; 2],
    /// Whether the first bit of the key is public.
    pub(crate) public: bool,
}

/// Which groups of columns a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// Only the first group, which authenticates.
    Macs,
    /// Only the group that makes pads; in a set-up for labels this is the first group.
    Pads,
    /// All groups.
    Wide,
}

/// A piece of the key: its first bit and its number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) first: usize,
    pub(crate) bits: usize,
}

impl Layout {
    /// The layout for labels: 128 columns under a key whose lowest bit is public.
    pub(crate) fn labels(k: u32) -> Layout {
        Layout { k, columns: [128, 0], public: true }
    }

    /// The layout over a field: `f` columns (an even number, at most 128) under a uniform key, and those of
    /// pads.
    pub(crate) fn field(k: u32, f: u32) -> Layout {
        debug_assert!(f > 0 && f.is_multiple_of(2) && f as usize <= MOST - PADS, "columns of a field");
        Layout { k, columns: [f as usize, PADS], public: false }
    }

    /// The group of the columns that make pads, whose rows are hashed \[K14\]: never the few columns of a
    /// field's MACs.
    pub(crate) fn pads(self) -> usize {
        usize::from(self.columns[1] > 0)
    }

    /// The groups of rows of this width.
    pub(crate) fn groups(self, width: Width) -> Range<usize> {
        match width {
            Width::Macs => 0..1,
            Width::Pads => self.pads()..self.pads() + 1,
            Width::Wide => 0..self.pads() + 1,
        }
    }

    /// The number of all columns, which is also that of base OTs and of bits of a key.
    pub(crate) fn all(self) -> usize {
        self.columns[0] + self.columns[1]
    }

    /// The columns of a group.
    pub(crate) fn columns(self, group: usize) -> Range<usize> {
        let first = if group == 0 { 0 } else { self.columns[0] };
        first..first + self.columns[group]
    }

    /// How many bytes one bit for each column takes.
    pub(crate) fn bytes(self) -> usize {
        self.all().div_ceil(8)
    }

    fn pieces_of(self, group: usize) -> usize {
        self.columns[group].div_ceil(self.k.clamp(1, MAX_K) as usize)
    }

    /// The pieces, and so the trees, of these groups; a row costs one bit for each of them.
    pub(crate) fn trees(self, groups: &Range<usize>) -> Range<usize> {
        let before = if groups.start == 0 { 0 } else { self.pieces_of(0) };
        before..before + groups.clone().map(|group| self.pieces_of(group)).sum::<usize>()
    }

    /// How many pieces, and so trees, there are.
    pub(crate) fn pieces(self) -> usize {
        self.trees(&(0..2)).len()
    }

    /// Piece number `c`.
    pub(crate) fn piece(self, c: usize) -> Piece {
        let group = usize::from(c >= self.pieces_of(0));
        let columns = self.columns(group);
        let first = columns.start + (c - group * self.pieces_of(0)) * self.k as usize;
        Piece { first, bits: (self.k as usize).min(columns.end - first) }
    }

    /// Combines the keys of the groups to the key of all columns.
    pub(crate) fn key(self, groups: [u128; 2]) -> Key {
        let [first, second] = groups;
        match self.columns[0] {
            128 => [first, second],
            f => [first | second << f, second >> 1 >> (127 - f)],
        }
    }

    /// The part of the key that belongs to one group.
    pub(crate) fn group(self, key: &Key, group: usize) -> u128 {
        let columns = self.columns(group);
        let (low, high) = (columns.start % 128, 128 - columns.start % 128);
        let word = match columns.start {
            0 => key[0],
            128 => key[1],
            _ => key[0] >> low | key[1] << high,
        };
        if columns.len() == 128 { word } else { word & ((1 << columns.len()) - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every column lies in exactly one piece, which is of its own group, for every k and field.
    #[test]
    fn pieces_cover_the_columns() {
        for k in 1..=MAX_K {
            let fields = [2, 8, 40, 42, 48, 64, 72, 126, 128].map(|f| Layout::field(k, f));
            for layout in fields.into_iter().chain([Layout::labels(k)]) {
                let mut next = 0;
                for c in 0..layout.pieces() {
                    let Piece { first, bits } = layout.piece(c);
                    assert!(first == next && (1..=k as usize).contains(&bits));
                    next += bits;
                    let of = usize::from(!layout.trees(&(0..1)).contains(&c));
                    let columns = layout.columns(of);
                    assert!(columns.start <= first && first + bits <= columns.end, "{layout:?} {c}");
                }
                assert_eq!(next, layout.all());
                let (macs, pads) = (layout.trees(&(0..1)), layout.trees(&layout.groups(Width::Pads)));
                assert_eq!(layout.trees(&layout.groups(Width::Wide)), macs.start..pads.end);
                assert_eq!(pads.len(), 128_usize.div_ceil(k as usize));
            }
        }
    }

    #[test]
    fn keys_are_those_of_their_groups() {
        let (a, b) = (0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834_u128, u128::MAX / 7);
        for f in [2, 40, 42, 48, 64, 72, 126, 128] {
            let layout = Layout::field(4, f);
            let a = if f == 128 { a } else { a & ((1 << f) - 1) };
            let key = layout.key([a, b]);
            assert_eq!([layout.group(&key, 0), layout.group(&key, 1)], [a, b], "{f}");
            for c in 0..layout.all() {
                let of = if c < f as usize { a >> c } else { b >> (c - f as usize) };
                assert_eq!(bit(&key, c) & 1, of & 1, "{f} {c}");
            }
        }
        assert_eq!(Layout::labels(4).key([a, 0]), [a, 0]);
        assert_eq!(Layout::labels(4).group(&[a, 0], 0), a);
    }
}
