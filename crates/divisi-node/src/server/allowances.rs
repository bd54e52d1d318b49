//! What each client may use of a server: its own limits, or those for all, as the options and the
//! configuration of the server set them.

use divisi_net::{Config, Grants};
use std::collections::{BTreeMap, HashMap};

/// The limits of each client. A request that exceeds one is refused with a sentence that says which, without
/// effect on other requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The number of requests of a client that may wait to be begun, on all its connections.
    pub waiting: usize,
    /// The largest length in bytes of a message to be encrypted or decrypted with GCM.
    pub text_bytes: u64,
    /// The largest length in bytes of a message to be hashed or authenticated, which takes a thousand times
    /// as long as encryption, and of one in a mode other than GCM.
    pub message_bytes: u64,
    /// The same for single algorithms, by name, in place of `message_bytes`: hashes and MACs, and the modes
    /// that take a message in one piece.
    pub message_bytes_of: BTreeMap<String, u64>,
    /// The total bytes of the messages that a client begins within an hour.
    pub bytes_an_hour: u64,
    /// The seconds of this server's processor that a client's requests may take within an hour.
    pub seconds_an_hour: u64,
    /// The largest number of names of keys that a client has made, those of destroyed keys included.
    pub keys: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            waiting: 64,
            text_bytes: (1 << 36) - 32,
            message_bytes: 16 << 20,
            message_bytes_of: BTreeMap::new(),
            bytes_an_hour: u64::MAX,
            seconds_an_hour: u64::MAX,
            keys: 1000,
        }
    }
}

impl Limits {
    /// These limits, with those of `grants` in their place where it has any.
    fn with(&self, grants: &Grants) -> Limits {
        // a grant for all messages takes precedence over these limits for single algorithms
        let default = self.message_bytes_of.iter().filter(|_| grants.message_bytes.is_none());
        let message_bytes_of =
            default.chain(&grants.message_bytes_of).map(|(name, most)| (name.clone(), *most));
        let count = |granted: Option<u64>, else_: usize| {
            granted.map_or(else_, |granted| usize::try_from(granted).unwrap_or(usize::MAX))
        };
        Limits {
            waiting: count(grants.waiting, self.waiting),
            text_bytes: grants.text_bytes.unwrap_or(self.text_bytes),
            message_bytes: grants.message_bytes.unwrap_or(self.message_bytes),
            message_bytes_of: message_bytes_of.collect(),
            bytes_an_hour: grants.bytes_an_hour.unwrap_or(self.bytes_an_hour),
            seconds_an_hour: grants.seconds_an_hour.unwrap_or(self.seconds_an_hour),
            keys: count(grants.keys, self.keys),
        }
    }

    /// The longest message of an algorithm or a mode.
    pub(super) fn longest(&self, name: &str) -> u64 {
        self.message_bytes_of.get(name).copied().unwrap_or(self.message_bytes)
    }
}

/// The limits of each client: its own, or those for all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowances {
    all: Limits,
    own: HashMap<String, Limits>,
}

impl Allowances {
    /// The limits that a configuration sets; those of `default` where it sets none.
    pub fn of_config(config: &Config, default: &Limits) -> Allowances {
        let own = config.clients().iter().filter(|client| client.limits != Grants::default());
        let granted = |grants: &Grants| default.with(&grants.clone().or(config.limits()));
        let own = own.map(|client| (client.name.clone(), granted(&client.limits)));
        Allowances { all: default.with(config.limits()), own: own.collect() }
    }

    pub fn of(&self, client: &str) -> &Limits {
        self.own.get(client).unwrap_or(&self.all)
    }
}

impl From<Limits> for Allowances {
    fn from(all: Limits) -> Allowances {
        Allowances { all, own: HashMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_have_limits_of_its_own() {
        let hosts = ["a:1", "b:1", "c:1"].map(String::from);
        let names = ["alice".to_owned(), "alicia".to_owned()];
        let made = Config::create(3, &hosts, &names, &divisi_net::Machine).unwrap();
        let text = made
            .config
            .to_toml()
            .replace("[[party]]\nid = 1", "[limits]\nkeys = 5\nwaiting = 7\n\n[[party]]\nid = 1");
        let text = text.replace("name = \"alicia\"", "name = \"alicia\"\nlimits = { keys = 9 }");
        let config = Config::parse(&text).unwrap();
        assert_eq!(Config::parse(&config.to_toml()).unwrap(), config);
        let limits = Allowances::of_config(&config, &Limits::default());
        assert_eq!((limits.of("alice").keys, limits.of("alice").waiting), (5, 7));
        assert_eq!((limits.of("alicia").keys, limits.of("alicia").waiting), (9, 7));
        assert_eq!(limits.of("alicia").message_bytes, 16 << 20);
        assert!(Config::parse(&text.replace("waiting", "witing")).is_err());
    }

    /// Each limit is as it was granted: nothing at all is nothing, and no word for all.
    #[test]
    fn a_limit_is_what_was_granted() {
        for most in [0, 1, 63, 64, 1 << 20, u64::MAX] {
            let all = Some(most);
            let grants = Grants {
                waiting: all,
                text_bytes: all,
                message_bytes: all,
                bytes_an_hour: all,
                seconds_an_hour: all,
                keys: all,
                message_bytes_of: BTreeMap::from([("sha256".into(), most)]),
            };
            let limits = Limits::default().with(&grants);
            let right = Limits {
                waiting: most as usize,
                text_bytes: most,
                message_bytes: most,
                message_bytes_of: BTreeMap::from([("sha256".into(), most)]),
                bytes_an_hour: most,
                seconds_an_hour: most,
                keys: most as usize,
            };
            assert_eq!(limits, right);
            // and for whom nothing was granted, it is as it was
            assert_eq!(right.with(&Grants::default()), right);
        }
    }
}
