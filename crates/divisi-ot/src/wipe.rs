//! Wiping of what `zeroize` does not reach: long vectors of words, with the widest stores there are, where it
//! writes word by word; and the part of the stack that calls have left.

/// Overwrite all words with zeros, and let the compiler believe that somebody reads them.
#[inline]
pub fn words<T: Copy + Default>(x: &mut [T]) {
    x.fill(T::default());
    zeroize::optimization_barrier(x);
}

/// Overwrite all that a vector has room for, also what it held once and forgot; it is empty then.
pub fn whole<T: Copy + Default>(x: &mut Vec<T>) {
    x.clear();
    x.resize(x.capacity(), T::default());
    zeroize::optimization_barrier(x.as_slice());
    x.clear();
}

/// Room for so many more elements: in a new place, if it takes one, and the old place is wiped, where a
/// vector that grows by itself gives it back as it is.
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

/// How deep the calls between two wipings go, with room to spare.
const DEPTH: usize = 128 << 10;

/// Run `work`, and then overwrite the stack that it used: spilled registers, arguments, and what was moved.
/// What `work` gives back is moved itself: secrets in it must lie behind a pointer.
pub fn stack<R>(work: impl FnOnce() -> R) -> R {
    let result = below(work);
    overwrite();
    result
}

/// A frame of its own, below that of the caller.
#[inline(never)]
fn below<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[inline(never)]
fn overwrite() {
    let room = [0_u64; DEPTH / 8];
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
