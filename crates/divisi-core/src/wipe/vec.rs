//! Vectors whose memory is wiped and kept for later vectors.
//!
//! Each batch of correlations, and each layer of a cipher, fills long vectors and then drops them. Returning
//! their memory to the system, and getting cleared pages again, takes about as long as the computation in
//! it. So each thread keeps some of the memory of its dropped vectors, wiped; no other thread uses it, and it
//! is freed when the thread ends.

use super::{whole, words};
use std::any::Any;
use std::cell::RefCell;
use std::fmt::{Debug, Formatter};
use std::ops::{Deref, DerefMut};

/// The most bytes that a thread keeps of each type.
const MOST: usize = 24 << 20;
/// The smallest vector, in bytes, whose memory is kept. The allocator is fast for smaller ones.
const LEAST: usize = 16 << 10;

/// Types that are wiped by writing their default, zero.
pub trait Wipe: Copy + Default + 'static {}

impl<T: Copy + Default + 'static> Wipe for T {}

/// A vector that is wiped when dropped; its memory is then kept for the thread's next vectors.
///
/// Vectors that grow by themselves leave a copy in their old place: ask for room first
/// ([`WipedVec::with_capacity`], [`WipedVec::room`]).
pub struct WipedVec<T: Wipe>(Vec<T>);

impl<T: Wipe> WipedVec<T> {
    /// An empty vector without memory.
    #[must_use]
    pub const fn new() -> WipedVec<T> {
        WipedVec(Vec::new())
    }

    /// An empty vector with capacity for `len` elements.
    #[must_use]
    pub fn with_capacity(len: usize) -> WipedVec<T> {
        let mut vector = Kept::take(len).unwrap_or_else(|| Vec::with_capacity(len));
        vector.clear();
        WipedVec(vector)
    }

    /// A vector of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> WipedVec<T> {
        let Some(mut vector) = Kept::take(len) else { return WipedVec(vec![T::default(); len]) };
        // what was kept is zero already
        vector.truncate(len);
        vector.resize(len, T::default());
        WipedVec(vector)
    }

    /// Makes room for `more` elements. If the elements move, their old place is wiped.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        if self.0.capacity() - self.0.len() < more {
            let mut larger = WipedVec::with_capacity((self.0.len() + more).max(2 * self.0.len()));
            larger.0.extend_from_slice(&self.0);
            // dropping the old vector wipes it
            *self = larger;
        }
    }

    /// Wipes the whole allocation, also what lies after the last element, and empties the vector; it keeps
    /// its capacity.
    pub fn wipe(&mut self) {
        whole(&mut self.0);
    }

    /// Wipes and removes all elements after the first `len`.
    pub fn cut(&mut self, len: usize) {
        let len = len.min(self.0.len());
        words(&mut self.0[len..]);
        self.0.truncate(len);
    }

    /// The vector itself, which nobody wipes any more: for what becomes public.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }
}

impl<T: Wipe> Default for WipedVec<T> {
    fn default() -> WipedVec<T> {
        WipedVec::new()
    }
}

impl<T: Wipe> Clone for WipedVec<T> {
    fn clone(&self) -> WipedVec<T> {
        WipedVec::from(&self.0[..])
    }
}

impl<T: Wipe> From<Vec<T>> for WipedVec<T> {
    fn from(vector: Vec<T>) -> WipedVec<T> {
        WipedVec(vector)
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

impl<T: Wipe> Deref for WipedVec<T> {
    type Target = Vec<T>;

    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Wipe> DerefMut for WipedVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, T: Wipe> IntoIterator for &'a WipedVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T: Wipe> IntoIterator for &'a mut WipedVec<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<T: Wipe> Drop for WipedVec<T> {
    fn drop(&mut self) {
        words(&mut self.0);
        if self.0.capacity() * size_of::<T>() >= LEAST {
            Kept::here(|kept| kept.keep(std::mem::take(&mut self.0)));
        }
    }
}

/// Without the elements.
impl<T: Wipe> Debug for WipedVec<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "WipedVec({} values)", self.0.len())
    }
}

/// What a thread keeps of vectors of one type: zeros, the oldest vector first.
struct Kept<T> {
    vectors: Vec<Vec<T>>,
    bytes: usize,
}

thread_local! {
    /// The `Kept` of each type that the thread has had.
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

impl<T: 'static> Kept<T> {
    /// Calls `f` on the calling thread's vectors of this type; `None` if the thread is ending.
    fn here<R>(f: impl FnOnce(&mut Kept<T>) -> R) -> Option<R> {
        let find = |all: &RefCell<Vec<Box<dyn Any>>>| {
            let mut all = all.try_borrow_mut().ok()?;
            let at = all.iter().position(|kept| kept.is::<Kept<T>>()).unwrap_or_else(|| {
                all.push(Box::new(Kept::<T> { vectors: Vec::new(), bytes: 0 }));
                all.len() - 1
            });
            all.get_mut(at)?.downcast_mut().map(f)
        };
        KEPT.try_with(find).ok().flatten()
    }

    /// Takes the smallest vector that has room for `len` elements, and not for many more. Its elements, of
    /// which there may be fewer, are zero.
    #[inline]
    fn take(len: usize) -> Option<Vec<T>> {
        if len.saturating_mul(size_of::<T>()) < LEAST {
            None
        } else {
            Self::here(|kept| kept.smallest(len)).flatten()
        }
    }

    fn smallest(&mut self, len: usize) -> Option<Vec<T>> {
        let capacity = |at: &usize| self.vectors[*at].capacity();
        let fits = |at: &usize| capacity(at) >= len && capacity(at) / 2 <= len;
        // sizes repeat: one of the newest has mostly the right one, and is still in the cache
        let exact = (0..self.vectors.len()).rev().find(|at| capacity(at) == len);
        let at = exact.or_else(|| (0..self.vectors.len()).filter(fits).min_by_key(capacity))?;
        let vector = self.vectors.remove(at);
        self.bytes -= vector.capacity() * size_of::<T>();
        Some(vector)
    }

    /// Keeps a vector of zeros. If there are too many bytes then, the oldest vectors are freed.
    fn keep(&mut self, vector: Vec<T>) {
        let size = vector.capacity() * size_of::<T>();
        if size > MOST {
            return;
        }
        let (mut left, mut leave) = (self.bytes + size, 0);
        while left > MOST
            && let Some(oldest) = self.vectors.get(leave)
        {
            left -= oldest.capacity() * size_of::<T>();
            leave += 1;
        }
        self.vectors.drain(..leave);
        self.bytes = left;
        self.vectors.push(vector);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_as_zeros() {
        let len = LEAST / 16 + 5;
        let mut one = WipedVec::<u128>::zeros(len);
        one.fill(7);
        let place = one.as_ptr();
        drop(one);
        // another type gets other memory, also if it is as large
        assert_ne!(WipedVec::<[u64; 2]>::zeros(len).as_ptr().cast(), place);
        let mut two = WipedVec::<u128>::zeros(len - 3);
        assert_eq!((two.as_ptr(), two.len()), (place, len - 3));
        assert!(two.iter().all(|word| *word == 0));
        two.fill(9);
        two.cut(2);
        assert_eq!(**two, [9, 9]);
        drop(two);
        // a vector of half that length is too small for this memory, and a longer one does not fit
        assert_ne!(WipedVec::<u128>::zeros(len / 2 - 2).as_ptr(), place);
        assert_ne!(WipedVec::<u128>::zeros(2 * len).as_ptr(), place);
        let three: WipedVec<u128> = (0..len as u128).collect();
        assert_eq!((three.as_ptr(), three[4], three.len()), (place, 4, len));
        let four = three.clone();
        drop(three);
        let five = four.clone();
        assert_eq!((five.as_ptr(), five[4], five.len()), (place, 4, len));
        assert_eq!(format!("{five:?}"), format!("WipedVec({len} values)"));
        assert_eq!(five.into_vec(), **four);
    }

    #[test]
    fn no_more_is_kept_than_the_most() {
        let of_bytes = || Kept::<u8>::here(|kept| (kept.vectors.len(), kept.bytes)).unwrap();
        let all: Vec<_> = (0..9).map(|i| WipedVec::<u8>::zeros((MOST / 4) + i)).collect();
        drop(all);
        let (count, bytes) = of_bytes();
        assert!(count == 3 && bytes <= MOST, "{count} {bytes}");
        let there = Kept::<u8>::here(|kept| kept.vectors.iter().map(Vec::capacity).sum());
        assert_eq!(Some(bytes), there);
        drop(WipedVec::<u8>::zeros(MOST + 1));
        drop(WipedVec::<u8>::zeros(LEAST - 1));
        assert_eq!(of_bytes(), (count, bytes));
    }
}
