//! Parts of single draws: where each party draws, and a run in which a part of one draw is another one, and
//! nothing else.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedPart {
    /// Where it is drawn.
    pub place: DrawPlace,
    /// Whose draw is changed, and nobody else's, even if others draw the same.
    pub party: PartyId,
    /// How many draws there are before it at this place.
    pub number: u64,
    /// Which part.
    pub part: DrawPart,
}

/// A part of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum DrawPart {
    /// The first byte, word or number.
    First,
    /// The one in the middle.
    Middle,
    /// The last one.
    Last,
    /// The bit after which so many are left to the end, of words from the lowest to the highest; of numbers
    /// the last one.
    Bit(u32),
}

impl DrawPart {
    fn of<T>(self, all: &mut [T]) -> Option<&mut T> {
        match self {
            DrawPart::First => all.first_mut(),
            DrawPart::Middle => all.get_mut(all.len() / 2),
            DrawPart::Last => all.last_mut(),
            DrawPart::Bit(left) => {
                let bits = 8 * size_of::<T>().max(1);
                let last = all.len().checked_sub(1 + left as usize / bits)?;
                all.get_mut(last)
            }
        }
    }

    /// What a word of type `T`, in the high bits of this one, differs by: some use its low bits, and others
    /// the high ones.
    fn difference<T>(self) -> u64 {
        match self {
            DrawPart::Bit(left) => 1 << 63 >> (left as usize % (8 * size_of::<T>().max(1)) % 64),
            _ => 0x5b00_0000_0000_005b,
        }
    }
}

impl DrawRecord {
    /// Notes a draw at a place. Returns the part of it that is to be changed.
    fn changed_part(
        &self,
        of: &'static DrawPurpose,
        strand: u32,
        caller: &'static Location<'static>,
    ) -> Option<DrawPart> {
        if of.known_to() == KnownTo::Anyone {
            return None;
        }
        let place = DrawPlace { of: of.name(), caller, strand };
        let mut log = self.log();
        let count = log.all.places.entry(place).or_default();
        let number = *count;
        *count += 1;
        let changed = self.known.as_ref()?.part?;
        let here = changed.place == place && changed.number == number;
        (here && changed.party == self.me).then_some(changed.part)
    }

    /// Notes a draw of bytes at a place, and changes a part of it if a test asks for it.
    pub(super) fn part(
        &self,
        of: &'static DrawPurpose,
        strand: u32,
        caller: &'static Location<'static>,
        out: &mut [u8],
    ) {
        if let Some(part) = self.changed_part(of, strand, caller)
            && let Some(byte) = part.of(out)
        {
            *byte ^= (part.difference::<u8>() >> 56) as u8;
        }
    }
}

impl StreamRecord {
    /// Notes a draw of the stream at a place, and changes a part of it if a test asks for it.
    pub(crate) fn part<T: Copy>(
        &self,
        caller: &'static Location<'static>,
        out: &mut [T],
        other: impl FnOnce(T, u64) -> T,
    ) {
        let (of, strand) = match self.record.log().all.streams_mut(self.shared).get(self.place) {
            Some(stream) => (stream.of, stream.strand),
            None => return,
        };
        if let Some(part) = self.record.changed_part(of, strand, caller)
            && let Some(word) = part.of(out)
        {
            *word = other(*word, part.difference::<T>());
        }
    }
}

/// Notes numbers that were made of draws at a place, and changes the first or the last one if a test asks for
/// it.
#[track_caller]
pub(crate) fn numbers<T: Copy>(of: &'static DrawPurpose, all: &mut [T], other: impl FnOnce(T, bool) -> T) {
    if let Some((record, strand)) = current()
        && let Some(part) = record.changed_part(of, strand, Location::caller())
        && let Some(number) = part.of(all)
    {
        *number = other(*number, part != DrawPart::First);
    }
}
