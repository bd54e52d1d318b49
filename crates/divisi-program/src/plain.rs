//! Evaluation of a program in the clear: the reference for runs.
//!
//! It shares no code with [`crate::lower`]: numbers are integers, bits are lists of booleans.

mod words;

use crate::program::{Action, Constant, Input, Script, Statement, ValueKind};
use crate::shape::Shape;
use crate::size::NumberSize;
use divisi_circuit::{Program as Circuit, plain};
use std::cell::Cell;
use std::fmt;
use std::iter::repeat;
use words::{added, compare, multiplied, not};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The entries of a value. They may be a party's secret inputs: wiped when dropped, and never printed.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
#[expect(clippy::exhaustive_enums, reason = "whoever runs a program takes all of them")]
pub enum Entries {
    /// Numbers, from -(p-1)/2 to (p-1)/2.
    Num(Vec<i64>),
    /// The bits of each entry, the lowest first.
    Bits(Vec<Vec<bool>>),
}

/// Prints the kind and the number of entries.
impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entries::Num(numbers) => write!(f, "{} numbers", numbers.len()),
            Entries::Bits(bits) => write!(f, "{} words of bits", bits.len()),
        }
    }
}

impl Entries {
    pub(crate) fn num(&self) -> &[i64] {
        match self {
            Entries::Num(numbers) => numbers,
            Entries::Bits(_) => &[],
        }
    }

    fn bits(&self) -> &[Vec<bool>] {
        match self {
            Entries::Bits(bits) => bits,
            Entries::Num(_) => &[],
        }
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Entries::Num(numbers) => numbers.len(),
            Entries::Bits(bits) => bits.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn gather(&self, places: &[usize]) -> Entries {
        match self {
            Entries::Num(numbers) => Entries::Num(places.iter().map(|i| numbers[*i]).collect()),
            Entries::Bits(bits) => Entries::Bits(places.iter().map(|i| bits[*i].clone()).collect()),
        }
    }

    /// These entries, repeated in a larger shape.
    pub(crate) fn wide(&self, own: &Shape, wide: &Shape) -> Entries {
        own.places(wide).map_or_else(|| self.clone(), |places| self.gather(&places))
    }
}

/// Reduces the results of one statement modulo p, entry after entry, and notes the first one that it changes.
struct Modulus {
    size: NumberSize,
    reduced: Cell<usize>,
    wrapped: Cell<Option<usize>>,
}

impl Modulus {
    fn new(size: NumberSize) -> Modulus {
        Modulus { size, reduced: Cell::default(), wrapped: Cell::default() }
    }

    /// A sum of products and one more. A sum that is so large that it could become one beyond 128 bits is
    /// reduced before; ranges exclude that, but not everything is evaluated within them.
    fn plus(&self, sum: i128, product: i128) -> i128 {
        let p = i128::from(self.size.modulus());
        product + if sum.unsigned_abs() >> 120 == 0 { sum } else { sum % p }
    }

    /// The residue modulo p that is nearest to zero.
    fn reduced(&self, x: i128) -> i64 {
        let (p, largest) = (i128::from(self.size.modulus()), i128::from(self.size.largest()));
        if x.unsigned_abs() > largest.unsigned_abs() && self.wrapped.get().is_none() {
            self.wrapped.set(Some(self.reduced.get()));
        }
        self.reduced.set(self.reduced.get() + 1);
        let x = x.rem_euclid(p);
        (if x > largest { x - p } else { x }) as i64
    }
}

/// The outputs, in order. `inputs` has the entries of each input, in order; their number and kind must be
/// those of the input ([`fits`]).
///
/// # Errors
/// If the number of inputs is wrong, an input does not fit (the message has its name), or a divisor is not
/// above 0.
pub fn evaluate(program: &Script, inputs: &[Entries]) -> Result<Vec<Entries>, String> {
    evaluate_with(program, inputs, &mut |_, _| Ok(()))
}

/// What is known of a statement before and after it is evaluated.
pub(crate) enum Stage<'v> {
    /// The values so far.
    Before(&'v [Entries]),
    /// The first entry of its first result that was reduced modulo p, if there is one.
    After(Option<usize>),
}

/// Like [`evaluate`]; `see` is called before and after each statement.
pub(crate) fn evaluate_with(
    program: &Script,
    inputs: &[Entries],
    see: &mut dyn FnMut(&Statement, Stage<'_>) -> Result<(), String>,
) -> Result<Vec<Entries>, String> {
    if inputs.len() != program.inputs.len() {
        return Err(format!(
            "{} inputs are given, but the program takes {}",
            inputs.len(),
            program.inputs.len()
        ));
    }
    let mut values: Vec<Entries> = vec![Entries::Num(Vec::new()); program.values.len()];
    for (input, entries) in program.inputs.iter().zip(inputs) {
        fits(program, input, entries)?;
        values[input.value.id] = entries.clone();
    }
    for statement in &program.statements {
        if matches!(statement.op, Action::Input) {
            continue;
        }
        see(statement, Stage::Before(&values))?;
        let modulus = Modulus::new(program.numbers);
        let results = step(program, statement, &values, &modulus)?;
        see(statement, Stage::After(modulus.wrapped.get()))?;
        for (id, entries) in statement.results.iter().zip(results) {
            values[*id] = entries;
        }
    }
    Ok(program.outputs.iter().map(|output| values[output.value.id].clone()).collect())
}

/// Checks that entries fit an input of a program.
///
/// # Errors
/// A message that says what is wrong, with the input's name.
pub fn fits(program: &Script, input: &Input, entries: &Entries) -> Result<(), String> {
    let (name, kind, shape) = (&input.name, input.value.kind(), input.value.shape());
    let largest = program.numbers.largest().unsigned_abs();
    if entries.len() != shape.entries() {
        let (given, wanted) = (entries.len(), shape.entries());
        return Err(format!("the input {name} takes {wanted} values, and {given} are given"));
    }
    let right = match (kind, entries) {
        (ValueKind::Num, Entries::Num(numbers)) => numbers.iter().all(|x| x.unsigned_abs() <= largest),
        (ValueKind::Bits(width), Entries::Bits(bits)) => bits.iter().all(|bits| bits.len() == width),
        _ => false,
    };
    if right {
        Ok(())
    } else {
        Err(format!("the input {name} takes {kind}, and values of another kind are given"))
    }
}

fn step(
    program: &Script,
    statement: &Statement,
    values: &[Entries],
    modulus: &Modulus,
) -> Result<Vec<Entries>, String> {
    let reduced = |x: i128| modulus.reduced(x);
    let arg = |i: usize| &values[statement.args[i]];
    let shape_of = |i: usize| program.value(statement.args[i]).shape();
    let Some(out) = statement.results.first().map(|id| program.value(*id)) else { return Ok(Vec::new()) };
    let shape = out.shape();
    let width = match out.kind() {
        ValueKind::Num => 0,
        ValueKind::Bits(width) => width,
    };
    // an argument, expanded to as many entries as the result has
    let wide = |i: usize| arg(i).wide(shape_of(i), shape);
    let numbers = |f: &dyn Fn(i64, i64) -> i64| {
        let (x, y) = (wide(0), wide(1));
        Entries::Num(x.num().iter().zip(y.num()).map(|(x, y)| f(*x, *y)).collect())
    };
    let words = |f: &dyn Fn(&[bool], &[bool]) -> Vec<bool>| {
        let (x, y) = (wide(0), wide(1));
        Entries::Bits(x.bits().iter().zip(y.bits()).map(|(x, y)| f(x, y)).collect())
    };
    let is_num = matches!(program.value(*statement.args.first().unwrap_or(&0)).kind(), ValueKind::Num);
    let compared = |f: &dyn Fn(std::cmp::Ordering) -> bool| {
        let (x, y) = (wide(0), wide(1));
        let numbers = x.num().iter().zip(y.num()).map(|(x, y)| vec![f(x.cmp(y))]);
        let words = x.bits().iter().zip(y.bits()).map(|(x, y)| vec![f(compare(x, y))]);
        Entries::Bits(numbers.chain(words).collect())
    };
    let one = match &statement.op {
        Action::Input | Action::Assume(_) => return Ok(Vec::new()),
        Action::Constant(Constant::Num(numbers)) => Entries::Num(numbers.clone()),
        Action::Constant(Constant::Bits(words)) => Entries::Bits(words.clone()),
        Action::Add if is_num => numbers(&|x, y| reduced(i128::from(x) + i128::from(y))),
        Action::Sub if is_num => numbers(&|x, y| reduced(i128::from(x) - i128::from(y))),
        Action::Add => words(&|x, y| added(x, y, false)),
        Action::Sub => words(&|x, y| added(x, &not(y), true)),
        Action::Mul if is_num => numbers(&|x, y| reduced(i128::from(x) * i128::from(y))),
        Action::Mul => words(&multiplied),
        Action::Neg if is_num => Entries::Num(arg(0).num().iter().map(|x| -x).collect()),
        Action::Neg => {
            let negative = |x: &Vec<bool>| added(&not(x), &vec![false; x.len()], true);
            Entries::Bits(arg(0).bits().iter().map(negative).collect())
        }
        Action::Sum if !is_num => {
            let sum = |row: &[Vec<bool>]| {
                let none = vec![false; row.first().map_or(0, Vec::len)];
                row.iter().fold(none, |sum, word| added(&sum, word, false))
            };
            Entries::Bits(arg(0).bits().chunks_exact(shape_of(0).last()).map(sum).collect())
        }
        Action::Sum => {
            let rows = arg(0).num().chunks_exact(shape_of(0).last());
            Entries::Num(rows.map(|row| reduced(row.iter().map(|x| i128::from(*x)).sum())).collect())
        }
        Action::Min | Action::Max => {
            return Ok(extreme(arg(0), shape_of(0).last(), matches!(statement.op, Action::Max)));
        }
        Action::MatMul => {
            let (inner, columns) = (shape_of(0).last(), shape_of(1).last());
            let (x, y) = (arg(0).num(), arg(1).num());
            let entry = |at: usize| {
                let term = |k: usize| {
                    i128::from(x[at / columns * inner + k]) * i128::from(y[k * columns + at % columns])
                };
                reduced((0..inner).map(term).fold(0, |sum, term| modulus.plus(sum, term)))
            };
            Entries::Num((0..shape.entries()).map(entry).collect())
        }
        Action::Reshape => arg(0).clone(),
        Action::Gather(places) => arg(0).gather(places),
        Action::Lt => compared(&|order| order.is_lt()),
        Action::Le => compared(&|order| order.is_le()),
        Action::Eq => compared(&|order| order.is_eq()),
        Action::Select => {
            let (c, x, y) = (wide(0), wide(1), wide(2));
            let chosen = c.bits().iter().enumerate().map(|(i, c)| if c[0] { (&x, i) } else { (&y, i) });
            match out.kind() {
                ValueKind::Num => Entries::Num(chosen.map(|(from, i)| from.num()[i]).collect()),
                ValueKind::Bits(_) => Entries::Bits(chosen.map(|(from, i)| from.bits()[i].clone()).collect()),
            }
        }
        Action::Xor => words(&|x, y| x.iter().zip(y).map(|(x, y)| x ^ y).collect()),
        Action::And => words(&|x, y| x.iter().zip(y).map(|(x, y)| x & y).collect()),
        Action::Or => words(&|x, y| x.iter().zip(y).map(|(x, y)| x | y).collect()),
        Action::Not => Entries::Bits(arg(0).bits().iter().map(|x| not(x)).collect()),
        Action::Slice(from) => {
            let piece = |word: &Vec<bool>| word.iter().skip(*from).take(width).copied().collect();
            Entries::Bits(arg(0).bits().iter().map(piece).collect())
        }
        Action::Widen => {
            let wider = |word: &Vec<bool>| word.iter().copied().chain(repeat(false)).take(width).collect();
            Entries::Bits(arg(0).bits().iter().map(wider).collect())
        }
        Action::Popcount => {
            let count = |word: &Vec<bool>| word.iter().filter(|bit| **bit).count();
            let word = |word: &Vec<bool>| (0..width).map(|i| count(word) >> i & 1 == 1).collect();
            Entries::Bits(arg(0).bits().iter().map(word).collect())
        }
        Action::Concat => {
            let all: Vec<Entries> = (0..statement.args.len()).map(wide).collect();
            let word = |i: usize| all.iter().flat_map(|word| word.bits()[i].iter().copied()).collect();
            Entries::Bits((0..shape.entries()).map(word).collect())
        }
        Action::Bits => {
            let bits = |x: &i64| (0..width).map(|i| x >> i & 1 == 1).collect();
            Entries::Bits(arg(0).num().iter().map(bits).collect())
        }
        Action::Num => {
            let number = |x: &Vec<bool>| reduced(x.iter().rev().fold(0, |n, bit| n << 1 | i128::from(*bit)));
            Entries::Num(arg(0).bits().iter().map(number).collect())
        }
        Action::Shift(by) => shifted(arg(0), *by, modulus),
        Action::Div => {
            if wide(1).num().iter().any(|y| *y <= 0) {
                return Err("a division by a number that is not above 0".into());
            }
            numbers(&|x, y| x.div_euclid(y))
        }
        Action::Lookup => look_up(arg(0).num(), arg(1), shape_of(0).last()),
        Action::Circuit(circuit) | Action::Garbled(circuit) => {
            let args: Vec<Entries> = (0..statement.args.len()).map(wide).collect();
            return run(circuit, &args, shape.entries());
        }
    };
    Ok(vec![one])
}

fn extreme(x: &Entries, side: usize, largest: bool) -> Vec<Entries> {
    let better = |order: std::cmp::Ordering| if largest { order.is_gt() } else { order.is_lt() };
    let order = |i: usize, j: usize| match x {
        Entries::Num(x) => x[i].cmp(&x[j]),
        Entries::Bits(x) => compare(&x[i], &x[j]),
    };
    let rows = x.len() / side;
    let best = |row: usize| {
        let first = row * side;
        (first + 1..first + side).fold(first, |best, i| if better(order(i, best)) { i } else { best })
    };
    let places: Vec<usize> = (0..rows).map(best).collect();
    let numbers = places.iter().enumerate().map(|(row, at)| (at - row * side) as i64).collect();
    vec![x.gather(&places), Entries::Num(numbers)]
}

fn shifted(x: &Entries, by: i32, modulus: &Modulus) -> Entries {
    let places = by.unsigned_abs() as usize;
    match x {
        Entries::Num(x) => Entries::Num(
            x.iter()
                .map(|x| if by < 0 { x >> places } else { modulus.reduced(i128::from(*x) << places) })
                .collect(),
        ),
        Entries::Bits(x) => {
            let from = |bits: &[bool], i: usize| {
                let i = if by < 0 { i.checked_add(places) } else { i.checked_sub(places) };
                i.and_then(|i| bits.get(i)).copied().unwrap_or(false)
            };
            Entries::Bits(x.iter().map(|bits| (0..bits.len()).map(|i| from(bits, i)).collect()).collect())
        }
    }
}

fn look_up(tables: &[i64], index: &Entries, entries: usize) -> Entries {
    let most = entries.next_power_of_two() as u64 - 1;
    let places: Vec<usize> = match index {
        Entries::Num(index) => index.iter().map(|i| (*i as u64 & most) as usize).collect(),
        Entries::Bits(index) => {
            index.iter().map(|bits| bits.iter().rev().fold(0, |n, bit| n << 1 | usize::from(*bit))).collect()
        }
    };
    let all = tables.len() / entries;
    let table = |i: usize| &tables[if all == 1 { 0..entries } else { i * entries..(i + 1) * entries }];
    Entries::Num(places.iter().enumerate().map(|(i, at)| table(i).get(*at).copied().unwrap_or(0)).collect())
}

fn run(circuit: &Circuit, args: &[Entries], lanes: usize) -> Result<Vec<Entries>, String> {
    let mut wires = Vec::with_capacity(circuit.input_bits());
    for (arg, width) in args.iter().zip(circuit.inputs()) {
        for i in 0..*width {
            let mut words = vec![0_u64; lanes.div_ceil(64)];
            for (lane, bits) in arg.bits().iter().enumerate() {
                words[lane / 64] |= u64::from(bits[i]) << (lane % 64);
            }
            wires.push(words);
        }
    }
    let out = plain::run(circuit, &wires).map_err(|misfit| misfit.to_string())?;
    let mut rest = out.as_slice();
    let mut values = Vec::new();
    for width in circuit.outputs() {
        let (own, others) = rest.split_at(*width);
        rest = others;
        let entry = |lane: usize| {
            own.iter()
                .map(|w| w.get(lane / 64).or(w.first()).map_or(0, |w| w >> (lane % 64)) & 1 == 1)
                .collect()
        };
        values.push(Entries::Bits((0..lanes).map(entry).collect()));
    }
    Ok(values)
}
