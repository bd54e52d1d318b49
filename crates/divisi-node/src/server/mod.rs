//! A server: one of the three that hold the keys' shares.
//!
//! Threads: one accepts clients, one talks with each client (`line`), one computes with the other two servers (`session`,
//! in the thread that runs the server). The last owns the session and serves one request after another; when a session ends
//! by an abort, all who wait are told, what it had made is wiped, and the servers join anew, after a pause that grows while
//! aborts come fast: a party that could learn something from each abort gets few of them, and each is a line of the log.
//!
//! One request is served at a time, the clients taking turns. A client that is slow holds up those behind it, by half the
//! time limit a chunk at most, and by the time limit in all its request: what it takes while nobody waits is not counted.

mod desk;
mod digest;
mod keys;
mod line;
mod session;
mod text;
mod turn;

use crate::admit::{Admit, Lists, Who};
use crate::error::{ErrorKind, Failed};
use crate::request::ToClient;
use crate::wire::encode;
use desk::Desk;
use divisi_core::{Abort, PartyId, Step, step};
use divisi_net::{Config, Connection, Door, Identity, Mesh, Options, Peer, Permits, Refused, World};
use divisi_store::Keys;
use std::collections::HashMap;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const JOIN: Step = step!("join");
const KNOWN: Step = step!("known");
const BUSY: Step = step!("busy");

/// How long one attempt to join the others lasts: clients that wait meanwhile are told after it.
const ATTEMPT: Duration = Duration::from_secs(3);
/// The shortest time between the beginnings of two attempts.
const AGAIN: Duration = Duration::from_secs(1);
/// The shortest and the longest pause after a session that ended by an abort.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
/// How long a session must have lasted for the pause to be short again.
const STEADY: Duration = Duration::from_secs(10);
/// Connections at a time, of all clients and of any one; more are turned away.
const CONNECTIONS: (usize, usize) = (256, 32);
/// How often handshakes that came to nothing are told of.
const EVERY: Duration = Duration::from_secs(60);
/// How often the accepting thread looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// What a server is to be like.
#[derive(Clone)]
pub struct ServerOptions {
    /// Where it listens, `host:port`, if not at the configuration's address: others may come through a translated one.
    pub listen: Option<String>,
    /// The time limit of a receive, if not the configuration's.
    pub timeout: Option<Duration>,
    /// How many threads may compute at once; all that like if `None`.
    pub threads: Option<usize>,
    /// Who may do what.
    pub admit: Arc<dyn Admit>,
    /// Takes each line of the log. No line holds a secret.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            listen: None,
            timeout: None,
            threads: None,
            admit: Arc::new(Lists),
            log: Arc::new(|_| {}),
        }
    }
}

/// Why a server cannot run: one sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError(String);

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}

/// What a server's threads share.
pub(crate) struct Node {
    pub me: PartyId,
    /// A digest of who the parties are.
    pub mesh: [u8; 32],
    pub keys: Keys,
    pub admit: Arc<dyn Admit>,
    pub desk: Arc<Desk>,
    /// How long a client may take for what the others wait for, too.
    pub patience: Duration,
    /// How often the leader says that it is there.
    pub beat: Duration,
    pub options: ServerOptions,
    pub stop: Arc<AtomicBool>,
    /// Connections that have a thread, by client.
    attended: Attendance,
    door: Door,
}

impl Node {
    pub fn log(&self, line: &str) {
        (self.options.log)(line);
    }

    pub fn config(&self) -> Arc<Config> {
        self.door.config()
    }

    /// That a client is in the configuration, with the identity that it proved.
    pub fn knows(&self, who: &Who) -> Result<(), Failed> {
        let config = self.config();
        let known =
            |c: &divisi_net::Client| c.name == who.name && *c.pin.fingerprint().bytes() == who.fingerprint;
        if config.clients().iter().any(known) {
            return Ok(());
        }
        let message = format!("client {} is not in the configuration of {} any more", who.name, self.me);
        Err(Failed::refused(KNOWN, message))
    }
}

/// One of the three servers.
pub struct Server {
    node: Arc<Node>,
    timeout: Duration,
}

impl Server {
    /// Open party `me`'s port and its keys in `data`.
    ///
    /// # Errors
    /// If the configuration is not one of three parties, the identity is not the pinned one, the port is taken, or another
    /// process uses the data.
    pub fn open(
        config: Config,
        me: PartyId,
        identity: Arc<Identity>,
        data: &Path,
        options: ServerOptions,
        world: Arc<dyn World>,
    ) -> Result<Server, ServerError> {
        three(&config)?;
        // the port first: if it is taken, no directory is made
        let door = match &options.listen {
            Some(address) => Door::open_on(address, config, me, identity, world.clone()),
            None => Door::open(config, me, identity, world.clone()),
        };
        let door = door.map_err(|e| ServerError(e.to_string()))?;
        Ok(Server::with(door, open_keys(data)?, options, world))
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
        three(&config)?;
        let keys = open_keys(data)?;
        let door = Door::open_at(listener, config, me, identity, world.clone());
        Ok(Server::with(door.map_err(|e| ServerError(e.to_string()))?, keys, options, world))
    }

    fn with(door: Door, keys: Keys, options: ServerOptions, world: Arc<dyn World>) -> Server {
        let config = door.config();
        let timeout = options.timeout.unwrap_or_else(|| config.timeout());
        let mut mesh = blake3::Hasher::new_derive_key("divisi 2026 mesh of a key v1");
        config.parties().iter().for_each(|party| {
            mesh.update(party.pin.fingerprint().bytes());
        });
        let node = Node {
            me: door.me(),
            mesh: *mesh.finalize().as_bytes(),
            keys,
            admit: options.admit.clone(),
            desk: Arc::new(Desk::new(world)),
            // less than the time limit of the others, who wait for this server when it waits for a client
            patience: timeout / 2,
            beat: (timeout / 4).min(Duration::from_secs(1)),
            options,
            stop: Arc::default(),
            attended: Arc::default(),
            door,
        };
        Server { node: Arc::new(node), timeout }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.node.door.address()
    }

    /// What is wrong with the files of single keys, which are refused while all others are served.
    ///
    /// # Errors
    /// If the directory of keys cannot be read.
    pub fn troubles_of_keys(&self) -> Result<Vec<String>, ServerError> {
        self.node.keys.troubles().map_err(|e| ServerError(e.to_string()))
    }

    /// Put another configuration in force, from the next connection and the next request on.
    ///
    /// # Errors
    /// If this server is not the party that it was.
    pub fn reload(&self, config: Config) -> Result<(), ServerError> {
        three(&config)?;
        self.node.door.reload(config).map_err(|e| ServerError(e.to_string()))
    }

    /// What stops the server when it is set: at once, whatever is being served.
    #[must_use]
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.node.stop.clone()
    }

    /// Serve until stopped.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn run(&self) -> Result<(), ServerError> {
        let node = &*self.node;
        let world = node.desk.world.clone();
        let (ended, end) = channel();
        let inside = self.node.clone();
        let accepting =
            world.spawn(format!("clients of {}", node.me), Box::new(move || accept(&inside, &ended)));
        accepting.map_err(|e| ServerError(format!("no thread can be started ({e}): free some memory")))?;
        let mut pause = PAUSE.0;
        let mut told = String::new();
        while !node.stop.load(Ordering::SeqCst) {
            let permits = node.options.threads.map_or_else(Permits::unlimited, Permits::new);
            let options = Options { timeout: self.timeout, permits, ..Options::default() };
            let begun = world.now();
            let wait = match Mesh::join_with(&node.door, ATTEMPT.min(node.config().connect()), &options) {
                Ok(mesh) => {
                    node.log("joined the other servers");
                    told.clear();
                    let joined = world.now();
                    if let Err(abort) = self.session(mesh) {
                        node.log(&format!("session ended: {abort}"));
                        node.desk.fail_all(&Failed::abort(node.me, &abort));
                    }
                    let steady = world.now().saturating_duration_since(joined) >= STEADY;
                    pause = if steady { PAUSE.0 } else { (pause * 2).min(PAUSE.1) };
                    pause
                }
                Err(e) => {
                    let message = e.to_string();
                    if message != told {
                        node.log(&format!("not joined: {message}"));
                        told.clone_from(&message);
                    }
                    node.desk.fail_all(&Failed {
                        kind: ErrorKind::Unavailable,
                        retry: true,
                        peer: e.peer().map_or(0, PartyId::number),
                        ..Failed::refused(JOIN, format!("{} has not joined the others: {message}", node.me))
                    });
                    // attempts must overlap those of the others, but not follow each other without end
                    let lasted = world.now().saturating_duration_since(begun);
                    AGAIN.saturating_sub(lasted).max(PAUSE.0)
                }
            };
            // waits as long as the accepting thread lives
            if end.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        node.stop.store(true, Ordering::SeqCst);
        let _ = end.recv_timeout(Duration::from_secs(2));
        Ok(())
    }

    fn session(&self, mesh: Mesh) -> Result<(), Abort> {
        let mesh = Arc::new(mesh);
        let permit = mesh.permits().enter();
        let result = session::serve(&self.node, &mesh);
        drop(permit);
        result
    }
}

fn three(config: &Config) -> Result<(), ServerError> {
    let n = config.parties().len();
    if n == 3 {
        Ok(())
    } else {
        Err(ServerError(format!("keys are held by three servers, not {n}: make a mesh of 3")))
    }
}

fn open_keys(data: &Path) -> Result<Keys, ServerError> {
    Keys::open_in(data).map_err(|e| ServerError(e.to_string()))
}

/// The life of the accepting thread. Its end of the channel tells when it is over.
fn accept(node: &Arc<Node>, _ended: &Sender<()>) {
    let world = &node.desk.world;
    let mut told = world.now();
    while !node.stop.load(Ordering::SeqCst) {
        if world.now().saturating_duration_since(told) >= EVERY {
            told = world.now();
            tell_refused(node, node.door.take_refused());
        }
        let Some(connection) = node.door.next_client(LOOK) else { continue };
        let Some(who) = identity(node, &connection) else { continue };
        let Some(attended) = Attended::admit(&node.attended, &who.name) else {
            node.log(&format!("client {} was turned away: too many connections are open", who.name));
            turn_away(node.me, connection);
            continue;
        };
        let (desk, me, stop) = (node.desk.clone(), node.me, node.stop.clone());
        let name = format!("client {}", who.name);
        let work = move || {
            line::attend(&desk, connection, me, who, &stop);
            drop(attended);
        };
        if node.desk.world.spawn(name, Box::new(work)).is_err() {
            node.log("a client was turned away: no thread can be started");
        }
    }
}

fn tell_refused(node: &Node, refused: Refused) {
    let Refused { displaced, slow, unknown, broken } = refused;
    if refused.all() > 0 {
        node.log(&format!(
            "handshakes refused in the last minute: {displaced} gave way to newer ones, {slow} were too slow, {unknown} \
             showed an unknown identity, {broken} broke off or were none"
        ));
    }
}

/// Tell a client that there is no room for it now. What it is told fits into the socket's buffer: nobody is waited for.
fn turn_away(me: PartyId, mut connection: Connection) {
    let message = format!("{me} is busy with other connections: try again");
    let failed = Failed { kind: ErrorKind::Unavailable, retry: true, ..Failed::refused(BUSY, message) };
    let answer = ToClient::Failed(Failed { peer: me.number(), ..failed });
    if let Some(bytes) = encode(&answer, answer.body()) {
        // who is gone needs no answer
        let _ = connection.send(&bytes);
    }
}

/// Connections by client.
type Attendance = Arc<Mutex<HashMap<String, usize>>>;

/// Counts a connection while its thread lives.
struct Attended(Attendance, String);

impl Attended {
    fn admit(all: &Attendance, name: &str) -> Option<Attended> {
        let mut open = all.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, own) = (open.values().sum::<usize>(), open.get(name).copied().unwrap_or(0));
        if total >= CONNECTIONS.0 || own >= CONNECTIONS.1 {
            return None;
        }
        open.insert(name.to_owned(), own + 1);
        Some(Attended(all.clone(), name.to_owned()))
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.1) {
            *own = own.saturating_sub(1);
        }
        open.retain(|_, own| *own > 0);
    }
}

/// Who is at the other end, by the configuration in force.
fn identity(node: &Node, connection: &Connection) -> Option<Who> {
    let Peer::Client(name) = connection.peer() else { return None };
    let config = node.config();
    let client = config.clients().iter().find(|c| c.name == *name)?;
    Some(Who { name: name.clone(), fingerprint: *client.pin.fingerprint().bytes() })
}
