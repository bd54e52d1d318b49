//! The encoding of a lot: the number of values, all shares, all MAC shares.

use crate::part::{Mac, Shareable};
use crate::share::Auth;
use divisi_field::Field;
use zeroize::Zeroizing;

/// How long the body of a lot is: this many values of each of this many planes.
pub(super) fn length<V: Shareable, F: Mac>(planes: usize, count: usize) -> usize {
    8 + V::packed(planes * count) + planes * count * <F as Field>::BYTES
}

/// The body of a lot of this many values, which lie plane by plane.
pub(super) fn body<V: Shareable, F: Mac>(count: usize, all: &Auth<V, F>) -> Zeroizing<Vec<u8>> {
    let planes = all.len().checked_div(count).unwrap_or(0);
    // with all the room that it takes: nothing moves, so nothing is left behind
    let mut out = Zeroizing::new(Vec::with_capacity(length::<V, F>(planes, count)));
    out.extend_from_slice(&(count as u64).to_le_bytes());
    V::pack(&all.x, &mut out);
    F::pack(&all.m, &mut out);
    out
}

/// What a body holds, and how many values of each plane; nothing if it is not so long.
pub(super) fn read<V: Shareable, F: Mac>(planes: usize, body: &[u8]) -> Option<(usize, Auth<V, F>)> {
    let (count, rest) = body.split_first_chunk::<8>()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    // what is announced is there, before room is made for it
    if count > rest.len() || body.len() != length::<V, F>(planes, count) {
        return None;
    }
    let all = planes * count;
    let (x, m) = rest.split_at_checked(V::packed(all))?;
    let mut read = Auth::<V, F>::zeros(all);
    let fine = V::add_packed(x, &mut read.x) & F::add_packed(m, &mut read.m);
    fine.then_some((count, read))
}
