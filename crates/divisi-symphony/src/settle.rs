//! Settling what was computed on the three-party engine.

use divisi_core::{Abort, Settles, Verified};
use divisi_rep3::Rep3;

/// Settle a computed value. Whether it owes products is public.
///
/// # Errors
/// The abort that ends the session, if a check fails.
pub fn close<T>(rep: &mut Rep3, out: T) -> Result<Verified<T>, Abort> {
    rep.settled(out)
}
