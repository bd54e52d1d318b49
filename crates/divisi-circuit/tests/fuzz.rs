//! Random inputs for files of circuits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use divisi_circuit::{Build, Gates, bristol, plain};
use std::io::BufReader;

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

/// A circuit that is taken is written so that it computes the same.
#[test]
fn random_circuits() {
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

/// The reader of circuits that stay in their file takes what the other one takes.
#[test]
fn random_surveys() {
    divisi_fuzz::run("circuits", env!("CARGO_MANIFEST_DIR"), &some_circuits(), |bytes| {
        let taken = bristol::survey(BufReader::new(bytes), bytes.len()).is_ok();
        if taken == bristol::read(bytes).is_ok() { Ok(taken) } else { Err("the two readers differ".into()) }
    });
}
