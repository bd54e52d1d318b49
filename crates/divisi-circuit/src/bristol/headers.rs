//! Headers that are not those of the two formats: what is missing in them, or whose they are.

use super::error::BristolError;
use super::lines::{Line, Lines};
use super::looks;
use std::io::BufRead;

/// The reason for a file whose gates follow its first line.
pub(super) const NO_WIDTHS: &str = "a gate follows the first line: the header has no widths; write the widths of \
    the inputs and those of the outputs before the gates, each line with the number of values first";

/// The error for a first line that does not have two numbers. The lines after it may show whose format it is:
/// SCAPI has the number of gates, that of the parties, and for each party its number and that of its wires.
pub(super) fn without_wires(first: &Line, lines: &mut Lines<impl BufRead>) -> BristolError {
    let is_number = |line: &Line| line.words.len() == 1 && line.number(0).is_ok();
    if is_number(first) {
        let (mut second, mut third) = (Line::default(), Line::default());
        let more = matches!(lines.next(&mut second), Ok(true)) && matches!(lines.next(&mut third), Ok(true));
        if more && is_number(&second) && third.words.len() == 2 && third.numbers(0..2).is_ok() {
            return first.error(format!("this looks like a circuit of SCAPI; {}", looks::KNOWN));
        }
    }
    first.error("the first line has two numbers: gates and wires")
}

/// The error for a single line of widths that are not the three of the format before Bristol Fashion.
pub(super) fn one_line_of_widths(widths: &Line) -> BristolError {
    let count = widths.words.len();
    let single = match (count, widths.word(0), widths.word(1)) {
        (2, Some(input), Some(output)) => {
            format!("; for one input of {input} bits and an output of {output} write `{input} 0 {output}`")
        }
        _ => String::new(),
    };
    widths.error(format!(
        "a gate follows this line, as in the format before Bristol Fashion, whose widths are three (two inputs and \
         one output), and here are {count}{single}; in Bristol Fashion a line with the widths of the outputs is \
         missing"
    ))
}
