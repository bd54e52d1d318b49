//! Addition of words, by one of two circuits: with the fewest ANDs, or with low depth.

use divisi_circuit::Gates;
use std::collections::HashMap;

/// Which adder is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Adder {
    /// A ripple-carry adder: `w - 1` ANDs for words of `w` bits, one after the other.
    FewestAnds,
    /// A lookahead adder with sums of products: 5 levels for 32 bits, 6 for 64. More than two operands are
    /// first reduced to two by carry-save adders, with one level for each further operand.
    LowDepth,
}

impl Adder {
    /// The sum of words of equal width w, modulo 2^w. Pass the operands that are computed last at the end:
    /// the others are then added while these are computed.
    pub fn sum<G: Gates>(self, g: &mut G, operands: &[&[G::Bit]]) -> Vec<G::Bit> {
        let Some((first, rest)) = operands.split_first() else { return Vec::new() };
        let mut sum = first.to_vec();
        match self {
            Adder::FewestAnds => {
                for operand in rest {
                    sum = ripple(g, &sum, operand);
                }
                sum
            }
            Adder::LowDepth => {
                let Some((second, rest)) = rest.split_first() else { return sum };
                let mut carries = second.to_vec();
                for operand in rest {
                    (sum, carries) = save(g, &sum, &carries, operand);
                }
                Lookahead::new(g, &sum, &carries).sum()
            }
        }
    }
}

/// The sum of two words, bit by bit. The carry into the next bit is the majority of `x`, `y` and the carry
/// `c` into this one: `(x + c)(y + c) + c`.
fn ripple<G: Gates>(g: &mut G, x: &[G::Bit], y: &[G::Bit]) -> Vec<G::Bit> {
    let mut carry = g.constant(false);
    let bits = x.iter().zip(y).map(|(&x, &y)| {
        let (xc, yc) = (g.xor(x, carry), g.xor(y, carry));
        let sum = g.xor(xc, y);
        let product = g.and(xc, yc);
        carry = g.xor(product, carry);
        sum
    });
    bits.collect()
}

/// A carry-save adder: three words become two with the same sum, in one level.
fn save<G: Gates>(g: &mut G, x: &[G::Bit], y: &[G::Bit], z: &[G::Bit]) -> (Vec<G::Bit>, Vec<G::Bit>) {
    let mut sums = Vec::with_capacity(x.len());
    let mut carries = vec![g.constant(false)];
    for ((&x, &y), &z) in x.iter().zip(y).zip(z) {
        let xy = g.xor(x, y);
        sums.push(g.xor(xy, z));
        carries.push(g.majority(x, y, z));
    }
    carries.pop();
    (sums, carries)
}

/// Carries of ranges of bits. Let `p_i = x_i + y_i` and `g_i = x_i y_i`. A range generates a carry if its
/// upper part generates one, or if its lower part does and the whole upper part propagates it. A sum of
/// products costs as much as one product, so a range is divided into up to three parts. In `l` levels it can
/// have `M(l) = 2^(l-1) + M(l-1) = 2^l - 1` bits, because `l - 1` levels propagate a carry through `2^(l-1)`
/// bits and generate one from `M(l-1)`. So `M(5) = 31` suffices for words of 32 bits.
struct Lookahead<'g, G: Gates> {
    g: &'g mut G,
    x: &'g [G::Bit],
    y: &'g [G::Bit],
    /// Whether bits `low..high` generate a carry, by `(low, high)`.
    made: HashMap<(usize, usize), G::Bit>,
    /// Whether bits `low..high` propagate a carry.
    passed: HashMap<(usize, usize), G::Bit>,
}

impl<'g, G: Gates> Lookahead<'g, G> {
    fn new(g: &'g mut G, x: &'g [G::Bit], y: &'g [G::Bit]) -> Self {
        Lookahead { g, x, y, made: HashMap::new(), passed: HashMap::new() }
    }

    fn sum(mut self) -> Vec<G::Bit> {
        let mut sum = Vec::with_capacity(self.x.len());
        for i in 0..self.x.len() {
            let bit = self.passes(i, i + 1);
            sum.push(if i == 0 {
                bit
            } else {
                let carry = self.makes(0, i);
                self.g.xor(bit, carry)
            });
        }
        sum
    }

    fn makes(&mut self, low: usize, high: usize) -> G::Bit {
        if let Some(&made) = self.made.get(&(low, high)) {
            return made;
        }
        let made = if high - low == 1 {
            self.g.and(self.x[low], self.y[low])
        } else {
            // From below, the range is divided into parts of `stretch` bits, the most that one level less can
            // have. It has at most `2 stretch + 1` bits, so there are at most three parts; the uppermost one
            // has the rest.
            let levels = (high - low + 1).next_power_of_two().ilog2();
            let stretch = (1 << (levels - 1)) - 1;
            let mut terms = Vec::new();
            let mut start = low;
            while start + stretch < high {
                let carry = self.makes(start, start + stretch);
                terms.push((carry, self.passes(start + stretch, high)));
                start += stretch;
            }
            let top = self.makes(start, high);
            let below = self.g.dot(&terms);
            self.g.xor(top, below)
        };
        self.made.insert((low, high), made);
        made
    }

    fn passes(&mut self, low: usize, high: usize) -> G::Bit {
        if let Some(&passed) = self.passed.get(&(low, high)) {
            return passed;
        }
        let passed = if high - low == 1 {
            self.g.xor(self.x[low], self.y[low])
        } else {
            let middle = low + (high - low).next_power_of_two() / 2;
            let (lower, upper) = (self.passes(low, middle), self.passes(middle, high));
            self.g.and(lower, upper)
        };
        self.passed.insert((low, high), passed);
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::plain::Words;
    use divisi_circuit::{Build, Program};
    use proptest::prelude::*;

    fn program(adder: Adder, width: usize, operands: usize) -> Program {
        let mut g = Build::new();
        let inputs: Vec<_> = (0..operands).map(|_| g.input(width)).collect();
        let sum = adder.sum(&mut g, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        g.output(&sum);
        g.finish()
    }

    #[test]
    fn costs_are_those_of_the_description() {
        for (width, levels) in [(32, 5), (64, 6)] {
            let ripple = program(Adder::FewestAnds, width, 2);
            assert_eq!((ripple.and_count(), ripple.and_depth()), (width - 1, width - 1));
            for operands in 2..6 {
                let low = program(Adder::LowDepth, width, operands);
                assert!(low.and_depth() <= levels + operands - 2);
            }
            assert_eq!(program(Adder::LowDepth, width, 2).and_depth(), levels);
        }
    }

    proptest! {
        #[test]
        fn sums_are_sums(values in prop::collection::vec(any::<u64>(), 1..7), width in 1..=64_usize) {
            let words: Vec<Vec<u64>> =
                values.iter().map(|value| crate::gates::constant(&mut Words, *value, width)).collect();
            let operands: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
            let want = values.iter().fold(0_u64, |sum, value| sum.wrapping_add(*value));
            let want = crate::gates::constant(&mut Words, want, width);
            for adder in [Adder::FewestAnds, Adder::LowDepth] {
                prop_assert_eq!(adder.sum(&mut Words, &operands), want.clone());
            }
        }
    }
}
