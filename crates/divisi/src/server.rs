//! One of the three servers as a program, with its signals and its log; or as a process of a command that
//! runs all three.

use crate::failure::Failure;
use crate::local::{Pipes, Usage, loopback};
use crate::log::Log;
use divisi_net::{Config, Identity, Machine, PartyId, World};
use divisi_node::{RoundsChoice, Server, ServerOptions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The role of a process that is a server of a command.
pub const ROLE: &str = "server";

/// How long the end of a server waits for its log to be written.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The options of a server.
#[derive(Clone, Debug)]
pub struct Description {
    /// The path of the configuration, which is read again on SIGHUP.
    pub config: PathBuf,
    /// The number of the party.
    pub party: PartyId,
    /// The path of the identity.
    pub identity: PathBuf,
    /// The directory of its keys.
    pub data: PathBuf,
    /// The address on which it listens, if it is not the configuration's.
    pub listen: Option<String>,
    /// How long a receive waits for a message, if it differs from the configuration.
    pub timeout: Option<Duration>,
    /// How programs of hashes and MACs run, in the rounds that this server leads.
    pub rounds: RoundsChoice,
    /// Whether the operator says that the store of keys is new.
    pub new_store: bool,
    /// Whether the log has a JSON object on each line.
    pub json: bool,
}

fn usage(e: impl ToString) -> Failure {
    Failure::usage(e.to_string())
}

/// Run a server until SIGTERM or SIGINT. Its log goes to standard error, a line a request.
///
/// # Errors
/// [`Failure`] if it cannot start.
pub fn run(description: &Description) -> Result<(), Failure> {
    let config = Config::load(&description.config).map_err(usage)?;
    let identity = Arc::new(Identity::load(&description.identity).map_err(usage)?);
    // Checked here so that the error speaks of the configuration, and before anything is written to the disk.
    config.check_identity(description.party, &identity).map_err(usage)?;
    let me = description.party;
    let log = logger(me, description.json)?;
    let (written, last) = (log.clone(), log);
    let log: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(move |line| written.line(line));
    let options = ServerOptions {
        listen: description.listen.clone(),
        timeout: description.timeout,
        rounds: description.rounds,
        new_store: description.new_store,
        log: log.clone(),
        ..ServerOptions::default()
    };
    let world: Arc<dyn World> = Arc::new(Machine);
    raise_descriptors();
    let server = Server::open(config, me, identity, &description.data, options, world).map_err(usage)?;
    for trouble in server.troubles_of_keys().map_err(usage)? {
        log(&format!("one key is refused, all others can be used: {trouble}"));
    }
    let server = Arc::new(server);
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])
        .map_err(|e| Failure::unavailable(format!("signals cannot be handled ({e}): try again")))?;
    log(&format!("listens at {} for the other servers and for clients, on this port only", server.address()));
    let (stop, reloaded, path) = (server.stop_flag(), Arc::clone(&server), description.config.clone());
    let attend = move || {
        for signal in signals.forever() {
            if signal != SIGHUP {
                log("stops");
                stop.store(true, Ordering::SeqCst);
                break;
            }
            let fresh = Config::load(&path).map_err(|e| e.to_string());
            match fresh.and_then(|config| reloaded.reload(config).map_err(|e| e.to_string())) {
                Ok(changes) => {
                    let none = if changes.is_empty() { ", in which nothing has changed" } else { "" };
                    changes.iter().for_each(|change| log(&format!("the configuration changes: {change}")));
                    log(&format!("took over {} again{none}", path.display()));
                }
                Err(e) => log(&format!("keeps its old configuration: {e}")),
            }
        }
    };
    let thread = std::thread::Builder::new().name("signals".into()).spawn(attend);
    thread.map_err(|e| Failure::unavailable(format!("no thread can be started ({e}): free some memory")))?;
    let ended = server.run().map_err(|e| Failure::unavailable(e.to_string()));
    last.flush(LAST_LINES);
    ended
}

/// Raise the limit of open descriptors to the most that the system allows without privileges: a connection or
/// a handshake takes one or two.
pub(crate) fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // with fewer descriptors the server serves fewer connections at a time
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn logger(me: PartyId, json: bool) -> Result<Log, Failure> {
    let failed = |e| Failure::unavailable(format!("no thread can be started ({e}): free some memory"));
    let log = if json { Log::json } else { Log::new };
    log(me, std::io::stderr()).map_err(failed)
}

/// The first message to a server that a command starts.
#[derive(Serialize, Deserialize)]
pub(crate) struct ServerLaunch {
    pub me: u8,
    pub folder: String,
    pub config: String,
    pub identity: String,
    pub data: String,
    pub timeout_ms: Option<u64>,
}

/// A request of the command that started a server to that server.
#[derive(Serialize, Deserialize)]
pub(crate) enum Order {
    /// Report the resources used so far, as [`Usage`].
    Usage,
}

/// Act as a server of a command, on a free port, until the process that started it has ended.
///
/// # Errors
/// [`Failure`] if it cannot start, which is also reported.
pub fn run_party() -> Result<(), Failure> {
    let pipes = Arc::new(Pipes::take()?);
    let served = serve(&pipes);
    if let Err(failure) = &served {
        // The process that started this one may be gone.
        let _ = pipes.report::<()>(Err(failure.clone()));
    }
    served
}

fn serve(pipes: &Arc<Pipes>) -> Result<(), Failure> {
    raise_descriptors();
    let listener = loopback::listen(pipes)?;
    let launch: ServerLaunch = pipes.order()?;
    pipes.leave_no(Path::new(&launch.folder));
    let me =
        PartyId::new(launch.me).ok_or_else(|| usage("there is no party 0: parties are numbered from 1"))?;
    let config = Config::parse(&launch.config).map_err(usage)?;
    let identity = Arc::new(Identity::load(Path::new(&launch.identity)).map_err(usage)?);
    let log = logger(me, false)?;
    let options = ServerOptions {
        timeout: launch.timeout_ms.map(Duration::from_millis),
        log: Arc::new(move |line| log.line(line)),
        ..ServerOptions::default()
    };
    let (data, world) = (PathBuf::from(&launch.data), Arc::new(Machine));
    let server = Server::open_at(listener, config, me, identity, &data, options, world).map_err(usage)?;
    pipes.report(Ok(()))?;
    let asked = Arc::clone(pipes);
    let tell = move || {
        while let Ok(Order::Usage) = asked.order() {
            if asked.report(Ok(Usage::now())).is_err() {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("usage".into()).spawn(tell);
    thread.map_err(|e| Failure::unavailable(format!("no thread can be started ({e}): free some memory")))?;
    server.run().map_err(|e| Failure::unavailable(e.to_string()))
}
