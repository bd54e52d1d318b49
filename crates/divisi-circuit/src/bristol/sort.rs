//! Sorts the gates of a file so that every wire is written before it is read.

use super::error::BristolError;
use super::gates::{LONGEST, Reader};
use super::syntax::{Format, Gate, Header};
use super::wires::{stranger, twice};
use std::ops::Range;

/// A gate's line: where it is in the list of texts, and which of the list of wires it reads.
struct Place {
    line: usize,
    text: Range<usize>,
    reads: Range<usize>,
}

/// The same file with its gates in an order in which [`read`](super::read) accepts them, and whether that
/// order is another one. A gate stays behind those before it unless they need its result. Comments are left
/// out. Memory is proportional to the length of the file.
///
/// # Errors
/// [`BristolError`] names the first line that cannot be parsed, that reads a wire that no line writes, that
/// writes a wire a second time, or whose result depends on itself.
pub fn sort(file: &[u8]) -> Result<(Vec<u8>, bool), BristolError> {
    if file.len() > LONGEST {
        return Err(BristolError::new(1, format!("files of more than {LONGEST} bytes are not read")));
    }
    let mut reader = Reader::new(file, file.len())?;
    let header = reader.header().clone();
    let (mut texts, mut reads, mut gates) = (String::new(), Vec::new(), Vec::new());
    // the gate that writes each wire; inputs are written by none
    let inputs: usize = header.inputs.iter().sum();
    let mut writers: Vec<Option<usize>> = vec![None; header.wires];
    loop {
        let (from, number) = (reads.len(), gates.len());
        let mut write = |line: usize, wire: usize| match writers.get_mut(wire) {
            Some(Some(_)) => Err(twice(line, wire)),
            Some(_) if wire < inputs => Err(twice(line, wire)),
            Some(writer) => {
                *writer = Some(number);
                Ok(())
            }
            None => Err(stranger(line, wire, header.wires)),
        };
        let line = match reader.gate()? {
            Some((line, gate)) => {
                match gate {
                    Gate::Xor { x, y, out, .. } | Gate::And { x, y, out, .. } => {
                        reads.extend([x, y]);
                        write(line, out)?;
                    }
                    Gate::Inv { x, out } | Gate::Eqw { x, out } => {
                        reads.push(x);
                        write(line, out)?;
                    }
                    Gate::Eq { out, .. } => write(line, out)?,
                    Gate::Mand { x, y, out } => {
                        reads.extend(x.iter().chain(y));
                        out.iter().try_for_each(|out| write(line, *out))?;
                    }
                }
                line
            }
            None => break,
        };
        let start = texts.len();
        texts.push_str(reader.text());
        gates.push(Place { line, text: start..texts.len(), reads: from..reads.len() });
    }
    let order = order(&gates, &reads, &writers, inputs)?;
    let mut sorted = head(&header);
    for place in order.iter().filter_map(|gate| gates.get(*gate)) {
        sorted.push_str(texts.get(place.text.clone()).unwrap_or_default());
        sorted.push('\n');
    }
    let is_other = order.iter().enumerate().any(|(at, gate)| at != *gate);
    Ok((sorted.into_bytes(), is_other))
}

/// The numbers of the gates, each after those whose results it reads.
fn order(
    gates: &[Place],
    reads: &[usize],
    writers: &[Option<usize>],
    inputs: usize,
) -> Result<Vec<usize>, BristolError> {
    let mut order = Vec::with_capacity(gates.len());
    // for each gate, whether it has been begun, and whether it is in the order
    let (mut begun, mut done) = (vec![false; gates.len()], vec![false; gates.len()]);
    // a gate and how many of its wires have been looked at: the path from a gate to what it needs
    let mut path: Vec<(usize, usize)> = Vec::new();
    for first in 0..gates.len() {
        path.push((first, 0));
        while let Some((gate, at)) = path.pop() {
            let (Some(place), Some(is_begun), Some(is_done)) =
                (gates.get(gate), begun.get_mut(gate), done.get_mut(gate))
            else {
                continue;
            };
            if *is_done {
                continue;
            }
            *is_begun = true;
            let Some(wire) = reads.get(place.reads.clone()).and_then(|reads| reads.get(at)).copied() else {
                *is_done = true;
                order.push(gate);
                continue;
            };
            path.push((gate, at + 1));
            let writer = match writers.get(wire) {
                Some(Some(writer)) => *writer,
                Some(None) if wire < inputs => continue,
                Some(None) => {
                    return Err(BristolError::new(
                        place.line,
                        format!("no line writes wire {wire}, which is read"),
                    ));
                }
                None => return Err(stranger(place.line, wire, writers.len())),
            };
            if done.get(writer) == Some(&true) {
                continue;
            }
            if begun.get(writer) == Some(&true) {
                let reason = format!("wire {wire} depends on itself: a circuit has no cycles");
                return Err(BristolError::new(place.line, reason));
            }
            path.push((writer, 0));
        }
    }
    Ok(order)
}

/// The lines of a header.
fn head(header: &Header) -> String {
    let list = |widths: &[usize]| widths.iter().map(|width| format!(" {width}")).collect::<String>();
    let (inputs, outputs) = (&header.inputs, &header.outputs);
    let widths = match header.format {
        Format::Older => format!("{}{}", list(inputs).trim_start(), list(outputs)),
        Format::Fashion => {
            format!("{}{}\n{}{}", inputs.len(), list(inputs), outputs.len(), list(outputs))
        }
    };
    format!("{} {}\n{widths}\n\n", header.gates, header.wires)
}
