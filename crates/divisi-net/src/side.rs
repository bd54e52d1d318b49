//! The encrypting side of a link: frames go in, ciphertext goes to the socket as far as the kernel takes it.

use crate::body::Body;
use crate::fault::Loss;
use crate::frame::{Head, Parser};
use std::collections::VecDeque;
use std::io::{self, BufRead, ErrorKind, IoSlice, Write};
use std::net::TcpStream;

/// One end of a TLS connection, and the bytes that wait to be encrypted.
pub(crate) struct Side {
    pub tls: rustls::Connection,
    queue: VecDeque<Body>,
    /// How many bytes of the first body in the queue TLS has taken.
    taken: usize,
    queued: usize,
}

impl Side {
    pub fn new(mut tls: rustls::Connection) -> Self {
        // The link bounds the queue.
        tls.set_buffer_limit(None);
        Self { tls, queue: VecDeque::new(), taken: 0, queued: 0 }
    }

    /// Encrypts the parts as one, or queues them behind what waits already.
    pub fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        if self.queue.is_empty() && !self.tls.wants_write() {
            let slices: Vec<IoSlice<'_>> = parts.iter().map(|p| IoSlice::new(p)).collect();
            let taken = self.tls.writer().write_vectored(&slices)?;
            self.push(parts, taken);
        } else {
            self.push(parts, 0);
        }
        Ok(())
    }

    /// Queues the parts without the first `taken` bytes.
    fn push(&mut self, parts: &[&[u8]], mut taken: usize) {
        let left = parts.iter().map(|p| p.len()).sum::<usize>().saturating_sub(taken);
        if left == 0 {
            return;
        }
        let mut rest = Body::with_capacity(left);
        for part in parts {
            let skip = taken.min(part.len());
            taken -= skip;
            rest.append(part.get(skip..).unwrap_or_default());
        }
        self.queued += left;
        self.queue.push_back(rest);
    }

    /// Hands to the kernel what it takes; returns what is left.
    pub fn flush(&mut self, socket: &TcpStream) -> io::Result<usize> {
        loop {
            while self.tls.wants_write() {
                match self.tls.write_tls(&mut &*socket) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(_) => {}
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(self.queued.max(1)),
                    Err(e) => return Err(e),
                }
            }
            let Some(next) = self.queue.front() else { return Ok(0) };
            let taken = self.tls.writer().write(next.get(self.taken..).unwrap_or_default())?;
            self.queued -= taken;
            self.taken += taken;
            if self.taken >= next.len() {
                self.queue.pop_front();
                self.taken = 0;
            }
        }
    }

    /// Decrypts; appends whole frames to `frames`. True at the end of the stream.
    pub fn decrypt(
        &mut self,
        mut raw: &[u8],
        parser: &mut Parser,
        frames: &mut Vec<(Head, Option<u64>, Body)>,
    ) -> Result<bool, Loss> {
        loop {
            if !raw.is_empty() {
                self.tls.read_tls(&mut raw).map_err(|_| Loss::Garbage)?;
            }
            self.tls.process_new_packets().map_err(|_| Loss::Garbage)?;
            let mut reader = self.tls.reader();
            loop {
                let len = match reader.fill_buf() {
                    Ok([]) => return Ok(true),
                    Ok(plain) => {
                        parser.feed(plain, &mut |head, stamp, body| {
                            frames.push((head, stamp, body));
                            Ok(())
                        })?;
                        plain.len()
                    }
                    Err(_) => break,
                };
                reader.consume(len);
            }
            if raw.is_empty() {
                return Ok(false);
            }
        }
    }
}
