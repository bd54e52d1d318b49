//! The parser of both formats: it reads the header, then one gate at a time, with its line number. Its memory
//! does not grow with the number of lines.

use super::error::BristolError;
use super::headers;
use super::known::{self, BitOrder};
use super::lines::{Line, Lines};
use super::looks;
use super::syntax::{Format, Gate, Header, Negations};
use std::io::BufRead;

/// The number of wires that a file may declare beyond those that its length accounts for. Input wires that no
/// gate reads occur nowhere in the file; so a small file may have a wide input of which it uses little.
const UNREAD_WIRES: usize = 1 << 16;

/// The largest length of a file in bytes: whatever it declares then fits the builder.
pub(super) const LONGEST: usize = 1 << 31;

/// The largest length of a line in bytes, for files with few wires.
const LINE: usize = 1 << 16;

/// How many bytes longer a line may be for each wire of the file: a `MAND` may write every wire, and reads
/// two for each.
const LINE_FOR_A_WIRE: usize = 36;

/// A parser of both formats, gate by gate.
///
/// It checks only the syntax. Whether a wire exists, is written once, and is written before it is read, must
/// be checked by the code that takes the gates.
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
    line: Line,
    /// Whether `line` is the first gate, which was read together with the header.
    held: bool,
    gates: usize,
    last: usize,
    wires: Vec<usize>,
    pub(super) known: known::Fingerprint,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header of a file of `length` bytes. A header that declares more than a file of this length
    /// can have is refused.
    ///
    /// # Errors
    /// [`BristolError`] names the first line that cannot be parsed.
    pub fn new(input: R, length: usize) -> Result<Self, BristolError> {
        let mut lines = Lines::new(input, LINE);
        let first = lines.of_header(0, "the numbers of gates and wires")?;
        if first.words.len() != 2 || first.numbers(0..2).is_err() {
            if let Some(form) = looks::of(first.text().as_bytes()) {
                return Err(first.error(format!("this looks like {form}; {}", looks::KNOWN)));
            }
            if first.words.len() != 2 {
                return Err(headers::without_wires(&first, &mut lines));
            }
        }
        let (gates, wires) = (first.number(0)?, first.number(1)?);
        // Every wire that a gate writes takes at least two characters, and so does every input wire that a
        // gate reads.
        let most = UNREAD_WIRES.saturating_add(length / 2);
        lines.longest = LINE.saturating_add(wires.min(most).saturating_mul(LINE_FOR_A_WIRE));
        let second = lines.of_header(first.number, "the widths of the inputs")?;
        if second.is_gate() {
            return Err(second.error(headers::NO_WIDTHS));
        }
        // Three widths and then a gate: the older format. Otherwise the outputs' widths have their own line.
        let mut third = Line::default();
        let more = lines.next(&mut third)?;
        let gate_follows = if more { third.is_gate() } else { gates == 0 };
        let older = gate_follows && second.words.len() == 3;
        let (format, inputs, outputs, last) = if older {
            let widths = second.numbers(0..3)?;
            (Format::Older, widths[..2].to_vec(), widths[2..].to_vec(), second.number)
        } else {
            if more && gate_follows && second.numbers(0..second.words.len()).is_ok() {
                return Err(headers::one_line_of_widths(&second));
            }
            let inputs = second.widths("input")?;
            if !more {
                return Err(BristolError::new(
                    second.number + 1,
                    "the file ends before the widths of the outputs",
                ));
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
        let known = known::Fingerprint::new(&header);
        let (held, wires) = (older && more, Vec::new());
        Ok(Reader { lines, header, line: third, held, gates: 0, last, wires, known })
    }

    /// The header of the file.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The last line that was read.
    #[must_use]
    pub fn line(&self) -> usize {
        self.last
    }

    /// The next gate and its line number; `None` after the last gate.
    ///
    /// # Errors
    /// [`BristolError`] if the line is not a gate of the format, or if the number of gates is not the
    /// declared one.
    pub fn gate(&mut self) -> Result<Option<(usize, Gate<'_>)>, BristolError> {
        if !std::mem::take(&mut self.held) && !self.lines.next(&mut self.line)? {
            if self.gates != self.header.gates {
                let (declared, gates) = (self.header.gates, self.gates);
                let reason = format!("{declared} gates were declared, the file has {gates}");
                return Err(BristolError::new(self.last, reason));
            }
            return Ok(None);
        }
        self.last = self.line.number;
        self.gates += 1;
        if self.gates > self.header.gates {
            return Err(self.line.error(format!("only {} gates were declared", self.header.gates)));
        }
        let gate = gate(&self.line, &mut self.wires)?;
        self.known.add(&gate);
        Ok(Some((self.line.number, gate)))
    }

    /// The text of the last line that was read, without its comment.
    pub(super) fn text(&self) -> &str {
        self.line.text().trim()
    }

    /// The order of the wires of a value, if the gates so far are those of a known published file.
    #[must_use]
    pub fn known_order(&self) -> Option<BitOrder> {
        self.known.order()
    }
}

/// The names of gates, in capitals.
const NAMES: [&str; 12] =
    ["XOR", "XNOR", "AND", "NAND", "OR", "LOR", "NOR", "INV", "NOT", "EQ", "EQW", "MAND"];

/// The beginnings of the names of gates on numbers, in capitals, which files of arithmetic circuits have.
const ARITHMETIC: [&str; 5] = ["AADD", "ASUB", "AMUL", "ADIV", "ANEG"];

/// How many wires a gate with this name reads and writes; `None` for `MAND`, which may have any number.
fn arity(name: &str) -> Option<(usize, usize)> {
    match name {
        "INV" | "NOT" | "EQ" | "EQW" => Some((1, 1)),
        "MAND" => None,
        _ => Some((2, 1)),
    }
}

/// The error for a name that no gate has.
fn unknown(line: &Line, written: &str) -> BristolError {
    let capitals = written.to_ascii_uppercase();
    if ARITHMETIC.iter().any(|begin| capitals.starts_with(begin)) {
        return line
            .error(format!("`{written}` is a gate of arithmetic circuits: only Boolean ones are read"));
    }
    line.error(format!("`{written}` is no gate of this format"))
}

/// Parses the gate on a line; `named` is a buffer for its wires.
fn gate<'r>(line: &Line, named: &'r mut Vec<usize>) -> Result<Gate<'r>, BristolError> {
    let (read, write) = (line.number(0)?, line.number(1)?);
    let wires = line.words.len().saturating_sub(3);
    let written = line.last();
    let known = NAMES.into_iter().find(|name| name.eq_ignore_ascii_case(written));
    if !line.is_gate() || read.checked_add(write) != Some(wires) {
        // as many wires as the gate has: only the numbers before them are wrong
        if let Some((reads, writes)) = known.and_then(arity)
            && line.is_gate()
            && reads + writes == wires
        {
            return Err(line.error(format!(
                "the line's first two numbers are {read} and {write}, and {written} reads {reads} wires and writes \
                 {writes}: write `{reads} {writes}` before the wires"
            )));
        }
        return Err(line.error(format!("a gate of {read} and {write} wires, but {wires} are named")));
    }
    let name = known.ok_or_else(|| unknown(line, written))?;
    let fits = match arity(name) {
        Some(arity) => (read, write) == arity,
        None => write > 0 && Some(read) == write.checked_mul(2),
    };
    if !fits {
        return Err(line.error(format!("{name} does not read {read} wires and write {write}")));
    }
    named.clear();
    for at in 2..2 + wires {
        named.push(line.number(at)?);
    }
    let and = |x, y, out, operands, result| Gate::And { x, y, out, signs: Negations { operands, result } };
    Ok(match (name, &named[..]) {
        ("XOR", &[x, y, out]) => Gate::Xor { x, y, out, negated: false },
        ("XNOR", &[x, y, out]) => Gate::Xor { x, y, out, negated: true },
        ("AND", &[x, y, out]) => and(x, y, out, false, false),
        ("NAND", &[x, y, out]) => and(x, y, out, false, true),
        // x or y = not ((not x) and (not y)): De Morgan
        ("OR" | "LOR", &[x, y, out]) => and(x, y, out, true, true),
        ("NOR", &[x, y, out]) => and(x, y, out, true, false),
        ("INV" | "NOT", &[x, out]) => Gate::Inv { x, out },
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
