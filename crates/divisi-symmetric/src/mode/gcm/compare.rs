//! Tags, one in each lane, each with a length of its own: opened, or compared with received ones on shares.

use super::TagLength;
use crate::engines::GcmEngine;
use divisi_core::{Abort, Lanes, Misuse, Step, step};

const TAGS: Step = step!("tags");

/// The length of a full tag in bytes.
pub const TAG_BYTES: usize = 16;

/// For each lane of `tags`: whether it equals the received tag. The difference is never opened, because it
/// would reveal the right tag of a forged message \[A23\].
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if lanes and tags differ in number.
pub(super) fn tags_match<E: GcmEngine>(
    e: &mut E,
    mut tags: E::Block,
    received: &[(TagLength, u128)],
) -> Result<Vec<bool>, Abort> {
    let elements: Vec<u128> = received.iter().map(|(_, element)| *element).collect();
    e.add_public_block(&mut tags, &elements)?;
    let lengths: Vec<TagLength> = received.iter().map(|(length, _)| *length).collect();
    let difference = truncate(e, tags, &lengths)?;
    e.vanish_lanes(difference)
}

/// Opens tags, one in each lane. Of a short one only its own bytes are opened; the others are zero.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if lanes and tags differ in number.
pub(super) fn open_tags<E: GcmEngine>(
    e: &mut E,
    tags: E::Block,
    lengths: &[TagLength],
) -> Result<Vec<[u8; TAG_BYTES]>, Abort> {
    let tags = truncate(e, tags, lengths)?;
    let bytes: [E::Byte; TAG_BYTES] = e.convert(tags)?;
    let opened = e.reveal(bytes.into())?;
    let byte = |l: usize, i: usize| opened.get(i).and_then(|column| column.get(l)).copied();
    let tag = |l: usize| {
        let bytes: Option<Vec<u8>> = (0..TAG_BYTES).map(|i| byte(l, i)).collect();
        bytes?.try_into().ok()
    };
    let tags: Option<Vec<[u8; TAG_BYTES]>> = (0..lengths.len()).map(tag).collect();
    tags.ok_or(MISFIT)
}

/// Sets the bytes of each lane that are beyond the length of its tag to zero.
///
/// # Errors
/// [`Abort::Misuse`] if lanes and tags differ in number.
fn truncate<E: GcmEngine>(e: &mut E, tags: E::Block, lengths: &[TagLength]) -> Result<E::Block, Abort> {
    if lengths.iter().all(|length| length.bytes() == TAG_BYTES) {
        return Ok(tags);
    }
    // each lane of the result is the lane of `tags`, or zero: it is gathered from the tags and one zero lane
    // that follows them
    let n = tags.lanes();
    let zero = e.public(&[0]);
    let bytes: [E::Byte; TAG_BYTES] = e.convert(tags)?;
    let mut kept = Vec::with_capacity(TAG_BYTES);
    for (i, byte) in bytes.into_iter().enumerate() {
        let with_zero = e.join_bytes(&[&byte, &zero])?;
        let lane = |(l, length): (usize, &TagLength)| if i < length.bytes() { l } else { n };
        kept.extend(with_zero.gather(&lengths.iter().enumerate().map(lane).collect::<Vec<_>>()));
    }
    let kept = <[E::Byte; TAG_BYTES]>::try_from(kept);
    e.convert(kept.map_err(|_| MISFIT)?)
}

const MISFIT: Abort = Abort::Misuse { step: TAGS, what: Misuse::CountsDiffer };

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{Plain, PlainBlock};

    /// Each of many tags has its own verdict, whatever its length: a bit beyond it does not count, each of
    /// its own does.
    #[test]
    fn every_tag_of_many_is_compared() {
        let kinds = [TagLength::Bits128, TagLength::Bits32, TagLength::Bits96];
        for mixed in [false, true] {
            let kind = |l: usize| if mixed { kinds[l % 3] } else { TagLength::Bits128 };
            let tag = |l: usize| {
                u128::from_le_bytes([l as u8, 7, (l >> 8) as u8, 1].repeat(4)[..].try_into().unwrap())
            };
            let received = |l: usize| (kind(l), tag(l) & kind(l).mask());
            let computed = |l: usize| {
                let own = 1 << (l * 37 % kind(l).bits());
                let beyond = !kind(l).mask();
                tag(l) ^ beyond ^ if l % 5 == 4 { own } else { 0 }
            };
            let (tags, received): (Vec<_>, Vec<_>) = (0..1030).map(|l| (computed(l), received(l))).unzip();
            let right = tags_match(&mut Plain, PlainBlock::new(tags), &received).unwrap();
            assert!(right.iter().enumerate().all(|(l, right)| *right == (l % 5 != 4)) && right.len() == 1030);
        }
    }
}
