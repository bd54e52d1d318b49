//! The syntax of both formats: the header, then gates one at a time, each with its line. What a file needs in
//! memory is a line of it.

use std::fmt;
use std::io::{self, BufRead};
use std::ops::Range;

/// Wires that a file may declare beyond what its length bears out. An input wire that no gate reads stands
/// nowhere in the file: a small file may take a wide value and use little of it.
const UNREAD_WIRES: usize = 1 << 16;

/// The longest file, in bytes: what it can declare fits the builder.
pub(super) const LONGEST: usize = 1 << 31;

/// Bytes of a line, whatever it says.
const LINE: usize = 1 << 16;

/// Bytes of a line for each wire of the file: a `MAND` may write every wire, and reads two for each.
const LINE_FOR_A_WIRE: usize = 36;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    line: usize,
    reason: String,
    unreadable: bool,
}

impl Error {
    pub(crate) fn new(line: usize, reason: impl Into<String>) -> Error {
        Error { line, reason: reason.into(), unreadable: false }
    }

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

    /// Whether it is the system that did not give the line.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.unreadable
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

/// What a file declares before its gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// How the file is written.
    pub format: Format,
    /// Lines of gates.
    pub gates: usize,
    /// Wires: those of the inputs first, those of the outputs last.
    pub wires: usize,
    /// The width of each input value.
    pub inputs: Vec<usize>,
    /// The width of each output value.
    pub outputs: Vec<usize>,
}

/// A gate of a file. Wires are numbers as the file has them: not looked at yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // operands and results
pub enum Gate<'r> {
    /// `out = x + y`.
    Xor { x: usize, y: usize, out: usize },
    /// `out = x y`.
    And { x: usize, y: usize, out: usize },
    /// `out[i] = x[i] y[i]`: lists of one length.
    Mand { x: &'r [usize], y: &'r [usize], out: &'r [usize] },
    /// `out = x + 1`.
    Inv { x: usize, out: usize },
    /// `out = value`.
    Eq { value: bool, out: usize },
    /// `out = x`.
    Eqw { x: usize, out: usize },
}

/// A line that is not blank, cut into words.
#[derive(Clone, Default)]
struct Line {
    number: usize,
    text: String,
    words: Vec<(usize, usize)>,
}

impl Line {
    fn error(&self, reason: impl Into<String>) -> Error {
        Error::new(self.number, reason)
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).and_then(|&(start, end)| self.text.get(start..end))
    }

    /// The number at a position; digits only.
    fn number(&self, at: usize) -> Result<usize, Error> {
        let word = self.word(at).ok_or_else(|| self.error("a number is missing"))?;
        let digit = |value: usize, byte: u8| {
            let digit = usize::from(byte.wrapping_sub(b'0'));
            (digit < 10).then(|| value.checked_mul(10)?.checked_add(digit)).flatten()
        };
        let value = word.bytes().try_fold(0, digit);
        value.ok_or_else(|| self.error(format!("`{word}` is not a number that a circuit can have")))
    }

    fn numbers(&self, range: Range<usize>) -> Result<Vec<usize>, Error> {
        range.map(|at| self.number(at)).collect()
    }

    /// A count and as many widths.
    fn widths(&self, what: &str) -> Result<Vec<usize>, Error> {
        let widths = self.numbers(1..self.words.len())?;
        if self.number(0)? != widths.len() {
            let count = self.word(0).unwrap_or_default();
            return Err(self.error(format!("{count} {what} values, but {} widths", widths.len())));
        }
        Ok(widths)
    }

    /// Whether a gate's name ends it.
    fn is_gate(&self) -> bool {
        self.last().starts_with(|c: char| c.is_ascii_alphabetic())
    }

    fn last(&self) -> &str {
        self.words.len().checked_sub(1).and_then(|at| self.word(at)).unwrap_or_default()
    }
}

/// The lines of a file, none of them longer than what it may be.
struct Lines<R> {
    input: R,
    number: usize,
    longest: usize,
}

impl<R: BufRead> Lines<R> {
    /// The next line that is not blank: false at the end of the file.
    fn next(&mut self, line: &mut Line) -> Result<bool, Error> {
        loop {
            let mut bytes = std::mem::take(&mut line.text).into_bytes();
            bytes.clear();
            let most = (self.longest as u64).saturating_add(1);
            let read = io::Read::take(&mut self.input, most).read_until(b'\n', &mut bytes);
            if matches!(read, Ok(0)) {
                return Ok(false);
            }
            self.number += 1;
            if let Err(e) = read {
                let reason = format!("the file cannot be read ({e})");
                return Err(Error { line: self.number, reason, unreadable: true });
            }
            if bytes.len() > self.longest && bytes.last() != Some(&b'\n') {
                let reason = format!("lines of more than {} bytes are not read", self.longest);
                return Err(Error::new(self.number, reason));
            }
            line.number = self.number;
            line.text = String::from_utf8(bytes).map_err(|_| Error::new(self.number, "this is not text"))?;
            line.words.clear();
            let mut start = None;
            for (at, byte) in line.text.bytes().enumerate() {
                match (byte.is_ascii_whitespace(), start) {
                    (true, Some(from)) => {
                        line.words.push((from, at));
                        start = None;
                    }
                    (false, None) => start = Some(at),
                    _ => {}
                }
            }
            line.words.extend(start.map(|from| (from, line.text.len())));
            if !line.words.is_empty() {
                return Ok(true);
            }
        }
    }

    /// The next line, which a header must have.
    fn of_header(&mut self, before: usize, what: &str) -> Result<Line, Error> {
        let mut line = Line::default();
        if self.next(&mut line)? {
            return Ok(line);
        }
        Err(Error::new(before + 1, format!("the file ends before {what}")))
    }
}

/// A file in either format, read gate by gate.
///
/// It knows the syntax and no more: whether a wire exists, is written once and before it is read, is for
/// whoever takes the gates.
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
    line: Line,
    /// Whether the line was looked at already and is still to be taken.
    held: bool,
    gates: usize,
    last: usize,
    wires: Vec<usize>,
}

impl<R: BufRead> Reader<R> {
    /// The header of a file of so many bytes: what it declares is believed only as far as its length bears it
    /// out.
    ///
    /// # Errors
    /// [`Error`] names the first line that is not understood.
    pub fn new(input: R, length: usize) -> Result<Self, Error> {
        let mut lines = Lines { input, number: 0, longest: LINE };
        let first = lines.of_header(0, "the numbers of gates and wires")?;
        if first.words.len() != 2 {
            return Err(first.error("the first line has two numbers: gates and wires"));
        }
        let (gates, wires) = (first.number(0)?, first.number(1)?);
        // Every wire that a gate writes takes two characters at least; so does every input that one reads.
        let most = UNREAD_WIRES.saturating_add(length / 2);
        lines.longest = LINE.saturating_add(wires.min(most).saturating_mul(LINE_FOR_A_WIRE));
        let second = lines.of_header(first.number, "the widths of the inputs")?;
        // Three widths and then a gate: the older format. Otherwise the outputs have a line of their own.
        let mut third = Line::default();
        let more = lines.next(&mut third)?;
        let gate_follows = if more { third.is_gate() } else { gates == 0 };
        let older = gate_follows && second.words.len() == 3;
        let (format, inputs, outputs, last) = if older {
            let widths = second.numbers(0..3)?;
            (Format::Older, widths[..2].to_vec(), widths[2..].to_vec(), second.number)
        } else {
            let inputs = second.widths("input")?;
            if !more {
                return Err(Error::new(second.number + 1, "the file ends before the widths of the outputs"));
            }
            (Format::Fashion, inputs, third.widths("output")?, third.number)
        };
        if wires > most {
            return Err(first.error(format!("{wires} wires are more than a file of {length} bytes can have")));
        }
        let sum = |widths: &[usize]| widths.iter().try_fold(0_usize, |sum, &width| sum.checked_add(width));
        for (what, widths) in [("input", &inputs), ("output", &outputs)] {
            if sum(widths).is_none_or(|width| width > wires) {
                return Err(second.error(format!("the {what} values are wider than the {wires} wires")));
            }
        }
        let header = Header { format, gates, wires, inputs, outputs };
        Ok(Reader { lines, header, line: third, held: older && more, gates: 0, last, wires: Vec::new() })
    }

    /// What the file declares.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The last line that was read.
    #[must_use]
    pub fn line(&self) -> usize {
        self.last
    }

    /// The next gate and its line; nothing after the last one.
    ///
    /// # Errors
    /// [`Error`] if the line is no gate of the format, or there are more or fewer gates than were declared.
    pub fn gate(&mut self) -> Result<Option<(usize, Gate<'_>)>, Error> {
        if !std::mem::take(&mut self.held) && !self.lines.next(&mut self.line)? {
            if self.gates != self.header.gates {
                let (declared, gates) = (self.header.gates, self.gates);
                let reason = format!("{declared} gates were declared, the file has {gates}");
                return Err(Error::new(self.last, reason));
            }
            return Ok(None);
        }
        self.last = self.line.number;
        self.gates += 1;
        if self.gates > self.header.gates {
            return Err(self.line.error(format!("only {} gates were declared", self.header.gates)));
        }
        let gate = gate(&self.line, self.header.format, &mut self.wires)?;
        Ok(Some((self.line.number, gate)))
    }
}

/// The gate on a line; `named` is for its wires.
fn gate<'r>(line: &Line, format: Format, named: &'r mut Vec<usize>) -> Result<Gate<'r>, Error> {
    let (read, write) = (line.number(0)?, line.number(1)?);
    let name = line.last();
    let wires = line.words.len().saturating_sub(3);
    if !line.is_gate() || read.checked_add(write) != Some(wires) {
        return Err(line.error(format!("a gate of {read} and {write} wires, but {wires} are named")));
    }
    let known = match (name, format) {
        ("XOR" | "AND", _) => (read, write) == (2, 1),
        ("INV", _) | ("EQ" | "EQW", Format::Fashion) => (read, write) == (1, 1),
        ("MAND", Format::Fashion) => write > 0 && Some(read) == write.checked_mul(2),
        _ => return Err(line.error(format!("`{name}` is no gate of this format"))),
    };
    if !known {
        return Err(line.error(format!("{name} does not read {read} wires and write {write}")));
    }
    named.clear();
    for at in 2..2 + wires {
        named.push(line.number(at)?);
    }
    Ok(match (name, &named[..]) {
        ("XOR", &[x, y, out]) => Gate::Xor { x, y, out },
        ("AND", &[x, y, out]) => Gate::And { x, y, out },
        ("INV", &[x, out]) => Gate::Inv { x, out },
        ("EQW", &[x, out]) => Gate::Eqw { x, out },
        ("EQ", &[value @ (0 | 1), out]) => Gate::Eq { value: value == 1, out },
        ("EQ", _) => return Err(line.error("the constant of EQ is 0 or 1")),
        (_, named) => {
            let (operands, out) = named.split_at(read);
            let (x, y) = operands.split_at(write);
            Gate::Mand { x, y, out }
        }
    })
}
