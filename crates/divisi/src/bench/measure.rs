//! A segment's chunks through the engine with the clock running: what is made ahead, the cipher, its verification.
//!
//! Blocks stream through in chunks; each chunk is verified before the next begins in its strand, so that what is owed stays
//! bounded, and what a chunk needs made ahead is made just before it. All strands make theirs ahead at once, then wait
//! for one another and for the other parties: so that the phases have clean marks. The verification of one chunk overlaps the work on others.

use super::message::{Times, Took};
use super::work::{What, nonce};
use crate::cleanup::lock;
use crate::failure::Failure;
use crate::local::cpu_seconds;
use divisi_circuit::Program;
use divisi_core::{
    Abort, Boolean, Bytes, Convert, Direction, Job, Lanes, Pending, Step, Verified, settle, step,
};
use divisi_net::Permits;
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Byte, Passes, Products, Protocol, Rep3, Security};
use divisi_symmetric::aes::{self, KeySize, RoundKeys};
use divisi_symmetric::batch::{Function, Messages, SecretByte, bits, byte_values};
use std::sync::Mutex;
use std::time::Instant;

pub(super) const INPUT: Step = step!("input");

/// Wall time and the process's user and system time.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    wall: Instant,
    cpu: f64,
}

impl Mark {
    pub fn now() -> Self {
        Mark { wall: Instant::now(), cpu: cpu_seconds() }
    }

    pub fn until(self, end: Mark) -> Took {
        let seconds = end.wall.saturating_duration_since(self.wall).as_secs_f64();
        Took { seconds, cpu_seconds: end.cpu - self.cpu }
    }
}

/// What the plan's words mean.
pub(super) struct Task {
    pub what: What,
    /// The bytes of an input.
    pub input_bytes: usize,
    pub protocol: Protocol,
    pub security: Security,
    pub key: KeySize,
    pub direction: Direction,
    pub chunk: usize,
    pub statistical: u32,
    pub passes: Passes,
}

impl Task {
    /// Whether something is made before a chunk comes.
    fn makes_ahead(&self) -> bool {
        matches!(self.what, What::Aes) && self.protocol.has_vectors()
    }
}

/// A chunk's inputs: a column for each byte, a lane a block or message.
pub(super) struct Columns {
    pub columns: Vec<Part>,
    pub lanes: usize,
    /// The number of the first one in its segment.
    pub first: u64,
}

/// What is made once for a key, verified.
pub(super) enum Ready {
    Aes(Verified<RoundKeys<Byte>>),
    Function(Verified<Function<Rep3>>),
    Circuit,
}

/// Columns of a message that are bits at once: what is longer goes through piece by piece.
const PIECE: usize = 4096;

/// The chunks' outputs, in order.
pub(super) type Outputs = Vec<Verified<Vec<Byte>>>;

/// How often a segment of so many chunks in so many strands meets ([`segment`]).
pub(super) fn meetings(makes_ahead: bool, chunks: usize, strands: usize) -> usize {
    if makes_ahead { chunks.div_ceil(strands.max(1)) } else { 0 }
}

/// All chunks of a segment; the clock runs from `start`. `meet` waits until all parties are there: the seconds of what is made ahead
/// run to the last party's end, and what one party was slower at is no other phase's time.
pub(super) fn segment(
    engines: &mut [Rep3],
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    start: Mark,
    permits: &Permits,
    meet: &dyn Fn() -> Result<(), Failure>,
) -> Result<(Outputs, Times), Failure> {
    match engines {
        [only] => one_strand(only, task, ready, chunks, start, meet),
        many => strands_at_once(many, task, ready, chunks, start, permits, meet),
    }
}

/// Make what a chunk needs ahead, verified.
fn make_ahead(rep: &mut Rep3, task: &Task, chunk: &Columns) -> Result<(), Abort> {
    rep.trio().session().phase("preprocessing");
    rep.prepare(task.key.rounds(), chunk.columns.len(), chunk.lanes)
}

/// One chunk, from shares of inputs to shares of outputs.
fn compute(
    rep: &mut Rep3,
    task: &Task,
    ready: &Ready,
    chunk: &Columns,
) -> Result<Pending<Vec<Byte>, Products>, Abort> {
    rep.trio().session().phase("online");
    let output = match (ready, &task.what) {
        (Ready::Aes(round_keys), _) => {
            let state =
                chunk.columns.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<_>, _>>()?;
            let misfit = Abort::Misuse { step: INPUT, what: "a block that has not 16 bytes" };
            let mut state: [Byte; 16] = state.try_into().map_err(|_| misfit)?;
            match task.direction {
                Direction::Encrypt => aes::encrypt(rep, round_keys.get(), &mut state)?,
                Direction::Decrypt => aes::decrypt(rep, round_keys.get(), &mut state)?,
            }
            state.into()
        }
        (Ready::Function(function), _) => digest(rep, function.get(), chunk)?,
        (Ready::Circuit, What::Circuit(circuit)) => evaluate(rep, &circuit.program, chunk)?,
        (Ready::Circuit, _) => return Err(Abort::Misuse { step: INPUT, what: "no circuit" }),
    };
    if matches!(ready, Ready::Circuit) && !rep.owes() {
        // a circuit without products
        return rep.close_linear(output);
    }
    Ok(rep.close(output))
}

/// The outputs of a hash or MAC for a chunk of messages.
fn digest(rep: &mut Rep3, function: &Function<Rep3>, chunk: &Columns) -> Result<Vec<Byte>, Abort> {
    let mut state = function.begin(rep);
    // whole pieces, but for the last, which is not empty
    let piece = (PIECE / function.piece()).max(1) * function.piece();
    let mut rest = chunk.columns.as_slice();
    while rest.len() > piece {
        let (now, later) = rest.split_at(piece);
        let now = secret_bits(rep, now)?;
        state = function.update(rep, state, now)?;
        rest = later;
    }
    let last = if rest.is_empty() {
        Messages::public(rep, &vec![&[][..]; chunk.lanes])
    } else {
        Messages::even(secret_bits(rep, rest)?, chunk.lanes)?
    };
    let nonces: Vec<[u8; 12]> = (chunk.first..).take(chunk.lanes).map(nonce).collect();
    let output = function.finish(rep, state, &last, &nonces)?;
    byte_values(rep, output)
}

/// The outputs of a circuit, the last byte filled up with zeros.
fn evaluate(rep: &mut Rep3, program: &Program, chunk: &Columns) -> Result<Vec<Byte>, Abort> {
    let mut wires: Vec<Bit> = secret_bits(rep, &chunk.columns)?.into_iter().flatten().collect();
    wires.truncate(program.input_bits());
    let mut jobs = [Job::new(program, wires)];
    rep.run(&mut jobs)?;
    let [job] = jobs;
    let zero = rep.public_bit(&vec![false; chunk.lanes]);
    let mut output = Vec::with_capacity(job.wires.len().div_ceil(8));
    let mut wires = job.wires.into_iter().peekable();
    while wires.peek().is_some() {
        let mut bits: SecretByte<Rep3> =
            std::array::from_fn(|_| wires.next().unwrap_or_else(|| zero.clone()));
        for bit in &mut bits {
            // what no input has part in has one lane
            if bit.lanes() != chunk.lanes {
                *bit = bit.gather(&vec![0; chunk.lanes]).unwrap_or_else(|| zero.clone());
            }
        }
        output.push(rep.convert(bits)?);
    }
    Ok(output)
}

fn secret_bits(rep: &mut Rep3, columns: &[Part]) -> Result<Vec<SecretByte<Rep3>>, Abort> {
    let bytes = columns.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<_>, _>>()?;
    bits(rep, bytes)
}

/// Verify a chunk's outputs.
fn verify(rep: &mut Rep3, pending: Pending<Vec<Byte>, Products>) -> Result<Verified<Vec<Byte>>, Abort> {
    rep.trio().session().phase("verification");
    settle(rep, pending)
}

/// All chunks in this thread: the clock changes hands between making ahead, computing and verifying.
fn one_strand(
    rep: &mut Rep3,
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    mut start: Mark,
    meet: &dyn Fn() -> Result<(), Failure>,
) -> Result<(Outputs, Times), Failure> {
    let (mut outputs, mut times) = (Vec::with_capacity(chunks.len()), Times::default());
    for columns in chunks {
        if task.makes_ahead() {
            make_ahead(rep, task, columns)?;
            meet()?;
            let made = Mark::now();
            times.preprocessing.add(start.until(made));
            start = made;
        }
        let pending = compute(rep, task, ready, columns)?;
        let computed = Mark::now();
        outputs.push(verify(rep, pending)?);
        let verified = Mark::now();
        times.online.add(start.until(computed));
        times.verification.add(computed.until(verified));
        start = verified;
    }
    Ok((outputs, times))
}

/// Every k-th chunk in a strand of its own: *online* runs until the last chunk has its output shares, and *verification* is
/// what is then left to wait for. Where something is made ahead, the strands take one chunk each, and meet after making and
/// after verifying; else they meet at the end of the segment alone.
fn strands_at_once(
    engines: &mut [Rep3],
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    mut start: Mark,
    permits: &Permits,
    meet: &dyn Fn() -> Result<(), Failure>,
) -> Result<(Outputs, Times), Failure> {
    let (k, ahead) = (engines.len(), task.makes_ahead());
    let (mut outputs, mut times) = (Vec::with_capacity(chunks.len()), Times::default());
    for batch in chunks.chunks(if ahead { k } else { chunks.len() }.max(1)) {
        if ahead {
            at_once(engines, permits, |s, rep| {
                batch.get(s).map_or(Ok(()), |columns| make_ahead(rep, task, columns))
            })?;
            meet()?;
            let made = Mark::now();
            times.preprocessing.add(start.until(made));
            start = made;
        }
        let computed = Mutex::new(start);
        let strands = at_once(engines, permits, |s, rep| {
            let mut outputs = Vec::new();
            for columns in batch.iter().skip(s).step_by(k) {
                let pending = compute(rep, task, ready, columns)?;
                *lock(&computed) = Mark::now();
                outputs.push(verify(rep, pending)?);
            }
            Ok(outputs)
        })?;
        let (end, computed) = (Mark::now(), *lock(&computed));
        times.online.add(start.until(computed));
        times.verification.add(computed.until(end));
        start = end;
        let mut strands: Vec<_> = strands.into_iter().map(Vec::into_iter).collect();
        outputs.extend((0..batch.len()).filter_map(|c| strands.get_mut(c % k).and_then(Iterator::next)));
    }
    Ok((outputs, times))
}

/// Do something in every strand, each in its thread; what they give, in order.
fn at_once<R: Send>(
    engines: &mut [Rep3],
    permits: &Permits,
    strand: impl Fn(usize, &mut Rep3) -> Result<R, Abort> + Sync,
) -> Result<Vec<R>, Abort> {
    let strand = |s, rep: &mut Rep3| {
        let _permit = permits.enter();
        strand(s, rep)
    };
    let results: Vec<Result<R, Abort>> = permits.outside(|| {
        std::thread::scope(|scope| {
            let strand = &strand;
            let threads: Vec<_> =
                engines.iter_mut().enumerate().map(|(s, rep)| scope.spawn(move || strand(s, rep))).collect();
            let ended = |_| Err(Abort::Misuse { step: INPUT, what: "a strand ended without a result" });
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(ended)).collect()
        })
    });
    // The first strand that has a cause of its own, not only the news of another's.
    let mut given = Vec::with_capacity(results.len());
    let mut failed: Option<Abort> = None;
    for result in results {
        match result {
            Ok(result) => given.push(result),
            Err(abort) if failed.as_ref().is_none_or(|f| f.peer().is_none()) => failed = Some(abort),
            Err(_) => {}
        }
    }
    failed.map_or(Ok(given), Err)
}
