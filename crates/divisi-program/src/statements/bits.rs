//! Statements on bits that make words of others: pieces, longer ones, counts. And products of words.

use super::bits;
use crate::program::{Action, ProgramError, Script, Value, ValueKind, WIDEST, right_width};
use crate::shape::Shape;

/// The most bits of words that are multiplied: their product takes about the square of it in ANDs.
const WIDEST_FACTOR: usize = 512;

impl Script {
    /// `width` bits of every word, from the bit `from` on; the lowest bit is 0.
    ///
    /// # Errors
    /// If x are numbers, no bits are taken, or words have no such bits.
    pub fn slice(&mut self, x: &Value, from: usize, width: usize) -> Result<Value, ProgramError> {
        let has = bits(x, "slice")?;
        right_width(ValueKind::Bits(width))?;
        if from.checked_add(width).is_none_or(|end| end > has) {
            return Err(format!("{width} bits from bit {from} on: the word has the bits 0 to {}", has - 1));
        }
        self.push(Action::Slice(from), &[x], ValueKind::Bits(width), x.shape().clone())
    }

    /// The bits of several words as one word: first those of the first one, which become the lowest.
    ///
    /// # Errors
    /// If there are no words, one is a number, their shapes do not fit, or all bits are too many.
    pub fn concat(&mut self, words: &[&Value]) -> Result<Value, ProgramError> {
        let (mut width, mut shape) = (0_usize, Shape::one());
        for word in words {
            width = width.saturating_add(bits(word, "concat")?);
            let joined = shape.join(word.shape());
            shape = joined.ok_or_else(|| {
                format!(
                    "the shapes {shape} and {} do not fit: sides must be equal, or one of them 1",
                    word.shape()
                )
            })?;
        }
        if width > WIDEST {
            return Err(format!("{width} bits in all: a word has at most {WIDEST}, so leave some apart"));
        }
        right_width(ValueKind::Bits(width))?;
        self.push(Action::Concat, words, ValueKind::Bits(width), shape)
    }

    /// The same unsigned numbers with more bits: those that are added are 0.
    ///
    /// # Errors
    /// If x are numbers, or have more bits already.
    pub fn widen(&mut self, x: &Value, width: usize) -> Result<Value, ProgramError> {
        let has = bits(x, "widen")?;
        right_width(ValueKind::Bits(width))?;
        if width < has {
            return Err(format!("widen to {width} bits: the word has {has}, of which `slice` takes some"));
        }
        self.push(Action::Widen, &[x], ValueKind::Bits(width), x.shape().clone())
    }

    /// How many bits of every word are 1, in as many bits as that takes.
    ///
    /// # Errors
    /// If x are numbers.
    pub fn popcount(&mut self, x: &Value) -> Result<Value, ProgramError> {
        let width = bits(x, "popcount")?;
        let count = (usize::BITS - width.leading_zeros()) as usize;
        self.push(Action::Popcount, &[x], ValueKind::Bits(count), x.shape().clone())
    }

    /// Counts the ANDs of a product of words towards the program's size.
    pub(super) fn count_product(&mut self, x: &Value, shape: &Shape) -> Result<(), ProgramError> {
        let ValueKind::Bits(width) = x.kind() else { return Ok(()) };
        if width > WIDEST_FACTOR {
            return Err(format!(
                "words of {width} bits are too wide for mul, which takes up to {WIDEST_FACTOR}: multiply slices"
            ));
        }
        self.size = self.size.saturating_add(shape.entries().saturating_mul(width * width));
        Ok(())
    }
}
