//! Modes among three parties: what they cost and open, verdicts on what is authenticated and lies about them,
//! what a repetition tells.

mod costs;
mod forged;
mod long_ivs;
mod passwords;
mod repetition;
mod verdicts;

use crate::common::prelude::*;
use divisi_symmetric::aes;
use divisi_symmetric::batch::MacEngine;
use divisi_symmetric::mode::one_shot::wrap::WrapForm;
use divisi_symmetric::mode::one_shot::{Releases, Undecided, ccm, gcm_siv, siv, wrap};

const AAD: [u8; 20] = [0x5a; 20];
const NONCE: [u8; 12] = [7; 12];

/// Modes that authenticate a message as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Kw,
    Kwp,
    Siv,
    Ccm,
    GcmSiv,
}

const ALL: [Mode; 5] = [Mode::Kw, Mode::Kwp, Mode::Siv, Mode::Ccm, Mode::GcmSiv];

/// The public parts of a sealed message.
#[derive(Clone, Debug)]
struct Sealed {
    aad: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

/// A key that is ready for use.
enum Ready<E: Releases + MacEngine> {
    Aes(aes::RoundKeys<E::Byte>),
    Siv(siv::SivKey<E>),
}

impl Mode {
    fn key(self) -> Vec<u8> {
        (0..if self == Mode::Siv { 32 } else { 16 }).map(|i| 7 * i + 5).collect()
    }

    fn message(self) -> Vec<u8> {
        (0..if self == Mode::Kw { 16 } else { 29 }).map(|i| 7 * i + 1).collect()
    }

    /// How many claims a verdict is about.
    fn claims(self) -> usize {
        if self == Mode::Kwp { 8 } else { 1 }
    }

    fn form(self) -> WrapForm {
        if self == Mode::Kwp { WrapForm::Kwp } else { WrapForm::Kw }
    }

    /// [`Mode::message`], sealed with the usual associated data.
    fn sealed(self) -> Sealed {
        self.seal(&AAD, &self.message())
    }

    /// Seal any message, in the clear.
    fn seal(self, aad: &[u8], message: &[u8]) -> Sealed {
        let e = &mut Plain;
        let message = public(e, message);
        let bytes = |out: Vec<<Plain as Bytes>::Byte>| Plain.reveal(out).unwrap().concat();
        let key = public(e, &self.key());
        let (ciphertext, tag) = match (self, self.ready(e, &key).unwrap()) {
            (_, Ready::Siv(key)) => {
                let (ivs, ciphertext) = key.seal(e, 1, &[vec![aad.to_vec()]], &message).unwrap();
                (bytes(ciphertext), ivs[0].to_vec())
            }
            (Mode::Ccm, Ready::Aes(key)) => {
                let mut ciphertext = bytes(ccm::seal(e, &key, &[ccm_head(aad)], 16, &message).unwrap());
                let tag = ciphertext.split_off(message.len());
                (ciphertext, tag)
            }
            (Mode::GcmSiv, Ready::Aes(key)) => {
                let (tags, ciphertext) = gcm_siv::seal(e, &key, &[nonce_head(aad)], &message).unwrap();
                (bytes(ciphertext), tags[0].to_vec())
            }
            (_, Ready::Aes(key)) => {
                (bytes(wrap::wrap(e, &key, self.form(), false, &message).unwrap()), Vec::new())
            }
        };
        Sealed { aad: aad.to_vec(), ciphertext, tag }
    }

    fn ready<E: Releases + MacEngine>(self, e: &mut E, key: &[E::Byte]) -> Result<Ready<E>, Abort> {
        Ok(match self {
            Mode::Siv => Ready::Siv(siv::SivKey::new(e, key)?),
            _ => Ready::Aes(aes::expand(e, key)?),
        })
    }

    /// Decrypt messages of one shape, up to the verdict.
    fn open<E: Releases + MacEngine>(
        self,
        e: &mut E,
        key: &Ready<E>,
        all: &[Sealed],
    ) -> Result<Undecided<E>, Abort> {
        let messages: Vec<Vec<u8>> = all.iter().map(|sealed| sealed.ciphertext.clone()).collect();
        let tags: Vec<[u8; 16]> =
            all.iter().map(|sealed| sealed.tag.as_slice().try_into().unwrap_or_default()).collect();
        let aad = || all.iter().map(|sealed| sealed.aad.as_slice());
        match (self, key) {
            (_, Ready::Siv(key)) => key.open(e, &[aad().map(<[u8]>::to_vec).collect()], &tags, &messages),
            (Mode::Ccm, Ready::Aes(key)) => {
                let tags: Vec<Vec<u8>> = all.iter().map(|sealed| sealed.tag.clone()).collect();
                ccm::open(e, key, &aad().map(ccm_head).collect::<Vec<_>>(), &messages, &tags)
            }
            (Mode::GcmSiv, Ready::Aes(key)) => {
                gcm_siv::open(e, key, &aad().map(nonce_head).collect::<Vec<_>>(), &messages, &tags)
            }
            (_, Ready::Aes(key)) => {
                let column = |i: usize| messages.iter().map(|message| message[i]).collect::<Vec<u8>>();
                let message: Vec<E::Byte> = (0..messages[0].len()).map(|i| e.public(&column(i))).collect();
                wrap::unwrap(e, key, self.form(), false, &message)
            }
        }
    }
}

/// These bytes with one of them changed.
fn changed_at(bytes: &[u8], at: usize, error: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= error;
    bytes
}

/// Public bytes, of one lane each.
fn public<E: Bytes>(e: &mut E, bytes: &[u8]) -> Vec<E::Byte> {
    bytes.iter().map(|byte| e.public(&[*byte])).collect()
}

fn ccm_head(aad: &[u8]) -> ccm::Head {
    ccm::Head { nonce: NONCE.to_vec(), aad: aad.to_vec() }
}

fn nonce_head(aad: &[u8]) -> gcm_siv::NonceHead {
    gcm_siv::NonceHead { nonce: NONCE, aad: aad.to_vec() }
}

/// A block through AES in the clear.
fn block(key: &[u8], direction: Direction, block: [u8; 16]) -> [u8; 16] {
    let e = &mut Plain;
    let key = public(e, key);
    let key = aes::expand(e, &key).unwrap();
    let mut state = block.map(|byte| Plain.public(&[byte]));
    match direction {
        Direction::Encrypt => aes::encrypt(e, &key, &mut state).unwrap(),
        Direction::Decrypt => aes::decrypt(e, &key, &mut state).unwrap(),
    }
    state.each_ref().map(|byte| byte.values()[0])
}

fn dealt(mode: Mode) -> [Vec<Part>; 3] {
    deal_all(&mode.key().iter().map(|byte| vec![*byte]).collect::<Vec<_>>())
}

/// An engine, and the key in it.
fn begun(
    trio: Trio,
    mode: Mode,
    key: &[Vec<Part>; 3],
    security: Security,
) -> Result<(Rep3, Ready<Rep3>), Abort> {
    let me = trio.me().index();
    let mut e = Rep3::new(trio, Protocol::Gf4Circuit, security);
    let key = key[me].iter().map(|part| e.trio().input(part)).collect::<Result<Vec<Byte>, _>>()?;
    let key = mode.ready(&mut e, &key)?;
    Ok((e, key))
}

/// What a party gets of a message: its bytes if it is authentic.
fn unsealed(e: &mut Rep3, mode: Mode, key: &Ready<Rep3>, sealed: &Sealed) -> Result<Option<Vec<u8>>, Abort> {
    let undecided = mode.open(e, key, std::slice::from_ref(sealed))?;
    let Some(message) = undecided.release_one(e)? else { return Ok(None) };
    Ok(Some(e.trio().open(&message)?.concat()))
}
