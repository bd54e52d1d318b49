//! Memory of masked tables: large pages where the system has them.
//!
//! One entry of each table of 2 KiB is read, at an index that is known only when it is opened. With pages of
//! 4 KiB nearly every lookup first waits until the address of its page is translated, and then for the entry
//! itself.

use divisi_core::wipe;
use memmap2::{Advice, MmapMut};
use std::ops::{Deref, DerefMut};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Memory of at least this many bytes comes from the system, in pages of its own; less, from the allocator.
const LARGE: usize = 4 << 20;

/// Words of tables; wiped when dropped.
pub(crate) struct Pages<W: Word>(Memory<W>);

enum Memory<W> {
    Small(Vec<W>),
    Large(MmapMut),
}

/// Types of words that may lie in such memory: without padding, and valid whatever their bits are.
pub trait Word: Copy + Default + FromBytes + IntoBytes + Immutable {}

impl<W: Copy + Default + FromBytes + IntoBytes + Immutable> Word for W {}

impl<W: Word> Pages<W> {
    /// Memory for `len` words, all zero.
    pub fn zeros(len: usize) -> Self {
        let bytes = len.saturating_mul(size_of::<W>());
        let large = if bytes >= LARGE { MmapMut::map_anon(bytes).ok() } else { None };
        Pages(match large {
            Some(map) => {
                // advice: where the system does not take it, only the time differs
                #[cfg(target_os = "linux")]
                let _ = map.advise(Advice::HugePage);
                Memory::Large(map)
            }
            None => Memory::Small(vec![W::default(); len]),
        })
    }
}

impl<W: Word> Default for Pages<W> {
    fn default() -> Self {
        Pages(Memory::Small(Vec::new()))
    }
}

impl<W: Word> Deref for Pages<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        match &self.0 {
            Memory::Small(words) => words,
            // the map has room for whole words, and begins at an address where a word may begin
            Memory::Large(map) => <[W]>::ref_from_bytes(map).unwrap_or_default(),
        }
    }
}

impl<W: Word> DerefMut for Pages<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        match &mut self.0 {
            Memory::Small(words) => words,
            Memory::Large(map) => <[W]>::mut_from_bytes(map).unwrap_or_default(),
        }
    }
}

impl<W: Word> Drop for Pages<W> {
    fn drop(&mut self) {
        wipe::words(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both kinds of memory have zeros first, and then the words that were written.
    #[test]
    fn words_are_zeros_until_they_are_written() {
        for len in [0, 1, 1000, LARGE / 8 - 1, LARGE / 8, LARGE / 8 + 3] {
            let mut words = Pages::<u64>::zeros(len);
            assert_eq!((words.len(), words.iter().max().copied().unwrap_or(0)), (len, 0));
            assert_eq!(matches!(words.0, Memory::Large(_)), len >= LARGE / 8);
            words.iter_mut().zip(1..).for_each(|(word, i)| *word = i);
            assert!(words.iter().zip(1..).all(|(word, i)| *word == i));
        }
        assert_eq!(Pages::<u128>::zeros(LARGE).len(), LARGE);
    }
}
