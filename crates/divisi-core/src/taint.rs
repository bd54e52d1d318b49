//! Where secrets begin and where they become public: the door through which a tool follows them through a run.
//!
//! Pairwise keys, from which every mask and every random component is drawn, are secret; so are shares of inputs, which the tool
//! itself hands in. What computes on them is secret too, until a protocol opens it: each opening says so here, by its step. A
//! tool that marks memory undefined and defined (docs/measuring.md) then sees every branch and every address that depends on
//! what was not opened, and the list of what was.
//!
//! Without the feature `taint` all of this is nothing.

use divisi_net::Step;
#[cfg(feature = "taint")]
use std::sync::OnceLock;

/// What becomes of a value.
#[cfg(feature = "taint")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is secret from here on.
    Secret,
    /// The protocol opened it.
    Public,
}

/// Called with each value: its mark, the step that made it, where it lies and how many bytes it has.
#[cfg(feature = "taint")]
pub type Observer = fn(Mark, Step, *mut u8, usize);

#[cfg(feature = "taint")]
static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Have every mark told to `observer`; the first one stays.
#[cfg(feature = "taint")]
pub fn observe(observer: Observer) {
    let _ = OBSERVER.set(observer);
}

#[cfg(feature = "taint")]
fn tell<T: Copy>(mark: Mark, step: Step, values: &mut [T]) {
    if let Some(observer) = OBSERVER.get() {
        observer(mark, step, values.as_mut_ptr().cast(), size_of_val(values));
    }
}

/// These values are secret.
#[inline(always)]
pub fn secret<T: Copy>(step: Step, values: &mut [T]) {
    #[cfg(feature = "taint")]
    tell(Mark::Secret, step, values);
    #[cfg(not(feature = "taint"))]
    let _ = (step, values);
}

/// The protocol opened these values at this step: they depend on secrets, and may be known.
#[inline(always)]
pub fn public<T: Copy>(step: Step, values: &mut [T]) {
    #[cfg(feature = "taint")]
    tell(Mark::Public, step, values);
    #[cfg(not(feature = "taint"))]
    let _ = (step, values);
}

/// A comparison of digests ended like this: everybody may know.
#[inline(always)]
#[must_use]
pub fn verdict(step: Step, equal: bool) -> bool {
    let mut verdict = [equal];
    public(step, &mut verdict);
    verdict[0]
}
