//! The text format of programs: one statement on each line, no nesting, and each name is defined once.
//!
//! ```text
//! divisi program 1
//! # numbers 61, here, makes numbers of 61 bits instead of 31
//! input  query  1  num 1x4    in -8191..8191    # party 1's
//! input  base   2  num 256x4  below 8192
//! diff       = sub base query
//! square     = mul diff diff
//! dist       = sum square
//! best place = min dist
//! output place 1,3
//! ```

mod constant;
mod head;
mod word;

use crate::literal::{self, integer};
use crate::program::{Arg, ProgramError, Script, Value, ValueKind, WIDEST};
use crate::shape::Shape;
use crate::size::NumberSize;
use constant::bits_of;
use divisi_circuit::Program as Circuit;
use std::collections::HashMap;
use std::sync::Arc;
use word::{name, party, range, short};

/// The largest length of a line in bytes.
pub const LINE: usize = 1 << 20;
/// The operations on one word of bits.
const OF_BITS: [&str; 5] = ["not", "num", "popcount", "slice", "widen"];
/// The first line.
const HEAD: [&str; 3] = ["divisi", "program", "1"];

/// Finds a circuit by its name or by its file.
pub type Circuits<'c> = &'c dyn Fn(&str) -> Result<Arc<Circuit>, ProgramError>;

/// Reads a program. `circuits` finds the circuits that it names.
///
/// # Errors
/// A sentence about the first wrong line, with its number; it says so if the program were right with larger
/// numbers.
pub fn read(text: &str, circuits: Circuits<'_>) -> Result<Script, ProgramError> {
    let read = |size| read_with(text, circuits, size);
    read(NumberSize::default()).map_err(|error| head::proposing(error, |size| read(size).is_ok()))
}

/// The same with numbers of this size where the text says nothing about them.
fn read_with(text: &str, circuits: Circuits<'_>, numbers: NumberSize) -> Result<Script, ProgramError> {
    let program = Script::of_numbers(numbers);
    let mut reader =
        Reader { program, names: HashMap::new(), circuits, found: HashMap::new(), line: 0, is_at_head: true };
    let mut begun = false;
    let mut last = 0;
    // some editors begin a text with a byte order mark
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        let at = |what: ProgramError| format!("line {number}: {what}");
        last = number;
        reader.line = number;
        if line.len() > LINE {
            return Err(at(format!("a line of {} bytes: lines have at most {LINE}", line.len())));
        }
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if !begun {
            if words != HEAD {
                return Err(at("a program begins with the line `divisi program 1`".into()));
            }
            begun = true;
            continue;
        }
        reader.statement(&words).and_then(|()| reader.program.check_size()).map_err(at)?;
    }
    if !begun {
        return Err("line 1: a program begins with the line `divisi program 1`".into());
    }
    if reader.program.outputs().is_empty() {
        return Err(format!("line {last}: the program has no output: end with `output NAME PARTIES`"));
    }
    Ok(reader.program)
}

struct Reader<'c> {
    program: Script,
    names: HashMap<String, Value>,
    circuits: Circuits<'c>,
    /// Those that were found, by their names.
    found: HashMap<String, Arc<Circuit>>,
    /// The number of the line that is being read.
    line: usize,
    /// Whether no statement has been read.
    is_at_head: bool,
}

impl Reader<'_> {
    fn statement(&mut self, words: &[&str]) -> Result<(), ProgramError> {
        let is_at_head = std::mem::replace(&mut self.is_at_head, false);
        if let Some(equals) = words.iter().position(|word| *word == "=") {
            let (names, rest) = (&words[..equals], &words[equals + 1..]);
            let Some((op, args)) = rest.split_first() else {
                return Err("nothing follows =".into());
            };
            let results = self.operation(op, args)?;
            return self.give(names, results, op);
        }
        match words {
            ["input", rest @ ..] => self.input(rest),
            ["output", rest @ ..] => self.output(rest),
            ["assume", rest @ ..] => self.assume(rest),
            ["numbers", rest @ ..] => self.numbers(rest, is_at_head),
            [word, ..] => Err(format!(
                "{} is not a statement: a line begins with `input`, `assume`, `output` or NAME =",
                short(word)
            )),
            [] => Ok(()),
        }
    }

    /// How large numbers are, in the head of a program.
    fn numbers(&mut self, words: &[&str], is_at_head: bool) -> Result<(), ProgramError> {
        if !is_at_head {
            return Err("`numbers` stands once, and before all other statements: move it up".into());
        }
        self.program.numbers = head::size(words)?;
        Ok(())
    }

    /// Names the results of a statement. Trailing results without a name are dropped.
    fn give(&mut self, names: &[&str], mut results: Vec<Value>, op: &str) -> Result<(), ProgramError> {
        results.iter().for_each(|result| self.program.note_source(result, self.line, None));
        if names.len() == 1 && matches!(op, "min" | "max") {
            results.truncate(1);
        }
        if names.len() != results.len() {
            return Err(format!(
                "{op} gives {} values, and {} names stand before =",
                results.len(),
                names.len()
            ));
        }
        for (word, value) in names.iter().zip(results) {
            self.define(word, value)?;
        }
        Ok(())
    }

    fn define(&mut self, word: &str, value: Value) -> Result<(), ProgramError> {
        self.program.note_source(&value, self.line, Some(word));
        if self.names.insert(name(word)?.to_owned(), value).is_some() {
            return Err(format!("the name {word} is used already"));
        }
        Ok(())
    }

    fn input(&mut self, words: &[&str]) -> Result<(), ProgramError> {
        let form = || {
            ProgramError::from(
                "an input is `input NAME PARTY num SHAPE` or `input NAME PARTY bits W SHAPE`, and `in LOW..HIGH` or \
                 `below N` may follow",
            )
        };
        let [word, owner, rest @ ..] = words else { return Err(form()) };
        let end = rest.iter().position(|word| matches!(*word, "in" | "below")).unwrap_or(rest.len());
        let (rest, bounds) = rest.split_at(end);
        let (kind, shape) = match rest {
            ["num", shape @ ..] => (ValueKind::Num, shape),
            ["bits", width, shape @ ..] => (bits_of(width)?, shape),
            _ => return Err(form()),
        };
        let shape = match shape {
            [] => Shape::one(),
            [shape] => shape.parse()?,
            _ => return Err(form()),
        };
        let bounds = if bounds.is_empty() { None } else { Some(range(bounds)?) };
        let owner = party(owner)?;
        if self.names.contains_key(name(word)?) {
            return Err(format!("the name {word} is used already"));
        }
        let value = self.program.input_within(word, owner, kind, shape, bounds)?;
        self.program.name_party(owner, self.line);
        self.define(word, value)
    }

    fn assume(&mut self, words: &[&str]) -> Result<(), ProgramError> {
        let Some((word, bounds)) = words.split_first() else {
            return Err("an assumption is `assume NAME in LOW..HIGH` or `assume NAME below N`".into());
        };
        let (value, bounds) = (self.named(word)?, range(bounds)?);
        self.program.assume_within(&value, bounds, Some(self.line))
    }

    fn output(&mut self, words: &[&str]) -> Result<(), ProgramError> {
        let (word, parties) = match words {
            [word, parties] => (word, parties),
            [word] => {
                return Err(format!("the output {} has no receiver: give parties, as 1,3", short(word)));
            }
            _ => return Err("an output is `output NAME PARTIES`, the parties as 1,3".into()),
        };
        let value = self.named(word)?;
        let receivers = parties.split(',').map(party).collect::<Result<Vec<u8>, ProgramError>>()?;
        self.program.output(word, &value, &receivers)?;
        receivers.iter().for_each(|party| self.program.name_party(*party, self.line));
        Ok(())
    }

    fn named(&self, word: &str) -> Result<Value, ProgramError> {
        let value = self.names.get(word).cloned();
        value.ok_or_else(|| match name(word) {
            Ok(_) => format!("{} is used before it is defined", short(word)),
            Err(error) => error,
        })
    }

    fn arg(&self, word: &str) -> Result<Arg, ProgramError> {
        if let Some(number) = integer(word) {
            return Ok(Arg::Integer(number));
        }
        if let Some(bits) = literal::unsigned(word) {
            return Ok(Arg::Word(bits));
        }
        if word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return Err(format!(
                "{} is not an integer: give decimal digits, up to 128 bits, or 0x and hexadecimal ones",
                short(word)
            ));
        }
        self.named(word).map(Arg::Value)
    }

    fn args<const N: usize>(&self, op: &str, words: &[&str]) -> Result<[Arg; N], ProgramError> {
        let args = words.iter().map(|word| self.arg(word)).collect::<Result<Vec<Arg>, ProgramError>>()?;
        let given = args.len();
        args.try_into().map_err(|_| format!("{op} takes {N} arguments, and {given} are given"))
    }

    /// An argument that has no other beside it: an integer is a number.
    fn value(&mut self, word: &str) -> Result<Value, ProgramError> {
        match self.arg(word)? {
            Arg::Value(value) => Ok(value),
            other => self.program.made(&other, ValueKind::Num),
        }
    }

    /// The first argument, and what follows it.
    fn value_and<'w>(
        &mut self,
        op: &str,
        words: &'w [&'w str],
    ) -> Result<(Value, &'w [&'w str]), ProgramError> {
        let Some((first, rest)) = words.split_first() else {
            return Err(format!("{op} takes a name"));
        };
        if OF_BITS.contains(&op) && literal::unsigned(first).is_some() {
            return Err(no_width(first));
        }
        Ok((self.value(first)?, rest))
    }

    fn operation(&mut self, op: &str, words: &[&str]) -> Result<Vec<Value>, ProgramError> {
        let one = |value: Result<Value, ProgramError>| value.map(|value| vec![value]);
        let alone = |rest: &[&str]| match rest {
            [] => Ok(()),
            _ => Err(format!("{op} takes one name")),
        };
        match op {
            "const" => one(self.constant(words)),
            "add" | "sub" | "mul" | "lt" | "le" | "eq" | "xor" | "and" | "or" | "div" => {
                let [x, y] = self.args(op, words)?;
                let program = &mut self.program;
                one(match op {
                    "add" => program.add(x, y),
                    "sub" => program.sub(x, y),
                    "mul" => program.mul(x, y),
                    "lt" => program.lt(x, y),
                    "le" => program.le(x, y),
                    "eq" => program.eq(x, y),
                    "xor" => program.xor(x, y),
                    "and" => program.and(x, y),
                    "or" => program.or(x, y),
                    _ => program.div(x, y),
                })
            }
            "neg" => {
                let [x] = self.args(op, words)?;
                one(self.program.neg(x))
            }
            "select" => {
                let [c, x, y] = self.args(op, words)?;
                let c = self.program.made(&c, ValueKind::Bits(1))?;
                one(self.program.select(&c, x, y))
            }
            "sum" | "min" | "max" | "not" | "num" | "popcount" => {
                let (x, rest) = self.value_and(op, words)?;
                alone(rest)?;
                match op {
                    "sum" => one(self.program.sum(&x)),
                    "min" => self.program.min(&x).map(Vec::from),
                    "max" => self.program.max(&x).map(Vec::from),
                    "not" => one(self.program.not(&x)),
                    "popcount" => one(self.program.popcount(&x)),
                    _ => one(self.program.num(&x)),
                }
            }
            "matmul" | "lookup" => {
                let [x, y] = words else { return Err(format!("{op} takes two names")) };
                let (x, y) = (self.value(x)?, self.value(y)?);
                one(if op == "matmul" { self.program.matmul(&x, &y) } else { self.program.lookup(&x, &y) })
            }
            "reshape" => {
                let (x, rest) = self.value_and(op, words)?;
                let [shape] = rest else { return Err("reshape takes a name and a shape, as 2x3".into()) };
                one(self.program.reshape(&x, shape.parse()?))
            }
            "gather" => {
                let (x, rest) = self.value_and(op, words)?;
                let place = |word: &&str| {
                    word.parse().map_err(|_| format!("{} is not a place: give a number from 0", short(word)))
                };
                let places = rest.iter().map(place).collect::<Result<Vec<usize>, ProgramError>>()?;
                one(self.program.gather(&x, &places))
            }
            "bits" | "shift" | "widen" => {
                let (x, rest) = self.value_and(op, words)?;
                let by = match rest {
                    [by] => integer(by),
                    _ => None,
                };
                let by = by.ok_or_else(|| format!("{op} takes a name and an integer of at most 64 bits"))?;
                if op == "shift" {
                    return one(self.program.shift(&x, by));
                }
                let width = usize::try_from(by);
                if op == "bits" {
                    let width = width.map_err(|_| self.program.no_width(by))?;
                    return one(self.program.bits(&x, width));
                }
                let width = width.map_err(|_| format!("a value of {by} bits: it has 1 to {WIDEST}"))?;
                one(self.program.widen(&x, width))
            }
            "slice" => {
                let (x, rest) = self.value_and(op, words)?;
                let number = |word: &str| word.parse::<usize>().ok();
                let (from, width) = match rest {
                    [from, width] => number(from).zip(number(width)),
                    _ => None,
                }
                .ok_or("slice takes a name, the lowest bit, from 0, and how many bits: `slice x 8 4`")?;
                one(self.program.slice(&x, from, width))
            }
            "concat" => {
                let words = words.iter().map(|word| match self.arg(word)? {
                    Arg::Value(value) => Ok(value),
                    _ => Err(no_width(word)),
                });
                let words = words.collect::<Result<Vec<Value>, ProgramError>>()?;
                one(self.program.concat(&words.iter().collect::<Vec<&Value>>()))
            }
            "circuit" | "garbled" => {
                let Some((circuit, args)) = words.split_first() else {
                    return Err(format!("{op} takes the name of a circuit, or of its file, and values"));
                };
                let circuit = self.circuit(circuit)?;
                let args =
                    args.iter().map(|word| self.arg(word)).collect::<Result<Vec<Arg>, ProgramError>>()?;
                if op == "circuit" {
                    self.program.circuit(&circuit, &args)
                } else {
                    self.program.garbled(&circuit, &args)
                }
            }
            _ => Err(format!("{} is not an operation: docs/programs.md lists all", short(op))),
        }
    }

    /// The circuit of a name, which is found once however many statements name it.
    fn circuit(&mut self, name: &str) -> Result<Arc<Circuit>, ProgramError> {
        if let Some(found) = self.found.get(name) {
            return Ok(found.clone());
        }
        let found = (self.circuits)(name)?;
        self.found.insert(name.to_owned(), found.clone());
        Ok(found)
    }
}

/// The refusal of an integer where bits are wanted.
fn no_width(word: &str) -> ProgramError {
    format!("the width of {} is unknown: name it by `const bits W`", short(word))
}
