//! A client of HTTP for the demonstration and the benchmark: one connection, requests one after another.

use crate::json::{Json, read};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);
/// The longest line of an answer's headers, and the longest body.
const LINE: u64 = 8192;
/// See [`LINE`].
const BODY: u64 = 16 << 20;

/// An answer.
pub(crate) struct Answered {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Answered {
    /// The body as JSON; `null` if it is none.
    pub fn json(&self) -> Json {
        read(&self.body).unwrap_or(Json::Null)
    }
}

/// A connection with a gateway.
pub(crate) struct HttpClient {
    stream: BufReader<TcpStream>,
    token: String,
}

impl HttpClient {
    pub fn connect(address: SocketAddr, token: &str) -> std::io::Result<HttpClient> {
        let stream = TcpStream::connect_timeout(&address, ANSWER)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER))?;
        Ok(HttpClient { stream: BufReader::new(stream), token: token.to_owned() })
    }

    /// Send a request, and take its answer.
    pub fn ask(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> std::io::Result<Answered> {
        let body = body.unwrap_or_default();
        let (token, length) = (&self.token, body.len());
        let mut message = format!(
            "{method} {path} HTTP/1.1\r\nHost: gateway\r\nX-Vault-Token: {token}\r\nContent-Length: {length}\r\n\r\n"
        )
        .into_bytes();
        message.extend_from_slice(body);
        self.stream.get_mut().write_all(&message)?;
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(broken)?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(':') {
                None => break,
                Some(("content-length", value)) => length = value.trim().parse().map_err(|_| broken())?,
                Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
                Some(_) => {}
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let size = u64::from_str_radix(self.line()?.trim(), 16).map_err(|_| broken())?;
                self.take(size, &mut body)?;
                self.line()?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.take(length, &mut body)?;
        }
        Ok(Answered { status, body })
    }

    /// A line without its end; empty where the headers end.
    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        (&mut self.stream).take(LINE).read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            Some(line) => Ok(line.to_owned()),
            None => Err(broken()),
        }
    }

    fn take(&mut self, length: u64, body: &mut Vec<u8>) -> std::io::Result<()> {
        if length.saturating_add(body.len() as u64) > BODY {
            return Err(broken());
        }
        let taken = (&mut self.stream).take(length).read_to_end(body)?;
        if taken as u64 == length { Ok(()) } else { Err(broken()) }
    }
}

fn broken() -> std::io::Error {
    std::io::Error::other("the answer is no HTTP, or broke off")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// What a server says, once, and what the client makes of it.
    fn answered(said: &'static [u8]) -> std::io::Result<Answered> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                // a connection that is closed before all of it was read would be reset
                let mut reader = BufReader::new(&stream);
                let asked =
                    (&mut reader).lines().take_while(|line| line.as_ref().is_ok_and(|l| !l.is_empty()));
                assert!(asked.count() > 2);
                let mut body = [0; 4];
                reader.read_exact(&mut body).unwrap();
                assert_eq!(&body, b"asks");
                stream.write_all(said).unwrap();
            });
            HttpClient::connect(address, "token")?.ask("GET", "/", Some(b"asks"))
        })
    }

    /// An answer that broke off is none, wherever it did.
    #[test]
    fn whole_answers_are_taken() {
        let whole: [&[u8]; 2] = [
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbod\r\n1\r\ny\r\n0\r\n\r\n",
        ];
        for said in whole {
            let answer = answered(said).unwrap();
            assert_eq!((answer.status, &*answer.body), (200, &b"body"[..]));
            assert!((0..said.len()).all(|length| answered(&said[..length]).is_err()));
        }
        // only a piece of no bytes is the last one
        let (head, piece) = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", [b'x'; 256]);
        let said = [&head[..], b"100\r\n", &piece, b"\r\n1\r\ny\r\n0\r\n\r\n"].concat();
        assert_eq!(*answered(said.leak()).unwrap().body, [&piece[..], b"y"].concat());
    }
}
