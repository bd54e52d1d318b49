//! Messages that a mode of a cipher does not have: no engine computes them, so that every engine refuses them
//! before a session, with the reason. All of this is public. A message that is refused here was not rejected
//! by the mode, which decides about nothing that was not computed.

use super::one_shot;
use crate::Unsupported;
use crate::job::{AnswersJob, CipherMode, ModeMessage, ModesJob};
use divisi_symmetric::mode::gcm::TagLength;

/// Check that the mode of a job has all of its messages.
///
/// # Errors
/// [`Unsupported`] with the first reason, and all messages to which it applies.
pub fn check(job: &AnswersJob) -> Result<(), Unsupported> {
    let AnswersJob::Modes(messages) = job else { return Ok(()) };
    let all: Vec<Option<&'static str>> =
        messages.messages.iter().map(|message| lacks(messages, message)).collect();
    let Some(reason) = all.iter().copied().flatten().next() else { return Ok(()) };
    let same = all.iter().enumerate().filter(|(_, lacks)| **lacks == Some(reason));
    Err(Unsupported { reason: reason.into(), instances: same.map(|(place, _)| place).collect() })
}

/// Why the mode does not have a message; `None` if it has it.
fn lacks(job: &ModesJob, message: &ModeMessage) -> Option<&'static str> {
    let block = job.cipher.block_bytes();
    let unless = |holds: bool, reason: &'static str| (!holds).then_some(reason);
    let begins = || unless(message.iv.len() == block, "an IV that is not a block");
    let blocks =
        || unless(message.bytes.is_multiple_of(block), "a message that is no whole number of blocks");
    match job.mode {
        CipherMode::Gcm => {
            let tag = TagLength::from_bits_even_short(8 * message.tag_bytes).is_ok();
            unless(!message.iv.is_empty() && tag, "an IV or a tag that this GCM does not support")
        }
        CipherMode::Ecb => blocks(),
        CipherMode::Cbc => begins().or_else(blocks),
        CipherMode::Ctr | CipherMode::Ofb => begins(),
        CipherMode::Cfb { segment } => {
            begins().or(unless((1..=block).contains(&segment), "segments that are longer than a block"))
        }
        CipherMode::Cmac => {
            unless((1..=block).contains(&message.tag_bytes), "a tag of a length that the mode does not have")
        }
        CipherMode::OneShot(mode) => one_shot::lacks(mode, job.cipher.aes(), message),
    }
}
