//! Encryption of a stream whose length is not known before its end.
//!
//! The client reads one chunk ahead, so that it knows the last one, and marks it. The servers compare the
//! mark and the length, and make the tag only after both.

use super::{CHUNK, Client, ENCRYPT, INPUT, OUTPUT, associated, ciphertext, unusable, write};
use crate::error::{Error, ErrorKind};
use crate::request::{Item, ToClient, ToServer, context};
use divisi_store::KeyName;
use divisi_symmetric::mode::gcm::Lengths;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// What the messages of a stream say of its end.
#[derive(Default)]
struct Sent {
    /// The bytes in all.
    bytes: u64,
    /// The lengths of the pieces that are not answered yet.
    pieces: VecDeque<usize>,
    /// The number of the message after the last piece.
    finish: Option<u64>,
}

pub(super) fn encrypt(
    client: &mut Client,
    key: &KeyName,
    aad: &[u8],
    input: &mut dyn Read,
    output: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Error> {
    let item = Item::EncryptStream { key: key.clone(), aad: associated(aad)?, way: client.way };
    let number = client.next_number();
    let sent = RefCell::new(Sent::default());
    let mut ahead: Option<Zeroizing<Vec<u8>>> = None;
    let message = |client: &Client, index: u64| {
        let mut sent = sent.borrow_mut();
        if index == 0 {
            return Ok(Some([(); 3].map(|()| ToServer::Request { number, item: item.clone() })));
        }
        match sent.finish {
            Some(finish) if index == finish => {
                return Ok(Some([(); 3].map(|()| ToServer::Finish { number })));
            }
            Some(_) => return Ok(None),
            None => {}
        }
        let piece = match ahead.take() {
            Some(piece) => piece,
            None => chunk(input)?,
        };
        let next = if piece.len() == CHUNK { chunk(input)? } else { Zeroizing::default() };
        sent.bytes += piece.len() as u64;
        sent.pieces.push_back(piece.len());
        if Lengths::new(aad.len() as u64, sent.bytes).is_err() {
            let message = "the stream is longer than GCM allows (2^36 - 32 bytes): split it";
            return Err(Error::new(ErrorKind::Usage, INPUT, message));
        }
        let is_last = next.is_empty();
        if is_last {
            sent.finish = Some(index + 1);
        } else {
            ahead = Some(next);
        }
        let index = index - 1;
        Ok(Some(client.split(&piece).map(|body| match is_last {
            true => ToServer::Last { number, index, body },
            false => ToServer::Data { number, index, body },
        })))
    };
    let mut done = 0;
    client.stream_while(ENCRYPT, message, |client, index, answers| {
        if index == 0 {
            let (iv, used) = client.same(ENCRYPT, answers, |answer| match answer {
                ToClient::Sealing { iv, key } => Some((iv, key)),
                _ => None,
            })?;
            client.found(key, used)?;
            return write(output, &iv);
        }
        let piece = sent.borrow_mut().pieces.pop_front();
        let Some(bytes) = piece else {
            let tag = client.same(ENCRYPT, answers, |answer| match answer {
                ToClient::Tag(tag) => Some(tag),
                _ => None,
            })?;
            return write(output, &tag);
        };
        write(output, &ciphertext(&context(&client.id, number, index - 1), answers, bytes)?)?;
        done += bytes as u64;
        progress(done);
        Ok(())
    })?;
    output.flush().map_err(|e| unusable(OUTPUT, "the output cannot be written", &e))?;
    Ok(sent.into_inner().bytes)
}

/// The next chunk of a stream: shorter than others, or empty, only at its end.
fn chunk(input: &mut (impl Read + ?Sized)) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut piece = Zeroizing::new(vec![0; CHUNK]);
    let mut done = 0;
    while let Some(rest) = piece.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(unusable(INPUT, "the input cannot be read to its end", &e)),
        }
    }
    piece.truncate(done);
    Ok(piece)
}
