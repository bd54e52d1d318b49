//! AES-GCM on any engine that has blocks: from the messages of a job to their output rows.
//!
//! Messages whose IV has 96 bits go together, in one batch. The counter blocks of another IV are secret, so
//! that each of the other messages goes by itself.

use crate::job::{ModeMessage, ModesJob};
use divisi_core::{Abort, Misuse, Step, step};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::mode::gcm::{
    GcmBatch, GcmEngine, GcmItem, GcmPayload, IV_BYTES, MessagesKey, Outcome, TagLength, interleaved,
};
use divisi_symmetric::mode::ghash::Steps;

const GCM: Step = step!("gcm");

/// The number of powers of a hash key that are made for a message that goes by itself. A longer message takes
/// one more product for each further piece of as many blocks.
const BABY: usize = 16;

/// A party's secrets of a message: the components of its shares of the key, and of the plaintext, which is
/// empty if a ciphertext is decrypted.
pub struct Secrets<'d> {
    /// Each component of the key's bytes.
    pub key: Vec<&'d [u8]>,
    /// Each component of the plaintext's bytes.
    pub message: Vec<&'d [u8]>,
}

/// How secrets that were dealt enter an engine for GCM.
pub trait Dealt<E: GcmEngine> {
    /// Secret bytes from the components of their shares, one byte in each lane.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn enter(e: &mut E, components: Vec<Vec<u8>>) -> Result<E::Byte, Abort>;

    /// The round keys and the hash keys of several keys, one key in each lane.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn ready(e: &mut E, key: &[E::Byte]) -> Result<(RoundKeys<E::Byte>, E::Block), Abort>;
}

/// The output rows of all messages. A row has a byte that is 1 if the message is authentic, the resulting
/// message, and the tag that was made; the rest is zeros.
pub fn messages<D: Dealt<E>, E: GcmEngine>(
    e: &mut E,
    job: &ModesJob,
    secrets: &[Secrets<'_>],
) -> Result<Vec<u8>, Abort> {
    if secrets.len() != job.messages.len() {
        return Err(misfit());
    }
    let mut outcomes: Vec<Option<Outcome>> = vec![None; job.messages.len()];
    let (mut items, mut places) = (Vec::new(), Vec::new());
    for (place, (message, secrets)) in job.messages.iter().zip(secrets).enumerate() {
        if let Ok(iv) = <[u8; IV_BYTES]>::try_from(&message.iv[..]) {
            items.push(item(message, iv, items.len())?);
            places.push(place);
        } else {
            outcomes[place] = Some(alone::<D, E>(e, message, secrets)?);
        }
    }
    if !items.is_empty() {
        let own: Vec<&Secrets<'_>> = places.iter().filter_map(|place| secrets.get(*place)).collect();
        for (place, outcome) in places.into_iter().zip(together::<D, E>(e, &items, &own)?) {
            outcomes[place] = Some(outcome);
        }
    }
    let mut rows = Vec::new();
    for (message, outcome) in job.messages.iter().zip(outcomes) {
        let end = rows.len() + 1 + message.bytes + message.tag_bytes;
        let parts = match outcome.ok_or_else(misfit)? {
            Outcome::Sealed(ciphertext, tag) => [vec![1], ciphertext, tag].concat(),
            Outcome::Opened(plaintext) => [vec![1], plaintext].concat(),
            Outcome::Invalid => Vec::new(),
        };
        rows.extend(parts);
        rows.resize(end, 0);
    }
    Ok(rows)
}

/// A message of a batch, with its key in this lane.
fn item(message: &ModeMessage, iv: [u8; IV_BYTES], key: usize) -> Result<GcmItem<'_>, Abort> {
    let tag_length = TagLength::from_bits_even_short(8 * message.tag_bytes).map_err(|_| misfit())?;
    let content = match &message.sealed {
        Some((ciphertext, tag)) => {
            GcmPayload::Cipher { ciphertext, tag: tag_length.element(tag).ok_or_else(misfit)? }
        }
        None => GcmPayload::Plain(message.bytes),
    };
    Ok(GcmItem { key, iv, aad: &message.aad, tag_length, payload: content })
}

/// The messages of a batch.
fn together<D: Dealt<E>, E: GcmEngine>(
    e: &mut E,
    items: &[GcmItem<'_>],
    secrets: &[&Secrets<'_>],
) -> Result<Vec<Outcome>, Abort> {
    let batch = GcmBatch::new(items).map_err(|_| misfit())?;
    let key = secrets.first().map_or(&[][..], |first| &first.key[..]);
    let (components, bytes) = (key.len(), key.first().map_or(0, |key| key.len()));
    let byte = |i: usize| {
        let lane = |own: &&Secrets<'_>, c: usize| own.key.get(c)?.get(i).copied();
        let column = |c: usize| secrets.iter().map(|own| lane(own, c)).collect::<Option<Vec<u8>>>();
        (0..components).map(column).collect::<Option<Vec<_>>>().ok_or_else(misfit)
    };
    let key = (0..bytes).map(|i| D::enter(e, byte(i)?)).collect::<Result<Vec<_>, _>>()?;
    let (keys, h) = D::ready(e, &key)?;
    batch.outcomes(e, &keys, &h, |e, i| {
        let message = |k: usize, c: usize| secrets.get(k).and_then(|own| own.message.get(c)).copied();
        let column = |c: usize| batch.column(i, |k| message(k, c).unwrap_or_default());
        D::enter(e, (0..components).map(column).collect())
    })
}

/// A message by itself, under an IV of any length.
fn alone<D: Dealt<E>, E: GcmEngine>(
    e: &mut E,
    message: &ModeMessage,
    secrets: &Secrets<'_>,
) -> Result<Outcome, Abort> {
    // for each component, byte i of every piece of `width` bytes
    let column = |bytes: &[&[u8]], i: usize, width: usize| -> Vec<Vec<u8>> {
        bytes.iter().map(|own| own.iter().skip(i).step_by(width).copied().collect()).collect()
    };
    let length = secrets.key.first().map_or(0, |key| key.len());
    let key = (0..length).map(|i| D::enter(e, column(&secrets.key, i, length)));
    let key = key.collect::<Result<Vec<_>, _>>()?;
    let (round_keys, h) = D::ready(e, &key)?;
    let keys = MessagesKey::each(e, round_keys, &h, Steps::new(BABY, 1024).ok_or_else(misfit)?)?;
    let mut key = keys.into_iter().next().ok_or_else(misfit)?;
    if let Some((ciphertext, tag)) = &message.sealed {
        let opened = key.open(e, &message.iv, &message.aad, ciphertext, tag)?;
        let Some(opened) = opened else { return Ok(Outcome::Invalid) };
        return Ok(Outcome::Opened(interleaved(&e.open(opened)?, message.bytes)?));
    }
    let columns =
        (0..16).map(|i| D::enter(e, column(&secrets.message, i, 16))).collect::<Result<Vec<_>, _>>()?;
    let (ciphertext, tag) = key.seal(e, &message.iv, &message.aad, &columns)?;
    Ok(Outcome::Sealed(ciphertext, tag.get(..message.tag_bytes).ok_or_else(misfit)?.to_vec()))
}

fn misfit() -> Abort {
    Abort::Misuse { step: GCM, what: Misuse::MessageUnfit }
}
