//! Messages of different lengths side by side.

use super::{SecretByte, unfit};
use divisi_core::{Abort, Boolean, Lanes};

/// Secret messages, one a lane, of public lengths.
///
/// A message may end within a byte: at the high end of it for SHA-2 (its first bit is the highest), at the
/// low end for SHA-3 and what is made of it (FIPS 202, B.1). Which one the function knows.
pub struct Messages<E: Boolean> {
    /// Byte after byte, of all lanes; what stands beyond the end of a message is ignored.
    columns: Vec<SecretByte<E>>,
    /// In bits.
    lengths: Vec<usize>,
}

impl<E: Boolean> Clone for Messages<E> {
    fn clone(&self) -> Self {
        Messages { columns: self.columns.clone(), lengths: self.lengths.clone() }
    }
}

impl<E: Boolean> Messages<E> {
    /// The messages whose byte `j` is in `columns[j]`, in as many lanes as there are lengths; beyond the end
    /// of a message anything may stand.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the columns are fewer than the longest message's bytes, or have other lanes.
    pub fn new(columns: Vec<SecretByte<E>>, lengths: Vec<usize>) -> Result<Self, Abort> {
        let bits = lengths.iter().map(|length| length.checked_mul(8));
        let bits: Option<Vec<usize>> = bits.collect();
        Messages::of_bits(columns, bits.ok_or_else(|| unfit("messages of 2^61 bytes"))?)
    }

    /// As [`new`](Messages::new), of lengths in bits.
    ///
    /// # Errors
    /// As [`new`](Messages::new).
    pub fn of_bits(columns: Vec<SecretByte<E>>, lengths: Vec<usize>) -> Result<Self, Abort> {
        let longest = lengths.iter().copied().max().unwrap_or(0).div_ceil(8);
        if columns.len() < longest || columns.iter().flatten().any(|bit| bit.lanes() != lengths.len()) {
            return Err(unfit("columns that do not hold messages of these lengths"));
        }
        Ok(Messages { columns, lengths })
    }

    /// Messages of equal length, in so many lanes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the columns have other lanes.
    pub fn even(columns: Vec<SecretByte<E>>, lanes: usize) -> Result<Self, Abort> {
        let lengths = vec![columns.len(); lanes];
        Messages::new(columns, lengths)
    }

    /// Messages that everybody knows.
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
    /// [`Abort::Misuse`] if one is no whole number of bytes.
    pub fn whole_bytes(&self) -> Result<Vec<usize>, Abort> {
        if self.lengths.iter().any(|bits| bits % 8 != 0) {
            return Err(unfit("a message that is not whole bytes"));
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

    /// So many bytes of all messages, as they stand.
    pub(super) fn first_bytes(mut self, bytes: usize) -> Vec<SecretByte<E>> {
        self.columns.truncate(bytes);
        self.columns
    }

    /// Byte `j` of the first `lanes` messages, which stand longest first; of those that have ended,
    /// `after(bits, beyond)` where `beyond` counts from the byte in which the message ends.
    pub(super) fn byte(
        &self,
        e: &mut E,
        j: usize,
        lanes: usize,
        first: First,
        after: impl Fn(usize, usize) -> u8,
    ) -> Result<SecretByte<E>, Abort> {
        let mut bits = Vec::with_capacity(8);
        for i in 0..8 {
            // which bit of the message it is, if there is one: the longer ones come first, so that those that
            // have it do
            let number = 8 * j + if first == First::Lowest { i } else { 7 - i };
            let going = self.lengths[..lanes].partition_point(|length| *length > number);
            let message = match self.columns.get(j) {
                Some(column) if going > 0 => Some(column[i].first(going).ok_or_else(ragged)?),
                _ => None,
            };
            let ended = self.lengths[going..lanes].iter();
            let ended = ended.map(|length| after(*length, j.saturating_sub(length / 8)) >> i & 1 == 1);
            let padding = (going < lanes).then(|| e.public_bit(&ended.collect::<Vec<bool>>()));
            bits.push(match (message, padding) {
                (Some(message), Some(padding)) => e.join_bits(&[&message, &padding]),
                (Some(bit), None) | (None, Some(bit)) => bit,
                (None, None) => return Err(ragged()),
            });
        }
        bits.try_into().map_err(|_| ragged())
    }
}

/// Which bit of a byte is the first one of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// That of SHA-3.
    Lowest,
    /// That of SHA-2.
    Highest,
}

/// These lanes of a byte.
pub(super) fn gather<B: Lanes>(byte: &[B; 8], index: &[usize]) -> Result<[B; 8], Abort> {
    let bits: Option<Vec<B>> = byte.iter().map(|bit| bit.gather(index)).collect();
    bits.and_then(|bits| bits.try_into().ok()).ok_or_else(ragged)
}

fn ragged() -> Abort {
    unfit("values of different numbers of lanes")
}
