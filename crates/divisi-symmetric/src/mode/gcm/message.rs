//! A message as columns: column `i` has byte `i` of every block, in a lane for each block.

use divisi_core::{Abort, Misuse, step};

/// How many blocks of a message of this many bytes have a byte `i`, which is the number of lanes of column
/// `i`.
#[must_use]
pub fn lanes_at(bytes: usize, i: usize) -> usize {
    (bytes + 15).saturating_sub(i) / 16
}

/// A message back from its columns.
///
/// # Errors
/// [`Abort::Misuse`] if they hold fewer bytes.
pub fn interleaved(columns: &[Vec<u8>], bytes: usize) -> Result<Vec<u8>, Abort> {
    let byte = |at: usize| columns.get(at % 16).and_then(|column| column.get(at / 16)).copied();
    (0..bytes).map(byte).collect::<Option<_>>().ok_or(MISFIT)
}

const MISFIT: Abort = Abort::Misuse { step: step!("text"), what: Misuse::LengthDiffers };
