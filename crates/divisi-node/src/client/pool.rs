//! Connections of one client that stay open, for the threads of a program.
//!
//! A request borrows a connection with all three servers, or has a new one made while there are fewer than a
//! client may have; whoever comes when all are in use waits. A connection that is given back stays open for
//! the next request: ten seconds, and the one that was used last for 240, as servers close one over which
//! nothing was asked for 300 (`spare`). The pool uses none that a server has closed meanwhile.
//!
//! What is tried again, while five seconds have not passed: a request that could not be sent, and one that a
//! server refused with the word that it may succeed later ([`Error::retry`]), as servers do that stop, that
//! lost one of the others, or that have too much to do. A request whose answer did not come may have been
//! done. It is not tried again, unless it makes a key: its name ([`NewKey::request`]) finds the key that it
//! made.

use super::spare::{Held, Spare};
use super::{Client, of_three};
use crate::error::{Error, ErrorKind};
use crate::request::{CONNECTIONS, KeyEntry, NewKey};
use divisi_core::{Step, step};
use divisi_net::{Config, Identity, Interrupt, World};
use divisi_store::{KeyName, KeyType};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

const POOL: Step = step!("pool");

/// How long a request is tried again, if nothing else is asked for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a server may take to accept a connection, if the configuration does not say less: no attempt
/// takes much longer than this, whatever is left of the time.
const DIAL: Duration = Duration::from_secs(3);
/// The first and the longest pause before the next attempt.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(320));

/// Connections of one client, which all threads of a program share.
///
/// ```no_run
/// # use divisi_net::{Config, Identity, Machine};
/// # use std::{path::Path, sync::Arc};
/// let config = Config::load(Path::new("mesh.toml"))?;
/// let identity = Arc::new(Identity::load(Path::new("client-me.key"))?);
/// let pool = divisi_node::ClientPool::new(config, identity, Arc::new(Machine))?;
/// let key: divisi_node::KeyName = "backup".parse()?;
/// let file = pool.run(|client| {
///     let mut file = Vec::new();
///     client.encrypt(&key, b"", &mut &b"a secret"[..], 8, &mut file, &mut |_| {})?;
///     Ok(file)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ClientPool {
    config: Config,
    identity: Arc<Identity>,
    world: Arc<dyn World>,
    most: usize,
    patience: Duration,
    connections: Spare<Client>,
}

impl ClientPool {
    /// The most connections that a pool can have: as many as servers keep open for one client.
    pub const MOST: usize = CONNECTIONS;

    /// A pool of the client with this identity, without a connection yet. It makes at most
    /// [`ClientPool::MOST`] less one: the last place is left for who watches the servers
    /// ([`crate::HealthWatch`]).
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the configuration is not one of three parties.
    pub fn new(config: Config, identity: Arc<Identity>, world: Arc<dyn World>) -> Result<ClientPool, Error> {
        of_three(&config)?;
        let connections = Spare::new(Arc::clone(&world));
        let most = ClientPool::MOST - 1;
        Ok(ClientPool { config, identity, world, most, patience: PATIENCE, connections })
    }

    /// The same pool with at most this many connections: from 1 to [`ClientPool::MOST`].
    #[must_use]
    pub fn with_most(self, most: usize) -> ClientPool {
        ClientPool { most: most.clamp(1, ClientPool::MOST), ..self }
    }

    /// The same pool, which tries a request again for this time, and waits as long for a connection.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> ClientPool {
        ClientPool { patience, ..self }
    }

    /// The most connections that it makes.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// Lend a connection to `work`, which makes requests over it. If one is refused with the word that it may
    /// succeed later, or cannot be sent, `work` is called again, from its beginning and perhaps with another
    /// connection: what it wrote before counts no more.
    ///
    /// # Errors
    /// That of `work`, if it is to be tried no more; [`ErrorKind::Unavailable`] if no connection can be made,
    /// or all are in use, for that long; [`ErrorKind::Refused`] if a server does not know the client.
    pub fn run<T>(&self, work: impl FnMut(&mut Client) -> Result<T, Error>) -> Result<T, Error> {
        self.run_within(self.patience, work)
    }

    /// The same with another time in which it is tried again: none makes one attempt.
    ///
    /// # Errors
    /// As for [`ClientPool::run`].
    pub fn run_within<T>(
        &self,
        patience: Duration,
        work: impl FnMut(&mut Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.repeat(patience, &Interrupt::default(), |client| !client.is_lost(), work)
    }

    /// The same as [`ClientPool::run`], unless the caller wants to wait no more.
    ///
    /// # Errors
    /// As for [`ClientPool::run`]; [`ErrorKind::Unavailable`] if it was interrupted.
    pub fn run_until<T>(
        &self,
        interrupt: &Interrupt,
        work: impl FnMut(&mut Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.repeat(self.patience, interrupt, |client| !client.is_lost(), work)
    }

    /// The description of a new key of its type's default length, with a fresh name for the request.
    #[must_use]
    pub fn new_key(&self, name: KeyName, kind: KeyType, exportable: bool, clients: Vec<String>) -> NewKey {
        let mut request = [0; 16];
        self.world.entropy(&mut request);
        let bytes = u32::try_from(kind.bytes()).unwrap_or(u32::MAX);
        NewKey { name, kind, bytes, exportable, clients, request }
    }

    /// Have the servers make a key that nobody knows, as [`Client::key_new`]. It is made once, also if an
    /// answer is lost and the request is sent again.
    ///
    /// # Errors
    /// As for [`ClientPool::run`].
    pub fn key_new(&self, new: &NewKey) -> Result<KeyEntry, Error> {
        self.key_new_until(&Interrupt::default(), new)
    }

    /// The same, unless the caller wants to wait no more.
    ///
    /// # Errors
    /// As for [`ClientPool::run_until`].
    pub fn key_new_until(&self, interrupt: &Interrupt, new: &NewKey) -> Result<KeyEntry, Error> {
        self.repeat(self.patience, interrupt, |_| true, |client| client.key_new(new))
    }

    /// Call `work` until it succeeds, fails for good, or the time is over. After a failure `is_safe` says
    /// whether what was sent may be sent again.
    fn repeat<T>(
        &self,
        patience: Duration,
        interrupt: &Interrupt,
        is_safe: impl Fn(&Client) -> bool,
        mut work: impl FnMut(&mut Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let begun = self.world.now();
        let left = |begun| patience.saturating_sub(self.world.now().saturating_duration_since(begun));
        let mut pause = PAUSE.0;
        loop {
            let error = match self.lend(left(begun), interrupt) {
                Ok((place, mut client)) => {
                    let result = work(&mut client);
                    let safe = is_safe(&client);
                    place.give_back(client, result.is_ok());
                    match result {
                        Err(error) if error.retry && safe => error,
                        Err(_) if interrupt.is_due() => return Err(interrupted()),
                        done => return done,
                    }
                }
                Err(error) if error.retry => error,
                Err(error) => return Err(error),
            };
            if interrupt.is_due() {
                return Err(interrupted());
            }
            if left(begun) <= pause {
                return Err(error);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    /// A connection that is open: an idle one, or a new one. Waits for so long if all are in use.
    fn lend(&self, within: Duration, interrupt: &Interrupt) -> Result<(Place<'_>, Client), Error> {
        let place = self.place(within, interrupt)?;
        while let Some(mut client) = self.connections.pop() {
            if client.is_usable() {
                client.set_interrupt(interrupt);
                return Ok((place, client));
            }
        }
        let limit = DIAL.min(self.config.connect());
        let (config, identity, world) = (&self.config, &self.identity, self.world.clone());
        let client = Client::connect_until(config, identity, world, limit, interrupt)?;
        Ok((place, client))
    }

    /// Wait until a connection more may be used.
    fn place(&self, within: Duration, interrupt: &Interrupt) -> Result<Place<'_>, Error> {
        let begun = self.world.now();
        let mut connections = self.lock();
        while connections.used >= self.most {
            let left = within.saturating_sub(self.world.now().saturating_duration_since(begun));
            if left.is_zero() {
                let message = format!(
                    "all {} connections to the servers were in use for {:.1} s: try again later",
                    self.most,
                    within.as_secs_f64()
                );
                return Err(Error { retry: true, ..Error::new(ErrorKind::Unavailable, POOL, message) });
            }
            if interrupt.is_due_at(self.world.now()) {
                return Err(interrupted());
            }
            connections = self.connections.wait(connections, interrupt.slice(left));
        }
        connections.used += 1;
        Ok(Place { pool: self, client: None })
    }

    fn lock(&self) -> MutexGuard<'_, Held<Client>> {
        self.connections.lock()
    }
}

/// The error of a call whose caller wants to wait no more. Whether the same may succeed later, the caller
/// does not ask.
pub(super) fn interrupted() -> Error {
    let message = "the call was interrupted, and nobody knows whether the servers have done it: look before it is \
                   made again";
    Error::new(ErrorKind::Unavailable, POOL, message)
}

/// The right to use one connection, until it is dropped.
struct Place<'p> {
    pool: &'p ClientPool,
    /// What is to be kept for the next request.
    client: Option<Client>,
}

impl Place<'_> {
    /// Give the place back, with its connection unless that cannot be used any more.
    fn give_back(mut self, mut client: Client, succeeded: bool) {
        let keep = succeeded || client.is_usable();
        client.set_interrupt(&Interrupt::default());
        client.expect_key(None);
        self.client = keep.then_some(client);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.pool.connections.give_back(self.client.take());
    }
}
