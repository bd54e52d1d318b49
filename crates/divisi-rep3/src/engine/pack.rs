//! Layers of few lanes, packed side by side into the lanes of one tile: a tile costs the same with one used
//! lane as with 512.
//!
//! Sixteen bytes of one block are one tile of sixteen lanes instead of sixteen tiles of one: a sixteenth of
//! the work, of the vectors and of the bytes on the wire, where padding counts. The payload bits are the
//! same, and so are the rounds.

use crate::share::Byte;
use crate::wire::Shape;
use divisi_core::Lanes;
use divisi_field::Plane;
use divisi_field::plane::LANES;

/// Whether a layer of this many bytes of this many lanes goes into one tile.
fn fits(bytes: usize, lanes: usize) -> bool {
    bytes > 1 && lanes > 0 && bytes.checked_mul(lanes).is_some_and(|all| all <= LANES)
}

/// The shape in which a layer of this many bytes of this many lanes is computed.
pub(crate) fn shape(bytes: usize, lanes: usize) -> Shape {
    if fits(bytes, lanes) {
        return Shape(vec![bytes * lanes]);
    }
    let tiles = (0..lanes.div_ceil(LANES)).map(|t| (lanes - t * LANES).min(LANES));
    Shape((0..bytes).flat_map(|_| tiles.clone()).collect())
}

/// The shape in which these bytes are computed.
pub(crate) fn shape_of(x: &[&mut Byte]) -> Shape {
    let lanes = x.first().map_or(0, |byte| byte.lanes);
    if x.iter().all(|byte| byte.lanes == lanes) {
        return shape(x.len(), lanes);
    }
    crate::sbox::shape_of(x)
}

/// The bytes side by side, if they go into one tile: byte b in the lanes from `b lanes` on. In a chain only
/// the first components mean something.
pub(super) fn pack<'b>(x: impl ExactSizeIterator<Item = &'b Byte> + Clone) -> Option<Byte> {
    let (bytes, lanes) = (x.len(), x.clone().next()?.lanes);
    if !fits(bytes, lanes) || x.clone().any(|byte| byte.lanes != lanes) {
        return None;
    }
    let mut out = Byte::zero(bytes * lanes);
    for (b, byte) in x.enumerate() {
        let planes = out.tiles.iter_mut().flatten().flatten();
        for (to, from) in planes.zip(byte.tiles.iter().flatten().flatten()) {
            insert(to, b * lanes, from, lanes);
        }
    }
    Some(out)
}

/// Put the lanes of a packed byte back into the bytes that they came from.
pub(super) fn unpack<'b>(packed: &Byte, x: impl Iterator<Item = &'b mut Byte>) {
    for (b, byte) in x.enumerate() {
        let lanes = byte.lanes;
        for (to, from) in
            byte.tiles.iter_mut().flatten().flatten().zip(packed.tiles.iter().flatten().flatten())
        {
            *to = extract(from, b * lanes, lanes);
        }
    }
}

/// Split a packed byte into the `bytes` bytes that were packed into it.
pub(super) fn apart(packed: &Byte, bytes: usize) -> Vec<Byte> {
    let mut out: Vec<Byte> = (0..bytes).map(|_| Byte::zero(packed.lanes() / bytes)).collect();
    unpack(packed, out.iter_mut());
    out
}

/// Puts the first `n` lanes of `from`, which has no others, at lane `at` of a plane that is zero there.
#[inline(always)]
fn insert(to: &mut Plane, at: usize, from: &Plane, n: usize) {
    for (w, word) in from.0.iter().enumerate().take(n.div_ceil(64)) {
        let (place, shift) = ((at + 64 * w) / 64, (at + 64 * w) % 64);
        to.0[place] |= word << shift;
        if shift > 0 && place + 1 < to.0.len() {
            to.0[place + 1] |= word >> (64 - shift);
        }
    }
}

/// The `n` lanes from lane `at` on, in the first lanes.
#[inline(always)]
fn extract(from: &Plane, at: usize, n: usize) -> Plane {
    let mut out = Plane::ZERO;
    for (w, word) in out.0.iter_mut().enumerate().take(n.div_ceil(64)) {
        let (place, shift) = ((at + 64 * w) / 64, (at + 64 * w) % 64);
        *word = from.0[place] >> shift;
        if shift > 0 && place + 1 < from.0.len() {
            *word |= from.0[place + 1] << (64 - shift);
        }
        let left = n - 64 * w;
        if left < 64 {
            *word &= (1 << left) - 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_apart() {
        for (bytes, lanes) in
            [(2, 1), (16, 1), (4, 1), (16, 32), (3, 63), (3, 64), (7, 65), (2, 256), (5, 102)]
        {
            let values = |b: usize, c: usize| -> Vec<u8> {
                (0..lanes).map(|l| (l * 31 + b * 7 + c * 101 + 3) as u8).collect()
            };
            let x: Vec<Byte> =
                (0..bytes).map(|b| Byte::from_components([&values(b, 0), &values(b, 1)]).unwrap()).collect();
            let packed = pack(x.iter()).unwrap();
            assert_eq!((packed.lanes(), packed.tiles.len()), (bytes * lanes, 1));
            let mut all = [Vec::new(), Vec::new()];
            for (c, all) in all.iter_mut().enumerate() {
                packed.component(c, all).unwrap();
                assert_eq!(*all, (0..bytes).flat_map(|b| values(b, c)).collect::<Vec<_>>());
            }
            for (x, y) in x.iter().zip(apart(&packed, bytes)) {
                assert!(x.lanes == y.lanes && x.tiles == y.tiles);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_left_alone() {
        let byte = |lanes: usize| Byte::zero(lanes);
        assert!(pack([byte(1)].iter()).is_none());
        assert!(pack([byte(257), byte(257)].iter()).is_none());
        assert!(pack([byte(3), byte(4)].iter()).is_none());
        assert!(pack([byte(0), byte(0)].iter()).is_none());
        assert_eq!(shape(16, 33).0.len(), 16);
        assert_eq!(shape(16, 32).0, [512]);
    }
}
