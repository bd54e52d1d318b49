//! Dialling a party, and the exchange of greetings.

use crate::config::Config;
use crate::hello::{HELLO, Hello, VERSIONS, Verdict};
use crate::identity::Identity;
use crate::interrupt::Interrupt;
use crate::trouble::Trouble;
use crate::wire::{Broken, Wire};
use crate::world::World;
use crate::{PartyId, tls};
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long one address may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(3);
/// How long the handshake of TLS may take.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(5);

/// Connects to a party and proves both identities.
pub(crate) fn dial(
    config: &Config,
    to: PartyId,
    identity: &Identity,
    world: &Arc<dyn World>,
    until: Instant,
    interrupt: &Interrupt,
) -> Result<Wire, Trouble> {
    let unreachable = |address: &str, error: String| Trouble::Unreachable { address: address.into(), error };
    let party = config.party(to).map_err(|e| unreachable("no address", e.to_string()))?;
    let (address, pinned, own) = (party.address.as_str(), party.pin.fingerprint(), identity.fingerprint());
    let found = resolve(address, world, until, interrupt).map_err(|e| unreachable(address, e))?;
    let socket = connect_to_any(found, world, until, interrupt).map_err(|e| unreachable(address, e))?;
    let begun = tls::dialler(identity, Box::new(move |shown| shown == pinned), world)
        .map_err(|e| Trouble::NotDivisi { what: e.to_string() })?;
    let limit = until.min(world.now() + HANDSHAKE);
    Wire::establish_for(interrupt, socket, begun, world.clone(), limit, HANDSHAKE, limit)
        .map_err(|e| Trouble::from_broken(e, pinned, own))
}

/// The addresses of `host:port`. The system's look-up knows no time limit, so that it runs in a thread that
/// may be left behind.
fn resolve(
    address: &str,
    world: &Arc<dyn World>,
    until: Instant,
    interrupt: &Interrupt,
) -> Result<Vec<SocketAddr>, String> {
    if let Ok(number) = address.parse() {
        return Ok(vec![number]);
    }
    let (tell, told) = channel();
    let name = address.to_owned();
    let look_up = move || {
        let found = name.to_socket_addrs().map(Iterator::collect).map_err(|e| e.to_string());
        // an error means that the caller waits no more
        let _ = tell.send(found);
    };
    world.spawn(format!("look-up of {address}"), Box::new(look_up)).map_err(|e| e.to_string())?;
    let left = until.saturating_duration_since(world.now());
    awaited(&told, left, &**world, interrupt)
        .unwrap_or_else(|| Err("its host name was not resolved in time".into()))
}

/// A connection with the first of these addresses that accepts one.
fn connect_to_any(
    found: Vec<SocketAddr>,
    world: &Arc<dyn World>,
    until: Instant,
    interrupt: &Interrupt,
) -> Result<TcpStream, String> {
    let mut error = "the name has no address".to_owned();
    for place in found {
        let left = until.saturating_duration_since(world.now()).min(CONNECT).max(Duration::from_millis(1));
        match connect(place, left, world, interrupt) {
            Ok(socket) => return Ok(socket),
            Err(e) => error = e.to_string(),
        }
    }
    Err(error)
}

/// A connection with this address. The system's call cannot be ended early, so that it runs in a thread that
/// may be left behind if its caller may want to wait no more.
fn connect(
    place: SocketAddr,
    left: Duration,
    world: &Arc<dyn World>,
    interrupt: &Interrupt,
) -> io::Result<TcpStream> {
    if interrupt.is_never() {
        return TcpStream::connect_timeout(&place, left);
    }
    let (tell, told) = channel();
    let dial = move || {
        // an error means that the caller waits no more
        let _ = tell.send(TcpStream::connect_timeout(&place, left));
    };
    world.spawn(format!("dial to {place}"), Box::new(dial))?;
    let limit = left.saturating_add(Duration::from_millis(100));
    awaited(&told, limit, &**world, interrupt).unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))
}

/// What another thread tells, if it does so in time and the caller still waits.
fn awaited<T>(told: &Receiver<T>, left: Duration, world: &dyn World, interrupt: &Interrupt) -> Option<T> {
    let begun = world.now();
    loop {
        let now = world.now();
        let left = left.saturating_sub(now.saturating_duration_since(begun));
        match told.recv_timeout(interrupt.slice(left)) {
            Ok(found) => return Some(found),
            Err(RecvTimeoutError::Timeout) if !left.is_zero() && !interrupt.is_due_at(world.now()) => {}
            Err(_) => return None,
        }
    }
}

/// Greets the accepting end and returns its greeting, if it is a welcome.
pub(crate) fn greet(
    wire: &mut Wire,
    own: &Hello,
    identity: &Identity,
    until: Instant,
) -> Result<Hello, Trouble> {
    let answer = ask(wire, own, identity, until)?;
    match answer.verdict {
        Verdict::Fine if answer.to == own.me && answer.me == own.to => Ok(answer),
        Verdict::Fine | Verdict::NotMe => Err(Trouble::NotIt),
        Verdict::Version => Err(version(&answer)),
        Verdict::Digest => Err(Trouble::Digest { ours: own.digest.parties, theirs: answer.digest.parties }),
        Verdict::Emulation => Err(Trouble::Emulation),
        Verdict::Role => Err(Trouble::Refused { own: identity.fingerprint() }),
        Verdict::Busy => Err(Trouble::Busy),
    }
}

/// Greets the accepting end and returns its greeting, whatever it says.
pub(crate) fn ask(
    wire: &mut Wire,
    own: &Hello,
    identity: &Identity,
    until: Instant,
) -> Result<Hello, Trouble> {
    let trouble = |e, wire: &Wire| Trouble::from_broken(e, wire.peer(), identity.fingerprint());
    match wire.write_all(&own.encode(), until) {
        // The alert that says why may still be there to read.
        Ok(()) | Err(Broken::Closed) => {}
        Err(e) => return Err(trouble(e, wire)),
    }
    let answer = receive(wire, until).map_err(|e| trouble(e, wire))?;
    match answer {
        Some(answer) if answer.echo == own.nonce => Ok(answer),
        _ => Err(Trouble::NotDivisi { what: "its greeting is wrong".into() }),
    }
}

/// Reads a greeting.
pub(crate) fn receive(wire: &mut Wire, until: Instant) -> Result<Option<Hello>, Broken> {
    let mut bytes = [0; HELLO];
    wire.read_exact(&mut bytes, until)?;
    Ok(Hello::decode(&bytes))
}

pub(crate) fn version(theirs: &Hello) -> Trouble {
    Trouble::Version { ours: (*VERSIONS.start(), *VERSIONS.end()), theirs: theirs.versions }
}

#[cfg(test)]
mod tests;
