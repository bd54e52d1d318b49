//! A client's connection with one server.

use super::reported;
use crate::admit::is_client_name;
use crate::error::{Error, ErrorKind};
use crate::request::{Condition, KeyEntry, PAGE, Reply, ToClient, ToServer};
use crate::wire::{LONGEST, decode, encode, is_foreign, no_common_version, version};
use divisi_core::{PartyId, Step};
use divisi_net::{Config, Connection, ConnectionError, Identity, Interrupt, Trouble, World};
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// A client's connection with one server. It cannot be used after an error.
pub(crate) struct Link {
    party: PartyId,
    connection: Option<Connection>,
    broken: Option<Error>,
}

impl Link {
    pub fn dial(
        config: &Config,
        party: PartyId,
        identity: &Identity,
        world: &Arc<dyn World>,
        step: Step,
        within: Duration,
        interrupt: &Interrupt,
    ) -> Result<Link, Error> {
        let connection = Connection::dial_until(config, party, identity, world, within, interrupt);
        let connection = connection.map_err(|e| unavailable(party, step, &e))?;
        Ok(Link { party, connection: Some(connection), broken: None })
    }

    pub fn party(&self) -> PartyId {
        self.party
    }

    pub fn send(&mut self, step: Step, message: &ToServer) -> Result<(), Error> {
        let too_long = || Error::new(ErrorKind::Usage, step, "the request is too long: name fewer clients");
        let bytes = encode(message, message.body()).ok_or_else(too_long)?;
        let sent = self.whole(step)?.send(&bytes);
        sent.map_err(|e| self.fail(unavailable(self.party, step, &e)))
    }

    /// The server's next message, [`ToClient::Waiting`] included; `None` if none came within the time. After
    /// `None` the connection cannot be used any more: a later message may have arrived in part.
    pub fn listen(&mut self, step: Step, within: Duration) -> Result<Option<Reply>, Error> {
        let bytes = match self.whole(step)?.recv_within(LONGEST, within) {
            Ok(bytes) => Zeroizing::new(bytes),
            Err(ConnectionError::Timeout(..)) => return Ok(None),
            Err(e) => return Err(self.fail(unavailable(self.party, step, &e))),
        };
        let Some(reply) = decode::<Reply>(&bytes) else {
            if let Some(other) = version(&bytes).filter(|other| is_foreign(*other)) {
                let message = format!("{} {}", self.party, no_common_version(other, other));
                let error = Error::new(ErrorKind::Refused, step, message).with_peer(self.party);
                return Err(self.fail(error));
            }
            let message = format!("{} sent a malformed message: check which release it runs", self.party);
            return Err(self.fail(Error::new(ErrorKind::Mismatch, step, message).with_peer(self.party)));
        };
        let word = &reply.what;
        if let ToClient::Key(key) = word {
            self.check(step, key)?;
        }
        let used = match word {
            ToClient::Sealing { key, .. } | ToClient::Begun { key, .. } => Some(key),
            ToClient::Tagging { key, .. } => key.as_ref(),
            _ => None,
        };
        if used.is_some_and(|key| !is_client_name(&key.maker)) {
            return Err(self.malformed(step, "an entry that no key can have"));
        }
        if let ToClient::Keys { keys, .. } = word {
            keys.iter().try_for_each(|key| self.check(step, key))?;
            if keys.len() > PAGE {
                return Err(self.malformed(step, "more keys than a page has"));
            }
        }
        Ok(Some(reply))
    }

    /// The server's first message, within the time limit.
    pub fn first(&mut self, step: Step) -> Result<ToClient, Error> {
        let limit = self.timeout();
        let reply = self.listen(step, limit)?.ok_or_else(|| self.silent(step, limit))?;
        if reply.number == 0 {
            Ok(reply.what)
        } else {
            Err(self.malformed(step, "an answer without a request"))
        }
    }

    /// What the server says of itself, within the time; it was asked by [`ToServer::Status`] outside of a
    /// request. After an error the connection cannot be used any more.
    pub fn condition(&mut self, step: Step, within: Duration, world: &dyn World) -> Result<Condition, Error> {
        let (begun, party) = (world.now(), self.party);
        loop {
            let waited = world.now().saturating_duration_since(begun);
            let left = within.saturating_sub(waited);
            let Some(reply) = self.listen(step, left)? else { return Err(self.silent(step, within)) };
            match reply {
                Reply { what: ToClient::Waiting, .. } if !left.is_zero() => {}
                Reply { what: ToClient::Waiting, .. } => return Err(self.overdue(step)),
                Reply { number: 0, what: ToClient::Condition(report), .. } => {
                    let condition = report.of(party);
                    return condition.ok_or_else(|| self.malformed(step, "what no server says of itself"));
                }
                Reply { number: 0, what: ToClient::Failed(failed), .. } => {
                    return Err(self.fail(reported(step, party, failed)));
                }
                _ => return Err(self.malformed(step, "an answer that nobody asked for")),
            }
        }
    }

    /// Whether a message can be sent, and nothing has come that nobody waits for.
    pub fn is_quiet(&mut self) -> bool {
        self.broken.is_none() && self.connection.as_mut().is_some_and(Connection::is_quiet)
    }

    /// Check that an honest server could send this entry of a key: it is printed on a terminal.
    fn check(&mut self, step: Step, key: &KeyEntry) -> Result<(), Error> {
        if key.is_well_formed() { Ok(()) } else { Err(self.malformed(step, "an entry that no key can have")) }
    }

    pub fn malformed(&mut self, step: Step, what: &str) -> Error {
        let message = format!(
            "{} sent {what} at {step}: its answer was not used; check which release it runs",
            self.party
        );
        self.fail(Error::new(ErrorKind::Mismatch, step, message).with_peer(self.party))
    }

    /// The error for a server that sent nothing, not even that it waits.
    pub fn silent(&mut self, step: Step, lasted: Duration) -> Error {
        let message = format!(
            "{} has sent nothing for {:.1} s at {step}; check that the server runs, then try again",
            self.party,
            lasted.as_secs_f64()
        );
        let error = Error { retry: true, ..Error::new(ErrorKind::Unavailable, step, message) };
        self.fail(error.with_peer(self.party))
    }

    /// The error for a server that sends messages but did not answer in time.
    pub fn overdue(&mut self, step: Step) -> Error {
        let message = format!(
            "{} did not answer at {step} within the time limit: its log says what it waits for",
            self.party
        );
        let error = Error { retry: true, ..Error::new(ErrorKind::Unavailable, step, message) };
        self.fail(error.with_peer(self.party))
    }

    /// Set whom the connection asks while it waits.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        if let Some(connection) = &mut self.connection {
            connection.set_interrupt(interrupt);
        }
    }

    /// Set the time limit of an answer.
    pub fn set_timeout(&mut self, timeout: Duration) {
        if let Some(connection) = &mut self.connection {
            connection.set_timeout(timeout);
        }
    }

    /// The time limit of an answer.
    pub fn timeout(&self) -> Duration {
        self.connection.as_ref().map_or(Duration::ZERO, Connection::timeout)
    }

    /// Close the connection.
    pub fn leave(&mut self) {
        if let Some(connection) = self.connection.take() {
            // a server that does not listen is not waited for
            if self.broken.is_none() {
                connection.close();
            }
        }
    }

    fn whole(&mut self, step: Step) -> Result<&mut Connection, Error> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        self.connection.as_mut().ok_or_else(|| {
            let message = "the connection was closed when a request ended early: connect again";
            Error { retry: true, ..Error::new(ErrorKind::Unavailable, step, message) }
        })
    }

    fn fail(&mut self, error: Error) -> Error {
        self.broken.get_or_insert(error).clone()
    }
}

fn unavailable(party: PartyId, step: Step, e: &ConnectionError) -> Error {
    let (kind, retry) = match e {
        ConnectionError::Trouble(_, Trouble::Refused { .. }) => (ErrorKind::Refused, false),
        ConnectionError::Trouble(_, trouble) => (ErrorKind::Unavailable, trouble.is_passing()),
        ConnectionError::TooLong { .. } => (ErrorKind::Mismatch, false),
        _ => (ErrorKind::Unavailable, true),
    };
    let advice = match kind {
        ErrorKind::Refused => "have its operator add it",
        _ => "check that the server runs, then try again",
    };
    Error { retry, ..Error::new(kind, step, format!("{e}; {advice}")).with_peer(party) }
}
