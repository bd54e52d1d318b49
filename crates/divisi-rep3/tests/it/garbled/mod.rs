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
mod sweep;

use crate::common::{Noise, in_the_clear, random_program};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Abort, Boolean, Convert, ProgramRun, settle};
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Bit, Byte, Protocol, Rep3, Rounds, Security, Trio};

/// Eight bits that are the products of two bytes' bits, each with a third byte's.
fn small_program() -> Program {
    let mut g = Build::new();
    let [x, y, z] = [(); 3].map(|()| g.input(8));
    let xy: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    let out: Vec<_> = xy.iter().zip(&z).map(|(xy, z)| g.and(*xy, *z)).collect();
    g.output(&out);
    g.finish()
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

/// What one party does: `skip` empty calls, so that roles move on, then the program, then what comes of it
/// opened.
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
    let mut jobs = [ProgramRun::new(program, wires)];
    e.run(&mut jobs)?;
    let out = bytes(&mut e, &jobs[0].wires)?;
    let pending = e.close_linear(out)?;
    let verified = settle(&mut e, pending)?;
    e.trio().open(&verified)
}

/// Make calls without inputs and outputs: the roles rotate, and nothing is sent.
fn turn(e: &mut Rep3, calls: usize) -> Result<(), Abort> {
    let empty = Build::new().finish();
    for _ in 0..calls {
        e.run(&mut [ProgramRun::new(&empty, vec![])])?;
    }
    Ok(())
}

/// Inputs of a run, dealt.
fn dealt(seed: u64, columns: usize, lanes: usize) -> (Vec<Vec<u8>>, [Vec<Part>; 3]) {
    let inputs = Noise(seed).columns(columns, lanes);
    let parts = deal_all(&inputs);
    (inputs, parts)
}
