//! Random inputs for files of circuits.

use crate::files::turned;
use divisi_circuit::bristol::{Format, Transcript, transcribe};
use divisi_circuit::stream::{CircuitFault, GateStep, Origin, Stream};
use divisi_circuit::{Build, Gates, bristol, plain};
use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex};

fn some_circuits() -> Vec<Vec<u8>> {
    let mut build = Build::new();
    let (x, y) = (build.input(3), build.input(3));
    let and: Vec<_> = x.iter().zip(&y).map(|(x, y)| build.and(*x, *y)).collect();
    let outputs = [build.not(and[0]), build.xor(and[1], y[2]), and[2]];
    build.output(&outputs);
    let mut text = Vec::new();
    bristol::write(&build.finish(), &mut text).unwrap();
    // the format before Bristol Fashion
    vec![text, b"2 5\n2 1 1\n\n2 1 0 1 2 AND\n1 1 2 4 INV\n".to_vec()]
}

/// A circuit that is read, and written again, computes the same.
#[test]
fn random_circuits() {
    divisi_fuzz::golden("circuits", env!("CARGO_MANIFEST_DIR"), &some_circuits());
    divisi_fuzz::run("circuits", env!("CARGO_MANIFEST_DIR"), &some_circuits(), |bytes| {
        let Ok(source) = bristol::read(bytes) else { return Ok(false) };
        let mut text = Vec::new();
        if bristol::write(&source.program, &mut text).is_err() {
            return Ok(true);
        }
        let again = bristol::read(&text).map_err(|e| format!("what was written is not read: {e}"))?;
        let wires: usize = source.program.inputs().iter().sum();
        let inputs = vec![vec![0x9e37_79b9_7f4a_7c15]; wires];
        let run = |program| plain::run(program, &inputs).map_err(|e| e.to_string());
        if run(&source.program)? == run(&again.program)? { Ok(true) } else { Err("another circuit".into()) }
    });
}

/// Gates that are sorted are read if they were read before, and compute the same; sorting them again changes
/// nothing.
#[test]
fn random_orders() {
    let mut seeds = some_circuits();
    seeds.push(b"3 5\n1 1 1\n\n1 1 3 4 INV\n2 1 0 1 3 NAND\n1 1 0 2 EQW\n".to_vec());
    divisi_fuzz::run("circuits", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let (source, sorted) = (bristol::read(bytes), bristol::sort(bytes));
        let Ok((text, is_other)) = sorted else {
            return if source.is_ok() { Err("a circuit that cannot be sorted".into()) } else { Ok(false) };
        };
        let again = bristol::sort(&text).map_err(|e| format!("what was sorted is not sorted: {e}"))?;
        if again != (text.clone(), false) {
            return Err("another order".into());
        }
        match (source, bristol::read(&text)) {
            (Ok(source), Ok(again)) if is_other || source != again => Err("another circuit".into()),
            (Ok(_), Err(e)) => Err(format!("a circuit that is not read when it is sorted: {e}")),
            _ => Ok(true),
        }
    });
}

/// The check of circuits that stay in their file accepts what the reader of circuits accepts.
#[test]
fn random_surveys() {
    divisi_fuzz::run("circuits", env!("CARGO_MANIFEST_DIR"), &some_circuits(), |bytes| {
        let taken = bristol::survey(BufReader::new(bytes), bytes.len()).is_ok();
        if taken == bristol::read(bytes).is_ok() { Ok(taken) } else { Err("the two readers differ".into()) }
    });
}

/// Inputs for a circuit, a word of lanes for each wire.
fn inputs(widths: &[usize]) -> Vec<Vec<u64>> {
    let wires: usize = widths.iter().sum();
    (1..=wires as u64).map(|i| vec![i.wrapping_mul(0x9e37_79b9_7f4a_7c15)]).collect()
}

/// A circuit that is run from its file computes what it does in memory.
#[test]
fn random_streams() {
    divisi_fuzz::run("circuits", env!("CARGO_MANIFEST_DIR"), &some_circuits(), |bytes| {
        let stream = Stream::open(bytes.to_vec());
        let (Ok(stream), Ok(source)) = (&stream, bristol::read(bytes)) else {
            return if stream.is_err() { Ok(false) } else { Err("the two readers differ".into()) };
        };
        if stream.inputs() != source.program.inputs() || stream.outputs() != source.program.outputs() {
            return Err("other inputs or outputs".into());
        }
        let inputs = inputs(stream.inputs());
        let run = plain::run(&source.program, &inputs).map_err(|e| e.to_string())?;
        if plain::run_stream(stream, &inputs).is_ok_and(|same| same == run) {
            Ok(true)
        } else {
            Err("another circuit".into())
        }
    });
}

/// A file that may change between two readings.
#[derive(Clone, Debug)]
struct Changing(Arc<Mutex<Vec<u8>>>);

impl Origin for Changing {
    fn open(&self) -> io::Result<(u64, Box<dyn Read + '_>)> {
        let bytes = self.0.lock().unwrap().clone();
        Ok((bytes.len() as u64, Box::new(io::Cursor::new(bytes))))
    }
}

/// Whatever a file becomes after it was checked, a run has the steps of the file that was checked, or ends
/// with an error.
#[test]
fn random_changes_of_a_streamed_circuit() {
    let [sound, _] = &some_circuits()[..] else { panic!("two circuits") };
    let file = Changing(Arc::new(Mutex::new(sound.clone())));
    let stream = Stream::open(file.clone()).unwrap();
    let steps = || {
        let mut steps = Vec::<GateStep>::new();
        let end = stream.for_each_step(|step| {
            steps.push(step);
            Ok::<_, CircuitFault>(())
        });
        (steps, end)
    };
    let (whole, _) = steps();
    divisi_fuzz::run("circuits", env!("CARGO_MANIFEST_DIR"), &some_circuits(), |bytes| {
        *file.0.lock().unwrap() = bytes.to_vec();
        match steps() {
            (steps, Ok(())) if steps == whole && bytes == sound => Ok(true),
            (_, Ok(())) => Err("a change that is not noticed".into()),
            (steps, Err(_)) if whole.starts_with(&steps) => Ok(false),
            (..) => Err("steps of another circuit".into()),
        }
    });
}

/// A transcribed circuit computes the same, with the wires of its values in their order or in reverse order.
#[test]
fn random_transcripts() {
    divisi_fuzz::run("circuits", env!("CARGO_MANIFEST_DIR"), &some_circuits(), |bytes| {
        let source = bristol::read(bytes);
        let mut taken = false;
        for (to, keeps_names) in [(Format::Fashion, true), (Format::Fashion, false), (Format::Older, false)] {
            for turns in [false, true] {
                let (how, mut text) = (Transcript { to, turned: turns, keeps_names }, Vec::new());
                let (Ok(_), Ok(source)) = (transcribe(bytes, how, &mut text), &source) else { continue };
                taken = true;
                let again = bristol::read(&text).map_err(|e| format!("what was written is not read: {e}"))?;
                let turn = |widths: &[usize], wires: Vec<Vec<u64>>| {
                    if turns { turned(widths, &wires) } else { wires }
                };
                let run =
                    |program, inputs: &[Vec<u64>]| plain::run(program, inputs).map_err(|e| e.to_string());
                let own = inputs(source.program.inputs());
                let wanted = turn(source.program.outputs(), run(&source.program, &own)?);
                if run(&again.program, &turn(source.program.inputs(), own))? != wanted {
                    return Err(format!("another circuit: {to:?} {keeps_names} {turns}"));
                }
            }
        }
        Ok(taken)
    });
}
