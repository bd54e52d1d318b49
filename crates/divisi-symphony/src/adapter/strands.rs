//! The measured part of a batch, chunk by chunk: preprocessing, the cipher or circuit, its verification.
//!
//! Each chunk is verified before its strand begins the next one, so that the debt stays bounded, and the
//! preprocessing of a chunk is made just before it. All strands make their preprocessing at the same time,
//! then wait for one another and for the other parties, so that phases are separated in time. The
//! verification of one chunk overlaps the work on others.

use divisi_circuit::Program;
use divisi_core::{
    Abort, Boolean, Bytes, Convert, Direction, Lanes, Pending, ProgramRun, Step, Verified, settle, step,
};
use divisi_engine::circuit::HeldCircuit;
use divisi_engine::job::nonce;
use divisi_engine::{Moment, Watch};
use divisi_net::Permits;
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Byte, Passes, Products, Protocol, Rep3, Rounds, Security};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::algorithm::{Algorithm, Settings as Use};
use divisi_symmetric::batch::block::BlockKey;
use divisi_symmetric::batch::{Function, Messages, SecretByte, bits, byte_values};
use divisi_symmetric::mode::block::BlockCipher;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const INPUT: Step = step!("input");

/// The phases, in order.
pub(super) const SETUP: &str = "setup";
pub(super) const PREPROCESSING: &str = "preprocessing";
pub(super) const ONLINE: &str = "online";
pub(super) const VERIFICATION: &str = "verification";

/// What is computed.
pub(super) enum What {
    /// AES, with keys of this many rounds.
    Aes {
        rounds: usize,
        direction: Direction,
    },
    Function(Use),
    Circuit(Arc<HeldCircuit>),
}

/// How it is computed.
pub(super) struct Task {
    pub what: What,
    /// The length of an instance's input, in bytes.
    pub input_bytes: usize,
    pub protocol: Protocol,
    pub security: Security,
    /// How programs run.
    pub rounds: Rounds,
    /// Whether programs in constant rounds are garbled when their inputs are there.
    pub on_demand: bool,
    /// The number of instances that the engine computes at once.
    pub chunk: usize,
    /// The statistical security in bits, and the passes that reach it.
    pub statistical: u32,
    pub passes: Passes,
    /// The number of threads of a party that run at the same time.
    pub threads: usize,
}

impl Task {
    /// Whether each chunk has preprocessing.
    fn makes_ahead(&self) -> bool {
        match &self.what {
            What::Aes { .. } if self.rounds != Rounds::Constant => self.protocol.has_vectors(),
            // GMAC is linear, but for the cipher of one block
            What::Function(using) if matches!(using.algorithm, Algorithm::Gmac(_)) => false,
            _ => self.rounds == Rounds::Constant && !self.on_demand,
        }
    }
}

/// A chunk's inputs: a column for each byte, with a lane for each block, message or evaluation.
pub(super) struct Columns {
    pub columns: Vec<Part>,
    pub lanes: usize,
    /// The number of the first instance in its batch.
    pub first: u64,
}

/// What is made once for a key, verified; nothing for a circuit.
pub(super) enum Ready {
    Aes(Verified<RoundKeys<Byte>>),
    /// A key in bytes, for blocks that are programs.
    Block(Verified<BlockKey<Rep3>>),
    Function(Verified<Function<Rep3>>),
    Circuit,
}

/// The number of columns of a message that are converted to bits at once; a longer message is processed piece
/// by piece.
const PIECE: usize = 4096;

/// The chunks' outputs, in order.
pub(super) type Outputs = Vec<Verified<Vec<Byte>>>;

/// Run all chunks of a batch; the time of its first phase runs from `start`. After the preprocessing of a
/// chunk, `watch` waits until all parties have made theirs. So the time of *preprocessing* runs until the
/// slowest party has finished, and its delay is counted in no other phase.
pub(super) fn segment(
    engines: &mut [Rep3],
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    start: Moment,
    permits: &Permits,
    watch: &mut dyn Watch,
) -> Result<Outputs, Abort> {
    match engines {
        [only] => one_strand(only, task, ready, chunks, start, watch),
        many => strands_at_once(many, task, ready, chunks, start, permits, watch),
    }
}

/// Make the preprocessing of a chunk: one-hot vectors, which are verified, or calls, which are garbled ahead
/// as far as there is room for them.
fn make_ahead(rep: &mut Rep3, task: &Task, ready: &Ready, chunk: &Columns) -> Result<(), Abort> {
    rep.trio().session().phase(PREPROCESSING);
    if task.rounds == Rounds::Constant {
        rep.foresee(|rep| outputs(rep, task, ready, chunk).map(drop))?;
        while rep.lacks_stock() {
            rep.restock()?;
        }
        return Ok(());
    }
    let rounds = if let What::Aes { rounds, .. } = task.what { rounds } else { 0 };
    rep.prepare(rounds, chunk.columns.len(), chunk.lanes)
}

/// A chunk's outputs that are not verified yet, and whether they owe nothing. If so, settling them is part of
/// *online*: a garbler that finishes before the other parties may have to wait for a core while it settles,
/// and this time would otherwise be counted as *verification*.
type Computed = (Pending<Vec<Byte>, Products>, bool);

/// One chunk, from shares of inputs to shares of outputs.
fn compute(rep: &mut Rep3, task: &Task, ready: &Ready, chunk: &Columns) -> Result<Computed, Abort> {
    rep.trio().session().phase(ONLINE);
    let output = outputs(rep, task, ready, chunk)?;
    if (matches!(ready, Ready::Circuit) || task.rounds == Rounds::Constant) && !rep.owes() {
        // a circuit without products, or one that was garbled
        return Ok((rep.close_linear(output)?, true));
    }
    Ok((rep.close(output), false))
}

/// The outputs of a chunk, before they are declared pending.
fn outputs(rep: &mut Rep3, task: &Task, ready: &Ready, chunk: &Columns) -> Result<Vec<Byte>, Abort> {
    Ok(match (ready, &task.what) {
        (Ready::Block(key), What::Aes { direction, .. }) => {
            let block = chunk.columns.iter().map(|part| rep.trio().input(part)).collect::<Result<_, _>>()?;
            key.get().permute(rep, *direction, block)?
        }
        (Ready::Aes(round_keys), What::Aes { direction, .. }) => {
            let state =
                chunk.columns.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<_>, _>>()?;
            let misfit = Abort::Misuse { step: INPUT, what: "a block without 16 bytes" };
            let mut state: [Byte; 16] = state.try_into().map_err(|_| misfit)?;
            match direction {
                Direction::Encrypt => aes::encrypt(rep, round_keys.get(), &mut state)?,
                Direction::Decrypt => aes::decrypt(rep, round_keys.get(), &mut state)?,
            }
            state.into()
        }
        (Ready::Function(function), _) => digest(rep, function.get(), chunk)?,
        (Ready::Circuit, What::Circuit(circuit)) => match &**circuit {
            HeldCircuit::Program(circuit) => evaluate(rep, &circuit.program, chunk)?,
            HeldCircuit::File { .. } => {
                return Err(Abort::Misuse { step: INPUT, what: "a circuit in its file" });
            }
        },
        (Ready::Aes(_) | Ready::Block(_) | Ready::Circuit, _) => {
            return Err(Abort::Misuse {
                step: INPUT,
                what: "the prepared key belongs to another kind of job",
            });
        }
    })
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
    let mut jobs = [ProgramRun::new(program, wires)];
    rep.run(&mut jobs)?;
    let [job] = jobs;
    let zero = rep.public_bit(&vec![false; chunk.lanes]);
    let mut output = Vec::with_capacity(job.wires.len().div_ceil(8));
    let mut wires = job.wires.into_iter().peekable();
    while wires.peek().is_some() {
        let mut bits: SecretByte<Rep3> =
            std::array::from_fn(|_| wires.next().unwrap_or_else(|| zero.clone()));
        for bit in &mut bits {
            // an output that depends on no input has one lane
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
    rep.trio().session().phase(VERIFICATION);
    settle(rep, pending)
}

/// Run all chunks in this thread. The time is divided among preprocessing, computing and verifying. What has
/// to be verified meanwhile, because it takes too much memory, is verification too, as for the meter; its CPU
/// time is not known apart.
fn one_strand(
    rep: &mut Rep3,
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    mut start: Moment,
    watch: &mut dyn Watch,
) -> Result<Outputs, Abort> {
    let mut outputs = Vec::with_capacity(chunks.len());
    for columns in chunks {
        if task.makes_ahead() {
            make_ahead(rep, task, ready, columns)?;
            watch.meet(PREPROCESSING)?;
            let made = Moment::now();
            watch.took(PREPROCESSING, start.until(made));
            start = made;
        }
        let before = rep.trio().session().detoured(VERIFICATION);
        let (pending, is_all) = compute(rep, task, ready, columns)?;
        let computed = Moment::now();
        let meanwhile = rep.trio().session().detoured(VERIFICATION) - before;
        outputs.push(verify(rep, pending)?);
        let verified = Moment::now();
        let computed = if is_all { verified } else { computed };
        let mut online = start.until(computed);
        watch.took(VERIFICATION, online.split(meanwhile));
        watch.took(ONLINE, online);
        watch.took(VERIFICATION, computed.until(verified));
        start = verified;
    }
    Ok(outputs)
}

/// Run the chunks in k strands, each of which takes every k-th chunk. *online* lasts until the last chunk has
/// its output shares, and *verification* is the rest, until all strands have finished. If the job has
/// preprocessing, the strands take one chunk each at a time, and wait for each other after making its
/// preprocessing and after verifying it; otherwise they wait for each other only at the end of the batch.
fn strands_at_once(
    engines: &mut [Rep3],
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    mut start: Moment,
    permits: &Permits,
    watch: &mut dyn Watch,
) -> Result<Outputs, Abort> {
    let (k, ahead) = (engines.len(), task.makes_ahead());
    let mut outputs = Vec::with_capacity(chunks.len());
    for batch in chunks.chunks(if ahead { k } else { chunks.len() }.max(1)) {
        if ahead {
            at_once(engines, permits, |s, rep| {
                batch.get(s).map_or(Ok(()), |columns| make_ahead(rep, task, ready, columns))
            })?;
            watch.meet(PREPROCESSING)?;
            let made = Moment::now();
            watch.took(PREPROCESSING, start.until(made));
            start = made;
        }
        let computed = Mutex::new(start);
        let strands = at_once(engines, permits, |s, rep| {
            let mut outputs = Vec::new();
            for columns in batch.iter().skip(s).step_by(k) {
                let (pending, is_all) = compute(rep, task, ready, columns)?;
                *computed.lock().unwrap_or_else(PoisonError::into_inner) = Moment::now();
                outputs.push(verify(rep, pending)?);
                if is_all {
                    *computed.lock().unwrap_or_else(PoisonError::into_inner) = Moment::now();
                }
            }
            Ok(outputs)
        })?;
        let (end, computed) = (Moment::now(), *computed.lock().unwrap_or_else(PoisonError::into_inner));
        watch.took(ONLINE, start.until(computed));
        watch.took(VERIFICATION, computed.until(end));
        start = end;
        let mut strands: Vec<_> = strands.into_iter().map(Vec::into_iter).collect();
        outputs.extend((0..batch.len()).filter_map(|c| strands.get_mut(c % k).and_then(Iterator::next)));
    }
    Ok(outputs)
}

/// Run `strand` for every strand, each in a thread of its own; returns the results in order.
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
    // Return the first abort that names a peer, if any does: the others may only tell that another strand
    // ended.
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
