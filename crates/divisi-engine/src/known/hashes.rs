//! Hashes and MACs of many messages together, one lane a message, on any engine.

use crate::job::{ChainJob, LargeJob, MessagesJob, PublicMessage};
use crate::{Rows, Watch};
use divisi_core::{Abort, Lanes, Misuse, Step, step};
use divisi_symmetric::batch::{Function, MacEngine, Messages as Batch, SecretByte, State, bits};
use std::collections::BTreeSet;

const HASHES: Step = step!("hashes");

/// The number of bytes of each message that are hashed at once, as long as all messages have more than that
/// left; it is rounded up to whole pieces of the function. The state is settled after each such piece.
const PIECE: usize = 2048;

/// The rows as columns: column j has byte `from + j` of each row, or zero where a row is shorter.
pub fn columns(rows: &Rows, from: usize, longest: usize) -> Vec<Vec<u8>> {
    let byte = |j: usize| rows.iter().map(|row| row.get(from + j).copied().unwrap_or(0)).collect();
    (0..longest).map(byte).collect()
}

/// The columns of keys and of messages.
pub fn keys_and_messages(job: &MessagesJob, rows: &Rows) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let longest = job.messages.iter().map(|message| message.bytes).max().unwrap_or(0);
    (columns(rows, 0, job.key_bytes), columns(rows, job.key_bytes, longest))
}

/// The outputs of all messages, a lane each. `settle` settles the state after a piece.
pub fn outputs<E: MacEngine>(
    e: &mut E,
    job: &MessagesJob,
    function: &Function<E>,
    mut messages: Vec<E::Byte>,
    settle: impl Fn(&mut E, State<E>) -> Result<State<E>, Abort>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let nonces: Vec<&[u8]> = job.messages.iter().map(|message| message.nonce.as_slice()).collect();
    let lengths = || job.messages.iter().map(|message| message.bytes);
    let piece = PIECE.next_multiple_of(function.piece());
    let mut state = function.begin(e);
    let mut before = 0;
    // at least one byte of each message is left for the end
    while before + piece < lengths().min().unwrap_or(0) {
        let now: Vec<E::Byte> = messages.drain(..piece).collect();
        let now = bits(e, now)?;
        let next = function.update(e, state, now)?;
        state = settle(e, next)?;
        before += piece;
    }
    let messages = if messages.is_empty() {
        Batch::public(e, &vec![&[][..]; job.messages.len()])
    } else {
        let length =
            |message: &PublicMessage| (8 * (message.bytes - before)).saturating_sub(message.spare_bits);
        Batch::of_bits(bits(e, messages)?, job.messages.iter().map(length).collect())?
    };
    function.finish_with(e, state, &messages, &nonces)
}

/// The digests at the ends of chains, a lane each.
pub fn ends<E: MacEngine>(
    e: &mut E,
    chain: &ChainJob,
    starts: Vec<E::Byte>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let lanes = chain.starts.len();
    let function = Function::prepare(e, &chain.using, &[])?;
    let nonces = vec![[0; 12]; lanes];
    let mut message = if starts.is_empty() {
        Batch::public(e, &vec![&[][..]; lanes])
    } else {
        Batch::new(bits(e, starts)?, chain.starts.clone())?
    };
    for _ in 1..chain.steps {
        let digest = function.output(e, &message, &nonces)?;
        message = Batch::even(digest, lanes)?;
    }
    function.output(e, &message, &nonces)
}

/// The numbers of some lanes of a batch, and the bytes of their digests.
pub type LaneDigests<E> = (Vec<usize>, Vec<SecretByte<E>>);

/// The digests of long messages, each of which repeats a short content; all contents have one length, and all
/// messages are hashed together. A message is hashed in pieces that begin where its content begins. `settle`
/// settles the state after a piece, and `watch` is told how many bytes of the longest message are done.
///
/// The lanes of messages that have ended continue beside the others, and their results are dropped.
pub fn large<E: MacEngine>(
    e: &mut E,
    job: &LargeJob,
    content: Vec<E::Byte>,
    settle: impl Fn(&mut E, State<E>) -> Result<State<E>, Abort>,
    watch: &mut dyn Watch,
) -> Result<Vec<LaneDigests<E>>, Abort> {
    let misfit = || Abort::Misuse { step: HASHES, what: Misuse::Unsupported };
    let lanes = job.lengths.len();
    let content = bits(e, content)?;
    let function = Function::prepare(e, &job.using, &[])?;
    let whole = content.len().checked_mul(function.piece()).filter(|bytes| *bytes > 0).ok_or_else(misfit)?;
    let piece: Vec<SecretByte<E>> =
        content.iter().cycle().take(PIECE.next_multiple_of(whole)).cloned().collect();
    let lengths: BTreeSet<u64> = job.lengths.iter().copied().collect();
    let longest = lengths.last().copied().unwrap_or(0);
    let nonces = vec![[0_u8; 12]; lanes];
    let nonces: Vec<&[u8]> = nonces.iter().map(<[u8; 12]>::as_slice).collect();
    let (mut state, mut before, mut out) = (function.begin(e), 0, Vec::with_capacity(lengths.len()));
    for length in lengths {
        // at least one byte is left for the end
        while length - before > piece.len() as u64 {
            let next = function.update(e, state, piece.clone())?;
            state = settle(e, next)?;
            before += piece.len() as u64;
            watch.at(before, longest);
        }
        let rest = usize::try_from(length - before).map_err(|_| misfit())?;
        let rest: Vec<SecretByte<E>> = piece.iter().take(rest).cloned().collect();
        let rest =
            if rest.is_empty() { Batch::public(e, &vec![&[][..]; lanes]) } else { Batch::even(rest, lanes)? };
        let digests = function.finish_with(e, state.clone(), &rest, &nonces)?;
        let own: Vec<usize> = (0..lanes).filter(|lane| job.lengths.get(*lane) == Some(&length)).collect();
        out.push((own.clone(), lanes_of(&digests, &own).ok_or_else(misfit)?));
    }
    Ok(out)
}

/// These lanes of all bytes.
pub fn lanes_of<B: Lanes>(bytes: &[[B; 8]], lanes: &[usize]) -> Option<Vec<[B; 8]>> {
    let byte = |byte: &[B; 8]| {
        let bits: Option<Vec<B>> = byte.iter().map(|bit| bit.gather(lanes)).collect();
        bits?.try_into().ok()
    };
    bytes.iter().map(byte).collect()
}

/// Rows of digests, one after the other, from the opened columns of each group of lanes.
pub fn rows_of(opened: &[(Vec<usize>, Vec<Vec<u8>>)], lanes: usize) -> Vec<u8> {
    let mut rows = vec![Vec::new(); lanes];
    for (own, columns) in opened {
        for (at, lane) in own.iter().enumerate() {
            if let Some(row) = rows.get_mut(*lane) {
                row.extend(columns.iter().filter_map(|column| column.get(at).copied()));
            }
        }
    }
    rows.concat()
}

/// Rows of bytes, one after the other, from columns with a lane for each row.
pub fn in_rows(lanes: usize, columns: &[Vec<u8>]) -> Vec<u8> {
    (0..lanes).flat_map(|lane| columns.iter().filter_map(move |column| column.get(lane).copied())).collect()
}
