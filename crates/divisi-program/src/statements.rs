//! The statements of a program as methods; each checks kinds and shapes.

mod bits;
mod circuits;
mod values;

pub(crate) use values::declared;

use crate::interval::Interval;
use crate::program::{Action, Arg, ProgramError, Script, Statement, Value, ValueKind};
use crate::shape::Shape;
use std::sync::Arc;

fn bits(value: &Value, what: &str) -> Result<usize, ProgramError> {
    match value.kind() {
        ValueKind::Bits(width) => Ok(width),
        ValueKind::Num => {
            Err(format!("{what} takes bits, and this is {}: convert it with `bits`", value.describe()))
        }
    }
}

impl Script {
    /// The error for a width that a number does not have.
    pub(crate) fn no_width(&self, width: impl std::fmt::Display) -> ProgramError {
        let most = self.numbers.width();
        format!("a number has 1 to {most} bits, and {width} are asked for: `widen` makes bits wider")
    }

    /// Checks that a value is numbers. The remedy for bits is not a conversion that would be refused.
    fn number(&self, value: &Value, what: &str) -> Result<(), ProgramError> {
        let ValueKind::Bits(width) = value.kind() else { return Ok(()) };
        let remedy = if width < self.numbers.width() {
            "convert it with `num`".to_owned()
        } else {
            let most = self.limits().places();
            format!("cut it into pieces of up to {most} bits by `slice`, and convert these with `num`")
        };
        Err(format!("{what} takes numbers, and this is {}: {remedy}", value.describe()))
    }

    fn entrywise(&mut self, op: Action, x: &Arg, y: &Arg) -> Result<Value, ProgramError> {
        let [x, y] = self.both(x, y)?;
        let shape = Script::joined(&x, &y)?;
        self.push(op, &[&x, &y], x.kind(), shape)
    }

    /// x + y, entry by entry; for bits modulo 2^W.
    ///
    /// # Errors
    /// As in every statement: if the kinds or shapes of the arguments do not fit, an integer is too large
    /// for the kind of the other argument, or numbers in their ranges could make a result wrong.
    pub fn add(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        self.entrywise(Action::Add, &x.into(), &y.into())
    }

    /// x - y, entry by entry; for bits modulo 2^W.
    ///
    /// # Errors
    /// The errors of [`Script::add`].
    pub fn sub(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        self.entrywise(Action::Sub, &x.into(), &y.into())
    }

    /// -x.
    ///
    /// # Errors
    /// If x is an integer beyond p/2.
    pub fn neg(&mut self, x: impl Into<Arg>) -> Result<Value, ProgramError> {
        let x = self.made(&x.into(), ValueKind::Num)?;
        self.push(Action::Neg, &[&x], x.kind(), x.shape().clone())
    }

    /// x y, entry by entry; for bits modulo 2^W.
    ///
    /// # Errors
    /// The errors of [`Script::add`]; if x and y are wider than words that are multiplied.
    pub fn mul(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        let [x, y] = self.both(&x.into(), &y.into())?;
        let shape = Script::joined(&x, &y)?;
        self.count_product(&x, &shape)?;
        self.push(Action::Mul, &[&x, &y], x.kind(), shape)
    }

    /// The sum over the last side; for bits modulo 2^W.
    ///
    /// # Errors
    /// If a sum could be beyond p/2.
    pub fn sum(&mut self, x: &Value) -> Result<Value, ProgramError> {
        self.push(Action::Sum, &[x], x.kind(), x.shape().without_last())
    }

    fn extreme(&mut self, op: Action, x: &Value) -> Result<[Value; 2], ProgramError> {
        self.small(x, "compared")?;
        let (shape, places) = (x.shape().without_last(), Interval::of(&[0, x.shape().last() as i64 - 1]));
        let best = self.fresh(x.kind(), shape.clone(), self.range(x));
        let place = self.fresh(ValueKind::Num, shape, places);
        self.statements.push(Statement { op, args: vec![x.id], results: vec![best.id, place.id] });
        Ok([best, place])
    }

    /// The smallest entry along the last side, and the first position that has it, from 0.
    ///
    /// # Errors
    /// If a number could be too large to be compared.
    pub fn min(&mut self, x: &Value) -> Result<[Value; 2], ProgramError> {
        self.extreme(Action::Min, x)
    }

    /// The largest entry along the last side, and the first position that has it, from 0.
    ///
    /// # Errors
    /// The errors of [`Script::min`].
    pub fn max(&mut self, x: &Value) -> Result<[Value; 2], ProgramError> {
        self.extreme(Action::Max, x)
    }

    /// The product of two matrices of numbers.
    ///
    /// # Errors
    /// If x or y are bits or do not have two sides, the inner sides differ, or there are too many products.
    pub fn matmul(&mut self, x: &Value, y: &Value) -> Result<Value, ProgramError> {
        self.number(x, "matmul")?;
        self.number(y, "matmul")?;
        let (&[rows, inner], &[inner_too, columns]) = (x.shape().sides(), y.shape().sides()) else {
            let (x, y) = (x.shape(), y.shape());
            return Err(format!("matmul takes two matrices, as 2x3 and 3x4, and these are {x} and {y}"));
        };
        if inner != inner_too {
            return Err(format!(
                "a matrix {} does not go with {}: {inner} and {inner_too} differ",
                x.shape(),
                y.shape()
            ));
        }
        if Shape::new(&[rows, columns, inner]).is_none() {
            return Err("a product of matrices of this size is too large: split it".into());
        }
        let shape = Shape::new(&[rows, columns]).unwrap_or_else(Shape::one);
        self.size = self.size.saturating_add(3 * rows * columns * inner);
        self.push(Action::MatMul, &[x, y], ValueKind::Num, shape)
    }

    /// The same entries in another shape.
    ///
    /// # Errors
    /// If the shape has another number of entries.
    pub fn reshape(&mut self, x: &Value, shape: Shape) -> Result<Value, ProgramError> {
        if shape.entries() != x.shape().entries() {
            let (has, wants) = (x.shape().entries(), shape.entries());
            return Err(format!("{has} entries do not go into the shape {shape}, which has {wants}"));
        }
        let value = self.push(Action::Reshape, &[x], x.kind(), shape)?;
        if let Some(numbers) = self.public.get(&x.id).cloned() {
            self.public.insert(value.id, numbers);
        }
        Ok(value)
    }

    /// The entries at these positions (in row order, from 0), as one side.
    ///
    /// # Errors
    /// If there are no positions, or one does not exist.
    pub fn gather(&mut self, x: &Value, places: &[usize]) -> Result<Value, ProgramError> {
        let entries = x.shape().entries();
        if let Some(place) = places.iter().find(|place| **place >= entries) {
            return Err(format!("there is no place {place}: places are from 0 to {}", entries - 1));
        }
        let shape = Shape::new(&[places.len()]).ok_or("gather takes at least one place, and not too many")?;
        let value = self.push(Action::Gather(places.to_vec()), &[x], x.kind(), shape)?;
        if let Some(numbers) = self.public.get(&x.id) {
            let numbers = places.iter().filter_map(|place| numbers.get(*place).copied()).collect();
            self.public.insert(value.id, Arc::new(numbers));
        }
        Ok(value)
    }

    fn compared(&mut self, op: Action, x: &Arg, y: &Arg) -> Result<Value, ProgramError> {
        let [x, y] = self.both(x, y)?;
        let shape = Script::joined(&x, &y)?;
        let result = self.push(op, &[&x, &y], ValueKind::Bits(1), shape)?;
        if x.kind() == ValueKind::Num && !self.are_near(&[&x, &y]) {
            self.far.insert(result.id);
        }
        Ok(result)
    }

    /// The bit x < y.
    ///
    /// # Errors
    /// The errors of [`Script::add`].
    pub fn lt(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        self.compared(Action::Lt, &x.into(), &y.into())
    }

    /// The bit x <= y.
    ///
    /// # Errors
    /// The errors of [`Script::add`].
    pub fn le(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        self.compared(Action::Le, &x.into(), &y.into())
    }

    /// The bit x = y.
    ///
    /// # Errors
    /// The errors of [`Script::add`].
    pub fn eq(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        self.compared(Action::Eq, &x.into(), &y.into())
    }

    /// x if the bit c is 1, else y.
    ///
    /// # Errors
    /// The errors of [`Script::add`]; if c is not a single bit.
    pub fn select(&mut self, c: &Value, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        if c.kind() != ValueKind::Bits(1) {
            return Err(format!("select chooses by bits of width 1, and this is {}", c.describe()));
        }
        let [x, y] = self.both(&x.into(), &y.into())?;
        let inner = Script::joined(&x, &y)?;
        let fits = c.shape().join(&inner);
        let shape = fits.ok_or_else(|| {
            format!("the shapes {} and {inner} do not fit: sides must be equal, or one of them 1", c.shape())
        })?;
        self.push(Action::Select, &[c, &x, &y], x.kind(), shape)
    }

    fn logic(&mut self, op: Action, what: &str, x: &Arg, y: &Arg) -> Result<Value, ProgramError> {
        if let (Arg::Integer(_) | Arg::Word(_), Arg::Integer(_) | Arg::Word(_)) = (x, y) {
            return Err(format!(
                "{what} of two integers: name one by `const bits W`, so that its width is known"
            ));
        }
        let [x, y] = self.both(x, y)?;
        bits(&x, what)?;
        let shape = Script::joined(&x, &y)?;
        self.push(op, &[&x, &y], x.kind(), shape)
    }

    /// The XOR of x and y, bit by bit.
    ///
    /// # Errors
    /// The errors of [`Script::add`]; if x or y are numbers, or both are integers.
    pub fn xor(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        self.logic(Action::Xor, "xor", &x.into(), &y.into())
    }

    /// The AND of x and y, bit by bit.
    ///
    /// # Errors
    /// The errors of [`Script::xor`].
    pub fn and(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        self.logic(Action::And, "and", &x.into(), &y.into())
    }

    /// The OR of x and y, bit by bit.
    ///
    /// # Errors
    /// The errors of [`Script::xor`].
    pub fn or(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        self.logic(Action::Or, "or", &x.into(), &y.into())
    }

    /// The complement of all bits.
    ///
    /// # Errors
    /// If x are numbers.
    pub fn not(&mut self, x: &Value) -> Result<Value, ProgramError> {
        bits(x, "not")?;
        self.push(Action::Not, &[x], x.kind(), x.shape().clone())
    }

    /// A2B: the lowest bits of numbers. As many bits as a number has, or one less, are those of numbers that
    /// are not negative.
    ///
    /// # Errors
    /// If x are bits, no number has this width, or a number could be negative that must not be.
    pub fn bits(&mut self, x: &Value, width: usize) -> Result<Value, ProgramError> {
        self.number(x, "bits")?;
        if !(1..=self.numbers.width()).contains(&width) {
            return Err(self.no_width(width));
        }
        self.push(Action::Bits, &[x], ValueKind::Bits(width), x.shape().clone())
    }

    /// B2A: the numbers that these bits represent.
    ///
    /// # Errors
    /// If x are numbers, or could represent a number beyond p/2.
    pub fn num(&mut self, x: &Value) -> Result<Value, ProgramError> {
        bits(x, "num")?;
        self.push(Action::Num, &[x], ValueKind::Num, x.shape().clone())
    }

    /// x 2^by, rounded down; for bits modulo 2^W.
    ///
    /// # Errors
    /// If a number is shifted by more than 30 places (60 for wide numbers), or bits by more than their width,
    /// either way.
    pub fn shift(&mut self, x: &Value, by: i64) -> Result<Value, ProgramError> {
        let most = match x.kind() {
            ValueKind::Num => i64::from(self.limits().places()),
            ValueKind::Bits(width) => width as i64,
        };
        match i32::try_from(by) {
            Ok(places) if by.abs() <= most => {
                self.push(Action::Shift(places), &[x], x.kind(), x.shape().clone())
            }
            _ => Err(format!("a shift by {by}: at most {most} places either way")),
        }
    }

    /// x / y rounded down, for numbers and y > 0.
    ///
    /// # Errors
    /// The errors of [`Script::add`]; if x or y are bits, or y is an integer below 1 or too large.
    pub fn div(&mut self, x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value, ProgramError> {
        let y = y.into();
        if let Arg::Integer(by) = y
            && !(1..self.numbers.bound()).contains(&by)
        {
            let places = self.limits().places();
            return Err(format!("a division by {by}: the divisor must be from 1 to 2^{places} - 1"));
        }
        let [x, y] = self.both(&x.into(), &y)?;
        self.number(&x, "div")?;
        let shape = Script::joined(&x, &y)?;
        self.push(Action::Div, &[&x, &y], ValueKind::Num, shape)
    }

    /// Entries of tables of 2 to 256 numbers, which lie along the last side, at shared positions from 0.
    /// There is one table for all positions, or one for each. A position is a number or bits.
    ///
    /// # Errors
    /// If the table has bits or another size, the index has more bits than the table's positions need, or
    /// could be beyond the table, the shapes do not fit, or there are too many lookups.
    pub fn lookup(&mut self, table: &Value, index: &Value) -> Result<Value, ProgramError> {
        self.number(table, "the table of lookup")?;
        let entries = table.shape().last();
        if !(2..=256).contains(&entries) {
            return Err(format!(
                "a table of {entries} entries: a table must have 2 to 256, along its last side"
            ));
        }
        if let ValueKind::Bits(width) = index.kind() {
            let places = entries.next_power_of_two().ilog2() as usize;
            if width > places {
                return Err(format!(
                    "an index of {width} bits is too wide: the table's {entries} entries need {places} bits"
                ));
            }
        }
        let beyond = |number: &&i64| !usize::try_from(**number).is_ok_and(|place| place < entries);
        if let Some(place) = self.public.get(&index.id).and_then(|numbers| numbers.iter().find(beyond)) {
            return Err(format!("the table has no place {place}: places are from 0 to {}", entries - 1));
        }
        let tables = table.shape().entries() / entries;
        let fits = tables == 1 || table.shape().without_last() == *index.shape();
        if !fits {
            return Err(format!(
                "{tables} tables do not go with indices of shape {}: there is one, or one for each index",
                index.shape()
            ));
        }
        let places = (index.shape().entries() * (entries.next_power_of_two() - 1)).max(1);
        if places > crate::shape::MOST {
            return Err("too many lookups at once: split them".into());
        }
        self.size = self.size.saturating_add(places);
        self.push(Action::Lookup, &[table, index], ValueKind::Num, index.shape().clone())
    }
}
