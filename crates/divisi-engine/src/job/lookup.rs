//! Lookups in a public table.

use super::encoding;
use super::table::UserTable;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Lookups in one public table: of bytes, or one that the user brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookupJob {
    /// The number of entries of the table.
    pub entries: usize,
    /// The number of inputs over which the bits of an index are split.
    pub inputs: usize,
    /// The number of factors of the one-hot vectors; `None` for the number that costs least.
    pub dimensions: Option<usize>,
    /// The number of lookups.
    pub count: usize,
    /// The user's table, whose entries have two bytes in an output row, the lower one first; `None` for a
    /// table of bytes.
    #[serde(with = "encoding::entries")]
    pub table: Option<Arc<UserTable>>,
}

impl LookupJob {
    /// The table's entry at this index.
    #[must_use]
    pub fn entry(place: usize) -> u8 {
        ((place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8
    }

    /// The expected output for an input row.
    #[must_use]
    pub fn expected(&self, row: &[u8]) -> Option<Vec<u8>> {
        let place = u32::from_le_bytes(row.try_into().ok()?) as usize;
        if let Some(table) = &self.table {
            let entry = table.entries().get(place & self.entries.checked_sub(1)?)?;
            return Some(entry.to_le_bytes().to_vec());
        }
        Some(vec![LookupJob::entry(place & self.entries.checked_sub(1)?)])
    }
}
