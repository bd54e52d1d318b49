//! Marks of where secrets begin and where they become public: a hook for a tool that follows secrets through
//! a run.
//!
//! Pairwise keys, from which every mask and every random component is drawn, are secret; so are shares of
//! inputs, which the tool itself provides. Values computed from them are secret too, until a protocol opens
//! them; each opening is marked here, with its step. A tool that marks memory as undefined and defined
//! (docs/measuring.md) then sees every branch and every address that depends on an unopened value, and the
//! list of openings.
//!
//! Without the feature `taint` all of these functions do nothing.

use divisi_net::Step;
#[cfg(feature = "taint")]
use std::sync::{Mutex, OnceLock, PoisonError};

/// The mark of a value.
#[cfg(feature = "taint")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is secret from here on.
    Secret,
    /// The protocol opened it.
    Public,
    /// A peer sent it: it is not secret from that peer.
    Received,
}

/// Called with each value: its mark, the step that made it, its address and its length in bytes.
#[cfg(feature = "taint")]
pub type Observer = fn(Mark, Step, *mut u8, usize);

#[cfg(feature = "taint")]
static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Report every mark to `observer`; only the first call takes effect.
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

/// The protocol opened these values at this step: they depend on secrets, and are public from now on.
#[inline(always)]
pub fn public<T: Copy>(step: Step, values: &mut [T]) {
    #[cfg(feature = "taint")]
    tell(Mark::Public, step, values);
    #[cfg(not(feature = "taint"))]
    let _ = (step, values);
}

/// A peer sent these bytes. A tool that follows secrets among three parties in one process ignores this mark;
/// where each party's own randomness and inputs are secret, the bytes are public.
#[inline(always)]
pub fn received(step: Step, bytes: &mut [u8]) {
    #[cfg(feature = "taint")]
    tell(Mark::Received, step, bytes);
    #[cfg(not(feature = "taint"))]
    let _ = (step, bytes);
}

/// The outcome of a comparison of digests, which is public.
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

/// Plant a leak at the step of this name and at no other: a positive control for the tool.
#[cfg(feature = "taint")]
pub fn plant(step: &'static str) {
    *PLANTED.lock().unwrap_or_else(PoisonError::into_inner) = step;
}

/// A place where a leak can be planted: a branch on the lowest bit of this secret, if requested for this
/// step.
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
