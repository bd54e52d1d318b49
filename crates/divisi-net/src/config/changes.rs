//! What differs between two configurations, for the log of a server that takes over the second.

use super::{Config, Grants};

/// The largest number of changes that are named one by one.
const MOST: usize = 64;

impl Config {
    /// Whether both name the same parties, with the same identities: their links stay.
    #[must_use]
    pub fn has_parties_of(&self, other: &Config) -> bool {
        let pins = |config: &Config| -> Vec<_> {
            config.parties.iter().map(|party| (party.id, party.pin.fingerprint())).collect()
        };
        pins(self) == pins(other)
    }

    /// A clause for each difference of `new` from this configuration.
    #[must_use]
    pub fn changes(&self, new: &Config) -> Vec<String> {
        let mut changes = Vec::new();
        let mut differ = |what: String, before: String, now: String| {
            if before != now {
                changes.push(format!("{what} is {now} now, and was {before}"));
            }
        };
        let seconds = |time: std::time::Duration| time.as_secs_f64().to_string();
        differ("timeout_seconds".into(), seconds(self.timeout()), seconds(new.timeout()));
        differ("connect_seconds".into(), seconds(self.connect()), seconds(new.connect()));
        differ("what [limits] grants".into(), granted(&self.limits), granted(&new.limits));
        for (before, now) in self.parties.iter().zip(&new.parties) {
            differ(format!("the address of {}", now.id), before.address.clone(), now.address.clone());
            let [before, pin] = [before, now].map(|party| party.pin.fingerprint().to_string());
            differ(format!("the identity of {}", now.id), before, pin);
        }
        for now in &new.clients {
            let Some(before) = self.clients.iter().find(|client| client.name == now.name) else { continue };
            let [old, pin] = [before, now].map(|client| client.pin.fingerprint().to_string());
            differ(format!("the identity of client {}", now.name), old, pin);
            let limits = [before, now].map(|client| granted(&client.limits));
            let [old, granted] = limits;
            differ(format!("what is granted to client {}", now.name), old, granted);
        }
        let lacks = |config: &Config, name: &str| config.clients.iter().all(|client| client.name != name);
        for client in new.clients.iter().filter(|client| lacks(self, &client.name)) {
            changes.push(format!(
                "client {} is new, with the identity {}",
                client.name,
                client.pin.fingerprint()
            ));
        }
        for client in self.clients.iter().filter(|client| lacks(new, &client.name)) {
            changes.push(format!("client {} is not served any more", client.name));
        }
        if self.parties.len() != new.parties.len() {
            changes.push(format!(
                "there are {} parties now, and were {}",
                new.parties.len(),
                self.parties.len()
            ));
        }
        let more = changes.len().saturating_sub(MOST);
        if more > 0 {
            changes.truncate(MOST);
            changes.push(format!("and {more} more changes"));
        }
        changes
    }
}

/// Limits in one line, as they stand in the file.
fn granted(limits: &Grants) -> String {
    let text = toml::to_string(limits).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "the default".into() } else { lines.join(", ") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Machine;

    /// Each member of a configuration that changes is named, with its value before and now; what stays is
    /// not.
    #[test]
    fn every_change_is_named() {
        let made = Config::create(3, &[], &["anna".into(), "anne".into()], &Machine).unwrap();
        let text = made.config.to_toml();
        let old = Config::parse(&text).unwrap();
        assert_eq!(old.changes(&made.config), Vec::<String>::new());
        let change = |from: &str, to: &str| {
            let new = Config::parse(&text.replacen(from, to, 1)).unwrap();
            let changes = old.changes(&new);
            assert_eq!(changes.len(), 1, "{changes:?}");
            (changes.concat(), new.has_parties_of(&old))
        };
        let version = "version = 1";
        let with = |line: &str| format!("{version}\n{line}");
        assert_eq!(
            change(version, &with("timeout_seconds = 2.5")),
            ("timeout_seconds is 2.5 now, and was 10".into(), true)
        );
        assert_eq!(
            change(version, &with("connect_seconds = 5")),
            ("connect_seconds is 5 now, and was 30".into(), true)
        );
        assert_eq!(
            change(version, &with("limits = { keys = 3, message_bytes_of = { sha256 = 7 } }")).0,
            "what [limits] grants is keys = 3, [message_bytes_of], sha256 = 7 now, and was the default"
        );
        for new in ["localhost:4702", "127.0.0.1:4705"] {
            let line = format!("the address of party 2 is {new} now, and was 127.0.0.1:4702");
            assert_eq!(change("127.0.0.1:4702", new), (line, true));
        }
        let [key, other] = [0, 1].map(|i| made.clients[i].public());
        let fresh = crate::Identity::generate(&Machine).public();
        let (line, same) = change(&made.parties[2].public().to_string(), &fresh.to_string());
        assert!(
            line.starts_with(&format!("the identity of party 3 is {} now", fresh.fingerprint())),
            "{line}"
        );
        assert!(!same);
        let (line, _) = change(&key.to_string(), &fresh.to_string());
        assert!(
            line.starts_with("the identity of client anna is")
                && line.contains(&key.fingerprint().to_string())
        );
        let limited = format!("key = \"{other}\"\nlimits = {{ waiting = 2 }}");
        assert_eq!(
            change(&format!("key = \"{other}\""), &limited).0,
            "what is granted to client anne is waiting = 2 now, and was the default"
        );
        let gone = old.remove_client("anne").unwrap();
        assert_eq!(old.changes(&gone), ["client anne is not served any more"]);
        assert_eq!(
            gone.changes(&old),
            [format!("client anne is new, with the identity {}", other.fingerprint())]
        );
    }
}
