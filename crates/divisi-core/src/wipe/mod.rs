//! Memory that held secrets: overwritten before anybody else gets it, and kept for the next who needs as
//! much.
//!
//! The process keeps memory of [`WipedVec`]s; a [`Pool`] belongs to whoever made it. [`words`], [`whole`] and
//! [`reserve`] are for memory of other types. All of them go where `zeroize` is too slow or does not reach:
//! long vectors of words, with the widest stores of the processor (`zeroize` writes word by word); and the
//! stack below finished calls.

mod kept;
mod pool;
mod stack;
mod vec;

pub use kept::Wipe;
pub use pool::{Lent, Pool};
pub use stack::{few_calls, stack};
pub use vec::WipedVec;

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
pub fn reserve<T: Copy + Default>(x: &mut Vec<T>, more: usize) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::memory::{self, Needle};

    #[test]
    fn nothing_is_left() {
        let (mut bytes, mut wide) = ([7_u8; 33], [u128::MAX; 5]);
        words(&mut bytes[..32]);
        words(&mut wide[1..]);
        assert_eq!((bytes[..32].iter().max(), bytes[32]), (Some(&0), 7));
        assert_eq!(wide, [u128::MAX, 0, 0, 0, 0]);
    }

    /// The copies of a secret in the memory of this process, after `work` with it.
    fn copies_after<R>(seed: u8, work: impl FnOnce(u128) -> R) -> (R, Vec<memory::Found>) {
        let _alone = memory::alone();
        let needle = Needle::new(seed, true);
        let held = stack(|| {
            let mut bytes = [0; 16];
            needle.plant(&mut bytes);
            work(u128::from_le_bytes(bytes))
        });
        let copies = needle.copies().unwrap();
        (held, copies)
    }

    /// \[Q17\] What was cut off is wiped, although the memory stays.
    #[test]
    fn what_is_cut_off_is_wiped() {
        let (vector, copies) = copies_after(0x77, |secret| {
            let mut vector = WipedVec::from(&[secret; 64][..]);
            vector.cut(0);
            vector
        });
        assert_eq!((vector.len(), copies), (0, Vec::new()));
    }

    /// \[Q17\] Neither a vector that grew nor one that was dropped, of memory that is kept or freed, leaves
    /// anything; nor one whose holder panicked.
    #[test]
    fn what_grew_or_was_dropped_is_wiped() {
        for (seed, len) in [(0x78, 64), (0x79, 5000)] {
            let (grown, copies) = copies_after(seed, |secret| {
                let mut vector = WipedVec::new();
                (0..len).for_each(|_| {
                    vector.reserve(1);
                    vector.push(secret);
                });
                drop(vector.clone());
                // what was removed before, as well
                let mut shorter = vector.clone();
                shorter.truncate(1);
                drop(shorter);
                let panic = std::panic::catch_unwind(move || {
                    let held = vector;
                    std::panic::resume_unwind(Box::new(held.len()));
                });
                panic.unwrap_err().downcast::<usize>().unwrap()
            });
            assert_eq!((*grown, copies), (len, Vec::new()));
        }
    }

    /// \[Q17\] What was in memory of a pool is gone when the memory is back, and after a panic as well.
    #[test]
    fn what_was_lent_comes_back_wiped() {
        let pool = Pool::default();
        let (count, copies) = copies_after(0x7a, |secret| {
            pool.zeros(100).fill(secret);
            let mut lent = pool.zeros(100);
            lent.fill(secret);
            let panic = std::panic::catch_unwind(move || {
                std::panic::resume_unwind(Box::new(lent.len()));
            });
            panic.unwrap_err().downcast::<usize>().unwrap()
        });
        assert_eq!((*count, copies, pool.kept()), (100, Vec::new(), 1));
    }

    /// \[Q17\] A vector of another owner that grows leaves nothing in its old place, nor, if it is wiped as a
    /// whole, behind its last element.
    #[test]
    fn what_a_vector_forgot_is_wiped_with_the_whole() {
        let (vector, copies) = copies_after(0x7b, |secret| {
            let mut vector = Vec::new();
            (0..200).for_each(|_| {
                reserve(&mut vector, 1);
                vector.push(secret);
            });
            assert!(vector == [secret; 200], "what grew is all there");
            vector.truncate(3);
            whole(&mut vector);
            vector
        });
        assert!(vector.is_empty() && vector.capacity() >= 200);
        assert_eq!(copies, Vec::new());
    }
}
