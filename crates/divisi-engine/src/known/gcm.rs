//! AES-GCM on any engine that has blocks: from the texts of a job to their output rows.
//!
//! Texts whose IV has 96 bits go together, in one batch. The counter blocks of another IV are secret, so that
//! each of the other texts goes by itself.

use crate::job::{PublicText, TextsJob};
use divisi_core::{Abort, Misuse, Step, step};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::mode::gcm::{
    GcmBatch, GcmEngine, GcmItem, GcmText, IV_BYTES, Outcome, TagLength, TextsKey, interleaved,
};
use divisi_symmetric::mode::ghash::Steps;

const GCM: Step = step!("gcm");

/// The number of powers of a hash key that are made for a text that goes by itself. A longer text takes one
/// more product for each further piece of as many blocks.
const BABY: usize = 16;

/// A party's secrets of a text: the components of its shares of the key, and of the plaintext, which is empty
/// if a ciphertext is decrypted.
pub struct Secrets<'d> {
    /// Each component of the key's bytes.
    pub key: Vec<&'d [u8]>,
    /// Each component of the plaintext's bytes.
    pub text: Vec<&'d [u8]>,
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

/// The output rows of all texts. A row has a byte that is 1 if the text is authentic, the resulting text, and
/// the tag that was made; the rest is zeros.
pub fn texts<D: Dealt<E>, E: GcmEngine>(
    e: &mut E,
    job: &TextsJob,
    secrets: &[Secrets<'_>],
) -> Result<Vec<u8>, Abort> {
    if secrets.len() != job.texts.len() {
        return Err(misfit());
    }
    let mut outcomes: Vec<Option<Outcome>> = vec![None; job.texts.len()];
    let (mut items, mut places) = (Vec::new(), Vec::new());
    for (place, (text, secrets)) in job.texts.iter().zip(secrets).enumerate() {
        if let Ok(iv) = <[u8; IV_BYTES]>::try_from(&text.iv[..]) {
            items.push(item(text, iv, items.len())?);
            places.push(place);
        } else {
            outcomes[place] = Some(alone::<D, E>(e, text, secrets)?);
        }
    }
    if !items.is_empty() {
        let own: Vec<&Secrets<'_>> = places.iter().filter_map(|place| secrets.get(*place)).collect();
        for (place, outcome) in places.into_iter().zip(together::<D, E>(e, &items, &own)?) {
            outcomes[place] = Some(outcome);
        }
    }
    let mut rows = Vec::new();
    for (text, outcome) in job.texts.iter().zip(outcomes) {
        let end = rows.len() + 1 + text.bytes + text.tag_bytes;
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

/// A text of a batch, with its key in this lane.
fn item(text: &PublicText, iv: [u8; IV_BYTES], key: usize) -> Result<GcmItem<'_>, Abort> {
    let tag_length = TagLength::from_bits_even_short(8 * text.tag_bytes).map_err(|_| misfit())?;
    let content = match &text.sealed {
        Some((ciphertext, tag)) => {
            GcmText::Cipher { ciphertext, tag: tag_length.element(tag).ok_or_else(misfit)? }
        }
        None => GcmText::Plain(text.bytes),
    };
    Ok(GcmItem { key, iv, aad: &text.aad, tag_length, text: content })
}

/// The texts of a batch.
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
        let text = |k: usize, c: usize| secrets.get(k).and_then(|own| own.text.get(c)).copied();
        let column = |c: usize| batch.column(i, |k| text(k, c).unwrap_or_default());
        D::enter(e, (0..components).map(column).collect())
    })
}

/// A text by itself, under an IV of any length.
fn alone<D: Dealt<E>, E: GcmEngine>(
    e: &mut E,
    text: &PublicText,
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
    let keys = TextsKey::each(e, round_keys, &h, Steps::new(BABY, 1024).ok_or_else(misfit)?)?;
    let mut key = keys.into_iter().next().ok_or_else(misfit)?;
    if let Some((ciphertext, tag)) = &text.sealed {
        let opened = key.open(e, &text.iv, &text.aad, ciphertext, tag)?;
        let Some(opened) = opened else { return Ok(Outcome::Invalid) };
        return Ok(Outcome::Opened(interleaved(&e.open(opened)?, text.bytes)?));
    }
    let columns =
        (0..16).map(|i| D::enter(e, column(&secrets.text, i, 16))).collect::<Result<Vec<_>, _>>()?;
    let (ciphertext, tag) = key.seal(e, &text.iv, &text.aad, &columns)?;
    Ok(Outcome::Sealed(ciphertext, tag.get(..text.tag_bytes).ok_or_else(misfit)?.to_vec()))
}

fn misfit() -> Abort {
    Abort::Misuse { step: GCM, what: Misuse::TextUnfit }
}
