//! Adders with a public summand, for A2B: with few ANDs, or with few rounds. And the comparison of masks with
//! p.

use divisi_circuit::{Build, BuildBit, Gates, Program};

/// What an adder minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberAdder {
    /// The number of ANDs, one after the other: for numbers of 32 bits 31 to compare and 31 to add.
    #[default]
    FewestAnds,
    /// The number of rounds: for numbers of 32 bits five to compare and six to add.
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

/// The number of ANDs in A2B's comparison and sum for numbers of `width` bits (those of p), and the rounds
/// they take.
#[must_use]
pub fn cost(adder: NumberAdder, width: usize) -> (usize, usize) {
    let (carry, sum) = (carry(adder, width), sum(adder, width));
    (carry.and_count() + sum.and_count(), carry.and_depth() + sum.and_depth())
}

/// Whether r is at least p, for a shared r of as many bits as p: one bit. Neighbouring bits of p - 1 that are
/// equal are taken together, so that the depth is small for a p like 2^62 - 2^46 + 1: r is at least p exactly
/// if its highest 16 bits are ones, and any of the others is.
pub(crate) fn at_least(p: u64) -> Program {
    let mut g = Build::new();
    let width = (u64::BITS - p.leading_zeros()) as usize;
    let r = g.input(width);
    let is = above(&mut g, &r, p - 1);
    g.output(&[is]);
    g.finish()
}

/// Whether bits are above a public number.
fn above(g: &mut Build, r: &[BuildBit], number: u64) -> BuildBit {
    let Some(highest) = r.len().checked_sub(1) else { return g.constant(false) };
    let bit = |j: usize| number >> j & 1;
    let equal = (0..highest).rev().take_while(|j| bit(*j) == bit(highest)).count() + 1;
    let (low, run) = r.split_at(r.len() - equal);
    let rest = above(g, low, number);
    if bit(highest) == 1 {
        // above it only where the run has ones, too
        let all = joined(g, run, |g, x, y| g.and(x, y));
        return g.and(all, rest);
    }
    let any = joined(g, run, or);
    if low.is_empty() { any } else { or(g, any, rest) }
}

fn or(g: &mut Build, x: BuildBit, y: BuildBit) -> BuildBit {
    let (sum, product) = (g.xor(x, y), g.and(x, y));
    g.xor(sum, product)
}

/// All bits, joined two by two.
fn joined(
    g: &mut Build,
    bits: &[BuildBit],
    join: impl Fn(&mut Build, BuildBit, BuildBit) -> BuildBit,
) -> BuildBit {
    let mut bits = bits.to_vec();
    while bits.len() > 1 {
        let pair = |pair: &[BuildBit]| match pair {
            [x, y] => join(g, *x, *y),
            _ => pair[0],
        };
        bits = bits.chunks(2).map(pair).collect();
    }
    bits[0]
}

/// The carry of r + v, for a shared r of `width` bits and a public v. The inputs are r\[j\] + v\[j\] for all
/// j, then r\[j\] v\[j\]; both are computed without messages.
pub(crate) fn carry(adder: NumberAdder, width: usize) -> Program {
    let mut g = Build::new();
    let (p, all) = (g.input(width), g.input(width));
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

/// The sum r + w modulo 2^width.
pub(crate) fn sum(adder: NumberAdder, width: usize) -> Program {
    let mut g = Build::new();
    let (r, w) = (g.input(width), g.input(width));
    let p: Vec<BuildBit> = r.iter().zip(&w).map(|(r, w)| g.xor(*r, *w)).collect();
    let mut out = vec![p[0]];
    match adder {
        NumberAdder::FewestAnds => {
            let mut carry = g.and(r[0], w[0]);
            for j in 1..width {
                out.push(g.xor(p[j], carry));
                if j + 1 < width {
                    carry = g.majority(r[j], w[j], carry);
                }
            }
        }
        NumberAdder::LowDepth => {
            // Sklansky's adder: after step s every bit has the carry that the bits from the beginning of its
            // block of 2^s generate
            let mut spans: Vec<(BuildBit, BuildBit)> =
                (0..width).map(|j| (g.and(r[j], w[j]), p[j])).collect();
            for s in 0..width.next_power_of_two().ilog2() {
                for j in (0..width).filter(|j| j >> s & 1 == 1) {
                    spans[j] = over(&mut g, spans[(j >> s << s) - 1], spans[j]);
                }
            }
            out.extend((1..width).map(|j| g.xor(p[j], spans[j - 1].0)));
        }
    }
    g.output(&out);
    g.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::plain;
    use divisi_field::zp::{P16, P32, P62};

    #[test]
    fn sums_and_carries_at_their_cost() {
        let values = [0, 1, 2, u64::MAX, 1 << 63, 0xc000_0001, 0x1234_5678_9abc_def0, 0xdead_beef_0bad_f00d];
        for (adder, width) in NumberAdder::ALL.into_iter().flat_map(|a| [17, 32, 62].map(|w| (a, w))) {
            let (carry, sum, all) = (carry(adder, width), sum(adder, width), u64::MAX >> (64 - width));
            for (r, v) in values.iter().flat_map(|r| values.map(|v| (r & all, v & all))) {
                let out = plain::run(&sum, &[bits(r, width), bits(v, width)].concat()).unwrap();
                let got = out.iter().rev().fold(0, |x, bit| x << 1 | bit[0] & 1);
                assert_eq!(got, (r + v) & all);
                let out = plain::run(&carry, &[bits(r ^ v, width), bits(r & v, width)].concat()).unwrap();
                assert_eq!(out[0][0] & 1 == 1, r + v > all, "{r:x} {v:x}");
            }
        }
        let cost = |p: Program| (p.and_count(), p.and_depth());
        for (width, depth) in [(32, 5), (62, 6)] {
            let of = |adder| (cost(carry(adder, width)), cost(sum(adder, width)));
            assert_eq!(of(NumberAdder::FewestAnds), ((width - 1, width - 1), (width - 1, width - 1)));
            let (low, add) = of(NumberAdder::LowDepth);
            assert!(low.1 == depth && low.0 <= 2 * width && add.1 == depth + 1, "{low:?} {add:?}");
            assert!(add.0 <= 6 * width + width * depth, "{add:?}");
        }
    }

    fn bits(x: u64, width: usize) -> Vec<Vec<u64>> {
        (0..width).map(|j| vec![x >> j & 1]).collect()
    }

    /// Around p, and where a single bit decides, for every prime that has numbers.
    #[test]
    fn what_is_at_least_p() {
        for (p, ands, depth) in [(P16, 16, 5), (P32, 31, 6), (P62, 61, 7), (1_000_003, 19, 20)] {
            let (program, width) = (at_least(p), (u64::BITS - p.leading_zeros()) as usize);
            assert_eq!(program.and_count(), ands);
            assert!(program.and_depth() <= depth, "{}", program.and_depth());
            let top = (1_u64 << width) - 1;
            let single = (0..width).flat_map(|j| [1 << j, top ^ 1 << j, (p - 1) ^ 1 << j, (p - 1) | 1 << j]);
            let others = (1..200_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & top);
            for r in single.chain([0, 1, p - 2, p - 1, p, (p + 1) & top, top]).chain(others) {
                let out = plain::run(&program, &bits(r, width)).unwrap();
                assert_eq!(out[0][0] & 1 == 1, r >= p, "{r} {p}");
            }
        }
    }
}
