//! Stores of preprocessed correlated randomness: each item is verified when it is put in, and given out once.

use crate::Verified;
use std::collections::VecDeque;

/// A bounded queue of verified items. An item is taken by value, at a position that counts up from the first
/// item ever put in. Parties that add the position to their view digest notice if one of them skipped an
/// item.
pub struct Stock<C> {
    items: VecDeque<C>,
    bound: usize,
    taken: u64,
}

impl<C> Stock<C> {
    /// An empty stock that holds at most `bound` items.
    #[must_use]
    pub fn bounded(bound: usize) -> Self {
        Stock { items: VecDeque::new(), bound, taken: 0 }
    }

    /// Put an item in.
    ///
    /// # Errors
    /// The item, if the stock is full.
    pub fn put(&mut self, item: Verified<C>) -> Result<(), Verified<C>> {
        if self.items.len() >= self.bound {
            return Err(item);
        }
        self.items.push_back(item.into_inner());
        Ok(())
    }

    /// Take the oldest item, with its position.
    pub fn take(&mut self) -> Option<(u64, C)> {
        let item = self.items.pop_front()?;
        let position = self.taken;
        self.taken += 1;
        Some((position, item))
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::verified;

    #[test]
    fn each_item_once_at_its_own_position_and_never_more_than_the_bound() {
        let mut stock = Stock::bounded(2);
        assert!(stock.put(verified(10)).is_ok());
        assert!(stock.put(verified(11)).is_ok());
        assert_eq!(stock.put(verified(12)).err().map(Verified::into_inner), Some(12));
        assert_eq!(stock.take(), Some((0, 10)));
        assert!(stock.put(verified(13)).is_ok());
        assert_eq!((stock.take(), stock.take(), stock.take()), (Some((1, 11)), Some((2, 13)), None));
        assert!(stock.is_empty());
    }
}
