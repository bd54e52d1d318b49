//! Messages that a client has the servers hash or authenticate, piece by piece.

use super::keys::combine;
use super::parts::{Part, parts};
use super::{Client, differ};
use crate::error::{Error, ErrorKind};
use crate::request::{IV, Item, MESSAGE, PIECE, Tag, ToClient, ToServer, UsedKey, context};
use crate::wire::Blob;
use divisi_core::{Step, step};
use divisi_store::KeyName;
use divisi_symmetric::algorithm::Settings;
use std::io::Read;
use zeroize::Zeroizing;

const HASH: Step = step!("hash");
const MAC: Step = step!("mac");
const VERIFY: Step = step!("verify");
const INPUT: Step = step!("input");

/// A tag, with its nonce and the key that made it.
pub struct Tagged {
    /// The nonce that the servers drew; `None` for a MAC without a nonce.
    pub nonce: Option<[u8; IV]>,
    /// The tag.
    pub tag: Zeroizing<Vec<u8>>,
    /// The key that the servers used, the same at all three.
    pub key: UsedKey,
}

impl Client {
    /// Hash `length` bytes of `input`, which no server sees. `progress` is called with the number of bytes
    /// done.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the input cannot be read or is too long; else see [`Error`].
    pub fn hash(
        &mut self,
        settings: &Settings,
        input: &mut dyn Read,
        length: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let item = Item::Hash { asked: settings.into(), length };
        let result = self.message(HASH, &item, input, length, progress);
        let result = result.and_then(|(_, _, answers)| self.output(HASH, settings, answers));
        self.over(result)
    }

    /// Compute the tag of `length` bytes of `input` under a stored key.
    ///
    /// # Errors
    /// Those of [`Client::hash`].
    pub fn mac(
        &mut self,
        key: &KeyName,
        settings: &Settings,
        input: &mut dyn Read,
        length: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Tagged, Error> {
        let item = Item::Mac { key: key.clone(), asked: settings.into(), length, tag: None };
        let result = self.message(MAC, &item, input, length, progress).and_then(|(nonce, used, answers)| {
            let key = used.ok_or_else(|| differ(MAC, None))?;
            let tag = self.output(MAC, settings, answers)?;
            Ok(Tagged { nonce: (settings.algorithm.nonce_bytes() > 0).then_some(nonce), tag, key })
        });
        self.over(result)
    }

    /// Have the servers compare a tag with that of `length` bytes of `input`, computed with `nonce` if the
    /// algorithm has one. The servers learn whether the tag is right, and nothing else.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] with [`Error::by_all`] if all three servers say that the tag is wrong;
    /// [`ErrorKind::Usage`] for a nonce where the algorithm has none, or a missing one where it needs one;
    /// else as [`Client::hash`].
    pub fn mac_verify(
        &mut self,
        key: &KeyName,
        settings: &Settings,
        nonce: Option<[u8; IV]>,
        tag: &[u8],
        input: &mut dyn Read,
        length: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<UsedKey, Error> {
        let algorithm = settings.algorithm;
        if nonce.is_some() != (algorithm.nonce_bytes() > 0) {
            let what = if nonce.is_some() {
                "has no nonce: give none"
            } else {
                "is compared under the nonce that it was made with: give it"
            };
            let message = format!("a tag of {algorithm} {what}");
            return Err(Error::new(ErrorKind::Usage, VERIFY, message));
        }
        let tag = Some(Tag { nonce, tag: Blob(tag.to_vec()) });
        let item = Item::Mac { key: key.clone(), asked: settings.into(), length, tag };
        let result = self.message(VERIFY, &item, input, length, progress).and_then(|(_, used, answers)| {
            self.same(VERIFY, answers, |answer| matches!(answer, ToClient::Valid).then_some(()))?;
            used.ok_or_else(|| differ(VERIFY, None))
        });
        self.over(result)
    }

    /// Send a request and its message in pieces. Returns the nonce and the key that the servers told, and
    /// each server's last answer.
    fn message(
        &mut self,
        step: Step,
        item: &Item,
        input: &mut dyn Read,
        length: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<([u8; IV], Option<UsedKey>, [ToClient; 3]), Error> {
        if length > MESSAGE {
            let message = format!(
                "the message has {length} bytes, and servers accept at most {MESSAGE}: give a shorter one"
            );
            return Err(Error::new(ErrorKind::Usage, INPUT, message));
        }
        let number = self.next_number();
        let pieces = length.div_ceil(PIECE as u64);
        let (mut begun, mut last) = (None, None);
        let piece = |client: &Client, index: u64| {
            let left = length - index * PIECE as u64;
            let mut message = Zeroizing::new(vec![0; left.min(PIECE as u64) as usize]);
            input.read_exact(&mut message).map_err(|e| {
                let message = format!(
                    "the input cannot be read to its end ({e}): give a file that no other program changes"
                );
                Error::new(ErrorKind::Usage, INPUT, message)
            })?;
            Ok(client.split(&message).map(|body| ToServer::Data { number, index, body }))
        };
        self.send_parts(step, item, parts(pieces), piece, |client, part, answers| {
            match part {
                Part::Request => {
                    let (nonce, used) = client.same(step, answers, |answer| match answer {
                        ToClient::Tagging { nonce, key } => Some((nonce, key)),
                        _ => None,
                    })?;
                    if let (Some(name), Some(used)) = (item.key(), &used) {
                        client.found(name, used.clone())?;
                    }
                    begun = Some((nonce, used));
                }
                Part::Finish => last = Some(answers),
                Part::Piece(nth) | Part::Again(nth) => {
                    client
                        .same(step, answers, |answer| matches!(answer, ToClient::Accepted).then_some(()))?;
                    progress(((nth + 1) * PIECE as u64).min(length));
                }
            }
            Ok(())
        })?;
        let (Some((nonce, key)), Some(answers)) = (begun, last) else { return Err(differ(step, None)) };
        Ok((nonce, key, answers))
    }

    /// Reconstruct an output from its components.
    fn output(
        &self,
        step: Step,
        settings: &Settings,
        answers: [ToClient; 3],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let context = context(&self.id, self.number, 0);
        let output = combine(step, &context, answers)?;
        if output.len() == settings.output_bytes { Ok(output) } else { Err(differ(step, None)) }
    }
}
