//! Programs in constant rounds: right in every role, at the stated cost, and what happens to a liar in each
//! of its roles (docs/constant-round.md).

mod ahead;
mod attacks;
mod beside;
mod costs;
mod jobs;
mod mutants;
mod names;
mod right;
mod seen;
mod selective;
mod stock;
mod wide;

use crate::common::prelude::*;
use attacks::{Gap, LANES, roles, transparent};
use divisi_net::wire_bytes;
use divisi_symmetric::circuits::named;
use divisi_symmetric::gates::Adder;

const SALT: &str = "divisi_rep3::garbled/salt";
const TABLES: &str = "divisi_rep3::garbled/tables";
const LABELS: &str = "divisi_rep3::garbled/labels";
const MASKS: &str = "divisi_rep3::garbled/masks";
const DECODING: &str = "divisi_rep3::garbled/decoding";
const RESULT: &str = "divisi_rep3::garbled/result";

/// The places of P1, P2 and P3 among [`roles`].
const FIRST: usize = 0;
const SECOND: usize = 1;
const EVALUATOR: usize = 2;

/// Eight bits that are the products of three bytes' bits.
fn small_program() -> Program {
    byte_product(3)
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

/// A party's engine after `calls` empty calls, by which roles move on, and its inputs as bits.
fn begin(mut trio: Trio, parts: &[Vec<Part>; 3], calls: usize) -> Result<(Rep3, Vec<Bit>), Abort> {
    let secret = inputs(&mut trio, parts)?;
    let mut e = engine(trio);
    turn(&mut e, calls)?;
    let wires = bits(&mut e, &secret)?;
    Ok((e, wires))
}

fn open(e: &mut Rep3, out: &[Bit]) -> Result<Vec<Vec<u8>>, Abort> {
    let out = bytes(e, out)?;
    e.reveal(out)
}

/// Run one program; if it is garbled ahead, with this many of its inputs known.
fn run_by(
    e: &mut Rep3,
    program: &Program,
    lanes: usize,
    mut wires: Vec<Bit>,
    known: Option<usize>,
) -> Result<Vec<Bit>, Abort> {
    let Some(known) = known else { return run_one(e, program, wires) };
    let later = wires.split_off(known);
    let ahead = e.garble_ahead(program, lanes, &wires)?;
    e.run_ahead(ahead, later)
}

/// What a party has of the first byte of an output.
fn held(e: &mut Rep3, out: &[Bit]) -> Result<Part, Abort> {
    let out = bytes(e, out)?.swap_remove(0);
    let verified = e.settled(out)?;
    e.trio().part(&verified)
}

/// What one party does: `skip` empty calls, then the program, then what comes of it opened.
fn play(trio: Trio, program: &Program, parts: &[Vec<Part>; 3], skip: usize) -> Result<Vec<Vec<u8>>, Abort> {
    let (mut e, wires) = begin(trio, parts, skip)?;
    let out = run_one(&mut e, program, wires)?;
    open(&mut e, &out)
}

/// Make calls without inputs and outputs: the roles rotate, and nothing is sent.
fn turn(e: &mut Rep3, calls: usize) -> Result<(), Abort> {
    (0..calls).try_for_each(|_| run_one(e, &empty(0), vec![]).map(drop))
}

/// A known circuit.
fn circuit(name: &str) -> Program {
    named(name, Adder::FewestAnds).unwrap().unwrap()
}

/// A program of this many inputs that does nothing.
fn empty(inputs: usize) -> Program {
    let mut g = Build::new();
    g.input(inputs);
    g.finish()
}

/// Asserts that this check failed, and that nobody is blamed.
fn blames_nobody<R>(end: &Result<R, Abort>, check: Check) {
    let found = matches!(end, Err(Abort::CheckFailed { check: at, culprit: None, .. }) if *at == check);
    assert!(found, "{:?}", end.as_ref().err());
}

/// Inputs of a run, dealt.
fn dealt(seed: u64, columns: usize, lanes: usize) -> (Vec<Vec<u8>>, [Vec<Part>; 3]) {
    let inputs = Noise(seed).columns(columns, lanes);
    let parts = deal_all(&inputs);
    (inputs, parts)
}
