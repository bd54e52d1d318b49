//! Texts that a mode of a cipher does not have: no engine computes them, so that every engine refuses them
//! before a session, with the reason. All of this is public. A text that is refused here was not rejected by
//! the mode, which decides about nothing that was not computed.

use super::whole;
use crate::Unsupported;
use crate::job::{AnswersJob, CipherMode, PublicText, TextsJob};
use divisi_symmetric::mode::gcm::TagLength;

/// Check that the mode of a job has all of its texts.
///
/// # Errors
/// [`Unsupported`] with the first reason, and all texts to which it applies.
pub fn check(job: &AnswersJob) -> Result<(), Unsupported> {
    let AnswersJob::Texts(texts) = job else { return Ok(()) };
    let all: Vec<Option<&'static str>> = texts.texts.iter().map(|text| lacks(texts, text)).collect();
    let Some(reason) = all.iter().copied().flatten().next() else { return Ok(()) };
    let same = all.iter().enumerate().filter(|(_, lacks)| **lacks == Some(reason));
    Err(Unsupported { reason: reason.into(), instances: same.map(|(place, _)| place).collect() })
}

/// Why the mode does not have a text; `None` if it has it.
fn lacks(job: &TextsJob, text: &PublicText) -> Option<&'static str> {
    let block = job.cipher.block_bytes();
    let unless = |holds: bool, reason: &'static str| (!holds).then_some(reason);
    let begins = || unless(text.iv.len() == block, "an IV that is not a block");
    let blocks = || unless(text.bytes.is_multiple_of(block), "a text that is no whole number of blocks");
    match job.mode {
        CipherMode::Gcm => {
            let tag = TagLength::from_bits_even_short(8 * text.tag_bytes).is_ok();
            unless(!text.iv.is_empty() && tag, "an IV or a tag that this GCM does not support")
        }
        CipherMode::Ecb => blocks(),
        CipherMode::Cbc => begins().or_else(blocks),
        CipherMode::Ctr | CipherMode::Ofb => begins(),
        CipherMode::Cfb { segment } => {
            begins().or(unless((1..=block).contains(&segment), "segments that are longer than a block"))
        }
        CipherMode::Cmac => {
            unless((1..=block).contains(&text.tag_bytes), "a tag of a length that the mode does not have")
        }
        CipherMode::Whole(mode) => whole::lacks(mode, job.cipher.aes(), text),
    }
}
