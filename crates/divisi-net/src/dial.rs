//! Dialling a party, and what each end makes of the other's greeting.

use crate::config::Config;
use crate::hello::{HELLO, Hello, VERSIONS, Verdict};
use crate::identity::Identity;
use crate::trouble::Trouble;
use crate::wire::{Broken, Wire};
use crate::world::World;
use crate::{PartyId, tls};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
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
) -> Result<Wire, Trouble> {
    let unreachable = |address: &str, error: String| Trouble::Unreachable { address: address.into(), error };
    let party = config.party(to).map_err(|e| unreachable("no address", e.to_string()))?;
    let (address, pinned, own) = (party.address.as_str(), party.pin.fingerprint(), identity.fingerprint());
    let found = address.to_socket_addrs().map_err(|e| unreachable(address, e.to_string()))?;
    let mut error = "the name has no address".to_owned();
    for place in found {
        let left = until.saturating_duration_since(world.now()).min(CONNECT).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(&place, left) {
            Ok(socket) => {
                let begun = tls::dialler(identity, Box::new(move |shown| shown == pinned), world)
                    .map_err(|e| Trouble::NotDivisi { what: e.to_string() })?;
                let limit = until.min(world.now() + HANDSHAKE);
                return Wire::establish(socket, begun, world.clone(), limit)
                    .map_err(|e| Trouble::from_broken(e, pinned, own));
            }
            Err(e) => error = e.to_string(),
        }
    }
    Err(unreachable(address, error))
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
        Verdict::Digest => Err(Trouble::Digest { ours: own.digest, theirs: answer.digest }),
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
    let answer = hear(wire, until).map_err(|e| trouble(e, wire))?;
    match answer {
        Some(answer) if answer.echo == own.nonce => Ok(answer),
        _ => Err(Trouble::NotDivisi { what: "its greeting is wrong".into() }),
    }
}

/// Reads a greeting.
pub(crate) fn hear(wire: &mut Wire, until: Instant) -> Result<Option<Hello>, Broken> {
    let mut bytes = [0; HELLO];
    wire.read_exact(&mut bytes, until)?;
    Ok(Hello::decode(&bytes))
}

pub(crate) fn version(theirs: &Hello) -> Trouble {
    Trouble::Version { ours: (*VERSIONS.start(), *VERSIONS.end()), theirs: theirs.versions }
}
