//! The facts that `divisi circuit info` prints; those of a circuit in a file are found without loading it.

use super::{NamedCircuit, built_in, in_file, unread, write};
use crate::failure::Failure;
use crate::name::Name;
use crate::source::NamedSource;
use divisi_circuit::bristol::{BitOrder, FileCounts, Format, survey};
use divisi_symmetric::gates::Adder;
use std::io::{self, BufReader};

/// The facts about a circuit.
pub struct About {
    /// The name of the circuit or of its file, as it was given.
    pub name: Name,
    /// The format of its file; `None` for a built-in circuit.
    pub format: Option<Format>,
    /// The order of bits of a published file that is known by its gates; `None` for all other circuits.
    pub order: Option<BitOrder>,
    /// The counts of gates and wires that its file has, or would have.
    pub counts: FileCounts,
    /// The width of each input value.
    pub inputs: Vec<usize>,
    /// The width of each output value.
    pub outputs: Vec<usize>,
    /// The longest chain of ANDs.
    pub and_depth: usize,
    /// The number of sums of products.
    pub dot_count: usize,
}

/// The facts about the built-in circuit of that name; else about the one in the file of that name.
///
/// # Errors
/// [`Failure`] if the file cannot be read, or is no circuit; it names the line.
pub fn info(name: impl Into<Name>, adder: Adder) -> Result<About, Failure> {
    let name: Name = name.into();
    if let Some(program) = built_in(&name, adder)? {
        let counts = write(&program, &mut io::sink()).map_err(|e| Failure::unavailable(e.to_string()))?;
        return Ok(About::of(&NamedCircuit { name, program, file: None }, counts));
    }
    let (name, length) = in_file(&name)?;
    // a change meanwhile is an error of the reader
    let file = NamedSource::open(name.path()).and_then(NamedSource::sized).map_err(|e| unread(&name, e))?;
    let survey = survey(BufReader::with_capacity(1 << 16, file), length)
        .map_err(|e| Failure::usage(format!("{name}, {e}")))?;
    Ok(About {
        name,
        format: Some(survey.header.format),
        order: survey.order,
        counts: survey.counts,
        inputs: survey.header.inputs,
        outputs: survey.header.outputs,
        and_depth: survey.and_depth,
        // in a file every AND is a sum of one product
        dot_count: survey.counts.and,
    })
}

impl About {
    /// The facts about a circuit in memory, with these counts of its file.
    #[must_use]
    pub fn of(circuit: &NamedCircuit, counts: FileCounts) -> About {
        let program = &circuit.program;
        About {
            name: circuit.name.clone(),
            format: circuit.file.map(|(format, ..)| format),
            order: circuit.file.and_then(|(.., order)| order),
            counts,
            inputs: program.inputs().to_vec(),
            outputs: program.outputs().to_vec(),
            and_depth: program.and_depth(),
            dot_count: program.dot_count(),
        }
    }
}
