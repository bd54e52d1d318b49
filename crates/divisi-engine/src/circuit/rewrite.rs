//! Rewriting of circuits: into another format or order of wires, or with fewer gates.

use super::{NamedCircuit, words};
use crate::failure::Failure;
use divisi_circuit::bristol::{self, FileCounts, Format, Transcript, Untranscribed, Unwritable};
use divisi_circuit::optimise::optimise;
use divisi_circuit::{Build, Program, plain};
use divisi_net::{Machine, World};
use std::io::{self, Write};

/// The number of random inputs on which an optimised circuit must have the outputs of the original one.
const COMPARED: usize = 1024;

/// The program with the wires of every value in reverse order.
///
/// # Errors
/// Never in practice, because a program accepts its own inputs.
pub fn turned(program: &Program) -> Result<Program, Failure> {
    let mut build = Build::verbatim();
    let mut inputs = Vec::with_capacity(program.input_bits());
    for &width in program.inputs() {
        inputs.extend(build.input(width).into_iter().rev());
    }
    let results = program.replay(&mut build, &inputs).unwrap_or_default();
    let mut rest = &results[..];
    for &width in program.outputs() {
        let (value, after) = rest.split_at(width.min(rest.len()));
        build.output(&value.iter().rev().copied().collect::<Vec<_>>());
        rest = after;
    }
    Ok(build.finish())
}

/// The transcript that is written instead of an optimised circuit that would only be larger: the same gates
/// under their own names, in Bristol Fashion.
pub const AS_IT_IS: Transcript = Transcript { to: Format::Fashion, turned: false, keeps_names: true };

/// The circuit with fewer gates, whose outputs were compared with the original ones on random inputs. `None`
/// if its file, negations included, would have more gates or ANDs than the circuit's own file (`text`) or, if
/// there is none or it cannot be transcribed, than a file of the circuit would have.
///
/// # Errors
/// [`Failure`] if the outputs differ, which would be an error of this program.
pub fn optimised(circuit: &NamedCircuit, text: Option<&[u8]>) -> Result<Option<Program>, Failure> {
    let program = optimise(&circuit.program);
    let inputs = random_inputs(circuit.program.input_bits());
    let [before, after] = [&circuit.program, &program].map(|program| plain::run(program, &inputs));
    if before.is_err() || before != after {
        let name = &circuit.name;
        return Err(Failure::mismatch(format!(
            "the optimised circuit of {name} computes something else, and is not written: this is a fault of divisi, please report it"
        )));
    }
    let own = match text.and_then(|text| transcribed(text, AS_IT_IS)) {
        Some(counts) => counts,
        None => written(&circuit.program, Format::Fashion)?,
    };
    let new = written(&program, Format::Fashion)?;
    Ok((new.total() <= own.total() && new.and <= own.and).then_some(program))
}

/// Random inputs on which two circuits are compared.
fn random_inputs(wires: usize) -> Vec<Vec<u64>> {
    let mut inputs = vec![0; wires.div_ceil(8) * COMPARED];
    Machine.entropy(&mut inputs);
    words(wires, COMPARED, &inputs)
}

/// Whether to transcribe the file of a circuit in this way, and not to write the circuit from memory: yes,
/// unless that takes more gates.
///
/// # Errors
/// [`Failure`] if the format cannot express the program.
pub fn is_better_transcribed(program: &Program, text: &[u8], how: Transcript) -> Result<bool, Failure> {
    let anew = written(program, how.to)?;
    Ok(transcribed(text, how).is_some_and(|counts| counts.total() <= anew.total()))
}

/// Whether a file can be transcribed in this way; otherwise it has to be written from memory.
#[must_use]
pub fn can_transcribe(text: &[u8], how: Transcript) -> bool {
    transcribed(text, how).is_some()
}

/// The counts that a transcript would have; `None` if the file cannot be transcribed in this way.
fn transcribed(text: &[u8], how: Transcript) -> Option<FileCounts> {
    bristol::transcribe(text, how, &mut io::sink()).ok()
}

fn written(program: &Program, format: Format) -> Result<FileCounts, Failure> {
    write_as(program, format, &mut io::sink())?.map_err(|e| Failure::unavailable(e.to_string()))
}

/// Write a file in another way, gate by gate.
///
/// # Errors
/// [`Failure`] if the file is no circuit, or the format cannot express it. An error of `out` is returned
/// within `Ok`.
pub fn transcribe(
    text: &[u8],
    how: Transcript,
    out: &mut (impl Write + ?Sized),
) -> Result<io::Result<FileCounts>, Failure> {
    match bristol::transcribe(text, how, out) {
        Ok(counts) => Ok(Ok(counts)),
        Err(Untranscribed::Unwritable(Unwritable::Unwritten(error))) => Ok(Err(error)),
        Err(Untranscribed::Unwritable(unfit)) => Err(Failure::usage(unfit.to_string())),
        Err(Untranscribed::Unread(error)) => Err(Failure::usage(error.to_string())),
        Err(_) => Err(Failure::usage(
            "an output of the circuit is one of its inputs, which this format cannot express without one more gate",
        )),
    }
}

/// Write a program in either format.
///
/// # Errors
/// [`Failure`] if the format cannot express the program. An error of `out` is returned within `Ok`.
pub fn write_as(
    program: &Program,
    format: Format,
    out: &mut (impl Write + ?Sized),
) -> Result<io::Result<FileCounts>, Failure> {
    match bristol::write_as(program, format, out) {
        Ok(counts) => Ok(Ok(counts)),
        Err(Unwritable::Unwritten(error)) => Ok(Err(error)),
        Err(unfit) => Err(Failure::usage(unfit.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::read;
    use divisi_symmetric::circuits;
    use divisi_symmetric::gates::Adder;

    const ADDER: &[u8] = include_bytes!("../../../divisi-circuit/tests/vectors/adder_32bit.txt");

    /// Each wire has both values among any 64 inputs, but once in 2^52 tests, and no two wires have the same
    /// ones.
    #[test]
    fn circuits_are_compared_on_random_inputs() {
        let inputs = random_inputs(70);
        assert!(inputs.len() == 70 && inputs.iter().all(|wire| wire.len() == COMPARED / 64));
        assert!(inputs.iter().flatten().all(|word| ![0, u64::MAX].contains(word)));
        let different: std::collections::BTreeSet<_> = inputs.iter().collect();
        assert_eq!(different.len(), 70);
    }

    /// A file is transcribed unless that takes more gates, and if it is a circuit at all.
    #[test]
    fn files_are_transcribed_unless_that_takes_more_gates() {
        let of = |gates: &[&str]| {
            let wires = 2 + gates.len();
            format!("{} {wires}\n2 1 1\n1 1\n\n{}\n", gates.len(), gates.join("\n"))
        };
        let (least, more) = (of(&["2 1 0 1 2 AND"]), of(&["1 1 0 2 INV", "1 1 2 3 INV", "2 1 3 1 4 AND"]));
        for (text, better) in [(&least, true), (&more, false)] {
            let program = bristol::read(text.as_bytes()).unwrap().program;
            assert_eq!(is_better_transcribed(&program, text.as_bytes(), AS_IT_IS).unwrap(), better, "{text}");
            assert!(can_transcribe(text.as_bytes(), AS_IT_IS));
        }
        let program = bristol::read(least.as_bytes()).unwrap().program;
        for none in [&b""[..], b"1 3\n", b"no circuit"] {
            assert!(!can_transcribe(none, AS_IT_IS));
            assert!(!is_better_transcribed(&program, none, AS_IT_IS).unwrap());
        }
    }

    /// What `circuit optimise` writes has never more gates than before, with all gates counted.
    fn check(circuit: &NamedCircuit, text: Option<&[u8]>) {
        let own = match text {
            Some(text) => bristol::read(text).unwrap().counts,
            None => written(&circuit.program, Format::Fashion).unwrap(),
        };
        let new = match (optimised(circuit, text).unwrap(), text) {
            (Some(program), _) => written(&program, Format::Fashion).unwrap(),
            (None, Some(text)) => {
                let mut kept = Vec::new();
                let counts = bristol::transcribe(text, AS_IT_IS, &mut kept).unwrap();
                assert_eq!(bristol::read(&kept).unwrap().program, circuit.program, "{}", circuit.name);
                counts
            }
            (None, None) => own,
        };
        assert!(new.total() <= own.total() && new.and <= own.and, "{}: {own:?}, {new:?}", circuit.name);
    }

    #[test]
    fn no_file_has_more_gates_than_before() {
        for name in circuits::NAMES {
            let program = crate::circuit::named(name, Adder::LowDepth).unwrap().unwrap();
            // as it is, and through its own file
            let mut text = Vec::new();
            bristol::write(&program, &mut text).unwrap();
            check(&NamedCircuit { name: name.into(), program, file: None }, None);
            check(&read(name.into(), &text).unwrap(), Some(&text));
        }
        let older = read("adder".into(), ADDER).unwrap();
        check(&older, Some(ADDER));
        let mut fashion = Vec::new();
        let how = Transcript { to: Format::Fashion, turned: false, keeps_names: false };
        let counts = bristol::transcribe(ADDER, how, &mut fashion).unwrap();
        assert_eq!(Some(counts), older.file.map(|(_, counts, _)| counts));
        assert_eq!(bristol::read(&fashion).unwrap().program, older.program);
    }
}
