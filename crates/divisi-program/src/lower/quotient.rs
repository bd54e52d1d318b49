//! Quotients of numbers. Of both numbers and of the quotient only those bits are computed with that their
//! ranges leave open, and a sign only where one of them can be negative.

use super::Lower;
use crate::node::{Id, Node};
use crate::program::Statement;
use crate::shape::Shape;
use crate::words::Word;
use divisi_mixed::adders::NumberAdder;

/// How many bits of a quotient one step finds. A step of D bits compares with 2^D - 1 multiples of the
/// divisor at once: the rounds of one comparison, and so many times its ANDs.
fn digit_bits(lanes: usize) -> usize {
    match (crate::node::adder(lanes), lanes) {
        (NumberAdder::LowDepth, ..=4) => 3,
        (NumberAdder::LowDepth, ..32) => 2,
        _ => 1,
    }
}

impl Lower<'_> {
    pub(super) fn divide(&mut self, statement: &Statement, shape: &Shape) -> Option<Id> {
        let program = self.program;
        let range = |value: usize| program.range(program.value(value));
        let (dividend, quotient) = (range(statement.args[0]), range(*statement.results.first()?));
        let (x, y) = (self.wide(statement, 0, shape)?, self.wide(statement, 1, shape)?);
        let word = self.offset(x);
        let known = self.constants.get(&y);
        let known = known.and_then(|y| y.first().filter(|first| y.iter().all(|y| y == *first))).copied();
        let power = |divisor: &i64| u64::try_from(*divisor).is_ok_and(u64::is_power_of_two);
        if let Some(divisor) = known.filter(power) {
            let places = divisor.trailing_zeros() as usize;
            return Some(self.shifted(word, places, quotient));
        }
        let (lanes, highest) = (self.lanes(x), self.not_negative());
        let width = dividend.width().min(highest);
        let digits = quotient.width().min(width);
        // for a negative x, -1 - x is divided: floor(x / y) = -1 - floor((-1 - x) / y)
        let sign = (dividend.low() < 0).then(|| self.sign_of(word));
        let mut size = self.slice(word, 0..width);
        if let Some(sign) = sign {
            let signs = self.pick(vec![(sign, 0); width]);
            size = self.word(Node::Xor(size, signs), lanes, width);
        }
        // a divisor is at least 1, or the program is refused
        let known = known.and_then(|divisor| u64::try_from(divisor).ok());
        let found = match known {
            Some(divisor) => {
                let whole = self.run(Word::DivideBy(divisor), width, vec![size]);
                self.slice(whole, 0..digits)
            }
            None => self.by_steps(statement, shape, size, digits)?,
        };
        if let Some(sign) = sign {
            let signs = self.pick(vec![(sign, 0); digits]);
            let low = self.word(Node::Xor(found, signs), lanes, digits);
            let word = self.with_sign((0..digits).map(|i| (low, i)).collect(), sign);
            return Some(self.number_of(word, quotient));
        }
        let id = self.number(Node::ToNumber(found), lanes);
        self.remember(id, found);
        Some(id)
    }

    /// The lowest `digits` bits of the quotient of a word by the statement's second argument, of which they
    /// are all: so the other, higher bits of the word are less than the divisor. The steps of a quotient are
    /// nodes, so that quotients that begin in different layers share rounds.
    fn by_steps(&mut self, statement: &Statement, shape: &Shape, x: Id, digits: usize) -> Option<Id> {
        let divisor = self.program.value(statement.args[1]);
        let width = self.program.range(divisor).width().min(self.not_negative());
        let lanes = self.lanes(x);
        let digit = digit_bits(lanes);
        // a divisor that is repeated is multiplied before it is repeated
        let places = divisor.shape().places(shape);
        let word = self.offset(self.values[divisor.id]?);
        let y = self.slice(word, 0..width);
        let multiples = (digit > 1).then(|| self.run_for(lanes, Word::Multiples { digit }, width, vec![y]));
        let mut odd = vec![y];
        for (i, multiples) in (1..1 << digit >> 1).zip(multiples.into_iter().cycle()) {
            let from = (i - 1) * (width + digit);
            odd.push(self.slice(multiples, from..from + width + digit));
        }
        if let Some(places) = places {
            odd = odd.into_iter().map(|id| self.gather(id, places.clone())).collect();
        }
        let mut rest: Vec<(Id, usize)> = (digits..self.width(x)).take(width).map(|i| (x, i)).collect();
        let mut found: Vec<(Id, usize)> = Vec::with_capacity(digits);
        let mut left = digits;
        while left > 0 {
            // the first digit has the bits that are left over
            let bits = if left.is_multiple_of(digit) { digit } else { left % digit };
            left -= bits;
            let next: Vec<(Id, usize)> = (left..left + bits).map(|i| (x, i)).chain(rest).collect();
            let (dividend, kept) = (next.len(), if left > 0 { next.len().min(width) } else { 0 });
            let mut args = vec![self.pick(next), odd[0]];
            for multiple in odd.iter().take(1 << bits >> 1).skip(1) {
                args.push(self.slice(*multiple, 0..width + bits));
            }
            let step = Word::Step { dividend, digit: bits, rest: left > 0 };
            let step = self.run_for(lanes, step, width, args);
            rest = (0..kept).map(|i| (step, i)).collect();
            let above = std::mem::take(&mut found);
            found = (kept..kept + bits).map(|i| (step, i)).chain(above).collect();
        }
        Some(self.pick(found))
    }
}
