//! Where values come from: inputs with their ranges, constants, integers that stand for arguments. And what
//! the programmer knows about values.

use crate::interval::Interval;
use crate::program::{
    Action, Arg, Assumption, Constant, Input, ProgramError, Script, Statement, Value, ValueKind, right_width,
};
use crate::shape::Shape;
use std::sync::Arc;

impl Input {
    /// What its entries can be: the range that is declared for them, or, without one, numbers of a size below
    /// 2^30, or 2^60 for wide numbers, and any bits.
    #[must_use]
    pub fn bounds(&self, script: &Script) -> Interval {
        self.range.unwrap_or_else(|| script.undeclared(self.value.kind()))
    }
}

impl Script {
    /// What an input without a range can be.
    fn undeclared(&self, kind: ValueKind) -> Interval {
        match kind {
            ValueKind::Num => self.limits().small(),
            ValueKind::Bits(width) => Interval::of_bits(width),
        }
    }

    /// Adds an input of a party; the first party is 1. Without a range a number has a size below 2^30, or
    /// 2^60 for wide numbers.
    ///
    /// # Errors
    /// If another input has this name, the party is 0, or no value can have this kind.
    pub fn input(
        &mut self,
        name: &str,
        owner: u8,
        kind: ValueKind,
        shape: Shape,
    ) -> Result<Value, ProgramError> {
        self.input_within(name, owner, kind, shape, None)
    }

    /// Adds an input whose entries are in a range, which has both of its ends. Bits are read as unsigned
    /// numbers.
    ///
    /// # Errors
    /// The errors of [`Script::input`]; if there is no number in the range, or it has numbers that no value
    /// of this kind can have.
    pub fn input_in(
        &mut self,
        name: &str,
        owner: u8,
        kind: ValueKind,
        shape: Shape,
        [low, high]: [i64; 2],
    ) -> Result<Value, ProgramError> {
        let range = declared(low.into(), high.into())?;
        self.input_within(name, owner, kind, shape, Some(range))
    }

    pub(crate) fn input_within(
        &mut self,
        name: &str,
        owner: u8,
        kind: ValueKind,
        shape: Shape,
        range: Option<Interval>,
    ) -> Result<Value, ProgramError> {
        if owner == 0 {
            return Err("there is no party 0: parties are counted from 1".into());
        }
        if self.input_names.contains(name) {
            return Err(format!("there is an input {name} already"));
        }
        right_width(kind)?;
        let whole = self.whole(kind);
        if let Some(range) = range.filter(|range| !range.is_within(whole)) {
            return Err(format!(
                "the range {range} is beyond {whole}, which {kind} can be: declare a smaller one"
            ));
        }
        let interval = range.unwrap_or_else(|| self.undeclared(kind));
        let value = self.push_in(Action::Input, &[], kind, shape, interval);
        self.input_names.insert(name.to_owned());
        self.inputs.push(Input { name: name.to_owned(), owner, value: value.clone(), range });
        Ok(value)
    }

    /// From here on all entries of a value are taken to be in a range, which has both of its ends. A run does
    /// not check it, because nobody sees the value; evaluation in the clear does ([`crate::valid`]).
    ///
    /// # Errors
    /// If there is no number in the range that the value can be.
    pub fn assume(&mut self, value: &Value, [low, high]: [i64; 2]) -> Result<(), ProgramError> {
        self.assume_within(value, declared(low.into(), high.into())?, None)
    }

    pub(crate) fn assume_within(
        &mut self,
        value: &Value,
        range: Interval,
        line: Option<usize>,
    ) -> Result<(), ProgramError> {
        let before = self.range(value);
        let Some(both) = before.common(range) else {
            return Err(format!("{} is never in {range}: assume what is possible", self.described(value)));
        };
        if let Some(interval) = self.intervals.get_mut(value.id) {
            *interval = both;
        }
        let op = Action::Assume(self.assumptions.len());
        self.statements.push(Statement { op, args: vec![value.id], results: Vec::new() });
        self.assumptions.push(Assumption { value: value.clone(), range, line });
        Ok(())
    }

    /// A public value with these numbers, one for each entry.
    ///
    /// # Errors
    /// If there are not as many numbers as entries, or a number is beyond p/2.
    pub fn constant(&mut self, shape: Shape, numbers: &[i64]) -> Result<Value, ProgramError> {
        as_many(numbers.len(), &shape)?;
        let largest = self.numbers.largest();
        if let Some(number) = numbers.iter().find(|number| number.unsigned_abs() > largest.unsigned_abs()) {
            return Err(format!("{number} is beyond p/2: numbers are from -{largest} to {largest}"));
        }
        let op = Action::Constant(Constant::Num(numbers.to_vec()));
        let value = self.push_in(op, &[], ValueKind::Num, shape, Interval::of(numbers));
        self.public.insert(value.id, Arc::new(numbers.to_vec()));
        Ok(value)
    }

    /// A public value of bits: a word for each entry, the lowest bit first.
    ///
    /// # Errors
    /// If there are not as many words as entries, or a word has another width.
    pub fn constant_bits(
        &mut self,
        width: usize,
        shape: Shape,
        words: &[Vec<bool>],
    ) -> Result<Value, ProgramError> {
        as_many(words.len(), &shape)?;
        let kind = ValueKind::Bits(width);
        right_width(kind)?;
        if let Some(word) = words.iter().find(|word| word.len() != width) {
            return Err(format!("a word of {} bits is given, and {width} are wanted", word.len()));
        }
        let numbers: Option<Vec<i64>> = words.iter().map(|word| small(word)).collect();
        let interval = numbers.map_or_else(|| Interval::of_bits(width), |numbers| Interval::of(&numbers));
        let op = Action::Constant(Constant::Bits(words.to_vec()));
        Ok(self.push_in(op, &[], kind, shape, interval))
    }

    /// An argument as a value; an integer gets the kind `with`.
    pub(crate) fn made(&mut self, arg: &Arg, with: ValueKind) -> Result<Value, ProgramError> {
        let beyond = |width: usize| format!("{} is no number of {width} bits", shown(arg));
        match (arg, with) {
            (Arg::Value(value), _) => Ok(value.clone()),
            (Arg::Integer(number), ValueKind::Num) => self.constant(Shape::one(), &[*number]),
            (Arg::Word(_), ValueKind::Num) => {
                let largest = self.numbers.largest();
                Err(format!("{} is beyond p/2: numbers are from -{largest} to {largest}", shown(arg)))
            }
            (Arg::Integer(number), ValueKind::Bits(width)) => {
                if *number < 0 || (width < 63 && *number >= 1 << width) {
                    return Err(beyond(width));
                }
                let bits = (0..width).map(|i| i < 63 && number >> i & 1 == 1).collect();
                self.constant_bits(width, Shape::one(), &[bits])
            }
            (Arg::Word(bits), ValueKind::Bits(width)) => {
                if bits.iter().skip(width).any(|bit| *bit) {
                    return Err(beyond(width));
                }
                let mut bits = bits.clone();
                bits.resize(width, false);
                self.constant_bits(width, Shape::one(), &[bits])
            }
        }
    }

    /// Both arguments as values of the same kind; two integers become numbers.
    pub(crate) fn both(&mut self, x: &Arg, y: &Arg) -> Result<[Value; 2], ProgramError> {
        let kind = |arg: &Arg| match arg {
            Arg::Value(value) => Some(value.kind()),
            Arg::Integer(_) | Arg::Word(_) => None,
        };
        let with = kind(x).or(kind(y)).unwrap_or(ValueKind::Num);
        let (x, y) = (self.made(x, with)?, self.made(y, with)?);
        if x.kind() == y.kind() {
            return Ok([x, y]);
        }
        Err(match (x.kind(), y.kind()) {
            (ValueKind::Bits(x), ValueKind::Bits(y)) => format!(
                "words of {x} and of {y} bits do not fit: both must have the same width, so `widen` the narrower \
                 one, or take a `slice` of the other"
            ),
            (ValueKind::Bits(width), _) | (_, ValueKind::Bits(width)) => format!(
                "a number and bits do not fit: {}",
                if width > self.numbers.width() {
                    "make bits of the number by `bits`, and give them this width by `widen`"
                } else {
                    "`num` converts bits to a number, `bits` a number to bits"
                }
            ),
            _ => "these kinds do not fit".into(),
        })
    }

    pub(crate) fn joined(x: &Value, y: &Value) -> Result<Shape, ProgramError> {
        let joined = x.shape().join(y.shape());
        joined.ok_or_else(|| {
            format!(
                "the shapes {} and {} do not fit: sides must be equal, or one of them 1",
                x.shape(),
                y.shape()
            )
        })
    }
}

/// A range with both of its ends.
pub(crate) fn declared(low: i128, high: i128) -> Result<Interval, ProgramError> {
    Interval::new(low, high)
        .ok_or_else(|| format!("there is no number in the range {low}..{high}: give the smaller end first"))
}

fn as_many(given: usize, shape: &Shape) -> Result<(), ProgramError> {
    if given == shape.entries() {
        return Ok(());
    }
    Err(format!("{given} numbers are given, and the shape {shape} has {} entries", shape.entries()))
}

/// The number of a word, if it is below 2^63.
fn small(word: &[bool]) -> Option<i64> {
    let fits = word.iter().skip(63).all(|bit| !bit);
    fits.then(|| word.iter().take(63).rev().fold(0, |n, bit| n << 1 | i64::from(*bit)))
}

/// An integer for a message.
fn shown(arg: &Arg) -> String {
    match arg {
        Arg::Integer(number) => number.to_string(),
        _ => "an integer of more than 64 bits".to_owned(),
    }
}
