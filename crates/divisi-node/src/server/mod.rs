//! A server: one of the three that hold the keys' shares.
//!
//! Threads: one accepts clients ([`listener`]), one for each connection talks with its client
//! ([`connection`]), one computes with the other two servers ([`dispatch`], in the thread that runs the
//! server). They share the [`intake`], which only decides: whose turn it is ([`plan`], [`turns`]), what each
//! request needs ([`script`]), which client has reached a limit ([`limits`]). The computing thread owns the
//! session and does round after round. When a session ends by an abort, it tells all waiting clients, wipes
//! what the session had made, and the servers connect again after a pause that grows while aborts are
//! frequent: an adversary that could learn something from each abort gets few of them, and the log has a line
//! for each.
//!
//! A request is done step by step, with steps of other requests in between. No step begins before all its
//! messages are here, so that a slow client delays nobody else.
//!
//! Steps are spelled out here, and not named by their module (`step!`): their names go into the frames and the
//! comparisons of the servers and into the failures that clients report, and must not change when code moves.

mod call;
mod clients;
mod compared;
mod connection;
mod digest;
mod dispatch;
#[cfg(test)]
mod fuzz;
mod given;
mod in_force;
mod intake;
mod keys;
mod limits;
mod listener;
mod node;
mod operator_socket;
mod operators;
mod orders;
mod plan;
mod ready;
mod reload;
mod round;
#[cfg(test)]
mod schedules;
mod script;
mod shared;
mod shorts;
mod slots;
mod state;
mod stores;
mod text;
mod trips;
mod turn;
mod turns;
mod whole;
mod work;

pub use digest::least_tag;
use limits::Allowances;
pub use limits::Limits;
pub(crate) use node::Node;
pub use operators::{Deed, Order, OrderState};

use crate::admit::{Admit, Lists};
use crate::error::{ErrorKind, Failed};
use crate::operator;
use dispatch::Ended;
use divisi_core::{PartyId, Step};
use divisi_net::{Config, Identity, Listener, Mesh, Options, Permits, World};
use divisi_rep3::RoundsChoice;
use divisi_store::StoredKeys;
use in_force::MeshInForce;
use intake::Intake;
use operator_socket::OperatorSocket;
use operators::Orders;
use script::Shape;
use shared::SharedIntake;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const JOIN: Step = Step::new("divisi_node::server/join");

/// The duration of one attempt to join the other servers. Clients that wait during it get an answer after it.
const ATTEMPT: Duration = Duration::from_secs(3);
/// The shortest time between the beginnings of two attempts.
const AGAIN: Duration = Duration::from_secs(1);
/// The shortest and the longest pause after a session that ended by an abort.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
/// How long a session must have lasted for the pause to be short again.
const STEADY: Duration = Duration::from_secs(10);

/// The options of a server.
#[derive(Clone)]
pub struct ServerOptions {
    /// The address on which it listens, `host:port`, if it is not the configuration's: behind address
    /// translation others reach the server at another address.
    pub listen: Option<String>,
    /// How long a receive waits for a message, if it differs from the configuration.
    pub timeout: Option<Duration>,
    /// The number of threads that may compute at the same time; `None` for no limit.
    pub threads: Option<usize>,
    /// Decides which client may do what.
    pub admit: Arc<dyn Admit>,
    /// The limits of each client, where the configuration sets none.
    pub limits: Limits,
    /// How long requests under way have to end when the server is told to stop.
    pub ending: Duration,
    /// How long an order of its operator waits for the operators of the others.
    pub orders: Duration,
    /// How the programs of hashes, MACs and modes of chained blocks run: this server proposes it in the
    /// rounds that it leads, and goes along with what the others propose in theirs. Both promise the same
    /// against the same adversary; level by level has 128 bits of computational security, constant rounds
    /// have 117.
    pub rounds: RoundsChoice,
    /// Whether the operator says that the store of keys is new. Without it a server whose store is empty
    /// serves nothing while the others have keys.
    pub new_store: bool,
    /// Takes each line of the log. No line holds a secret.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
    /// Changes the messages of a corrupt server of a test to the others.
    #[cfg(test)]
    pub(crate) hand: Option<Arc<dyn Fn(&Mesh) + Send + Sync>>,
    /// The client that a corrupt server of a test never serves when it leads.
    #[cfg(test)]
    pub(crate) passes_over: Option<(PartyId, &'static str)>,
    /// The interval at which refused handshakes are logged, if it is not a minute.
    #[cfg(test)]
    pub(crate) minute: Option<Duration>,
    /// The simulated disk of one server.
    #[cfg(test)]
    pub(crate) disk: Option<(PartyId, crate::tests::TestDisk)>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            listen: None,
            timeout: None,
            threads: None,
            admit: Arc::new(Lists),
            limits: Limits::default(),
            ending: Duration::from_secs(10),
            orders: Duration::from_secs(3600),
            rounds: RoundsChoice::default(),
            new_store: false,
            log: Arc::new(|_| {}),
            #[cfg(test)]
            hand: None,
            #[cfg(test)]
            passes_over: None,
            #[cfg(test)]
            minute: None,
            #[cfg(test)]
            disk: None,
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

/// One of the three servers.
pub struct Server {
    node: Arc<Node>,
    /// The socket for its operator, until [`Server::run`] takes it.
    operator_socket: Mutex<Option<OperatorSocket>>,
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
        let config = listener.config();
        let timeout = options.timeout.unwrap_or_else(|| config.timeout());
        let parties = MeshInForce::of(&config);
        let limits = Allowances::of_config(&config, &options.limits);
        let intake = Intake::new(listener.me(), Shape::STANDARD, limits, timeout);
        let orders = Mutex::new(Orders::new(listener.me(), options.orders));
        let node = Node {
            me: listener.me(),
            joined: Mutex::new(parties.digest),
            mesh: Mutex::new(parties),
            keys,
            stores: Mutex::default(),
            new_store: stores::mark(data),
            admit: options.admit.clone(),
            shared: Arc::new(SharedIntake::new(world, intake)),
            options,
            stop: Arc::default(),
            orders,
            lists: Mutex::new((config.digest().clients, [(false, None); 3])),
            ended: Arc::default(),
            listener,
        };
        node.tell_status(Vec::new(), "it has not joined the other servers yet".into());
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

    /// Serve until stopped.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn run(&self) -> Result<(), ServerError> {
        let node = &*self.node;
        let world = node.shared.world.clone();
        let (ended, end) = channel();
        let inside = self.node.clone();
        let accepting = world
            .spawn(format!("clients of {}", node.me), Box::new(move || listener::accept(&inside, &ended)));
        accepting.map_err(|e| ServerError(format!("no thread can be started ({e}): free some memory")))?;
        if let Some(socket) = self.operator_socket.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let inside = self.node.clone();
            let attending = move || operator_socket::attend(&inside, &socket);
            if world.spawn(format!("operator of {}", node.me), Box::new(attending)).is_err() {
                node.log("operators cannot give orders here: no thread can be started");
            }
        }
        let mut pause = PAUSE.0;
        let mut told = String::new();
        while !node.stop.load(Ordering::SeqCst) {
            let permits = node.options.threads.map_or_else(Permits::unlimited, Permits::new);
            let options = Options { timeout: node.timeout(), permits, ..Options::default() };
            let begun = world.now();
            // what is joined belongs to the parties of now, and ends when these change
            let parties = node.mesh();
            let wait = match Mesh::join_with(&node.listener, ATTEMPT.min(node.config().connect()), &options) {
                Ok(mesh) => {
                    told.clear();
                    let joined = world.now();
                    match self.session(mesh, &parties) {
                        Err(Ended { abort, compared }) => {
                            node.log(&format!("session ended: {abort}"));
                            node.tell_status(Vec::new(), format!("its last session ended: {abort}"));
                            node.fail_all(&Failed::abort(node.me, &abort, compared));
                        }
                        Ok(()) => self.parties_changed(),
                    }
                    let steady = world.now().saturating_duration_since(joined) >= STEADY;
                    pause = if steady { PAUSE.0 } else { (pause * 2).min(PAUSE.1) };
                    pause
                }
                Err(e) => {
                    let message = e.to_string();
                    if message != told {
                        node.log(&format!("not joined: {message}"));
                        node.tell_status(Vec::new(), message.clone());
                        told.clone_from(&message);
                    }
                    node.fail_all(&Failed {
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
        node.shared.with(|intake, now| intake.close(now));
        node.ended.store(true, Ordering::SeqCst);
        node.tick();
        // the clients' threads send their last messages
        let _ = end.recv_timeout(Duration::from_secs(2));
        Ok(())
    }

    fn session(&self, mesh: Mesh, parties: &MeshInForce) -> Result<(), Ended> {
        #[cfg(test)]
        self.node.options.hand.iter().for_each(|hand| hand(&mesh));
        let mesh = Arc::new(mesh);
        let permit = mesh.permits().enter();
        let result = dispatch::serve(&self.node, &mesh, parties);
        drop(permit);
        result
    }
}

/// Check that a configuration has three servers, and that its limits name algorithms that servers have.
fn usable(config: &Config) -> Result<(), ServerError> {
    let n = config.parties().len();
    if n != 3 {
        return Err(ServerError(format!("keys are held by three servers, not {n}: make a mesh of 3")));
    }
    limits::known_names(config).map_err(ServerError)
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
        let failed = |e| ServerError(format!("{} cannot be written ({e}): free some room", path.display()));
        stores::write_mark(data).map_err(failed)?;
    }
    Ok(keys)
}
