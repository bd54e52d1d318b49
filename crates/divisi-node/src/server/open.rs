//! A server's start: its port, its keys, and the socket of its operator.

use super::node::Node;
use super::operator_socket::OperatorSocket;
use super::options::{ServerError, ServerOptions};
use super::scheduling::known_names;
use super::stores;
use crate::operator;
use divisi_core::PartyId;
use divisi_net::{Config, Identity, Listener, World};
use divisi_store::StoredKeys;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// One of the three servers.
pub struct Server {
    pub(super) node: Arc<Node>,
    /// The socket for its operator, until [`Server::run`] takes it.
    pub(super) operator_socket: Mutex<Option<OperatorSocket>>,
}

impl Server {
    /// Open party `me`'s port and its keys in `data`.
    ///
    /// # Errors
    /// If the configuration is not one of three parties, the identity is not the pinned one, the port is
    /// taken, or another process uses the data.
    pub fn open(
        config: Config,
        me: PartyId,
        identity: Arc<Identity>,
        data: &Path,
        options: ServerOptions,
        world: Arc<dyn World>,
    ) -> Result<Server, ServerError> {
        usable(&config)?;
        // the port first: if it is taken, no directory is made
        let listener = match &options.listen {
            Some(address) => Listener::open_on(address, config, me, identity, world.clone()),
            None => Listener::open(config, me, identity, world.clone()),
        };
        let listener = listener.map_err(|e| ServerError(e.to_string()))?;
        let keys = open_keys(data, me, &options)?;
        Ok(Server::with(listener, data, keys, options, world))
    }

    /// The same on a port that is open already.
    ///
    /// # Errors
    /// As for [`Server::open`].
    pub fn open_at(
        listener: TcpListener,
        config: Config,
        me: PartyId,
        identity: Arc<Identity>,
        data: &Path,
        options: ServerOptions,
        world: Arc<dyn World>,
    ) -> Result<Server, ServerError> {
        usable(&config)?;
        let keys = open_keys(data, me, &options)?;
        let listener = Listener::open_at(listener, config, me, identity, world.clone());
        Ok(Server::with(listener.map_err(|e| ServerError(e.to_string()))?, data, keys, options, world))
    }

    fn with(
        listener: Listener,
        data: &Path,
        keys: StoredKeys,
        options: ServerOptions,
        world: Arc<dyn World>,
    ) -> Server {
        let operator_socket = OperatorSocket::open(data);
        if let Err(e) = &operator_socket {
            (options.log)(&format!(
                "operators cannot give orders here: the socket {} cannot be made ({e})",
                operator::NAME
            ));
        }
        let node = Node::new(listener, data, keys, options, world);
        node.report_missing(None, "it has not joined the other servers yet".into());
        Server { node: Arc::new(node), operator_socket: Mutex::new(operator_socket.ok()) }
    }

    /// The address at which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.node.listener.address()
    }

    /// The errors of the files of single keys; these keys are refused while all others are served.
    ///
    /// # Errors
    /// If the directory of keys cannot be read.
    pub fn troubles_of_keys(&self) -> Result<Vec<String>, ServerError> {
        self.node.keys.troubles().map_err(|e| ServerError(e.to_string()))
    }

    /// Stops the server when it is set: requests under way have [`ServerOptions::ending`] (ten seconds by
    /// default) to end, and the clients of all others are told to try again.
    #[must_use]
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.node.stop.clone()
    }
}

/// Check that a configuration has three servers, and that its limits name algorithms that servers have.
pub(super) fn usable(config: &Config) -> Result<(), ServerError> {
    let n = config.parties().len();
    if n != 3 {
        return Err(ServerError(format!("keys are held by three servers, not {n}: make a mesh of 3")));
    }
    known_names(config).map_err(ServerError)
}

#[cfg_attr(not(test), allow(unused_variables, reason = "a test's server has a disk of its own"))]
fn open_keys(data: &Path, me: PartyId, options: &ServerOptions) -> Result<StoredKeys, ServerError> {
    let keys = StoredKeys::open_in(data);
    #[cfg(test)]
    let keys = match options.disk.clone().filter(|(party, _)| *party == me) {
        Some((_, disk)) => keys.and_then(|_| StoredKeys::open_on(Box::new(disk), &data.join("keys"))),
        None => keys,
    };
    let keys = keys.map_err(|e| ServerError(e.to_string()))?;
    if options.new_store {
        // it holds for as long as the store has no key, also over a restart without the option
        let path = stores::mark(data);
        let failed = |e| ServerError(format!("{} cannot be written ({e}): free some space", path.display()));
        stores::write_mark(data).map_err(failed)?;
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (data, me) = (dir.path().join("data"), PartyId::P1);
        open_keys(&data, me, &ServerOptions::default()).expect("a new store");
        let path = stores::mark(&data);
        std::fs::create_dir_all(path.join("in its place")).unwrap();
        let options = ServerOptions { new_store: true, ..ServerOptions::default() };
        let refused = open_keys(&data, me, &options).err().expect("no mark");
        let words = format!("{} cannot be written", path.display());
        assert!(refused.0.starts_with(&words) && refused.0.ends_with("free some space"), "{refused}");
    }
}
