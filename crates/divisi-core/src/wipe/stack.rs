//! The stack below finished calls.

use std::cell::Cell;

/// The number of words of stack that are wiped, 256 KiB: more than the calls between two wipings use. Those
/// that make rows go deepest, 144 KiB in an incremental build, because they move large values from call to
/// call and the compiler leaves the copies.
const DEPTH: usize = 32 << 10;

/// The same after [`few_calls`]: 16 KiB.
const SHALLOW: usize = 2 << 10;

thread_local! {
    /// Whether a call of [`stack`] is under way on this thread.
    static UNDER_WAY: Cell<bool> = const { Cell::new(false) };
}

/// Ends a call of [`stack`], also one that panics.
struct UnderWay;

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.set(false);
    }
}

/// Runs `work`, and then overwrites the stack that it used: spilled registers, arguments, and values that
/// were moved. The result of `work` is moved, too, so secrets in it must lie behind a pointer.
///
/// Of calls within each other only the outermost one overwrites, when all are done: many short calls with the
/// same secrets then cost one wiping.
pub fn stack<R>(work: impl FnOnce() -> R) -> R {
    if UNDER_WAY.replace(true) {
        return below(work);
    }
    let under_way = UnderWay;
    let result = below(work);
    drop(under_way);
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
    let scratch = [0_u64; WORDS];
    zeroize::optimization_barrier(&scratch);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls within a call leave the wiping to it, and a panic within does not leave later calls without.
    #[test]
    fn the_outermost_call_wipes() {
        let inner = stack(|| stack(|| UNDER_WAY.get()) && UNDER_WAY.get());
        assert!(inner && !UNDER_WAY.get());
        let panicked = std::panic::catch_unwind(|| stack(|| std::panic::resume_unwind(Box::new(()))));
        assert!(panicked.is_err() && !UNDER_WAY.get());
    }
}
