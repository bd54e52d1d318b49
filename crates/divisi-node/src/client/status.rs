//! How the servers are: a question outside of requests, which each server answers by itself and at once.
//!
//! Adversary: one malicious server. It can say of itself and of the others what it likes: what one server
//! says is a hint for people and for programs that wait, and nothing that is computed depends on it.

use super::link::Link;
use super::{CONNECT, Client, challenge_of, of_three, unexpected};
use crate::error::{Error, ErrorKind};
use crate::request::{Condition, ToClient, ToServer};
use crate::wire::VERSIONS;
use divisi_core::{PartyId, Step, step};
use divisi_net::{Config, Identity, Interrupt, World};
use std::sync::Arc;
use std::time::Duration;

const STATUS: Step = step!("status");

impl Client {
    /// Ask all three servers at once how they are; for one that does not answer within the time there is an
    /// error, and nothing else can be asked of it over this connection.
    pub fn status(&mut self, within: Duration) -> Vec<(PartyId, Result<Condition, Error>)> {
        let begun = self.world.now();
        let asked = self.links.each_mut().map(|link| link.send(STATUS, &ToServer::Status));
        let answer = |(link, asked): (&mut Link, Result<(), Error>)| {
            let waited = self.world.now().saturating_duration_since(begun);
            let left = within.saturating_sub(waited).max(LEAST);
            (link.party(), asked.and_then(|()| link.condition(STATUS, left, &*self.world)))
        };
        self.links.iter_mut().zip(asked).map(answer).collect()
    }
}

/// The least time for an answer, which may have arrived while another server was waited for.
const LEAST: Duration = Duration::from_millis(20);

/// A client's connection with one server alone, which serves no requests: to ask how the server is.
pub struct ServerConnection {
    link: Link,
    world: Arc<dyn World>,
}

impl ServerConnection {
    /// Connect to one server as the client with this `identity`. Each answer, here and later, has this time
    /// limit.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the configuration is not one of three parties, or `party` none of them;
    /// [`ErrorKind::Unavailable`] if the server cannot be reached; [`ErrorKind::Refused`] if it does not know
    /// this identity.
    pub fn connect(
        config: &Config,
        party: PartyId,
        identity: &Identity,
        world: Arc<dyn World>,
        within: Duration,
    ) -> Result<ServerConnection, Error> {
        of_three(config)?;
        let mut challenges = [[0; 32]; 3];
        let none = || Error::new(ErrorKind::Usage, CONNECT, format!("{party} is none of the three servers"));
        let place = challenges.get_mut(party.index()).ok_or_else(none)?;
        let mut link = Link::dial(config, party, identity, &world, CONNECT, within, &Interrupt::default())?;
        link.set_timeout(within);
        // the places of the others stay empty: this server looks for its own challenge, which is fresh
        *place = challenge_of(&mut link)?;
        link.send(CONNECT, &ToServer::Begin { version: VERSIONS.1, challenges })?;
        match link.first(CONNECT)? {
            ToClient::Ready => Ok(ServerConnection { link, world }),
            other => Err(unexpected(CONNECT, party, other)),
        }
    }

    /// The server.
    #[must_use]
    pub fn party(&self) -> PartyId {
        self.link.party()
    }

    /// Ask the server how it is. After an error the connection cannot be used any more.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if it does not answer within the time limit, or has closed the connection.
    pub fn status(&mut self) -> Result<Condition, Error> {
        self.link.send(STATUS, &ToServer::Status)?;
        let limit = self.link.timeout();
        self.link.condition(STATUS, limit, &*self.world)
    }
}
