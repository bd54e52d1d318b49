//! Wiped memory of shares, kept for later shares.
//!
//! A layer of a cipher fills long vectors and drops them again. To return their memory to the system, and to
//! have it cleared and mapped again, takes longer than most of the computation in it. So each thread keeps
//! some of the memory of its dropped vectors, as zeros, until the thread ends; no other thread uses it.

use std::any::Any;
use std::cell::RefCell;

/// The most bytes that a thread keeps of one type.
const MOST: usize = 4 << 20;
/// The sizes in bytes of the vectors that are kept. The allocator is fast for smaller ones, and no layer of a
/// cipher has larger ones.
const SIZES: std::ops::RangeInclusive<usize> = 16 << 10..=2 << 20;

/// Vectors of zeros, the one that was kept first at the beginning.
#[derive(Default)]
struct Room<T>(Vec<Vec<T>>);

thread_local! {
    static ROOMS: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` on the calling thread's vectors of this type; `None` if the thread is ending.
fn room<T: 'static, R>(f: impl FnOnce(&mut Room<T>) -> R) -> Option<R> {
    let within = |rooms: &RefCell<Vec<Box<dyn Any>>>| {
        let mut rooms = rooms.try_borrow_mut().ok()?;
        if !rooms.iter().any(|room| room.is::<Room<T>>()) {
            rooms.push(Box::new(Room::<T>(Vec::new())));
        }
        rooms.iter_mut().find_map(|room| room.downcast_mut()).map(f)
    };
    ROOMS.try_with(within).ok().flatten()
}

/// An empty vector with room for this many elements.
pub(crate) fn with_room<T: Copy + 'static>(len: usize) -> Vec<T> {
    let mut vector = taken(len).unwrap_or_else(|| Vec::with_capacity(len));
    vector.clear();
    vector
}

/// A vector of zeros, in kept memory if there is any.
pub(crate) fn zeros<T: Copy + Default + 'static>(len: usize) -> Vec<T> {
    let Some(mut vector) = taken(len) else { return vec![T::default(); len] };
    // what was kept is zero already
    vector.truncate(len);
    vector.resize(len, T::default());
    vector
}

/// A copy of these elements.
pub(crate) fn copy<T: Copy + 'static>(of: &[T]) -> Vec<T> {
    let mut vector = with_room(of.len());
    vector.extend_from_slice(of);
    vector
}

/// Take the smallest kept vector that has room for `len` elements, and not for many more.
fn taken<T: 'static>(len: usize) -> Option<Vec<T>> {
    if !SIZES.contains(&len.saturating_mul(size_of::<T>())) {
        return None;
    }
    let fits = |v: &&Vec<T>| v.capacity() >= len && v.capacity() / 2 <= len;
    let take = |room: &mut Room<T>| {
        let best = room.0.iter().filter(fits).map(Vec::capacity).min()?;
        let at = room.0.iter().position(|v| v.capacity() == best)?;
        Some(room.0.remove(at))
    };
    room(take).flatten()
}

/// Keep a vector of zeros. If there are too many bytes then, the vectors that were kept first are freed.
pub(crate) fn give<T: 'static>(vector: Vec<T>) {
    let size = |v: &Vec<T>| v.capacity() * size_of::<T>();
    if !SIZES.contains(&size(&vector)) {
        return;
    }
    room(|room: &mut Room<T>| {
        room.0.push(vector);
        let mut bytes: usize = room.0.iter().map(size).sum();
        let over = |v: &&Vec<T>| {
            let leaves = bytes > MOST;
            bytes -= if leaves { size(v) } else { 0 };
            leaves
        };
        let leave = room.0.iter().take_while(over).count();
        room.0.drain(..leave);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_as_zeros() {
        let len = (16 << 10) / 8 + 5;
        let mut one: Vec<u64> = zeros(len);
        let place = one.as_ptr();
        one.fill(0);
        give(one);
        // a vector of another type, of less than half the length, or of twice the length gets other memory
        let others = (zeros::<[u8; 8]>(len), zeros::<u64>(len / 2 - 1), zeros::<u64>(2 * len));
        assert_ne!(others.0.as_ptr().cast(), place);
        assert!(others.1.as_ptr() != place && others.2.as_ptr() != place);
        let two: Vec<u64> = zeros(len - 3);
        assert_eq!((two.as_ptr(), two.len()), (place, len - 3));
        assert!(two.iter().all(|word| *word == 0));
        give(two);
        let three = copy(&vec![7_u64; len - 1]);
        assert_eq!((three.as_ptr(), three[4], three.len()), (place, 7, len - 1));
    }

    #[test]
    fn no_more_is_kept_than_the_most() {
        let all: Vec<Vec<u16>> = (0..7).map(|_| zeros(1 << 20)).collect();
        all.into_iter().for_each(give);
        assert_eq!(room(|room: &mut Room<u16>| room.0.len()), Some(2));
        give(zeros::<u16>((1 << 20) + 1));
        give(zeros::<u16>(100));
        assert_eq!(room(|room: &mut Room<u16>| room.0.len()), Some(2));
    }
}
