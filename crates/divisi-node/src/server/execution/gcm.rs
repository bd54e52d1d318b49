//! Encryption and decryption of long messages with AES-GCM, chunk by chunk.

use super::iv::GCM_IV;
use super::ready::{Gcm, ReadyKey};
use super::step::StepRun;
use crate::error::{Failed, Stop};
use crate::request::{IV, ToClient};
use crate::server::admission::{gcm_takes, key_size};
use crate::server::agreement::{StepData, unexpected};
use crate::server::found::Loaded;
use crate::server::release::{ciphertext, component, unauthentic};
use crate::server::scheduling::After;
use crate::wire::Blob;
use divisi_core::{Step, Verified};
use divisi_rep3::Byte;
use divisi_rep3::deal::Part;
use divisi_symphony::gcm::{self, CHUNK, GcmKey, Opening, Sealing};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

const SECOND: Step = Step::new("divisi_node::server::text/ciphertext.second");

/// The key, ready for use: prepared now, or before in this session.
fn ready(run: &mut StepRun<'_>, loaded: &Loaded) -> Result<Gcm, Stop> {
    if let Some(key) = run.ready.gcm(&loaded.info.id) {
        return Ok(key);
    }
    let key = Rc::new(RefCell::new(GcmKey::prepare(run.rep, key_size(&loaded.info)?, &loaded.part)?));
    let (client, name) = (&run.who.name, loaded.info.name.clone());
    run.ready.keep(run.rep, client, name, loaded.info.id, ReadyKey::Gcm(key.clone()));
    Ok(key)
}

/// How many bytes of a message one step takes while short messages of others run in between: an eighth of
/// what it takes otherwise.
const SLICE: usize = CHUNK / 8;

/// The next part of a chunk of `bytes` bytes of which `done` are done.
fn part(run: &StepRun<'_>, done: usize, bytes: usize) -> Range<usize> {
    done..bytes.min(done + if run.small_steps { SLICE } else { CHUNK })
}

/// A long message being encrypted: chunk after chunk, each answered with its ciphertext.
pub(crate) struct Encrypting {
    key: Gcm,
    sealing: Sealing,
    index: u64,
    /// The current chunk, and its ciphertext as far as it is done.
    chunk: Option<(Part, Vec<u8>)>,
}

impl Encrypting {
    /// Draw the message's IV, and tell the client; `None` for a message whose length its last piece says.
    pub fn begin(
        run: &mut StepRun<'_>,
        loaded: &Loaded,
        aad: &Blob,
        length: Option<u64>,
    ) -> Result<Encrypting, Stop> {
        let key = ready(run, loaded)?;
        let iv = run.draw_iv(GCM_IV, &loaded.info.id)?;
        let sealing = match length {
            Some(length) => Sealing::new(run.rep, &mut key.borrow_mut(), iv, &aad.0, length)?,
            None => Sealing::open_ended(run.rep, &mut key.borrow_mut(), iv, &aad.0)?,
        };
        run.answer(ToClient::Sealing { iv, key: (&loaded.info).into() });
        Ok(Encrypting { key, sealing, index: 0, chunk: None })
    }

    /// Check that there is room for a piece: GCM has a longest message.
    pub fn admits(&self, data: &StepData) -> Result<(), Failed> {
        let bytes = data.secret().map_or(0, |part| part.first.len() as u64);
        gcm_takes(&Blob(Vec::new()), self.sealing.done().saturating_add(bytes))
    }

    /// Take a chunk, whose holders agree on it \[A24\], or continue with the current one. All three have
    /// agreed whether it is the last one of a message of unknown length, and on its length \[A25\].
    pub fn chunk(&mut self, run: &mut StepRun<'_>, data: &StepData) -> Result<After, Stop> {
        let (chunk, mut done) = match (self.chunk.take(), data) {
            (Some(chunk), StepData::Nothing) => chunk,
            (None, StepData::Secret(chunk)) => (chunk.clone(), Vec::new()),
            (None, StepData::Last(_, chunk)) => {
                self.sealing.end_at(self.sealing.done() + chunk.first.len() as u64)?;
                (chunk.clone(), Vec::new())
            }
            _ => return Err(unexpected(run.me())),
        };
        let range = part(run, done.len(), chunk.first.len());
        let side = |bytes: &[u8]| bytes.get(range.clone()).unwrap_or_default().to_vec();
        let now = Part { first: side(&chunk.first), second: side(&chunk.second) };
        // an empty message has an empty last piece
        if !range.is_empty() {
            done.extend(self.sealing.chunk(run.rep, &self.key.borrow(), &now)?);
        }
        if done.len() < chunk.first.len() {
            self.chunk = Some((chunk, done));
            return Ok(After::More { in_hand: true });
        }
        run.answer(ciphertext(run.me(), &run.context(self.index), done));
        self.index += 1;
        Ok(After::More { in_hand: false })
    }

    pub fn finish(self, run: &mut StepRun<'_>) -> Result<After, Stop> {
        let tag = self.sealing.finish(run.rep, &self.key.borrow())?;
        run.answer(ToClient::Tag(tag));
        Ok(After::Done)
    }
}

/// A long message being decrypted: its client sends it twice, first for its tag to be verified, then for the
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
        run: &mut StepRun<'_>,
        loaded: &Loaded,
        aad: &Blob,
        length: u64,
        iv: [u8; IV],
        tag: &[u8; 16],
    ) -> Result<Decrypting, Stop> {
        let key = ready(run, loaded)?;
        let opening = Opening::new(run.rep, &mut key.borrow_mut(), iv, &aad.0, length, tag)?;
        run.answer(ToClient::Accepted);
        Ok(Decrypting { key, opening, first: Vec::new(), verified: false, index: 0, chunk: None })
    }

    /// Check that a chunk of the second sending equals that of the first, byte for byte: only what was
    /// verified is decrypted.
    pub fn admits(&self, data: &StepData) -> Result<(), Failed> {
        let message =
            "the ciphertext changed between its two readings: decrypt a file that no other program changes";
        match data {
            StepData::Public(_, digest) if self.verified && self.first.get(self.index) != Some(digest) => {
                Err(Failed::refused(SECOND, message))
            }
            _ => Ok(()),
        }
    }

    /// Take a chunk, which is the same at all three \[A25\], or continue with the current one.
    pub fn chunk(&mut self, run: &mut StepRun<'_>, data: &StepData) -> Result<After, Stop> {
        let (body, done, mut parts) = match (self.chunk.take(), data) {
            (Some(chunk), StepData::Nothing) => chunk,
            (None, StepData::Public(body, digest)) if !self.verified => {
                self.opening.absorb(run.rep, &self.key.borrow(), &body.0)?;
                self.first.push(*digest);
                run.answer(ToClient::Accepted);
                return Ok(After::More { in_hand: false });
            }
            (None, StepData::Public(body, _)) => (body.clone(), 0, Vec::new()),
            _ => return Err(unexpected(run.me())),
        };
        let range = part(run, done, body.0.len());
        let done = range.end;
        parts.push(self.opening.slice(run.rep, &self.key.borrow(), &body.0, range)?);
        if done < body.0.len() {
            self.chunk = Some((body, done, parts));
            return Ok(After::More { in_hand: true });
        }
        let answer = gcm::answer(run.rep, &run.context(self.index as u64), parts, done)?;
        run.answer(component(answer));
        self.index += 1;
        Ok(if self.index == self.first.len() { After::Done } else { After::More { in_hand: false } })
    }

    /// The first sending is complete: compare the tag.
    pub fn finish(&mut self, run: &mut StepRun<'_>) -> Result<After, Stop> {
        if !self.opening.verify(run.rep, &self.key.borrow())? {
            return Err(Stop::Refused(unauthentic()));
        }
        run.answer(ToClient::Valid);
        self.verified = true;
        Ok(if self.first.is_empty() { After::Done } else { After::More { in_hand: false } })
    }
}
