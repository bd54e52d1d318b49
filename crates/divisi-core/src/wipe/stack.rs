//! The stack below finished calls.

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
    let scratch = [0_u64; WORDS];
    zeroize::optimization_barrier(&scratch);
}
