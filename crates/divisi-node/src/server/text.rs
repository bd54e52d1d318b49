//! Encryption and decryption with a stored key.
//!
//! The IV of a message is a coin of all three servers, drawn when everything public about the message is agreed, and its use
//! is counted, durably, before. Nobody brings one: no client, no server, no store.

use super::keys::{Loaded, load};
use super::turn::{ReadyKey, Turn};
use crate::admit::What;
use crate::agree::NOTHING;
use crate::error::{Failed, Stop};
use crate::gcm::{CHUNK, GcmKey, Opening, Sealing};
use crate::request::{ConnectionId, IV, ToClient, ToServer, UsedKey, chunk_digest};
use crate::wire::Blob;
use divisi_core::{Check, Step, step};
use divisi_store::{KeyInfo, KeyName};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::mode::gcm::Lengths;

const LENGTHS: Step = step!("lengths");
const PLAIN: Step = step!("plaintext");
const FINISH: Step = step!("finish");
const FIRST: Step = step!("ciphertext.first");
const SECOND: Step = step!("ciphertext.second");
const VERIFY: Step = step!("verify");

/// The length of chunk `index` of a text.
fn chunk_len(length: u64, index: u64) -> usize {
    length.saturating_sub(index * CHUNK as u64).min(CHUNK as u64) as usize
}

fn chunks(length: u64) -> u64 {
    length.div_ceil(CHUNK as u64)
}

/// That GCM has room for a message.
fn room(aad: &Blob, length: u64) -> Result<(), Failed> {
    let fits = aad.0.len() <= crate::AAD && Lengths::new(aad.0.len() as u64, length).is_ok();
    let message =
        "the message is longer than GCM allows (2^36 - 32 bytes, 64 KiB of associated data here): split it";
    if fits { Ok(()) } else { Err(Failed::refused(LENGTHS, message)) }
}

/// The key, ready for use: prepared now, or before in this session.
fn ready(turn: &mut Turn<'_>, loaded: &Loaded) -> Result<GcmKey, Stop> {
    if let Some(ReadyKey::Gcm(key)) = turn.ready.take(&loaded.info.id) {
        return Ok(key);
    }
    let size = KeySize::from_bytes(loaded.info.kind.bytes());
    let size = size.ok_or_else(|| Failed::refused(LENGTHS, "the key is no AES key: use another"))?;
    Ok(GcmKey::prepare(turn.rep, size, &loaded.part)?)
}

/// A fresh IV for this message alone. 128 bits of a coin, of which 96 stay.
pub(super) fn draw_iv(turn: &mut Turn<'_>, key: &KeyInfo) -> Result<[u8; IV], Stop> {
    let trio = turn.rep.trio();
    let fixed = trio.barrier()?;
    let coin = trio.coin(&fixed)?;
    Ok(iv(&coin.bytes(), &key.id, &turn.line.id, turn.number, turn.item))
}

/// The IV that a coin gives a message.
fn iv(coin: &[u8], key: &[u8; 16], connection: &ConnectionId, number: u64, item: u32) -> [u8; IV] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 gcm iv v1");
    hasher.update(coin).update(key).update(connection);
    hasher.update(&number.to_le_bytes()).update(&item.to_le_bytes());
    let mut iv = [0; IV];
    hasher.finalize_xof().fill(&mut iv);
    iv
}

/// Encrypt a text that the client sends chunk by chunk, and gets back chunk by chunk.
pub(crate) fn encrypt(turn: &mut Turn<'_>, name: &KeyName, aad: &Blob, length: u64) -> Result<(), Stop> {
    let loaded = load(turn, name, |key| What::Encrypt(key), |_| room(aad, length), true)?;
    let mut key = ready(turn, &loaded)?;
    let iv = draw_iv(turn, &loaded.info)?;
    let mut sealing = Sealing::new(turn.rep, &mut key, iv, &aad.0, length)?;
    let used = UsedKey { id: loaded.info.id, maker: loaded.info.maker.name.clone() };
    turn.answer(ToClient::Sealing { iv, key: used });
    let sealed = (|| {
        for index in 0..chunks(length) {
            let part = turn.part(PLAIN, index, chunk_len(length, index));
            turn.agree(PLAIN, Check::A24, &index.to_le_bytes(), part.as_ref().map_err(Clone::clone))?;
            let ciphertext = sealing.chunk(turn.rep, &key, &part?)?;
            turn.answer(if turn.me().index() == 0 {
                ToClient::Ciphertext(Blob(ciphertext))
            } else {
                ToClient::Digest(chunk_digest(&turn.context(index), &ciphertext))
            });
        }
        let finish = turn.word(FINISH, &ToServer::Finish { number: turn.number, item: turn.item });
        turn.all(FINISH, finish)?;
        Ok(sealing.finish(turn.rep, &key)?)
    })();
    keep(turn, &loaded, key, &sealed);
    turn.answer(ToClient::Tag(sealed?));
    Ok(())
}

/// Decrypt a text that the client sends twice: first its tag is verified, then its plaintext is answered.
pub(crate) fn decrypt(
    turn: &mut Turn<'_>,
    name: &KeyName,
    aad: &Blob,
    length: u64,
    iv: [u8; IV],
    tag: &[u8; 16],
) -> Result<(), Stop> {
    let loaded = load(turn, name, |key| What::Decrypt(key), |_| room(aad, length), false)?;
    let mut key = ready(turn, &loaded)?;
    let mut opening = Opening::new(turn.rep, &mut key, iv, &aad.0, length, tag)?;
    turn.answer(ToClient::Accepted);
    let opened = open(turn, &mut opening, &key, length);
    keep(turn, &loaded, key, &opened);
    opened
}

fn open(turn: &mut Turn<'_>, opening: &mut Opening, key: &GcmKey, length: u64) -> Result<(), Stop> {
    // first reading: the digests stay, and bind the second reading to what was verified
    let mut digests = Vec::new();
    for index in 0..chunks(length) {
        let body = turn.data(FIRST, index, chunk_len(length, index));
        let digest = body.as_ref().map_or([0; 32], |body| chunk_digest(&turn.context(index), &body.0));
        let public = [&index.to_le_bytes()[..], &digest].concat();
        turn.agree(FIRST, Check::A25, &public, body.as_ref().map(|_| &NOTHING).map_err(Clone::clone))?;
        opening.absorb(turn.rep, key, &body?.0)?;
        digests.push(digest);
        turn.answer(ToClient::Accepted);
    }
    let finish = turn.word(FINISH, &ToServer::Finish { number: turn.number, item: turn.item });
    turn.all(FINISH, finish)?;
    if !opening.verify(turn.rep, key)? {
        let message =
            "the ciphertext, its associated data or its tag is not what this key made: nothing was decrypted";
        let kind = crate::ErrorKind::Mismatch;
        return Err(Stop::Refused(Failed { kind, ..Failed::refused(VERIFY, message) }));
    }
    turn.answer(ToClient::Valid);
    // second reading: an answer leaves only for what is, byte for byte, what was verified
    for (index, verified) in (0..).zip(digests) {
        let context = turn.context(index);
        let body = turn.data(SECOND, index, chunk_len(length, index)).and_then(|body| {
            let same = chunk_digest(&context, &body.0) == verified;
            let message =
                "the ciphertext changed between its two readings: decrypt a file that nobody writes";
            if same { Ok(body) } else { Err(Failed::refused(SECOND, message)) }
        });
        turn.agree(SECOND, Check::A25, &verified, body.as_ref().map(|_| &NOTHING).map_err(Clone::clone))?;
        let mut answer = opening.chunk(turn.rep, key, &context, &body?.0)?;
        let (component, digest) = (Blob(std::mem::take(&mut answer.component)), answer.digest);
        turn.answer(ToClient::Answer { component, digest });
    }
    Ok(())
}

/// A key stays ready for the next request, unless its session has ended.
fn keep<T>(turn: &mut Turn<'_>, loaded: &Loaded, key: GcmKey, result: &Result<T, Stop>) {
    if !matches!(result, Err(Stop::Abort(_))) {
        turn.ready.put(loaded.info.name.clone(), loaded.info.id, ReadyKey::Gcm(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Each of its bytes takes part of a coin's randomness, each byte of the coin changes it, and so does all that names
    /// its message.
    #[test]
    fn an_iv_is_made_of_the_whole_coin_and_of_all_that_names_its_message() {
        let mut all = BTreeSet::from([iv(&[7; 16], &[1; 16], &[2; 32], 3, 4)]);
        for i in 0..16 {
            let mut coin = [7; 16];
            coin[i] ^= 1;
            all.insert(iv(&coin, &[1; 16], &[2; 32], 3, 4));
        }
        all.insert(iv(&[7; 16], &[2; 16], &[2; 32], 3, 4));
        all.insert(iv(&[7; 16], &[1; 16], &[3; 32], 3, 4));
        all.insert(iv(&[7; 16], &[1; 16], &[2; 32], 4, 4));
        all.insert(iv(&[7; 16], &[1; 16], &[2; 32], 3, 5));
        assert_eq!(all.len(), 21);
        for i in 0..IV {
            let values: BTreeSet<u8> = all.iter().map(|iv| iv[i]).collect();
            assert!(values.len() > 10, "byte {i} has {} values", values.len());
        }
    }
}
