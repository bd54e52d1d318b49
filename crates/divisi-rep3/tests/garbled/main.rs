//! Programs in constant rounds: right in every role, at the stated cost, and what happens to a liar in each
//! of its roles (docs/constant-round.md).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attacks;
mod costs;
mod mutants;
mod right;
mod sweep;

use divisi_circuit::{Build, Gates, Program, plain};
use divisi_core::{Abort, Boolean, Convert, Job, settle};
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Bit, Byte, Protocol, Rep3, Rounds, Security, Trio};

/// Reproducible noise.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^= self.0 >> 29;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 8) as usize % n
    }

    /// So many columns of bytes, each with so many lanes.
    fn columns(&mut self, bytes: usize, lanes: usize) -> Vec<Vec<u8>> {
        (0..bytes).map(|_| (0..lanes).map(|_| (self.next() >> 20) as u8).collect()).collect()
    }
}

/// A program of random gates, sums of up to four products among them, with constants inside and outside.
fn random_program(seed: u64, bytes: usize, gates: usize) -> Program {
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

/// Eight bits that are the products of two bytes' bits, each with a third byte's.
fn small_program() -> Program {
    let mut g = Build::new();
    let [x, y, z] = [(); 3].map(|()| g.input(8));
    let xy: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    let out: Vec<_> = xy.iter().zip(&z).map(|(xy, z)| g.and(*xy, *z)).collect();
    g.output(&out);
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
fn in_the_clear(program: &Program, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let lanes = inputs[0].len();
    let words = plain::run(program, &words(inputs)).unwrap();
    let bit = |wire: &Vec<u64>, l: usize| (wire[l / 64] >> (l % 64) & 1) as u8;
    let byte = |wires: &[Vec<u64>], l: usize| wires.iter().rev().fold(0, |sum, wire| sum << 1 | bit(wire, l));
    words.chunks(8).map(|wires| (0..lanes).map(|l| byte(wires, l)).collect()).collect()
}

fn bits(e: &mut Rep3, bytes: &[Byte]) -> Result<Vec<Bit>, Abort> {
    let mut bits = Vec::new();
    for byte in bytes {
        let of_byte: [Bit; 8] = e.convert(byte.clone())?;
        bits.extend(of_byte);
    }
    Ok(bits)
}

fn bytes(e: &mut Rep3, bits: &[Bit]) -> Result<Vec<Byte>, Abort> {
    bits.chunks(8).map(|bits| e.convert(std::array::from_fn::<Bit, 8, _>(|i| bits[i].clone()))).collect()
}

/// The engine of a party, in constant rounds.
fn engine(trio: Trio) -> Rep3 {
    let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
    e.use_rounds(Rounds::Constant);
    e
}

/// The values of a party's parts.
fn inputs(trio: &mut Trio, parts: &[Vec<Part>; 3]) -> Result<Vec<Byte>, Abort> {
    let mine = &parts[trio.me().index()];
    mine.iter().map(|part| trio.input(part)).collect()
}

/// What one party does: `skip` calls of nothing in particular, so that roles move on, then the program, then
/// what comes of it opened.
fn play(
    mut trio: Trio,
    program: &Program,
    parts: &[Vec<Part>; 3],
    skip: usize,
) -> Result<Vec<Vec<u8>>, Abort> {
    let secret = inputs(&mut trio, parts)?;
    let mut e = engine(trio);
    turn(&mut e, skip)?;
    let wires = bits(&mut e, &secret)?;
    let mut jobs = [Job::new(program, wires)];
    e.run(&mut jobs)?;
    let out = bytes(&mut e, &jobs[0].wires)?;
    let pending = e.close_linear(out)?;
    let verified = settle(&mut e, pending)?;
    e.trio().open(&verified)
}

/// So many calls without inputs and outputs: roles move on, nothing is sent.
fn turn(e: &mut Rep3, calls: usize) -> Result<(), Abort> {
    let empty = Build::new().finish();
    for _ in 0..calls {
        e.run(&mut [Job::new(&empty, vec![])])?;
    }
    Ok(())
}

/// Inputs of a run, dealt.
fn dealt(seed: u64, columns: usize, lanes: usize) -> (Vec<Vec<u8>>, [Vec<Part>; 3]) {
    let inputs = Noise(seed).columns(columns, lanes);
    let parts = deal_all(&inputs);
    (inputs, parts)
}
