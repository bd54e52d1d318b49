//! The layers that are verified together, under one first coin.

use crate::coin::{Coin, next_words};
use crate::record::{Record, Relations, Visit};
use divisi_core::Prg;
use divisi_field::{Field, Gf64};

/// The records to be verified, with everything that is drawn from their first coin before the alphas.
pub(super) struct Batch<'a> {
    made: &'a [Record],
    relations: Relations,
    pub(super) beta: [Gf64; 8],
}

impl<'a> Batch<'a> {
    pub(super) fn new(made: &'a [Record], coin: &Coin) -> Self {
        let mut expansion = coin.expand();
        let mut beta = [Gf64::ZERO; 8];
        next_words(&mut expansion, &mut beta);
        Batch { made, relations: Relations::new(made, &beta, &mut expansion), beta }
    }

    /// The degree of the sum of all errors, as a polynomial in the drawn coefficients and in the weights of
    /// those relations that draw some. The sum misses a lie at no more than this many elements of the field.
    pub(super) fn degree(&self) -> usize {
        2 + if self.relations.drawn() > 0 { 2 } else { 0 }
    }

    /// The same coin's expansion, from the first alpha on.
    pub(super) fn alphas(&self, coin: &Coin) -> Prg {
        let mut expansion = coin.expand();
        next_words(&mut expansion, &mut vec![Gf64::ZERO; self.beta.len() + self.relations.drawn()]);
        expansion
    }

    /// Visit every group under every relation \[A11\].
    pub(super) fn visit(&self, visit: &mut dyn Visit) {
        self.relations.visit(self.made, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ohv::byte;
    use crate::record::{Group, Records};
    use crate::relation::Weighed;
    use crate::wire::Shape;
    use divisi_core::wipe::Pool;
    use std::collections::HashSet;

    /// The weights of the factors in all relations that are visited.
    #[derive(Default)]
    struct Weights(Vec<Gf64>);

    impl Visit for Weights {
        fn visit(&mut self, Weighed { relation, .. }: &Weighed, _: &Group<'_>) {
            self.0.extend(relation.x.iter().chain(&relation.y).map(|(_, weight)| *weight));
        }
    }

    /// \[A8\] No coefficient of a group is a weight inside a relation, or that of a lane: two wrong products
    /// could make up for each other.
    #[test]
    fn nothing_of_a_coin_serves_twice() {
        let records = Records::new(&Pool::default(), &Shape(vec![1]));
        let (made, coin) = ([Record::new(&byte::KIND, records)], Coin([7; 16]));
        let batch = Batch::new(&made, &coin);
        let mut weights = Weights::default();
        batch.visit(&mut weights);
        let mut alphas = [Gf64::ZERO; 64];
        next_words(&mut batch.alphas(&coin), &mut alphas);
        let all = weights.0.iter().chain(&batch.beta).chain(&alphas).map(|x| x.0);
        assert_eq!(all.collect::<HashSet<u64>>().len(), byte::DRAWN + batch.beta.len() + alphas.len());
    }
}
