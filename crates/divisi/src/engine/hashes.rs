//! Hashes and MACs of many messages at once, a lane a message, on any engine.

use super::Rows;
use super::job::{ChainJob, MessagesJob, PublicMessage};
use divisi_core::Abort;
use divisi_symmetric::batch::{Function, MacEngine as Whole, Messages as Batch, SecretByte, State, bits};

/// So many bytes of each message go through at once, as far as all have as many: what they owe is settled
/// with them.
const PIECE: usize = 2048;

/// Byte `j` of all rows from that place on, filled up with zeros: a column for each byte of the longest.
pub(super) fn columns(rows: &Rows, from: usize, longest: usize) -> Vec<Vec<u8>> {
    let byte = |j: usize| rows.iter().map(|row| row.get(from + j).copied().unwrap_or(0)).collect();
    (0..longest).map(byte).collect()
}

/// The columns of keys and of messages.
pub(super) fn keys_and_messages(job: &MessagesJob, rows: &Rows) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let longest = job.messages.iter().map(|message| message.bytes).max().unwrap_or(0);
    (columns(rows, 0, job.key_bytes), columns(rows, job.key_bytes, longest))
}

/// The outputs of all messages, a lane each. `settle` is what an engine does with a state between two pieces.
pub(super) fn outputs<E: Whole>(
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
    // something of each message is left for the end
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
pub(super) fn ends<E: Whole>(
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

/// Columns of bytes, a lane a row, as rows one behind the other.
pub(super) fn in_rows(lanes: usize, columns: &[Vec<u8>]) -> Vec<u8> {
    (0..lanes).flat_map(|lane| columns.iter().filter_map(move |column| column.get(lane).copied())).collect()
}
