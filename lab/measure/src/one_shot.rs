//! Modes that take a message as a whole: a message is encrypted, and decrypted from the ciphertext and from
//! one that is not authentic. The same code runs in the clear and among three parties.

use divisi_core::{Abort, Direction, Misuse, Step, step};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::gcm::{GcmEngine, MessagesKey, interleaved};
use divisi_symmetric::mode::ghash::Steps;
use divisi_symmetric::mode::one_shot::wrap::WrapForm;
use divisi_symmetric::mode::one_shot::{Releases, Undecided, ccm, gcm_siv, siv, stealing, wrap, xts};
use divisi_symmetric::mode::{cbc, feedback};

const WHOLE: Step = step!("whole");

const AAD: &[u8] = b"associated data";
/// An IV of another length than 96 bits.
const IV: [u8; 13] = [0x5a; 13];

/// Which mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneShotMode {
    /// CBC, its padding left to others.
    Cbc,
    /// CFB, by segments of a block.
    Cfb128,
    /// CFB, by segments of a byte.
    Cfb8,
    /// OFB.
    Ofb,
    /// CBC-CS3, with a block that is stolen from.
    Cs3,
    /// AES-KW.
    Kw,
    /// AES-KWP.
    Kwp,
    /// AES-SIV.
    Siv,
    /// AES-CCM.
    Ccm,
    /// AES-GCM-SIV.
    GcmSiv,
    /// XTS-AES, with a block that is stolen from.
    Xts,
    /// AES-GCM under an IV of another length than 96 bits.
    LongIv,
}

impl OneShotMode {
    /// All, with their names in lists.
    pub const ALL: [(OneShotMode, &str); 12] = [
        (OneShotMode::Cbc, "cbc"),
        (OneShotMode::Cfb128, "cfb128"),
        (OneShotMode::Cfb8, "cfb8"),
        (OneShotMode::Ofb, "ofb"),
        (OneShotMode::Cs3, "cbc-cs3"),
        (OneShotMode::Kw, "kw"),
        (OneShotMode::Kwp, "kwp"),
        (OneShotMode::Siv, "siv"),
        (OneShotMode::Ccm, "ccm"),
        (OneShotMode::GcmSiv, "gcm-siv"),
        (OneShotMode::Xts, "xts"),
        (OneShotMode::LongIv, "gcm with an iv of 13 bytes"),
    ];

    /// Its name in lists.
    pub fn name(self) -> &'static str {
        OneShotMode::ALL.iter().find(|(mode, _)| *mode == self).map_or("", |(_, name)| name)
    }

    /// Bytes of the key.
    pub fn key_bytes(self) -> usize {
        if matches!(self, OneShotMode::Siv | OneShotMode::Xts) { 32 } else { 16 }
    }

    /// Bytes of the message: whole blocks if the mode demands them or makes a lane of each block, otherwise a
    /// block and a rest.
    pub fn text_bytes(self) -> usize {
        match self {
            OneShotMode::Cbc | OneShotMode::Kw | OneShotMode::Cfb128 => 32,
            OneShotMode::LongIv => 16,
            // a call of the cipher for each byte
            OneShotMode::Cfb8 => 3,
            _ => 29,
        }
    }

    /// Whether decryption gives a verdict.
    fn authenticates(self) -> bool {
        !matches!(
            self,
            OneShotMode::Cbc
                | OneShotMode::Cfb128
                | OneShotMode::Cfb8
                | OneShotMode::Ofb
                | OneShotMode::Cs3
                | OneShotMode::Xts
        )
    }

    /// Bytes of a segment of CFB.
    fn segment(self) -> usize {
        if self == OneShotMode::Cfb8 { 1 } else { 16 }
    }

    /// Encrypts and decrypts; returns what is opened: the ciphertext, its tag, and the decrypted message.
    ///
    /// # Errors
    /// Whatever ends the session; [`Abort::Misuse`] if a verdict is not what it ought to be.
    pub fn run<E: Releases + GcmEngine>(
        self,
        e: &mut E,
        key: &[E::Byte],
        message: &[E::Byte],
    ) -> Result<Vec<Vec<u8>>, Abort> {
        let (first, second) = key.split_at(16);
        let key = aes::expand(e, first)?;
        let second = if second.is_empty() { key.clone() } else { aes::expand(e, second)? };
        let (ciphertext, tag) = self.there(e, &key, &second, message)?;
        let mut wrong = (ciphertext.clone(), tag.clone());
        // a bit of the tag is changed, or of the ciphertext if there is no tag
        if let Some(last) = wrong.1.last_mut().or(wrong.0.last_mut()) {
            *last ^= 1;
        }
        if self.back(e, &key, &second, (&ciphertext, &tag))?.is_none() {
            return Err(misfit(Misuse::NoResult));
        }
        let authenticates = self.authenticates();
        let refused = self.back(e, &key, &second, (&wrong.0, &wrong.1))?.is_none();
        if refused != authenticates {
            return Err(misfit(Misuse::NoResult));
        }
        let back = self.back(e, &key, &second, (&ciphertext, &tag))?;
        Ok(vec![ciphertext, tag, back.ok_or_else(|| misfit(Misuse::MessageUnfit))?])
    }

    /// The ciphertext, and the tag or IV that belongs to it.
    fn there<E: Releases + GcmEngine>(
        self,
        e: &mut E,
        key: &RoundKeys<E::Byte>,
        second: &RoundKeys<E::Byte>,
        message: &[E::Byte],
    ) -> Result<(Vec<u8>, Vec<u8>), Abort> {
        let made = match self {
            OneShotMode::Cbc => cbc::encrypt(e, key, &vec![vec![7]; 16], message)?,
            OneShotMode::Cfb128 | OneShotMode::Cfb8 => {
                feedback::cfb_encrypt(e, key, self.segment(), &vec![vec![7]; 16], message)?
            }
            OneShotMode::Ofb => feedback::ofb(e, key, &vec![vec![7]; 16], message)?,
            OneShotMode::Cs3 => stealing::encrypt(e, key, &[vec![7; 16]], 8 * message.len(), message)?,
            OneShotMode::Kw => wrap::wrap(e, key, WrapForm::Kw, false, message)?,
            OneShotMode::Kwp => wrap::wrap(e, key, WrapForm::Kwp, false, message)?,
            OneShotMode::Xts => {
                let bits = 8 * message.len();
                xts::crypt(e, [key, second], Direction::Encrypt, &[vec![7; 16]], bits, message)?
            }
            OneShotMode::Ccm => ccm::seal(e, key, &[ccm_head()], 16, message)?,
            OneShotMode::Siv => {
                let key = siv::SivKey::from_round_keys(e, key.clone(), second.clone())?;
                let (ivs, made) = key.seal(e, 1, &[vec![AAD.to_vec()]], message)?;
                return Ok((e.reveal(made)?.concat(), ivs.concat()));
            }
            OneShotMode::GcmSiv => {
                let (tags, made) = gcm_siv::seal(e, key, &[nonce_head()], message)?;
                return Ok((e.reveal(made)?.concat(), tags.concat()));
            }
            OneShotMode::LongIv => {
                let (ciphertext, tag) = messages_key(e, key)?.seal(e, &IV, AAD, message)?;
                return Ok((ciphertext, tag.to_vec()));
            }
        };
        let mut opened = e.reveal(made)?.concat();
        let tag = if self == OneShotMode::Ccm { opened.split_off(message.len()) } else { Vec::new() };
        Ok((opened, tag))
    }

    /// The decrypted message; `None` if the mode finds that it is not authentic.
    fn back<E: Releases + GcmEngine>(
        self,
        e: &mut E,
        key: &RoundKeys<E::Byte>,
        second: &RoundKeys<E::Byte>,
        (ciphertext, tag): (&[u8], &[u8]),
    ) -> Result<Option<Vec<u8>>, Abort> {
        let known: Vec<E::Byte> = ciphertext.iter().map(|byte| e.public(&[*byte])).collect();
        let block = |tag: &[u8]| <[u8; 16]>::try_from(tag).map_err(|_| misfit(Misuse::BlockLength));
        let messages = [ciphertext.to_vec()];
        let undecided: Undecided<E> = match self {
            OneShotMode::Kw => wrap::unwrap(e, key, WrapForm::Kw, false, &known)?,
            OneShotMode::Kwp => wrap::unwrap(e, key, WrapForm::Kwp, false, &known)?,
            OneShotMode::Ccm => ccm::open(e, key, &[ccm_head()], &messages, &[tag.to_vec()])?,
            OneShotMode::GcmSiv => gcm_siv::open(e, key, &[nonce_head()], &messages, &[block(tag)?])?,
            OneShotMode::Siv => {
                let key = siv::SivKey::from_round_keys(e, key.clone(), second.clone())?;
                key.open(e, &[vec![AAD.to_vec()]], &[block(tag)?], &messages)?
            }
            OneShotMode::LongIv => {
                let mut key = messages_key(e, key)?;
                let Some(message) = key.open(e, &IV, AAD, ciphertext, tag)? else { return Ok(None) };
                return interleaved(&e.open(message)?, ciphertext.len()).map(Some);
            }
            OneShotMode::Xts => {
                let bits = 8 * ciphertext.len();
                let message = xts::crypt(e, [key, second], Direction::Decrypt, &[vec![7; 16]], bits, &known)?;
                return Ok(Some(e.reveal(message)?.concat()));
            }
            OneShotMode::Cfb128 | OneShotMode::Cfb8 => {
                let n = self.segment();
                let inputs = columns(&feedback::cfb_inputs(&[7; 16], n, ciphertext), 16);
                let message = feedback::cfb_decrypt(e, key, &inputs, &columns(ciphertext, n))?;
                let columns = e.reveal(message)?;
                let segments = 0..ciphertext.len() / n;
                let byte = |l: usize, column: &Vec<u8>| column.get(l).copied();
                return Ok(Some(
                    segments.flat_map(|l| columns.iter().filter_map(move |c| byte(l, c))).collect(),
                ));
            }
            OneShotMode::Ofb => {
                let message = feedback::ofb(e, key, &vec![vec![7]; 16], &known)?;
                return Ok(Some(e.reveal(message)?.concat()));
            }
            OneShotMode::Cs3 => {
                let message = stealing::decrypt(e, key, &[vec![7; 16]], 8 * ciphertext.len(), &messages)?;
                return Ok(Some(e.reveal(message)?.concat()));
            }
            OneShotMode::Cbc => {
                let before = cbc::previous(&[7; 16], ciphertext);
                let message = cbc::decrypt(e, key, &columns(&before, 16), &columns(ciphertext, 16))?;
                return interleaved(&e.reveal(message)?, ciphertext.len()).map(Some);
            }
        };
        let Some(message) = undecided.release_one(e)? else { return Ok(None) };
        Ok(Some(e.open(message)?.concat()))
    }
}

/// Byte i of each n bytes, for each i.
fn columns(bytes: &[u8], n: usize) -> Vec<Vec<u8>> {
    (0..n).map(|i| bytes.iter().skip(i).step_by(n).copied().collect()).collect()
}

fn ccm_head() -> ccm::Head {
    ccm::Head { nonce: vec![0x5a; 12], aad: AAD.to_vec() }
}

fn nonce_head() -> gcm_siv::NonceHead {
    gcm_siv::NonceHead { nonce: [0x5a; 12], aad: AAD.to_vec() }
}

/// A key with as few powers as so short a message needs.
fn messages_key<E: GcmEngine>(e: &mut E, key: &RoundKeys<E::Byte>) -> Result<MessagesKey<E>, Abort> {
    let steps = Steps::new(4, 1).ok_or_else(|| misfit(Misuse::OutOfRange))?;
    MessagesKey::new(e, key.clone(), steps)
}

fn misfit(what: Misuse) -> Abort {
    Abort::Misuse { step: WHOLE, what }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::runs::{EngineRun, RunWork};
    use divisi_rep3::{Protocol, Security};

    /// Three parties open the same as the engine in the clear, and nothing else: the ciphertext with its tag,
    /// the messages that are released, and for each decryption a masked block for each claim.
    #[test]
    fn modes_run_as_in_the_clear_and_open_nothing_else() {
        for (whole, _) in OneShotMode::ALL {
            let run = EngineRun {
                protocol: Protocol::Gf4Circuit,
                security: Security::Malicious,
                work: RunWork::OneShot(whole),
            };
            let counts = run.prepare().unwrap().execute(&|_| {}).unwrap();
            let claims = match whole {
                _ if !whole.authenticates() => 0,
                OneShotMode::Kwp => 8,
                _ => 1,
            };
            let made = match whole {
                OneShotMode::Kw => 40,
                OneShotMode::Kwp => 40,
                _ if !whole.authenticates() => whole.text_bytes(),
                _ => whole.text_bytes() + 16,
            };
            // the message is decrypted three times; where there is a verdict, one of them releases no
            // message. Of a wrapped key only its own bytes are opened
            let back = if claims == 0 { 3 } else { 2 } * whole.text_bytes();
            let opened = (made + back + 3 * 16 * claims) as u64;
            assert!(counts.iter().all(|counts| counts.openings == opened), "{}", whole.name());
        }
    }
}
