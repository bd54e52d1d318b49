//! Where secrets begin and where they become public: the listener through which a tool follows them through a
//! run.
//!
//! Pairwise keys, from which every mask and every random component is drawn, are secret; so are shares of
//! inputs, which the tool itself hands in. What computes on them is secret too, until a protocol opens it:
//! each opening says so here, by its step. A tool that marks memory undefined and defined (docs/measuring.md)
//! then sees every branch and every address that depends on what was not opened, and the list of what was.
//!
//! Without the feature `taint` all of this is nothing.

use divisi_net::Step;
#[cfg(feature = "taint")]
use std::sync::{Mutex, OnceLock, PoisonError};

/// What becomes of a value.
#[cfg(feature = "taint")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is secret from here on.
    Secret,
    /// The protocol opened it.
    Public,
    /// A peer sent it: it is no secret towards that peer.
    Heard,
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

/// A peer sent these bytes. Whoever follows secrets among three parties of one process leaves them as they
/// are; where each party's own randomness and inputs are what is secret, they are none.
#[inline(always)]
pub fn heard(step: Step, bytes: &mut [u8]) {
    #[cfg(feature = "taint")]
    tell(Mark::Heard, step, bytes);
    #[cfg(not(feature = "taint"))]
    let _ = (step, bytes);
}

/// A comparison of digests ended like this: everybody may know.
#[inline(always)]
#[must_use]
pub fn verdict(step: Step, equal: bool) -> bool {
    let mut verdict = [equal];
    public(step, &mut verdict);
    verdict[0]
}

/// The step at which a leak is planted, by its name.
#[cfg(feature = "taint")]
static PLANTED: Mutex<&str> = Mutex::new("");

/// Plant a leak at the step of this name and at no other: a positive control of whoever follows secrets.
#[cfg(feature = "taint")]
pub fn plant(step: &'static str) {
    *PLANTED.lock().unwrap_or_else(PoisonError::into_inner) = step;
}

/// Where a leak can be planted: a branch on the lowest bit of this secret, if one was asked for at this step.
#[inline(always)]
pub fn leak(step: Step, secret: u8) {
    #[cfg(feature = "taint")]
    {
        let planted = *PLANTED.lock().unwrap_or_else(PoisonError::into_inner) == step.name;
        if planted && std::hint::black_box(secret) & 1 == 1 {
            std::hint::black_box(step);
        }
    }
    #[cfg(not(feature = "taint"))]
    let _ = (step, secret);
}
