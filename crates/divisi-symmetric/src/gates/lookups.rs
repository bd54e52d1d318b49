//! Table lookups as circuits: sums of products of monomials of the two halves of the index.

use super::bytes::{GateBytes, unfit};
use super::engine::GateBit;
use divisi_circuit::Gates;
use divisi_core::{Abort, Boolean, Lanes, Lookup, Lookups, Table};

impl<G: Gates> Lookups for GateBytes<'_, G> {
    type Bit = GateBit<G::Bit>;

    fn constant_bit(&mut self, values: &[bool]) -> Self::Bit {
        self.public_bit(values)
    }

    fn add_bit(&mut self, x: &mut Self::Bit, y: &Self::Bit) -> Result<(), Abort> {
        if y.lanes() != 1 && y.lanes() != x.lanes() {
            return Err(unfit());
        }
        x.0.iter_mut().zip(y.0.iter().cycle()).for_each(|(x, y)| *x = self.g.xor(*x, *y));
        Ok(())
    }

    fn look_up(&mut self, layer: &mut [Lookup<Self::Bit>]) -> Result<(), Abort> {
        for Lookup { table, wires } in layer {
            let lanes = wires.first().map_or(0, Lanes::lanes);
            if wires.len() != table.index || wires.iter().any(|wire| wire.lanes() != lanes) {
                return Err(unfit());
            }
            let mut found = vec![GateBit(Vec::with_capacity(lanes)); table.width];
            for lane in 0..lanes {
                let index: Vec<G::Bit> = wires.iter().map(|wire| wire.0[lane]).collect();
                let value = value(self.g, table, &index);
                found.iter_mut().zip(value).for_each(|(to, bit)| to.0.push(bit));
            }
            *wires = found;
        }
        Ok(())
    }
}

/// The table's value at an index. With m_S the product of the bits S of the upper half, and n_T that of the
/// bits T of the lower half, each bit of the value is sum_S m_S (sum_T a_ST n_T), where a is its algebraic
/// normal form.
///
/// Cost for an index of six bits: 4 products for each half, and 7 for each bit of the value; at most 36 for
/// DES, in three levels.
fn value<G: Gates>(g: &mut G, table: &Table, index: &[G::Bit]) -> Vec<G::Bit> {
    let (low, high) = index.split_at(index.len() / 2);
    let (n, m) = (monomials(g, low), monomials(g, high));
    let form = normal_form(table.values);
    (0..table.width)
        .map(|k| {
            let mut inner = |s: usize| {
                let zero = g.constant(false);
                let terms = n.iter().zip(&form[s * n.len()..]).filter(|(_, a)| **a >> k & 1 == 1);
                terms.fold(zero, |sum, (n, _)| g.xor(sum, *n))
            };
            let constant = inner(0);
            let terms: Vec<_> = (1..m.len()).map(|s| (m[s], inner(s))).collect();
            let sum = g.dot(&terms);
            g.xor(sum, constant)
        })
        .collect()
}

/// The product of the bits of each set. Entry s is that of the set of all bits i for which bit i of s is one.
fn monomials<G: Gates>(g: &mut G, bits: &[G::Bit]) -> Vec<G::Bit> {
    let mut all = vec![g.constant(true)];
    for bit in bits {
        let with: Vec<_> =
            all.iter().enumerate().map(|(s, m)| if s == 0 { *bit } else { g.and(*m, *bit) }).collect();
        all.extend(with);
    }
    all
}

/// The coefficients of the polynomial of each bit of the value: entry s is the sum of the table's values at
/// all subsets of s.
fn normal_form(values: &[u8]) -> Vec<u8> {
    let mut form = values.to_vec();
    let mut bit = 1;
    while bit < form.len() {
        for pair in form.chunks_mut(2 * bit) {
            let (without, with) = pair.split_at_mut(bit);
            with.iter_mut().zip(without).for_each(|(with, without)| *with ^= *without);
        }
        bit *= 2;
    }
    form
}
