//! What tests of several subjects need: the S-box, conversions, random programs, what programs give in the
//! clear, and how parties ended.

pub mod boxes;
pub mod prelude;

use divisi_circuit::{Build, Gates, Program, plain};
use divisi_core::{
    Abort, Boolean, Bytes, Check, Convert, Counts, Direction, PartyId, ProgramRun, Verified, settle,
};
use divisi_field::{Field, Gf8};
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Bit, Byte, Protocol, Rep3, Security};
use std::fmt::Debug;

pub const LOOKUPS: [Protocol; 3] = [Protocol::Lut16, Protocol::Lut256, Protocol::Lut256Additive];
pub const SECURITIES: [Security; 2] = [Security::SemiHonest, Security::Malicious];
pub const DIRECTIONS: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

/// The S-box of AES.
pub fn sbox(x: u8) -> u8 {
    affine(Gf8(x).inverse().0) ^ 0x63
}

/// The linear part of the affine map.
pub fn affine(y: u8) -> u8 {
    y ^ y.rotate_left(1) ^ y.rotate_left(2) ^ y.rotate_left(3) ^ y.rotate_left(4)
}

/// The parts of one value.
pub fn parts(secret: &[u8]) -> [Part; 3] {
    deal_all(&[secret.to_vec()]).map(|mut parts| parts.remove(0))
}

pub fn bits(e: &mut Rep3, bytes: &[Byte]) -> Result<Vec<Bit>, Abort> {
    let mut bits = Vec::new();
    for byte in bytes {
        let of_byte: [Bit; 8] = e.convert(byte.clone())?;
        bits.extend(of_byte);
    }
    Ok(bits)
}

pub fn bytes(e: &mut Rep3, bits: &[Bit]) -> Result<Vec<Byte>, Abort> {
    bits.chunks(8).map(|bits| e.convert(std::array::from_fn::<Bit, 8, _>(|i| bits[i].clone()))).collect()
}

/// What a computation gives, closed with what it owes, and settled.
pub fn settled<T>(e: &mut Rep3, x: T) -> Result<Verified<T>, Abort> {
    let pending = e.close(x);
    settle(e, pending)
}

/// The same of what is linear in verified values.
pub fn linear<T>(e: &mut Rep3, x: T) -> Result<Verified<T>, Abort> {
    let pending = e.close_linear(x)?;
    settle(e, pending)
}

/// The S-box of random bytes: a value that owes its products.
pub fn random_sbox(e: &mut Rep3, lanes: usize) -> Result<Byte, Abort> {
    let mut x = e.random_bytes(lanes)?;
    e.sbox(Direction::Encrypt, &mut [&mut x])?;
    Ok(x)
}

/// Run one program.
pub fn run_one(e: &mut Rep3, program: &Program, wires: Vec<Bit>) -> Result<Vec<Bit>, Abort> {
    let mut jobs = [ProgramRun::new(program, wires)];
    e.run(&mut jobs)?;
    let [job] = jobs;
    Ok(job.wires)
}

/// Payload bits that this party sent, and rounds, in a phase.
pub fn spent(counts: &Counts, phase: &str) -> (u64, u32) {
    counts.phases.get(phase).map_or((0, 0), |p| (p.bits, p.rounds))
}

/// How often a check was made.
pub fn times(counts: &Counts, check: Check) -> u64 {
    counts.checks.get(&check).copied().unwrap_or(0)
}

/// How those ended who are not corrupt.
pub fn others<R>(
    corrupt: PartyId,
    results: &[Result<R, Abort>],
) -> impl Iterator<Item = (PartyId, &Result<R, Abort>)> {
    PartyId::all(3).zip(results).filter(move |(party, _)| *party != corrupt)
}

/// Asserts that all parties end with misuse, or are told of another's.
pub fn is_misuse_of_all<R: Debug>(what: &str, results: &[Result<R, Abort>]) {
    is_misuse(what, results);
    let told = |r: &Result<R, Abort>| matches!(r, Err(Abort::Misuse { .. } | Abort::Network(_)));
    assert!(results.iter().all(told), "{what}: {results:?}");
}

/// Asserts that no party continues, and that at least one reports misuse.
pub fn is_misuse<R: Debug>(what: &str, results: &[Result<R, Abort>]) {
    assert!(results.iter().all(Result::is_err), "{what}: {results:?}");
    assert!(results.iter().any(|r| matches!(r, Err(Abort::Misuse { .. }))), "{what}: {results:?}");
}

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

/// Bit by bit the product of this many bytes.
pub fn byte_product(factors: usize) -> Program {
    let mut g = Build::new();
    let mut inputs: Vec<_> = (0..factors).map(|_| g.input(8)).collect();
    let first = inputs.remove(0);
    let z = inputs.iter().fold(first, |z, x| z.iter().zip(x).map(|(z, x)| g.and(*z, *x)).collect());
    g.output(&z);
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
