//! Messages of different lengths, one in each lane.

use super::{SecretByte, unfit};
use divisi_core::{Abort, Boolean, Lanes, Misuse};

/// Secret messages of public lengths, one in each lane.
///
/// A message may end within a byte. Its last bits are then at the high end of the byte for SHA-2, where the
/// first bit is the highest, and at the low end for SHA-3 and its derived functions (FIPS 202, B.1). The
/// function that processes the messages determines which.
pub struct Messages<E: Boolean> {
    /// Column `j` has byte `j` of every message. Bytes after the end of a message are ignored.
    columns: Vec<SecretByte<E>>,
    /// The length of each message in bits.
    lengths: Vec<usize>,
}

impl<E: Boolean> Clone for Messages<E> {
    fn clone(&self) -> Self {
        Messages { columns: self.columns.clone(), lengths: self.lengths.clone() }
    }
}

impl<E: Boolean> Messages<E> {
    /// Messages whose byte `j` is in `columns[j]`, with a lane for each length. After the end of a message
    /// there may be any bytes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are fewer columns than bytes of the longest message, or if their lanes do
    /// not fit.
    pub fn new(columns: Vec<SecretByte<E>>, lengths: Vec<usize>) -> Result<Self, Abort> {
        let bits = lengths.iter().map(|length| length.checked_mul(8));
        let bits: Option<Vec<usize>> = bits.collect();
        Messages::of_bits(columns, bits.ok_or_else(|| unfit(Misuse::TooLarge))?)
    }

    /// [`new`](Messages::new), with lengths in bits.
    ///
    /// # Errors
    /// The errors of [`new`](Messages::new).
    pub fn of_bits(columns: Vec<SecretByte<E>>, lengths: Vec<usize>) -> Result<Self, Abort> {
        let longest = lengths.iter().copied().max().unwrap_or(0).div_ceil(8);
        if columns.len() < longest || columns.iter().flatten().any(|bit| bit.lanes() != lengths.len()) {
            return Err(unfit(Misuse::LengthDiffers));
        }
        Ok(Messages { columns, lengths })
    }

    /// Messages of equal length, in `lanes` lanes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the columns have another number of lanes.
    pub fn even(columns: Vec<SecretByte<E>>, lanes: usize) -> Result<Self, Abort> {
        let lengths = vec![columns.len(); lanes];
        Messages::new(columns, lengths)
    }

    /// Messages that are public.
    pub fn public(e: &mut E, messages: &[&[u8]]) -> Self {
        let longest = messages.iter().map(|message| message.len()).max().unwrap_or(0);
        let column = |j: usize| {
            std::array::from_fn(|i| {
                let bit = |message: &&[u8]| message.get(j).is_some_and(|byte| byte >> i & 1 == 1);
                e.public_bit(&messages.iter().map(bit).collect::<Vec<bool>>())
            })
        };
        let columns = (0..longest).map(column).collect();
        Messages { columns, lengths: messages.iter().map(|message| 8 * message.len()).collect() }
    }

    /// How many messages there are.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lengths.len()
    }

    /// The lengths of the messages in bits.
    #[must_use]
    pub fn bits(&self) -> &[usize] {
        &self.lengths
    }

    /// The lengths of the messages in bytes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if one is not a whole number of bytes.
    pub fn whole_bytes(&self) -> Result<Vec<usize>, Abort> {
        if self.lengths.iter().any(|bits| bits % 8 != 0) {
            return Err(unfit(Misuse::LengthUnsupported));
        }
        Ok(self.lengths.iter().map(|bits| bits / 8).collect())
    }

    /// The messages in another order.
    pub(super) fn gather(&self, order: &[usize]) -> Result<Self, Abort> {
        let columns = self.columns.iter().map(|column| gather(column, order));
        Ok(Messages {
            columns: columns.collect::<Result<_, _>>()?,
            lengths: order.iter().filter_map(|lane| self.lengths.get(*lane).copied()).collect(),
        })
    }

    /// The first `bytes` bytes of all messages.
    pub(super) fn first_bytes(mut self, bytes: usize) -> Vec<SecretByte<E>> {
        self.columns.truncate(bytes);
        self.columns
    }

    /// Byte `j` of the first `lanes` messages, which are sorted, the longest first. For a message that has
    /// ended it is `after(bits, beyond)`, where `beyond` counts from the byte in which the message ends.
    pub(super) fn byte(
        &self,
        e: &mut E,
        j: usize,
        lanes: usize,
        first: First,
        after: &dyn Fn(usize, usize) -> u8,
    ) -> Result<SecretByte<E>, Abort> {
        // Messages of one length have one padding and are in adjacent lanes. For each length: the lane after
        // the last of these messages, and byte `j` of the padding.
        let mut end = 0;
        let runs: Vec<(usize, u8)> = self.lengths[..lanes]
            .chunk_by(|one, next| one == next)
            .filter_map(|run| {
                end += run.len();
                run.first().map(|length| (end, after(*length, j.saturating_sub(length / 8))))
            })
            .collect();
        let mut bits = Vec::with_capacity(8);
        for i in 0..8 {
            // the number of the message's bit; longer messages come first, so those that have this bit are in
            // the first lanes
            let number = 8 * j + if first == First::Lowest { i } else { 7 - i };
            let going = self.lengths[..lanes].partition_point(|length| *length > number);
            let message = match self.columns.get(j) {
                Some(column) if going > 0 => Some(column[i].first(going).ok_or_else(ragged)?),
                _ => None,
            };
            let padding = (going < lanes).then(|| {
                let mut padding = Vec::with_capacity(lanes - going);
                for (end, byte) in &runs {
                    padding.resize(end.saturating_sub(going), byte >> i & 1 == 1);
                }
                e.public_bit(&padding)
            });
            bits.push(match (message, padding) {
                (Some(message), Some(padding)) => e.join_bits(&[&message, &padding]),
                (Some(bit), None) | (None, Some(bit)) => bit,
                (None, None) => return Err(ragged()),
            });
        }
        bits.try_into().map_err(|_| ragged())
    }
}

/// Which bit of a byte is the first bit of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// The lowest one, as in SHA-3.
    Lowest,
    /// The highest one, as in SHA-2.
    Highest,
}

/// The byte with lane `index[l]` in lane `l`.
pub(super) fn gather<B: Lanes>(byte: &[B; 8], index: &[usize]) -> Result<[B; 8], Abort> {
    let bits: Option<Vec<B>> = byte.iter().map(|bit| bit.gather(index)).collect();
    bits.and_then(|bits| bits.try_into().ok()).ok_or_else(ragged)
}

fn ragged() -> Abort {
    unfit(Misuse::LanesDiffer)
}
