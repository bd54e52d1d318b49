//! Settling what was computed on the three-party engine.

use divisi_core::{Abort, Settles, Verified};
use divisi_rep3::Rep3;

/// Settle what was computed, whether there were products in it or not: that is public.
///
/// # Errors
/// The abort that ends the session: a check that fails.
pub fn close<T>(rep: &mut Rep3, out: T) -> Result<Verified<T>, Abort> {
    rep.settled(out)
}
