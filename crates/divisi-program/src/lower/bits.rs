//! Operations on the bits of numbers: comparisons, shifts, quotients, and minimum or maximum of a row.

use super::Lower;
use crate::node::{Id, NOWHERE, Node};
use crate::program::{Action, Statement};
use crate::shape::Shape;
use crate::words::Word;
use std::sync::Arc;

/// The largest number of gathers, one after the other, that are followed back.
const FAR: usize = 64;

impl Lower<'_> {
    /// The offset word of a number, which is made if there is none. If the number was gathered from another
    /// one, the word of that one is made, and this word is gathered from it, if the other one has not more
    /// lanes or its word is needed, too.
    pub(super) fn offset(&mut self, id: Id) -> Id {
        if let Some(word) = self.known_offset(id) {
            return word;
        }
        let lanes = self.lanes(id);
        let chain = self.gathered_from(id);
        let is_better =
            |id: &Id| self.lanes(*id) <= lanes || self.wanted_nodes.get(id).is_some_and(|wanted| *wanted > 0);
        let source = chain.iter().rev().copied().find(is_better).unwrap_or(id);
        let lanes = self.lanes(source);
        let moved = self.number(Node::Shift(source, self.offset_of_words() as u64), lanes);
        let bits = self.word(Node::ToBits(moved), lanes, self.program.numbers.width());
        let word = self.slice(bits, 0..self.offset_width());
        self.offsets.insert(source, word);
        self.known_offset(id).unwrap_or(word)
    }

    /// A number, the number from which its lanes were gathered, the one from which those were gathered, and
    /// so on, up to a number that was not gathered, or has lanes from nowhere.
    fn gathered_from(&self, id: Id) -> Vec<Id> {
        let mut chain = vec![id];
        let mut at = id;
        while chain.len() < FAR
            && let Node::Gather(source, places) = &self.nodes[at].node
            && !places.contains(&NOWHERE)
        {
            at = *source;
            chain.push(at);
        }
        chain
    }

    /// The offset word of a number that has one, or is public, or whose lanes are gathered from such a
    /// number.
    pub(super) fn known_offset(&mut self, id: Id) -> Option<Id> {
        if let Some(word) = self.offsets.get(&id) {
            return Some(*word);
        }
        if let Some(numbers) = self.constants.get(&id) {
            let (offset, width) = (self.offset_of_words(), self.offset_width());
            let words: Vec<u64> = numbers
                .iter()
                .map(|x| u64::try_from(*x + offset).ok().filter(|x| x >> width == 0))
                .collect::<Option<_>>()?;
            let lanes = words.len();
            let word = self.word(Node::Words(words), lanes, width);
            self.offsets.insert(id, word);
            return Some(word);
        }
        let chain = self.gathered_from(id);
        let from = chain.iter().position(|id| self.offsets.contains_key(id))?;
        let mut word = *self.offsets.get(chain.get(from)?)?;
        for id in chain.into_iter().take(from).rev() {
            let Node::Gather(_, places) = &self.nodes[id].node else { return None };
            let (places, lanes) = (Arc::clone(places), self.lanes(id));
            word = self.word(Node::GatherWords(word, places), lanes, self.offset_width());
            self.offsets.insert(id, word);
        }
        Some(word)
    }

    /// The number that an offset word represents.
    pub(super) fn number_of(&mut self, word: Id) -> Id {
        let lanes = self.lanes(word);
        let moved = self.number(Node::ToNumber(word), lanes);
        let back = self.p.neg(self.offset_of_words() as u64);
        let id = self.number(Node::Shift(moved, back), lanes);
        self.offsets.insert(id, word);
        id
    }

    /// Whether x and y are compared as words, which is cheaper if they have offset words already, or if other
    /// statements need these, too. Words it must be if their difference can be too large for one.
    pub(super) fn as_words(&mut self, statement: &Statement, x: Id, y: Id) -> bool {
        if statement.results.iter().any(|result| self.program.far.contains(result)) {
            return true;
        }
        let args = &statement.args;
        let mut is = |id: Id, i: usize| {
            let has = self.known_offset(id).is_some();
            let of = |id: &Id| self.wanted_nodes.get(id).copied().unwrap_or(0);
            let most = self.gathered_from(id).iter().map(of).max();
            (has || self.wanted[args[i]].max(most.unwrap_or(0)) > 1, has)
        };
        let ((x, has_x), (y, has_y)) = (is(x, 0), is(y, 1));
        // two conversions of fresh numbers cost more than one of their difference
        x && y && (has_x || has_y || self.wanted[args[0]] + self.wanted[args[1]] > 4)
    }

    /// x < y of numbers, as a bit.
    pub(super) fn less(&mut self, statement: &Statement, x: Id, y: Id) -> Id {
        if self.constants.get(&y).is_some_and(|y| y.iter().all(|y| *y == 0)) {
            // the sign
            let word = self.offset(x);
            let bit = self.slice(word, self.not_negative()..self.offset_width());
            return self.not(bit);
        }
        if self.as_words(statement, x, y) {
            let (x, y) = (self.offset(x), self.offset(y));
            return self.run(Word::Less, self.offset_width(), vec![x, y]);
        }
        let difference = self.sub(x, y);
        let word = self.offset(difference);
        let bit = self.slice(word, self.not_negative()..self.offset_width());
        self.not(bit)
    }

    /// x = y of words: all bits of their XOR are 0.
    pub(super) fn equal(&mut self, x: Id, y: Id) -> Id {
        let (lanes, width) = (self.lanes(x), self.width(x));
        let sum = self.word(Node::Xor(x, y), lanes, width);
        self.run(Word::Zero, width, vec![sum])
    }

    /// Notes the offset word of a number that was made from fewer bits than such a word has.
    pub(super) fn remember(&mut self, id: Id, word: Id) {
        let (lanes, width, all, highest) =
            (self.lanes(word), self.width(word), self.offset_width(), self.not_negative());
        if width < all {
            let rest = self.same((width..all).map(|i| i == highest).collect(), lanes);
            let bits = (0..width).map(|i| (word, i)).chain((0..all - width).map(|i| (rest, i)));
            let word = self.pick(bits.collect());
            self.offsets.insert(id, word);
        }
    }

    pub(super) fn compare(&mut self, statement: &Statement, x: Id, y: Id, is_num: bool) -> Id {
        match (&statement.op, is_num) {
            (Action::Lt, true) => self.less(statement, x, y),
            (Action::Le, true) => {
                let other =
                    Statement { args: vec![statement.args[1], statement.args[0]], ..statement.clone() };
                let greater = self.less(&other, y, x);
                self.not(greater)
            }
            (Action::Lt, false) => self.run(Word::Less, self.width(x), vec![x, y]),
            (Action::Le, false) => {
                let greater = self.run(Word::Less, self.width(x), vec![y, x]);
                self.not(greater)
            }
            (_, true) if self.as_words(statement, x, y) => {
                let (x, y) = (self.offset(x), self.offset(y));
                self.equal(x, y)
            }
            (_, true) => {
                let difference = self.sub(x, y);
                let word = self.offset(difference);
                let highest = self.not_negative();
                let zero = self.same((0..=highest).map(|i| i == highest).collect(), self.lanes(x));
                self.equal(word, zero)
            }
            (_, false) => self.equal(x, y),
        }
    }

    pub(super) fn shift(&mut self, statement: &Statement, by: i32) -> Option<Id> {
        let x = self.values[statement.args[0]]?;
        let (places, lanes) = (by.unsigned_abs() as usize, self.lanes(x));
        match self.width(x) {
            0 if by >= 0 => Some(self.number(Node::Scale(x, Arc::new(vec![1 << places])), lanes)),
            0 => {
                let word = self.offset(x);
                Some(self.shifted(word, places))
            }
            width => {
                let zero = self.same(vec![false], lanes);
                let from = |i: usize| if by < 0 { i.checked_add(places) } else { i.checked_sub(places) };
                let bit = |i: usize| from(i).filter(|i| *i < width).map_or((zero, 0), |i| (x, i));
                Some(self.pick((0..width).map(bit).collect()))
            }
        }
    }

    /// x / 2^places rounded down, for an offset word; the free places get the sign.
    pub(super) fn shifted(&mut self, word: Id, places: usize) -> Id {
        let highest = self.not_negative();
        let top = self.slice(word, highest..highest + 1);
        let sign = self.not(top);
        let kept = (places..highest).map(|i| (word, i));
        let bits = kept.chain((0..places).map(|_| (sign, 0))).chain([(top, 0)]);
        let word = self.pick(bits.collect());
        self.number_of(word)
    }

    pub(super) fn divide(&mut self, statement: &Statement, shape: &Shape) -> Option<Id> {
        let (x, y) = (self.wide(statement, 0, shape)?, self.wide(statement, 1, shape)?);
        let word = self.offset(x);
        let known = self.constants.get(&y);
        let known = known.and_then(|y| y.first().filter(|first| y.iter().all(|y| y == *first))).copied();
        if let Some(divisor) = known.filter(|divisor| divisor.count_ones() == 1 && *divisor > 0) {
            let places = divisor.trailing_zeros() as usize;
            return Some(self.shifted(word, places));
        }
        let lanes = self.lanes(x);
        let highest = self.not_negative();
        let (top, low) = (self.slice(word, highest..highest + 1), self.slice(word, 0..highest));
        let sign = self.not(top);
        let signs = self.pick((0..highest).map(|_| (sign, 0)).collect());
        // for a negative x, -1 - x is divided: floor(x / y) = -1 - floor((-1 - x) / y)
        let size = self.word(Node::Xor(low, signs), lanes, highest);
        let known = known.and_then(|divisor| u64::try_from(divisor).ok()).filter(|divisor| *divisor > 0);
        let quotient = match known {
            Some(divisor) => self.run(Word::DivideBy(divisor), highest, vec![size]),
            None => {
                let divisor = self.offset(y);
                let divisor = self.slice(divisor, 0..highest);
                self.run(Word::Divide, highest, vec![size, divisor])
            }
        };
        let quotient = self.word(Node::Xor(quotient, signs), lanes, highest);
        let bits = (0..highest).map(|i| (quotient, i)).chain([(top, 0)]);
        let word = self.pick(bits.collect());
        Some(self.number_of(word))
    }

    /// The smallest or the largest entry of each row, by a tournament: each layer compares neighbours, and
    /// keeps the better one of every two.
    pub(super) fn extreme(&mut self, statement: &Statement, largest: bool) -> Option<()> {
        let x = self.program.value(statement.args[0]);
        let (side, rows) = (x.shape().last(), x.shape().entries() / x.shape().last());
        let id = self.values[x.id]?;
        let is_num = self.width(id) == 0;
        let mut best = if is_num { self.offset(id) } else { id };
        let width = self.width(best);
        let place = (side.next_power_of_two().ilog2() as usize).max(1);
        let mut places =
            self.word(Node::Words((0..rows * side).map(|i| (i % side) as u64).collect()), rows * side, place);
        let mut columns = side;
        while columns > 1 {
            let pairs = columns / 2;
            let column = |k: usize| -> Vec<usize> {
                (0..rows).flat_map(|row| (0..pairs).map(move |i| row * columns + 2 * i + k)).collect()
            };
            let args =
                [(best, 0), (best, 1), (places, 0), (places, 1)].map(|(id, k)| self.gather(id, column(k)));
            let won = self.run(Word::Better { place, largest }, width, args.to_vec());
            let (mut next, mut at) = (self.slice(won, 0..width), self.slice(won, width..width + place));
            if columns % 2 == 1 {
                (next, at) = (self.beside(next, best, rows, columns), self.beside(at, places, rows, columns));
            }
            (best, places) = (next, at);
            columns = columns.div_ceil(2);
        }
        let place = self.number(Node::ToNumber(places), rows);
        self.remember(place, places);
        let best = if is_num { self.number_of(best) } else { best };
        self.give(statement.results[0], best);
        self.give(statement.results[1], place);
        Some(())
    }

    /// The winners of each row, followed by the row's last column, which had no partner.
    pub(super) fn beside(&mut self, winners: Id, all: Id, rows: usize, columns: usize) -> Id {
        let (pairs, width) = (columns / 2, self.width(winners));
        let alone = self.gather(all, (0..rows).map(|row| row * columns + columns - 1).collect());
        let both = self.word(Node::Beside(winners, alone), rows * columns.div_ceil(2), width);
        let place = |row: usize, i: usize| if i < pairs { row * pairs + i } else { rows * pairs + row };
        self.gather(both, (0..rows).flat_map(|row| (0..=pairs).map(move |i| place(row, i))).collect())
    }
}
