//! A client's messages with AES-GCM: encrypted and decrypted chunk by chunk, in bounded memory.

mod stream;

use super::keys::combine;
use super::parts::{Part, parts};
use super::{Client, differ, unexpected};
use crate::error::{Error, ErrorKind};
use crate::request::{AAD, IV, Item, ToClient, ToServer, UsedKey, chunk_digest, context};
use crate::wire::Blob;
use divisi_core::{PartyId, Step};
use divisi_store::KeyName;
use divisi_symphony::CHUNK;
use std::io::{Read, Seek, SeekFrom, Write};
use zeroize::Zeroizing;

// names that programs read in errors, and that stay when code moves
const ENCRYPT: Step = Step::new("divisi_node::client::text/encrypt");
const DECRYPT: Step = Step::new("divisi_node::client::text/decrypt");
const INPUT: Step = Step::new("divisi_node::client::text/input");
const OUTPUT: Step = Step::new("divisi_node::client::text/output");
const TAG: usize = 16;

/// How many bytes an encrypted file is longer than its plaintext: IV and tag.
pub const OVERHEAD: u64 = (IV + TAG) as u64;

/// The source of a ciphertext, which is read twice.
pub trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

impl Client {
    /// Encrypt `length` bytes of `input`, and write `IV | ciphertext | tag` to `output`. On an error the
    /// caller must discard what was written. `progress` is called with the number of bytes done.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the input cannot be read or the output not written; else see [`Error`].
    pub fn encrypt(
        &mut self,
        key: &KeyName,
        aad: &[u8],
        input: &mut dyn Read,
        length: u64,
        output: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        self.used = None;
        let result = self.encrypt_all(key, aad, input, length, output, progress);
        self.over(result)
    }

    /// Encrypt a stream to its end, whose length is not known before, and write `IV | ciphertext | tag` to
    /// `output`. Returns the number of bytes of plaintext. The memory that it takes does not grow with the
    /// stream. On an error the caller must discard what was written: without the mark of its last piece the
    /// servers make no tag.
    ///
    /// # Errors
    /// Those of [`Client::encrypt`].
    pub fn encrypt_stream(
        &mut self,
        key: &KeyName,
        aad: &[u8],
        input: &mut dyn Read,
        output: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, Error> {
        self.used = None;
        let result = stream::encrypt(self, key, aad, input, output, progress);
        self.over(result)
    }

    /// The key that the last [`Client::encrypt`] used, the same at all three servers.
    #[must_use]
    pub fn last_key(&self) -> Option<&UsedKey> {
        self.used.as_ref()
    }

    fn encrypt_all(
        &mut self,
        key: &KeyName,
        aad: &[u8],
        input: &mut dyn Read,
        length: u64,
        output: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let item = Item::Encrypt { key: key.clone(), aad: associated(aad)?, length, way: self.way };
        let number = self.next_number();
        let chunks = length.div_ceil(CHUNK as u64);
        let piece = |client: &Client, index: u64| {
            let content = chunk(input, length - index * CHUNK as u64)?;
            Ok(client.split(&content).map(|body| ToServer::Data { number, index, body }))
        };
        self.send_parts(ENCRYPT, &item, parts(chunks), piece, |client, part, answers| match part {
            Part::Request => write_iv(client, key, answers, output),
            Part::Piece(nth) | Part::Again(nth) => {
                let begin = nth * CHUNK as u64;
                let due = (length - begin).min(CHUNK as u64);
                write(output, &ciphertext(&context(&client.id, number, nth), answers, due as usize)?)?;
                progress(begin + due);
                Ok(())
            }
            Part::Finish => write_tag(client, answers, output),
        })?;
        output.flush().map_err(|e| unusable(OUTPUT, "the output cannot be written", &e))
    }

    /// Decrypt `length` bytes of `IV | ciphertext | tag` that begin at the position of `input`, and write the
    /// plaintext to `output`. Nothing is written unless the tag is right; on a later error the caller must
    /// discard what was written.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the input cannot be read or is too short, or the output not written;
    /// [`ErrorKind::Mismatch`] if the tag is wrong; else see [`Error`].
    pub fn decrypt(
        &mut self,
        key: &KeyName,
        aad: &[u8],
        input: &mut dyn ReadSeek,
        length: u64,
        output: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let result = self.decrypt_all(key, aad, input, length, output, progress);
        let result = self.over(result);
        if result.as_ref().is_err_and(|error| error.kind == ErrorKind::Mismatch && error.by_all) {
            self.look_up(key)?;
        }
        result
    }

    fn decrypt_all(
        &mut self,
        key: &KeyName,
        aad: &[u8],
        input: &mut dyn ReadSeek,
        length: u64,
        output: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let Some(content) = length.checked_sub(OVERHEAD) else {
            let message = format!(
                "{length} bytes are too few for an encrypted file, which has at least {OVERHEAD}: give what `encrypt` wrote"
            );
            return Err(Error::new(ErrorKind::Usage, INPUT, message));
        };
        let failed = |e| unusable(INPUT, "the input cannot be read", &e);
        let start = input.stream_position().map_err(failed)?;
        let (mut iv, mut tag) = ([0; IV], [0; TAG]);
        input.read_exact(&mut iv).map_err(failed)?;
        input.seek(SeekFrom::Start(start + IV as u64 + content)).map_err(failed)?;
        input.read_exact(&mut tag).map_err(failed)?;

        let item = Item::Decrypt {
            key: key.clone(),
            aad: associated(aad)?,
            length: content,
            iv,
            tag,
            way: self.way,
        };
        let begin = SeekFrom::Start(start + IV as u64);
        let number = self.next_number();
        let chunks = content.div_ceil(CHUNK as u64);
        // a short ciphertext is sent once, and its plaintext is the answer to `Finish`
        let is_short = item.is_short();
        let again = (0..if is_short { 0 } else { chunks }).map(Part::Again);
        let piece = |_: &Client, index: u64| {
            if index == 0 {
                input.seek(begin).map_err(failed)?;
            }
            let body = Blob(chunk(input, content - index * CHUNK as u64)?.to_vec());
            Ok([(); 3].map(|()| ToServer::Data { number, index, body: body.clone() }))
        };
        let parts = parts(chunks).chain(again);
        self.send_parts(DECRYPT, &item, parts, piece, |client, part, answers| {
            let place = match part {
                Part::Request | Part::Piece(_) => return client.same(DECRYPT, answers, accepted),
                Part::Finish if is_short && chunks > 0 => chunks - 1,
                Part::Finish => {
                    return client
                        .same(DECRYPT, answers, |answer| matches!(answer, ToClient::Valid).then_some(()));
                }
                Part::Again(nth) => nth,
            };
            let plain = combine(DECRYPT, &context(&client.id, number, place), answers)?;
            if plain.len() as u64 != (content - place * CHUNK as u64).min(CHUNK as u64) {
                return Err(differ(DECRYPT, None));
            }
            write(output, &plain)?;
            progress(place * CHUNK as u64 + plain.len() as u64);
            Ok(())
        })?;
        output.flush().map_err(|e| unusable(OUTPUT, "the output cannot be written", &e))
    }
}

fn write_iv(
    client: &mut Client,
    key: &KeyName,
    answers: [ToClient; 3],
    output: &mut dyn Write,
) -> Result<(), Error> {
    let (iv, used) = client.same(ENCRYPT, answers, |answer| match answer {
        ToClient::Sealing { iv, key } => Some((iv, key)),
        _ => None,
    })?;
    client.found(key, used)?;
    write(output, &iv)
}

fn write_tag(client: &Client, answers: [ToClient; 3], output: &mut dyn Write) -> Result<(), Error> {
    let tag = client.same(ENCRYPT, answers, |answer| match answer {
        ToClient::Tag(tag) => Some(tag),
        _ => None,
    })?;
    write(output, &tag)
}

fn accepted(answer: ToClient) -> Option<()> {
    matches!(answer, ToClient::Accepted).then_some(())
}

pub(super) fn associated(aad: &[u8]) -> Result<Blob, Error> {
    if aad.len() > AAD {
        let message = format!("{} bytes of associated data are too many: give at most {AAD}", aad.len());
        return Err(Error::new(ErrorKind::Usage, INPUT, message));
    }
    Ok(Blob(aad.to_vec()))
}

/// The next chunk of an input of which `left` bytes are left.
fn chunk(input: &mut (impl Read + ?Sized), left: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut content = Zeroizing::new(vec![0; left.min(CHUNK as u64) as usize]);
    input.read_exact(&mut content).map_err(|e| unusable(INPUT, "the input cannot be read to its end", &e))?;
    Ok(content)
}

fn write(output: &mut dyn Write, bytes: &[u8]) -> Result<(), Error> {
    output.write_all(bytes).map_err(|e| unusable(OUTPUT, "the output cannot be written", &e))
}

fn unusable(step: Step, what: &str, e: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::Usage,
        step,
        format!("{what} ({e}): check that the file is there and unchanged, and that the disk has space"),
    )
}

/// A chunk of ciphertext from the first server, compared with the digests from the other two.
pub(super) fn ciphertext(context: &[u8; 32], answers: [ToClient; 3], len: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let mut digests = Vec::with_capacity(2);
    for (party, answer) in PartyId::all(3).zip(answers) {
        match (party.index(), answer) {
            (0, ToClient::Ciphertext(mut body)) => bytes = std::mem::take(&mut body.0),
            (1 | 2, ToClient::Digest(digest)) => digests.push(digest),
            (_, other) => return Err(unexpected(ENCRYPT, party, other)),
        }
    }
    let own = chunk_digest(context, &bytes);
    let same: Vec<bool> = digests.iter().map(|digest| *digest == own).collect();
    let odd = match same[..] {
        [true, true] if bytes.len() == len => return Ok(bytes),
        [true, false] => PartyId::new(3),
        [false, true] => PartyId::new(2),
        _ if digests.windows(2).all(|d| d[0] == d[1]) => PartyId::new(1),
        _ => None,
    };
    Err(differ(ENCRYPT, odd))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk has the length of its plaintext, also if all three say otherwise.
    #[test]
    fn a_chunk_is_as_long_as_its_plaintext() {
        for (len, right) in [(4, false), (5, true), (6, false), (5 + 256, false)] {
            let (context, body) = ([7; 32], b"chunk".to_vec());
            let digest = || ToClient::Digest(chunk_digest(&context, &body));
            let answers = [ToClient::Ciphertext(Blob(body.clone())), digest(), digest()];
            assert_eq!(ciphertext(&context, answers, len).is_ok(), right, "{len}");
        }
    }

    /// Of three servers the one that says what no other says is named, and none if no two agree.
    #[test]
    fn who_has_another_ciphertext_is_named() {
        for (second, third, named) in [(0, 1, Some(3)), (1, 0, Some(2)), (1, 1, Some(1)), (1, 2, None)] {
            let context = [7; 32];
            let digest = |of: u8| ToClient::Digest(chunk_digest(&context, &[of]));
            let answers = [ToClient::Ciphertext(Blob(vec![0])), digest(second), digest(third)];
            let error = ciphertext(&context, answers, 1).unwrap_err();
            assert_eq!(error.peer, named.and_then(PartyId::new), "{second} {third}");
        }
        for bit in 0..256 {
            let right = chunk_digest(&[7; 32], &[0]);
            let mut other = right;
            other[bit / 8] ^= 1 << (bit % 8);
            for (digests, named) in [([right, other], 3), ([other, right], 2)] {
                let [second, third] = digests.map(ToClient::Digest);
                let answers = [ToClient::Ciphertext(Blob(vec![0])), second, third];
                let error = ciphertext(&[7; 32], answers, 1).unwrap_err();
                assert_eq!(error.peer, PartyId::new(named), "{bit}");
            }
        }
    }

    /// A client sends as much associated data as servers take, and no more.
    #[test]
    fn associated_data_has_a_longest_length() {
        for (bytes, good) in [(0, true), (AAD, true), (AAD + 1, false), (AAD + 256, false)] {
            assert_eq!(associated(&vec![0; bytes]).is_ok(), good, "{bytes}");
        }
    }
}
