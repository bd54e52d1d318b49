//! Encryption of a stream whose length is not known before its end.
//!
//! The client reads one chunk ahead, so that it knows the last one, and marks it. The servers compare the
//! mark and the length, and make the tag only after both.

use super::super::parts::Part;
use super::{
    CHUNK, Client, ENCRYPT, INPUT, OUTPUT, associated, ciphertext, unusable, write, write_iv, write_tag,
};
use crate::error::{Error, ErrorKind};
use crate::request::{Item, ToServer, context};
use divisi_store::KeyName;
use divisi_symmetric::mode::gcm::Lengths;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// What was sent of a stream.
struct Sent {
    /// The bytes in all.
    bytes: u64,
    next: Option<Part>,
    /// What is not answered yet, and its bytes.
    awaited: VecDeque<(Part, usize)>,
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
    let sent = RefCell::new(Sent { bytes: 0, next: Some(Part::Request), awaited: VecDeque::new() });
    let mut ahead: Option<Zeroizing<Vec<u8>>> = None;
    let message = |client: &Client| {
        let mut sent = sent.borrow_mut();
        let Some(part) = sent.next else { return Ok(None) };
        let (message, bytes, next) = match part {
            Part::Request => {
                ([(); 3].map(|()| ToServer::Request { number, item: item.clone() }), 0, Some(Part::Piece(0)))
            }
            Part::Finish => ([(); 3].map(|()| ToServer::Finish { number }), 0, None),
            Part::Piece(index) | Part::Again(index) => {
                let piece = match ahead.take() {
                    Some(piece) => piece,
                    None => chunk(input)?,
                };
                let next = if piece.len() == CHUNK { chunk(input)? } else { Zeroizing::default() };
                sent.bytes += piece.len() as u64;
                if Lengths::new(aad.len() as u64, sent.bytes).is_err() {
                    let message = "the stream is longer than GCM allows (2^36 - 32 bytes): split it";
                    return Err(Error::new(ErrorKind::Usage, INPUT, message));
                }
                let bodies = client.split(&piece);
                if next.is_empty() {
                    (
                        bodies.map(|body| ToServer::Last { number, index, body }),
                        piece.len(),
                        Some(Part::Finish),
                    )
                } else {
                    ahead = Some(next);
                    let message = bodies.map(|body| ToServer::Data { number, index, body });
                    (message, piece.len(), Some(Part::Piece(index + 1)))
                }
            }
        };
        sent.next = next;
        sent.awaited.push_back((part, bytes));
        Ok(Some(message))
    };
    let mut done = 0;
    client.send_while(ENCRYPT, message, |client, answers| {
        let awaited = sent.borrow_mut().awaited.pop_front();
        match awaited {
            Some((Part::Request, _)) => write_iv(client, key, answers, output),
            Some((Part::Piece(index) | Part::Again(index), bytes)) => {
                write(output, &ciphertext(&context(&client.id, number, index), answers, bytes)?)?;
                done += bytes as u64;
                progress(done);
                Ok(())
            }
            Some((Part::Finish, _)) | None => write_tag(client, answers, output),
        }
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
