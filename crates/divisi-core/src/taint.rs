//! Marks of where secrets begin and where they become public, for a tool that follows secrets through a run.
//!
//! Pairwise keys, from which every mask and every random component is drawn, are secret; so are shares of
//! inputs, which the tool itself provides. Values computed from them are secret too, until a protocol opens
//! them; each opening is marked here, with its step. A tool that marks memory as undefined and defined
//! (docs/measuring.md) then sees every branch and every address that depends on an unopened value, and the
//! list of openings.
//!
//! In every build of the project these functions do nothing. The tool builds itself with a copy of the
//! project in which `lab/attacks/hooks/taint` makes them report to it.

use divisi_net::Step;

/// The mark of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum Mark {
    /// It is secret from here on.
    Secret,
    /// The protocol opened it.
    Public,
    /// A peer sent it: it is not secret from that peer.
    Received,
}

/// Called with each value: its mark, the step that made it, its address and its length in bytes.
pub type Observer = fn(Mark, Step, *mut u8, usize);

/// Report every mark to `observer`; only the first call takes effect. Whether marks are reported at all: only
/// in the tool's copy.
#[must_use]
pub fn observe(observer: Observer) -> bool {
    let _ = observer;
    false
}

/// These values are secret.
#[inline(always)]
pub fn secret<T: Copy>(step: Step, values: &mut [T]) {
    let _ = (step, values);
}

/// The protocol opened these values at this step: they depend on secrets, and are public from now on.
#[inline(always)]
pub fn public<T: Copy>(step: Step, values: &mut [T]) {
    let _ = (step, values);
}

/// A peer sent these bytes. A tool that follows secrets among three parties in one process ignores this mark;
/// where each party's own randomness and inputs are secret, the bytes are public.
#[inline(always)]
pub fn received(step: Step, bytes: &mut [u8]) {
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

/// Plant a leak at the step of this name and at no other: a positive control for the tool.
pub fn plant(step: &'static str) {
    let _ = step;
}

/// A place where a leak can be planted: a branch on the lowest bit of this secret, if requested for this
/// step.
#[inline(always)]
pub fn leak(step: Step, secret: u8) {
    let _ = (step, secret);
}
