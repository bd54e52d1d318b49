//! Three servers as threads of this process, for a program that tries out what a client does.
//!
//! This protects nothing: the process has the parts of all three servers. In earnest they are three machines
//! of three owners (`divisi server`); a client's calls are the same.

use super::{PREFIX, servers::SERVERS};
use crate::failure::Failure;
use divisi_net::{Config, Identity, Interrupt, Machine, PartyId, World};
use divisi_node::{ClientPool, Server, ServerOptions};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the servers may take to find each other.
const READY: Duration = Duration::from_secs(30);

/// Three servers that run as threads of this process, on free ports of 127.0.0.1, until this is dropped.
/// Their identities, keys and configuration are in a directory that only this user can read, and which goes
/// with them.
///
/// ```
/// use divisi::layers::node::KeyType;
/// use divisi::local::ServersHere;
///
/// let servers = ServersHere::start(&["me".into()])?;
/// let pool = servers.pool(0)?;
/// let key = pool.key_new(&pool.new_key("letters".parse()?, KeyType::Aes256, false, vec![]))?.name;
/// let texts = ["one", "two"];
/// let sealed = pool.map(&texts, |client, text| {
///     let mut sealed = Vec::new();
///     client.encrypt(&key, b"", &mut text.as_bytes(), text.len() as u64, &mut sealed, &mut |_| {})?;
///     Ok(sealed)
/// })?;
/// assert_eq!(sealed.iter().map(Vec::len).collect::<Vec<_>>(), [31, 31]);
/// servers.stop()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ServersHere {
    config: Config,
    clients: Vec<Arc<Identity>>,
    names: Vec<String>,
    servers: Vec<Arc<Server>>,
    threads: Vec<JoinHandle<Result<(), Failure>>>,
    folder: tempfile::TempDir,
    /// The process whose threads they are: a copy of it has this value, but not the servers.
    process: u32,
}

fn usage(e: impl ToString) -> Failure {
    Failure::usage(e.to_string())
}

impl ServersHere {
    /// Start the servers, with clients of these names, and wait until they serve.
    ///
    /// # Errors
    /// [`Failure`] if a client cannot have its name, a file cannot be written, no port is free, or the
    /// servers do not find each other in time.
    pub fn start(clients: &[String]) -> Result<ServersHere, Failure> {
        ServersHere::start_until(clients, &Interrupt::default())
    }

    /// The same, unless the caller wants to wait no more.
    ///
    /// # Errors
    /// As for [`ServersHere::start`], and if it was interrupted.
    pub fn start_until(clients: &[String], interrupt: &Interrupt) -> Result<ServersHere, Failure> {
        let unwritable = |e: std::io::Error| {
            let place = std::env::temp_dir();
            let place = place.display();
            usage(format!("no directory can be made in {place} ({e}): set TMPDIR to one that you can write"))
        };
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(mode).tempdir();
        let folder = folder.map_err(unwritable)?;
        let no_port = |e: std::io::Error| {
            Failure::unavailable(format!(
                "no port of 127.0.0.1 is free ({e}): check that the loopback network is up"
            ))
        };
        let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let ports = (0..SERVERS).map(bind).collect::<Result<Vec<_>, _>>().map_err(no_port)?;
        let hosts = ports.iter().map(|port| port.local_addr().map(|address| address.to_string()));
        let hosts = hosts.collect::<Result<Vec<_>, _>>().map_err(no_port)?;
        let made = Config::create(SERVERS, &hosts, clients, &Machine).map_err(usage)?;
        let mut here = ServersHere {
            config: made.config,
            clients: made.clients.into_iter().map(Arc::new).collect(),
            names: clients.to_vec(),
            servers: Vec::new(),
            threads: Vec::new(),
            folder,
            process: std::process::id(),
        };
        std::fs::write(here.config_file(), here.config.to_toml()).map_err(unwritable)?;
        for (number, identity) in here.clients.iter().enumerate() {
            let path = here.identity_file(number).unwrap_or_default();
            identity.save(&path).map_err(usage)?;
        }
        for ((party, port), identity) in PartyId::all(SERVERS).zip(ports).zip(made.parties) {
            let data = here.folder.path().join(format!("keys-{}", party.number()));
            let (config, options) = (here.config.clone(), ServerOptions::default());
            let (identity, world): (_, Arc<dyn World>) = (Arc::new(identity), Arc::new(Machine));
            let server = Server::open_at(port, config, party, identity, &data, options, world);
            here.servers.push(Arc::new(server.map_err(usage)?));
        }
        for (party, server) in PartyId::all(SERVERS).zip(&here.servers) {
            let server = Arc::clone(server);
            let run = move || server.run().map_err(|e| Failure::unavailable(e.to_string()));
            let thread = std::thread::Builder::new().name(format!("server {}", party.number())).spawn(run);
            let no_thread = |e| Failure::unavailable(format!("no thread can be started ({e}): free memory"));
            here.threads.push(thread.map_err(no_thread)?);
        }
        if !here.clients.is_empty() {
            let pool = here.pool(0)?.with_patience(READY);
            pool.run_until(interrupt, divisi_node::Client::key_list)?;
        }
        Ok(here)
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The file of the configuration, for other processes.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.folder.path().join("mesh.toml")
    }

    /// The file of the identity of a client, from 0, for other processes.
    #[must_use]
    pub fn identity_file(&self, client: usize) -> Option<PathBuf> {
        let name = self.names.get(client)?;
        Some(self.folder.path().join(format!("client-{name}.key")))
    }

    /// The directory of all files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Connections of the client of that number, from 0.
    ///
    /// # Errors
    /// [`Failure`] if there is no such client.
    pub fn pool(&self, client: usize) -> Result<ClientPool, Failure> {
        let none = || usage(format!("there are {} clients: give a number from 0", self.clients.len()));
        let identity = Arc::clone(self.clients.get(client).ok_or_else(none)?);
        Ok(ClientPool::new(self.config.clone(), identity, Arc::new(Machine))?)
    }

    /// Stop the servers, and remove their files.
    ///
    /// # Errors
    /// [`Failure`] if a server failed.
    pub fn stop(mut self) -> Result<(), Failure> {
        self.end()
    }

    /// Whether the servers run in this process; they do not in one that was forked from it.
    #[must_use]
    pub fn are_here(&self) -> bool {
        self.process == std::process::id()
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.servers.iter().for_each(|server| server.stop_flag().store(true, Ordering::SeqCst));
        let died = |_| Err(Failure::unavailable("a server ended early: report this"));
        let ended = self.threads.drain(..).map(|thread| thread.join().unwrap_or_else(died));
        let ended: Vec<Result<(), Failure>> = ended.collect();
        ended.into_iter().collect()
    }
}

impl Drop for ServersHere {
    /// The files go when the servers, which write some, have ended.
    fn drop(&mut self) {
        if self.are_here() {
            let _ = self.end();
        } else {
            // there are no threads to wait for, and the files belong to the process that has the servers
            std::mem::take(&mut self.threads).into_iter().for_each(std::mem::forget);
            self.folder.disable_cleanup(true);
        }
    }
}
