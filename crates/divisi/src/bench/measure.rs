//! A segment's chunks through the engine with the clock running: what is made ahead, the cipher, its verification.
//!
//! Blocks stream through in chunks; each chunk is verified before the next begins in its strand, so that what is owed stays
//! bounded, and what a chunk needs made ahead is made just before it. With several strands all make theirs ahead at once, then wait
//! for one another: so that the phases have clean marks. The verification of one chunk overlaps the work on others.

use super::message::{Times, Took};
use crate::cleanup::lock;
use divisi_core::{Abort, Bytes, Direction, Pending, Step, Verified, settle, step};
use divisi_net::Permits;
use divisi_rep3::deal::Part;
use divisi_rep3::{Byte, Passes, Products, Protocol, Rep3, Security};
use divisi_symmetric::aes::{self, KeySize, RoundKeys};
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
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Mark { wall: Instant::now(), cpu: cpu.tv_sec as f64 + cpu.tv_nsec as f64 * 1e-9 }
    }

    pub fn until(self, end: Mark) -> Took {
        let seconds = end.wall.saturating_duration_since(self.wall).as_secs_f64();
        Took { seconds, cpu_seconds: end.cpu - self.cpu }
    }
}

/// What the plan's words mean.
pub(super) struct Task {
    pub protocol: Protocol,
    pub security: Security,
    pub key: KeySize,
    pub direction: Direction,
    pub chunk: usize,
    pub statistical: u32,
    pub passes: Passes,
}

/// A chunk's inputs: 16 columns, a lane a block.
pub(super) type Columns = Vec<Part>;

/// The chunks' outputs, in order.
pub(super) type Outputs = Vec<Verified<Vec<Byte>>>;

/// All chunks of a segment; the clock runs from `start`.
pub(super) fn segment(
    engines: &mut [Rep3],
    task: &Task,
    round_keys: &Verified<RoundKeys<Byte>>,
    chunks: &[Columns],
    start: Mark,
    permits: &Permits,
) -> Result<(Outputs, Times), Abort> {
    match engines {
        [only] => one_strand(only, task, round_keys, chunks, start),
        many => strands_at_once(many, task, round_keys, chunks, start, permits),
    }
}

/// Make what a chunk needs ahead, verified.
fn make_ahead(rep: &mut Rep3, task: &Task, columns: &Columns) -> Result<(), Abort> {
    let lanes = columns.first().map_or(0, |part| part.first.len());
    rep.trio().session().phase("preprocessing");
    rep.prepare(task.key.rounds(), columns.len(), lanes)
}

/// One chunk, from shares of inputs to shares of outputs.
fn compute(
    rep: &mut Rep3,
    task: &Task,
    round_keys: &RoundKeys<Byte>,
    columns: &Columns,
) -> Result<Pending<Vec<Byte>, Products>, Abort> {
    rep.trio().session().phase("online");
    let state = columns.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<_>, _>>()?;
    let misfit = Abort::Misuse { step: INPUT, what: "a block that has not 16 bytes" };
    let mut state: [Byte; 16] = state.try_into().map_err(|_| misfit)?;
    match task.direction {
        Direction::Encrypt => aes::encrypt(rep, round_keys, &mut state)?,
        Direction::Decrypt => aes::decrypt(rep, round_keys, &mut state)?,
    }
    Ok(rep.close(state.into()))
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
    round_keys: &Verified<RoundKeys<Byte>>,
    chunks: &[Columns],
    mut start: Mark,
) -> Result<(Outputs, Times), Abort> {
    let (mut outputs, mut times) = (Vec::with_capacity(chunks.len()), Times::default());
    for columns in chunks {
        if task.protocol.has_vectors() {
            make_ahead(rep, task, columns)?;
            let made = Mark::now();
            times.preprocessing.add(start.until(made));
            start = made;
        }
        let pending = compute(rep, task, round_keys.get(), columns)?;
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
    round_keys: &Verified<RoundKeys<Byte>>,
    chunks: &[Columns],
    mut start: Mark,
    permits: &Permits,
) -> Result<(Outputs, Times), Abort> {
    let (k, ahead) = (engines.len(), task.protocol.has_vectors());
    let (mut outputs, mut times) = (Vec::with_capacity(chunks.len()), Times::default());
    for batch in chunks.chunks(if ahead { k } else { chunks.len() }.max(1)) {
        if ahead {
            at_once(engines, permits, |s, rep| {
                batch.get(s).map_or(Ok(()), |columns| make_ahead(rep, task, columns))
            })?;
            let made = Mark::now();
            times.preprocessing.add(start.until(made));
            start = made;
        }
        let computed = Mutex::new(start);
        let strands = at_once(engines, permits, |s, rep| {
            let mut outputs = Vec::new();
            for columns in batch.iter().skip(s).step_by(k) {
                let pending = compute(rep, task, round_keys.get(), columns)?;
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
