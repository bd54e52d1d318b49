//! Programs with as many operations as the paper's Table 6 counts for each application; they compute nothing
//! meaningful. The paper's Table 4 is an estimate from these counts.
//!
//! ANDs are of words of 64 bits (and of single bits for the remainder), all in one round. Products are of
//! numbers of both parties. B2A takes words of 32 bits, A2B makes words of 32 bits. Party 1 learns the
//! results.

use crate::program::{LARGEST, ProgramError, Script};
use crate::text;
use std::fmt::Write;

/// A row of Table 6, with its times of Table 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The application's name in the paper.
    pub title: &'static str,
    /// The application's name here; the program with these counts has the prefix `table4-`.
    pub name: &'static str,
    /// How many ANDs.
    pub ands: usize,
    /// How many products of numbers.
    pub products: usize,
    /// How many conversions of bits to numbers.
    pub b2a: usize,
    /// How many conversions of numbers to bits.
    pub a2b: usize,
    /// Table 4: seconds for 4, 16 and 64 parties in a LAN.
    pub seconds: [f64; 3],
}

const fn row(
    [title, name]: [&'static str; 2],
    [ands, products, b2a, a2b]: [usize; 4],
    seconds: [f64; 3],
) -> Row {
    Row { title, name, ands, products, b2a, a2b, seconds }
}

/// The rows of GYKW, Tables 4 and 6.
pub const ROWS: [Row; 5] = [
    row(["Biomatch", "biomatch"], [23_205, 1024, 1028, 256], [1.93, 9.7, 64.97]),
    row(["Kmeans", "kmeans"], [1_568_660, 8800, 118, 116], [6.16, 17.79, 76.6]),
    row(["MNIST", "mnist"], [1_624_460, 666_600, 1192, 1], [25.49, 94.44, 387.7]),
    row(["Gauss Dist.", "gauss"], [8275, 14, 15, 7], [0.07, 0.27, 1.52]),
    row(["Merge DB", "merge-db"], [3930, 200, 201, 1], [0.24, 1.18, 8.51]),
];

/// The program with the counts of a row, given the name after `table4-`.
///
/// # Errors
/// If no row has this name.
pub(super) fn script(name: &str) -> Result<Script, ProgramError> {
    let row = name.strip_prefix("table4-").and_then(|name| ROWS.iter().find(|row| row.name == name));
    let row = row.ok_or_else(|| format!("Table 6 has no row {name}"))?;
    text::read(&counted(row), &|circuit| Err(format!("there is no circuit {circuit}")))
}

/// The text of the program with the counts of a row.
#[must_use]
pub fn counted(row: &Row) -> String {
    let (words, bits) = (row.ands / 64, row.ands % 64);
    let mut text = String::from("divisi program 1\n");
    for (name, what) in [("words", format!("bits 64 {words}")), ("single", format!("bits 1 {bits}"))] {
        // a shape has at least one entry, so a count of zero is left out
        if !what.ends_with(" 0") {
            let (left, right, both) = (format!("{name}_1"), format!("{name}_2"), format!("{name}_12"));
            let _ = writeln!(text, "input {left} 1 {what}\ninput {right} 2 {what}");
            let _ = writeln!(text, "{both} = and {left} {right}\noutput {both} 1");
        }
    }
    let _ = writeln!(
        text,
        "input x 1 num {0} in -{1}..{1}\ninput y 2 num {0} in -{1}..{1}",
        row.products,
        1 << 15
    );
    let _ = writeln!(text, "product = mul x y\noutput product 1");
    let _ = writeln!(
        text,
        "input word 1 bits 32 {} in 0..{LARGEST}\nnumber = num word\noutput number 1",
        row.b2a
    );
    let _ = writeln!(
        text,
        "input whole 2 num {} in 0..{LARGEST}\napart = bits whole 32\noutput apart 1",
        row.a2b
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower;

    #[test]
    fn counts_are_those_of_the_table() {
        for row in &ROWS {
            let cost = lower(&script(&format!("table4-{}", row.name)).unwrap()).unwrap().cost();
            assert_eq!(
                (cost.ands, cost.products, cost.b2a, cost.a2b, cost.b2a_bits),
                (row.ands, row.products, row.b2a, row.a2b, 32 * row.b2a),
                "{}",
                row.title
            );
        }
        assert!(script("table4-chess").is_err() && script("mnist").is_err());
    }
}
