//! Vectors whose memory is wiped and kept for later vectors.

use super::kept::{LEAST, MOST, Wipe, bytes, kept, take};
use super::{whole, words};
use std::fmt::{Debug, Formatter};
use std::ops::{Deref, DerefMut};

/// A vector that is wiped when dropped; its memory is then kept for later vectors. It is a slice with methods
/// of its own that change the length: a vector that grows by itself would leave a copy in its old place, and
/// one that shrinks what it had behind its end.
pub struct WipedVec<T: Wipe> {
    vector: Vec<T>,
    /// The largest length since the memory was all zeros.
    used: usize,
}

impl<T: Wipe> WipedVec<T> {
    /// An empty vector without memory.
    #[must_use]
    pub const fn new() -> WipedVec<T> {
        WipedVec { vector: Vec::new(), used: 0 }
    }

    /// An empty vector with capacity for `len` elements.
    #[must_use]
    pub fn with_capacity(len: usize) -> WipedVec<T> {
        let mut vector = take(len).unwrap_or_else(|| Vec::with_capacity(len));
        vector.clear();
        WipedVec { vector, used: 0 }
    }

    /// A vector of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> WipedVec<T> {
        let Some(mut vector) = take(len) else { return WipedVec::from(vec![T::default(); len]) };
        // what was kept is zero already
        vector.truncate(len);
        vector.resize(len, T::default());
        WipedVec::from(vector)
    }

    /// Reserves memory for `more` elements. If the elements move, their old place is wiped.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        if self.vector.capacity() - self.vector.len() < more {
            let len = self.vector.len();
            let mut larger = WipedVec::with_capacity((len + more).max(2 * len));
            larger.vector.extend_from_slice(&self.vector);
            // dropping the old vector wipes it
            *self = larger;
        }
    }

    /// Appends an element.
    #[inline]
    pub fn push(&mut self, element: T) {
        self.reserve(1);
        self.vector.push(element);
    }

    /// Appends a copy of these elements.
    #[inline]
    pub fn extend_from_slice(&mut self, more: &[T]) {
        self.reserve(more.len());
        self.vector.extend_from_slice(more);
    }

    /// Changes the length to `len`; elements that are new are `element`.
    #[inline]
    pub fn resize(&mut self, len: usize, element: T) {
        self.reserve(len.saturating_sub(self.vector.len()));
        self.truncate(len);
        self.vector.resize(len, element);
    }

    /// Calls `f` on the vector itself, in which there is memory for `more` elements. `f` must not let it grow
    /// further; what it removes is wiped later, with the vector.
    #[inline]
    pub fn append_by<R>(&mut self, more: usize, f: impl FnOnce(&mut Vec<T>) -> R) -> R {
        self.reserve(more);
        self.used = self.used.max(self.vector.len());
        let (place, out) = (self.vector.as_ptr(), f(&mut self.vector));
        debug_assert_eq!(place, self.vector.as_ptr(), "the elements moved, and left a copy");
        out
    }

    /// Removes all elements after the first `len`. They are wiped later, with the vector.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.used = self.used.max(self.vector.len());
        self.vector.truncate(len);
    }

    /// Removes all elements. They are wiped later, with the vector.
    #[inline]
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Wipes the whole allocation, also what lies after the last element, and empties the vector; it keeps
    /// its capacity.
    pub fn wipe(&mut self) {
        whole(&mut self.vector);
        self.used = 0;
    }

    /// Wipes and removes all elements after the first `len`.
    pub fn cut(&mut self, len: usize) {
        let len = len.min(self.vector.len());
        words(&mut self.vector[len..]);
        self.vector.truncate(len);
    }

    /// The elements.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.vector
    }

    /// How many elements there is memory for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.vector.capacity()
    }

    /// The vector itself, which nobody wipes any more: for what becomes public.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<T> {
        let len = self.vector.len();
        self.wipe_removed();
        self.vector.truncate(len);
        std::mem::take(&mut self.vector)
    }

    /// Writes zeros over what was removed, as further elements.
    fn wipe_removed(&mut self) {
        if self.vector.len() < self.used {
            self.vector.resize(self.used, T::default());
        }
    }
}

impl<T: Wipe> Default for WipedVec<T> {
    fn default() -> WipedVec<T> {
        WipedVec::new()
    }
}

impl<T: Wipe> Clone for WipedVec<T> {
    fn clone(&self) -> WipedVec<T> {
        WipedVec::from(&self[..])
    }
}

impl<T: Wipe> From<Vec<T>> for WipedVec<T> {
    fn from(vector: Vec<T>) -> WipedVec<T> {
        WipedVec { vector, used: 0 }
    }
}

impl<T: Wipe> From<&[T]> for WipedVec<T> {
    fn from(slice: &[T]) -> WipedVec<T> {
        let mut vector = WipedVec::with_capacity(slice.len());
        vector.extend_from_slice(slice);
        vector
    }
}

impl<T: Wipe> FromIterator<T> for WipedVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> WipedVec<T> {
        let iter = iter.into_iter();
        let mut vector = WipedVec::with_capacity(iter.size_hint().0);
        vector.extend(iter);
        vector
    }
}

impl<T: Wipe> Extend<T> for WipedVec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, iter: I) {
        let iter = iter.into_iter();
        match iter.size_hint() {
            (least, Some(most)) if least == most => self.append_by(least, |vector| vector.extend(iter)),
            // one by one, since nobody knows how many there are
            _ => iter.for_each(|element| self.push(element)),
        }
    }
}

impl<T: Wipe> Deref for WipedVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.vector
    }
}

impl<T: Wipe> DerefMut for WipedVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.vector
    }
}

impl<'a, T: Wipe> IntoIterator for &'a WipedVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.vector.iter()
    }
}

impl<'a, T: Wipe> IntoIterator for &'a mut WipedVec<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.vector.iter_mut()
    }
}

impl<T: Wipe> Drop for WipedVec<T> {
    fn drop(&mut self) {
        self.wipe_removed();
        words(&mut self.vector);
        if (LEAST..=MOST).contains(&bytes(&self.vector)) {
            kept().keep(std::mem::take(&mut self.vector));
        }
    }
}

/// Without the elements.
impl<T: Wipe> Debug for WipedVec<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "WipedVec({} values)", self.vector.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types of which no other test keeps vectors, so that their memory stays here.
    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    struct Own(u128);
    #[derive(Clone, Copy, Default)]
    struct Other(#[expect(dead_code)] [u64; 2]);

    #[test]
    fn memory_comes_back_as_zeros() {
        let len = LEAST / 16 + 5;
        let mut one = WipedVec::<Own>::zeros(len);
        one.fill(Own(7));
        let place = one.as_ptr();
        drop(one);
        // another type gets other memory, also if it is as large
        assert_ne!(WipedVec::<Other>::zeros(len).as_ptr().cast(), place);
        let mut two = WipedVec::<Own>::zeros(len - 3);
        assert_eq!((two.as_ptr(), two.len()), (place, len - 3));
        assert!(two.iter().all(|word| *word == Own(0)));
        two.fill(Own(9));
        two.cut(2);
        assert_eq!(*two, [Own(9), Own(9)]);
        // another thread's memory serves as well
        std::thread::spawn(move || drop(two)).join().unwrap();
        // a vector of half that length is too small for this memory, and a longer one does not fit
        assert_ne!(WipedVec::<Own>::zeros(len / 2 - 2).as_ptr(), place);
        assert_ne!(WipedVec::<Own>::zeros(2 * len).as_ptr(), place);
        let three: WipedVec<Own> = (0..len as u128).map(Own).collect();
        assert_eq!((three.as_ptr(), three[4], three.len()), (place, Own(4), len));
        let four = three.clone();
        drop(three);
        let five = four.clone();
        assert_eq!((five.as_ptr(), five[4], five.len()), (place, Own(4), len));
        assert_eq!(format!("{five:?}"), format!("WipedVec({len} values)"));
        assert_eq!(five.into_vec(), *four);
    }

    /// Neither memory beyond the most nor a small vector's is kept.
    #[test]
    fn the_largest_and_the_smallest_are_freed() {
        #[derive(Clone, Copy, Default)]
        struct Lone(#[expect(dead_code)] u8);
        drop(WipedVec::<Lone>::zeros(MOST + 1));
        drop(WipedVec::<Lone>::zeros(LEAST - 1));
        assert_eq!(kept().of::<Lone>().unwrap().len(), 0);
        drop(WipedVec::<Lone>::zeros(LEAST));
        assert_eq!(kept().of::<Lone>().unwrap().len(), 1);
    }

    /// \[Q17\] Of what comes in an unknown number nothing is left in the old place: the vector itself makes
    /// room.
    #[test]
    fn a_vector_grows_into_memory_that_was_kept() {
        #[derive(Clone, Copy, Default)]
        struct Single(#[expect(dead_code)] u64);
        let len = LEAST as u64 / 8;
        let larger = WipedVec::<Single>::zeros(2 * LEAST / 8);
        let place = larger.as_ptr();
        let mut vector: WipedVec<Single> = (0..len).map(Single).collect();
        drop(larger);
        vector.extend([Single(1)].into_iter().filter(|_| true));
        assert_eq!((vector.as_ptr(), vector.len()), (place, LEAST / 8 + 1));
    }

    /// \[Q17\] What was removed is wiped with the vector, wherever it ends.
    #[test]
    fn what_was_removed_is_wiped() {
        let all = |len: usize| (0..len as u64).map(|i| i + 1).collect::<WipedVec<u64>>();
        let mut one = all(LEAST);
        one.truncate(5);
        one.push(7);
        assert_eq!((one.len(), one.used), (6, LEAST));
        one.wipe_removed();
        assert!(one.len() == LEAST && one[6..].iter().all(|word| *word == 0));
        let mut two = all(9);
        two.clear();
        two.resize(2, 3);
        two.extend([4, 5].into_iter().filter(|four| *four == 4));
        assert_eq!((&*two, two.used), (&[3, 3, 4][..], 9));
        let mut three = all(4);
        three.append_by(0, |vector| vector.truncate(1));
        three.append_by(0, |_| ());
        assert_eq!((three.len(), three.used), (1, 4));
        assert_eq!(two.into_vec(), [3, 3, 4]);
    }
}
