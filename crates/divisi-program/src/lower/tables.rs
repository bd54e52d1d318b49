//! Lookups in tables, and circuits that a program names.

use super::Lower;
use crate::node::{Id, NOWHERE, Node};
use crate::program::{Action, Statement};
use crate::shape::Shape;
use divisi_circuit::Program as Circuit;
use divisi_mpgc::Wiring;
use std::sync::Arc;

impl Lower<'_> {
    pub(super) fn look_up(&mut self, statement: &Statement) -> Option<Id> {
        let [table, index] = [0, 1].map(|i| self.program.value(statement.args[i]));
        let (entries, tables) = (table.shape().last(), table.shape().entries() / table.shape().last());
        let whole = entries.next_power_of_two();
        let places = whole.ilog2() as usize;
        let (table, at) = (self.values[table.id]?, self.values[index.id]?);
        let lanes = self.lanes(at);
        let word = match self.width(at) {
            0 => {
                let word = self.offset(at);
                self.slice(word, 0..places)
            }
            width if width < places => {
                let zero = self.same(vec![false], lanes);
                let bits = (0..width).map(|i| (at, i)).chain((width..places).map(|_| (zero, 0)));
                self.pick(bits.collect())
            }
            _ => at,
        };
        if tables == 1
            && let Some(numbers) = self.constants.get(&table)
        {
            let mut table: Vec<u64> = numbers.iter().map(|x| self.p.of_signed(*x)).collect();
            table.resize(whole, 0);
            return Some(self.number(Node::LookUp { table: Arc::new(table), index: word }, lanes));
        }
        let from = |lane: usize| if tables == 1 { 0 } else { lane * entries };
        let all = (0..lanes).flat_map(|lane| (0..whole).map(move |at| (lane, at)));
        let places = all.map(|(lane, at)| if at < entries { from(lane) + at } else { NOWHERE }).collect();
        let tables = self.gather(table, places);
        Some(self.number(Node::LookUpPrivate { tables, index: word }, lanes))
    }

    pub(super) fn any(&mut self, statement: &Statement, circuit: &Arc<Circuit>, shape: &Shape) -> Option<()> {
        let args =
            (0..statement.args.len()).map(|i| self.wide(statement, i, shape)).collect::<Option<Vec<Id>>>()?;
        // a circuit without a gate to be garbled needs no keys
        let wiring = matches!(statement.op, Action::Garbled(_)).then(|| Wiring::new(circuit));
        let node = match wiring.filter(|wiring| wiring.gates() > 0) {
            Some(wiring) => Node::Garbled(Arc::new(wiring), args),
            None => Node::Run(Arc::clone(circuit), args),
        };
        let all = self.word(node, shape.entries(), circuit.output_bits());
        let mut first = 0;
        for (result, width) in statement.results.iter().zip(circuit.outputs()) {
            let id = self.slice(all, first..first + width);
            self.give(*result, id);
            first += width;
        }
        Some(())
    }
}
