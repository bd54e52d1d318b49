//! The reader of both formats.

use crate::build::{Bit, Build};
use crate::gates::Gates;
use crate::program::Program;
use std::fmt;
use std::iter::Peekable;
use std::ops::Range;

/// Wires that a file may declare beyond what its length bears out. An input wire that no gate reads stands nowhere in the
/// file: a small file may take a wide value and use little of it.
const UNREAD_WIRES: usize = 1 << 16;

/// The longest file, in bytes: what it can declare fits the builder.
const LONGEST: usize = 1 << 31;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    line: usize,
    reason: String,
}

impl Error {
    /// The line, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Error {}

/// The two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The newer one.
    Fashion,
    /// The older one: two inputs, one output.
    Older,
}

/// How many gates of each name a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sums.
    pub xor: usize,
    /// Products, those of `MAND` included.
    pub and: usize,
    /// Negations.
    pub inv: usize,
    /// Constants.
    pub eq: usize,
    /// Copies.
    pub eqw: usize,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The circuit, with every sum and product of the file.
    pub program: Program,
    /// What the file has.
    pub counts: Counts,
    /// How it is written.
    pub format: Format,
}

/// Reads a circuit in either format. Memory and time are proportional to the length of the file, whatever it declares.
///
/// # Errors
/// [`Error`] names the first line that is not understood, reads a wire that no line above it writes (so also: a circle),
/// writes a wire twice, or declares what the file does not have.
pub fn read(file: &[u8]) -> Result<Source, Error> {
    if file.len() > LONGEST {
        return Err(Error { line: 1, reason: format!("files of more than {LONGEST} bytes are not read") });
    }
    let lines = Lines { rest: file, number: 0 };
    let mut reader = Reader::header(lines.peekable(), file.len())?;
    reader.gates()?;
    reader.finish()
}

/// A line that is not blank, cut into words.
struct Line<'f> {
    number: usize,
    words: Vec<&'f str>,
}

impl Line<'_> {
    fn error(&self, reason: impl Into<String>) -> Error {
        Error { line: self.number, reason: reason.into() }
    }

    /// The number at a position; digits only.
    fn number(&self, at: usize) -> Result<usize, Error> {
        let word = self.words.get(at).ok_or_else(|| self.error("a number is missing"))?;
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        let value = digits.then(|| word.parse().ok()).flatten();
        value.ok_or_else(|| self.error(format!("`{word}` is not a number that a circuit can have")))
    }

    fn numbers(&self, range: Range<usize>) -> Result<Vec<usize>, Error> {
        range.map(|at| self.number(at)).collect()
    }

    /// A count and as many widths.
    fn widths(&self, what: &str) -> Result<Vec<usize>, Error> {
        let widths = self.numbers(1..self.words.len())?;
        if self.number(0)? != widths.len() {
            let count = self.words.first().copied().unwrap_or_default();
            return Err(self.error(format!("{count} {what} values, but {} widths", widths.len())));
        }
        Ok(widths)
    }

    /// Whether a gate's name ends it.
    fn is_gate(&self) -> bool {
        self.words.last().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
    }
}

struct Lines<'f> {
    rest: &'f [u8],
    number: usize,
}

impl<'f> Iterator for Lines<'f> {
    type Item = Result<Line<'f>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
            let (line, rest) = self.rest.split_at(end);
            self.rest = rest.get(1..).unwrap_or_default();
            self.number += 1;
            let Ok(text) = str::from_utf8(line) else {
                return Some(Err(Error { line: self.number, reason: "this is not text".to_owned() }));
            };
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            if !words.is_empty() {
                return Some(Ok(Line { number: self.number, words }));
            }
        }
        None
    }
}

struct Reader<'f> {
    lines: Peekable<Lines<'f>>,
    format: Format,
    build: Build,
    /// The wires of the file, where they are written.
    wires: Vec<Option<Bit>>,
    outputs: Vec<usize>,
    counts: Counts,
    gates: usize,
    written: usize,
    last: usize,
}

/// The next line, which a header must have.
fn header_line<'f>(lines: &mut Peekable<Lines<'f>>, before: usize, what: &str) -> Result<Line<'f>, Error> {
    lines
        .next()
        .unwrap_or_else(|| Err(Error { line: before + 1, reason: format!("the file ends before {what}") }))
}

impl<'f> Reader<'f> {
    fn header(mut lines: Peekable<Lines<'f>>, length: usize) -> Result<Self, Error> {
        let first = header_line(&mut lines, 0, "the numbers of gates and wires")?;
        if first.words.len() != 2 {
            return Err(first.error("the first line has two numbers: gates and wires"));
        }
        let (gates, wires) = (first.number(0)?, first.number(1)?);
        let second = header_line(&mut lines, first.number, "the widths of the inputs")?;
        // Three widths and then a gate: the older format. Otherwise the outputs have a line of their own.
        let gate_follows = match lines.peek() {
            Some(Ok(line)) => line.is_gate(),
            Some(Err(error)) => return Err(error.clone()),
            None => gates == 0,
        };
        let (format, inputs, outputs, last) = if gate_follows && second.words.len() == 3 {
            let widths = second.numbers(0..3)?;
            (Format::Older, widths[..2].to_vec(), widths[2..].to_vec(), second.number)
        } else {
            let inputs = second.widths("input")?;
            let third = header_line(&mut lines, second.number, "the widths of the outputs")?;
            (Format::Fashion, inputs, third.widths("output")?, third.number)
        };
        let sum = |widths: &[usize]| widths.iter().try_fold(0_usize, |sum, &width| sum.checked_add(width));
        // Every wire that a gate writes takes two characters at least; so does every input that one reads.
        if wires > UNREAD_WIRES + length / 2 {
            return Err(first.error(format!("{wires} wires are more than a file of {length} bytes can have")));
        }
        for (what, widths) in [("input", &inputs), ("output", &outputs)] {
            if sum(widths).is_none_or(|width| width > wires) {
                return Err(second.error(format!("the {what} values are wider than the {wires} wires")));
            }
        }
        let mut build = Build::verbatim();
        let mut bits = Vec::with_capacity(wires);
        for &width in &inputs {
            bits.extend(build.input(width).into_iter().map(Some));
        }
        let written = bits.len();
        bits.resize(wires, None);
        let counts = Counts::default();
        Ok(Reader { lines, format, build, wires: bits, outputs, counts, gates, written, last })
    }

    fn gates(&mut self) -> Result<(), Error> {
        let mut gates = 0;
        while let Some(line) = self.lines.next() {
            let line = line?;
            self.last = line.number;
            gates += 1;
            if gates > self.gates {
                return Err(line.error(format!("only {} gates were declared", self.gates)));
            }
            self.gate(&line)?;
        }
        if gates != self.gates {
            return Err(self.end(format!("{} gates were declared, the file has {gates}", self.gates)));
        }
        Ok(())
    }

    fn gate(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (read, write) = (line.number(0)?, line.number(1)?);
        let name = *line.words.last().unwrap_or(&"");
        let wires = line.words.len().saturating_sub(3);
        if !line.is_gate() || read.checked_add(write) != Some(wires) {
            return Err(line.error(format!("a gate of {read} and {write} wires, but {wires} are named")));
        }
        let known = match (name, self.format) {
            ("XOR" | "AND", _) => (read, write) == (2, 1),
            ("INV", _) | ("EQ" | "EQW", Format::Fashion) => (read, write) == (1, 1),
            ("MAND", Format::Fashion) => write > 0 && Some(read) == write.checked_mul(2),
            _ => return Err(line.error(format!("`{name}` is no gate of this format"))),
        };
        if !known {
            return Err(line.error(format!("{name} does not read {read} wires and write {write}")));
        }
        let operands = line.numbers(2..2 + read)?;
        let results = line.numbers(2 + read..2 + read + write)?;
        if name == "EQ" {
            if operands[0] > 1 {
                return Err(line.error("the constant of EQ is 0 or 1"));
            }
            let value = self.build.constant(operands[0] == 1);
            self.counts.eq += 1;
            return self.write(line, results[0], value);
        }
        let x: Vec<Bit> = operands.iter().map(|&wire| self.wire(line, wire)).collect::<Result<_, _>>()?;
        match name {
            "XOR" => {
                self.counts.xor += 1;
                let sum = self.build.xor(x[0], x[1]);
                self.write(line, results[0], sum)
            }
            "INV" => {
                self.counts.inv += 1;
                let not = self.build.not(x[0]);
                self.write(line, results[0], not)
            }
            "EQW" => {
                self.counts.eqw += 1;
                self.write(line, results[0], x[0])
            }
            _ => {
                self.counts.and += write;
                for (i, &result) in results.iter().enumerate() {
                    let product = self.build.and(x[i], x[write + i]);
                    self.write(line, result, product)?;
                }
                Ok(())
            }
        }
    }

    /// The value of a wire that is read.
    fn wire(&self, line: &Line<'_>, wire: usize) -> Result<Bit, Error> {
        match self.wires.get(wire) {
            Some(&Some(bit)) => Ok(bit),
            Some(None) => Err(line.error(format!("wire {wire} is read, and no line above writes it"))),
            None => Err(line.error(format!("wire {wire} is not one of the {}", self.wires.len()))),
        }
    }

    fn write(&mut self, line: &Line<'_>, wire: usize, bit: Bit) -> Result<(), Error> {
        let wires = self.wires.len();
        match self.wires.get_mut(wire) {
            Some(place @ None) => *place = Some(bit),
            Some(Some(_)) => return Err(line.error(format!("wire {wire} is written a second time"))),
            None => return Err(line.error(format!("wire {wire} is not one of the {wires}"))),
        }
        self.written += 1;
        Ok(())
    }

    fn end(&self, reason: String) -> Error {
        Error { line: self.last, reason }
    }

    fn finish(mut self) -> Result<Source, Error> {
        if self.written != self.wires.len() {
            let missing = self.wires.iter().position(Option::is_none).unwrap_or_default();
            let wires = self.wires.len();
            return Err(self.end(format!(
                "{wires} wires were declared, {} are written; the first that is not is {missing}",
                self.written
            )));
        }
        let mut next = self.wires.len() - self.outputs.iter().sum::<usize>();
        for &width in &self.outputs {
            let bits: Vec<Bit> = self.wires[next..next + width].iter().filter_map(|&bit| bit).collect();
            self.build.output(&bits);
            next += width;
        }
        Ok(Source { program: self.build.finish(), counts: self.counts, format: self.format })
    }
}
