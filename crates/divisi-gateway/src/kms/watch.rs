//! Which key there is: learnt in the background and with each encryption, so that `Status` asks nobody.
//!
//! A key can be destroyed and another one be made of its name. The two have different ids, since no id comes
//! twice, so whoever looks notices.

use super::seal::{Id, key_id};
use crate::backend::{Backend, BackendTrouble, KeyKind};
use divisi_node::KeyName;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// How often the background sees whether it is time to look.
const LOOK: Duration = Duration::from_secs(1);
/// The same before the first look, for which it waits only until it is known how the servers are.
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// How long what it has seen is taken for true without another look.
const FRESH: Duration = Duration::from_secs(30);

/// Why there is no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoKey {
    /// The servers were not asked yet.
    Unasked,
    /// They have no key of the name that the gateway may use.
    Missing,
    /// It is of a type that does not encrypt.
    Unfit(KeyKind),
    /// They could not say.
    Trouble(BackendTrouble),
}

struct Seen {
    id: Option<Id>,
    trouble: Option<NoKey>,
    at: Option<Instant>,
}

/// The key as it was seen last.
pub(super) struct KeyWatch {
    servers: Arc<dyn Backend>,
    name: KeyName,
    seen: RwLock<Seen>,
}

impl KeyWatch {
    pub fn new(servers: Arc<dyn Backend>, name: KeyName) -> KeyWatch {
        let seen = RwLock::new(Seen { id: None, trouble: Some(NoKey::Unasked), at: None });
        KeyWatch { servers, name, seen }
    }

    /// Whether it is time to look.
    pub fn is_due(&self) -> bool {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        seen.trouble.is_some() || seen.at.is_none_or(|at| at.elapsed() >= FRESH)
    }

    /// How long the background rests.
    pub fn pause(&self) -> Duration {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        if seen.trouble == Some(NoKey::Unasked) { FIRST_LOOK } else { LOOK }
    }

    /// The id that was seen last.
    pub fn known(&self) -> Option<Id> {
        self.seen.read().unwrap_or_else(PoisonError::into_inner).id
    }

    /// The id that was seen last, or a look.
    ///
    /// # Errors
    /// [`NoKey`]
    pub fn known_or_look(&self) -> Result<Id, NoKey> {
        self.known().map_or_else(|| self.look(), Ok)
    }

    /// Ask the servers, and block until they have answered.
    ///
    /// # Errors
    /// [`NoKey`]
    pub fn look(&self) -> Result<Id, NoKey> {
        let found = match self.servers.find(&self.name) {
            Ok(Some(key)) if key.kind.encrypts() => Ok(key.id),
            Ok(Some(key)) => Err(NoKey::Unfit(key.kind)),
            Ok(None) => Err(NoKey::Missing),
            Err(trouble) => Err(NoKey::Trouble(trouble)),
        };
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        match &found {
            Ok(id) => *seen = Seen { id: Some(*id), trouble: None, at: Some(Instant::now()) },
            // the key that was there is there still, as far as anybody knows
            Err(NoKey::Trouble(trouble)) => seen.trouble = Some(NoKey::Trouble(trouble.clone())),
            Err(other) => *seen = Seen { id: None, trouble: Some(other.clone()), at: None },
        }
        drop(seen);
        found
    }

    /// What `Status` says: how the plugin is, and the `key_id`, which is empty if no key was seen.
    pub fn status(&self) -> (String, String) {
        let health = self.servers.health();
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        let healthz = match (&seen.trouble, health.waits_for()) {
            (_, Some(waits)) => waits,
            _ if !health.known => "it is not known yet how the servers are: ask again".into(),
            (None, None) => "ok".into(),
            (Some(trouble), None) => trouble.sentence(&self.name),
        };
        (healthz, seen.id.as_ref().map(key_id).unwrap_or_default())
    }

    /// What the log says of what was seen.
    pub fn line(&self, names_keys: bool) -> Option<String> {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        let named = || if names_keys { format!(" {}", self.name) } else { String::new() };
        match &seen.trouble {
            None => Some(format!("has its key{} for KMS v2", named())),
            Some(NoKey::Missing) => Some(format!("finds no key{} for KMS v2 at the servers", named())),
            Some(NoKey::Unfit(kind)) => {
                Some(format!("cannot use its key{} for KMS v2, which is of type {}", named(), kind.name()))
            }
            // what the attendant says of the servers is enough
            Some(NoKey::Unasked | NoKey::Trouble(_)) => None,
        }
    }
}

impl NoKey {
    /// The same as a sentence.
    pub fn sentence(&self, name: &KeyName) -> String {
        match self {
            NoKey::Unasked => "the gateway is about to look for its key: ask again".into(),
            NoKey::Missing => format!(
                "the servers have no key {name} that this gateway may use: make it with `divisi key new`, or have the \
                 operators let this gateway use it"
            ),
            NoKey::Unfit(kind) => format!(
                "the key {name} is of type {}, which does not encrypt: name one of type aes-256 or aes-128",
                kind.name()
            ),
            NoKey::Trouble(BackendTrouble::Down(party, why)) => down(*party, why),
            NoKey::Trouble(other) => other.to_string(),
        }
    }
}

/// The servers cannot answer; a server is named by its number.
pub(super) fn down(party: Option<u8>, why: &str) -> String {
    let named = party.map(|number| format!("party {number}")).filter(|name| !why.contains(name.as_str()));
    let who = named.map(|name| format!("{name}: ")).unwrap_or_default();
    format!("the servers cannot answer now: {who}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Memory;

    /// A key is looked for until it is there, and again when what was seen is old.
    #[test]
    fn what_was_seen_long_ago_is_looked_at_again() {
        let servers = Arc::new(Memory::default());
        let name: KeyName = "k".parse().unwrap();
        let watch = KeyWatch::new(servers.clone(), name.clone());
        assert!(watch.is_due() && watch.look().is_err() && watch.is_due());
        servers.make(&name, KeyKind::Aes256).unwrap();
        assert!(watch.look().is_ok() && !watch.is_due());
        // well are those of which all is known
        for (known, told) in [(false, "it is not known yet how the servers are: ask again"), (true, "ok")] {
            servers.hear(known);
            assert_eq!(watch.status().0, told);
        }
        // a machine that began a moment ago has no time that long ago
        if let Some(old) = Instant::now().checked_sub(FRESH) {
            watch.seen.write().unwrap().at = Some(old);
            assert!(watch.is_due());
        }
    }

    /// A server is named once.
    #[test]
    fn a_server_that_is_away_is_named() {
        for (party, why, told) in [
            (Some(2), "party 2 is away", "party 2 is away"),
            (Some(2), "no answer", "party 2: no answer"),
            (Some(2), "party 3 is away", "party 2: party 3 is away"),
            (None, "no answer", "no answer"),
        ] {
            assert_eq!(down(party, why), format!("the servers cannot answer now: {told}"));
        }
    }

    /// A key that is gone is the present one no more, and `Status` gives no id; one about which the servers
    /// cannot say anything stays.
    #[test]
    fn a_key_that_is_gone_has_no_id() {
        let servers = Arc::new(Memory::default());
        let name: KeyName = "k".parse().unwrap();
        let watch = KeyWatch::new(servers.clone(), name.clone());
        let id = servers.make(&name, KeyKind::Aes256).unwrap().id;
        for trouble in [None, Some(BackendTrouble::Down(None, "away".into()))] {
            assert_eq!((watch.look(), watch.status().1), (Ok(id), key_id(&id)));
            let stays = trouble.is_some();
            if stays {
                servers.fail(trouble)
            } else {
                servers.overlook()
            }
            assert!(watch.look().is_err() && watch.is_due());
            assert_eq!((watch.known() == Some(id), watch.status().1 == key_id(&id)), (stays, stays));
            assert_eq!(watch.known().is_none(), watch.status().1.is_empty());
        }
    }
}
