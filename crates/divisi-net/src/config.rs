//! The configuration: one TOML file that all parties and clients share.
//!
//! ```toml
//! version = 1
//! timeout_seconds = 10        # optional: the time limit of a receive
//! connect_seconds = 30        # optional: how long a party waits for the others
//!
//! [limits]                    # optional: what each server grants each client
//! message_bytes = 16777216    # see [`Grants`]
//! message_bytes_of = { sha3-256 = 67108864, hmac-sha256 = 1048576 }
//!
//! [[party]]
//! id = 1
//! address = "one.example:4701"
//! key = "..."                 # the Ed25519 public key, 64 hexadecimal digits,
//!                             # or in its place: fingerprint = "..."
//! [[client]]
//! name = "alice"
//! key = "..."
//! limits = { keys = 10 }      # optional: what is granted to this client in place of the above
//! ```

mod changes;
mod grants;
mod text;

use crate::identity::{Fingerprint, Identity, PublicKey};
use crate::{PartyId, World};
pub use grants::Grants;
use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The port of party 1 if the caller names no hosts.
const FIRST_PORT: u16 = 4701;
/// The time limits that make sense, in seconds.
const LIMITS: RangeInclusive<f64> = 0.01..=86_400.0;

/// An error in a configuration, and what to do about it: one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// A pinned identity: the public key, or its fingerprint alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Pin {
    /// The key itself.
    Key(PublicKey),
    /// Its fingerprint.
    Fingerprint(Fingerprint),
}

impl Pin {
    /// The fingerprint that is pinned, given as such or as a key.
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Key(key) => key.fingerprint(),
            Self::Fingerprint(fingerprint) => *fingerprint,
        }
    }
}

/// A party of the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyEntry {
    /// Its number.
    pub id: PartyId,
    /// The address at which others reach it, `host:port`.
    pub address: String,
    /// Its identity.
    pub pin: Pin,
}

/// A client that the parties serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientEntry {
    /// Its name.
    pub name: String,
    /// Its identity.
    pub pin: Pin,
    /// The client's own limits, in place of those for all clients.
    pub limits: Grants,
}

/// The digests that distinguish configurations: 128 bits of a BLAKE3 hash each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityDigest {
    /// A digest of the parties and their identities: all parties must agree on it.
    pub parties: [u8; 16],
    /// A digest of the clients: each party decides on its clients for itself, and a difference is only
    /// reported in a log.
    pub clients: [u8; 16],
}

/// A valid configuration: parties 1 to n, no address, name or key twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    parties: Vec<PartyEntry>,
    clients: Vec<ClientEntry>,
    timeout_seconds: Option<f64>,
    connect_seconds: Option<f64>,
    limits: Grants,
}

/// A new configuration with the identities that it names.
#[derive(Debug)]
pub struct Created {
    /// The configuration for all.
    pub config: Config,
    /// The identities of the parties, in order.
    pub parties: Vec<Identity>,
    /// The identities of the clients, in order.
    pub clients: Vec<Identity>,
}

impl Config {
    /// Makes identities for `parties` parties and the named clients, and the configuration that pins them.
    /// Without `hosts` all parties are on this machine.
    pub fn create(
        parties: usize,
        hosts: &[String],
        clients: &[String],
        world: &dyn World,
    ) -> Result<Created, ConfigError> {
        if !(2..=255).contains(&parties) {
            return Err(ConfigError(format!("a mesh has 2 to 255 parties, not {parties}")));
        }
        if !hosts.is_empty() && hosts.len() != parties {
            let given = hosts.len();
            return Err(ConfigError(format!(
                "{given} hosts for {parties} parties: give one host:port for each"
            )));
        }
        let made: Vec<Identity> = (0..parties).map(|_| Identity::generate(world)).collect();
        let named: Vec<Identity> = clients.iter().map(|_| Identity::generate(world)).collect();
        let party = |(id, own): (PartyId, &Identity)| PartyEntry {
            id,
            address: hosts
                .get(id.index())
                .cloned()
                .unwrap_or_else(|| format!("127.0.0.1:{}", usize::from(FIRST_PORT) + id.index())),
            pin: Pin::Key(own.public()),
        };
        let client = |(name, own): (&String, &Identity)| ClientEntry {
            name: name.clone(),
            pin: Pin::Key(own.public()),
            limits: Grants::default(),
        };
        let config = Self {
            parties: PartyId::all(parties).zip(&made).map(party).collect(),
            clients: clients.iter().zip(&named).map(client).collect(),
            limits: Grants::default(),
            timeout_seconds: None,
            connect_seconds: None,
        }
        .checked()?;
        Ok(Created { config, parties: made, clients: named })
    }

    /// Adds the next party, or gives an existing party another identity and, if given, another address.
    pub fn add_party(&self, id: PartyId, address: Option<&str>, pin: Pin) -> Result<Self, ConfigError> {
        let mut new = self.clone();
        match (new.parties.get_mut(id.index()), address) {
            (Some(party), _) => {
                party.pin = pin;
                party.address = address.unwrap_or(&party.address).to_owned();
            }
            (None, Some(address)) if id.index() == self.parties.len() => {
                new.parties.push(PartyEntry { id, address: address.to_owned(), pin });
            }
            (None, Some(_)) => {
                let next = self.parties.len() + 1;
                return Err(ConfigError(format!(
                    "party {next} is missing: add the parties in their order, so that they are numbered without gaps"
                )));
            }
            (None, None) => return Err(ConfigError(format!("{id} is new: give its address as host:port"))),
        }
        new.consistent()
    }

    /// Adds a client, or gives an existing client another identity.
    pub fn add_client(&self, name: &str, pin: Pin) -> Result<Self, ConfigError> {
        let mut new = self.clone();
        match new.clients.iter_mut().find(|c| c.name == name) {
            Some(client) => client.pin = pin,
            None => new.clients.push(ClientEntry { name: name.to_owned(), pin, limits: Grants::default() }),
        }
        new.consistent()
    }

    /// Removes a client.
    pub fn remove_client(&self, name: &str) -> Result<Self, ConfigError> {
        let mut new = self.clone();
        new.clients.retain(|c| c.name != name);
        if new.clients.len() == self.clients.len() {
            let known: Vec<&str> = self.clients.iter().map(|c| c.name.as_str()).collect();
            let known = if known.is_empty() { "no client".into() } else { known.join(", ") };
            let name = name.escape_default();
            return Err(ConfigError(format!(
                "there is no client {name} in the configuration, which has {known}: name one of these"
            )));
        }
        new.consistent()
    }

    fn checked(self) -> Result<Self, ConfigError> {
        if self.parties.len() < 2 {
            return Err(ConfigError::new("a mesh has at least two parties: add a [[party]] for each"));
        }
        self.consistent()
    }

    /// Checks everything but that there are parties enough.
    fn consistent(mut self) -> Result<Self, ConfigError> {
        let fail = |message: String| Err(ConfigError(message));
        self.parties.sort_by_key(|p| p.id);
        for pair in self.parties.windows(2) {
            if let [a, b] = pair
                && a.id == b.id
            {
                return fail(format!("{} is there twice: give each party its own id", a.id));
            }
        }
        let mut addresses = HashMap::new();
        let mut keys: HashMap<Fingerprint, String> = HashMap::new();
        let mut names = HashMap::new();
        for (want, p) in PartyId::all(255).zip(&self.parties) {
            if p.id != want {
                return fail(format!("{want} is missing: number the parties from 1 without gaps"));
            }
            let port = p.address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
            if port.and_then(|(_, port)| port.parse::<u16>().ok()).is_none_or(|port| port == 0) {
                let address = &p.address;
                return fail(format!(
                    "the address \"{address}\" of {want} is not host:port: write it like host:4701"
                ));
            }
            if let Some((host, port)) = port
                && host.contains(':')
                && !(host.starts_with('[') && host.ends_with(']'))
            {
                let address = &p.address;
                return fail(format!(
                    "the address \"{address}\" of {want} has an IPv6 address without brackets: write it like \
                     [{host}]:{port}"
                ));
            }
            if let Some(other) = addresses.insert(p.address.as_str(), want) {
                return fail(format!(
                    "{other} and {want} have the same address {}: give each its own",
                    p.address
                ));
            }
            if let Some(other) = keys.insert(p.pin.fingerprint(), want.to_string()) {
                return fail(format!(
                    "{other} and {want} have the same key: each needs an identity of its own"
                ));
            }
        }
        for c in &self.clients {
            let good = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
            if c.name.is_empty() || c.name.len() > 64 || !c.name.bytes().all(good) {
                let name = c.name.escape_default();
                return fail(format!(
                    "the client name \"{name}\" is not 1 to 64 letters, digits, or any of -_.@"
                ));
            }
            if names.insert(c.name.as_str(), ()).is_some() {
                return fail(format!("client {} is there twice: give each client its own name", c.name));
            }
            if let Some(other) = keys.insert(c.pin.fingerprint(), format!("client {}", c.name)) {
                let name = &c.name;
                return fail(format!(
                    "{other} and client {name} have the same key: each needs an identity of its own"
                ));
            }
        }
        for (name, value) in
            [("timeout_seconds", self.timeout_seconds), ("connect_seconds", self.connect_seconds)]
        {
            if value.is_some_and(|v| !LIMITS.contains(&v)) {
                return fail(format!("{name} is not between 0.01 and 86400: write a number of seconds"));
            }
        }
        Ok(self)
    }

    /// The parties, in order.
    pub fn parties(&self) -> &[PartyEntry] {
        &self.parties
    }

    /// The clients.
    pub fn clients(&self) -> &[ClientEntry] {
        &self.clients
    }

    /// A party by its number.
    pub fn party(&self, id: PartyId) -> Result<&PartyEntry, ConfigError> {
        let n = self.parties.len();
        let missing =
            || ConfigError(format!("there is no {id} in the configuration: its parties are 1 to {n}"));
        self.parties.get(id.index()).ok_or_else(missing)
    }

    /// The party with this identity.
    pub fn party_of(&self, identity: Fingerprint) -> Option<PartyId> {
        self.parties.iter().find(|p| p.pin.fingerprint() == identity).map(|p| p.id)
    }

    /// The client with this identity.
    pub fn client_of(&self, identity: Fingerprint) -> Option<&ClientEntry> {
        self.clients.iter().find(|c| c.pin.fingerprint() == identity)
    }

    /// How long a receive waits for a message.
    pub fn timeout(&self) -> Duration {
        seconds(self.timeout_seconds, 10)
    }

    /// This configuration with another time limit of a receive, rounded to the range from 0.01 s to a day.
    /// The digest stays the same.
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout_seconds = Some(limit.as_secs_f64().clamp(*LIMITS.start(), *LIMITS.end()));
        self
    }

    /// How long a party waits for the others.
    pub fn connect(&self) -> Duration {
        seconds(self.connect_seconds, 30)
    }

    /// The digests of this configuration. Addresses and time limits are not part of them, because they may
    /// differ between parties.
    pub fn digest(&self) -> IdentityDigest {
        let first_half = |hash: blake3::Hasher| {
            let mut half = [0; 16];
            hash.finalize_xof().fill(&mut half);
            half
        };
        let mut parties = blake3::Hasher::new_derive_key("divisi configuration, parties, version 2");
        parties.update(&(self.parties.len() as u64).to_le_bytes());
        for p in &self.parties {
            parties.update(&[p.id.number()]).update(p.pin.fingerprint().bytes());
        }
        let mut sorted: Vec<&ClientEntry> = self.clients.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        let mut clients = blake3::Hasher::new_derive_key("divisi configuration, clients, version 2");
        for c in sorted {
            clients.update(&(c.name.len() as u64).to_le_bytes()).update(c.name.as_bytes());
            clients.update(c.pin.fingerprint().bytes());
        }
        IdentityDigest { parties: first_half(parties), clients: first_half(clients) }
    }

    /// The limits of clients that have none of their own.
    pub fn limits(&self) -> &Grants {
        &self.limits
    }

    /// Checks that `identity` is the one pinned for party `me`.
    pub fn check_identity(&self, me: PartyId, identity: &Identity) -> Result<(), ConfigError> {
        let (pinned, own) = (self.party(me)?.pin.fingerprint(), identity.fingerprint());
        if pinned == own {
            return Ok(());
        }
        let whose = match (self.party_of(own), self.client_of(own)) {
            (Some(other), _) => format!("that of {other}"),
            (_, Some(client)) => format!("that of client {}", client.name),
            _ => "not in the configuration".into(),
        };
        Err(ConfigError(format!(
            "this identity is {whose}: its fingerprint is {own}, and the configuration pins {pinned} for {me}; give \
             the right file, or pin this one with `mesh add`"
        )))
    }
}

fn seconds(value: Option<f64>, default: u64) -> Duration {
    value.and_then(|s| Duration::try_from_secs_f64(s).ok()).unwrap_or(Duration::from_secs(default))
}
