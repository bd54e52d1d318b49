//! Adders with a public summand, for A2B: with few ANDs, or with few rounds.

use divisi_circuit::{Build, BuildBit, Gates, Program};

/// What an adder minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberAdder {
    /// The number of ANDs, one after the other: 31 to compare and 31 to add.
    #[default]
    FewestAnds,
    /// The number of rounds: five to compare and six to add.
    LowDepth,
}

impl NumberAdder {
    /// All adders.
    pub const ALL: [NumberAdder; 2] = [NumberAdder::FewestAnds, NumberAdder::LowDepth];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NumberAdder::FewestAnds => "fewest-ands",
            NumberAdder::LowDepth => "low-depth",
        }
    }
}

/// The number of bits of a number.
pub(crate) const WIDTH: usize = 32;

/// The number of ANDs in A2B's comparison and sum, and the rounds they take.
#[must_use]
pub fn cost(adder: NumberAdder) -> (usize, usize) {
    let (carry, sum) = (carry(adder), sum(adder));
    (carry.and_count() + sum.and_count(), carry.and_depth() + sum.and_depth())
}

/// The carry of r + v, for a shared r and a public v. The inputs are r\[j\] + v\[j\] for all j, then r\[j\]
/// v\[j\]; both are computed without messages.
pub(crate) fn carry(adder: NumberAdder) -> Program {
    let mut g = Build::new();
    let (p, all) = (g.input(WIDTH), g.input(WIDTH));
    let carry = match adder {
        // carry <- r v + (r + v) carry: one AND for each bit but the first
        NumberAdder::FewestAnds => p.iter().zip(&all).skip(1).fold(all[0], |carry, (p, own)| {
            let through = g.and(*p, carry);
            g.xor(*own, through)
        }),
        NumberAdder::LowDepth => {
            let mut spans: Vec<(BuildBit, BuildBit)> = all.into_iter().zip(p).collect();
            while spans.len() > 1 {
                let join = |pair: &[(BuildBit, BuildBit)]| match pair {
                    [low, high] => over(&mut g, *low, *high),
                    _ => pair[0],
                };
                spans = spans.chunks(2).map(join).collect();
            }
            spans[0].0
        }
    };
    g.output(&[carry]);
    g.finish()
}

/// Combines the (generate, propagate) bits of two neighbouring spans.
fn over(g: &mut Build, low: (BuildBit, BuildBit), high: (BuildBit, BuildBit)) -> (BuildBit, BuildBit) {
    let through = g.and(high.1, low.0);
    (g.xor(high.0, through), g.and(high.1, low.1))
}

/// The sum r + w modulo 2^32.
pub(crate) fn sum(adder: NumberAdder) -> Program {
    let mut g = Build::new();
    let (r, w) = (g.input(WIDTH), g.input(WIDTH));
    let p: Vec<BuildBit> = r.iter().zip(&w).map(|(r, w)| g.xor(*r, *w)).collect();
    let mut out = vec![p[0]];
    match adder {
        NumberAdder::FewestAnds => {
            let mut carry = g.and(r[0], w[0]);
            for j in 1..WIDTH {
                out.push(g.xor(p[j], carry));
                if j + 1 < WIDTH {
                    carry = g.majority(r[j], w[j], carry);
                }
            }
        }
        NumberAdder::LowDepth => {
            // Sklansky's adder: after step s every bit has the carry that the bits from the beginning of its
            // block of 2^s generate
            let mut spans: Vec<(BuildBit, BuildBit)> =
                (0..WIDTH).map(|j| (g.and(r[j], w[j]), p[j])).collect();
            for s in 0..WIDTH.ilog2() {
                for j in (0..WIDTH).filter(|j| j >> s & 1 == 1) {
                    spans[j] = over(&mut g, spans[(j >> s << s) - 1], spans[j]);
                }
            }
            out.extend((1..WIDTH).map(|j| g.xor(p[j], spans[j - 1].0)));
        }
    }
    g.output(&out);
    g.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::plain;

    #[test]
    fn sums_and_carries_at_their_cost() {
        let values = [0, 1, 2, 0xffff_ffff, 0x8000_0000, 0xc000_0001, 0x1234_5678, 0xdead_beef_u32];
        let bits = |x: u32| (0..WIDTH).map(|j| vec![u64::from(x >> j & 1)]).collect::<Vec<_>>();
        for adder in [NumberAdder::FewestAnds, NumberAdder::LowDepth] {
            let (carry, sum) = (carry(adder), sum(adder));
            for (r, v) in values.iter().flat_map(|r| values.map(|v| (*r, v))) {
                let out = plain::run(&sum, &[bits(r), bits(v)].concat()).unwrap();
                let got = out.iter().rev().fold(0, |x, bit| x << 1 | (bit[0] & 1) as u32);
                assert_eq!(got, r.wrapping_add(v));
                let out = plain::run(&carry, &[bits(r ^ v), bits(r & v)].concat()).unwrap();
                assert_eq!(out[0][0] & 1 == 1, r.checked_add(v).is_none(), "{r:x} {v:x}");
            }
        }
        let cost = |p: Program| (p.and_count(), p.and_depth());
        assert_eq!(
            (cost(carry(NumberAdder::FewestAnds)), cost(sum(NumberAdder::FewestAnds))),
            ((31, 31), (31, 31))
        );
        let (low, add) = (cost(carry(NumberAdder::LowDepth)), cost(sum(NumberAdder::LowDepth)));
        assert!(low.1 == 5 && low.0 <= 62 && add.1 == 6 && add.0 <= 192, "{low:?} {add:?}");
    }
}
