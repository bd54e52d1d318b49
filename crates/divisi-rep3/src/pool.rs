//! Reuse of memory from layer to layer: fresh memory would cost a page fault for every 4 KiB, which is more
//! than most of the work on it.

use divisi_field::Plane;
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::Zeroize;

/// The most bytes that are kept; buffers beyond them go back to the system.
const KEPT: usize = 96 << 20;

/// Buffers of zero planes, kept by one strand. A value that has taken a buffer gives it back, wiped, when it
/// is dropped.
#[derive(Clone, Default)]
pub(crate) struct Pool(Arc<Mutex<Vec<Vec<Plane>>>>);

impl Pool {
    /// Take a vector of this many planes, all zero.
    pub(crate) fn take(&self, planes: usize) -> Vec<Plane> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // the smallest that is large enough
        let fits = (0..kept.len()).filter(|i| kept[*i].capacity() >= planes);
        let mut buffer = match fits.min_by_key(|i| kept[*i].capacity()) {
            Some(at) => kept.swap_remove(at),
            None => Vec::with_capacity(planes),
        };
        drop(kept);
        buffer.resize(planes, Plane::ZERO);
        buffer
    }

    /// Give all buffers back to the system, for a time in which nobody computes.
    pub(crate) fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Vec::new();
    }

    /// Wipe a buffer, and keep it for the next one who asks.
    pub(crate) fn give(&self, mut buffer: Vec<Plane>) {
        buffer.as_mut_slice().zeroize();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: usize = kept.iter().map(|buffer| buffer.capacity() * Plane::BYTES).sum();
        if bytes + buffer.capacity() * Plane::BYTES <= KEPT {
            kept.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_is_wiped_and_used_again() {
        let pool = Pool::default();
        let mut first = pool.take(10);
        first.iter_mut().for_each(|plane| *plane = Plane::ONES);
        let place = first.as_ptr();
        pool.give(first);
        let small = pool.take(4);
        assert!(small.as_ptr() == place && small.iter().all(|plane| *plane == Plane::ZERO));
        pool.give(small);
        let again = pool.take(10);
        assert!(again.as_ptr() == place && again.len() == 10);
        assert!(again.iter().all(|plane| *plane == Plane::ZERO));
    }

    #[test]
    fn no_more_is_kept_than_the_bound() {
        let pool = Pool::default();
        let half = KEPT / 2 / Plane::BYTES + 1;
        let two = [pool.take(half), pool.take(half)];
        two.into_iter().for_each(|buffer| pool.give(buffer));
        assert_eq!(pool.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn what_is_released_is_gone() {
        let pool = Pool::default();
        pool.give(vec![Plane::ZERO; 100]);
        pool.clone().release();
        assert!(pool.0.lock().unwrap().is_empty());
        assert_eq!(pool.take(10).len(), 10);
    }
}
