//! One of the three servers as a program: its signals and its log; or as a process of a demonstration.

use crate::cleanup::lock;
use crate::failure::Failure;
use crate::local::Pipes;
use divisi_net::{Config, Identity, Machine, PartyId, World};
use divisi_node::{Server, ServerOptions};
use divisi_store::Keys;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The name by which a process learns that it is a server of a demonstration.
pub const ROLE: &str = "server";

/// A server as its operator describes it.
#[derive(Clone, Debug)]
pub struct Description {
    /// The configuration's file, read again on SIGHUP.
    pub config: PathBuf,
    /// Which party it is.
    pub party: PartyId,
    /// The identity's file.
    pub identity: PathBuf,
    /// The directory of its keys.
    pub data: PathBuf,
    /// The time limit of a receive, if not the configuration's.
    pub timeout: Option<Duration>,
}

fn usage(e: impl ToString) -> Failure {
    Failure::usage(e.to_string())
}

/// Run a server until SIGTERM or SIGINT. Its log goes to standard error, a line a request.
///
/// # Errors
/// If it cannot start.
pub fn run(description: &Description) -> Result<(), Failure> {
    let config = Config::load(&description.config).map_err(usage)?;
    let identity = Arc::new(Identity::load(&description.identity).map_err(usage)?);
    // In the words of the configuration, before anything is made on the disk.
    config.check_identity(description.party, &identity).map_err(usage)?;
    let me = description.party;
    let log = logger(me);
    let options =
        ServerOptions { timeout: description.timeout, log: log.clone(), ..ServerOptions::default() };
    let world: Arc<dyn World> = Arc::new(Machine);
    check_keys(&description.data)?;
    let server = Server::open(config, me, identity, &description.data, options, world).map_err(usage)?;
    let server = Arc::new(server);
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])
        .map_err(|e| Failure::unavailable(format!("signals cannot be handled ({e}): try again")))?;
    log(&format!(
        "listens at {} for the other servers and for clients, on this port alone",
        server.address()
    ));
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
                Ok(()) => log(&format!("took over {} again", path.display())),
                Err(e) => log(&format!("keeps the configuration it had: {e}")),
            }
        }
    };
    let thread = std::thread::Builder::new().name("signals".into()).spawn(attend);
    thread.map_err(|e| Failure::unavailable(format!("no thread can be started ({e}): free some memory")))?;
    server.run().map_err(|e| Failure::unavailable(e.to_string()))
}

/// That every key file can be read, and by nobody else: told when the server starts, not when a client needs the key.
fn check_keys(data: &Path) -> Result<(), Failure> {
    let keys = Keys::open(&data.join("keys")).map_err(usage)?;
    keys.names().map_err(usage)?.iter().try_for_each(|name| keys.load(name).map(drop).map_err(usage))
}

/// Lines on standard error, each with the time and the party; a closed standard error stops no server.
fn logger(me: PartyId) -> Arc<dyn Fn(&str) + Send + Sync> {
    let out = Mutex::new(std::io::stderr());
    Arc::new(move |line: &str| {
        let time = utc(Machine.unix_time().as_secs());
        let _ = writeln!(lock(&out), "{time} {me}: {line}");
    })
}

/// A time since 1970 as RFC 3339 writes it.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March have their odd day last, and 146,097 days are 400 of them.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// What a server of a demonstration learns.
#[derive(Serialize, Deserialize)]
pub(crate) struct Plan {
    pub me: u8,
    pub room: String,
    pub config: String,
    pub identity: String,
    pub data: String,
    pub timeout_ms: Option<u64>,
}

/// Be a server of a demonstration, on a free port, until whoever started it is gone.
///
/// # Errors
/// If it cannot start; it is reported, too.
pub fn run_party() -> Result<(), Failure> {
    let pipes = Pipes::take()?;
    let served = serve(&pipes);
    if let Err(failure) = &served {
        // Nobody may be there to be told.
        let _ = pipes.report::<()>(Err(failure.clone()));
    }
    served
}

fn serve(pipes: &Pipes) -> Result<(), Failure> {
    let no_port = |e: std::io::Error| {
        Failure::unavailable(format!(
            "no port of 127.0.0.1 is free ({e}): see that the loopback network is up"
        ))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(no_port)?;
    pipes.report(Ok(listener.local_addr().map_err(no_port)?.port()))?;
    let plan: Plan = pipes.order()?;
    pipes.leave_no(Path::new(&plan.room));
    let me =
        PartyId::new(plan.me).ok_or_else(|| usage("there is no party 0: parties are numbered from 1"))?;
    let config = Config::parse(&plan.config).map_err(usage)?;
    let identity = Arc::new(Identity::load(Path::new(&plan.identity)).map_err(usage)?);
    let options = ServerOptions {
        timeout: plan.timeout_ms.map(Duration::from_millis),
        log: logger(me),
        ..ServerOptions::default()
    };
    let (data, world) = (PathBuf::from(&plan.data), Arc::new(Machine));
    let server = Server::open_at(listener, config, me, identity, &data, options, world).map_err(usage)?;
    pipes.report(Ok(()))?;
    server.run().map_err(|e| Failure::unavailable(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_799, "2024-02-28T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }
}
