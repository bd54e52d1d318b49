//! Messages that are processed in parts, each under an IV of its own: the tweaks of the data units of XTS
//! (ACVP-AES-XTS 2.0), and the blocks of CTR under a counter that counts down.

use crate::bench::ordinary::cipher;
use crate::kat::vector::Units;
use divisi_core::Direction;
use divisi_symmetric::mode::one_shot::strings::part;

/// The data units of `unit` bits of a message of `all` bits. The tweak of each unit is that of the unit
/// before it plus one, with the lowest byte first (IEEE 1619, 5.1).
///
/// Files that NIST's server made before release 1.1.0.33 of 2024 increment the tweak from its last byte
/// instead, the highest byte first (usnistgov/ACVP-Server, issue 241). The second unit shows which of the two
/// a file does: an ordinary library enciphers its first block here, because the file contains key and text. A
/// file that does neither is wrong, and is run as the standard says.
///
/// `None` for units of less than a block.
pub(super) fn read(
    unit: usize,
    all: usize,
    key: &[u8],
    first: &[u8],
    [plain, sealed]: [&[u8]; 2],
) -> Option<Units> {
    let first: [u8; 16] = first.try_into().ok()?;
    let count = u128::try_from(all.checked_div(unit)? + usize::from(!all.is_multiple_of(unit))).ok()?;
    let last = all - unit * (usize::try_from(count).ok()? - 1);
    if unit.min(last) < 128 {
        return None;
    }
    let upwards = |i: u128| u128::from_le_bytes(first).wrapping_add(i).to_le_bytes().to_vec();
    let backwards = |i: u128| u128::from_be_bytes(first).wrapping_add(i).to_be_bytes().to_vec();
    let second = [part(plain, unit, 128), part(sealed, unit, 128)];
    let old = !is_under(key, &upwards(1), &second) && is_under(key, &backwards(1), &second);
    let tweaks = (0..count).map(|i| if old { backwards(i) } else { upwards(i) }).collect();
    Some(Units { bits: unit, tweaks })
}

/// The blocks of a message of this many bytes in CTR whose counter counts down, wrapping around: all that SP
/// 800-38A asks of counters is that they differ (5.1, B). `None` if the first counter has not the length of a
/// block.
pub(super) fn down(first: &[u8], bytes: usize) -> Option<Units> {
    let first = u128::from_be_bytes(first.try_into().ok()?);
    let counters = std::iter::successors(Some(first), |counter| Some(counter.wrapping_sub(1)));
    let tweaks = counters.take(bytes.div_ceil(16)).map(|counter| counter.to_be_bytes().to_vec());
    Some(Units { bits: 128, tweaks: tweaks.collect() })
}

/// Whether the first of two blocks is enciphered to the other one if it is the first block of a data unit
/// with that tweak.
fn is_under(key: &[u8], tweak: &[u8], [plain, sealed]: &[Vec<u8>; 2]) -> bool {
    let (data, tweaks) = key.split_at(key.len() / 2);
    let through = |key: &[u8], block: &[u8]| -> Option<Vec<u8>> {
        let mut block = <[u8; 16]>::try_from(block).ok()?.into();
        cipher(key, Direction::Encrypt)?(&mut block);
        Some(block.to_vec())
    };
    let xor = |x: &[u8], y: &[u8]| x.iter().zip(y).map(|(x, y)| x ^ y).collect::<Vec<u8>>();
    let enciphered = || {
        let mask = through(tweaks, tweak)?;
        Some(xor(&through(data, &xor(plain, &mask))?, &mask))
    };
    enciphered().as_ref() == Some(sealed)
}
