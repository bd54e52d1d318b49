//! Random programs whose inputs have ranges, compared with exact integers, which are computed here as the
//! programs are made; and the same programs with one range that is one too large, refused at its line.

use crate::parties::compare;
use divisi_fuzz::repetitions;
use divisi_program::plain::Entries;
use divisi_program::{Script, text, valid};
use std::fmt::Write;

/// How large the numbers of a program are.
#[derive(Clone, Copy)]
struct Limits {
    /// The lines before the first statement.
    head: &'static str,
    /// The largest number.
    largest: i128,
    /// The largest number that is compared is below 2 to this.
    places: usize,
}

const NARROW: Limits = Limits { head: "divisi program 1\n", largest: 1_610_612_736, places: 30 };
const WIDE: Limits =
    Limits { head: "divisi program 1\nnumbers 61\n", largest: (1 << 61) - (1 << 45), places: 60 };

impl Limits {
    fn small(&self) -> i128 {
        (1 << self.places) - 1
    }
}

struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    /// A number of an interval: often one of its ends.
    fn within(&mut self, [low, high]: [i128; 2]) -> i128 {
        match self.below(4) {
            0 => low,
            1 => high,
            _ => low + ((i128::from(self.below(1 << 31) as u32) * (high - low + 1)) >> 31),
        }
    }

    /// An interval of numbers.
    fn interval(&mut self, limits: Limits) -> [i128; 2] {
        let size = (limits.largest >> self.below(limits.places - 2)).max(1);
        let ends = [self.within([-size, size]), self.within([-size, size])];
        [ends[0].min(ends[1]), ends[0].max(ends[1])]
    }
}

/// A named value: its numbers, which are those of bits if there is a width, and the interval that they are in
/// by what this file derives, for numbers.
#[derive(Clone)]
struct Known {
    name: String,
    width: usize,
    exact: Vec<i128>,
    bounds: [i128; 2],
}

/// A program's text that grows, with what it computes.
struct Grown {
    text: String,
    lines: usize,
    values: Vec<Known>,
    inputs: Vec<(Known, u8)>,
    draws: Draws,
    parties: u8,
    limits: Limits,
}

/// The bits of a word of this width.
fn mask(width: usize) -> i128 {
    (1 << width) - 1
}

/// Entries of every vector; some values have one entry.
const SIDE: usize = 3;

impl Grown {
    fn new(seed: u64, parties: u8, limits: Limits) -> Grown {
        let mut grown = Grown {
            text: limits.head.into(),
            lines: limits.head.lines().count(),
            values: Vec::new(),
            inputs: Vec::new(),
            draws: Draws(seed),
            parties,
            limits,
        };
        for _ in 0..4 {
            let bounds = grown.draws.interval(limits);
            grown.input(0, bounds);
        }
        for width in [7, 20] {
            let high = grown.draws.below(1 << width) as i128;
            grown.input(width, [high / 3, high]);
        }
        grown
    }

    /// The lowest bits of a number, as many as any number has.
    fn take_bits(&mut self, x: &Known) {
        let width = 1 + self.draws.below(self.limits.places);
        let exact = x.exact.iter().map(|x| x & mask(width)).collect();
        let [low, high] = x.bounds;
        let bounds = if low >= 0 && high <= mask(width) { x.bounds } else { [0, mask(width)] };
        self.define(width, &format!("bits {} {width}", x.name), exact, bounds);
    }

    fn line(&mut self, line: &str) -> usize {
        self.lines += 1;
        let _ = writeln!(self.text, "{line}");
        self.lines
    }

    fn input(&mut self, width: usize, bounds: [i128; 2]) -> Known {
        let name = format!("in{}", self.inputs.len());
        let owner = 1 + self.draws.below(self.parties.into()) as u8;
        let entries = if self.draws.below(3) == 0 { 1 } else { SIDE };
        let kind = if width == 0 { "num".into() } else { format!("bits {width}") };
        let line = format!("input {name} {owner} {kind} {entries} in {}..{}", bounds[0], bounds[1]);
        self.line(&line);
        let exact = (0..entries).map(|_| self.draws.within(bounds)).collect();
        let known = Known { name, width, exact, bounds };
        self.inputs.push((known.clone(), owner));
        self.values.push(known.clone());
        known
    }

    fn some(&mut self, is_num: bool) -> Known {
        let all: Vec<&Known> = self.values.iter().filter(|value| (value.width == 0) == is_num).collect();
        all[self.draws.below(all.len())].clone()
    }

    fn define(&mut self, width: usize, statement: &str, exact: Vec<i128>, bounds: [i128; 2]) {
        let name = format!("v{}", self.lines);
        self.line(&format!("{name} = {statement}"));
        self.values.push(Known { name, width, exact, bounds });
    }

    /// Adds a statement that fits the ranges, of one of several kinds; none if that kind does not fit.
    fn grow(&mut self) {
        let (x, y, w, v) = (self.some(true), self.some(true), self.some(false), self.some(false));
        let both = |f: &dyn Fn(i128, i128) -> i128| -> Vec<i128> {
            let entries = x.exact.len().max(y.exact.len());
            (0..entries).map(|i| f(x.exact[i % x.exact.len()], y.exact[i % y.exact.len()])).collect()
        };
        let each = |f: &dyn Fn(i128) -> i128| x.exact.iter().map(|x| f(*x)).collect::<Vec<i128>>();
        let words = |f: &dyn Fn(i128, i128) -> i128| -> Vec<i128> {
            let entries = w.exact.len().max(v.exact.len());
            (0..entries).map(|i| f(w.exact[i % w.exact.len()], v.exact[i % v.exact.len()])).collect()
        };
        let (a, b) = (&x.name, &y.name);
        let ([xl, xh], [yl, yh]) = (x.bounds, y.bounds);
        let corners = |f: &dyn Fn(i128, i128) -> i128| {
            let all = [f(xl, yl), f(xl, yh), f(xh, yl), f(xh, yh)];
            [*all.iter().min().unwrap(), *all.iter().max().unwrap()]
        };
        let fits = |bounds: [i128; 2], size: i128| -size <= bounds[0] && bounds[1] <= size;
        let (largest, most, places) = (self.limits.largest, self.limits.small(), self.limits.places);
        let small = |bounds| fits(bounds, most);
        match self.draws.below(26) {
            0 => {
                let bounds = corners(&|x, y| x + y);
                if fits(bounds, largest) {
                    self.define(0, &format!("add {a} {b}"), both(&|x, y| x + y), bounds);
                }
            }
            1 if x.name != y.name => {
                let bounds = corners(&|x, y| x - y);
                if fits(bounds, largest) {
                    self.define(0, &format!("sub {a} {b}"), both(&|x, y| x - y), bounds);
                }
            }
            2 if x.name != y.name => {
                let bounds = corners(&|x, y| x * y);
                if fits(bounds, largest) {
                    self.define(0, &format!("mul {a} {b}"), both(&|x, y| x * y), bounds);
                }
            }
            3 => self.define(0, &format!("neg {a}"), each(&|x| -x), [-xh, -xl]),
            4 => {
                let count = x.exact.len() as i128;
                if fits([xl * count, xh * count], largest) {
                    let sum = vec![x.exact.iter().sum()];
                    self.define(0, &format!("sum {a}"), sum, [xl * count, xh * count]);
                }
            }
            5..=8 if small(x.bounds) && small(y.bounds) && small(corners(&|x, y| x - y)) => {
                let (op, f): (_, &dyn Fn(i128, i128) -> bool) = match self.draws.below(3) {
                    0 => ("lt", &|x, y| x < y),
                    1 => ("le", &|x, y| x <= y),
                    _ => ("eq", &|x, y| x == y),
                };
                self.define(1, &format!("{op} {a} {b}"), both(&|x, y| f(x, y).into()), [0, 1]);
            }
            9 if small(x.bounds) => {
                let best = *x.exact.iter().max().unwrap();
                self.define(0, &format!("max {a}"), vec![best], x.bounds);
            }
            10 if small(x.bounds) => {
                let by = self.draws.below(places + 1);
                self.define(0, &format!("shift {a} -{by}"), each(&|x| x >> by), [xl >> by, xh >> by]);
            }
            11 => {
                let by = self.draws.below(12);
                if fits([xl << by, xh << by], largest) {
                    self.define(0, &format!("shift {a} {by}"), each(&|x| x << by), [xl << by, xh << by]);
                }
            }
            12 if small(x.bounds) => {
                let by = 1 + self.draws.below(1 << self.draws.0.leading_zeros().min(20)) as i128;
                let bounds = [xl.div_euclid(by), xh.div_euclid(by)];
                self.define(0, &format!("div {a} {by}"), each(&|x| x.div_euclid(by)), bounds);
            }
            13 if small(x.bounds) && yl >= 1 && yh <= most => {
                let bounds = corners(&|x, y| x.div_euclid(y));
                self.define(0, &format!("div {a} {b}"), both(&|x, y| x.div_euclid(y)), bounds);
            }
            14 if xl >= -most => self.take_bits(&x),
            15 if w.bounds[1] <= largest => {
                self.define(0, &format!("num {}", w.name), w.exact.clone(), w.bounds);
            }
            16 if w.width + v.width <= 90 => {
                let (width, exact) = (w.width + v.width, words(&|low, high| low | high << w.width));
                self.define(width, &format!("concat {} {}", w.name, v.name), exact, [0, mask(width)]);
            }
            17 => {
                let from = self.draws.below(w.width);
                let width = 1 + self.draws.below(w.width - from);
                let exact = w.exact.iter().map(|w| w >> from & mask(width)).collect();
                self.define(width, &format!("slice {} {from} {width}", w.name), exact, [0, mask(width)]);
            }
            18 => {
                let count = usize::BITS - w.width.leading_zeros();
                let exact = w.exact.iter().map(|w| w.count_ones().into()).collect();
                self.define(count as usize, &format!("popcount {}", w.name), exact, [0, w.width as i128]);
            }
            19 => {
                let sum: i128 = w.exact.iter().sum();
                let exact = vec![sum & mask(w.width)];
                self.define(w.width, &format!("sum {}", w.name), exact, [0, mask(w.width)]);
            }
            20 if w.width == v.width && w.width <= 60 => {
                let exact = words(&|w, v| w * v).iter().map(|product| product & mask(w.width)).collect();
                self.define(w.width, &format!("mul {} {}", w.name, v.name), exact, [0, mask(w.width)]);
            }
            21 if w.width == 1 => {
                let entries = w.exact.len().max(x.exact.len()).max(y.exact.len());
                let at = |from: &Vec<i128>, i: usize| from[i % from.len()];
                let chosen = |i| if at(&w.exact, i) == 1 { at(&x.exact, i) } else { at(&y.exact, i) };
                let exact = (0..entries).map(chosen).collect();
                let bounds = [xl.min(yl), xh.max(yh)];
                // whose bits are wanted, too, which changes how it is chosen, whatever its size
                let of_bits = self.draws.below(2) == 0 && xl.min(yl) >= -most;
                if of_bits {
                    self.take_bits(&x);
                    self.take_bits(&y);
                }
                self.define(0, &format!("select {} {a} {b}", w.name), exact, bounds);
                if let (true, Some(chosen)) = (of_bits, self.values.last().cloned()) {
                    self.take_bits(&chosen);
                }
            }
            22.. if small(x.bounds) && small(y.bounds) && small(corners(&|x, y| x - y)) => {
                self.choose(&x, &y)
            }
            _ => (),
        }
    }

    /// A choice by a comparison of what is chosen from, or of its negative: as in a size, or the larger one.
    fn choose(&mut self, x: &Known, y: &Known) {
        let negative = Known {
            name: format!("v{}", self.lines),
            exact: x.exact.iter().map(|x| -x).collect(),
            bounds: [-x.bounds[1], -x.bounds[0]],
            ..x.clone()
        };
        self.define(0, &format!("neg {}", x.name), negative.exact.clone(), negative.bounds);
        let (op, f): (_, fn(i128, i128) -> bool) = match self.draws.below(3) {
            0 => ("lt", |x, y| x < y),
            1 => ("le", |x, y| x <= y),
            _ => ("eq", |x, y| x == y),
        };
        let turned = self.draws.below(2) == 1;
        let (first, second) = if self.draws.below(2) == 1 { (x, y) } else { (y, x) };
        let entries = first.exact.len().max(second.exact.len());
        let at = |from: &Known, i: usize| from.exact[i % from.exact.len()];
        let bit = |i: usize| f(at(first, i), at(second, i)) != turned;
        let mut name = format!("v{}", self.lines);
        let plain = (0..entries).map(|i| i128::from(bit(i) != turned)).collect();
        self.define(1, &format!("{op} {} {}", first.name, second.name), plain, [0, 1]);
        if turned {
            let statement = format!("not {name}");
            name = format!("v{}", self.lines);
            self.define(1, &statement, (0..entries).map(|i| i128::from(bit(i))).collect(), [0, 1]);
        }
        let one = |draws: &mut Draws| [x, y, &negative][draws.below(3)].clone();
        let (yes, no) = (one(&mut self.draws), one(&mut self.draws));
        let exact = (0..entries).map(|i| if bit(i) { at(&yes, i) } else { at(&no, i) }).collect();
        let bounds = [yes.bounds[0].min(no.bounds[0]), yes.bounds[1].max(no.bounds[1])];
        self.define(0, &format!("select {name} {} {}", yes.name, no.name), exact, bounds);
    }

    /// The inputs, and the outputs with their exact numbers: the last few values.
    fn finish(mut self) -> (String, Vec<Entries>, Vec<Known>) {
        let outputs: Vec<Known> = self.values.iter().rev().take(6).cloned().collect();
        for (i, output) in outputs.iter().enumerate() {
            let receivers = if i % 2 == 0 { "1".to_owned() } else { format!("1,{}", self.parties) };
            self.line(&format!("output {} {receivers}", output.name));
        }
        let inputs = self.inputs.iter().map(|(input, _)| entries(input)).collect();
        (self.text, inputs, outputs)
    }
}

fn entries(known: &Known) -> Entries {
    match known.width {
        0 => Entries::Num(known.exact.iter().map(|x| i64::try_from(*x).unwrap()).collect()),
        width => {
            Entries::Bits(known.exact.iter().map(|x| (0..width).map(|i| x >> i & 1 == 1).collect()).collect())
        }
    }
}

fn read(text: &str) -> Result<Script, String> {
    text::read(text, &|_| Err("there are no circuits".into()))
}

/// A program of some 40 lines.
fn grown(seed: u64, parties: u8, limits: Limits) -> Grown {
    let mut grown = Grown::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), parties, limits);
    for _ in 0..40 {
        grown.grow();
    }
    grown
}

/// What the evaluation in the clear gives, and for some what runs among two to five parties give.
#[test]
fn random_programs_are_exact() {
    let (cases, runs) = repetitions((200, 5), (500, 500));
    programs_are_exact(NARROW, cases, runs);
}

/// The same with numbers of 61 bits.
#[test]
fn random_programs_of_wide_numbers_are_exact() {
    let (cases, runs) = repetitions((200, 3), (500, 500));
    programs_are_exact(WIDE, cases, runs);
}

fn programs_are_exact(limits: Limits, cases: u64, runs: u64) {
    for seed in 0..cases {
        let parties = 2 + (seed % 4) as u8;
        let (text, inputs, outputs) = grown(seed, parties, limits).finish();
        let program = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let clear = valid::evaluate(&program, &inputs).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for ((output, clear), of) in outputs.iter().zip(&clear).zip(program.outputs()) {
            assert!(*clear == entries(output), "{}\n{text}", output.name);
            let range = program.range(&of.value);
            let wrong = output.exact.iter().find(|x| !range.contains(**x));
            assert!(wrong.is_none(), "{} has {wrong:?}, not in {range}\n{text}", output.name);
        }
        if seed < runs {
            compare(parties.into(), &program, &inputs);
        }
    }
}

/// The last statement takes just what its inputs can be. With one of their ranges one larger it is refused,
/// at its line; and so is an input that is one beyond its range.
#[test]
fn ranges_violated_by_one_are_refused() {
    let cases = repetitions(60, 500);
    violated_by_one(NARROW, cases);
    violated_by_one(WIDE, cases);
}

fn violated_by_one(limits: Limits, cases: u64) {
    let (largest, small, all) = (limits.largest, limits.small(), format!("bits x {}", limits.places + 1));
    for seed in 0..cases {
        let mut grown = grown(seed + 1000, 3, limits);
        let size = (1 + grown.draws.below(1 << 29) as i128) << (limits.places - 30);
        let few = 1 + size % 30_000;
        // bounds of two inputs, the statement, which end of which input is beyond
        let (x, y, statement, (of_y, at_high)) = match seed % 8 {
            0 => ([-size, size], [size - largest, largest - size], "add x y", (true, true)),
            1 => ([-size, size], [size - largest, largest - size], "sub x y", (true, false)),
            2 => ([-few, few], [1, largest / few], "mul x y", (true, true)),
            3 => ([0, size], [size - small, 0], "lt x y", (false, true)),
            4 => ([-size, largest / 3], [0, 1], "sum x", (false, true)),
            5 => ([-small, size], [1, small], "div x y", (true, false)),
            6 => ([-size, small], [0, 1], "shift x -5", (false, true)),
            _ => ([0, largest], [0, 1], all.as_str(), (false, false)),
        };
        let mut kept = [x, y];
        for beyond in [false, true] {
            if beyond {
                kept[usize::from(of_y)][usize::from(at_high)] += if at_high { 1 } else { -1 };
            }
            let mut text = grown.text.clone();
            for (name, [low, high]) in ["x", "y"].iter().zip(kept) {
                let _ = writeln!(text, "input {name} 2 num 3 in {low}..{high}");
            }
            let line = text.lines().count() + 1;
            let _ = writeln!(text, "z = {statement}\nafter = add x 0\noutput z 1");
            let read = read(&text);
            if !beyond {
                assert!(read.is_ok(), "{}\n{text}", read.err().unwrap_or_default());
            } else {
                let error = read.err().unwrap_or_default();
                assert!(error.starts_with(&format!("line {line}: ")), "{line}: {error}\n{text}");
            }
        }
        // an input that is one beyond
        let place = grown.draws.below(grown.inputs.len());
        let (input, _) = &mut grown.inputs[place];
        let (last, high) = (input.exact.len() - 1, input.bounds[1]);
        if high < if input.width == 0 { largest } else { (1 << input.width) - 1 } {
            input.exact[last] = high + 1;
            let name = input.name.clone();
            let (text, inputs, _) = grown.finish();
            let error = valid::evaluate(&read(&text).unwrap(), &inputs).unwrap_err();
            assert!(
                error.starts_with(&format!("value {} of the input {name} is not from", last + 1)),
                "{error}"
            );
        }
    }
}
