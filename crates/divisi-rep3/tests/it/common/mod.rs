//! Random programs, and what programs give in the clear.

use divisi_circuit::{Build, Gates, Program, plain};

/// Reproducible noise.
pub struct Noise(pub u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 8) as usize % n
    }

    /// Random columns of bytes, each with a number of lanes.
    pub fn columns(&mut self, bytes: usize, lanes: usize) -> Vec<Vec<u8>> {
        (0..bytes).map(|_| (0..lanes).map(|_| self.below(256) as u8).collect()).collect()
    }
}

/// A program of random gates, sums of up to four products among them, with constants inside and among its 64
/// outputs.
pub fn random_program(seed: u64, bytes: usize, gates: usize) -> Program {
    let mut noise = Noise(seed);
    let mut g = Build::verbatim();
    let mut wires = g.input(8 * bytes);
    wires.push(g.constant(true));
    for _ in 0..gates {
        let terms = 1 + noise.below(4);
        let mut pick = || wires[noise.below(wires.len())];
        let (x, y) = (pick(), pick());
        let dot: Vec<_> = (0..terms).map(|_| (pick(), pick())).collect();
        let new = match noise.below(5) {
            0 | 1 => g.xor(x, y),
            2 => g.not(x),
            3 => g.and(x, y),
            _ => g.dot(&dot),
        };
        wires.push(new);
    }
    let mut last = wires.split_off(wires.len() - 62);
    last.extend([g.constant(true), g.constant(false)]);
    g.output(&last);
    g.finish()
}

/// Columns of bytes as the words that the plain evaluation takes.
fn words(columns: &[Vec<u8>]) -> Vec<Vec<u64>> {
    let bit = |column: &[u8], i: usize| {
        let word =
            |lanes: &[u8]| lanes.iter().rev().fold(0, |word, byte| word << 1 | u64::from(byte >> i & 1));
        column.chunks(64).map(word).collect()
    };
    columns.iter().flat_map(|column| (0..8).map(|i| bit(column, i)).collect::<Vec<_>>()).collect()
}

/// What a program gives in the clear, columns in and out.
pub fn in_the_clear(program: &Program, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let lanes = inputs[0].len();
    let words = plain::run(program, &words(inputs)).unwrap();
    let bit = |wire: &Vec<u64>, l: usize| (wire[l / 64] >> (l % 64) & 1) as u8;
    let byte = |wires: &[Vec<u64>], l: usize| wires.iter().rev().fold(0, |sum, wire| sum << 1 | bit(wire, l));
    words.chunks(8).map(|wires| (0..lanes).map(|l| byte(wires, l)).collect()).collect()
}
