//! A delaying proxy in front of a server: each byte arrives half a round-trip time after it was sent, in
//! order, at unlimited rate.
//!
//! It serves the links between clients and servers, which have no emulation of their own. For each direction
//! of each connection one thread reads and notes the time, another waits and writes. Both ends see TCP on
//! loopback: only bytes are delayed, not the making of connections.

use crate::bench::party::precise_waiting;
use crate::failure::Failure;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The most bytes of one piece under way: some records of TLS.
const PIECE: usize = 64 << 10;
/// The most pieces under way in one direction, so that a receiver that stops reading stops its sender in the
/// end.
const PIECES: usize = 1024;

/// A port of this machine that leads to another one with a delay. Connections through it stay open when the
/// proxy is dropped.
pub(super) struct Proxy {
    address: SocketAddr,
    over: Arc<AtomicBool>,
}

impl Proxy {
    /// A proxy to `to` (`host:port`) that delays by `delay` in each direction.
    ///
    /// # Errors
    /// [`Failure`] if no port is free, or no thread can be started.
    pub fn new(to: &str, delay: Duration) -> Result<Proxy, Failure> {
        let begin = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let (address, over) = (listener.local_addr()?, Arc::new(AtomicBool::new(false)));
            let (to, ended) = (to.to_owned(), Arc::clone(&over));
            let accept = move || {
                for near in listener.incoming() {
                    if ended.load(Ordering::SeqCst) {
                        return;
                    }
                    // If the connection to the server cannot be made, the client's is closed, which the
                    // client sees.
                    let _ = near.and_then(|near| join(near, TcpStream::connect(&to)?, delay));
                }
            };
            std::thread::Builder::new().name("proxy".into()).spawn(accept)?;
            Ok(Proxy { address, over })
        };
        begin().map_err(|e: io::Error| {
            Failure::unavailable(format!(
                "no network can be emulated ({e}): check that the loopback network is up, or leave --rtt out"
            ))
        })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // wake the thread that accepts connections, so that it sees the end
        let _ = TcpStream::connect(self.address);
    }
}

/// Let bytes pass both ways.
fn join(near: TcpStream, far: TcpStream, delay: Duration) -> io::Result<()> {
    for stream in [&near, &far] {
        stream.set_nodelay(true)?;
    }
    pass(near.try_clone()?, far.try_clone()?, delay)?;
    pass(far, near, delay)
}

/// Let bytes pass one way, until it ends.
fn pass(from: TcpStream, to: TcpStream, delay: Duration) -> io::Result<()> {
    let (give, pieces) = sync_channel(PIECES);
    let start = |name: &str| std::thread::Builder::new().name(format!("proxy {name}"));
    start("reads").spawn(move || stamp(from, &give))?;
    start("writes").spawn(move || {
        precise_waiting();
        deliver(&pieces, to, delay);
    })?;
    Ok(())
}

/// Read pieces, and pass each on with the time at which it came; a piece without bytes is the end.
fn stamp(mut from: TcpStream, give: &SyncSender<(Instant, Vec<u8>)>) {
    let mut piece = vec![0; PIECE];
    loop {
        let bytes = match from.read(&mut piece) {
            Ok(n) => piece.get(..n).unwrap_or_default().to_vec(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => Vec::new(),
        };
        let over = bytes.is_empty();
        if give.send((Instant::now(), bytes)).is_err() || over {
            // a sender is to learn that nobody reads any more
            let _ = from.shutdown(Shutdown::Read);
            return;
        }
    }
}

/// Write each piece when it is due, and the end after the last one.
fn deliver(pieces: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream, delay: Duration) {
    for (sent, bytes) in pieces {
        wait_until(sent + delay);
        if bytes.is_empty() || to.write_all(&bytes).is_err() {
            break;
        }
    }
    // an error means that the peer is gone and needs no end
    let _ = to.shutdown(Shutdown::Write);
}

fn wait_until(due: Instant) {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The address of a server that sends everything back, until the end.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let _ = io::copy(&mut &stream, &mut &stream);
            let _ = stream.shutdown(Shutdown::Write);
        });
        address
    }

    #[test]
    fn bytes_come_whole_in_order_and_half_a_round_trip_late_each_way() {
        let delay = Duration::from_millis(30);
        let proxy = Proxy::new(&echo().to_string(), delay).unwrap();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        let mut byte = [0];
        for _ in 0..3 {
            let start = Instant::now();
            stream.write_all(&[9]).unwrap();
            stream.read_exact(&mut byte).unwrap();
            assert!(start.elapsed() >= 2 * delay, "{:?}", start.elapsed());
        }
        // much at once, and then the end
        let long: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
        let mut out = stream.try_clone().unwrap();
        let sent = long.clone();
        let writing = std::thread::spawn(move || {
            out.write_all(&sent).unwrap();
            out.shutdown(Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        writing.join().unwrap();
        assert!(back == long);
    }

    #[test]
    fn a_connection_to_nobody_ends() {
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let proxy = Proxy::new(&nobody.to_string(), Duration::ZERO).unwrap();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        let ended = stream.read(&mut [0]);
        assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    }
}
