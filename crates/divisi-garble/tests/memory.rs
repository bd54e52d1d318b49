//! The streamed mode's memory does not grow with the circuit.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::PartyId;
use divisi_garble::Plan;
use divisi_garble::lab::{GarbleLab, expected};

const WIDTH: usize = 500;

/// A program with this many layers of ANDs and XORs.
fn layers(layers: usize) -> Program {
    let mut g = Build::verbatim();
    let mut wires = g.input(WIDTH);
    for layer in 0..layers {
        // never a wire with itself, which a plan would fold
        let turned = |i: usize| wires[(i + 1 + layer % 7) % WIDTH];
        let products: Vec<_> = (0..WIDTH).map(|i| (wires[i], turned(i))).collect();
        wires = products
            .iter()
            .enumerate()
            .map(|(i, (x, y))| {
                let product = g.and(*x, *y);
                g.xor(product, wires[(i + 3) % WIDTH])
            })
            .collect();
    }
    g.output(&wires[..16]);
    g.finish()
}

/// The most memory that this process ever had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

fn run(program: &Program) {
    let plan = Plan::for_all(program, 2, &[PartyId::P2]).unwrap();
    let input: Vec<u8> = (0..WIDTH).map(|i| u8::from(i % 3 != 1)).collect();
    let want = expected(program, &input);
    for (outputs, _) in GarbleLab::in_batches(4096).run(&plan, &[input]).unwrap() {
        assert_eq!(outputs[0], want);
    }
}

#[test]
fn twenty_times_the_gates_take_no_more_memory() {
    let (small, large) = (layers(20), layers(400));
    assert_eq!((small.and_count(), large.and_count()), (10_000, 200_000));
    run(&small);
    let before = peak();
    run(&large);
    let grown = peak() - before;
    // tables alone would be 11 MB, triples 40 MB, masks of all wires 13 MB
    assert!(grown < 4 << 20, "{grown} bytes");
}
