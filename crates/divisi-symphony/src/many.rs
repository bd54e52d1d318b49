//! Many short messages in one engine call, each with its own key, for known-answer tests. This is
//! [`crate::short`] with keys that are expanded for this one call, IVs of the caller and tags of every
//! length; decrypted payloads are opened.
//!
//! Adversary, openings and their order are those of [`crate::gcm`]; nothing of a message whose tag is wrong
//! is opened.

use crate::cipher;
use crate::gcm::key_bytes;
use crate::short::{column, laid_out};
use divisi_core::{Abort, Misuse, Step, step};
use divisi_rep3::Rep3;
use divisi_rep3::deal::Part;
use divisi_symmetric::aes::KeySize;
pub use divisi_symmetric::mode::gcm::Outcome;
use divisi_symmetric::mode::gcm::{GcmItem, GcmPayload, TagLength};

const MANY: Step = step!("many");

/// One message.
pub struct MessageJob {
    /// This party's part of its key.
    pub key: Part,
    /// Its IV, which the caller chooses, for known answers; under stored keys IVs are drawn.
    pub danger_iv: [u8; 12],
    /// Its associated data.
    pub aad: Vec<u8>,
    /// The length of the tag.
    pub tag_length: TagLength,
    /// The direction, and the payload.
    pub payload: OwnedPayload,
}

/// The direction of a message, and its payload.
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum OwnedPayload {
    /// Encrypt: this party's part of the plaintext.
    Plain(Part),
    /// Decrypt.
    Cipher {
        /// The ciphertext.
        ciphertext: Vec<u8>,
        /// The tag, as long as the job says.
        tag: Vec<u8>,
    },
}

/// Run jobs whose keys have one size.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for a key or tag of another length, a message that is
/// too long for GCM, or no jobs.
pub fn many(rep: &mut Rep3, size: KeySize, jobs: &[MessageJob]) -> Result<Vec<Outcome>, Abort> {
    let items: Option<Vec<GcmItem<'_>>> = jobs.iter().enumerate().map(|(k, job)| item(k, job)).collect();
    let items = match items {
        Some(items) if items.is_empty() => return Err(rep.trio().session().misuse(MANY, Misuse::Empty)),
        Some(items) => items,
        None => return Err(rep.trio().session().misuse(MANY, Misuse::LengthDiffers)), // of a tag
    };
    let batch = laid_out(rep, &items)?;
    let parts: Vec<&Part> = jobs.iter().map(|job| &job.key).collect();
    let keys = key_bytes(rep, size, &parts)?;
    let (keys, h) = cipher::expand_for_gcm(rep, &keys)?;
    batch.outcomes(rep, &keys, &h, |rep, i| {
        column(rep, &batch, i, |k| match &jobs.get(k)?.payload {
            OwnedPayload::Plain(part) => Some(part),
            OwnedPayload::Cipher { .. } => None,
        })
    })
}

/// A job as a message whose key is in the job's own lane; `None` if its tag has another length than it says,
/// or its part components of different lengths.
fn item(lane: usize, job: &MessageJob) -> Option<GcmItem<'_>> {
    let payload = match &job.payload {
        OwnedPayload::Plain(part) if part.first.len() == part.second.len() => {
            GcmPayload::Plain(part.first.len())
        }
        OwnedPayload::Plain(_) => return None,
        OwnedPayload::Cipher { ciphertext, tag } => {
            GcmPayload::Cipher { ciphertext, tag: job.tag_length.element(tag)? }
        }
    };
    Some(GcmItem { key: lane, iv: job.danger_iv, aad: &job.aad, tag_length: job.tag_length, payload })
}
