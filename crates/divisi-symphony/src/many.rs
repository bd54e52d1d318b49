//! Many short messages in one go, each with its own key: what known-answer tests run, one engine call a
//! group. [`crate::short`] with keys that are expanded for this one call, IVs of the caller and tags of every
//! length; what is decrypted is opened.
//!
//! Adversary, openings and their order as in [`crate::gcm`]; a message whose tag is wrong has nothing of
//! it opened.

use crate::cipher;
use crate::gcm::key_bytes;
use crate::settle::close;
use crate::short::{BatchOutcome, column, laid_out};
use divisi_core::{Abort, Lanes, Step, Verified, step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Byte, Rep3};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::mode::gcm::{self, GcmItem, GcmText, TagLength, interleaved};
use divisi_symmetric::mode::ghash::powers;

const MANY: Step = step!("many");

/// One message.
pub struct MessageJob {
    /// Our part of its key.
    pub key: Part,
    /// Its IV: the caller's, for answers that are known; a stored key draws its own.
    pub danger_iv: [u8; 12],
    /// Its associated data.
    pub aad: Vec<u8>,
    /// How long the tag is.
    pub tag_length: TagLength,
    /// What is to be done.
    pub text: OwnedText,
}

/// Which way, and what.
pub enum OwnedText {
    /// Encrypt our part of the plaintext.
    Plain(Part),
    /// Decrypt a ciphertext with this tag.
    Cipher {
        /// The ciphertext.
        ciphertext: Vec<u8>,
        /// The tag, as long as the job says.
        tag: Vec<u8>,
    },
}

impl OwnedText {
    fn bytes(&self) -> usize {
        match self {
            OwnedText::Plain(part) => part.first.len(),
            OwnedText::Cipher { ciphertext, .. } => ciphertext.len(),
        }
    }
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Ciphertext and tag.
    Sealed(Vec<u8>, Vec<u8>),
    /// The plaintext: the tag was right.
    Opened(Vec<u8>),
    /// The tag was wrong; nothing was opened.
    Invalid,
}

/// Run jobs whose keys have one size.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for a key or tag of another length, a message that GCM
/// has no room for, no jobs.
pub fn many(rep: &mut Rep3, size: KeySize, jobs: &[MessageJob]) -> Result<Vec<Outcome>, Abort> {
    let items: Option<Vec<GcmItem<'_>>> = jobs.iter().enumerate().map(|(k, job)| item(k, job)).collect();
    let items = match items {
        Some(items) if !items.is_empty() => items,
        _ => {
            return Err(rep
                .trio()
                .session()
                .misuse(MANY, "no jobs, or a tag whose length is not that of its job"));
        }
    };
    let batch = laid_out(rep, &items)?;
    let parts: Vec<&Part> = jobs.iter().map(|job| &job.key).collect();
    let keys = key_bytes(rep, size, &parts)?;
    let keys = cipher::expand(rep, &keys)?;
    let plain = |rep: &mut Rep3, i: usize| {
        column(rep, &batch, i, |k| match &jobs.get(k)?.text {
            OwnedText::Plain(part) => Some(part),
            OwnedText::Cipher { .. } => None,
        })
    };
    let texts = batch.texts(rep, &keys, plain)?;
    // as many powers of each hash key as the longest message needs
    let misfit = Abort::Misuse { step: MANY, what: "a message longer than memory can hold" };
    let most = usize::try_from(batch.hash_blocks()).map_err(|_| misfit)?;
    let h = cipher::with_schedule(rep, |rep| gcm::hash_key(rep, &keys))?;
    let powers = powers(rep, &h, most)?;
    let (texts, powers) = close(rep, (texts, powers))?.split();
    let own = |item: &GcmItem<'_>, blocks: usize| {
        let first = item.key * most;
        powers.get().gather(&(first..first + blocks).collect::<Vec<_>>())
    };
    let outcomes = batch.finish(rep, texts, own)?;
    open(rep, jobs, outcomes)
}

/// A job as a message whose key is in the job's own lane; `None` if its tag has another length than it says,
/// or its part components of different lengths.
fn item(lane: usize, job: &MessageJob) -> Option<GcmItem<'_>> {
    let text = match &job.text {
        OwnedText::Plain(part) if part.first.len() == part.second.len() => GcmText::Plain(part.first.len()),
        OwnedText::Plain(_) => return None,
        OwnedText::Cipher { ciphertext, tag } => {
            GcmText::Cipher { ciphertext, tag: job.tag_length.element(tag)? }
        }
    };
    Some(GcmItem { key: lane, iv: job.danger_iv, aad: &job.aad, tag_length: job.tag_length, text })
}

/// Open all plaintexts whose tags were right, in one round.
fn open(rep: &mut Rep3, jobs: &[MessageJob], outcomes: Vec<BatchOutcome>) -> Result<Vec<Outcome>, Abort> {
    let mut valid = Vec::new();
    let mut told = Vec::with_capacity(jobs.len());
    for (job, outcome) in jobs.iter().zip(outcomes) {
        told.push(match outcome {
            BatchOutcome::Sealed { ciphertext, tag } => {
                Outcome::Sealed(ciphertext, tag[..job.tag_length.bytes()].to_vec())
            }
            BatchOutcome::Opened(columns) => {
                valid.push(columns);
                Outcome::Opened(Vec::new())
            }
            BatchOutcome::Invalid => Outcome::Invalid,
        });
    }
    if valid.is_empty() {
        return Ok(told);
    }
    let all: Vec<Byte> = valid.into_iter().flat_map(Verified::into_inner).collect();
    let verified = close(rep, all)?; // linear in what was verified
    let opened = rep.trio().open(&verified)?;
    let mut texts = opened.chunks(16);
    for (job, told) in jobs.iter().zip(&mut told) {
        if let Outcome::Opened(plaintext) = told {
            *plaintext = interleaved(texts.next().unwrap_or_default(), job.text.bytes())?;
        }
    }
    Ok(told)
}
