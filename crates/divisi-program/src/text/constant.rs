//! Constants of a program's text.

use super::word::short;
use super::{LINE, Reader};
use crate::literal::{self, integer};
use crate::program::{ProgramError, Value, ValueKind, right_width};
use crate::shape::Shape;

/// The largest number of bits of a constant of bits: that of the digits of a line.
const LARGEST_CONSTANT: usize = 4 * LINE;

impl Reader<'_> {
    pub(super) fn constant(&mut self, words: &[&str]) -> Result<Value, ProgramError> {
        let form = || {
            ProgramError::from(
                "const takes a shape and its numbers, as `const 1x3 1 2 3`, or for bits `const bits 8 3 1 2 0xff`",
            )
        };
        if let ["bits", width, shape, numbers @ ..] = words {
            let ValueKind::Bits(width) = bits_of(width)? else { return Err(form()) };
            let below = if width > 128 { " of one below 2^128" } else { "" };
            let word = |word: &&str| {
                literal::bits(word, width).ok_or_else(|| {
                    format!(
                        "{} is no number of {width} bits: give decimal digits{below}, or 0x and hexadecimal ones",
                        short(word)
                    )
                })
            };
            let shape: Shape = shape.parse()?;
            // words are wider than their digits: what they take is looked at before they take it
            if numbers.len().saturating_mul(width) > LARGEST_CONSTANT {
                return Err(format!(
                    "a constant of more than {LARGEST_CONSTANT} bits in all: make several, or give fewer bits"
                ));
            }
            if numbers.len() != shape.entries() {
                return Err(format!(
                    "{} numbers are given, and the shape {shape} has {} entries",
                    numbers.len(),
                    shape.entries()
                ));
            }
            let numbers = numbers.iter().map(word).collect::<Result<Vec<Vec<bool>>, ProgramError>>()?;
            return self.program.constant_bits(width, shape, &numbers);
        }
        let Some((shape, numbers)) = words.split_first().filter(|(first, _)| **first != "bits") else {
            return Err(form());
        };
        let number = |word: &&str| {
            integer(word).ok_or_else(|| format!("{} is not an integer in the range of numbers", short(word)))
        };
        let numbers = numbers.iter().map(number).collect::<Result<Vec<i64>, ProgramError>>()?;
        self.program.constant(shape.parse()?, &numbers)
    }
}

/// The kind of bits of a width.
pub(super) fn bits_of(width: &str) -> Result<ValueKind, ProgramError> {
    let kind = width.parse().map(ValueKind::Bits).map_err(|_| format!("{} is not a width", short(width)))?;
    right_width(kind)?;
    Ok(kind)
}
