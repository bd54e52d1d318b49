//! Splits a file into lines and words. Blank lines and comments may be anywhere, and lines may end as on any
//! system.

use super::error::BristolError;
use super::looks;
use std::io::{self, BufRead};
use std::ops::Range;

/// The byte order mark that some editors write before the first line.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A line that is neither blank nor a comment, split into words.
#[derive(Clone, Default)]
pub(super) struct Line {
    pub number: usize,
    text: String,
    pub words: Vec<(usize, usize)>,
}

impl Line {
    pub fn error(&self, reason: impl Into<String>) -> BristolError {
        BristolError::new(self.number, reason)
    }

    /// The whole line.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).and_then(|&(start, end)| self.text.get(start..end))
    }

    /// The word at a position, as a number; only digits are allowed.
    pub fn number(&self, at: usize) -> Result<usize, BristolError> {
        let word = self.word(at).ok_or_else(|| self.error("a number is missing"))?;
        let digit = |value: usize, byte: u8| {
            let digit = usize::from(byte.wrapping_sub(b'0'));
            (digit < 10).then(|| value.checked_mul(10)?.checked_add(digit)).flatten()
        };
        let value = word.bytes().try_fold(0, digit);
        value.ok_or_else(|| self.error(format!("`{word}` is not a number that a circuit can have")))
    }

    pub fn numbers(&self, range: Range<usize>) -> Result<Vec<usize>, BristolError> {
        range.map(|at| self.number(at)).collect()
    }

    /// Reads a count, and as many widths.
    pub fn widths(&self, what: &str) -> Result<Vec<usize>, BristolError> {
        let widths = self.numbers(1..self.words.len())?;
        if self.number(0)? != widths.len() {
            let count = self.word(0).unwrap_or_default();
            return Err(self.error(format!("{count} {what} values, but {} widths", widths.len())));
        }
        Ok(widths)
    }

    /// Whether the line ends with the name of a gate.
    pub fn is_gate(&self) -> bool {
        self.last().starts_with(|c: char| c.is_ascii_alphabetic())
    }

    pub fn last(&self) -> &str {
        self.words.len().checked_sub(1).and_then(|at| self.word(at)).unwrap_or_default()
    }
}

/// Whether a comment begins here: it goes to the end of the line.
fn is_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"//") || rest.starts_with(b"#")
}

/// The lines of a file, of which none may have more than `longest` bytes.
pub(super) struct Lines<R> {
    input: R,
    number: usize,
    pub longest: usize,
}

impl<R: BufRead> Lines<R> {
    /// The lines of this file from its beginning, with at most `longest` bytes each.
    pub fn new(input: R, longest: usize) -> Self {
        Lines { input, number: 0, longest }
    }

    /// Reads the next line that is neither blank nor a comment. Returns false at the end of the file.
    pub fn next(&mut self, line: &mut Line) -> Result<bool, BristolError> {
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
                return Err(BristolError::unreadable(self.number, reason));
            }
            if bytes.len() > self.longest && bytes.last() != Some(&b'\n') {
                let reason = format!("lines of more than {} bytes are not read", self.longest);
                return Err(BristolError::new(self.number, reason));
            }
            line.number = self.number;
            line.words.clear();
            if self.number == 1 && bytes.starts_with(MARK) {
                bytes.drain(..MARK.len());
            }
            // a comment need not be text in UTF-8
            if let Some(comment) =
                (0..bytes.len()).find(|at| is_comment(bytes.get(*at..).unwrap_or_default()))
            {
                bytes.truncate(comment);
            }
            line.text = String::from_utf8(bytes).map_err(|bytes| {
                let looks = looks::of(bytes.as_bytes()).filter(|_| self.number == 1);
                let looks = looks.map_or_else(String::new, |form| format!(": it looks like {form}"));
                BristolError::new(self.number, format!("this is not text{looks}"))
            })?;
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

    /// The next line, which must exist because it belongs to the header.
    pub fn of_header(&mut self, before: usize, what: &str) -> Result<Line, BristolError> {
        let mut line = Line::default();
        if self.next(&mut line)? {
            return Ok(line);
        }
        Err(BristolError::new(before + 1, format!("the file ends before {what}")))
    }
}
