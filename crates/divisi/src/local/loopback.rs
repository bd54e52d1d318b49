//! The mesh of the parties of one command, on loopback: their ports and identities.

use super::{Pipes, PrivateDir, Processes};
use crate::failure::Failure;
use divisi_net::{Config, Identity, Listener, Machine, Mesh, Options, PartyId};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The data that a party needs to join the others.
#[derive(Clone, Serialize, Deserialize)]
pub struct PartyEndpoint {
    me: u8,
    /// The directory of the command.
    folder: String,
    config: String,
    /// The file of this party's identity.
    identity: String,
}

fn usage(e: impl ToString) -> Failure {
    Failure::usage(e.to_string())
}

/// Make an endpoint for each process, once all have reported their ports. The identities are new, and are in
/// the command's directory.
///
/// # Errors
/// [`Failure`] if a party does not report its port in time, or a file cannot be written.
pub fn endpoints(
    processes: &mut Processes,
    folder: &PrivateDir,
    step: &str,
    within: Duration,
) -> Result<Vec<PartyEndpoint>, Failure> {
    let ports: Vec<u16> = processes.reports(step, within)?;
    let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let made = Config::create(hosts.len(), &hosts, &[], &Machine).map_err(usage)?;
    let endpoint = |(party, identity): (PartyId, &Identity)| {
        let path = folder.path().join(format!("party-{}.key", party.number()));
        identity.save(&path).map_err(usage)?;
        Ok(PartyEndpoint {
            me: party.number(),
            folder: folder.path().display().to_string(),
            config: made.config.to_toml(),
            identity: path.display().to_string(),
        })
    };
    PartyId::all(hosts.len()).zip(&made.parties).map(endpoint).collect()
}

/// Listen on a free port, and report it to the process that started this one.
///
/// # Errors
/// [`Failure`] if no port is free.
pub fn listen(pipes: &Pipes) -> Result<TcpListener, Failure> {
    let no_port = |e: std::io::Error| {
        Failure::unavailable(format!(
            "no port of 127.0.0.1 is free ({e}): check that the loopback network is up"
        ))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(no_port)?;
    pipes.report(Ok(listener.local_addr().map_err(no_port)?.port()))?;
    Ok(listener)
}

impl PartyEndpoint {
    /// The number of this party.
    ///
    /// # Errors
    /// [`Failure`] if the endpoint comes from another version of the program.
    pub fn me(&self) -> Result<PartyId, Failure> {
        PartyId::new(self.me).ok_or_else(|| usage("there is no party 0: parties are numbered from 1"))
    }

    /// Join the other parties: the mesh, and the listener that it was made with, which must be kept.
    ///
    /// # Errors
    /// [`Failure`] if they cannot be reached in time. All processes run already when they learn of each
    /// other, so only a busy machine delays them.
    pub fn join(
        &self,
        pipes: &Pipes,
        listener: TcpListener,
        options: &Options,
        within: Duration,
    ) -> Result<(Listener, Arc<Mesh>), Failure> {
        pipes.leave_no(Path::new(&self.folder));
        let me = self.me()?;
        let config = Config::parse(&self.config).map_err(usage)?;
        let identity = Identity::load(Path::new(&self.identity)).map_err(usage)?;
        let within = config.connect().min(within);
        let listener =
            Listener::open_at(listener, config, me, Arc::new(identity), Arc::new(Machine)).map_err(usage)?;
        let mesh = join(&listener, within, options)?;
        Ok((listener, mesh))
    }
}

/// Join the other parties of the listener's configuration.
///
/// # Errors
/// [`Failure`] that names a party that cannot be reached in time.
pub fn join(listener: &Listener, within: Duration, options: &Options) -> Result<Arc<Mesh>, Failure> {
    let mesh = Mesh::join_with(listener, within, options).map_err(|e| {
        let failure = Failure::unavailable(e.to_string()).at(e.step().to_string());
        match e.peer() {
            Some(peer) => failure.with_peer(peer),
            None => failure,
        }
    })?;
    Ok(Arc::new(mesh))
}
