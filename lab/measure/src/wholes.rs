//! Modes that take a text as a whole: a text is encrypted, and decrypted from the ciphertext and from one
//! that is not authentic. The same code runs in the clear and among three parties.

use divisi_core::{Abort, Direction, Misuse, Step, step};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::gcm::{GcmEngine, TextsKey, interleaved};
use divisi_symmetric::mode::ghash::Steps;
use divisi_symmetric::mode::whole::wrap::WrapForm;
use divisi_symmetric::mode::whole::{Releases, Undecided, ccm, gcm_siv, siv, stealing, wrap, xts};
use divisi_symmetric::mode::{cbc, feedback};

const WHOLE: Step = step!("whole");

const AAD: &[u8] = b"associated data";
/// An IV of another length than 96 bits.
const IV: [u8; 13] = [0x5a; 13];

/// Which mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeMode {
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

impl WholeMode {
    /// All, with their names in lists.
    pub const ALL: [(WholeMode, &str); 12] = [
        (WholeMode::Cbc, "cbc"),
        (WholeMode::Cfb128, "cfb128"),
        (WholeMode::Cfb8, "cfb8"),
        (WholeMode::Ofb, "ofb"),
        (WholeMode::Cs3, "cbc-cs3"),
        (WholeMode::Kw, "kw"),
        (WholeMode::Kwp, "kwp"),
        (WholeMode::Siv, "siv"),
        (WholeMode::Ccm, "ccm"),
        (WholeMode::GcmSiv, "gcm-siv"),
        (WholeMode::Xts, "xts"),
        (WholeMode::LongIv, "gcm with an iv of 13 bytes"),
    ];

    /// Its name in lists.
    pub fn name(self) -> &'static str {
        WholeMode::ALL.iter().find(|(mode, _)| *mode == self).map_or("", |(_, name)| name)
    }

    /// Bytes of the key.
    pub fn key_bytes(self) -> usize {
        if matches!(self, WholeMode::Siv | WholeMode::Xts) { 32 } else { 16 }
    }

    /// Bytes of the text: whole blocks if the mode demands them or makes a lane of each block, otherwise a
    /// block and a rest.
    pub fn text_bytes(self) -> usize {
        match self {
            WholeMode::Cbc | WholeMode::Kw | WholeMode::Cfb128 => 32,
            WholeMode::LongIv => 16,
            // a call of the cipher for each byte
            WholeMode::Cfb8 => 3,
            _ => 29,
        }
    }

    /// Whether decryption gives a verdict.
    fn authenticates(self) -> bool {
        !matches!(
            self,
            WholeMode::Cbc
                | WholeMode::Cfb128
                | WholeMode::Cfb8
                | WholeMode::Ofb
                | WholeMode::Cs3
                | WholeMode::Xts
        )
    }

    /// Bytes of a segment of CFB.
    fn segment(self) -> usize {
        if self == WholeMode::Cfb8 { 1 } else { 16 }
    }

    /// Encrypts and decrypts; returns what is opened: the ciphertext, its tag, and the decrypted text.
    ///
    /// # Errors
    /// Whatever ends the session; [`Abort::Misuse`] if a verdict is not what it ought to be.
    pub fn run<E: Releases + GcmEngine>(
        self,
        e: &mut E,
        key: &[E::Byte],
        text: &[E::Byte],
    ) -> Result<Vec<Vec<u8>>, Abort> {
        let (first, second) = key.split_at(16);
        let key = aes::expand(e, first)?;
        let second = if second.is_empty() { key.clone() } else { aes::expand(e, second)? };
        let (ciphertext, tag) = self.there(e, &key, &second, text)?;
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
        Ok(vec![ciphertext, tag, back.ok_or_else(|| misfit(Misuse::TextUnfit))?])
    }

    /// The ciphertext, and the tag or IV that belongs to it.
    fn there<E: Releases + GcmEngine>(
        self,
        e: &mut E,
        key: &RoundKeys<E::Byte>,
        second: &RoundKeys<E::Byte>,
        text: &[E::Byte],
    ) -> Result<(Vec<u8>, Vec<u8>), Abort> {
        let made = match self {
            WholeMode::Cbc => cbc::encrypt(e, key, &vec![vec![7]; 16], text)?,
            WholeMode::Cfb128 | WholeMode::Cfb8 => {
                feedback::cfb_encrypt(e, key, self.segment(), &vec![vec![7]; 16], text)?
            }
            WholeMode::Ofb => feedback::ofb(e, key, &vec![vec![7]; 16], text)?,
            WholeMode::Cs3 => stealing::encrypt(e, key, &[vec![7; 16]], 8 * text.len(), text)?,
            WholeMode::Kw => wrap::wrap(e, key, WrapForm::Kw, false, text)?,
            WholeMode::Kwp => wrap::wrap(e, key, WrapForm::Kwp, false, text)?,
            WholeMode::Xts => {
                let bits = 8 * text.len();
                xts::crypt(e, [key, second], Direction::Encrypt, &[vec![7; 16]], bits, text)?
            }
            WholeMode::Ccm => ccm::seal(e, key, &[ccm_head()], 16, text)?,
            WholeMode::Siv => {
                let key = siv::SivKey::from_round_keys(e, key.clone(), second.clone())?;
                let (ivs, made) = key.seal(e, 1, &[vec![AAD.to_vec()]], text)?;
                return Ok((e.reveal(made)?.concat(), ivs.concat()));
            }
            WholeMode::GcmSiv => {
                let (tags, made) = gcm_siv::seal(e, key, &[nonce_head()], text)?;
                return Ok((e.reveal(made)?.concat(), tags.concat()));
            }
            WholeMode::LongIv => {
                let (ciphertext, tag) = texts_key(e, key)?.seal(e, &IV, AAD, text)?;
                return Ok((ciphertext, tag.to_vec()));
            }
        };
        let mut opened = e.reveal(made)?.concat();
        let tag = if self == WholeMode::Ccm { opened.split_off(text.len()) } else { Vec::new() };
        Ok((opened, tag))
    }

    /// The decrypted text; `None` if the mode finds that it is not authentic.
    fn back<E: Releases + GcmEngine>(
        self,
        e: &mut E,
        key: &RoundKeys<E::Byte>,
        second: &RoundKeys<E::Byte>,
        (ciphertext, tag): (&[u8], &[u8]),
    ) -> Result<Option<Vec<u8>>, Abort> {
        let known: Vec<E::Byte> = ciphertext.iter().map(|byte| e.public(&[*byte])).collect();
        let block = |tag: &[u8]| <[u8; 16]>::try_from(tag).map_err(|_| misfit(Misuse::BlockLength));
        let texts = [ciphertext.to_vec()];
        let undecided: Undecided<E> = match self {
            WholeMode::Kw => wrap::unwrap(e, key, WrapForm::Kw, false, &known)?,
            WholeMode::Kwp => wrap::unwrap(e, key, WrapForm::Kwp, false, &known)?,
            WholeMode::Ccm => ccm::open(e, key, &[ccm_head()], &texts, &[tag.to_vec()])?,
            WholeMode::GcmSiv => gcm_siv::open(e, key, &[nonce_head()], &texts, &[block(tag)?])?,
            WholeMode::Siv => {
                let key = siv::SivKey::from_round_keys(e, key.clone(), second.clone())?;
                key.open(e, &[vec![AAD.to_vec()]], &[block(tag)?], &texts)?
            }
            WholeMode::LongIv => {
                let mut key = texts_key(e, key)?;
                let Some(text) = key.open(e, &IV, AAD, ciphertext, tag)? else { return Ok(None) };
                return interleaved(&e.open(text)?, ciphertext.len()).map(Some);
            }
            WholeMode::Xts => {
                let bits = 8 * ciphertext.len();
                let text = xts::crypt(e, [key, second], Direction::Decrypt, &[vec![7; 16]], bits, &known)?;
                return Ok(Some(e.reveal(text)?.concat()));
            }
            WholeMode::Cfb128 | WholeMode::Cfb8 => {
                let n = self.segment();
                let inputs = columns(&feedback::cfb_inputs(&[7; 16], n, ciphertext), 16);
                let text = feedback::cfb_decrypt(e, key, &inputs, &columns(ciphertext, n))?;
                let columns = e.reveal(text)?;
                let segments = 0..ciphertext.len() / n;
                let byte = |l: usize, column: &Vec<u8>| column.get(l).copied();
                return Ok(Some(
                    segments.flat_map(|l| columns.iter().filter_map(move |c| byte(l, c))).collect(),
                ));
            }
            WholeMode::Ofb => {
                let text = feedback::ofb(e, key, &vec![vec![7]; 16], &known)?;
                return Ok(Some(e.reveal(text)?.concat()));
            }
            WholeMode::Cs3 => {
                let text = stealing::decrypt(e, key, &[vec![7; 16]], 8 * ciphertext.len(), &texts)?;
                return Ok(Some(e.reveal(text)?.concat()));
            }
            WholeMode::Cbc => {
                let before = cbc::previous(&[7; 16], ciphertext);
                let text = cbc::decrypt(e, key, &columns(&before, 16), &columns(ciphertext, 16))?;
                return interleaved(&e.reveal(text)?, ciphertext.len()).map(Some);
            }
        };
        let Some(text) = undecided.release_one(e)? else { return Ok(None) };
        Ok(Some(e.open(text)?.concat()))
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
fn texts_key<E: GcmEngine>(e: &mut E, key: &RoundKeys<E::Byte>) -> Result<TextsKey<E>, Abort> {
    let steps = Steps::new(4, 1).ok_or_else(|| misfit(Misuse::OutOfRange))?;
    TextsKey::new(e, key.clone(), steps)
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
    /// the texts that are released, and for each decryption a masked block for each claim.
    #[test]
    fn modes_run_as_in_the_clear_and_open_nothing_else() {
        for (whole, _) in WholeMode::ALL {
            let run = EngineRun {
                protocol: Protocol::Gf4Circuit,
                security: Security::Malicious,
                work: RunWork::Whole(whole),
            };
            let counts = run.prepare().unwrap().execute(&|_| {}).unwrap();
            let claims = match whole {
                _ if !whole.authenticates() => 0,
                WholeMode::Kwp => 8,
                _ => 1,
            };
            let made = match whole {
                WholeMode::Kw => 40,
                WholeMode::Kwp => 40,
                _ if !whole.authenticates() => whole.text_bytes(),
                _ => whole.text_bytes() + 16,
            };
            // the text is decrypted three times; where there is a verdict, one of them releases no text. Of a
            // wrapped key only its own bytes are opened
            let back = if claims == 0 { 3 } else { 2 } * whole.text_bytes();
            let opened = (made + back + 3 * 16 * claims) as u64;
            assert!(counts.iter().all(|counts| counts.openings == opened), "{}", whole.name());
        }
    }
}
