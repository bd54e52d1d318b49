//! Reuse of memory from layer to layer, whichever threads drop it: fresh memory would cost a page fault for
//! every 4 KiB, which is more than most of the work on it.

use super::{Wipe, words};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// The most bytes that are kept; buffers beyond them go back to the system.
const KEPT: usize = 96 << 20;

/// Buffers of zeros. Who has borrowed one gives it back, wiped, by dropping it.
pub struct Pool<T: Wipe>(Arc<Mutex<Vec<Vec<T>>>>);

/// Memory of a [`Pool`]. It does not grow or shrink; it is wiped when dropped, and goes back to the pool.
pub struct Lent<T: Wipe> {
    buffer: Vec<T>,
    pool: Pool<T>,
}

impl<T: Wipe> Pool<T> {
    /// Memory for this many elements, all zero.
    #[must_use]
    pub fn zeros(&self, len: usize) -> Lent<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // the smallest that is large enough
        let fits = (0..kept.len()).filter(|i| kept[*i].capacity() >= len);
        let mut buffer = match fits.min_by_key(|i| kept[*i].capacity()) {
            Some(at) => kept.swap_remove(at),
            None => Vec::with_capacity(len),
        };
        drop(kept);
        buffer.resize(len, T::default());
        Lent { buffer, pool: self.clone() }
    }

    /// Give all buffers back to the system, for a time in which nobody computes.
    pub fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Vec::new();
    }

    fn give(&self, buffer: Vec<T>) {
        let bytes = |buffer: &Vec<T>| buffer.capacity() * size_of::<T>();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.iter().map(bytes).sum::<usize>() + bytes(&buffer) <= KEPT {
            kept.push(buffer);
        }
    }

    /// The number of buffers that nobody has borrowed.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl<T: Wipe> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool(Arc::default())
    }
}

/// The same buffers for one more user.
impl<T: Wipe> Clone for Pool<T> {
    fn clone(&self) -> Pool<T> {
        Pool(self.0.clone())
    }
}

impl<T: Wipe> Deref for Lent<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.buffer
    }
}

impl<T: Wipe> DerefMut for Lent<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.buffer
    }
}

impl<T: Wipe> Drop for Lent<T> {
    fn drop(&mut self) {
        words(&mut self.buffer);
        self.pool.give(std::mem::take(&mut self.buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_is_wiped_and_used_again() {
        let pool = Pool::default();
        let mut first = pool.zeros(10);
        first.fill(u128::MAX);
        let place = first.as_ptr();
        drop(first);
        let small = pool.zeros(4);
        assert!(small.as_ptr() == place && *small == [0; 4]);
        drop(small);
        let again = pool.zeros(10);
        assert!(again.as_ptr() == place && *again == [0; 10]);
    }

    #[test]
    fn no_more_is_kept_than_the_bound() {
        let pool = Pool::<u64>::default();
        let half = KEPT / 2 / 8 + 1;
        drop([pool.zeros(half), pool.zeros(half)]);
        assert_eq!(pool.kept(), 1);
    }

    #[test]
    fn what_is_released_is_gone() {
        let pool = Pool::<u8>::default();
        for _ in 0..2 {
            drop(pool.zeros(100));
            assert_eq!(pool.kept(), 1);
            pool.clone().release();
            assert_eq!((pool.kept(), pool.zeros(10).len()), (0, 10));
            pool.release();
        }
    }
}
