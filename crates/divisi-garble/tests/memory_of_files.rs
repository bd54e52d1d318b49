//! A circuit in its file grows a party's memory by a few bytes a wire, and by nothing else.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Stream, plain};
use divisi_core::PartyId;
use divisi_garble::Plan;
use divisi_garble::lab::GarbleLab;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const WIDTH: usize = 500;

/// Write this many layers of ANDs and XORs, gate by gate, so that this process never holds the circuit.
fn write(path: &Path, layers: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let wires = WIDTH * (2 * layers + 1);
    writeln!(file, "{} {wires}\n1 {WIDTH}\n1 16\n", wires - WIDTH).unwrap();
    for wire in WIDTH..wires {
        let (layer, place) = (wire / WIDTH - 1, wire % WIDTH);
        let above = |by: usize| wire - place - WIDTH + (place + by) % WIDTH;
        let name = ["AND", "XOR"][layer % 2];
        writeln!(file, "2 1 {} {} {wire} {name}", above(0), above(1 + layer % 7)).unwrap();
    }
    file.flush().unwrap();
}

/// The most memory that this process ever had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

fn run(path: &Path, layers: usize) {
    write(path, layers);
    let stream = Stream::open(path.to_path_buf()).unwrap();
    assert_eq!(stream.and_count(), WIDTH * layers);
    let plan = Plan::streamed(&stream, 2, &[PartyId::P2], &[PartyId::all(2).collect()]).unwrap();
    let lab = GarbleLab::in_batches(4096);
    let input: Vec<u8> = (0..WIDTH).map(|i| u8::from(i % 3 != 1)).collect();
    let words: Vec<Vec<u64>> = input.iter().map(|b| vec![u64::from(*b)]).collect();
    let want: Vec<u8> =
        plain::run_stream(&stream, &words).unwrap().iter().map(|w| (w[0] & 1) as u8).collect();
    for (outputs, _) in lab.run(&plan, &[input]).unwrap() {
        assert_eq!(outputs[0], want);
    }
}

#[test]
fn twenty_times_the_gates_take_a_few_bytes_each() {
    let path = std::env::temp_dir().join(format!("divisi-memory-{}.txt", std::process::id()));
    run(&path, 20);
    let before = peak();
    run(&path, 400);
    let grown = peak() - before;
    std::fs::remove_file(&path).unwrap();
    // 380,000 wires more, at nine bytes each: both parties read at once, and share the survey; a program
    // would take 60 MB
    assert!(grown < 10 << 20, "{grown} bytes");
}
