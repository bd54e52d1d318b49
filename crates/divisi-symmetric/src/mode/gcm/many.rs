//! Many messages in one call whose keys are used for this call alone, as in known-answer tests. The decrypted
//! messages are opened to all parties.

use super::message::interleaved;
use super::{GcmBatch, GcmOutcome};
use crate::aes::RoundKeys;
use crate::engines::GcmEngine;
use crate::mode::ghash::powers;
use divisi_core::{Abort, Lanes, Misuse, Step, Verified, step};

const MANY: Step = step!("many");

/// The result for a message. All parties know it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a message whose tag was wrong has no plaintext")]
pub enum Outcome {
    /// Ciphertext and tag.
    Sealed(Vec<u8>, Vec<u8>),
    /// The plaintext: the tag was right.
    Opened(Vec<u8>),
    /// The tag was wrong; nothing was opened.
    Invalid,
}

impl GcmBatch<'_> {
    /// Encrypts or decrypts all messages under these keys and their hash keys, one in each lane
    /// ([`expand`](super::expand)), and opens the plaintexts whose tags were right, all in one round. `plain`
    /// is that of [`GcmBatch::messages`].
    ///
    /// Cost: that of the messages, and as many powers of each hash key as the longest message needs.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if a message has no key, or is longer than memory
    /// can hold.
    pub fn outcomes<E: GcmEngine>(
        &self,
        e: &mut E,
        keys: &RoundKeys<E::Byte>,
        h: &E::Block,
        plain: impl Fn(&mut E, usize) -> Result<E::Byte, Abort>,
    ) -> Result<Vec<Outcome>, Abort> {
        let messages = self.messages(e, keys, plain)?;
        let misfit = Abort::Misuse { step: MANY, what: Misuse::TooLarge };
        let most = usize::try_from(self.hash_blocks()).map_err(|_| misfit)?;
        let powers = powers(e, h, most)?;
        let (messages, powers) = e.settled((messages, powers))?.split();
        let made = self.finish(e, messages, |item, blocks| {
            let first = item.key * most;
            powers.get().gather(&(first..first + blocks).collect::<Vec<_>>())
        })?;
        let mut valid = Vec::new();
        let mut outcomes = Vec::with_capacity(made.len());
        for (item, made) in self.items().iter().zip(made) {
            outcomes.push(match made {
                GcmOutcome::Sealed { ciphertext, tag } => {
                    Outcome::Sealed(ciphertext, tag[..item.tag_length.bytes()].to_vec())
                }
                GcmOutcome::Opened(columns) => {
                    valid.push(columns);
                    Outcome::Opened(Vec::new())
                }
                GcmOutcome::Invalid => Outcome::Invalid,
            });
        }
        if !valid.is_empty() {
            // linear in what was verified
            let opened = e.reveal(valid.into_iter().flat_map(Verified::into_inner).collect())?;
            let mut opened = opened.chunks(16);
            for (item, outcome) in self.items().iter().zip(&mut outcomes) {
                if let Outcome::Opened(plaintext) = outcome {
                    *plaintext = interleaved(opened.next().unwrap_or_default(), item.payload.bytes())?;
                }
            }
        }
        Ok(outcomes)
    }
}
