//! The socket on which a server takes orders from its operator: it lies beside the keys, where nobody else
//! can reach it.
//!
//! Adversary: other users of the machine. Only its owner can enter the directory (the store refuses any other
//! mode), the socket has mode 0600, and where the system tells the user of a connection, only the server's
//! own user and root are accepted. The server's user can read its keys and its identity anyway.

use super::node::Node;
use crate::operator::{Answer, Asking, Deed, LONGEST, NAME, Order, OrderState, short};
use crate::wire::{decode, encode};
use divisi_store::{KeyState, StoreError};
#[cfg(target_os = "linux")]
use rustix::process::Uid;
use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// How often the thread checks whether somebody has connected, or the server stops.
const LOOK: Duration = Duration::from_millis(50);
/// How long a connection may take to send its order.
const SAYING: Duration = Duration::from_secs(2);

/// An open socket, whose file is removed when it is dropped.
pub(super) struct OperatorSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl OperatorSocket {
    /// Open the socket in the data directory, which this process uses alone: an existing socket there is left
    /// over from an earlier process, and is replaced.
    pub fn open(data: &Path) -> io::Result<OperatorSocket> {
        let path = data.join(NAME);
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.file_type().is_socket() => fs::remove_file(&path)?,
            Ok(_) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is not a socket")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        let listener = short(data, |path| UnixListener::bind(path))?;
        let socket = OperatorSocket { listener, path };
        fs::set_permissions(&socket.path, Permissions::from_mode(0o600))?;
        socket.listener.set_nonblocking(true)?;
        Ok(socket)
    }
}

impl Drop for OperatorSocket {
    fn drop(&mut self) {
        // a file that remains is replaced by the next server
        let _ = fs::remove_file(&self.path);
    }
}

/// Start the thread that serves the operator. Its end of the channel `over` is dropped after its socket.
pub(super) fn start(node: &Arc<Node>, socket: OperatorSocket, over: Sender<()>) {
    let inside = node.clone();
    let attending = move || {
        attend(&inside, &socket);
        drop(socket);
        drop(over);
    };
    if node.world.spawn(format!("operator of {}", node.me), Box::new(attending)).is_err() {
        node.log("operators cannot give orders here: no thread can be started");
    }
}

/// The thread that serves the operator: one connection after the other, each with a time limit.
fn attend(node: &Node, socket: &OperatorSocket) {
    while !node.stop.load(Ordering::SeqCst) {
        match socket.listener.accept() {
            Ok((stream, _)) if is_ours(&stream) => drop(serve(node, stream)),
            Ok(_) => node.log("operator: another user of this machine was turned away"),
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// Whether the process that connected belongs to this process's user, or to root.
#[cfg(target_os = "linux")]
fn is_ours(stream: &UnixStream) -> bool {
    let theirs = rustix::net::sockopt::socket_peercred(stream).map(|who| who.uid);
    theirs.is_ok_and(|uid| may_order(uid, rustix::process::geteuid()))
}

/// Whether a process of one user may give orders to a server of another.
#[cfg(target_os = "linux")]
fn may_order(theirs: Uid, own: Uid) -> bool {
    theirs == own || theirs.is_root()
}

/// The permissions of the socket and its directory must suffice.
#[cfg(not(target_os = "linux"))]
fn is_ours(_: &UnixStream) -> bool {
    true
}

/// Receive one order, and answer how it stands.
fn serve(node: &Node, mut stream: UnixStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SAYING))?;
    stream.set_write_timeout(Some(SAYING))?;
    let mut bytes = Vec::new();
    (&mut stream).take(LONGEST).read_to_end(&mut bytes)?;
    let answer = match decode::<Asking>(&bytes) {
        Some(asking) => take(node, &asking).unwrap_or_else(Answer::Refused),
        None => {
            Answer::Refused("the server has another version than this command: use the same version".into())
        }
    };
    stream.write_all(&encode(&answer, 0).unwrap_or_default())
}

/// Take an order, and wait a moment for its outcome; an error says why it is refused.
fn take(node: &Node, asking: &Asking) -> Result<Answer, String> {
    let Asking { party, fingerprint, order } = asking;
    let (me, config) = (node.me, node.config());
    if *party != me.number() {
        return Err(format!("the server here is {me}, not party {party}: give its own --party and --data"));
    }
    let own = config.party(me).map_err(|e| e.to_string())?.pin.fingerprint();
    if own.bytes() != fingerprint {
        return Err(format!("the identity is not that of {me}, the server here: give its own --identity"));
    }
    if !order.is_well_formed() {
        return Err("the order is larger than allowed: name fewer clients".into());
    }
    if let Some(name) = order.clients().iter().find(|name| !config.clients().iter().any(|c| c.name == **name))
    {
        return Err(format!("client {name} is not in the configuration of {me}: add it there first"));
    }
    let id = known(node, order)?;
    node.operators(|orders, now| orders.ask(order, id, now))?;
    node.wake();
    #[cfg(not(test))]
    let outcome = SAYING;
    #[cfg(test)]
    let outcome = node.options.outcome.unwrap_or(SAYING);
    // each of the three servers leads once within three rounds, which take one beat each if there is nothing
    // to do
    let until = node.world.now() + 4 * node.beat() + outcome;
    loop {
        let state = node
            .operators(|orders, _| orders.state(order))
            .ok_or("the order is over: give the command again")?;
        let is_told = match &state {
            (OrderState::Asked { waiting, .. }, compared) => *compared && !waiting.is_empty(),
            _ => true,
        };
        let over = node.world.now() >= until || node.stop.load(Ordering::SeqCst);
        if is_told || over {
            return Ok(Answer::State(state.0));
        }
        std::thread::sleep(LOOK / 5);
    }
}

/// The id of the key that an order names; `None` if its file is lost or damaged here, in which case the key
/// can still be destroyed.
fn known(node: &Node, order: &Order) -> Result<Option<[u8; 16]>, String> {
    let (name, destroys) = (&order.key, order.deed == Deed::Destroy);
    // an order that was carried out, or that another operator gave as well, may be given again
    let asked = || node.operators(|orders, _| orders.state(order).is_some() || orders.was_proposed(order));
    match node.keys.load(name) {
        Ok(Some(key)) if key.info.state != KeyState::Destroyed => Ok(Some(key.info.id)),
        Ok(Some(key)) if destroys && asked() => Ok(Some(key.info.id)),
        Ok(Some(_)) => Err(format!("key {name} is destroyed at {} already", node.me)),
        Ok(None) if destroys && asked() => Ok(None),
        Ok(None) => Err(format!("there is no key {name} at {}: see `key list`", node.me)),
        Err(StoreError::Io(path, e)) => Err(format!("{} cannot be read ({e})", path.display())),
        Err(_) if destroys => Ok(None),
        Err(e) => Err(e.to_string()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A server takes orders of its own user and of root: not of whoever has a number like it.
    #[test]
    fn no_other_user_gives_orders() {
        for (theirs, own, good) in [
            (1000, 1000, true),
            (0, 1000, true),
            (0, 0, true),
            (1000, 0, false),
            (1001, 1000, false),
            (1000 + 256, 1000, false),
            (1000 + (1 << 16), 1000, false),
        ] {
            assert_eq!(may_order(Uid::from_raw(theirs), Uid::from_raw(own)), good, "{theirs} {own}");
        }
    }
}
