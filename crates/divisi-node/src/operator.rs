//! The orders of operators, which no client can give: to give a key to other clients, or to destroy it. An
//! operator asks its own server; the servers carry out the order when the operators of all three have asked
//! for the same.
//!
//! **Trust.** Whoever is the server's user on its machine, or root, is its operator: the server accepts
//! orders on a socket in its data directory. One or two operators alone change nothing.

use crate::admit::{CLIENTS, is_client_name};
use crate::error::{Error, ErrorKind};
use crate::wire::{decode, encode};
use divisi_core::{PartyId, Step, step};
use divisi_net::Identity;
use divisi_store::KeyName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

const OPERATOR: Step = step!("operator");

/// The name of the socket in the directory of a server's data.
pub(crate) const NAME: &str = "operators.sock";
/// The largest length of a message of either side, in bytes.
pub(crate) const LONGEST: u64 = 16 * 1024;
/// The longest path of a socket on any system; most allow for a few bytes more.
const PATH: usize = 100;
/// How long a server may take to answer: it waits itself for what the others say.
const WITHIN: Duration = Duration::from_secs(30);

/// What to do with a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Deed {
    /// Give it to these clients and no others: the first is its owner, as if it had made the key.
    Chown {
        /// The owner, then the others by name.
        to: Vec<String>,
    },
    /// Destroy it.
    Destroy,
}

/// An operator's order about a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The name of the key.
    pub key: KeyName,
    /// What to do with it.
    pub deed: Deed,
}

impl Order {
    /// The order to give a key to clients: the first is its owner, the others may be in any order.
    #[must_use]
    pub fn chown(key: KeyName, mut to: Vec<String>) -> Order {
        let owner = to.first().cloned();
        if let Some((owner, others)) = owner.zip(to.get_mut(1..)) {
            others.sort();
            to.dedup();
            let mut first = true;
            to.retain(|name| *name != owner || std::mem::take(&mut first));
        }
        Order { key, deed: Deed::Chown { to } }
    }

    /// The clients that it names.
    pub(crate) fn clients(&self) -> &[String] {
        match &self.deed {
            Deed::Chown { to } => to,
            Deed::Destroy => &[],
        }
    }

    /// Whether it is an order as [`Order::chown`] makes it, with no more clients than a key can have.
    pub(crate) fn is_well_formed(&self) -> bool {
        match &self.deed {
            Deed::Chown { to } => {
                (1..=CLIENTS + 1).contains(&to.len())
                    && to.iter().all(|name| is_client_name(name))
                    && *self == Order::chown(self.key.clone(), to.clone())
            }
            Deed::Destroy => true,
        }
    }

    /// A digest of all of it.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 order of operators v1");
        let mut put = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        };
        put(self.key.as_str().as_bytes());
        match &self.deed {
            Deed::Destroy => put(b"destroy"),
            Deed::Chown { to } => {
                put(b"chown");
                to.iter().for_each(|name| put(name.as_bytes()));
            }
        }
        *hasher.finalize().as_bytes()
    }
}

/// In the words of the command line.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.deed {
            Deed::Destroy => write!(f, "key destroy {}", self.key),
            Deed::Chown { to } => write!(f, "key chown {} to {}", self.key, to.join(",")),
        }
    }
}

/// The state of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_enums, reason = "an operator sees each state")]
pub enum OrderState {
    /// The order waits for the operators of the parties `waiting`.
    Asked {
        /// The parties whose operators have not given the same order.
        waiting: Vec<PartyNumber>,
        /// Those of them whose operators gave another order for this key.
        differs: Vec<PartyNumber>,
    },
    /// All three operators gave the order, and their servers carried it out.
    Done,
    /// All three operators gave the order, and at least one server did not carry it out.
    Failed(String),
}

/// The number of a party.
pub type PartyNumber = u8;

/// The message of an operator's command to its server.
#[derive(Serialize, Deserialize)]
pub(crate) struct Asking {
    /// The number of the party whose operator gives the order.
    pub party: u8,
    /// The fingerprint of the identity that the operator gave.
    pub fingerprint: [u8; 32],
    pub order: Order,
}

/// The server's answer.
#[derive(Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The server refused the order: what the operator has to correct.
    Refused(String),
    State(OrderState),
}

/// Give an order to the server of party `me` with the directory `data`; returns the state of the order a
/// moment later.
///
/// # Errors
/// [`ErrorKind::Usage`] if no server runs there, or if it refuses: it is another party's, or does not know
/// the key or the client.
pub fn ask(data: &Path, me: PartyId, identity: &Identity, order: &Order) -> Result<OrderState, Error> {
    let usage = |message: String| Error::new(ErrorKind::Usage, OPERATOR, message);
    let gone = |e: io::Error| {
        let place = data.display();
        usage(format!(
            "no running server has its data in {place} ({e}): start the server, or give its directory with --data"
        ))
    };
    let fingerprint = *identity.fingerprint().bytes();
    let asking = Asking { party: me.number(), fingerprint, order: order.clone() };
    let bytes = encode(&asking, 0).filter(|bytes| bytes.len() as u64 <= LONGEST);
    let bytes = bytes.ok_or_else(|| usage("the order names too many clients: name fewer".into()))?;
    let receive = || {
        let mut stream = short(data, |path| UnixStream::connect(path))?;
        stream.set_read_timeout(Some(WITHIN))?;
        stream.set_write_timeout(Some(WITHIN))?;
        stream.write_all(&bytes)?;
        stream.shutdown(Shutdown::Write)?;
        let mut answer = Vec::new();
        stream.take(LONGEST).read_to_end(&mut answer)?;
        io::Result::Ok(answer)
    };
    match decode(&receive().map_err(gone)?) {
        Some(Answer::State(state)) => Ok(state),
        Some(Answer::Refused(why)) => Err(usage(why)),
        None => Err(usage("the server ended, or has another version than this command: see its log".into())),
    }
}

/// Call `act` with the path of the socket in a directory. The system limits the length of such a path, so
/// that a long one is replaced by a path through an open descriptor of the directory.
pub(crate) fn short<T>(data: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let path = data.join(NAME);
    if path.as_os_str().len() <= PATH {
        return act(&path);
    }
    let dir = File::open(data)?;
    act(&PathBuf::from(format!("/proc/self/fd/{}/{NAME}", dir.as_raw_fd())))
}
