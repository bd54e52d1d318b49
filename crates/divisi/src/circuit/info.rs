//! What a circuit has, as `divisi circuit info` tells it: of one in a file without making a program of it.

use super::{LONGEST, NamedCircuit, in_file, named, unread, write};
use crate::failure::Failure;
use divisi_circuit::bristol::{FileCounts, Format, survey};
use divisi_symmetric::gates::Adder;
use std::fs::File;
use std::io::{self, BufReader, Read};

/// What is told of a circuit.
pub struct About {
    /// How it was asked for.
    pub name: String,
    /// How its file is written; nothing for a circuit of this program's own.
    pub format: Option<Format>,
    /// What its file has, or would have.
    pub counts: FileCounts,
    /// The width of each input value.
    pub inputs: Vec<usize>,
    /// The width of each output value.
    pub outputs: Vec<usize>,
    /// The longest chain of ANDs.
    pub and_depth: usize,
    /// Sums of products.
    pub dot_count: usize,
}

/// What the circuit of that name has; else the one in the file of that name.
///
/// # Errors
/// If the file cannot be read, or is no circuit: with the line.
pub fn info(name: &str, adder: Adder) -> Result<About, Failure> {
    if let Some(program) = named(name, adder)? {
        let counts = write(&program, &mut io::sink()).map_err(|e| Failure::unavailable(e.to_string()))?;
        return Ok(About::of(&NamedCircuit { name: name.to_owned(), program, file: None }, counts));
    }
    let length = in_file(name)?;
    let file = File::open(name).map_err(|e| unread(name, e))?;
    let survey = survey(BufReader::with_capacity(1 << 16, file.take(LONGEST + 1)), length)
        .map_err(|e| Failure::usage(format!("{name}, {e}")))?;
    Ok(About {
        name: name.to_owned(),
        format: Some(survey.header.format),
        counts: survey.counts,
        inputs: survey.header.inputs,
        outputs: survey.header.outputs,
        and_depth: survey.and_depth,
        // a file has no sums of products
        dot_count: survey.counts.and,
    })
}

impl About {
    /// That of a circuit in memory, whose file has, or would have, this.
    #[must_use]
    pub fn of(circuit: &NamedCircuit, counts: FileCounts) -> About {
        let program = &circuit.program;
        About {
            name: circuit.name.clone(),
            format: circuit.file.map(|(format, ..)| format),
            counts,
            inputs: program.inputs().to_vec(),
            outputs: program.outputs().to_vec(),
            and_depth: program.and_depth(),
            dot_count: program.dot_count(),
        }
    }
}
