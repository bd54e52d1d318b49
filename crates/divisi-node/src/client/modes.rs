//! Encryption and decryption by a client in the modes other than GCM.

use super::gcm::{associated, ciphertext};
use super::keys::combine;
use super::parts::{Part, parts};
use super::{Client, differ};
use crate::error::{Error, ErrorKind};
use crate::request::{Item, Mode, ModeRequest, PIECE, ToClient, ToServer, context};
use crate::wire::Blob;
use divisi_core::Step;
use divisi_store::KeyName;
use zeroize::Zeroizing;

// names that programs read in errors, and that stay when code moves
const ENCRYPT: Step = Step::new("divisi_node::client::whole/whole.encrypt");
const DECRYPT: Step = Step::new("divisi_node::client::whole/whole.decrypt");
const BLOCK: usize = 16;
const HALF: usize = 8;

impl Client {
    /// Encrypt a message in a mode other than GCM, with a key of the mode's type. `progress` is called with
    /// the number of bytes done. The result has the format that other libraries use:
    ///
    /// | mode | message | result |
    /// |---|---|---|
    /// | SIV | any length up to [`MODE_MESSAGE`](crate::MODE_MESSAGE) | synthetic IV (16 bytes), ciphertext |
    /// | KW | semiblocks of 8 bytes, at least two | the wrapped key: 8 bytes longer |
    /// | KWP | at least one byte | the wrapped key: whole semiblocks, one more than the padded key |
    /// | CBC | whole blocks of 16 bytes, at least one, padding included | IV (16 bytes), ciphertext |
    ///
    /// Only SIV takes associated data: one string, or none. An empty string is a string: libraries whose
    /// interface always has associated data (Tink, for example) write one where none is meant.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for a length that the mode does not take, and associated data that is too long,
    /// before anything is sent; else see [`Error`].
    pub fn encrypt_in_mode(
        &mut self,
        key: &KeyName,
        mode: Mode,
        aad: Option<&[u8]>,
        content: &[u8],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.used = None;
        let asked = self.asked(ENCRYPT, key, mode, true, aad, content.len(), [0; BLOCK]);
        let result = asked.and_then(|asked| self.whole(ENCRYPT, asked, content, progress));
        self.over(result)
    }

    /// Decrypt what [`encrypt_in_mode`](Client::encrypt_in_mode) returns. With KW, KWP and SIV nothing is
    /// returned unless it is authentic; CBC authenticates nothing, and the caller removes its padding.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] with [`Error::by_all`] if all three servers say that the message is not
    /// authentic;
    /// [`ErrorKind::Usage`] for a length that the mode does not make, before anything is sent; else see
    /// [`Error`].
    pub fn decrypt_in_mode(
        &mut self,
        key: &KeyName,
        mode: Mode,
        aad: Option<&[u8]>,
        sealed: &[u8],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.used = None;
        let Some((iv, content)) = sealed.split_at_checked(mode.iv_bytes()) else {
            let message = mode.misfit(false, sealed.len() as u64).unwrap_or_default();
            return Err(Error::new(ErrorKind::Usage, DECRYPT, message));
        };
        let iv = iv.try_into().unwrap_or_default();
        let asked = self.asked(DECRYPT, key, mode, false, aad, content.len(), iv);
        let result = asked.and_then(|asked| self.whole(DECRYPT, asked, content, progress));
        self.over(result)
    }

    fn asked(
        &self,
        step: Step,
        key: &KeyName,
        mode: Mode,
        encrypts: bool,
        aad: Option<&[u8]>,
        bytes: usize,
        iv: [u8; BLOCK],
    ) -> Result<ModeRequest, Error> {
        let (aad, length) = (aad.map(associated).transpose()?, bytes as u64);
        let asked = ModeRequest { key: key.clone(), mode, encrypts, aad, length, iv, way: self.way };
        match asked.misfit() {
            None => Ok(asked),
            Some(message) => Err(Error::new(ErrorKind::Usage, step, message)),
        }
    }

    fn whole(
        &mut self,
        step: Step,
        asked: ModeRequest,
        content: &[u8],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let number = self.next_number();
        let pieces = content.len().div_ceil(PIECE) as u64;
        let (mode, encrypts, key) = (asked.mode, asked.encrypts, asked.key.clone());
        let item = Item::Mode(asked);
        let piece = |index: u64| content.chunks(PIECE).nth(index as usize).unwrap_or_default();
        let shared = |client: &Client, index: u64| {
            let bodies = match encrypts {
                true => client.split(piece(index)),
                false => [(); 3].map(|()| Blob(piece(index).to_vec())),
            };
            Ok(bodies.map(|body| ToServer::Data { number, index, body }))
        };
        // large enough never to move: a move would leave a copy behind
        let mut out = Zeroizing::new(Vec::with_capacity(content.len() + BLOCK));
        self.send_parts(step, &item, parts(pieces), shared, |client, part, answers| {
            let (nth, bytes, done, said) = match part {
                Part::Request => {
                    let (iv, used) = client.same(step, answers, |answer| match answer {
                        ToClient::Begun { iv, key } => Some((iv, key)),
                        _ => None,
                    })?;
                    client.found(&key, used)?;
                    if encrypts && mode == Mode::Cbc {
                        out.extend_from_slice(&iv);
                    }
                    return Ok(());
                }
                Part::Piece(nth) | Part::Again(nth) => {
                    (nth, piece(nth).len(), (nth + 1) * PIECE as u64, ToClient::Accepted)
                }
                Part::Finish => (0, content.len(), content.len() as u64, ToClient::Done),
            };
            // in CBC each piece has its answer, in the other modes only the end has one
            if (part == Part::Finish) == (mode == Mode::Cbc) {
                client.same(step, answers, |answer| (answer == said).then_some(()))?;
            } else {
                let context = context(&client.id, number, nth);
                if encrypts {
                    let due = match mode {
                        Mode::Cbc => bytes,
                        Mode::Siv => BLOCK + bytes,
                        Mode::Kw | Mode::Kwp => HALF + bytes.next_multiple_of(HALF),
                    };
                    out.extend(ciphertext(&context, answers, due)?);
                } else {
                    let content = combine(step, &context, answers)?;
                    let fits = match mode {
                        Mode::Cbc | Mode::Siv => content.len() == bytes,
                        Mode::Kw => content.len() + HALF == bytes,
                        Mode::Kwp => HALF + content.len().next_multiple_of(HALF) == bytes,
                    };
                    if !fits {
                        return Err(differ(step, None));
                    }
                    out.extend_from_slice(&content);
                }
            }
            progress(done.min(content.len() as u64));
            Ok(())
        })?;
        Ok(out)
    }
}
