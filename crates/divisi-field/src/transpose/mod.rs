//! Transposition of bits. Bytes become bit planes and back: byte l is lane l, and its bit i is in plane i.
//! There are also [`square`] matrices of bits, [`slim`] ones whose second half is zero, [`squares`] whose
//! rows are words, and tiles with few columns, whose [`rows`] have one word ([`narrow()`]).

use crate::{Plane, kernel};

#[cfg(target_arch = "x86_64")]
pub(crate) mod gfni;
mod narrow;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;
pub(crate) mod square;

pub use narrow::{narrow, rows};
pub use square::{slim, square, squares};

/// Writes at most 512 bytes to eight planes. The lanes after the last byte become zero.
///
/// # Panics
/// If there are more bytes than lanes.
pub fn to_planes(bytes: &[u8], out: &mut [Plane; 8]) {
    assert!(bytes.len() <= Plane::LANES, "a plane has 512 lanes");
    match kernel::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a kernel becomes active only after its features were seen on this processor.
        kernel::Kernel::Avx512 => unsafe { gfni::to_planes(bytes, out) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        kernel::Kernel::Neon => unsafe { neon::to_planes(bytes, out) },
        _ => portable::to_planes(bytes, out),
    }
}

/// Reads the bytes of the first `out.len()` lanes.
///
/// # Panics
/// If there are more bytes than lanes.
pub fn from_planes(planes: &[Plane; 8], out: &mut [u8]) {
    assert!(out.len() <= Plane::LANES, "a plane has 512 lanes");
    match kernel::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a kernel becomes active only after its features were seen on this processor.
        kernel::Kernel::Avx512 => unsafe { gfni::from_planes(planes, out) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        kernel::Kernel::Neon => unsafe { neon::from_planes(planes, out) },
        _ => portable::from_planes(planes, out),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::bulk::lengths;
    use crate::kernel::{available, with};

    #[test]
    fn every_bit_finds_its_plane_and_lane() {
        let bytes: [u8; 512] = core::array::from_fn(|l| (l * 167 + l / 256 * 89 + 13) as u8);
        for kernel in available() {
            for length in lengths().into_iter().chain([500, 511, 512]).filter(|length| *length <= 512) {
                let mut planes = [Plane::ONES; 8];
                with(kernel, || to_planes(&bytes[..length], &mut planes)).unwrap();
                for (i, plane) in planes.iter().enumerate() {
                    for (lane, byte) in bytes.iter().enumerate() {
                        let expected = if lane < length { byte >> i & 1 } else { 0 };
                        assert_eq!(plane.lane(lane), u64::from(expected), "{kernel}, plane {i}, lane {lane}");
                    }
                }
                to_planes(&bytes, &mut planes);
                let mut back = [0xa5; 512];
                with(kernel, || from_planes(&planes, &mut back[..length])).unwrap();
                assert_eq!(back[..length], bytes[..length], "{kernel}");
                assert!(back[length..].iter().all(|byte| *byte == 0xa5), "{kernel}");
            }
        }
    }
}
