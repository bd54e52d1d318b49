//! The answers that carry values.

use crate::error::{ErrorKind, Failed, Stop};
use crate::request::{ToClient, chunk_digest};
use crate::wire::Blob;
use divisi_core::{Abort, PartyId, Settles, Step, Verified};
use divisi_rep3::open::Answer;
use divisi_rep3::{Byte, Rep3};
use divisi_symmetric::mode::one_shot::Undecided;

const VERIFY: Step = Step::new("divisi_node::server::text/verify");

/// The message that carries this server's part of an answer to the client alone.
pub(crate) fn component(mut answer: Answer) -> ToClient {
    let component = Blob(std::mem::take(&mut answer.component));
    ToClient::Answer { component, digest: answer.digest }
}

/// Open a value to the client alone.
pub(crate) fn alone(
    rep: &mut Rep3,
    context: &[u8; 32],
    value: &Verified<Vec<Byte>>,
) -> Result<ToClient, Abort> {
    Ok(component(rep.trio().answer(context, value)?))
}

/// Open a message of this many bytes, whose blocks are lanes, to the client alone.
pub(crate) fn message_alone(
    rep: &mut Rep3,
    context: &[u8; 32],
    columns: &Verified<Vec<Byte>>,
    bytes: usize,
) -> Result<ToClient, Abort> {
    Ok(component(rep.trio().answer_message(context, columns, bytes)?))
}

/// Open a decrypted message to the client alone, if the verdict on its integrity is good.
pub(crate) fn decided(
    rep: &mut Rep3,
    context: &[u8; 32],
    undecided: Undecided<Rep3>,
) -> Result<ToClient, Stop> {
    let released: Option<Verified<Vec<Byte>>> = undecided.release_one(rep)?;
    let message = released.ok_or_else(|| Stop::Refused(unauthentic()))?;
    Ok(alone(rep, context, &message)?)
}

/// Open bytes to all three servers, when everything that they depend on is verified.
pub(crate) fn to_all(rep: &mut Rep3, made: Vec<Byte>) -> Result<Vec<u8>, Abort> {
    if made.is_empty() {
        return Ok(Vec::new());
    }
    let verified = rep.settled(made)?;
    Ok(rep.trio().open(&verified)?.concat())
}

/// What server `me` sends of a chunk of ciphertext: the first server sends the chunk, the others its digest.
pub(crate) fn ciphertext(me: PartyId, context: &[u8; 32], chunk: Vec<u8>) -> ToClient {
    if me.index() == 0 {
        ToClient::Ciphertext(Blob(chunk))
    } else {
        ToClient::Digest(chunk_digest(context, &chunk))
    }
}

/// The failure that a client receives for a ciphertext that is not authentic.
pub(crate) fn unauthentic() -> Failed {
    let message =
        "the ciphertext, its associated data or its tag is not what this key made: nothing was decrypted";
    Failed { kind: ErrorKind::Mismatch, ..Failed::refused(VERIFY, message) }
}
