//! Connections: accepted up to a number, each with a limit for its headers and its handshake, and ended in
//! time when the gateway is told to stop.
//!
//! It stands in place of `axum::serve`, which has no limit for headers, no number of connections and no TLS.

use super::deadline::Deadline;
use super::tls::Certificates;
use crate::config::Listen;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::borrow::Borrow;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixSocket, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// The most connections at a time; whoever comes when all are taken waits.
const MOST: usize = 1100;
/// How long headers may take, and how long a connection may be idle.
const HEADERS: Duration = Duration::from_secs(30);
/// How long a client may leave an answer unread.
const UNREAD: Duration = Duration::from_secs(30);
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long requests under way have to end.
pub(crate) const ENDING: Duration = Duration::from_secs(8);
/// How long the loop rests after an error of the system, of which the usual one passes.
const REST: Duration = Duration::from_millis(50);
/// The most connections that wait at a unix socket to be accepted: as many as the system usually lets wait.
const WAITING: u32 = 4096;
/// The longest headers, and what of a body is read ahead.
const BUFFER: usize = 16 << 10;

/// Where connections come from.
#[expect(clippy::exhaustive_enums, reason = "a configuration names no other place")]
pub enum Socket {
    /// An address.
    Tcp(TcpListener),
    /// A file.
    Unix(UnixListener),
}

/// A connection of a [`Socket`].
pub(crate) enum Stream {
    /// Over TCP.
    Tcp(TcpStream),
    /// At a unix socket.
    Unix(UnixStream),
}

impl Socket {
    async fn accept(&self) -> io::Result<Stream> {
        match self {
            Socket::Tcp(listener) => listener.accept().await.map(|(stream, _)| Stream::Tcp(stream)),
            Socket::Unix(listener) => listener.accept().await.map(|(stream, _)| Stream::Unix(stream)),
        }
    }
}

/// Open the socket of a configuration; it must be called in a runtime.
///
/// # Errors
/// One sentence.
pub fn bind(listen: &Listen) -> Result<Socket, String> {
    match listen {
        Listen::Address(address) => {
            let failed = |e: io::Error| format!("{address} cannot be listened at ({e}): choose another port");
            let listener = std::net::TcpListener::bind(address).map_err(failed)?;
            listener.set_nonblocking(true).map_err(failed)?;
            TcpListener::from_std(listener).map(Socket::Tcp).map_err(failed)
        }
        Listen::Socket(path) => {
            let shown = path.display();
            let failed =
                |e: io::Error| format!("the socket {shown} cannot be made ({e}): choose another path");
            clear(path)?;
            bind_own(path).map(Socket::Unix).map_err(failed)
        }
    }
}

/// A socket at a path. Who may open it may use the keys: its owner, and whoever the owner lets in.
fn bind_own(path: &Path) -> io::Result<UnixListener> {
    let socket = UnixSocket::new_stream()?;
    // the file has this mode, less the umask, from its first moment on; another umask would be that of all
    // threads
    rustix::fs::fchmod(&socket, rustix::fs::Mode::from_raw_mode(0o600))?;
    socket.bind(path)?;
    // the umask may have taken the owner's bits, too
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    socket.listen(WAITING)
}

/// Remove the socket that a gateway left behind which did not end in order.
fn clear(path: &Path) -> Result<(), String> {
    let Ok(meta) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let shown = path.display();
    if !meta.file_type().is_socket() {
        return Err(format!("{shown} is there already, and is no socket: choose another path"));
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        return Err(format!("another process serves the socket {shown}: stop it, or choose another path"));
    }
    std::fs::remove_file(path)
        .map_err(|e| format!("the old socket {shown} cannot be removed ({e}): remove it"))
}

/// Serve until `stop` says so, then give requests that are under way a time to end. A socket that is given,
/// and not lent, is closed before that, so that whoever comes later is refused and does not wait.
pub async fn serve(
    socket: impl Borrow<Socket>,
    router: &Router,
    tls: Option<&Arc<Certificates>>,
    stop: watch::Receiver<bool>,
) {
    let begin = |stream| {
        let (router, stop) = (router.clone(), stop.clone());
        let tls = tls.map(|tls| tls.current());
        async move {
            match (stream, tls) {
                (Stream::Tcp(stream), None) => connection(stream, router, stop).await,
                (Stream::Unix(stream), _) => connection(stream, router, stop).await,
                (Stream::Tcp(stream), Some(tls)) => {
                    let handshake = TlsAcceptor::from(tls).accept(stream);
                    if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, handshake).await {
                        connection(stream, router, stop).await;
                    }
                }
            }
        }
    };
    accept_until(socket, MOST, stop.clone(), begin).await;
}

/// Accept connections until `stop` says so, at most so many at a time, then give those that are open a time
/// to end.
pub(crate) async fn accept_until<F>(
    socket: impl Borrow<Socket>,
    most: usize,
    mut stop: watch::Receiver<bool>,
    begin: impl Fn(Stream) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(most));
    let mut connections = JoinSet::new();
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = stopped(&mut stop) => break,
        };
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            accepted = socket.borrow().accept() => accepted,
            () = stopped(&mut stop) => break,
        };
        match accepted {
            Ok(stream) => {
                let work = begin(stream);
                connections.spawn(async move {
                    work.await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(REST).await,
        }
        while connections.try_join_next().is_some() {}
    }
    drop(socket);
    let rest = async { while connections.join_next().await.is_some() {} };
    // what has not ended by then ends with the process
    let _ = tokio::time::timeout(ENDING, rest).await;
}

/// Return when `stop` says so.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // an error says that nobody can stop it any more: the process ends
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn connection<S>(stream: S, router: Router, mut stop: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(BUFFER);
    // as the server that programs know writes them; some compare the bytes
    builder.title_case_headers(true);
    let connection = builder
        .serve_connection(TokioIo::new(Deadline::new(stream, UNREAD)), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // an error is the client's: it went away, or sent what is no HTTP
        _ = connection.as_mut() => return,
        () = stopped(&mut stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Of clients that open connections and send nothing so many are let in as there are places; whoever
    /// comes next is served when one of them leaves.
    #[test]
    fn idle_connections_take_the_places_of_http() {
        // both ends of each are in this process
        crate::dumps::raise_descriptors();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        let within = runtime.enter();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let socket = bind(&Listen::Socket(path.clone())).unwrap();
        drop(within);
        let (stop, stopped) = watch::channel(false);
        let serves = runtime.spawn(async move { serve(socket, &Router::new(), None, stopped).await });
        let connect = || std::os::unix::net::UnixStream::connect(&path).unwrap();
        let answers = |mut stream: &std::os::unix::net::UnixStream, within: Duration| {
            stream.set_read_timeout(Some(within)).unwrap();
            stream.read_exact(&mut [0; 12]).is_ok()
        };
        let asks = || {
            let mut stream = connect();
            stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
            stream
        };
        let mut idle: Vec<_> = (1..1100).map(|_| connect()).collect();
        // they are accepted in their order: when the last one is served, all are
        let (soon, moment) = (Duration::from_secs(60), Duration::from_millis(200));
        let (last, next) = (asks(), asks());
        assert_eq!([answers(&last, soon), answers(&next, moment)], [true, false]);
        drop(idle.pop());
        assert!(answers(&next, soon));
        drop((idle, last, next));
        stop.send(true).unwrap();
        runtime.block_on(serves).unwrap();
    }

    /// A connection has its place until it ends: whoever comes when all are taken waits, and is then served.
    #[test]
    fn connections_have_so_many_places_at_a_time() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        let within = runtime.enter();
        let socket = bind(&Listen::Address("127.0.0.1:0".parse().unwrap())).unwrap();
        drop(within);
        let Socket::Tcp(listener) = &socket else { panic!("an address") };
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        // it says that it has begun, and ends with its client
        let begin = |stream| async move {
            let Stream::Tcp(mut stream) = stream else { return };
            stream.write_all(&[1]).await.unwrap();
            let _ = stream.read(&mut [0]).await;
        };
        let serves = runtime.spawn(accept_until(socket, 2, stopped, begin));
        let mut clients: Vec<_> = (0..3).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
        let mut begins = |nth: usize, within: Duration| {
            clients[nth].set_read_timeout(Some(within)).unwrap();
            clients[nth].read_exact(&mut [0]).is_ok()
        };
        let (soon, moment) = (Duration::from_secs(60), Duration::from_millis(100));
        assert_eq!([begins(0, soon), begins(1, soon), begins(2, moment)], [true, true, false]);
        drop(clients.remove(0));
        clients[1].set_read_timeout(Some(soon)).unwrap();
        clients[1].read_exact(&mut [0]).unwrap();
        drop(clients);
        stop.send(true).unwrap();
        runtime.block_on(serves).unwrap();
    }
}
