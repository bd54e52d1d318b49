//! One connection to the listener: its handshake, its greeting, and the hand-over to the join or to whoever
//! serves clients.

use super::{ANSWER, Shared};
use crate::connection::{Connection, Peer};
use crate::dial::{HANDSHAKE, receive, version};
use crate::handshakes::{self, HandshakeSlot, SILENCE};
use crate::hello::{Hello, Role, Verdict};
use crate::status::ServerStatus;
use crate::trouble::Trouble;
use crate::wire::{Broken, Wire};
use crate::world::lock;
use crate::{PartyId, tls};
use std::net::{SocketAddr, TcpStream};
use std::sync::PoisonError;
use std::time::Duration;

/// The number of clients that may wait to be served.
const CLIENTS: usize = 256;
/// How long a party's connection waits for this party to join.
const PATIENCE: Duration = Duration::from_secs(60);

impl Shared {
    /// Handles one connection, from its first byte until it is handed on.
    pub(super) fn receive(&self, socket: TcpStream, from: SocketAddr, slot: HandshakeSlot) {
        let now = self.world.now();
        let (first, until) = (now + SILENCE, now + HANDSHAKE);
        let known = self.config();
        let own = self.identity.fingerprint();
        let accept = move |shown| {
            shown != own && (known.party_of(shown).is_some() || known.client_of(shown).is_some())
        };
        let established = tls::acceptor(&self.identity, Box::new(accept), &self.world)
            .map_err(|e| Broken::Tls(e.to_string()))
            .and_then(|begun| {
                Wire::establish(socket, begun, self.world.clone(), first, handshakes::ANSWER, until)
            });
        let mut wire = match established {
            Ok(wire) => wire,
            Err(Broken::Identity(shown)) if shown == own => {
                self.handshakes.count(&slot, |refused| &mut refused.unknown);
                return self.refuse(format!("{from} showed this party's own identity {shown}"));
            }
            Err(Broken::Identity(shown)) => {
                self.handshakes.count(&slot, |refused| &mut refused.unknown);
                return self.refuse(format!("{from} showed the unknown identity {shown}"));
            }
            Err(e) => {
                let slow = e == Broken::Timeout;
                self.handshakes
                    .count(&slot, |refused| if slow { &mut refused.slow } else { &mut refused.broken });
                return;
            }
        };
        let Ok(Some(hello)) = receive(&mut wire, until) else {
            return self.handshakes.count(&slot, |refused| &mut refused.broken);
        };
        if self.config().party_of(wire.peer()).is_some() {
            self.handshakes.proved(from.ip());
        }
        drop(slot);
        let config = self.config();
        let identity = wire.peer();
        let party = config.party_of(identity).filter(|id| *id != self.me);
        let mut answer = Hello::new(hello.role, self.me.number(), hello.me, config.digest(), &*self.world);
        answer.echo = hello.nonce;
        answer.verdict = match hello.role {
            _ if !hello.speaks_ours() => Verdict::Version,
            _ if hello.to != self.me.number() => Verdict::NotMe,
            Role::Party if party.map(PartyId::number) != Some(hello.me) => Verdict::Role,
            Role::Client if config.client_of(identity).is_none() => Verdict::Role,
            Role::Party if hello.digest.parties != answer.digest.parties => Verdict::Digest,
            Role::Party | Role::Client | Role::Check => Verdict::Fine,
        };
        if answer.verdict == Verdict::Role {
            let role = if hello.role == Role::Client { "a client" } else { "this party" };
            self.name(format!("{from} showed the identity {identity}, which is not pinned for {role}"));
        }
        if answer.verdict != Verdict::Fine {
            if let Some(id) = party.filter(|_| hello.role == Role::Party) {
                let trouble = match answer.verdict {
                    Verdict::Version => version(&hello),
                    Verdict::Digest => {
                        Trouble::Digest { ours: answer.digest.parties, theirs: hello.digest.parties }
                    }
                    _ => Trouble::NotIt,
                };
                self.state().troubles.insert(id, trouble);
                self.changed.notify_all();
            }
            self.dismiss(wire, &answer);
            return;
        }
        match (hello.role, party) {
            (Role::Party, Some(id)) => self.seat(wire, id, &hello, answer),
            (Role::Client, _) => {
                let Some(client) = config.client_of(identity) else { return };
                let is_free = self.state().clients.len() < CLIENTS;
                if !is_free {
                    answer.verdict = Verdict::Busy;
                    return self.dismiss(wire, &answer);
                }
                if wire.write_all(&answer.encode(), until).is_ok() {
                    let peer = Peer::Client(client.name.clone());
                    if let Ok(connection) = Connection::new(wire, peer, own, config.timeout()) {
                        self.state().clients.push_back(connection);
                        self.changed.notify_all();
                    }
                }
            }
            _ => self.tell_status(wire, &answer),
        }
    }

    /// Answers a check, says what a server has to say of itself, and closes.
    fn tell_status(&self, mut wire: Wire, answer: &Hello) {
        let status = lock(&self.status).as_ref().map(ServerStatus::encode).unwrap_or_default();
        let words = [&answer.encode()[..], &status].concat();
        if wire.write_all(&words, self.world.now() + ANSWER).is_ok() {
            wire.close();
        }
    }

    /// Answers and closes.
    fn dismiss(&self, mut wire: Wire, answer: &Hello) {
        if wire.write_all(&answer.encode(), self.world.now() + ANSWER).is_ok() {
            wire.close();
        }
    }

    /// A party's connection waits until this party joins, is confirmed, and takes its seat.
    fn seat(&self, mut wire: Wire, id: PartyId, hello: &Hello, mut answer: Hello) {
        let until = self.world.now() + PATIENCE;
        let mut state = self.state();
        let mine = state.newest.get(&id).map_or(0, |n| n + 1);
        state.newest.insert(id, mine);
        self.changed.notify_all();
        let attempt = loop {
            let now = self.world.now();
            if now >= until || self.is_closed() || state.newest.get(&id) != Some(&mine) {
                return;
            }
            // the configuration may have changed since the greeting: no link to an identity that is not
            // pinned any more
            let config = self.config();
            if config.party_of(wire.peer()) != Some(id) || config.digest().parties != hello.digest.parties {
                return;
            }
            if let Some(attempt) = state.joining {
                break attempt;
            }
            let nap = until.saturating_duration_since(now);
            state = self.changed.wait_timeout(state, nap).unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(state);
        answer.emulated = attempt.emulated;
        if hello.emulated != attempt.emulated {
            answer.verdict = Verdict::Emulation;
            self.state().troubles.insert(id, Trouble::Emulation);
            self.changed.notify_all();
            return self.dismiss(wire, &answer);
        }
        // The other end proves that it is still there and that it answers this greeting.
        let (limit, mut echo) = (self.world.now() + ANSWER, [0; 16]);
        let confirmed =
            wire.write_all(&answer.encode(), limit).and_then(|()| wire.read_exact(&mut echo, limit));
        if confirmed.is_err() || echo != answer.nonce {
            return;
        }
        let mut state = self.state();
        if state.joining.is_some_and(|a| a.number == attempt.number) {
            state.arrived.insert(id, wire);
            state.earlier.remove(&id);
            self.changed.notify_all();
        }
    }
}
