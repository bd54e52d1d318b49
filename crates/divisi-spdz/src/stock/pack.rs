//! The encoding of a lot: the number of values, all shares, all MAC shares.

use crate::part::{Mac, Shareable};
use crate::share::Auth;
use divisi_field::Field;
use zeroize::Zeroizing;

/// The length in bytes of the body of a lot that has `count` values in each of `planes` planes.
pub(super) fn length<V: Shareable, F: Mac>(planes: usize, count: usize) -> usize {
    8 + V::packed(planes * count) + planes * count * <F as Field>::BYTES
}

/// The body of a lot of this many values, which lie plane by plane.
pub(super) fn body<V: Shareable, F: Mac>(count: usize, all: &Auth<V, F>) -> Zeroizing<Vec<u8>> {
    let planes = all.len().checked_div(count).unwrap_or(0);
    // the capacity is complete, so nothing moves and leaves a copy behind
    let mut out = Zeroizing::new(Vec::with_capacity(length::<V, F>(planes, count)));
    out.extend_from_slice(&(count as u64).to_le_bytes());
    V::pack(&all.x, &mut out);
    F::pack(&all.m, &mut out);
    out
}

/// The number of values of each plane, and the values, in a body; `None` if its length does not fit or an
/// encoding is invalid.
pub(super) fn read<V: Shareable, F: Mac>(planes: usize, body: &[u8]) -> Option<(usize, Auth<V, F>)> {
    let (count, rest) = body.split_first_chunk::<8>()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    // the announced values must be there before memory is allocated for them
    if count > rest.len() || body.len() != length::<V, F>(planes, count) {
        return None;
    }
    let all = planes * count;
    let (x, m) = rest.split_at_checked(V::packed(all))?;
    let mut read = Auth::<V, F>::zeros(all);
    let fine = V::add_packed(x, &mut read.x) & F::add_packed(m, &mut read.m);
    fine.then_some((count, read))
}
