//! Wiping where `zeroize` is too slow or does not reach: long vectors of words, with the widest stores of the
//! processor (`zeroize` writes word by word); and the stack below finished calls.

/// Overwrites all words with zeros, in a way that the compiler cannot remove.
#[inline]
pub fn words<T: Copy + Default>(x: &mut [T]) {
    x.fill(T::default());
    zeroize::optimization_barrier(x);
}

/// Overwrites the whole allocation of a vector, also what lies after its last element, and empties it.
pub fn whole<T: Copy + Default>(x: &mut Vec<T>) {
    x.clear();
    x.resize(x.capacity(), T::default());
    zeroize::optimization_barrier(x.as_slice());
    x.clear();
}

/// Makes room for `more` elements. If the elements move, their old place is wiped; a vector that grows by
/// itself frees the old place as it is.
#[inline]
pub fn room<T: Copy + Default>(x: &mut Vec<T>, more: usize) {
    if x.capacity() - x.len() < more {
        grow(x, more);
    }
}

#[cold]
fn grow<T: Copy + Default>(x: &mut Vec<T>, more: usize) {
    let mut larger = Vec::with_capacity((x.len() + more).max(2 * x.len()));
    larger.extend_from_slice(x);
    whole(x);
    *x = larger;
}

/// The number of words of stack that are wiped, 256 KiB: more than the calls between two wipings use. Those
/// that make rows go deepest, 144 KiB in an incremental build, because they move large values from call to
/// call and the compiler leaves the copies.
const DEPTH: usize = 32 << 10;

/// The same after [`few_calls`]: 16 KiB.
const SHALLOW: usize = 2 << 10;

/// Runs `work`, and then overwrites the stack that it used: spilled registers, arguments, and values that
/// were moved. The result of `work` is moved, too, so secrets in it must lie behind a pointer.
pub fn stack<R>(work: impl FnOnce() -> R) -> R {
    let result = below(work);
    overwrite::<DEPTH>();
    result
}

/// The same after work that calls few functions with little of their own on the stack, and is done often: a
/// transposition, for instance.
pub fn few_calls<R>(work: impl FnOnce() -> R) -> R {
    let result = below(work);
    overwrite::<SHALLOW>();
    result
}

/// Runs `work` in a stack frame of its own, below that of the caller.
#[inline(never)]
fn below<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[inline(never)]
fn overwrite<const WORDS: usize>() {
    let room = [0_u64; WORDS];
    zeroize::optimization_barrier(&room);
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_left() {
        let (mut bytes, mut wide) = ([7_u8; 33], [u128::MAX; 5]);
        super::words(&mut bytes[..32]);
        super::words(&mut wide[1..]);
        assert_eq!((bytes[..32].iter().max(), bytes[32]), (Some(&0), 7));
        assert_eq!(wide, [u128::MAX, 0, 0, 0, 0]);
    }
}
