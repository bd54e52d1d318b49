//! Ciphers, hashes, MACs and circuits on inputs that a client deals, chunk by chunk and in strands: what is
//! made once for a key, the preprocessing of a chunk, its outputs, their verification.

mod inputs;

pub(crate) use inputs::{agree, schedule};

use divisi_circuit::Program;
use divisi_core::{
    Abort, Boolean, Bytes, Convert, Direction, Lanes, Misuse, Pending, ProgramRun, Session, Step, Verified,
    settle, step,
};
use divisi_engine::circuit::HeldCircuit;
use divisi_engine::job::nonce;
use divisi_net::Permits;
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Byte, Passes, Products, Protocol, Rep3, Rounds, Security, Trio};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::algorithm::{Algorithm, Settings as Use};
use divisi_symmetric::batch::block::BlockKey;
use divisi_symmetric::batch::{Function, Messages, SecretByte, bits, byte_values};
use divisi_symmetric::mode::block::BlockCipher;
use std::ops::Range;
use std::sync::Arc;

pub(crate) const INPUT: Step = step!("input");

/// The phases, in order.
pub(crate) const SETUP: &str = "setup";
pub(crate) const PREPROCESSING: &str = "preprocessing";
pub(crate) const ONLINE: &str = "online";
pub(crate) const VERIFICATION: &str = "verification";

/// The most messages that go through the engine at once: enough that the rounds of a hash cost little beside
/// its work.
const MESSAGES: usize = 16_384;
/// The largest number of bytes of messages that go through the engine at once.
const CHUNK_BYTES: usize = 1 << 24;
/// The largest number of instances that are garbled in one call.
const GARBLED: usize = 64;
/// The number of lanes of a tile. A chunk of at least this many lanes has a whole number of tiles.
pub(crate) const TILE: usize = 512;

/// The number of messages, or of evaluations of circuits, with this many bytes of input that the engine
/// computes at once.
pub(crate) fn messages_at_once(bytes: usize) -> usize {
    match (CHUNK_BYTES / (bytes + 64)).clamp(1, MESSAGES) {
        few @ ..TILE => few,
        many => many / TILE * TILE,
    }
}

/// What is computed.
pub(crate) enum What {
    /// AES, with keys of this many rounds.
    Aes {
        rounds: usize,
        direction: Direction,
    },
    Function(Use),
    Circuit(Arc<HeldCircuit>),
}

/// How it is computed.
pub(crate) struct Task {
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
    /// The number of instances that the engine computes at once.
    pub fn at_once(what: &What, input_bytes: usize, protocol: Protocol, rounds: Rounds) -> usize {
        let chunk = match what {
            What::Aes { .. } => protocol.blocks_at_once(),
            What::Function(_) | What::Circuit(_) => messages_at_once(input_bytes),
        };
        if rounds == Rounds::Constant { chunk.min(GARBLED) } else { chunk }
    }

    /// The number of strands that a party runs: one for each thread, and no more than there are chunks. More
    /// strands would hide waiting, but compete for the cache, which costs more.
    pub fn strands(&self, count: usize) -> usize {
        self.threads.min(count.div_ceil(self.chunk)).max(1)
    }

    /// The range of lanes of each chunk of a batch.
    pub fn chunks(&self, count: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let chunk = self.chunk;
        (0..count).step_by(chunk).map(move |first| first..count.min(first + chunk))
    }

    /// The engine of a strand.
    pub fn engine(&self, session: Session) -> Result<Rep3, Abort> {
        let mut trio = Trio::new(session)?;
        trio.set_passes(self.passes);
        let mut rep = Rep3::new(trio, self.protocol, self.security);
        rep.use_rounds(self.rounds);
        if self.rounds == Rounds::Constant && !self.on_demand {
            rep.stock_calls(GARBLED_BYTES);
        }
        Ok(rep)
    }

    /// Whether each chunk has preprocessing.
    pub fn makes_ahead(&self) -> bool {
        match &self.what {
            What::Aes { .. } if self.rounds != Rounds::Constant => self.protocol.has_vectors(),
            // GMAC is linear, but for the cipher of one block
            What::Function(using) if matches!(using.algorithm, Algorithm::Gmac(_)) => false,
            _ => self.rounds == Rounds::Constant && !self.on_demand,
        }
    }
}

/// The largest number of bytes of calls that a strand of a party garbles ahead: enough for ten hashes of a
/// short message. A call that takes more, because it has many lanes, is not garbled ahead, so that a batch
/// takes no more memory than one of its groups of lanes.
const GARBLED_BYTES: usize = 1 << 23;

/// A chunk's inputs: a column for each byte, with a lane for each block, message or evaluation.
pub(crate) struct Columns {
    pub columns: Vec<Part>,
    pub lanes: usize,
    /// The number of the first instance in its batch.
    pub first: u64,
}

/// What is made once for a key, verified; nothing for a circuit.
pub(crate) enum Ready {
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
pub(crate) type Outputs = Vec<Verified<Vec<Byte>>>;

/// Make the preprocessing of a chunk: one-hot vectors, which are verified, or calls, which are garbled ahead
/// as far as there is room for them.
pub(crate) fn make_ahead(rep: &mut Rep3, task: &Task, ready: &Ready, chunk: &Columns) -> Result<(), Abort> {
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
pub(crate) type Computed = (Pending<Vec<Byte>, Products>, bool);

/// One chunk, from shares of inputs to shares of outputs.
pub(crate) fn compute(
    rep: &mut Rep3,
    task: &Task,
    ready: &Ready,
    chunk: &Columns,
) -> Result<Computed, Abort> {
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
            let misfit = Abort::Misuse { step: INPUT, what: Misuse::BlockLength };
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
                return Err(Abort::Misuse { step: INPUT, what: Misuse::CircuitInFile });
            }
        },
        (Ready::Aes(_) | Ready::Block(_) | Ready::Circuit, _) => {
            return Err(Abort::Misuse { step: INPUT, what: Misuse::KeyUnfit });
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
pub(crate) fn verify(
    rep: &mut Rep3,
    pending: Pending<Vec<Byte>, Products>,
) -> Result<Verified<Vec<Byte>>, Abort> {
    rep.trio().session().phase(VERIFICATION);
    settle(rep, pending)
}

/// Run `strand` for every strand, each in a thread of its own; returns the results in order.
pub(crate) fn at_once<R: Send>(
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
            let ended = |_| Err(Abort::Misuse { step: INPUT, what: Misuse::NoResult });
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

#[cfg(test)]
mod tests;
