//! Words made of others' bits, sums of many words, and public words.

use super::Lower;
use crate::node::{Id, Node};
use crate::program::{Action, Statement};
use crate::shape::Shape;
use crate::words::Word;

/// The bits of a public word that one node has.
const CHUNK: usize = 64;

impl Lower<'_> {
    /// A public word for each lane.
    pub(super) fn words(&mut self, words: &[Vec<bool>]) -> Id {
        let (lanes, width) = (words.len(), words.first().map_or(0, Vec::len));
        if let Some(first) = words.first().filter(|first| words.iter().all(|word| word == *first)) {
            return self.same(first.clone(), lanes);
        }
        let mut bits = Vec::with_capacity(width);
        for from in (0..width).step_by(CHUNK) {
            let chunk = CHUNK.min(width - from);
            let number = |word: &Vec<bool>| {
                word.iter().skip(from).take(chunk).rev().fold(0, |n, bit| n << 1 | u64::from(*bit))
            };
            let id = self.word(Node::Words(words.iter().map(number).collect()), lanes, chunk);
            bits.extend((0..chunk).map(|i| (id, i)));
        }
        self.all_of(bits)
    }

    /// A word of these bits; no node is made for one that exists.
    pub(super) fn all_of(&mut self, bits: Vec<(Id, usize)>) -> Id {
        match bits.first() {
            Some((id, 0))
                if bits.len() == self.width(*id)
                    && bits.iter().enumerate().all(|(i, bit)| *bit == (*id, i)) =>
            {
                *id
            }
            _ => self.pick(bits),
        }
    }

    /// `slice`, `concat` and `widen`.
    pub(super) fn pieces(&mut self, statement: &Statement, shape: &Shape, width: usize) -> Option<Id> {
        let from = if let Action::Slice(from) = statement.op { from } else { 0 };
        let mut bits = Vec::with_capacity(width);
        for i in 0..statement.args.len() {
            let id = self.wide(statement, i, shape)?;
            bits.extend((0..self.width(id)).map(|i| (id, i)));
        }
        let mut bits: Vec<(Id, usize)> = bits.into_iter().skip(from).take(width).collect();
        if bits.len() < width {
            let zero = self.same(vec![false], shape.entries());
            bits.resize(width, (zero, 0));
        }
        Some(self.all_of(bits))
    }

    /// The sum of each row of `side` words, modulo 2^W: three words become two, one round after the other,
    /// and the last two are added.
    pub(super) fn sum_words(&mut self, x: Id, rows: usize, side: usize) -> Id {
        let width = self.width(x);
        let (mut all, mut columns) = (x, side);
        while columns > 2 {
            let threes = columns / 3;
            let column = |k: usize| -> Vec<usize> {
                (0..rows).flat_map(|row| (0..threes).map(move |i| row * columns + 3 * i + k)).collect()
            };
            let args = [0, 1, 2].map(|k| self.gather(all, column(k)));
            let both = self.run(Word::Save, width, args.to_vec());
            let (sums, carries) = (self.slice(both, 0..width), self.slice(both, width..2 * width));
            let mut next = self.word(Node::Beside(sums, carries), 2 * rows * threes, width);
            let rest = columns - 3 * threes;
            if rest > 0 {
                let left = (0..rows).flat_map(|row| (0..rest).map(move |i| row * columns + 3 * threes + i));
                let left = self.gather(all, left.collect());
                next = self.word(Node::Beside(next, left), rows * (2 * threes + rest), width);
            }
            // the sums of all rows, then the carries of all rows, then what was left: row by row
            let place = move |row: usize, i: usize| match i {
                i if i < 2 * threes => (i / threes * rows + row) * threes + i % threes,
                i => 2 * rows * threes + row * rest + i - 2 * threes,
            };
            columns = 2 * threes + rest;
            let places = (0..rows).flat_map(|row| (0..columns).map(move |i| place(row, i)));
            all = self.gather(next, places.collect());
        }
        if columns == 1 {
            return all;
        }
        let [x, y] = [0, 1].map(|k| self.gather(all, (0..rows).map(|row| 2 * row + k).collect()));
        self.run(Word::Add, width, vec![x, y])
    }
}
