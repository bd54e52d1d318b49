//! The stock of one-hot vectors.

use super::Account;
use super::one_hots::OneHots;
use crate::sbox::Protocol;
use crate::wire::Shape;
use divisi_core::{Stock, Verified};
use std::collections::VecDeque;

/// How many bytes of vectors an engine keeps, of all kinds and shapes: 24 layers of 4096 blocks for the
/// largest kind.
const BUDGET: usize = 96 << 20;
/// How many bytes of vectors are made at once in idle time. A request that comes meanwhile has to wait for
/// them: some milliseconds on a fast network.
const PORTION: usize = 4 << 20;

/// When vectors that are put on a stock will be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Now,
    Later,
}

/// The stocks of one engine, one for each protocol and shape of layer, the one that was used last at the end.
/// What is put in, taken out and thrown away follows from public calls, so that the parties agree on it; the
/// number of each vector enters their views when it is used \[A18\].
#[derive(Default)]
pub(crate) struct VectorStocks(Vec<VectorStock>);

struct VectorStock {
    protocol: Protocol,
    shape: Shape,
    stock: Stock<OneHots>,
    /// For whom each layer was taken that is not replaced yet, the first one first: the last ones, as many as
    /// the stock holds.
    lacking: VecDeque<Account>,
}

impl VectorStock {
    /// Bytes of the vectors for one layer.
    fn layer(&self) -> usize {
        bytes(self.protocol, &self.shape)
    }

    fn bytes(&self) -> usize {
        self.stock.len() * self.layer()
    }
}

impl VectorStocks {
    /// For how many of `wanted` layers vectors are missing, as far as there is room.
    pub(crate) fn missing(&self, protocol: Protocol, shape: &Shape, wanted: usize) -> usize {
        let there = self.find(protocol, shape).map_or(0, |at| self.0[at].stock.len());
        wanted.min(bound(protocol, shape)).saturating_sub(there)
    }

    /// Keep vectors. If there is no room, the vectors of stocks that were used before this one are dropped
    /// first; vectors for which there is still no room are wiped.
    pub(crate) fn put(
        &mut self,
        protocol: Protocol,
        shape: &Shape,
        vectors: Vec<Verified<OneHots>>,
        when: Use,
    ) {
        let mut at = self.find(protocol, shape).unwrap_or_else(|| {
            let stock = Stock::bounded(bound(protocol, shape));
            self.0.push(VectorStock { protocol, shape: shape.clone(), stock, lacking: VecDeque::new() });
            self.0.len() - 1
        });
        if when == Use::Now {
            self.0[at..].rotate_left(1);
            at = self.0.len() - 1;
        }
        for vector in vectors {
            let layer = self.0[at].layer();
            while self.bytes() + layer > BUDGET {
                let Some(older) = self.0[..at].iter_mut().find(|stock| !stock.stock.is_empty()) else {
                    break;
                };
                drop(older.stock.take());
            }
            // a full stock gives it back, and it is dropped here
            let _ = self.0[at].stock.put(vector);
        }
        let kept = |stock: &VectorStock| !stock.lacking.is_empty() || !stock.stock.is_empty();
        self.0.retain(kept);
    }

    /// The oldest vectors for a layer of this shape, which is computed for `account`, and their position.
    pub(crate) fn take(
        &mut self,
        protocol: Protocol,
        shape: &Shape,
        account: &Account,
    ) -> Option<(u64, OneHots)> {
        let at = self.find(protocol, shape)?;
        self.0[at..].rotate_left(1);
        let stock = self.0.last_mut()?;
        let taken = stock.stock.take();
        stock.lacking.extend(taken.is_some().then(|| account.clone()));
        // more than the stock holds are never restocked
        let beyond = stock.lacking.len().saturating_sub(bound(protocol, shape));
        stock.lacking.drain(..beyond);
        taken
    }

    /// Whether there is something to make in idle time.
    pub(crate) fn lack(&self) -> bool {
        self.0.iter().any(|stock| !stock.lacking.is_empty())
    }

    /// What to make next in idle time: vectors for the stock that was used last among those that lack some,
    /// as many as its layers took, as far as there is room beside the stocks that were used later; and for
    /// whom each layer was computed.
    pub(crate) fn wanted(&mut self) -> Option<(Protocol, Shape, Vec<Account>)> {
        let at = self.0.iter().rposition(|stock| !stock.lacking.is_empty())?;
        let kept: usize = self.0[at..].iter().map(VectorStock::bytes).sum();
        let stock = &mut self.0[at];
        let (free, layer) = (BUDGET.saturating_sub(kept), stock.layer());
        let layers = stock.lacking.len().min(free / layer).min((PORTION / layer).max(1));
        // layers beyond the budget are not restocked
        if layers == 0 {
            stock.lacking.clear();
        }
        let accounts: Vec<Account> = stock.lacking.drain(..layers).collect();
        (layers > 0).then(|| (stock.protocol, stock.shape.clone(), accounts))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(VectorStock::bytes).sum()
    }

    fn find(&self, protocol: Protocol, shape: &Shape) -> Option<usize> {
        self.0.iter().position(|stock| stock.protocol == protocol && stock.shape == *shape)
    }
}

fn bytes(protocol: Protocol, shape: &Shape) -> usize {
    (shape.0.len() * protocol.vector_bytes()).max(1)
}

/// How many layers of this shape are kept at most.
fn bound(protocol: Protocol, shape: &Shape) -> usize {
    (BUDGET / bytes(protocol, shape)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that lack are replaced at once as far as a portion goes, also 256 of them.
    #[test]
    fn as_many_layers_are_wanted_as_fit_a_portion() {
        // of larger layers fewer, whatever was used before
        for bytes_of_layer in [1, 3] {
            let (protocol, shape) = (Protocol::Lut16, Shape(vec![1; bytes_of_layer]));
            let most = PORTION / bytes(protocol, &shape);
            assert!(most > 256, "{most}");
            for lacking in [1, 256, 257, most, most + 1] {
                let mut stocks = VectorStocks(vec![VectorStock {
                    protocol,
                    shape: shape.clone(),
                    stock: Stock::bounded(2 * most),
                    lacking: vec![Account::default(); lacking].into(),
                }]);
                let wanted = stocks.wanted().map(|(.., accounts)| accounts.len());
                assert_eq!((wanted, stocks.lack()), (Some(lacking.min(most)), lacking > most));
            }
        }
    }

    /// Vectors serve the protocol and the lanes for which they were made. In a layer of more lanes the others
    /// would have no mask.
    #[test]
    fn vectors_serve_their_own_protocol_and_lanes() {
        let shapes =
            [&[3][..], &[5], &[512], &[3, 3], &[3, 5], &[5, 3], &[3, 3, 3]].map(|x| Shape(x.to_vec()));
        let ways =
            || [Protocol::Lut16, Protocol::Lut256].into_iter().flat_map(|p| (0..7).map(move |i| (p, i)));
        for (protocol, made) in ways() {
            let (shape, stock, lacking) = (shapes[made].clone(), Stock::bounded(1), VecDeque::new());
            let stocks = VectorStocks(vec![VectorStock { protocol, shape, stock, lacking }]);
            for (other, wanted) in ways() {
                let found = stocks.find(other, &shapes[wanted]).is_some();
                assert_eq!(found, (protocol, made) == (other, wanted), "{protocol} {made}: {other} {wanted}");
            }
        }
    }
}
