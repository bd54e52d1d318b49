//! The configuration as the text of its file.

use super::{ClientEntry, Config, ConfigError, Grants, PartyEntry, Pin};
use crate::PartyId;
use crate::identity::open_file;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No configuration file is longer.
const LONGEST: u64 = 4 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "is_nothing")]
    limits: Grants,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    party: Vec<PartyForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    client: Vec<ClientForm>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartyForm {
    id: u8,
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientForm {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(default, skip_serializing_if = "is_nothing")]
    limits: Grants,
}

fn is_nothing(limits: &Grants) -> bool {
    *limits == Grants::default()
}

fn pin(who: &str, key: Option<&str>, fingerprint: Option<&str>) -> Result<Pin, ConfigError> {
    let wrong =
        |what: &str| ConfigError(format!("the {what} of {who} is not 64 hexadecimal digits: copy it again"));
    match (key, fingerprint) {
        (Some(key), None) => key.parse().map(Pin::Key).map_err(|_| wrong("key")),
        (None, Some(print)) => print.parse().map(Pin::Fingerprint).map_err(|_| wrong("fingerprint")),
        (None, None) => Err(ConfigError(format!("{who} has no key: add `key = \"...\"`"))),
        (Some(_), Some(_)) => {
            Err(ConfigError(format!("{who} has a key and a fingerprint: keep one of them")))
        }
    }
}

fn unpin(pin: &Pin) -> (Option<String>, Option<String>) {
    match pin {
        Pin::Key(key) => (Some(key.to_string()), None),
        Pin::Fingerprint(print) => (None, Some(print.to_string())),
    }
}

/// What `read` reads of a file, unless the file changes meanwhile: half of a file that is being written may
/// be a configuration with fewer clients. A pipe has its end where its writer closes it.
fn unchanged<T>(file: &File, read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let stamp = || file.metadata().map(|known| known.is_file().then(|| (known.len(), known.modified().ok())));
    let before = stamp()?;
    let content = read()?;
    if stamp()? == before { Ok(content) } else { Err(io::Error::other("it changed while it was read")) }
}

impl Config {
    /// Reads the file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::load_text(path, Self::parse)
    }

    /// Reads a file to which parties are still being added: it may be empty, or have fewer than two parties.
    pub fn load_unfinished(path: &Path) -> Result<Self, ConfigError> {
        Self::load_text(path, |text| {
            let says_nothing = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
            if text.lines().all(says_nothing) {
                return Self::read("version = 1")?.consistent();
            }
            Self::read(text)?.consistent()
        })
    }

    fn load_text(
        path: &Path,
        parse: impl FnOnce(&str) -> Result<Self, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let failed = |why: String| {
            ConfigError(format!(
                "the configuration {} cannot be read ({why}): give the file that `mesh new` wrote",
                path.display()
            ))
        };
        let file = open_file(path).map_err(|e| failed(e.to_string()))?;
        let mut text = String::new();
        let read = || (&file).take(LONGEST + 1).read_to_string(&mut text);
        let size = unchanged(&file, read).map_err(|e| failed(e.to_string()))?;
        if size as u64 > LONGEST {
            return Err(failed(format!("it has more than {LONGEST} bytes")));
        }
        parse(&text).map_err(|e| ConfigError(format!("in {}: {e}", path.display())))
    }

    /// Reads the text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::read(text)?.checked()
    }

    /// Reads the text, without a check of what the parts of it say together.
    fn read(text: &str) -> Result<Self, ConfigError> {
        let form: FileForm = toml::from_str(text).map_err(|e| {
            let place = e.span().and_then(|span| text.get(..span.start));
            let line = place.map_or(1, |before| before.matches('\n').count() + 1);
            let message = e.message().lines().collect::<Vec<_>>().join(", ");
            ConfigError(format!("line {line}: {message}"))
        })?;
        if form.version != 1 {
            let version = form.version;
            return Err(ConfigError(format!(
                "the configuration has version {version} and this program knows version 1: use the program that \
                 made it, or make a new one with `mesh new`"
            )));
        }
        let mut parties = Vec::new();
        for p in form.party {
            let id = PartyId::new(p.id)
                .ok_or_else(|| ConfigError::new("a party has id 0: parties are numbered from 1"))?;
            let pin = pin(&id.to_string(), p.key.as_deref(), p.fingerprint.as_deref())?;
            parties.push(PartyEntry { id, address: p.address, pin });
        }
        let mut clients = Vec::new();
        for c in form.client {
            let pin = pin(&format!("client {}", c.name), c.key.as_deref(), c.fingerprint.as_deref())?;
            clients.push(ClientEntry { name: c.name, pin, limits: c.limits });
        }
        let FileForm { timeout_seconds, connect_seconds, limits, .. } = form;
        Ok(Self { parties, clients, timeout_seconds, connect_seconds, limits })
    }

    /// The text of the file.
    pub fn to_toml(&self) -> String {
        let party = self.parties.iter().map(|p| {
            let (key, fingerprint) = unpin(&p.pin);
            PartyForm { id: p.id.number(), address: p.address.clone(), key, fingerprint }
        });
        let client = self.clients.iter().map(|c| {
            let (key, fingerprint) = unpin(&c.pin);
            ClientForm { name: c.name.clone(), key, fingerprint, limits: c.limits.clone() }
        });
        let form = FileForm {
            version: 1,
            timeout_seconds: self.timeout_seconds,
            connect_seconds: self.connect_seconds,
            limits: self.limits.clone(),
            party: party.collect(),
            client: client.collect(),
        };
        toml::to_string(&form).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_that_changes_meanwhile_is_no_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mesh.toml");
        std::fs::write(&path, "version = 1").unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(unchanged(&file, || Ok(7)).unwrap(), 7);
        let grow = || File::options().append(true).open(&path)?.write_all(b"more");
        let shrink = || File::options().write(true).open(&path)?.set_len(3);
        for change in [&grow as &dyn Fn() -> io::Result<()>, &shrink] {
            assert!(unchanged(&file, change).unwrap_err().to_string().contains("it changed"));
        }
    }
}
