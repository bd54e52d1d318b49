//! Parts of single draws: where each party draws, and a run in which the first or the last part of one draw
//! is another one, and nothing else.

use super::{DrawRecord, StreamRecord, current};
use crate::{DrawPurpose, KnownTo, PartyId};
use std::panic::Location;

/// A place in the sources at which a strand draws for a purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrawPlace {
    /// The purpose's name.
    pub of: &'static str,
    /// The place.
    pub caller: &'static Location<'static>,
    /// The strand.
    pub strand: u32,
}

/// One of the draws at a place, of which a part is changed.
#[derive(Clone, Copy, Debug)]
pub struct ChangedPart {
    /// Where it is drawn.
    pub place: DrawPlace,
    /// Whose draw is changed, and nobody else's, even if others draw the same.
    pub party: PartyId,
    /// How many draws there are before it at this place.
    pub number: u64,
    /// Whether the last part is changed, and not the first.
    pub last: bool,
}

/// What a byte of a draw that is changed differs by: also in the lowest bit, which may be all that is used.
pub(crate) const OTHER: u8 = 0x5b;

impl DrawRecord {
    /// Notes a draw at a place. If a part of it is to be changed: whether it is the last one.
    fn changed_part(
        &self,
        of: &'static DrawPurpose,
        strand: u32,
        caller: &'static Location<'static>,
    ) -> Option<bool> {
        if of.known_to() == KnownTo::Anyone {
            return None;
        }
        let place = DrawPlace { of: of.name(), caller, strand };
        let mut log = self.log();
        let count = log.all.places.entry(place).or_default();
        let number = *count;
        *count += 1;
        let part = self.known.as_ref()?.part?;
        let here = part.place == place && part.number == number;
        (here && part.party == self.me).then_some(part.last)
    }

    /// Notes a draw of bytes at a place, and changes a part of it if a test asks for it.
    pub(super) fn part(
        &self,
        of: &'static DrawPurpose,
        strand: u32,
        caller: &'static Location<'static>,
        out: &mut [u8],
    ) {
        if let Some(byte) = end(out, self.changed_part(of, strand, caller)) {
            *byte ^= OTHER;
        }
    }
}

impl StreamRecord {
    /// Notes a draw of the stream at a place, and changes a part of it if a test asks for it.
    pub(crate) fn part<T: Copy>(
        &self,
        caller: &'static Location<'static>,
        out: &mut [T],
        other: impl FnOnce(T) -> T,
    ) {
        let (of, strand) = match self.record.log().all.streams_mut(self.shared).get(self.place) {
            Some(stream) => (stream.of, stream.strand),
            None => return,
        };
        if let Some(part) = end(out, self.record.changed_part(of, strand, caller)) {
            *part = other(*part);
        }
    }
}

fn end<T>(all: &mut [T], last: Option<bool>) -> Option<&mut T> {
    if last? { all.last_mut() } else { all.first_mut() }
}

/// Notes numbers that were made of draws at a place, and changes the first or the last one if a test asks for
/// it.
#[track_caller]
pub(crate) fn numbers<T: Copy>(of: &'static DrawPurpose, all: &mut [T], other: impl FnOnce(T, bool) -> T) {
    if let Some((record, strand)) = current() {
        let last = record.changed_part(of, strand, Location::caller());
        if let (Some(number), Some(last)) = (end(all, last), last) {
            *number = other(*number, last);
        }
    }
}
