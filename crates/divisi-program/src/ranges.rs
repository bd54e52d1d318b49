//! What the values of a program can be, from the ranges of its inputs: interval arithmetic over all
//! statements. A statement is refused if a number could be beyond p/2, or beyond what an operation on its
//! bits computes rightly; so nothing that is accepted is reduced modulo p, or wrong, for inputs in their
//! ranges.

use crate::interval::{Interval, NumberLimits};
use crate::program::{Action, Input, ProgramError, Script, Statement, Value, ValueKind};
use std::collections::BTreeSet;

/// How many statements are followed back to an input without a range, for a message.
const FAR: usize = 1 << 16;

/// The most negations of a comparison, one after the other, that `select` looks through.
const NEGATIONS: usize = 64;

impl Script {
    /// What the numbers of the program can be.
    pub(crate) fn limits(&self) -> NumberLimits {
        self.numbers.limits()
    }

    /// What all values of a kind can be.
    pub(crate) fn whole(&self, kind: ValueKind) -> Interval {
        match kind {
            ValueKind::Num => self.limits().all(),
            ValueKind::Bits(width) => Interval::of_bits(width),
        }
    }

    /// What the entries of a value can be, for inputs in their ranges. Bits are read as unsigned numbers; an
    /// interval that ends at the largest number of 128 bits stands for all larger ones, too.
    #[must_use]
    pub fn range(&self, value: &Value) -> Interval {
        self.intervals.get(value.id).copied().unwrap_or_else(|| self.whole(value.kind()))
    }

    /// What the result of an operation can be. `kind` is the result's kind.
    ///
    /// # Errors
    /// If a number can be beyond p/2, or an argument beyond what the operation computes rightly.
    pub(crate) fn bounded(
        &self,
        op: &Action,
        args: &[&Value],
        kind: ValueKind,
    ) -> Result<Interval, ProgramError> {
        let of = |i: usize| args.get(i).map_or(Interval::exactly(0), |value| self.range(value));
        let side = args.first().map_or(1, |value| value.shape().last());
        let is_num = args.first().is_some_and(|value| value.kind() == ValueKind::Num);
        let (x, y) = (of(0), of(1));
        let fits = |what: &str, result: Interval| self.fits(what, result, args);
        match (op, args) {
            (Action::Reshape | Action::Gather(_), _) => Ok(x),
            (Action::Select, [c, x, y]) => Ok(self.chosen(c, x, y)),
            (Action::Lt | Action::Le | Action::Eq, _) if is_num => {
                self.comparable(args)?;
                Ok(Interval::of_bits(1))
            }
            (Action::Bits, [value]) => {
                self.has_bits(value, kind)?;
                Ok(self.cut(x, kind))
            }
            (Action::Num, [value]) => {
                let most = self.limits().places();
                let all = self.limits().all();
                if x.is_within(all) {
                    return Ok(x);
                }
                Err(format!(
                    "as a number {} could be beyond {}: {}",
                    self.described(value),
                    all.high(),
                    format_args!(
                        "compute with the bits, which `add`, `mul`, `sum` and `lt` take, too; or cut them into pieces \
                         of up to {most} by `slice`; or say what you know, as `assume {} in 0..{}`",
                        self.name_of(value).unwrap_or("NAME"),
                        all.high()
                    )
                ))
            }
            (Action::Lookup, [table, index]) => {
                let places = Interval::of(&[0, table.shape().last() as i64 - 1]);
                if !y.is_within(places) {
                    return Err(format!(
                        "{} can be no place of the table, whose places are {places}: {}",
                        self.described(index),
                        self.remedy(&[index])
                    ));
                }
                Ok(self.range(table))
            }
            (Action::Div, [dividend, divisor]) => {
                self.small(dividend, "divided")?;
                self.small(divisor, "divided by")?;
                x.divided(y).ok_or_else(|| {
                    let what = self.described(divisor);
                    format!("{what} can be below 1, and is a divisor: {}", self.remedy(&[divisor]))
                })
            }
            (Action::Shift(by), [value]) if is_num => {
                if *by < 0 {
                    self.small(value, "shifted to the right")?;
                }
                fits(&format!("2^{by} times the value"), x.shifted(*by))
            }
            (Action::Neg, _) if is_num => fits("the negative", x.negated()),
            (Action::Sum, _) if is_num => fits(&format!("the sum of {side} entries"), x.times(side)),
            (Action::Add, _) if is_num => fits("the sum", x.plus(y)),
            (Action::Sub, [a, b]) if is_num => {
                fits("the difference", if a.id == b.id { Interval::exactly(0) } else { x.minus(y) })
            }
            (Action::Mul, [a, b]) if is_num => {
                fits("the product", if a.id == b.id { x.squared() } else { x.by(y) })
            }
            (Action::MatMul, _) => fits(&format!("the sum of {side} products"), x.by(y).times(side)),
            _ => Ok(self.of_words(op, [x, y], side, args, kind)),
        }
    }

    /// The same for operations on bits, which refuse nothing: they are modulo 2^W.
    fn of_words(
        &self,
        op: &Action,
        [x, y]: [Interval; 2],
        side: usize,
        args: &[&Value],
        kind: ValueKind,
    ) -> Interval {
        let whole = self.whole(kind);
        let width = |value: &&Value| match value.kind() {
            ValueKind::Bits(width) => width,
            ValueKind::Num => 0,
        };
        // an interval up to the largest number of 128 bits may stand for larger ones
        if [x, y].iter().any(|x| x.high() == i128::MAX) && !matches!(op, Action::And | Action::Popcount) {
            return whole;
        }
        let result = match op {
            Action::Add => x.plus(y),
            Action::Sub => x.minus(y),
            Action::Mul => x.by(y),
            Action::Sum => x.times(side),
            Action::Shift(by) => x.shifted(*by),
            Action::Slice(from) => x.shifted(-i32::try_from(*from).unwrap_or(i32::MAX)),
            Action::Widen => x,
            Action::And => Interval::exactly(0).with(x.smaller(y)),
            // of wider words the largest number is not known here
            Action::Not if whole.high() < i128::MAX => Interval::exactly(whole.high()).minus(x),
            Action::Popcount => Interval::of(&[0, args.first().map_or(0, width) as i64]),
            Action::Concat => {
                let (mut all, mut at) = (Interval::exactly(0), 0);
                for value in args {
                    all = all.plus(self.range(value).shifted(i32::try_from(at).unwrap_or(i32::MAX)));
                    at += width(value);
                }
                all
            }
            _ => whole,
        };
        self.cut(result, kind)
    }

    /// An interval if all its numbers have this kind's bits, else all numbers of that kind.
    fn cut(&self, interval: Interval, kind: ValueKind) -> Interval {
        let whole = self.whole(kind);
        if interval.is_within(whole) && interval.high() < i128::MAX { interval } else { whole }
    }

    fn fits(&self, what: &str, result: Interval, args: &[&Value]) -> Result<Interval, ProgramError> {
        let all = self.limits().all();
        if result.is_within(all) {
            return Ok(result);
        }
        let of: Vec<String> = args.iter().map(|value| self.described(value)).collect();
        Err(format!(
            "{what} of {} can be {result}, and numbers are {all}: {}",
            of.join(" and "),
            self.remedy(args)
        ))
    }

    /// Checks that an operation on bits of numbers takes all that a value can be.
    pub(crate) fn small(&self, value: &Value, done: &str) -> Result<(), ProgramError> {
        let small = self.limits().small();
        if value.kind() != ValueKind::Num || self.range(value).is_within(small) {
            return Ok(());
        }
        let what = self.described(value);
        Err(format!("{what} can be beyond {small}, and only those are {done}: {}", self.remedy(&[value])))
    }

    /// Checks that two numbers, and their difference, are small. The difference is not needed where one of
    /// them is public.
    fn comparable(&self, args: &[&Value]) -> Result<(), ProgramError> {
        args.iter().try_for_each(|value| self.small(value, "compared"))?;
        if self.are_near(args) || args.iter().any(|value| self.public.contains_key(&value.id)) {
            return Ok(());
        }
        let ([x, y], small) = (args, self.limits().small()) else { return Ok(()) };
        Err(format!(
            "{} and {} can differ by more than {}, and such numbers are not compared: {}",
            self.described(x),
            self.described(y),
            small.high(),
            self.remedy(args)
        ))
    }

    /// Whether the difference of two numbers is small.
    pub(crate) fn are_near(&self, args: &[&Value]) -> bool {
        match args {
            [x, y] if x.id == y.id => true,
            [x, y] => self.range(x).minus(self.range(y)).is_within(self.limits().small()),
            _ => true,
        }
    }

    /// Checks that a number has lowest bits: it is not negative, or is small and fewer bits are taken than
    /// small numbers have.
    fn has_bits(&self, value: &Value, kind: ValueKind) -> Result<(), ProgramError> {
        let (x, places) = (self.range(value), self.limits().places());
        let few = matches!(kind, ValueKind::Bits(width) if width <= places as usize);
        if x.low() >= if few { self.limits().small().low() } else { 0 } {
            return Ok(());
        }
        let what = self.described(value);
        let (remedy, small) = (self.remedy(&[value]), self.limits().small());
        Err(if few {
            format!("{what} can be below {}, and has no lowest bits then: {remedy}", small.low())
        } else {
            format!(
                "{what} can be negative, and only the lowest {places} bits of such a number are taken: {remedy}"
            )
        })
    }

    /// What `select` gives. If it chooses by a comparison of what it chooses from, as in the larger one of
    /// two numbers or the size of one, then only what can be chosen counts.
    fn chosen(&self, c: &Value, x: &Value, y: &Value) -> Interval {
        match (self.knowing(c, true, x), self.knowing(c, false, y)) {
            (Some(x), Some(y)) => x.with(y),
            // the other one is never chosen
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.range(x).with(self.range(y)),
        }
    }

    /// What a value can be where a bit is 1, or where it is 0. `None` if the bit is never so.
    fn knowing(&self, bit: &Value, mut holds: bool, value: &Value) -> Option<Interval> {
        let all = self.range(value);
        let mut maker = self.made_by(bit);
        // a program of many negations is read in linear time: what is behind more of them is not looked at
        for _ in 0..NEGATIONS {
            let Some((Action::Not, [of])) = maker.map(|maker| (&maker.op, &maker.args[..])) else { break };
            (maker, holds) = (self.made_by(self.value(*of)), !holds);
        }
        let Some((op, &[x, y])) = maker.map(|maker| (&maker.op, &maker.args[..])) else { return Some(all) };
        let ranges = [x, y].map(|id| self.range(self.value(id)));
        // an interval up to the largest number of 128 bits may stand for larger ones
        if ranges.iter().any(|range| range.high() == i128::MAX) {
            return Some(all);
        }
        // the bit may never be so, whatever the value
        compared(op, holds, ranges, true)?;
        if value.id == x || value.id == y {
            return compared(op, holds, ranges, value.id == x)?.common(all);
        }
        match self.made_by(value).map(|maker| (&maker.op, &maker.args[..])) {
            Some((Action::Neg, &[of])) if (of == x || of == y) && value.kind() == ValueKind::Num => {
                compared(op, holds, ranges, of == x)?.negated().common(all)
            }
            _ => Some(all),
        }
    }

    /// A value with what it can be, for a message; of a public number that is all.
    pub(crate) fn described(&self, value: &Value) -> String {
        let range = self.range(value);
        match self.name_of(value) {
            Some(name) => format!("{name} ({range})"),
            None if range.low() == range.high() => range.low().to_string(),
            None => format!("a value without a name ({range})"),
        }
    }

    /// What helps where values can be too large.
    fn remedy(&self, args: &[&Value]) -> String {
        if let Some(input) = self.undeclared_below(args) {
            let (name, owner, shape) = (&input.name, input.owner, input.value.shape());
            let shape = if shape.entries() == 1 { String::new() } else { format!(" {shape}") };
            return format!(
                "{name} has no range and can be any number below 2^{}, so declare one, as `input {name} {owner} \
                 num{shape} in LOW..HIGH`",
                self.limits().places()
            );
        }
        if args.iter().all(|value| self.public.contains_key(&value.id)) {
            return "give a smaller number, or scale down what it stands beside, too".into();
        }
        let name = args.iter().find_map(|value| self.name_of(value)).unwrap_or("NAME");
        format!(
            "declare smaller ranges, scale down before (`shift`), or say what you know, as `assume {name} in LOW..HIGH`"
        )
    }

    /// The first input of numbers without a range on which values depend.
    fn undeclared_below(&self, args: &[&Value]) -> Option<&Input> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<usize> = args.iter().rev().map(|value| value.id).collect();
        while let Some(id) = next.pop() {
            if seen.len() > FAR || !seen.insert(id) {
                continue;
            }
            let value = self.value(id);
            // bits have ranges of their own
            let Some(maker) = self.made_by(value).filter(|_| value.kind() == ValueKind::Num) else {
                continue;
            };
            let input = self.input_of(id).filter(|input| input.range.is_none());
            if matches!(maker.op, Action::Input) && input.is_some() {
                return input;
            }
            next.extend(maker.args.iter().rev());
        }
        None
    }

    /// The statement that makes a value.
    fn made_by(&self, value: &Value) -> Option<&Statement> {
        self.makers.get(value.id).and_then(|number| self.statements.get(*number))
    }
}

/// What the first or the second one of two compared values can be, given the result. `None` if that is never
/// the result.
fn compared(op: &Action, holds: bool, [x, y]: [Interval; 2], first: bool) -> Option<Interval> {
    let (own, other) = if first { (x, y) } else { (y, x) };
    let from = |low: i128| Interval::new(low, i128::MAX)?.common(own);
    let to = |high: i128| Interval::new(i128::MIN, high)?.common(own);
    match (op, holds, first) {
        (Action::Lt, true, true) | (Action::Le, false, false) => to(other.high() - 1),
        (Action::Lt, true, false) | (Action::Le, false, true) => from(other.low() + 1),
        (Action::Lt, false, true) | (Action::Le, true, false) => from(other.low()),
        (Action::Lt, false, false) | (Action::Le, true, true) => to(other.high()),
        (Action::Eq, true, _) => own.common(other),
        (Action::Eq, false, _) if other.low() == other.high() => {
            let (least, most) = (own.low() == other.low(), own.high() == other.low());
            Interval::new(own.low() + i128::from(least), own.high() - i128::from(most))
        }
        _ => Some(own),
    }
}
