//! Entries of a program's values as bytes: eight a number, the lowest first, and one a bit.

use crate::plain::Entries;
use crate::{Value, ValueKind};
use zeroize::Zeroizing;

/// The length of the entries of a program's value, in bytes: eight a number, one a bit.
#[must_use]
pub fn length(value: &Value) -> usize {
    let each = match value.kind() {
        ValueKind::Num => 8,
        ValueKind::Bits(width) => width,
    };
    value.shape().entries() * each
}

/// Append entries as bytes: eight a number, the lowest first, or one a bit.
pub fn encode(entries: &Entries, out: &mut Zeroizing<Vec<u8>>) {
    match entries {
        Entries::Num(numbers) => numbers.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Entries::Bits(words) => words.iter().flatten().for_each(|bit| out.push(u8::from(*bit))),
    }
}

/// The inverse of [`encode`]: the entries of a value, and the bytes that follow them. `None` for bytes that
/// [`encode`] does not write.
#[must_use]
pub fn decode<'b>(value: &Value, bytes: &'b [u8]) -> Option<(Entries, &'b [u8])> {
    let (own, rest) = bytes.split_at_checked(length(value))?;
    let entries = match value.kind() {
        ValueKind::Num => {
            let number = |bytes: &[u8]| bytes.try_into().ok().map(i64::from_le_bytes);
            Entries::Num(own.chunks_exact(8).map(number).collect::<Option<_>>()?)
        }
        ValueKind::Bits(width) => {
            let bit = |byte: &u8| (*byte <= 1).then_some(*byte == 1);
            let word = |bytes: &[u8]| bytes.iter().map(bit).collect::<Option<Vec<bool>>>();
            Entries::Bits(own.chunks_exact(width.max(1)).map(word).collect::<Option<_>>()?)
        }
    };
    Some((entries, rest))
}
