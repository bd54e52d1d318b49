//! Memory of dropped vectors, kept for later ones.
//!
//! Each batch of correlations, and each layer of a cipher, fills long vectors and then drops them. Returning
//! their memory to the system, and getting cleared pages again, takes about as long as the computation in
//! it. So the process keeps some of the memory of dropped vectors, wiped, for whichever thread asks next: if
//! each thread kept its own, one that waits would hold memory that another needs.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most bytes that are kept, of all types and threads together.
pub(super) const MOST: usize = 16 << 20;
/// The smallest vector, in bytes, whose memory is kept. The allocator is fast for smaller ones.
pub(super) const LEAST: usize = 16 << 10;

/// Types that are wiped by writing their default, zero.
pub trait Wipe: Copy + Default + Send + 'static {}

impl<T: Copy + Default + Send + 'static> Wipe for T {}

/// Memory of dropped vectors, all zeros.
pub(super) struct Kept {
    /// A [`Typed`] for each type that was ever kept.
    types: Vec<Box<dyn Erased>>,
    bytes: usize,
    /// How many vectors were kept in all.
    count: u64,
}

/// Vectors of one type, each with the number that it has among all that were kept; the oldest first.
struct Typed<T>(VecDeque<(u64, Vec<T>)>);

/// A [`Typed`] of a type that is not known.
trait Erased: Send {
    fn as_any(&mut self) -> &mut dyn Any;
    /// The number of the oldest vector.
    fn oldest(&self) -> Option<u64>;
    /// Frees the oldest vector, and returns its bytes.
    fn free_oldest(&mut self) -> usize;
}

impl<T: Wipe> Erased for Typed<T> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn oldest(&self) -> Option<u64> {
        self.0.front().map(|(number, _)| *number)
    }

    fn free_oldest(&mut self) -> usize {
        self.0.pop_front().map_or(0, |(_, vector)| bytes(&vector))
    }
}

static KEPT: Mutex<Kept> = Mutex::new(Kept::new());

pub(super) fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    const fn new() -> Kept {
        Kept { types: Vec::new(), bytes: 0, count: 0 }
    }

    /// The vectors of one type: a list, which may be empty, is always there.
    pub(super) fn of<T: Wipe>(&mut self) -> Option<&mut VecDeque<(u64, Vec<T>)>> {
        let at = self.types.iter_mut().position(|typed| typed.as_any().is::<Typed<T>>());
        let at = at.unwrap_or_else(|| {
            self.types.push(Box::new(Typed::<T>(VecDeque::new())));
            self.types.len() - 1
        });
        self.types.get_mut(at)?.as_any().downcast_mut::<Typed<T>>().map(|typed| &mut typed.0)
    }

    /// Takes the smallest vector that has room for `len` elements, and not for many more. Its elements, of
    /// which there may be fewer, are zero.
    fn take<T: Wipe>(&mut self, len: usize) -> Option<Vec<T>> {
        let vectors = self.of::<T>()?;
        let capacity = |at: &usize| vectors[*at].1.capacity();
        let fits = |at: &usize| capacity(at) >= len && capacity(at) / 2 <= len;
        // sizes repeat: one of the newest has mostly the right one, and is still in the cache
        let exact = (0..vectors.len()).rev().find(|at| capacity(at) == len);
        let at = exact.or_else(|| (0..vectors.len()).filter(fits).min_by_key(capacity))?;
        let (_, vector) = vectors.remove(at)?;
        self.bytes -= bytes(&vector);
        Some(vector)
    }

    /// Keeps a vector of zeros. If there are too many bytes then, the oldest vectors of all types are freed.
    pub(super) fn keep<T: Wipe>(&mut self, vector: Vec<T>) {
        let (number, size) = (self.count, bytes(&vector));
        let Some(vectors) = self.of() else { return };
        vectors.push_back((number, vector));
        self.count += 1;
        self.bytes += size;
        while self.bytes > MOST {
            let oldest = self.types.iter_mut().min_by_key(|typed| typed.oldest().unwrap_or(u64::MAX));
            self.bytes -= oldest.map_or(self.bytes, |typed| typed.free_oldest());
        }
    }
}

/// The bytes of a vector's memory.
pub(super) fn bytes<T>(vector: &Vec<T>) -> usize {
    vector.capacity() * size_of::<T>()
}

/// Takes a vector from what is kept: [`Kept::take`].
#[inline]
pub(super) fn take<T: Wipe>(len: usize) -> Option<Vec<T>> {
    if len.saturating_mul(size_of::<T>()) < LEAST { None } else { kept().take(len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_kept_than_the_most() {
        let mut kept = Kept::new();
        (0..9).for_each(|i| kept.keep(vec![0_u8; MOST / 4 + i]));
        let held =
            |kept: &mut Kept| (kept.of::<u8>().unwrap().len(), kept.of::<u64>().unwrap().len(), kept.bytes);
        assert_eq!(held(&mut kept), (3, 0, 3 * (MOST / 4) + 6 + 7 + 8));
        // another type's are newer
        kept.keep(vec![0_u64; MOST / 16]);
        assert_eq!(held(&mut kept), (1, 1, MOST / 4 + 8 + MOST / 2));
        assert!(kept.take::<u64>(MOST / 16).is_some());
        assert_eq!(held(&mut kept), (1, 0, MOST / 4 + 8));
        kept.keep(vec![0_u64; MOST / 8]);
        assert_eq!(held(&mut kept), (0, 1, MOST));
    }
}
