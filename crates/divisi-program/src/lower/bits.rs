//! Operations on the bits of numbers: comparisons, choices, shifts, and minimum or maximum of a row.

use super::Lower;
use crate::interval::Interval;
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

    /// The number that an offset word represents, and that is in this range: of its bits, those that the
    /// range leaves open are converted.
    pub(super) fn number_of(&mut self, word: Id, range: Interval) -> Id {
        let (highest, lanes) = (self.not_negative(), self.lanes(word));
        let places = range.width().min(highest);
        let low = (0..places).map(|i| (word, i));
        let id = if range.low() >= 0 {
            let low = self.all_of(low.collect());
            self.number(Node::ToNumber(low), lanes)
        } else {
            // the number and 2^places
            let moved = self.all_of(low.chain([(word, highest)]).collect());
            let moved = self.number(Node::ToNumber(moved), lanes);
            let back = self.p.neg(1 << places);
            self.number(Node::Shift(moved, back), lanes)
        };
        self.offsets.insert(id, word);
        id
    }

    /// The offset word of a number whose lowest bits are given, and a bit that is 1 where it is negative: all
    /// others of its bits are like this one.
    pub(super) fn with_sign(&mut self, low: Vec<(Id, usize)>, sign: Id) -> Id {
        let (mut bits, top) = (low, self.not(sign));
        bits.resize(self.not_negative(), (sign, 0));
        bits.push((top, 0));
        self.pick(bits)
    }

    /// The bit that is 1 where the number of an offset word is negative.
    pub(super) fn sign_of(&mut self, word: Id) -> Id {
        let top = self.slice(word, self.not_negative()..self.offset_width());
        self.not(top)
    }

    /// The offset word of a number in this range, if it has one, or is the negative of one that has.
    fn known_or_negative(&mut self, id: Id, range: Interval) -> Option<Id> {
        if let Some(word) = self.known_offset(id) {
            return Some(word);
        }
        let Node::Neg(of) = self.nodes[id].node else { return None };
        let word = self.known_offset(of)?;
        // in two's complement, with as many bits as both numbers take
        let places = range.width().max(range.negated().width()).min(self.not_negative());
        let sign = self.sign_of(word);
        let all = self.pick((0..places).map(|i| (word, i)).chain([(sign, 0)]).collect());
        let negative = self.run(Word::Negate, places + 1, vec![all]);
        let sign = self.slice(negative, places..places + 1);
        let word = self.with_sign((0..places).map(|i| (negative, i)).collect(), sign);
        self.offsets.insert(id, word);
        Some(word)
    }

    /// `select` of numbers whose offset words are there, for a result of which the bits are wanted: it
    /// chooses between those bits that the result's range leaves open. Only small numbers have words that say
    /// all of them: of larger ones the lowest bits may be wanted, and they are chosen as numbers.
    pub(super) fn select_words(&mut self, statement: &Statement, shape: &Shape, ids: [Id; 2]) -> Option<Id> {
        let program = self.program;
        let result = *statement.results.first()?;
        if self.wanted[result] == 0 {
            return None;
        }
        let range = |value: usize| program.range(program.value(value));
        let small = program.limits().small();
        if [statement.args[1], statement.args[2], result].iter().any(|id| !range(*id).is_within(small)) {
            return None;
        }
        let words = [0, 1].map(|i| self.known_or_negative(ids[i], range(statement.args[i + 1])));
        let [Some(x), Some(y)] = words else { return None };
        let (range, highest) = (range(result), self.not_negative());
        let (places, has_sign) = (range.width().min(highest), range.low() < 0);
        let c = self.wide(statement, 0, shape)?;
        let [x, y] = [x, y].map(|word| {
            let bits = (0..places).map(|i| (word, i)).chain(has_sign.then_some((word, highest)));
            self.all_of(bits.collect())
        });
        let chosen = self.run(Word::Choose, self.width(x), vec![c, x, y]);
        if has_sign {
            let top = self.slice(chosen, places..places + 1);
            let sign = self.not(top);
            let word = self.with_sign((0..places).map(|i| (chosen, i)).collect(), sign);
            return Some(self.number_of(word, range));
        }
        let id = self.number(Node::ToNumber(chosen), shape.entries());
        self.remember(id, chosen);
        Some(id)
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
        let ((of_x, has_x), (of_y, has_y)) = (is(x, 0), is(y, 1));
        // entries that are repeated are converted before they are
        let lanes = self.lanes(x);
        let few = |id: Id| self.gathered_from(id).iter().any(|id| self.lanes(*id) < lanes);
        if has_x && few(y) || has_y && few(x) {
            return true;
        }
        // two conversions of fresh numbers cost more than one of their difference
        of_x && of_y && (has_x || has_y || self.wanted[args[0]] + self.wanted[args[1]] > 4)
    }

    /// x < y of numbers, as a bit.
    pub(super) fn less(&mut self, statement: &Statement, x: Id, y: Id) -> Id {
        if self.constants.get(&y).is_some_and(|y| y.iter().all(|y| *y == 0)) {
            let word = self.offset(x);
            return self.sign_of(word);
        }
        if self.as_words(statement, x, y) {
            let [x, y] = self.differing(statement, [x, y]);
            return self.run(Word::Less, self.width(x), vec![x, y]);
        }
        let difference = self.sub(x, y);
        let word = self.offset(difference);
        self.sign_of(word)
    }

    /// The bits of offset words in which two numbers can differ: of numbers that are not negative those of
    /// the larger one.
    fn differing(&mut self, statement: &Statement, ids: [Id; 2]) -> [Id; 2] {
        let program = self.program;
        let of = |arg: &usize| program.range(program.value(*arg));
        let all = statement.args.iter().map(of).reduce(Interval::with);
        let width = all.filter(|all| all.low() >= 0).map_or(self.offset_width(), Interval::width);
        let width = width.min(self.offset_width());
        ids.map(|id| {
            let word = self.offset(id);
            self.slice(word, 0..width)
        })
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
                let [x, y] = self.differing(statement, [x, y]);
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
                let result = self.program.value(*statement.results.first()?);
                Some(self.shifted(word, places, self.program.range(result)))
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
    pub(super) fn shifted(&mut self, word: Id, places: usize, range: Interval) -> Id {
        let (sign, kept) = (self.sign_of(word), places..self.not_negative());
        let word = self.with_sign(kept.map(|i| (word, i)).collect(), sign);
        self.number_of(word, range)
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
        let range = self.program.range(self.program.value(statement.results[0]));
        let best = if is_num { self.number_of(best, range) } else { best };
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
