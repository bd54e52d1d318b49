//! The head of a program's text: how large its numbers are.

use crate::program::ProgramError;
use crate::size::NumberSize;

/// The size that stands behind `numbers`.
pub(super) fn size(words: &[&str]) -> Result<NumberSize, ProgramError> {
    let named = |size: &NumberSize| matches!(words, [bits] if *bits == size.bits().to_string());
    let size = NumberSize::ALL.into_iter().find(named);
    size.ok_or_else(|| "numbers have 31 or 61 bits: write `numbers 31` or `numbers 61`".into())
}

/// The refusal of a program, and the larger numbers with which it is right, if there are any.
pub(super) fn proposing(error: ProgramError, is_right: impl Fn(NumberSize) -> bool) -> ProgramError {
    let larger = NumberSize::ALL.into_iter().filter(|size| *size != NumberSize::default());
    match larger.map(|size| (size, is_right(size))).find(|(_, right)| *right) {
        Some((size, _)) => {
            let bits = size.bits();
            format!("{error}; or write `numbers {bits}` below the first line: numbers of {bits} bits suffice")
        }
        None => error,
    }
}
