//! Many short AES-GCM messages under prepared keys, in one engine call: so a server processes requests that
//! wait at the same time.
//!
//! Adversary, openings and their order are those of [`crate::gcm`]: ciphertexts are opened when all products
//! that they depend on are verified, then their tags. A received tag is compared inside the computation and
//! never opened (check A23). The columns of a plaintext are returned only if its tag was right; they are not
//! opened, but stay shares, for its client alone ([`divisi_rep3::Trio::answer_message`]). A message with a
//! wrong tag is `Invalid` and harms no other; a lie about any message ends the session for all.
//!
//! A message is short if the powers of the hash key that every prepared key has are enough for it ([`fits`]):
//! then only its key stream is computed for it, and GHASH is local.
//!
//! Cost: 66 rounds to encrypt a message of one block and 74 to decrypt it, 78 and 98 for 64 of them, in
//! whatever mixture and under however many keys (AES-128 with gf4-circuit; test `cost_in_rounds`). 40 of
//! these are the S-boxes', and the folds of the two verifications grow with the logarithm of what is owed. A
//! message takes one block more than its payload has. Up to 32 blocks of a call fit into one tile of lanes;
//! for more, the parties' own work is that of 512 blocks, even if there are fewer.
//!
//! Memory: until the verification a party keeps about 1.1 KiB for each block of the key stream (with the same
//! key size and protocol), so the caller bounds the blocks of a call.

use crate::gcm::{GcmKey, TAG};
use crate::settle::close;
use divisi_core::{Abort, Lanes, Misuse, Step, step};
use divisi_field::Gf128;
use divisi_rep3::deal::Part;
use divisi_rep3::{Byte, Protocol, Rep3};
use divisi_symmetric::aes::{KeySize, RoundKeys};
use divisi_symmetric::mode::gcm::{GcmBatch, GcmItem, GcmOutcome, GcmPayload, TagLength};
use divisi_symmetric::mode::ghash::Steps;
use std::collections::BTreeSet;

const SHORT: Step = step!("short");

/// The most rounds that the preparation of keys takes, besides the layers of S-boxes.
const BESIDE_KEYS: usize = 80;

/// The result of a message.
pub type BatchOutcome = GcmOutcome<Byte>;

/// One message.
#[derive(Clone, Copy)]
pub struct ShortMessage<'a> {
    /// The position of its key in the list of keys.
    pub key: usize,
    /// Its IV: drawn for this message alone if it is encrypted.
    pub iv: [u8; 12],
    /// Its associated data.
    pub aad: &'a [u8],
    /// The direction, and the payload.
    pub payload: ShortPayload<'a>,
}

/// The direction of a message, and its payload.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum ShortPayload<'a> {
    /// Encrypt: this party's part of the plaintext.
    Plain(&'a Part),
    /// Decrypt.
    Cipher {
        /// The ciphertext.
        ciphertext: &'a [u8],
        /// The tag.
        tag: [u8; TAG],
    },
}

/// Whether a message with this many bytes of associated data and of payload is short.
#[must_use]
pub fn fits(aad_len: usize, payload_len: usize) -> bool {
    aad_len.div_ceil(16) + payload_len.div_ceil(16) < Steps::STANDARD.baby()
}

/// The largest number of rounds that a call for this many blocks takes under keys of this size, those of tags
/// included: none for no blocks, and for one block nearly as many as for 4,096 (test
/// `no_call_has_more_rounds`).
#[must_use]
pub fn rounds(size: KeySize, protocol: Protocol, blocks: usize) -> usize {
    let pieces = blocks.div_ceil(protocol.blocks_at_once());
    // verifications and tags; layers that only open values leave no products to verify
    let beside = if protocol.owes_products() { 74 } else { 30 };
    if pieces == 0 { 0 } else { pieces * size.rounds() * protocol.rounds() + beside }
}

/// The largest number of rounds that it takes to prepare keys of this size for calls, all at once
/// ([`GcmKey::prepare_many`]).
#[must_use]
pub fn rounds_of_keys(size: KeySize, protocol: Protocol) -> usize {
    (size.sub_words() + size.rounds()) * protocol.for_key_schedule().rounds() + BESIDE_KEYS
}

/// Run messages under keys of one size; returns the result of each, in their order. All three call it with
/// the same keys, IVs, associated data, ciphertexts and tags, which they have compared (A25), and with parts
/// that fit together (A24).
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for keys of different sizes, a message that is not
/// short or names no key, or two messages to be encrypted under one key with one IV.
pub fn short(
    rep: &mut Rep3,
    keys: &[&GcmKey],
    messages: &[ShortMessage<'_>],
) -> Result<Vec<BatchOutcome>, Abort> {
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    if let Err(what) = check(keys, messages) {
        return Err(rep.trio().session().misuse(SHORT, what));
    }
    // a lane for each key that is used, however often it stands in the list
    let mut used: Vec<&GcmKey> = Vec::new();
    let mut items = Vec::with_capacity(messages.len());
    let mut lanes = vec![None; keys.len()];
    for message in messages {
        let lane = match lanes[message.key] {
            Some(lane) => lane,
            None => {
                let key = keys[message.key];
                let known = used.iter().position(|other| std::ptr::eq(*other, key));
                if known.is_none() {
                    used.push(key);
                }
                *lanes[message.key].insert(known.unwrap_or(used.len() - 1))
            }
        };
        items.push(item(message, lane));
    }
    let batch = laid_out(rep, &items)?;
    let plain = |rep: &mut Rep3, i: usize| {
        column(rep, &batch, i, |k| match messages.get(k)?.payload {
            ShortPayload::Plain(part) => Some(part),
            ShortPayload::Cipher { .. } => None,
        })
    };
    let payloads = match used[..] {
        [one] => batch.messages(rep, one.round_keys(), plain)?,
        _ => {
            let keys = side_by_side(&used.iter().map(|key| key.round_keys()).collect::<Vec<_>>());
            let misfit = Abort::Misuse { step: SHORT, what: Misuse::KeyUnfit };
            batch.messages(rep, &keys.ok_or(misfit)?, plain)?
        }
    };
    let payloads = close(rep, payloads)?;
    batch.finish(rep, payloads, |item, blocks| used.get(item.key)?.baby().first(blocks))
}

/// Check what must hold before anything is sent.
fn check(keys: &[&GcmKey], messages: &[ShortMessage<'_>]) -> Result<(), Misuse> {
    if keys.windows(2).any(|pair| pair[0].size() != pair[1].size()) {
        return Err(Misuse::KeyUnfit);
    }
    let mut sealed = BTreeSet::new();
    for message in messages {
        let Some(key) = keys.get(message.key) else { return Err(Misuse::KeyMissing) };
        let bytes = match message.payload {
            ShortPayload::Plain(part) => part.first.len(),
            ShortPayload::Cipher { ciphertext, .. } => ciphertext.len(),
        };
        if !fits(message.aad.len(), bytes) {
            return Err(Misuse::TooLarge);
        }
        if matches!(message.payload, ShortPayload::Plain(part) if part.first.len() != part.second.len()) {
            return Err(Misuse::CountsDiffer);
        }
        let plain = matches!(message.payload, ShortPayload::Plain(_));
        if plain && !sealed.insert((std::ptr::from_ref::<GcmKey>(key), message.iv)) {
            return Err(Misuse::NonceReused);
        }
    }
    Ok(())
}

/// The messages of a call, laid out as a batch.
pub(crate) fn laid_out<'a>(rep: &mut Rep3, items: &'a [GcmItem<'a>]) -> Result<GcmBatch<'a>, Abort> {
    let too_long = |_| rep.trio().session().misuse(SHORT, Misuse::TooLarge);
    GcmBatch::new(items).map_err(too_long)
}

/// Column `i` of all plaintexts, as a shared byte, from this party's part of each.
pub(crate) fn column<'p>(
    rep: &mut Rep3,
    batch: &GcmBatch<'_>,
    i: usize,
    part: impl Fn(usize) -> Option<&'p Part>,
) -> Result<Byte, Abort> {
    let first = batch.column(i, |k| part(k).map_or(&[][..], |part| part.first.as_slice()));
    let second = batch.column(i, |k| part(k).map_or(&[][..], |part| part.second.as_slice()));
    rep.trio().input(&Part { first, second })
}

fn item<'a>(message: &ShortMessage<'a>, key: usize) -> GcmItem<'a> {
    let payload = match message.payload {
        ShortPayload::Plain(part) => GcmPayload::Plain(part.first.len()),
        ShortPayload::Cipher { ciphertext, tag } => {
            GcmPayload::Cipher { ciphertext, tag: Gf128::from_ghash(tag).0 }
        }
    };
    GcmItem { key, iv: message.iv, aad: message.aad, tag_length: TagLength::Bits128, payload }
}

/// The round keys of several keys, joined, with a lane for each key.
fn side_by_side(keys: &[&RoundKeys<Byte>]) -> Option<RoundKeys<Byte>> {
    let size = keys.first()?.size();
    let byte = |round: usize, i: usize| {
        let bytes: Option<Vec<&Byte>> =
            keys.iter().map(|keys| keys.keys().get(round).map(|key| &key[i])).collect();
        Byte::join(&bytes?)
    };
    let round = |round: usize| {
        let bytes: Option<Vec<Byte>> = (0..16).map(|i| byte(round, i)).collect();
        <[Byte; 16]>::try_from(bytes?).ok()
    };
    RoundKeys::from_keys(size, (0..=size.rounds()).map(round).collect::<Option<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_has_a_power_for_each_block_and_one_for_the_lengths() {
        for (aad, payload, short) in [
            (0, 0, true),
            (0, 16 * 1023, true),
            (0, 16 * 1023 + 1, false),
            (1, 16 * 1022, true),
            (17, 16 * 1022, false),
            (16 * 1023, 0, true),
            (16 * 1022 + 1, 1, false),
            (usize::MAX, usize::MAX, false),
        ] {
            assert_eq!(fits(aad, payload), short, "{aad} {payload}");
        }
    }
}
