//! Vectors whose memory is wiped and kept for later vectors.
//!
//! Each batch of correlations fills long vectors and then drops them. Returning their memory to the system,
//! and getting cleared pages again, takes about as long as the computation in it. So each thread keeps some
//! of the memory of its dropped vectors, wiped, in a pool that no other thread uses and that is freed when
//! the thread ends.

use crate::wipe;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use zeroize::Zeroize;

/// The largest number of bytes in a thread's pool, for each type.
const MOST: usize = 24 << 20;
/// The smallest vector, in bytes, whose memory is kept. The allocator is fast for smaller ones.
const LEAST: usize = 16 << 10;

/// A vector that is wiped when dropped; its memory then goes to the thread's pool.
#[derive(Default)]
pub struct WipedVec<T: PoolElement>(Vec<T>);

/// Element types of [`WipedVec`].
pub trait PoolElement: Copy + Default + Zeroize + 'static {
    /// Calls `f` on the calling thread's pool; `None` if the thread is ending.
    fn pool<R>(f: impl FnOnce(&mut VecPool<Self>) -> R) -> Option<R>;
}

/// A thread's pool of wiped vectors, the oldest one first.
pub struct VecPool<T> {
    vectors: Vec<Vec<T>>,
    bytes: usize,
}

thread_local! {
    static WORDS: RefCell<VecPool<u128>> = const { RefCell::new(VecPool::EMPTY) };
    static HALVES: RefCell<VecPool<u64>> = const { RefCell::new(VecPool::EMPTY) };
    static QUARTERS: RefCell<VecPool<u32>> = const { RefCell::new(VecPool::EMPTY) };
    static BYTES: RefCell<VecPool<u8>> = const { RefCell::new(VecPool::EMPTY) };
}

impl PoolElement for u128 {
    fn pool<R>(f: impl FnOnce(&mut VecPool<u128>) -> R) -> Option<R> {
        WORDS.try_with(|pool| pool.try_borrow_mut().ok().map(|mut pool| f(&mut pool))).ok().flatten()
    }
}

impl PoolElement for u64 {
    fn pool<R>(f: impl FnOnce(&mut VecPool<u64>) -> R) -> Option<R> {
        HALVES.try_with(|pool| pool.try_borrow_mut().ok().map(|mut pool| f(&mut pool))).ok().flatten()
    }
}

impl PoolElement for u32 {
    fn pool<R>(f: impl FnOnce(&mut VecPool<u32>) -> R) -> Option<R> {
        QUARTERS.try_with(|pool| pool.try_borrow_mut().ok().map(|mut pool| f(&mut pool))).ok().flatten()
    }
}

impl PoolElement for u8 {
    fn pool<R>(f: impl FnOnce(&mut VecPool<u8>) -> R) -> Option<R> {
        BYTES.try_with(|pool| pool.try_borrow_mut().ok().map(|mut pool| f(&mut pool))).ok().flatten()
    }
}

impl<T: PoolElement> VecPool<T> {
    const EMPTY: VecPool<T> = VecPool { vectors: Vec::new(), bytes: 0 };

    /// A vector of zeros whose capacity is at least `len`, and not much more.
    fn take(&mut self, len: usize) -> Option<Vec<T>> {
        let fits = |v: &&Vec<T>| v.capacity() >= len && v.capacity() / 2 <= len;
        let best = self.vectors.iter().filter(fits).map(Vec::capacity).min()?;
        let at = self.vectors.iter().position(|v| v.capacity() == best)?;
        self.bytes -= best * size_of::<T>();
        Some(self.vectors.remove(at))
    }

    /// Puts a vector of zeros into the pool; the oldest ones are freed if the pool gets too large.
    fn give(&mut self, vector: Vec<T>) {
        let size = vector.capacity() * size_of::<T>();
        if !(LEAST..=MOST).contains(&size) {
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

impl<T: PoolElement> WipedVec<T> {
    /// An empty vector with capacity for `len` elements.
    #[must_use]
    pub fn with_capacity(len: usize) -> WipedVec<T> {
        let mut vector = WipedVec::taken(len).unwrap_or_else(|| Vec::with_capacity(len));
        vector.clear();
        WipedVec(vector)
    }

    /// A vector of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> WipedVec<T> {
        let Some(mut vector) = WipedVec::taken(len) else { return WipedVec(vec![T::default(); len]) };
        // a vector from the pool is zero already
        vector.truncate(len);
        vector.resize(len, T::default());
        WipedVec(vector)
    }

    fn taken(len: usize) -> Option<Vec<T>> {
        if len.saturating_mul(size_of::<T>()) < LEAST {
            None
        } else {
            T::pool(|pool| pool.take(len)).flatten()
        }
    }

    /// Makes room for `more` elements. If the elements move, their old place is wiped.
    #[inline]
    pub fn room(&mut self, more: usize) {
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
        wipe::whole(&mut self.0);
    }

    /// Wipes and removes all elements after the first `len`.
    pub fn cut(&mut self, len: usize) {
        let len = len.min(self.0.len());
        wipe::words(&mut self.0[len..]);
        self.0.truncate(len);
    }
}

impl<T: PoolElement> From<&[T]> for WipedVec<T> {
    fn from(slice: &[T]) -> WipedVec<T> {
        let mut vector = WipedVec::with_capacity(slice.len());
        vector.extend_from_slice(slice);
        vector
    }
}

impl<T: PoolElement> FromIterator<T> for WipedVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> WipedVec<T> {
        let iter = iter.into_iter();
        let mut vector = WipedVec::with_capacity(iter.size_hint().0);
        vector.extend(iter);
        vector
    }
}

impl<T: PoolElement> Deref for WipedVec<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: PoolElement> DerefMut for WipedVec<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: PoolElement> Drop for WipedVec<T> {
    fn drop(&mut self) {
        wipe::words(&mut self.0);
        if self.0.capacity() * size_of::<T>() >= LEAST {
            let vector = std::mem::take(&mut self.0);
            T::pool(|pool| pool.give(vector));
        }
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
    }

    /// \[Q17\] What was cut off is wiped, although the memory stays.
    #[test]
    #[cfg(feature = "testing")]
    fn what_is_cut_off_is_wiped() {
        let needle = divisi_core::testing::memory::Needle::new(0x77, true);
        let mut vector = WipedVec::<u128>::zeros(0);
        wipe::stack(|| {
            let mut bytes = [0; 16];
            needle.plant(&mut bytes);
            vector = WipedVec::from(&[u128::from_le_bytes(bytes); 64][..]);
            vector.cut(0);
        });
        assert_eq!((vector.len(), needle.copies().unwrap()), (0, Vec::new()));
    }

    #[test]
    fn no_more_is_kept_than_the_most() {
        let all: Vec<_> = (0..9).map(|i| WipedVec::<u8>::zeros((MOST / 4) + i)).collect();
        drop(all);
        let (count, bytes) = u8::pool(|pool| (pool.vectors.len(), pool.bytes)).unwrap();
        assert!(count == 3 && bytes <= MOST, "{count} {bytes}");
        let bytes_there: usize = u8::pool(|pool| pool.vectors.iter().map(Vec::capacity).sum()).unwrap();
        assert_eq!(bytes, bytes_there);
        drop(WipedVec::<u8>::zeros(MOST + 1));
        assert_eq!(u8::pool(|pool| pool.bytes), Some(bytes));
    }
}
