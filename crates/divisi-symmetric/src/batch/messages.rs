//! Messages of different lengths side by side.

use super::{SecretByte, unfit};
use divisi_core::{Abort, Boolean, Lanes};

/// Secret messages, one a lane, of public lengths.
pub struct Messages<E: Boolean> {
    /// Byte after byte, of all lanes; what stands beyond the end of a message is ignored.
    columns: Vec<SecretByte<E>>,
    lengths: Vec<usize>,
}

impl<E: Boolean> Clone for Messages<E> {
    fn clone(&self) -> Self {
        Messages { columns: self.columns.clone(), lengths: self.lengths.clone() }
    }
}

impl<E: Boolean> Messages<E> {
    /// The messages whose byte `j` is in `columns[j]`, in as many lanes as there are lengths; beyond the end of a message anything
    /// may stand.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the columns are fewer than the longest message's bytes, or have other lanes.
    pub fn new(columns: Vec<SecretByte<E>>, lengths: Vec<usize>) -> Result<Self, Abort> {
        let longest = lengths.iter().copied().max().unwrap_or(0);
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
        Messages { columns, lengths: messages.iter().map(|message| message.len()).collect() }
    }

    /// How many messages there are.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lengths.len()
    }

    /// The lengths of the messages in bytes.
    #[must_use]
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// The messages in another order.
    pub(super) fn gather(&self, order: &[usize]) -> Result<Self, Abort> {
        let columns = self.columns.iter().map(|column| gather(column, order));
        Ok(Messages {
            columns: columns.collect::<Result<_, _>>()?,
            lengths: order.iter().filter_map(|lane| self.lengths.get(*lane).copied()).collect(),
        })
    }

    /// Byte `j` of the first `lanes` messages, which stand longest first; of those that have ended, `after(length, beyond)` where
    /// `beyond` counts from the message's end.
    pub(super) fn byte(
        &self,
        e: &mut E,
        j: usize,
        lanes: usize,
        after: impl Fn(usize, usize) -> u8,
    ) -> Result<SecretByte<E>, Abort> {
        let going = self.lengths[..lanes].partition_point(|length| *length > j);
        let ended: Vec<u8> =
            self.lengths[going..lanes].iter().map(|length| after(*length, j - length)).collect();
        let mut bits = Vec::with_capacity(8);
        for i in 0..8 {
            let message = match self.columns.get(j) {
                Some(column) if going > 0 => Some(column[i].first(going).ok_or_else(ragged)?),
                _ => None,
            };
            let padding = (going < lanes)
                .then(|| e.public_bit(&ended.iter().map(|byte| byte >> i & 1 == 1).collect::<Vec<_>>()));
            bits.push(match (message, padding) {
                (Some(message), Some(padding)) => e.join_bits(&[&message, &padding]),
                (Some(bit), None) | (None, Some(bit)) => bit,
                (None, None) => return Err(ragged()),
            });
        }
        bits.try_into().map_err(|_| ragged())
    }
}

/// These lanes of a byte.
pub(super) fn gather<B: Lanes>(byte: &[B; 8], index: &[usize]) -> Result<[B; 8], Abort> {
    let bits: Option<Vec<B>> = byte.iter().map(|bit| bit.gather(index)).collect();
    bits.and_then(|bits| bits.try_into().ok()).ok_or_else(ragged)
}

fn ragged() -> Abort {
    unfit("values of different numbers of lanes")
}
