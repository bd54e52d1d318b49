//! Random inputs for what is read from a peer, and for configurations.

use crate::config::Config;
use crate::connection::{Unread, message};
use crate::frame::{CONTROL, Control, Head, Parser};
use crate::hello::{HELLO, Hello, Role};
use crate::identity::{Fingerprint, Identity, PublicKey};
use crate::status::{ServerStatus, tests::status};
use crate::world::{FixedWorld, Machine, World};
use std::io::{self, Read};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// A machine whose randomness is known, another each time, so that identities differ and inputs can be
/// reproduced.
struct KnownWorld(AtomicU8);

impl World for KnownWorld {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        FixedWorld.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        out.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

fn world() -> KnownWorld {
    KnownWorld(AtomicU8::new(1))
}

/// Frames as a link carries them.
fn some_frames() -> Vec<Vec<u8>> {
    let control = |control: Control| {
        let (head, body) = control.encode(7);
        [&head.encode()[..], &body].concat()
    };
    let head = Head { session: 7, strand: 2, step: 0x1234_5678, depth: 9, len: 5, more: false };
    let data = [&head.encode()[..], b"a body"].concat();
    let mut all = vec![data, control(Control::Abort { blames: 0 }), control(Control::Ask { strand: 1 })];
    all.push(control(Control::Answer { strand: 1, party: 2, step: 3 }));
    all.push(control(Control::Abort { blames: 2 }));
    all.push(all.concat());
    all
}

/// Parse a stream of bytes, with and without stamps, in one piece and in two, which must give the same.
/// Returns whether there was a frame.
fn frames(bytes: &[u8]) -> Result<bool, String> {
    let read = |stamped: bool, cut: usize| {
        let (mut parser, mut seen) = (Parser::new(stamped), Vec::new());
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let result = [first, second].into_iter().try_for_each(|piece| {
            parser.feed(piece, &mut |head, stamp, body| {
                if head.strand == CONTROL {
                    Control::decode(&head, &body)?;
                }
                seen.push((head, stamp, body.to_vec()));
                Ok(())
            })
        });
        (result.is_ok(), seen)
    };
    let mut came = false;
    for stamped in [false, true] {
        let whole = read(stamped, 0);
        if read(stamped, bytes.len() / 3) != whole {
            return Err("a stream in two pieces is another one".into());
        }
        came |= !whole.1.is_empty();
    }
    Ok(came)
}

/// Greetings of a party and of a client.
fn some_greetings() -> Vec<Vec<u8>> {
    let digest = crate::IdentityDigest { parties: [1; 16], clients: [2; 16] };
    let roles = [Role::Party, Role::Client];
    roles.into_iter().map(|role| Hello::new(role, 1, 2, digest, &FixedWorld).encode().to_vec()).collect()
}

/// Whether these bytes are a greeting; if so, the greeting must be written as the same bytes.
fn greeting(bytes: &[u8]) -> Result<bool, String> {
    let Some(bytes) = bytes.first_chunk::<HELLO>() else { return Ok(false) };
    match Hello::decode(bytes) {
        Some(hello) if hello.encode() == *bytes => Ok(true),
        Some(_) => Err("a greeting that is written otherwise".into()),
        None => Ok(false),
    }
}

/// Configurations of three and of two parties, and a text that is none.
fn some_configurations() -> Vec<Vec<u8>> {
    let hosts = ["a.example:7001", "[::1]:7002", "127.0.0.1:7003"].map(str::to_owned);
    let clients = ["alice".to_owned()];
    let world = world();
    let all = [Config::create(3, &hosts, &clients, &world), Config::create(2, &[], &[], &world)];
    let text = |config: Config| config.to_toml().into_bytes();
    let mut texts: Vec<Vec<u8>> = all.into_iter().flatten().map(|made| text(made.config)).collect();
    texts.push(b"version = 1\n[limits]\nwaiting = 3\nbytes = 10\n".to_vec());
    texts
}

/// A configuration that is accepted must have the same digest after it was written and read again.
fn configuration(bytes: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
    let Ok(config) = Config::parse(text) else { return Ok(false) };
    let again = Config::parse(&config.to_toml()).map_err(|e| format!("not read again: {e}"))?;
    if again.digest() == config.digest() { Ok(true) } else { Err("another one when read again".into()) }
}

/// An identity that is accepted must be the same after it was written and read again.
fn identity(bytes: &[u8]) -> Result<bool, String> {
    let Some(identity) = Identity::from_pem(bytes) else { return Ok(false) };
    match Identity::from_pem(identity.to_pem().as_bytes()) {
        Some(same) if same.public() == identity.public() => Ok(true),
        _ => Err("another identity when read again".into()),
    }
}

/// Public keys and fingerprints in digits, and SPKIs, must be written as they were read, except for capital
/// letters.
fn public_key(bytes: &[u8]) -> Result<bool, String> {
    if PublicKey::from_spki(bytes).is_some_and(|key| key.spki() != bytes) {
        return Err("an SPKI that is written otherwise".into());
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
    let key = text.parse().ok().map(|key: PublicKey| key.to_string());
    let fingerprint = text.parse().ok().map(|fingerprint: Fingerprint| fingerprint.to_string());
    let same = |shown: &Option<String>| shown.as_ref().is_none_or(|shown| shown.eq_ignore_ascii_case(text));
    if same(&key) && same(&fingerprint) { Ok(key.is_some()) } else { Err("other digits".into()) }
}

#[test]
fn random_identities() {
    let seeds = [Identity::generate(&world()).to_pem().as_bytes().to_vec()];
    divisi_fuzz::run("identities", env!("CARGO_MANIFEST_DIR"), &seeds, identity);
}

#[test]
fn random_public_keys() {
    let key = Identity::generate(&world()).public();
    let seeds = [key.to_string().into_bytes(), key.fingerprint().to_string().into_bytes(), key.spki()];
    divisi_fuzz::golden("public-keys", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("public-keys", env!("CARGO_MANIFEST_DIR"), &seeds, public_key);
}

#[test]
fn random_frames() {
    divisi_fuzz::golden("frames", env!("CARGO_MANIFEST_DIR"), &some_frames());
    divisi_fuzz::run("frames", env!("CARGO_MANIFEST_DIR"), &some_frames(), frames);
}

#[test]
fn random_greetings() {
    divisi_fuzz::golden("greetings", env!("CARGO_MANIFEST_DIR"), &some_greetings());
    divisi_fuzz::run("greetings", env!("CARGO_MANIFEST_DIR"), &some_greetings(), greeting);
}

/// A status that is accepted must be the same after it was written and read again.
#[test]
fn random_statuses() {
    let seeds = [status(), ServerStatus::default()].map(|status| status.encode()[2..].to_vec());
    divisi_fuzz::golden("statuses", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("statuses", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Some(status) = ServerStatus::decode(bytes) else { return Ok(false) };
        match ServerStatus::decode(&status.encode()[2..]) {
            Some(again) if again == status => Ok(true),
            _ => Err("another status when read again".into()),
        }
    });
}

#[test]
fn random_configurations() {
    divisi_fuzz::golden("configurations", env!("CARGO_MANIFEST_DIR"), &some_configurations());
    divisi_fuzz::run("configurations", env!("CARGO_MANIFEST_DIR"), &some_configurations(), configuration);
}

/// Messages of a connection, one after another: each has the announced length, and none is longer than
/// allowed.
#[test]
fn random_messages_of_connections() {
    const MOST: usize = 300;
    let one = |body: &[u8]| [&(body.len() as u32).to_le_bytes()[..], body].concat();
    let seeds = [one(b"a message"), [one(b""), one(&[7; MOST]), one(b"last")].concat(), one(&[1; MOST + 1])];
    divisi_fuzz::run("messages-of-connections", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let (mut from, mut again) = (bytes, Vec::new());
        loop {
            match message(MOST, |to| from.read_exact(to)) {
                Ok(body) if body.len() > MOST => return Err("a message that is too long".into()),
                Ok(body) => again.extend(one(&body)),
                Err(Unread::TooLong(len)) if len <= MOST => return Err(format!("{len} bytes refused")),
                Err(_) => break,
            }
        }
        if bytes.starts_with(&again) { Ok(!again.is_empty()) } else { Err("other messages".into()) }
    });
}
