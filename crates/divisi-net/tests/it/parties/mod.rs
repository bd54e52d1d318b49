//! Parties for the tests: meshes over memory and over TLS on free ports of this machine.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_net::{
    Channel, Config, Connection, ConnectionError, Fault, Identity, Listener, Machine, Mesh, Options, PartyId,
    World, memory,
};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

pub fn p(number: u8) -> PartyId {
    PartyId::new(number).unwrap()
}

pub fn world() -> Arc<dyn World> {
    Arc::new(Machine)
}

/// What `mesh new` would make, on free ports, with the listeners that hold them.
pub struct Site {
    pub config: Config,
    pub identities: Vec<Arc<Identity>>,
    pub clients: Vec<Arc<Identity>>,
    pub listeners: Vec<TcpListener>,
}

pub fn site(n: usize, clients: &[&str]) -> Site {
    let listeners: Vec<_> = (0..n).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts: Vec<_> = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    let clients: Vec<String> = clients.iter().map(|c| c.to_string()).collect();
    let made = Config::create(n, &hosts, &clients, &Machine).unwrap();
    let shared = |all: Vec<Identity>| all.into_iter().map(Arc::new).collect();
    Site { config: made.config, identities: shared(made.parties), clients: shared(made.clients), listeners }
}

impl Site {
    pub fn listener(&self, i: usize) -> Listener {
        self.listener_with(i, &self.config, &self.identities[i])
    }

    /// The same by another configuration, and with another identity.
    pub fn listener_with(&self, i: usize, config: &Config, identity: &Arc<Identity>) -> Listener {
        let listener = self.listeners[i].try_clone().unwrap();
        let me = PartyId::from_index(i).unwrap();
        Listener::open_at(listener, config.clone(), me, identity.clone(), world()).unwrap()
    }

    /// Connect to the first party.
    pub fn dial(&self, identity: &Identity, within: Duration) -> Result<Connection, ConnectionError> {
        Connection::dial(&self.config, PartyId::P1, identity, &world(), within)
    }

    pub fn listeners(&self) -> Vec<Listener> {
        (0..self.listeners.len()).map(|i| self.listener(i)).collect()
    }
}

pub fn join_all(listeners: &[Listener], options: &Options) -> Vec<Mesh> {
    std::thread::scope(|s| {
        let join =
            |listener| s.spawn(move || Mesh::join_with(listener, Duration::from_secs(20), options).unwrap());
        let threads: Vec<_> = listeners.iter().map(join).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

pub fn tls(n: usize, options: &Options) -> Vec<Mesh> {
    join_all(&site(n, &[]).listeners(), options)
}

/// Both kinds of mesh.
pub fn both(n: usize, options: &Options) -> [Vec<Mesh>; 2] {
    [memory::mesh_with(n, options, world()), tls(n, options)]
}

/// Runs each party in its own thread. The results are in the parties' order.
pub fn run<T: Send>(meshes: &[Mesh], f: impl Fn(&Mesh) -> T + Sync) -> Vec<T> {
    std::thread::scope(|s| {
        let threads: Vec<_> = meshes.iter().map(|m| s.spawn(|| f(m))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

/// Bytes that depend on sender, receiver and position.
pub fn pattern(from: PartyId, to: PartyId, len: usize) -> Vec<u8> {
    let start = usize::from(from.number()) * 31 + usize::from(to.number()) * 7;
    (0..len).map(|i| (start + i + (i >> 8)) as u8).collect()
}

pub fn receive(c: &Channel, from: PartyId, step: divisi_net::Step, len: usize) -> Result<Vec<u8>, Fault> {
    let mut body = vec![0; len];
    c.recv(from, step, &mut body)?;
    Ok(body)
}
