//! Encryption and decryption with a stored key.
//!
//! The IV of a message is a coin of all three servers. They draw it after they agree on everything public
//! about the message, and after its use of the key is counted durably. No client, single server or store
//! chooses it.

use super::given::Given;
use super::intake::After;
use super::keys::Loaded;
use super::ready::{Gcm, Ready, ReadyKey};
use super::turn::Turn;
use crate::admit::Who;
use crate::error::{Failed, Stop};
use crate::request::{ConnectionId, IV, ToClient, UsedKey, chunk_digest};
use crate::wire::Blob;
use divisi_core::{Abort, PartyId, Step, Verified};
use divisi_rep3::deal::Part;
use divisi_rep3::{Byte, Rep3};
use divisi_store::KeyInfo;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::mode::gcm::Lengths;
use divisi_symphony::gcm::{self, CHUNK, GcmKey, Opening, Sealing};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

const LENGTHS: Step = Step::new("divisi_node::server::text/lengths");
const SECOND: Step = Step::new("divisi_node::server::text/ciphertext.second");
const VERIFY: Step = Step::new("divisi_node::server::text/verify");

/// Check that a message and its associated data are short enough for GCM.
pub(super) fn room(aad: &Blob, length: u64) -> Result<(), Failed> {
    let fits = aad.0.len() <= crate::AAD && Lengths::new(aad.0.len() as u64, length).is_ok();
    let message =
        "the message is longer than GCM allows (2^36 - 32 bytes, 64 KiB of associated data here): split it";
    if fits { Ok(()) } else { Err(Failed::refused(LENGTHS, message)) }
}

/// The size of an AES key.
pub(super) fn size(key: &KeyInfo) -> Result<KeySize, Failed> {
    let size = KeySize::from_bytes(key.kind.bytes());
    size.ok_or_else(|| Failed::refused(LENGTHS, "the key is not an AES key: use another one"))
}

/// The key, ready for use: prepared now, or before in this session.
pub(super) fn ready(rep: &mut Rep3, ready: &mut Ready, who: &Who, loaded: &Loaded) -> Result<Gcm, Stop> {
    if let Some(key) = ready.gcm(&loaded.info.id) {
        return Ok(key);
    }
    let key = Rc::new(RefCell::new(GcmKey::prepare(rep, size(&loaded.info)?, &loaded.part)?));
    ready.keep(rep, &who.name, loaded.info.name.clone(), loaded.info.id, ReadyKey::Gcm(key.clone()));
    Ok(key)
}

/// A fresh IV for this message alone. 128 bits of a coin, of which 96 stay.
pub(super) fn draw_iv(turn: &mut Turn<'_>, key: &KeyInfo) -> Result<[u8; IV], Stop> {
    let coin = coin(turn.rep)?;
    Ok(iv(&coin, &key.id, &turn.offer.connection, turn.offer.number))
}

/// A coin for IVs, when everything public about their messages is agreed.
pub(super) fn coin(rep: &mut Rep3) -> Result<Vec<u8>, Abort> {
    let trio = rep.trio();
    let fixed = trio.barrier()?;
    Ok(trio.coin(&fixed)?.bytes().to_vec())
}

/// The purpose under which the IVs of CBC are derived.
pub(super) const CBC_IV: &str = "divisi 2026 cbc iv v1";

/// The IV that a coin gives a message. One coin may give many, each to another message.
pub(super) fn iv(coin: &[u8], key: &[u8; 16], connection: &ConnectionId, number: u64) -> [u8; IV] {
    iv_for("divisi 2026 gcm iv v2", coin, key, connection, number)
}

/// The IV of a mode, of any length, that a coin gives a text.
pub(super) fn iv_for<const N: usize>(
    purpose: &str,
    coin: &[u8],
    key: &[u8; 16],
    connection: &ConnectionId,
    number: u64,
) -> [u8; N] {
    let mut hasher = blake3::Hasher::new_derive_key(purpose);
    hasher.update(coin).update(key).update(connection);
    hasher.update(&number.to_le_bytes());
    let mut iv = [0; N];
    hasher.finalize_xof().fill(&mut iv);
    iv
}

/// How many bytes of a text one step takes while short texts of others run in between: an eighth of what it
/// takes otherwise.
const SLICE: usize = CHUNK / 8;

/// The next part of a chunk of `bytes` bytes of which `done` are done.
fn part(turn: &Turn<'_>, done: usize, bytes: usize) -> Range<usize> {
    done..bytes.min(done + if turn.brisk { SLICE } else { CHUNK })
}

/// A long text being encrypted: chunk after chunk, each answered with its ciphertext.
pub(crate) struct Encrypting {
    key: Gcm,
    sealing: Sealing,
    index: u64,
    /// The current chunk, and its ciphertext as far as it is done.
    chunk: Option<(Part, Vec<u8>)>,
}

impl Encrypting {
    /// Draw the text's IV, and tell the client.
    pub fn begin(turn: &mut Turn<'_>, loaded: &Loaded, aad: &Blob, length: u64) -> Result<Encrypting, Stop> {
        let key = ready(turn.rep, turn.ready, turn.who, loaded)?;
        let iv = draw_iv(turn, &loaded.info)?;
        let sealing = Sealing::new(turn.rep, &mut key.borrow_mut(), iv, &aad.0, length)?;
        let used = UsedKey { id: loaded.info.id, maker: loaded.info.maker.name.clone() };
        turn.answer(ToClient::Sealing { iv, key: used });
        Ok(Encrypting { key, sealing, index: 0, chunk: None })
    }

    /// Begin a text of unknown length.
    pub fn begin_stream(turn: &mut Turn<'_>, loaded: &Loaded, aad: &Blob) -> Result<Encrypting, Stop> {
        let key = ready(turn.rep, turn.ready, turn.who, loaded)?;
        let iv = draw_iv(turn, &loaded.info)?;
        let sealing = Sealing::open_ended(turn.rep, &mut key.borrow_mut(), iv, &aad.0)?;
        let used = UsedKey { id: loaded.info.id, maker: loaded.info.maker.name.clone() };
        turn.answer(ToClient::Sealing { iv, key: used });
        Ok(Encrypting { key, sealing, index: 0, chunk: None })
    }

    /// Check that there is room for a piece: GCM has a longest text.
    pub fn admits(&self, given: &Given) -> Result<(), Failed> {
        let bytes = given.secret().map_or(0, |part| part.first.len() as u64);
        room(&Blob(Vec::new()), self.sealing.done().saturating_add(bytes))
    }

    /// Take a chunk, whose holders agree on it \[A24\], or continue with the current one. All three have
    /// agreed whether it is the last one of a text of unknown length, and on its length \[A25\].
    pub fn chunk(&mut self, turn: &mut Turn<'_>, given: &Given) -> Result<After, Stop> {
        let (chunk, mut done) = match (self.chunk.take(), given) {
            (Some(chunk), Given::Nothing) => chunk,
            (None, Given::Secret(chunk)) => (chunk.clone(), Vec::new()),
            (None, Given::Last(_, chunk)) => {
                self.sealing.end_at(self.sealing.done() + chunk.first.len() as u64)?;
                (chunk.clone(), Vec::new())
            }
            _ => return Err(super::given::misfit(turn.me())),
        };
        let range = part(turn, done.len(), chunk.first.len());
        let side = |bytes: &[u8]| bytes.get(range.clone()).unwrap_or_default().to_vec();
        let now = Part { first: side(&chunk.first), second: side(&chunk.second) };
        // an empty text has an empty last piece
        if !range.is_empty() {
            done.extend(self.sealing.chunk(turn.rep, &self.key.borrow(), &now)?);
        }
        if done.len() < chunk.first.len() {
            self.chunk = Some((chunk, done));
            return Ok(After::More { in_hand: true });
        }
        turn.answer(sealed(turn.me(), &turn.context(self.index), done));
        self.index += 1;
        Ok(After::More { in_hand: false })
    }

    pub fn finish(self, turn: &mut Turn<'_>) -> Result<After, Stop> {
        let tag = self.sealing.finish(turn.rep, &self.key.borrow())?;
        turn.answer(ToClient::Tag(tag));
        Ok(After::Done)
    }
}

/// What server `me` sends of a chunk of ciphertext: the first server sends the chunk, the others its digest.
pub(super) fn sealed(me: PartyId, context: &[u8; 32], ciphertext: Vec<u8>) -> ToClient {
    if me.index() == 0 {
        ToClient::Ciphertext(Blob(ciphertext))
    } else {
        ToClient::Digest(chunk_digest(context, &ciphertext))
    }
}

/// A long text being decrypted: its client sends it twice, first for its tag to be verified, then for the
/// plaintext.
pub(crate) struct Decrypting {
    key: Gcm,
    opening: Opening,
    /// The digests of the chunks as first sent.
    first: Vec<[u8; 32]>,
    verified: bool,
    /// How many chunks of the second sending are done.
    index: usize,
    /// The current chunk of the second sending, and its plaintext as far as it is done.
    chunk: Option<(Blob, usize, Vec<Verified<Vec<Byte>>>)>,
}

impl Decrypting {
    pub fn begin(
        turn: &mut Turn<'_>,
        loaded: &Loaded,
        aad: &Blob,
        length: u64,
        iv: [u8; IV],
        tag: &[u8; 16],
    ) -> Result<Decrypting, Stop> {
        let key = ready(turn.rep, turn.ready, turn.who, loaded)?;
        let opening = Opening::new(turn.rep, &mut key.borrow_mut(), iv, &aad.0, length, tag)?;
        turn.answer(ToClient::Accepted);
        Ok(Decrypting { key, opening, first: Vec::new(), verified: false, index: 0, chunk: None })
    }

    /// Check that a chunk of the second sending equals that of the first, byte for byte: only what was
    /// verified is decrypted.
    pub fn admits(&self, given: &Given) -> Result<(), Failed> {
        let message =
            "the ciphertext changed between its two readings: decrypt a file that no other program changes";
        match given {
            Given::Public(_, digest) if self.verified && self.first.get(self.index) != Some(digest) => {
                Err(Failed::refused(SECOND, message))
            }
            _ => Ok(()),
        }
    }

    /// Take a chunk, which is the same at all three \[A25\], or continue with the current one.
    pub fn chunk(&mut self, turn: &mut Turn<'_>, given: &Given) -> Result<After, Stop> {
        let (body, done, mut parts) = match (self.chunk.take(), given) {
            (Some(chunk), Given::Nothing) => chunk,
            (None, Given::Public(body, digest)) if !self.verified => {
                self.opening.absorb(turn.rep, &self.key.borrow(), &body.0)?;
                self.first.push(*digest);
                turn.answer(ToClient::Accepted);
                return Ok(After::More { in_hand: false });
            }
            (None, Given::Public(body, _)) => (body.clone(), 0, Vec::new()),
            _ => return Err(super::given::misfit(turn.me())),
        };
        let range = part(turn, done, body.0.len());
        let done = range.end;
        parts.push(self.opening.slice(turn.rep, &self.key.borrow(), &body.0, range)?);
        if done < body.0.len() {
            self.chunk = Some((body, done, parts));
            return Ok(After::More { in_hand: true });
        }
        let mut answer = gcm::answer(turn.rep, &turn.context(self.index as u64), parts, done)?;
        let (component, digest) = (Blob(std::mem::take(&mut answer.component)), answer.digest);
        turn.answer(ToClient::Answer { component, digest });
        self.index += 1;
        Ok(if self.index == self.first.len() { After::Done } else { After::More { in_hand: false } })
    }

    /// The first sending is complete: compare the tag.
    pub fn finish(&mut self, turn: &mut Turn<'_>) -> Result<After, Stop> {
        if !self.opening.verify(turn.rep, &self.key.borrow())? {
            return Err(Stop::Refused(unauthentic()));
        }
        turn.answer(ToClient::Valid);
        self.verified = true;
        Ok(if self.first.is_empty() { After::Done } else { After::More { in_hand: false } })
    }
}

/// The failure that a client receives for a text that is not authentic.
pub(super) fn unauthentic() -> Failed {
    let message =
        "the ciphertext, its associated data or its tag is not what this key made: nothing was decrypted";
    Failed { kind: crate::ErrorKind::Mismatch, ..Failed::refused(VERIFY, message) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every byte of an IV depends on the coin, every byte of the coin changes the IV, and so does everything
    /// that identifies its message.
    #[test]
    fn an_iv_is_made_of_the_whole_coin_and_of_all_that_names_its_message() {
        all_counts(iv);
        // that of CBC, a block
        all_counts(|coin, key, connection, number| iv_for::<16>(CBC_IV, coin, key, connection, number));
        let cbc = iv_for::<16>(CBC_IV, &[7; 16], &[1; 16], &[2; 32], 3);
        assert_ne!(cbc[..IV], iv(&[7; 16], &[1; 16], &[2; 32], 3));
    }

    fn all_counts<const N: usize>(iv: impl Fn(&[u8], &[u8; 16], &ConnectionId, u64) -> [u8; N]) {
        let mut all = BTreeSet::from([iv(&[7; 16], &[1; 16], &[2; 32], 3)]);
        for i in 0..16 {
            let mut coin = [7; 16];
            coin[i] ^= 1;
            all.insert(iv(&coin, &[1; 16], &[2; 32], 3));
        }
        all.insert(iv(&[7; 16], &[2; 16], &[2; 32], 3));
        all.insert(iv(&[7; 16], &[1; 16], &[3; 32], 3));
        all.insert(iv(&[7; 16], &[1; 16], &[2; 32], 4));
        assert_eq!(all.len(), 20);
        for i in 0..N {
            let values: BTreeSet<u8> = all.iter().map(|iv| iv[i]).collect();
            assert!(values.len() > 10, "byte {i} has {} values", values.len());
        }
    }
}
