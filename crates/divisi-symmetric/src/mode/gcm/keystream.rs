//! The key stream of messages, for one that comes in chunks and for many at once: first the blocks of all
//! messages, one message after the other, then for each the block that masks its tag.

use super::message::lanes_at;
use crate::mode::ctr;
use divisi_core::{Abort, Lanes, Misuse, Step, step};

const STREAM: Step = step!("stream");

/// The lanes that the blocks of a message have.
#[derive(Clone, Copy, Default)]
pub(super) struct MessageLanes {
    /// The first lane of the message.
    pub(super) message: usize,
    pub(super) bytes: usize,
    /// The lane of E_K(J_0).
    pub(super) mask: usize,
}

/// Public counter blocks: for each message its `J_0`, the number of its first block, and how many blocks it
/// has. With `masks` the `J_0` of each follow.
pub(super) fn counters(
    messages: impl Iterator<Item = ([u8; 16], u32, usize)> + Clone,
    masks: bool,
) -> [Vec<u8>; 16] {
    let mut counters: [Vec<u8>; 16] = Default::default();
    for (j0, first, blocks) in messages.clone() {
        ctr::append(&mut counters, &j0, first, blocks);
    }
    for (j0, ..) in messages.filter(|_| masks) {
        counters.iter_mut().zip(j0).for_each(|(column, byte)| column.push(byte));
    }
    counters
}

/// Takes the lanes of these messages out of a key stream, column by column, one message after the other: no
/// byte of key stream beyond a message is kept.
pub(super) fn cut<B: Lanes>(stream: &[B; 16], places: &[MessageLanes]) -> Result<Vec<B>, Abort> {
    let column = |(i, byte): (usize, &B)| match places {
        [one] if one.message == 0 => byte.first(lanes_at(one.bytes, i)),
        _ => {
            let lanes = |place: &MessageLanes| place.message..place.message + lanes_at(place.bytes, i);
            byte.gather(&places.iter().flat_map(lanes).collect::<Vec<usize>>())
        }
    };
    let columns: Option<Vec<B>> = stream.iter().enumerate().map(column).collect();
    columns.ok_or(Abort::Misuse { step: STREAM, what: Misuse::LengthDiffers })
}
