//! Whether a request keeps to the limits of its client: checked when it arrives, before anything is done for
//! it.

use crate::error::{ErrorKind, Failed};
use crate::request::{FunctionRequest, Item, Mode};
use crate::server::allowances::Limits;
use divisi_core::Step;
use divisi_net::Config;
use divisi_symmetric::algorithm::Algorithm;
use divisi_symmetric::hash::Hash;
use std::collections::HashMap;
use std::time::{Duration, Instant};

const LIMIT: Step = Step::new("divisi_node::server::limits/limit");
/// The time over which bytes and seconds are counted.
const HOUR: Duration = Duration::from_secs(3600);
/// How long three servers take for each byte of a message, in nanoseconds, on a machine of 2024, for the
/// words of a refusal: with a hash that adds, SHA-1 or SHA-2, and with another function.
const WITH_ADDITIONS: u64 = 160_000;
const WITHOUT_ADDITIONS: u64 = 25_000;

impl Limits {
    /// The largest length in bytes of a message for this function.
    fn longest_asked(&self, asked: &FunctionRequest) -> u64 {
        // an unknown algorithm is refused, whatever the length
        asked.settings().map_or(self.message_bytes, |settings| self.longest(&settings.algorithm.name()))
    }

    /// Check how many bytes of a message of unknown length there were against these limits.
    pub(crate) fn admits_so_far(&self, bytes: u64) -> Result<(), Failed> {
        let most = self.text_bytes;
        if bytes <= most {
            return Ok(());
        }
        let message =
            format!("the text has more than {most} bytes, the most that this server accepts: split it");
        Err(Failed::refused(LIMIT, message))
    }

    /// Check the length in a request against these limits.
    pub(crate) fn admits(&self, item: &Item) -> Result<(), Failed> {
        match item {
            Item::Encrypt { length, .. } | Item::Decrypt { length, .. } if *length > self.text_bytes => {
                let most = self.text_bytes;
                let message =
                    format!("the text has {length} bytes, and this server accepts at most {most}: split it");
                Err(Failed::refused(LIMIT, message))
            }
            Item::Mode(asked) if asked.length > self.longest(asked.mode.name()) => {
                let (length, most) = (asked.length, self.longest(asked.mode.name()));
                let message = format!(
                    "the text has {length} bytes, and this server accepts at most {most} in this mode: split it"
                );
                Err(Failed::refused(LIMIT, message))
            }
            Item::Hash { asked, length } | Item::Mac { asked, length, .. }
                if *length > self.longest_asked(asked) =>
            {
                let most = self.longest_asked(asked);
                let message = format!(
                    "the message has {length} bytes, which would take about {}, and this server accepts at most {most}: hash a \
                     shorter one, or have the operator raise the limit",
                    about(asked, *length)
                );
                Err(Failed::refused(LIMIT, message))
            }
            _ => Ok(()),
        }
    }
}

/// Check that the limits of a configuration name only algorithms that servers have: a misspelt name would
/// limit nothing.
pub(crate) fn known_names(config: &Config) -> Result<(), String> {
    let of_clients = config.clients().iter().map(|client| &client.limits);
    for name in of_clients.chain([config.limits()]).flat_map(|limits| limits.message_bytes_of.keys()) {
        if Mode::ALL.iter().all(|mode| mode.name() != name) {
            let modes = Mode::ALL.map(Mode::name).join(", ");
            let known = name.parse::<Algorithm>();
            known.map_err(|e| format!("in message_bytes_of of the configuration: {e}, {modes}"))?;
        }
    }
    Ok(())
}

/// How long a message takes to hash, in words.
fn about(asked: &FunctionRequest, length: u64) -> String {
    let adds = match asked.settings().map(|settings| settings.algorithm) {
        Ok(Algorithm::Hash(hash) | Algorithm::Hmac(hash) | Algorithm::Otp(hash)) => {
            !matches!(hash, Hash::Sha3(_))
        }
        Ok(_) => false,
        Err(_) => true,
    };
    let each = if adds { WITH_ADDITIONS } else { WITHOUT_ADDITIONS };
    let minutes = (u128::from(length) * u128::from(each) / 60_000_000_000).max(1);
    if minutes < 120 { format!("{minutes} minutes") } else { format!("{} hours", minutes / 60) }
}

/// The bytes and the processor time that a client used within an hour.
struct Account {
    begun: Instant,
    bytes: u64,
    computed: Duration,
}

impl Account {
    fn full(&self, client: &str, what: &str, now: Instant) -> Failed {
        let left = HOUR.saturating_sub(now.saturating_duration_since(self.begun)).as_secs().div_ceil(60);
        let message = format!("client {client} has used {what} within the hour: try again in {left} minutes");
        let failed = Failed { retry: true, ..Failed::refused(LIMIT, message) };
        Failed { kind: ErrorKind::Unavailable, ..failed }
    }

    fn full_of_bytes(&self, limits: &Limits, client: &str, now: Instant) -> Failed {
        let most = limits.bytes_an_hour;
        self.full(client, &format!("{} of its {most} bytes", self.bytes.min(most)), now)
    }
}

/// The accounts of all clients, by name.
#[derive(Default)]
pub(crate) struct Accounts(HashMap<String, Account>);

impl Accounts {
    fn of(&mut self, client: &str, now: Instant) -> &mut Account {
        self.0.retain(|_, account| now.saturating_duration_since(account.begun) < HOUR);
        let new = || Account { begun: now, bytes: 0, computed: Duration::ZERO };
        self.0.entry(client.to_owned()).or_insert_with(new)
    }

    /// Count the bytes of a request, unless they exceed the limit.
    pub fn begin(&mut self, limits: &Limits, client: &str, item: &Item, now: Instant) -> Result<(), Failed> {
        let bytes = match item {
            Item::Encrypt { aad, length, .. } | Item::Decrypt { aad, length, .. } => {
                length.saturating_add(aad.0.len() as u64)
            }
            // the message is counted as it comes
            Item::EncryptStream { aad, .. } => aad.0.len() as u64,
            Item::Hash { length, .. } | Item::Mac { length, .. } => *length,
            Item::Mode(asked) => asked.length.saturating_add(asked.aad_bytes() as u64),
            _ => 0,
        };
        if let Some(full) = self.is_over(limits, client, now) {
            return Err(full);
        }
        // a message of unknown length needs room for a byte at least
        let least = if matches!(item, Item::EncryptStream { .. }) { bytes.max(1) } else { bytes };
        let account = self.of(client, now);
        if least > 0 && account.bytes.saturating_add(least) > limits.bytes_an_hour {
            return Err(account.full_of_bytes(limits, client, now));
        }
        account.bytes = account.bytes.saturating_add(bytes);
        Ok(())
    }

    /// Count more bytes of a request, which were computed already: also if they exceed the limit.
    pub fn add(&mut self, limits: &Limits, client: &str, bytes: u64, now: Instant) -> Result<(), Failed> {
        let account = self.of(client, now);
        account.bytes = account.bytes.saturating_add(bytes);
        if bytes > 0 && account.bytes > limits.bytes_an_hour {
            return Err(account.full_of_bytes(limits, client, now));
        }
        Ok(())
    }

    /// The refusal of a client that has used all its seconds of computing.
    pub fn is_over(&mut self, limits: &Limits, client: &str, now: Instant) -> Option<Failed> {
        let account = self.of(client, now);
        let over = account.computed.as_secs() >= limits.seconds_an_hour;
        over.then(|| {
            account.full(client, &format!("its {} seconds of computing", limits.seconds_an_hour), now)
        })
    }

    /// Count the processor's time that a step took.
    pub fn compute(&mut self, client: &str, took: Duration, now: Instant) {
        self.of(client, now).computed += took;
    }

    /// The processor time that is counted for a client within this hour.
    #[cfg(test)]
    pub fn computed(&self, client: &str) -> Duration {
        self.0.get(client).map_or(Duration::ZERO, |account| account.computed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{ModeRequest, SboxChoice, Tag};
    use crate::server::allowances::Allowances;
    use crate::wire::Blob;
    use divisi_store::KeyName;
    use divisi_symmetric::algorithm::Settings;

    fn hash(name: &str, length: u64) -> Item {
        Item::Hash { asked: FunctionRequest::from(&Settings::new(name.parse().unwrap())), length }
    }

    /// The default admits a hash of 16 MiB, and refuses a longer one with the time that it would take.
    #[test]
    fn a_long_hash_is_refused_with_its_time() {
        let limits = Limits::default();
        assert_eq!(limits.admits(&hash("sha256", 16 << 20)), Ok(()));
        for (names, words) in [
            (
                ["sha1-for-old-data", "sha256", "sha384", "hmac-sha384", "one-time-password-sha512"],
                "about 47 hours",
            ),
            (["sha3-256", "hmac-sha3-384", "shake128", "cshake256", "kmac128"], "about 7 hours"),
            (["cmac-aes128", "cmac-aes256", "gmac-aes128", "gmac-aes256", "kmac256"], "about 7 hours"),
        ] {
            for name in names {
                let failed = limits.admits(&hash(name, 1 << 30)).unwrap_err();
                assert!(failed.message.contains(words), "{name}: {}", failed.message);
            }
        }
        let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
        let text = Item::Encrypt { key, aad, length: 1 << 36, way };
        assert!(limits.admits(&text).unwrap_err().message.contains("split it"));
    }

    /// The limit of an algorithm is the one given for it, otherwise the one for all messages; a limit of the
    /// client for all messages takes precedence over one of everybody's for an algorithm.
    #[test]
    fn a_message_may_be_as_long_as_its_algorithm_allows() {
        let hosts = ["a:1", "b:1", "c:1"].map(String::from);
        let names = ["alice", "alicia", "carol"].map(String::from);
        let made = Config::create(3, &hosts, &names, &divisi_net::Machine).unwrap();
        let limits = "[limits]\nmessage_bytes = 1000\nmessage_bytes_of = { sha3-256 = 5000, siv = 7 }";
        let of = |text: String, name: &str, limits: &str| {
            text.replace(
                &format!("name = \"{name}\""),
                &format!("name = \"{name}\"\nlimits = {{ {limits} }}"),
            )
        };
        let text =
            made.config.to_toml().replace("[[party]]\nid = 1", &format!("{limits}\n\n[[party]]\nid = 1"));
        let text = of(text, "alicia", "message_bytes_of = { sha256 = 3000 }");
        let text = of(text, "carol", "message_bytes = 0, message_bytes_of = { sha256 = 1 }");
        let config = Config::parse(&text).unwrap();
        assert_eq!(Config::parse(&config.to_toml()).unwrap(), config);
        for (name, known) in Mode::ALL.map(|mode| (mode.name(), true)).into_iter().chain([("sivv", false)]) {
            let config = Config::parse(&text.replace("siv = 7", &format!("{name} = 7"))).unwrap();
            assert_eq!(known_names(&config).is_ok(), known, "{name}");
        }
        let all = Allowances::of_config(&config, &Limits::default());
        let longest = |client: &str, name: &str| {
            let limits = all.of(client);
            let most = limits.longest(name);
            if name != "siv" {
                assert_eq!(limits.admits(&hash(name, most)), Ok(()), "{client} {name}");
                let refused = limits.admits(&hash(name, most + 1)).unwrap_err().message;
                assert!(refused.contains(&format!("accepts at most {most}: hash a")), "{refused}");
            }
            most
        };
        let of_client =
            |client: &str| ["sha3-256", "sha256", "shake128", "siv"].map(|name| longest(client, name));
        assert_eq!(of_client("alice"), [5000, 1000, 1000, 7]);
        assert_eq!(of_client("alicia"), [5000, 3000, 1000, 7]);
        assert_eq!(of_client("carol"), [0, 1, 0, 0]);
        let whole = |mode, length| {
            let (key, way) = ("k".parse().unwrap(), SboxChoice::DEFAULT);
            let whole = ModeRequest { key, mode, encrypts: true, aad: None, length, iv: [0; 16], way };
            all.of("alice").admits(&Item::Mode(whole)).map_err(|failed| failed.message)
        };
        assert_eq!((whole(Mode::Siv, 7), whole(Mode::Kw, 1000)), (Ok(()), Ok(())));
        assert!(whole(Mode::Siv, 8).unwrap_err().contains("accepts at most 7 in this mode"));
        // of a client, and of all
        for (right, wrong) in [("sha256 = 1", "sha265 = 1"), ("sha3-256 = 5000", "sha3-265 = 5000")] {
            let config = Config::parse(&text.replace(right, wrong)).unwrap();
            let refused = known_names(&config).unwrap_err();
            let unknown = format!("unknown algorithm \"{}\"", wrong.split_once(' ').unwrap().0);
            assert!(refused.contains(&unknown) && refused.ends_with("kw, kwp"), "{refused}");
        }
    }

    #[test]
    fn bytes_and_seconds_are_counted_by_client_and_hour() {
        let limits = Limits { bytes_an_hour: 100, seconds_an_hour: 5, ..Limits::default() };
        let (mut accounts, start) = (Accounts::default(), Instant::now());
        let begin = |accounts: &mut Accounts, client: &str, length, after: u64| {
            let now = start + Duration::from_secs(after);
            accounts.begin(&limits, client, &hash("sha256", length), now).map_err(|failed| failed.message)
        };
        assert_eq!(begin(&mut accounts, "a", 60, 0), Ok(()));
        let full = begin(&mut accounts, "a", 41, 600).unwrap_err();
        assert!(full.contains("60 of its 100 bytes") && full.contains("in 50 minutes"), "{full}");
        assert_eq!(begin(&mut accounts, "a", 40, 600), Ok(()));
        assert_eq!(begin(&mut accounts, "b", 100, 600), Ok(()));
        assert!(begin(&mut accounts, "a", 1, 3599).unwrap_err().contains("in 1 minutes"));
        assert_eq!(begin(&mut accounts, "a", 100, 3600), Ok(()));
        // and each client's hour is its own
        assert!(begin(&mut accounts, "b", 1, 3600).unwrap_err().contains("in 10 minutes"));
        accounts.compute("b", Duration::from_secs(5), start + Duration::from_secs(700));
        assert!(begin(&mut accounts, "b", 0, 701).unwrap_err().contains("5 seconds of computing"));
    }

    /// What a message of unknown length took counts also where it exceeds the limit, and the next one is
    /// refused before it begins; what a refused request would have taken does not count.
    #[test]
    fn a_stream_that_exceeds_the_limit_is_counted() {
        let limits = Limits { bytes_an_hour: 100, ..Limits::default() };
        let (mut accounts, now) = (Accounts::default(), Instant::now());
        let stream = |aad: usize| {
            let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![0; aad]), SboxChoice::DEFAULT);
            Item::EncryptStream { key, aad, way }
        };
        assert_eq!(accounts.begin(&limits, "a", &stream(10), now), Ok(()));
        assert_eq!(accounts.add(&limits, "a", 80, now), Ok(()));
        assert!(accounts.begin(&limits, "a", &stream(11), now).is_err());
        assert_eq!(accounts.begin(&limits, "a", &stream(0), now), Ok(()));
        let full = accounts.add(&limits, "a", 60, now).unwrap_err().message;
        assert!(full.contains("100 of its 100 bytes"), "{full}");
        for item in [stream(0), hash("sha256", 1)] {
            assert!(accounts.begin(&limits, "a", &item, now).is_err());
        }
        // nothing more is counted for what takes no bytes
        assert_eq!(accounts.add(&limits, "a", 0, now), Ok(()));
        assert_eq!(accounts.begin(&limits, "b", &stream(99), now), Ok(()));
        assert_eq!(accounts.add(&limits, "b", 1, now), Ok(()));
        assert!(accounts.begin(&limits, "b", &stream(0), now).is_err());
        // a byte too many is one
        assert_eq!(accounts.begin(&limits, "c", &stream(0), now), Ok(()));
        assert!(accounts.add(&limits, "c", 101, now).is_err());
    }

    /// A limit of lengths is one of every request that has such a length, in both directions.
    #[test]
    fn lengths_are_limited_in_both_directions() {
        let limits = Limits { text_bytes: 1000, message_bytes: 100, ..Limits::default() };
        let (key, aad, way): (KeyName, _, _) = ("k".parse().unwrap(), Blob(vec![]), SboxChoice::DEFAULT);
        let asked = FunctionRequest::from(&Settings::new("cmac-aes128".parse().unwrap()));
        let requests = |length: u64| {
            let (key, aad) = (|| key.clone(), || aad.clone());
            let tag = |tag| Item::Mac { key: key(), asked: asked.clone(), length: length / 10, tag };
            let (iv, nonce) = ([0; 16], None);
            let mut all = vec![
                Item::Encrypt { key: key(), aad: aad(), length, way },
                Item::Decrypt { key: key(), aad: aad(), length, iv: [0; 12], tag: [0; 16], way },
                hash("sha256", length / 10),
                tag(None),
                tag(Some(Tag { nonce, tag: Blob(vec![0; 16]) })),
            ];
            all.extend(Mode::ALL.iter().flat_map(|mode| {
                [true, false].map(|encrypts| {
                    let (mode, length, aad) = (*mode, length / 10, None);
                    Item::Mode(ModeRequest { key: key(), mode, encrypts, aad, length, iv, way })
                })
            }));
            all
        };
        assert!(requests(1000).iter().all(|item| limits.admits(item).is_ok()));
        for item in requests(1010) {
            assert!(limits.admits(&item).is_err(), "{item:?}");
        }
    }

    /// Associated data are bytes of a request, too.
    #[test]
    fn associated_data_count() {
        let limits = Limits { bytes_an_hour: 100, ..Limits::default() };
        let (key, aad, way): (KeyName, _, _) = ("k".parse().unwrap(), Blob(vec![0; 60]), SboxChoice::DEFAULT);
        let whole = ModeRequest {
            key: key.clone(),
            mode: Mode::Siv,
            encrypts: true,
            aad: Some(aad.clone()),
            length: 41,
            iv: [0; 16],
            way,
        };
        for item in [
            Item::Encrypt { key: key.clone(), aad: aad.clone(), length: 41, way },
            Item::Decrypt { key: key.clone(), aad: aad.clone(), length: 41, iv: [0; 12], tag: [0; 16], way },
            Item::Mode(whole),
        ] {
            let refused = Accounts::default().begin(&limits, "a", &item, Instant::now());
            assert!(refused.is_err(), "{item:?}");
        }
    }
}
