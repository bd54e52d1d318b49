//! Circuits on words of bits, the lowest first: comparisons, sums, choices, quotients.
//!
//! Each circuit has two forms: with the fewest ANDs, in many rounds, or with few rounds.

mod columns;
mod quotient;

use divisi_circuit::{Build, BuildBit, Gates, Program};

/// A circuit on words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    /// x < y: one bit.
    Less,
    /// x + y modulo 2^W.
    Add,
    /// x - y modulo 2^W.
    Sub,
    /// -x modulo 2^W.
    Negate,
    /// x y modulo 2^W.
    Multiply,
    /// Two words with the sum of x, y and z modulo 2^W.
    Save,
    /// How many bits are 1, in as many bits as that takes.
    Count,
    /// x and y, bit by bit.
    And,
    /// x or y, bit by bit.
    Or,
    /// x if a bit is 1, else y; the inputs are the bit, x, y.
    Choose,
    /// Whether all bits are 0.
    Zero,
    /// The smaller or the larger one of x and y, with its position; the first one if they are equal. The
    /// inputs are x, y, then their positions of `place` bits.
    Better { place: usize, largest: bool },
    /// The odd multiples of x from 3 x to (2^D - 1) x, for steps of a division of D = `digit` bits.
    Multiples { digit: usize },
    /// A step of a division by a word of W bits: `digit` bits of the quotient, behind the rest, unless that
    /// is not wanted ([`quotient::step`]). The inputs are what is divided, of `dividend` bits, the divisor,
    /// and its [`Word::Multiples`].
    Step { dividend: usize, digit: usize, rest: bool },
    /// The quotient of x by a public number above 0.
    DivideBy(u64),
}

/// The circuit on words of `width` bits.
pub(crate) fn circuit(word: Word, width: usize, low_depth: bool) -> Program {
    let mut g = Build::new();
    let input = |g: &mut Build| g.input(width);
    let out = match word {
        Word::Less => {
            let (x, y) = (input(&mut g), input(&mut g));
            vec![less(&mut g, &x, &y, low_depth)]
        }
        Word::Add => {
            let (x, y) = (input(&mut g), input(&mut g));
            add(&mut g, &x, &y, false, low_depth).0
        }
        Word::Sub => {
            let (x, y) = (input(&mut g), input(&mut g));
            let y: Vec<BuildBit> = y.into_iter().map(|bit| g.not(bit)).collect();
            add(&mut g, &x, &y, true, low_depth).0
        }
        Word::Negate => {
            let x: Vec<BuildBit> = input(&mut g).into_iter().map(|bit| g.not(bit)).collect();
            let zero = vec![g.constant(false); width];
            add(&mut g, &x, &zero, true, low_depth).0
        }
        Word::Multiply => {
            let (x, y) = (input(&mut g), input(&mut g));
            columns::multiply(&mut g, &x, &y, low_depth)
        }
        Word::Save => {
            let (x, y, z) = (input(&mut g), input(&mut g), input(&mut g));
            columns::save(&mut g, [&x, &y, &z])
        }
        Word::Count => {
            let x = input(&mut g);
            columns::count(&mut g, &x, low_depth)
        }
        Word::And => {
            let (x, y) = (input(&mut g), input(&mut g));
            x.into_iter().zip(y).map(|(x, y)| g.and(x, y)).collect()
        }
        Word::Or => {
            let (x, y) = (input(&mut g), input(&mut g));
            x.into_iter().zip(y).map(|(x, y)| or(&mut g, x, y)).collect()
        }
        Word::Choose => {
            let c = g.input(1)[0];
            let (x, y) = (input(&mut g), input(&mut g));
            choose(&mut g, c, &x, &y)
        }
        Word::Zero => {
            let mut some = input(&mut g);
            while some.len() > 1 {
                let pair = |pair: &[BuildBit]| match pair {
                    [x, y] => or(&mut g, *x, *y),
                    _ => pair[0],
                };
                some = some.chunks(2).map(pair).collect();
            }
            vec![g.not(some[0])]
        }
        Word::Better { place, largest } => {
            let (x, y) = (input(&mut g), input(&mut g));
            let (of_x, of_y) = (g.input(place), g.input(place));
            // the second one only if it is better: of equal ones the first is kept
            let second =
                if largest { less(&mut g, &x, &y, low_depth) } else { less(&mut g, &y, &x, low_depth) };
            let mut out = choose(&mut g, second, &y, &x);
            out.extend(choose(&mut g, second, &of_y, &of_x));
            out
        }
        Word::Multiples { digit } => {
            let x = input(&mut g);
            quotient::multiples(&mut g, &x, digit, low_depth).concat()
        }
        Word::Step { dividend, digit, rest } => {
            let x = g.input(dividend);
            let mut odd = vec![g.input(width)];
            odd.resize_with(1 << digit >> 1, || g.input(width + digit));
            quotient::step(&mut g, &x, &odd, rest, low_depth)
        }
        Word::DivideBy(divisor) => {
            let x = input(&mut g);
            quotient::divide_by(&mut g, &x, divisor, low_depth)
        }
    };
    g.output(&out);
    g.finish()
}

fn or(g: &mut Build, x: BuildBit, y: BuildBit) -> BuildBit {
    let (sum, product) = (g.xor(x, y), g.and(x, y));
    g.xor(sum, product)
}

fn choose(g: &mut Build, c: BuildBit, x: &[BuildBit], y: &[BuildBit]) -> Vec<BuildBit> {
    x.iter().zip(y).map(|(x, y)| g.choose(c, *x, *y)).collect()
}

/// Combines two neighbouring spans of bits. A span has two bits: whether it generates a carry, and whether it
/// propagates one.
fn over(g: &mut Build, low: (BuildBit, BuildBit), high: (BuildBit, BuildBit)) -> (BuildBit, BuildBit) {
    let through = g.and(high.1, low.0);
    (g.xor(high.0, through), g.and(high.1, low.1))
}

/// x < y: exactly if x + (not y) + 1 has no carry.
fn less(g: &mut Build, x: &[BuildBit], y: &[BuildBit], low_depth: bool) -> BuildBit {
    if !low_depth {
        // the borrow of x - y
        let mut borrow = g.constant(false);
        for (x, y) in x.iter().zip(y) {
            let x = g.not(*x);
            borrow = g.majority(x, *y, borrow);
        }
        return borrow;
    }
    let mut spans: Vec<(BuildBit, BuildBit)> = Vec::with_capacity(x.len());
    for (x, y) in x.iter().zip(y) {
        let (not_x, differ) = (g.not(*x), g.xor(*x, *y));
        spans.push((g.and(not_x, *y), g.not(differ)));
    }
    while spans.len() > 1 {
        let pair = |pair: &[(BuildBit, BuildBit)]| match pair {
            [low, high] => over(g, *low, *high),
            _ => pair[0],
        };
        spans = spans.chunks(2).map(pair).collect();
    }
    spans.first().map_or_else(|| g.constant(false), |span| span.0)
}

/// x + y + carry modulo 2^W, and the carry out.
fn add(
    g: &mut Build,
    x: &[BuildBit],
    y: &[BuildBit],
    carry: bool,
    low_depth: bool,
) -> (Vec<BuildBit>, BuildBit) {
    let first = g.constant(carry);
    let sums: Vec<BuildBit> = x.iter().zip(y).map(|(x, y)| g.xor(*x, *y)).collect();
    if !low_depth {
        let mut carry = first;
        let mut out = Vec::with_capacity(sums.len());
        for ((x, y), sum) in x.iter().zip(y).zip(&sums) {
            out.push(g.xor(*sum, carry));
            carry = g.majority(*x, *y, carry);
        }
        return (out, carry);
    }
    // Sklansky's adder: after step s every bit has the carry that the bits from the beginning of its block of
    // 2^s generate
    let mut spans: Vec<(BuildBit, BuildBit)> = Vec::with_capacity(sums.len());
    for ((x, y), sum) in x.iter().zip(y).zip(&sums) {
        spans.push((g.and(*x, *y), *sum));
    }
    if let Some(span) = spans.first_mut() {
        let through = g.and(span.1, first);
        span.0 = g.xor(span.0, through);
    }
    let mut s = 0;
    while 1 << s < spans.len() {
        for j in (0..spans.len()).filter(|j| j >> s & 1 == 1) {
            spans[j] = over(g, spans[(j >> s << s) - 1], spans[j]);
        }
        s += 1;
    }
    let carries = std::iter::once(first).chain(spans.iter().map(|span| span.0));
    let out = sums.iter().zip(carries).map(|(sum, carry)| g.xor(*sum, carry)).collect();
    (out, spans.last().map_or(first, |span| span.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::plain;

    fn run(program: &Program, inputs: &[u64]) -> u64 {
        let widths = program.inputs().iter().zip(inputs);
        let wires: Vec<Vec<u64>> =
            widths.flat_map(|(width, x)| (0..*width).map(move |i| vec![x >> i & 1])).collect();
        let out = plain::run(program, &wires).unwrap();
        out.iter().rev().fold(0, |n, bit| n << 1 | bit[0] & 1)
    }

    /// Tests all pairs of words of up to five bits, in both forms.
    #[test]
    fn words_are_computed() {
        for low_depth in [false, true] {
            for width in [1, 2, 3, 5] {
                let of = |word| circuit(word, width, low_depth);
                let (less, add, sub) = (of(Word::Less), of(Word::Add), of(Word::Sub));
                let (and, or, choose) = (of(Word::And), of(Word::Or), of(Word::Choose));
                let (zero, negate) = (of(Word::Zero), of(Word::Negate));
                let (multiply, save, count) = (of(Word::Multiply), of(Word::Save), of(Word::Count));
                let best = |largest| of(Word::Better { place: 3, largest });
                let (smaller, larger) = (best(false), best(true));
                let mask = (1 << width) - 1;
                for divisor in 1..=mask {
                    let divide_by = of(Word::DivideBy(divisor));
                    (0..=mask).for_each(|x| assert_eq!(run(&divide_by, &[x]), x / divisor, "{x} {divisor}"));
                }
                for (x, y) in (0..=mask).flat_map(|x| (0..=mask).map(move |y| (x, y))) {
                    assert_eq!(run(&less, &[x, y]), u64::from(x < y));
                    assert_eq!(run(&add, &[x, y]), (x + y) & mask);
                    assert_eq!(run(&sub, &[x, y]), x.wrapping_sub(y) & mask);
                    assert_eq!(run(&multiply, &[x, y]), (x * y) & mask);
                    assert_eq!(run(&count, &[x]), u64::from(x.count_ones()));
                    for z in [0, 1, mask, x ^ y, mask / 2] {
                        let both = run(&save, &[x, y, z]);
                        let sum = (both & mask) + (both >> width);
                        assert_eq!(sum & mask, (x + y + z) & mask, "{x} {y} {z}");
                    }
                    assert_eq!((run(&and, &[x, y]), run(&or, &[x, y])), (x & y, x | y));
                    assert_eq!((run(&choose, &[1, x, y]), run(&choose, &[0, x, y])), (x, y));
                    assert_eq!(run(&zero, &[x]), u64::from(x == 0));
                    assert_eq!(run(&negate, &[x]), x.wrapping_neg() & mask);
                    let (second, first) = (y | 5 << width, x | 2 << width);
                    assert_eq!(run(&smaller, &[x, y, 2, 5]), if y < x { second } else { first });
                    assert_eq!(run(&larger, &[x, y, 2, 5]), if x < y { second } else { first });
                }
            }
        }
    }

    /// Tests all steps of a division, with every divisor of up to four bits and every dividend that a step
    /// can have, in both forms.
    #[test]
    fn steps_divide() {
        let of = |word, width, low_depth| circuit(word, width, low_depth);
        let ways = [false, true].into_iter().flat_map(|low| (1..=3).map(move |digit| (low, digit)));
        for ((low_depth, digit), width) in ways.flat_map(|way| (1..=4).map(move |width| (way, width))) {
            let whole = width + digit;
            let multiples = (digit > 1).then(|| of(Word::Multiples { digit }, width, low_depth));
            let all = |y: u64| {
                let all = multiples.as_ref().map_or(0, |multiples| run(multiples, &[y]));
                let odd = (0..(1 << digit >> 1) - 1).map(|i| all >> (i * whole) & ((1 << whole) - 1));
                odd.collect::<Vec<u64>>()
            };
            for y in 1..1 << width {
                let expected = (1..).map(|i| (2 * i + 1) * y);
                assert!(all(y).into_iter().zip(expected).all(|(found, expected)| found == expected));
            }
            for (dividend, rest) in (1..=whole).flat_map(|bits| [(bits, true), (bits, false)]) {
                let step = of(Word::Step { dividend, digit, rest }, width, low_depth);
                let kept = if rest { dividend.min(width) } else { 0 };
                for y in 1..1_u64 << width {
                    let odd = all(y);
                    for x in 0..(1_u64 << dividend).min(y << digit) {
                        let found = run(&step, &[&[x, y][..], &odd].concat());
                        let left = if rest { x % y } else { 0 };
                        assert_eq!(found, (x / y) << kept | left, "{x} {y} {digit} {dividend}");
                    }
                }
            }
        }
    }

    /// Tests the largest numbers, and those around multiples, for divisors of every length.
    #[test]
    fn quotients_by_known_numbers() {
        let all = [3, 7, 10, 200, 255, 257, 1000, 65_535, 65_537, 10_000_019];
        let wide = [3, 10, 1_000_003, (1 << 40) + 1, (1 << 60) / 3];
        let of = |width: usize| [(width, (1_u64 << width) - 1), (width, (1 << width) - 2)];
        let cases = all.map(|divisor| (30, divisor)).into_iter().chain(of(30)).chain(of(60));
        for (width, divisor) in cases.chain(wide.map(|divisor| (60, divisor))) {
            let most = (1_u64 << width) - 1;
            for low_depth in [false, true] {
                let by = circuit(Word::DivideBy(divisor), width, low_depth);
                let near = [1, 2, (most / divisor).div_ceil(2), most / divisor].map(|q| q * divisor);
                let all = near.into_iter().flat_map(|x| [x - 1, x, x + 1]).chain([0, most, most - 1]);
                all.filter(|x| *x <= most)
                    .for_each(|x| assert_eq!(run(&by, &[x]), x / divisor, "{x} {divisor}"));
                assert!(
                    !low_depth || by.and_depth() < if width == 30 { 20 } else { 26 },
                    "{divisor}: {}",
                    by.and_depth()
                );
            }
        }
    }

    #[test]
    fn words_cost_what_they_say() {
        let cost = |word, low_depth| {
            let program = circuit(word, 31, low_depth);
            (program.and_count(), program.and_depth())
        };
        assert_eq!((cost(Word::Less, false), cost(Word::Add, false)), ((31, 31), (30, 30)));
        assert_eq!((cost(Word::Zero, true), cost(Word::Choose, true)), ((30, 5), (31, 1)));
        let (ands, depth) = cost(Word::Less, true);
        assert_eq!((ands, depth), (86, 6));
    }
}
