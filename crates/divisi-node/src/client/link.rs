//! A client's connection with one server.

use crate::error::{Error, ErrorKind};
use crate::request::{ToClient, ToServer};
use crate::wire::{LONGEST, decode, encode};
use divisi_core::{PartyId, Step};
use divisi_net::{Config, Connection, ConnectionError, Identity, Trouble, World};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The way to one server; of no more use after an error.
pub(crate) struct Link {
    party: PartyId,
    connection: Connection,
    broken: Option<Error>,
}

impl Link {
    pub fn dial(
        config: &Config,
        party: PartyId,
        identity: &Identity,
        world: &Arc<dyn World>,
        step: Step,
    ) -> Result<Link, Error> {
        let connection = Connection::dial(config, party, identity, world, config.connect());
        let connection = connection.map_err(|e| unavailable(party, step, &e))?;
        Ok(Link { party, connection, broken: None })
    }

    pub fn party(&self) -> PartyId {
        self.party
    }

    pub fn send(&mut self, step: Step, message: &ToServer) -> Result<(), Error> {
        self.whole()?;
        let too_long =
            || Error::new(ErrorKind::Usage, step, "the request is too long: name fewer things at once");
        let bytes = encode(message, message.body()).ok_or_else(too_long)?;
        let sent = self.connection.send(&bytes);
        sent.map_err(|e| self.fail(unavailable(self.party, step, &e)))
    }

    /// The server's answer; that it has not forgotten us is none.
    pub fn recv(&mut self, step: Step) -> Result<ToClient, Error> {
        self.whole()?;
        loop {
            let bytes = match self.connection.recv(LONGEST) {
                Ok(bytes) => Zeroizing::new(bytes),
                Err(e) => return Err(self.fail(unavailable(self.party, step, &e))),
            };
            match decode(&bytes) {
                Some(ToClient::Waiting) => {}
                Some(answer) => return Ok(answer),
                None => {
                    let message =
                        format!("{} sent what is no message of this protocol: see its release", self.party);
                    let error = Error::new(ErrorKind::Mismatch, step, message).with_peer(self.party);
                    return Err(self.fail(error));
                }
            }
        }
    }

    fn whole(&self) -> Result<(), Error> {
        self.broken.clone().map_or(Ok(()), Err)
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
        _ => "see that the server runs, then try again",
    };
    Error { retry, ..Error::new(kind, step, format!("{e}; {advice}")).with_peer(party) }
}
