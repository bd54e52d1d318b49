//! The client: it splits its inputs for the three servers, and reconstructs outputs from their answers.
//!
//! Adversary: one malicious server. The client compares everything that comes from the servers before it uses
//! it: what all three know must be the same from all three, and each component of a secret comes from one of
//! its holders with a digest from the other. Therefore an answer is right, or the result is an [`Error`] that
//! names the server that differs.

mod digest;
mod expected;
mod gcm;
mod health;
mod keys;
mod link;
mod map;
mod modes;
mod parts;
mod pool;
mod receive;
mod spare;
mod status;

pub use digest::Tagged;
pub use gcm::{OVERHEAD, ReadSeek};
pub use health::{HealthReport, HealthWatch};
pub use keys::Listed;
pub use pool::ClientPool;
pub use status::ServerConnection;

use crate::error::{Error, ErrorKind, Failed};
use crate::request::{Item, SboxChoice, ToClient, ToServer, UsedKey, connection_id};
use crate::wire::{Blob, VERSIONS, no_common_version};
use divisi_core::{PartyId, Step, step};
use divisi_net::{Config, Identity, Interrupt, World};
use divisi_rep3::{Protocol, deal};
use link::Link;
use std::sync::Arc;
use std::time::Duration;

const CONNECT: Step = step!("connect");
const REQUEST: Step = step!("request");
const COMPARE: Step = step!("compare");

/// The least time for which the client waits for the other servers' reports after one server has reported the
/// end of a request, or is gone. It waits for a twentieth of the time limit if that is more.
const GRACE: Duration = Duration::from_millis(500);

/// A client's connection with all three servers.
pub struct Client {
    links: [Link; 3],
    /// For each server, why the client could not send it a message whose answer is still expected.
    unsent: [Option<Error>; 3],
    id: [u8; 32],
    /// The number of the last request, and how many of its answers were received.
    number: u64,
    received: u64,
    /// Whether the servers expect more messages of this request.
    open: bool,
    /// How the servers compute S-boxes.
    way: SboxChoice,
    /// The key that the last encryption used.
    used: Option<UsedKey>,
    /// The id of the key that requests are to use, if its name is not enough.
    expected: Option<[u8; 16]>,
    /// Whether the last request failed in such a way that nobody knows whether it was done.
    lost: bool,
    world: Arc<dyn World>,
}

impl Client {
    /// Connect to all three servers as the client with this `identity`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the configuration is not one of three parties; [`ErrorKind::Unavailable`] if a
    /// server cannot be reached; [`ErrorKind::Refused`] if it does not know this identity.
    pub fn connect(config: &Config, identity: &Identity, world: Arc<dyn World>) -> Result<Client, Error> {
        Client::connect_within(config, identity, world, config.connect())
    }

    /// The same, with a time limit for each server's connection.
    ///
    /// # Errors
    /// As for [`Client::connect`].
    pub fn connect_within(
        config: &Config,
        identity: &Identity,
        world: Arc<dyn World>,
        within: Duration,
    ) -> Result<Client, Error> {
        Client::connect_until(config, identity, world, within, &Interrupt::default())
    }

    /// The same, unless the caller wants to wait no more: it is asked now and then, here and while requests
    /// wait for the servers ([`Client::set_interrupt`]).
    ///
    /// # Errors
    /// As for [`Client::connect`]; [`ErrorKind::Unavailable`] if it was interrupted.
    pub fn connect_until(
        config: &Config,
        identity: &Identity,
        world: Arc<dyn World>,
        within: Duration,
        interrupt: &Interrupt,
    ) -> Result<Client, Error> {
        of_three(config)?;
        // the links are made by threads of their own, and it is this one that may ask
        let connect = |inner: &Interrupt| Client::connect_by(config, identity, world, within, inner);
        let mut client = interrupt.watched(connect).map_err(|e| no_thread(&e))??;
        client.set_interrupt(interrupt);
        Ok(client)
    }

    fn connect_by(
        config: &Config,
        identity: &Identity,
        world: Arc<dyn World>,
        within: Duration,
        interrupt: &Interrupt,
    ) -> Result<Client, Error> {
        // All three at once: a handshake that waits for another's may be taken for a silent one.
        let world_of_all = &world;
        let links = std::thread::scope(|scope| {
            let dial = |party| {
                let work =
                    move || Link::dial(config, party, identity, world_of_all, CONNECT, within, interrupt);
                std::thread::Builder::new().spawn_scoped(scope, work).map_err(|e| no_thread(&e))
            };
            let dialling: Vec<_> = PartyId::all(3).map(dial).collect::<Result<_, Error>>()?;
            let ended =
                |_| Error::new(ErrorKind::Unavailable, CONNECT, "a connection was not made: try again");
            dialling.into_iter().map(|link| link.join().map_err(ended)?).collect::<Result<Vec<_>, Error>>()
        })?;
        let links = <[Link; 3]>::try_from(links);
        let mut links = links.map_err(|_| Error::new(ErrorKind::Usage, CONNECT, "not three servers"))?;

        let mut challenges = [[0; 32]; 3];
        for link in &mut links {
            challenges[link.party().index()] = challenge_of(link)?;
        }
        let mut client = Client {
            links,
            unsent: [None, None, None],
            id: connection_id(&challenges),
            number: 0,
            received: 0,
            open: false,
            way: SboxChoice::DEFAULT,
            used: None,
            expected: None,
            lost: false,
            world,
        };
        let begin = ToServer::Begin { version: VERSIONS.1, challenges };
        let ready = client.exchange(CONNECT, |_| begin.clone())?;
        client.same(CONNECT, ready, |answer| matches!(answer, ToClient::Ready).then_some(()))?;
        Ok(client)
    }

    /// Choose whom requests ask, while they wait for the servers, whether to wait no more. A request that
    /// ends so fails, and its connections are closed; nobody knows whether it was done. The servers go on to
    /// serve others, and this client once it is connected again. By default nobody is asked.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.links.iter_mut().for_each(|link| link.set_interrupt(interrupt));
    }

    /// Choose how the servers compute S-boxes from now on; the default is gf4-circuit.
    pub fn use_protocol(&mut self, protocol: Protocol) {
        self.way = SboxChoice(protocol);
    }

    /// Send a request to all three servers; returns the first answer of each.
    fn request(&mut self, item: &Item) -> Result<[ToClient; 3], Error> {
        let number = self.next_number();
        self.exchange(REQUEST, |_| ToServer::Request { number, item: item.clone() })
    }

    /// Whether the last request failed in such a way that nobody knows whether it was done: it was sent, and
    /// no server said how it ended.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Whether the next request can go over these connections: all are open, and nothing has come over them
    /// that nobody waits for.
    fn is_usable(&mut self) -> bool {
        self.unsent.iter().all(Option::is_none) && self.links.iter_mut().all(Link::is_quiet)
    }

    /// How many requests were made.
    #[cfg(test)]
    pub(crate) fn requests(&self) -> u64 {
        self.number
    }

    /// Close the connection with one server.
    #[cfg(test)]
    pub(crate) fn leave(&mut self, party: PartyId) {
        self.links[party.index()].leave();
    }

    /// The number of a request that begins now.
    fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.received = 0;
        self.lost = false;
        self.open = true;
        self.number
    }

    /// End a request. If it ended by an error that this client found itself, so that the servers expect more
    /// messages, the connections are closed, and the servers need not wait.
    fn over<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if std::mem::take(&mut self.open) && result.is_err() {
            self.links.iter_mut().for_each(Link::leave);
        }
        result
    }

    /// The value that all three servers must report alike; `read` takes it from an answer.
    fn same<T: PartialEq>(
        &self,
        step: Step,
        answers: [ToClient; 3],
        read: impl Fn(ToClient) -> Option<T>,
    ) -> Result<T, Error> {
        let mut values = Vec::with_capacity(3);
        for (party, answer) in PartyId::all(3).zip(answers) {
            let what = answer.clone();
            values.push(read(answer).ok_or_else(|| unexpected(step, party, what))?);
        }
        let [a, b, c] = <[T; 3]>::try_from(values)
            .map_err(|_| Error::new(ErrorKind::Unavailable, step, "a server did not answer"))?;
        // the odd one out, if two agree
        let odd = match (a == b, b == c, a == c) {
            (true, true, _) => return Ok(a),
            (true, ..) => PartyId::new(3),
            (_, true, _) => PartyId::new(1),
            (.., true) => PartyId::new(2),
            _ => None,
        };
        Err(differ(step, odd))
    }

    /// Each server's part of some bytes, as it goes into a message.
    pub(crate) fn split(&self, message: &[u8]) -> [Blob; 3] {
        let parts = deal::split(message, |out| self.entropy(out));
        parts.map(|part| Blob([&part.first[..], &part.second].concat()))
    }

    fn entropy(&self, out: &mut [u8]) {
        self.world.entropy(out);
    }
}

/// The error of a system that starts no thread.
fn no_thread(e: &std::io::Error) -> Error {
    let message = format!("no thread can be started ({e}): free some memory");
    Error { retry: true, ..Error::new(ErrorKind::Unavailable, CONNECT, message) }
}

/// Check that a configuration is one of three servers.
fn of_three(config: &Config) -> Result<(), Error> {
    let message = "keys are held by three servers: give the configuration of a mesh of 3";
    let right = config.parties().len() == 3;
    if right { Ok(()) } else { Err(Error::new(ErrorKind::Usage, CONNECT, message)) }
}

/// A server's challenge, which is in its first message.
fn challenge_of(link: &mut Link) -> Result<[u8; 32], Error> {
    let party = link.party();
    match link.first(CONNECT)? {
        ToClient::Welcome { lowest, highest, party: number, challenge } if number == party.number() => {
            if lowest <= VERSIONS.1 && highest >= VERSIONS.0 {
                return Ok(challenge);
            }
            let message = format!("{party} {}", no_common_version(lowest, highest));
            Err(Error::new(ErrorKind::Refused, CONNECT, message).with_peer(party))
        }
        other => Err(unexpected(CONNECT, party, other)),
    }
}

/// The error that a server reported outside of a request, where the other two do not say the same. It names
/// this server, unless this server names another one.
fn reported(step: Step, party: PartyId, failed: Failed) -> Error {
    let error = failed.into_error();
    Error {
        kind: of_one(error.kind),
        peer: error.peer.or(Some(party)),
        step: step.name.into(),
        message: format!("{party} says: {}", error.message),
        ..error
    }
}

/// The kind of an error that not all three servers report. That a tag is wrong, or that the user made a
/// mistake, no server can say alone: of its word it remains that this server refuses.
fn of_one(kind: ErrorKind) -> ErrorKind {
    match kind {
        ErrorKind::Mismatch | ErrorKind::Usage => ErrorKind::Refused,
        ErrorKind::Abort | ErrorKind::Refused | ErrorKind::Unavailable => kind,
    }
}

fn unexpected(step: Step, party: PartyId, answer: ToClient) -> Error {
    if let ToClient::Failed(failed) = answer {
        return reported(step, party, failed);
    }
    let message = format!("{party} sent an unexpected answer at {step}: check that it runs this release");
    Error::new(ErrorKind::Mismatch, step, message).with_peer(party)
}

fn differ(step: Step, odd: Option<PartyId>) -> Error {
    let who = odd.map_or_else(|| "the servers".into(), |p| format!("{p} and the other two"));
    let message = format!(
        "{who} gave different answers at {step}: the answers were not used; find out which server deviates"
    );
    Error { peer: odd, ..Error::new(ErrorKind::Mismatch, COMPARE, message) }
}

/// Two holders of a component do not agree.
fn disagree(step: Step, d: divisi_rep3::deal::Disagree) -> Error {
    let (holder, witness) = (d.holder, d.witness);
    let message = format!(
        "{holder} and {witness} do not agree on a component that both hold, at {step}: nothing of it was used; find out \
         which one deviates"
    );
    Error::new(ErrorKind::Mismatch, step, message).with_peer(holder)
}
