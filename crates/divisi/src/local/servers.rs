//! Three servers as three processes of this machine, joined by TLS over loopback, with fresh identities for
//! them and their clients.
//!
//! They run the code of `divisi server`, on free ports, with their keys in the directory of the command. This
//! protects nothing: the user who runs the command can read all of it.

use super::{PartyProgram, PrivateDir, Processes, Usage};
use crate::cleanup::Cleanup;
use crate::failure::{Failure, Kind};
use crate::server::{Order, ROLE, ServerLaunch};
use divisi_net::{Config, Identity, Machine, PartyId};
use divisi_node::{Client, NewKey};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of servers.
pub const SERVERS: usize = 3;
/// How long the servers may take to find each other.
const READY: Duration = Duration::from_secs(30);
/// How long a server may take to end.
const END: Duration = Duration::from_secs(5);
/// How long a server may take to answer how much it has used.
const ANSWER: Duration = Duration::from_secs(10);
/// How long a client waits before it repeats a request to servers that have not found each other yet.
const AGAIN: Duration = Duration::from_millis(50);

/// Three running servers. They are ended when this is dropped.
pub struct Servers {
    processes: Processes,
    begun: Instant,
    /// The configuration for clients, with the given time limit.
    pub config: Config,
    /// The identities of the named clients, in order.
    pub clients: Vec<Identity>,
}

/// The times of the first key.
#[derive(Clone, Copy, Debug)]
pub struct FirstKey {
    /// Seconds from the start of the first process until the servers serve.
    pub start_seconds: f64,
    /// Seconds to make the key itself.
    pub key_seconds: f64,
}

impl Servers {
    /// Start the servers, with these clients in their configuration. Identities and keys are in the directory
    /// `folder`; `timeout` limits how long a receive waits. The servers may still be connecting: see
    /// [`Servers::first_key`].
    ///
    /// # Errors
    /// [`Failure`] if a process cannot be started, or reports that it cannot serve.
    pub fn start(
        program: &PartyProgram,
        folder: &PrivateDir,
        clients: &[String],
        timeout: Option<Duration>,
        cleanup: &Cleanup,
    ) -> Result<Servers, Failure> {
        let usage = |e: String| Failure::usage(e);
        let begun = Instant::now();
        let mut processes = Processes::start(program, ROLE, SERVERS, cleanup)?;
        let ports: Vec<u16> = processes.reports("servers/listen", READY)?;
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let made = Config::create(SERVERS, &hosts, clients, &Machine).map_err(|e| usage(e.to_string()))?;
        for (party, identity) in PartyId::all(SERVERS).zip(&made.parties) {
            let path = |what: &str| folder.path().join(format!("{what}-{}", party.number()));
            identity.save(&path("identity")).map_err(|e| usage(e.to_string()))?;
            let launch = ServerLaunch {
                me: party.number(),
                folder: folder.path().display().to_string(),
                config: made.config.to_toml(),
                identity: path("identity").display().to_string(),
                data: path("data").display().to_string(),
                timeout_ms: timeout.map(|timeout| timeout.as_millis() as u64),
            };
            processes.order(party, &launch)?;
        }
        processes.reports::<()>("servers/open", READY)?;
        let config = match timeout {
            Some(timeout) => made.config.with_timeout(timeout),
            None => made.config,
        };
        Ok(Servers { processes, begun, config, clients: made.clients })
    }

    /// Connect as the client of that number, from 0, by `config`: the servers' configuration, or one with
    /// other addresses.
    ///
    /// # Errors
    /// [`Failure`] if there is no such client, or a server cannot be reached.
    pub fn connect(&self, config: &Config, client: usize) -> Result<Client, Failure> {
        let identity = self.clients.get(client);
        let identity =
            identity.ok_or_else(|| Failure::usage("no identity was made for a client: try again"))?;
        Ok(Client::connect(config, identity, Arc::new(Machine))?)
    }

    /// Make the first key, as soon as the servers have connected to each other.
    ///
    /// # Errors
    /// [`Failure`] if they do not connect in time, or refuse.
    pub fn first_key(&self, client: &mut Client, new: &NewKey) -> Result<FirstKey, Failure> {
        loop {
            let start = Instant::now();
            match client.key_new(new) {
                Ok(_) => {
                    return Ok(FirstKey {
                        start_seconds: start.duration_since(self.begun).as_secs_f64(),
                        key_seconds: start.elapsed().as_secs_f64(),
                    });
                }
                Err(e) => {
                    let failure = Failure::from(e);
                    if failure.kind != Kind::Unavailable || !failure.retry || self.begun.elapsed() > READY {
                        return Err(failure);
                    }
                }
            }
            std::thread::sleep(AGAIN);
        }
    }

    /// The resources that each server has used since its start.
    ///
    /// # Errors
    /// [`Failure`] if a server has ended or does not answer.
    pub fn usage(&mut self) -> Result<Vec<Usage>, Failure> {
        self.processes.order_all(&Order::Usage)?;
        self.processes.reports("servers/usage", ANSWER)
    }

    /// The cause of a client's failure: the failure of a server that has ended, if there is one.
    pub fn cause(&mut self, failure: Failure) -> Failure {
        self.usage().err().unwrap_or(failure)
    }

    /// End the servers.
    ///
    /// # Errors
    /// [`Failure`] if one of them does not end in time.
    pub fn close(self) -> Result<(), Failure> {
        self.processes.close(END)
    }
}
