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
pub struct Kept<T: Keep>(Vec<T>);

/// Element types of [`Kept`].
pub trait Keep: Copy + Default + Zeroize + 'static {
    /// Calls `f` on the calling thread's pool; `None` if the thread is ending.
    fn room<R>(f: impl FnOnce(&mut Room<Self>) -> R) -> Option<R>;
}

/// A thread's pool of wiped vectors, the oldest one first.
pub struct Room<T> {
    vectors: Vec<Vec<T>>,
    bytes: usize,
}

thread_local! {
    static WORDS: RefCell<Room<u128>> = const { RefCell::new(Room { vectors: Vec::new(), bytes: 0 }) };
    static HALVES: RefCell<Room<u64>> = const { RefCell::new(Room { vectors: Vec::new(), bytes: 0 }) };
    static QUARTERS: RefCell<Room<u32>> = const { RefCell::new(Room { vectors: Vec::new(), bytes: 0 }) };
    static BYTES: RefCell<Room<u8>> = const { RefCell::new(Room { vectors: Vec::new(), bytes: 0 }) };
}

impl Keep for u128 {
    fn room<R>(f: impl FnOnce(&mut Room<u128>) -> R) -> Option<R> {
        WORDS.try_with(|room| room.try_borrow_mut().ok().map(|mut room| f(&mut room))).ok().flatten()
    }
}

impl Keep for u64 {
    fn room<R>(f: impl FnOnce(&mut Room<u64>) -> R) -> Option<R> {
        HALVES.try_with(|room| room.try_borrow_mut().ok().map(|mut room| f(&mut room))).ok().flatten()
    }
}

impl Keep for u32 {
    fn room<R>(f: impl FnOnce(&mut Room<u32>) -> R) -> Option<R> {
        QUARTERS.try_with(|room| room.try_borrow_mut().ok().map(|mut room| f(&mut room))).ok().flatten()
    }
}

impl Keep for u8 {
    fn room<R>(f: impl FnOnce(&mut Room<u8>) -> R) -> Option<R> {
        BYTES.try_with(|room| room.try_borrow_mut().ok().map(|mut room| f(&mut room))).ok().flatten()
    }
}

impl<T: Keep> Room<T> {
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

impl<T: Keep> Kept<T> {
    /// An empty vector with capacity for `len` elements.
    #[must_use]
    pub fn with_capacity(len: usize) -> Kept<T> {
        let mut vector = Kept::taken(len).unwrap_or_else(|| Vec::with_capacity(len));
        vector.clear();
        Kept(vector)
    }

    /// A vector of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Kept<T> {
        let Some(mut vector) = Kept::taken(len) else { return Kept(vec![T::default(); len]) };
        // a vector from the pool is zero already
        vector.truncate(len);
        vector.resize(len, T::default());
        Kept(vector)
    }

    fn taken(len: usize) -> Option<Vec<T>> {
        if len.saturating_mul(size_of::<T>()) < LEAST {
            None
        } else {
            T::room(|room| room.take(len)).flatten()
        }
    }

    /// Makes room for `more` elements. If the elements move, their old place is wiped.
    #[inline]
    pub fn room(&mut self, more: usize) {
        if self.0.capacity() - self.0.len() < more {
            let mut larger = Kept::with_capacity((self.0.len() + more).max(2 * self.0.len()));
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

impl<T: Keep> From<&[T]> for Kept<T> {
    fn from(slice: &[T]) -> Kept<T> {
        let mut kept = Kept::with_capacity(slice.len());
        kept.extend_from_slice(slice);
        kept
    }
}

impl<T: Keep> FromIterator<T> for Kept<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Kept<T> {
        let iter = iter.into_iter();
        let mut kept = Kept::with_capacity(iter.size_hint().0);
        kept.extend(iter);
        kept
    }
}

impl<T: Keep> Deref for Kept<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Keep> DerefMut for Kept<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: Keep> Drop for Kept<T> {
    fn drop(&mut self) {
        wipe::words(&mut self.0);
        if self.0.capacity() * size_of::<T>() >= LEAST {
            let vector = std::mem::take(&mut self.0);
            T::room(|room| room.give(vector));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_as_zeros() {
        let len = LEAST / 16 + 5;
        let mut one = Kept::<u128>::zeros(len);
        one.fill(7);
        let place = one.as_ptr();
        drop(one);
        let mut two = Kept::<u128>::zeros(len - 3);
        assert_eq!((two.as_ptr(), two.len()), (place, len - 3));
        assert!(two.iter().all(|word| *word == 0));
        two.fill(9);
        two.cut(2);
        assert_eq!(**two, [9, 9]);
        drop(two);
        // a vector of half that length is too small for this memory, and a longer one does not fit
        assert_ne!(Kept::<u128>::zeros(len / 2 - 2).as_ptr(), place);
        assert_ne!(Kept::<u128>::zeros(2 * len).as_ptr(), place);
        let three: Kept<u128> = (0..len as u128).collect();
        assert_eq!((three.as_ptr(), three[4], three.len()), (place, 4, len));
    }

    /// \[Q17\] What was cut off is wiped, although the memory stays.
    #[test]
    #[cfg(feature = "testing")]
    fn what_is_cut_off_is_wiped() {
        let needle = divisi_core::testing::memory::Needle::new(0x77, true);
        let mut kept = Kept::<u128>::zeros(0);
        wipe::stack(|| {
            let mut bytes = [0; 16];
            needle.plant(&mut bytes);
            kept = Kept::from(&[u128::from_le_bytes(bytes); 64][..]);
            kept.cut(0);
        });
        assert_eq!((kept.len(), needle.copies().unwrap()), (0, Vec::new()));
    }

    #[test]
    fn no_more_is_kept_than_the_most() {
        let all: Vec<_> = (0..9).map(|i| Kept::<u8>::zeros((MOST / 4) + i)).collect();
        drop(all);
        let (count, bytes) = u8::room(|room| (room.vectors.len(), room.bytes)).unwrap();
        assert!(count == 3 && bytes <= MOST, "{count} {bytes}");
        let bytes_there: usize = u8::room(|room| room.vectors.iter().map(Vec::capacity).sum()).unwrap();
        assert_eq!(bytes, bytes_there);
        drop(Kept::<u8>::zeros(MOST + 1));
        assert_eq!(u8::room(|room| room.bytes), Some(bytes));
    }
}
