//! The configuration file: what is accepted, and what each mistake is told.

use crate::parties::p;
use divisi_net::{Config, Identity, Machine, Pin, PublicKey};
use std::io::Write;
use std::time::Duration;

fn key(i: u8) -> String {
    hex::encode([i; 32])
}

fn party(id: u8) -> String {
    format!("[[party]]\nid = {id}\naddress = \"host{id}:4701\"\nkey = \"{}\"\n", key(id))
}

fn good() -> String {
    ["version = 1\ntimeout_seconds = 2.5\n", &party(1), &party(2), &party(3)].concat()
}

/// A file to which parties are still being added may say nothing yet; what it says is read all the same.
#[test]
fn an_unfinished_file_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mesh.toml");
    for (text, parties) in [("", Some(0)), (" \n# nothing yet\n", Some(0)), ("x = 1\n", None)] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(Config::load_unfinished(&path).ok().map(|read| read.parties().len()), parties, "{text:?}");
    }
    std::fs::write(&path, "x = 1\n").unwrap();
    let error = Config::load(&path).unwrap_err().to_string();
    assert!(error.contains(&path.display().to_string()) && error.contains("line 1"), "{error}");
    for parties in 1..4 {
        let text: String = (1..=parties).map(party).collect();
        std::fs::write(&path, format!("version = 1\n{text}")).unwrap();
        assert_eq!(Config::load_unfinished(&path).unwrap().parties().len(), usize::from(parties));
    }
}

/// The digest of the parties depends on each of them and on each byte of its key, that of the clients on
/// each name and key; what differs otherwise changes none.
#[test]
fn digests_have_all_parties_and_clients() {
    let digest = |parties: [[u8; 32]; 3], clients: &[(&str, [u8; 32])]| {
        let party = |(id, key): (usize, [u8; 32])| {
            format!(
                "[[party]]\nid = {}\naddress = \"host{id}:4701\"\nfingerprint = \"{}\"\n",
                id + 1,
                hex::encode(key)
            )
        };
        let client = |(name, key): &(&str, [u8; 32])| {
            format!("[[client]]\nname = \"{name}\"\nfingerprint = \"{}\"\n", hex::encode(key))
        };
        let parties: String = parties.into_iter().enumerate().map(party).collect();
        let text = format!("version = 1\n{parties}{}", clients.iter().map(client).collect::<String>());
        let digest = Config::parse(&text).unwrap().digest();
        (digest.parties, digest.clients)
    };
    let (parties, clients) = ([1, 2, 3].map(|i| [i; 32]), [("ann", [8; 32]), ("bob", [9; 32])]);
    let before = digest(parties, &clients);
    for (at, byte) in (0..3).flat_map(|at| (0..32).map(move |byte| (at, byte))) {
        let mut other = parties;
        other[at][byte] ^= 0x80;
        let after = digest(other, &clients);
        assert!(after.0 != before.0 && after.1 == before.1, "{at} {byte}");
    }
    for (at, byte) in (0..2).flat_map(|at| (0..32).map(move |byte| (at, byte))) {
        let mut other = clients;
        other[at].1[byte] ^= 0x80;
        let after = digest(parties, &other);
        assert!(after.0 == before.0 && after.1 != before.1, "{at} {byte}");
    }
    for (first, second) in [("anm", "bob"), ("ann", "bo"), ("an", "bob"), ("bob", "ann")] {
        let other = digest(parties, &[(first, [8; 32]), (second, [9; 32])]);
        assert!(other.0 == before.0 && other.1 != before.1, "{first} {second}");
    }
    assert_ne!(digest(parties, &clients[..1]).1, before.1);
}

#[test]
fn a_file_comes_back() {
    let text = good() + &format!("[[client]]\nname = \"alice\"\nfingerprint = \"{}\"\n", key(9));
    let config = Config::parse(&text).unwrap();
    assert_eq!(config.parties().len(), 3);
    assert_eq!(config.timeout(), Duration::from_millis(2500));
    assert_eq!(config.connect(), Duration::from_secs(30));
    assert_eq!(config.clients()[0].pin.fingerprint().to_string(), key(9));
    let again = Config::parse(&config.to_toml()).unwrap();
    assert_eq!(again, config);
    assert_eq!(again.digest(), config.digest());
}

/// The longest name of a client has 64 letters.
#[test]
fn names_of_clients_have_a_longest_length() {
    for (length, good_one) in [(1, true), (64, true), (65, false), (64 + 256, false)] {
        let text = good() + &format!("[[client]]\nname = \"{}\"\nkey = \"{}\"\n", "a".repeat(length), key(9));
        assert_eq!(Config::parse(&text).is_ok(), good_one, "{length}");
    }
    for name in ["!ab", "a!b", "ab!"] {
        let text = good() + &format!("[[client]]\nname = \"{name}\"\nkey = \"{}\"\n", key(9));
        assert!(Config::parse(&text).is_err(), "{name}");
    }
}

#[test]
fn each_mistake_is_told_in_one_sentence() {
    let clients = |a: &str, b: &str, ka: u8, kb: u8| {
        let client = |n: &str, k| format!("[[client]]\nname = \"{n}\"\nkey = \"{}\"\n", key(k));
        good() + &client(a, ka) + &client(b, kb)
    };
    let cases = [
        ("version = 1".into(), "at least two parties"),
        (good().replace("version = 1", "version = 2"), "version 2"),
        (good().replace("version = 1", "version = 257"), "version 257"),
        (good().replace("version = 1\n", ""), "missing field `version`"),
        (good().replace("address = \"host2", "adress = \"host2"), "line 9: unknown field `adress`"),
        (good() + "colour = 1\n", "line 15: unknown field `colour`"),
        (good().replace("id = 2", "id = 1"), "party 1 is there twice"),
        (good().replace("id = 2", "id = 4"), "party 2 is missing"),
        (good().replace("id = 2", "id = 0"), "numbered from 1"),
        (good().replace("id = 2", "id = 300"), "line 8"),
        (good().replace("host2", "host1"), "party 1 and party 2 have the same address"),
        (good().replace(&key(3), &key(1)), "party 1 and party 3 have the same key"),
        (good().replace(&key(3), "abcd"), "key of party 3 is not 64 hexadecimal digits"),
        (good().replace(&format!("key = \"{}\"", key(3)), ""), "party 3 has no key"),
        (good() + &format!("fingerprint = \"{}\"\n", key(3)), "keep one of them"),
        (good().replace("host3:4701", "host3"), "not host:port"),
        (good().replace("host3:4701", "host3:0"), "not host:port"),
        (good().replace("host3:4701", "host3:70000"), "not host:port"),
        (good().replace("host3:4701", "::1:4701"), "write it like [::1]:4701"),
        (good().replace("2.5", "0"), "timeout_seconds"),
        (good().replace("2.5", "nan"), "timeout_seconds"),
        (good().replace("timeout_seconds = 2.5", "connect_seconds = 0"), "connect_seconds"),
        (good().replace("2.5", "inf"), "timeout_seconds"),
        (clients("a", "a", 7, 8), "client a is there twice"),
        (clients("a", "b", 7, 7), "client a and client b have the same key"),
        (clients("a", "b", 7, 1), "party 1 and client b have the same key"),
        (clients("a b", "b", 7, 8), "client name"),
        ("version = [".into(), "line 1"),
    ];
    for (text, expected) in cases {
        let mut texts = vec![text];
        if expected.contains("same key") {
            // the key is the same if one of them, or each, is pinned by the fingerprint
            for k in [1, 7] {
                let print = format!("fingerprint = \"{}\"", PublicKey::new([k; 32]).fingerprint());
                let pinned = format!("key = \"{}\"", key(k));
                texts.extend([1, 2].map(|count| texts[0].replacen(&pinned, &print, count)));
            }
        }
        for text in texts {
            let e = Config::parse(&text).unwrap_err().to_string();
            assert!(e.contains(expected), "{expected}: {e}");
            assert!(!e.contains('\n'), "{e}");
        }
    }
    let e = Config::load(std::path::Path::new("/nowhere/mesh.toml")).unwrap_err().to_string();
    assert!(e.contains("cannot be read"), "{e}");
}

#[test]
fn a_new_mesh_and_what_is_added_to_it() {
    let names = ["alice".to_owned(), "bob".to_owned()];
    let made = Config::create(3, &[], &names, &Machine).unwrap();
    assert_eq!(made.parties.len(), 3);
    assert_eq!(made.clients.len(), 2);
    for (party, identity) in made.config.parties().iter().zip(&made.parties) {
        made.config.check_identity(party.id, identity).unwrap();
    }
    assert_eq!(Config::parse(&made.config.to_toml()).unwrap(), made.config);

    let one = Identity::generate(&Machine);
    let pin = Pin::Fingerprint(one.fingerprint());
    let more = made.config.add_client("carol", pin).unwrap();
    assert_eq!(more.client_of(one.fingerprint()).unwrap().name, "carol");
    assert_ne!(more.digest().clients, made.config.digest().clients);
    assert_eq!(more.digest().parties, made.config.digest().parties);
    // whose key a client has counts, too, as a party's does
    let other = made.config.add_client("bob", pin).unwrap();
    assert_ne!(other.digest().clients, made.config.digest().clients);
    assert_eq!(other.digest().parties, made.config.digest().parties);
    let fewer = more.remove_client("carol").unwrap();
    assert_eq!(fewer, made.config);
    assert!(fewer.remove_client("carol").unwrap_err().to_string().contains("alice, bob"));
    let changed = made.config.add_party(p(2), None, pin).unwrap();
    assert_eq!(changed.party_of(one.fingerprint()), Some(p(2)));
    assert_ne!(changed.digest().parties, made.config.digest().parties);
    assert_eq!(changed.digest().clients, made.config.digest().clients);
    assert_eq!(changed.parties()[1].address, made.config.parties()[1].address);
    // nor may the numbers of two be exchanged
    let [first, second] = [0, 1].map(|i| made.config.parties()[i].pin);
    let exchanged = changed.add_party(p(1), None, second).unwrap().add_party(p(2), None, first).unwrap();
    assert_ne!(exchanged.digest().parties, made.config.digest().parties);
    // whoever of many it is whose key is another one
    let many = Config::create(7, &[], &names, &Machine).unwrap().config;
    for number in 1..=7 {
        let changed = many.add_party(p(number), None, pin).unwrap();
        assert_ne!(changed.digest().parties, many.digest().parties, "{number}");
    }
    let larger = made.config.add_party(p(4), Some("four:1"), pin).unwrap();
    assert_eq!(larger.parties().len(), 4);
    // any port but 0, also those whose last byte is 0
    assert!(made.config.add_party(p(4), Some("four:256"), pin).is_ok());
    assert!(made.config.add_party(p(4), Some("four:0"), pin).is_err());
    assert!(made.config.add_party(p(4), None, pin).unwrap_err().to_string().contains("address"));
    assert!(made.config.add_party(p(6), Some("six:1"), pin).unwrap_err().to_string().contains("missing"));
    assert!(more.add_party(p(4), Some("four:1"), pin).unwrap_err().to_string().contains("same key"));

    // Addresses may differ from place to place; who takes part may not.
    let moved = made.config.add_party(p(2), Some("elsewhere:99"), made.config.parties()[1].pin).unwrap();
    assert_eq!(moved.digest(), made.config.digest());

    assert!(Config::create(1, &[], &[], &Machine).unwrap_err().to_string().contains("2 to 255"));
    assert!(
        Config::create(3, &names, &[], &Machine).unwrap_err().to_string().contains("2 hosts for 3 parties")
    );
}

/// A named pipe for its owner alone.
fn pipe(dir: &std::path::Path, name: &str) -> std::path::PathBuf {
    let path = dir.join(name);
    assert!(std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&path).status().unwrap().success());
    path
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let (config, identity) = (pipe(dir.path(), "config"), pipe(dir.path(), "identity"));
    let made = Identity::generate(&Machine);
    made.save(&dir.path().join("key")).unwrap();
    let key = std::fs::read(dir.path().join("key")).unwrap();
    std::thread::scope(|scope| {
        let path = &config;
        scope.spawn(move || {
            let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            // in two pieces, with a pause between them: the first is not the whole file
            let text = good();
            let (first, rest) = text.as_bytes().split_at(20);
            file.write_all(first).unwrap();
            std::thread::sleep(Duration::from_millis(50));
            file.write_all(rest).unwrap();
        });
        assert_eq!(Config::load(&config).unwrap(), Config::parse(&good()).unwrap());
        let path = &identity;
        scope.spawn(move || std::fs::write(path, key).unwrap());
        assert_eq!(Identity::load(&identity).unwrap().public(), made.public());
    });
    // a pipe that others may read is refused as a file is
    let open = pipe(dir.path(), "open");
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    std::thread::scope(|scope| {
        let path = &open;
        scope.spawn(move || drop(std::fs::OpenOptions::new().write(true).open(path)));
        assert!(Identity::load(&open).unwrap_err().to_string().contains("chmod 600"));
    });
}

#[test]
fn what_is_no_file_or_has_no_end_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path(), std::path::Path::new("/dev/zero")] {
        let e = Config::load(path).unwrap_err().to_string();
        assert!(e.contains("it is neither a file nor a pipe"), "{e}");
        assert!(Identity::load(path).err().unwrap().to_string().contains("it is neither a file nor a pipe"));
    }
    let silent = pipe(dir.path(), "silent");
    let e = Config::load(&silent).unwrap_err().to_string();
    assert!(e.contains("nobody wrote to it in 5 s"), "{e}");
    let (short, long) = (dir.path().join("short"), dir.path().join("long"));
    std::fs::write(&short, good()).unwrap();
    assert_eq!(Config::load(&short).unwrap(), Config::parse(&good()).unwrap());
    std::fs::write(&long, good() + &"#".repeat(4 << 20)).unwrap();
    let e = Config::load(&long).unwrap_err().to_string();
    assert!(e.contains("more than 4194304 bytes"), "{e}");
}

#[test]
fn another_time_limit_keeps_the_digest() {
    let config = Config::parse(&good()).unwrap();
    let other = config.clone().with_timeout(Duration::from_millis(1500));
    assert_eq!(other.timeout(), Duration::from_millis(1500));
    assert_eq!(other.digest(), config.digest());
    assert_eq!(other.connect(), config.connect());
    for (asked, given) in
        [(Duration::ZERO, Duration::from_millis(10)), (Duration::MAX, Duration::from_secs(86_400))]
    {
        let limited = config.clone().with_timeout(asked);
        assert_eq!(limited.timeout(), given);
        assert_eq!(Config::parse(&limited.to_toml()).unwrap(), limited);
    }
}
