//! A name that belongs to another key than the one that a client means.

use super::harness::{ServersHarness, decrypt, encrypt, fails, flipped, import, text, with_alice, world};
use crate::{Client, ClientPool, Error, ErrorKind, KeyName, KeyType, Mode};
use divisi_symmetric::algorithm::Settings;

/// The id of the key that has this name now.
fn id(client: &mut Client, name: &KeyName) -> [u8; 16] {
    client.key_named(name).unwrap().unwrap().key.id
}

/// A key that was destroyed, whose name belongs to another one by now: the id of the first one.
fn replaced(client: &mut Client, name: &str, kind: KeyType, values: [&[u8]; 2]) -> (KeyName, [u8; 16]) {
    let key = import(client, name, kind, values[0]);
    let meant = id(client, &key);
    client.expect_key(Some(meant));
    client.key_destroy(&key).unwrap();
    client.expect_key(None);
    import(client, name, kind, values[1]);
    assert_ne!(id(client, &key), meant);
    (key, meant)
}

fn refused<T>(result: Result<T, Error>) {
    let error = fails(result, "belongs to another key by now");
    assert_eq!((error.kind, error.retry, error.by_all), (ErrorKind::Refused, false, false));
}

/// Whatever is asked of a key, it is refused where its name belongs to another one; the servers serve on.
#[test]
fn no_request_takes_another_key_than_the_one_that_is_meant() {
    let (harness, mut alice) = with_alice();
    let (gcm, meant) = replaced(&mut alice, "gcm", KeyType::Aes128, [&[1; 16], &[2; 16]]);
    let sealed = encrypt(&mut alice, &gcm, b"", b"of the new key").unwrap();
    let long = encrypt(&mut alice, &gcm, b"", &text(20_000)).unwrap();
    let of_old = flipped(&sealed, 20);

    // after each request whose error this client found the connection is closed
    let meaning = |harness: &ServersHarness, meant| {
        let mut alice = harness.connect("alice");
        alice.expect_key(Some(meant));
        alice
    };
    for length in [0, 20, 20_000, 300_000] {
        let mut alice = meaning(&harness, meant);
        refused(encrypt(&mut alice, &gcm, b"", &text(length)));
        let mut alice = meaning(&harness, meant);
        let (text, mut out) = (text(length), Vec::new());
        refused(alice.encrypt_stream(&gcm, b"", &mut &text[..], &mut out, &mut |_| {}));
    }
    let mut alice = meaning(&harness, meant);
    // a tag that is wrong for the new key, as that of the old one is; a right one is right
    refused(decrypt(&mut alice, &gcm, b"", &of_old).1.map_or(Ok(()), Err));
    assert_eq!(decrypt(&mut alice, &gcm, b"", &long), (text(20_000), None));
    refused(alice.key_destroy(&gcm));
    refused(alice.key_export(&gcm));
    [true, false].iter().for_each(|serves| refused(alice.key_serve(&gcm, "alicia", *serves)));
    alice.expect_key(None);
    assert!(decrypt(&mut alice, &gcm, b"", &of_old).1.unwrap().by_all);
    assert_eq!(decrypt(&mut alice, &gcm, b"", &sealed), (b"of the new key".to_vec(), None));
    // the one that is meant
    let now = id(&mut alice, &gcm);
    alice.expect_key(Some(now));
    encrypt(&mut alice, &gcm, b"", b"text").unwrap();
    // what this connection was right about before may be another one's later
    let mut other = harness.connect("alice");
    other.key_destroy(&gcm).unwrap();
    import(&mut other, "gcm", KeyType::Aes128, &[3; 16]);
    refused(encrypt(&mut alice, &gcm, b"", b"text"));

    let values: [&[u8]; 2] = [&[1; 16], &[2; 16]];
    let mut alice = harness.connect("alice");
    let (cbc, meant) = replaced(&mut alice, "cbc", KeyType::Aes128Cbc, values);
    refused(meaning(&harness, meant).encrypt_in_mode(&cbc, Mode::Cbc, None, &[7; 32], &mut |_| {}));
    refused(meaning(&harness, meant).decrypt_in_mode(&cbc, Mode::Cbc, None, &[7; 48], &mut |_| {}));

    let (tag, meant) = replaced(&mut alice, "tag", KeyType::GmacAes128, values);
    let settings = Settings::new("gmac-aes128".parse().unwrap());
    refused(meaning(&harness, meant).mac(&tag, &settings, &mut &b"text"[..], 4, &mut |_| {}));
    let mut alice = meaning(&harness, meant);
    refused(alice.mac_verify(&tag, &settings, Some([0; 12]), &[0; 16], &mut &b"text"[..], 4, &mut |_| {}));
    harness.assert_unharmed();
}

/// A pool lends a connection without what its last user meant, whether or not that one was served.
#[test]
fn the_next_user_of_a_connection_means_what_it_says() {
    let (harness, mut alice) = with_alice();
    let (key, meant) = replaced(&mut alice, "k", KeyType::Aes128, [&[1; 16], &[2; 16]]);
    let pool = ClientPool::new(harness.config.clone(), harness.identity("alice").clone(), world()).unwrap();
    for served in [true, false] {
        let used = pool.run(|client| {
            client.expect_key(Some(meant));
            if served { client.key_list().map(drop) } else { client.key_export(&key).map(drop) }
        });
        assert_eq!(used.is_ok(), served);
        let sealed = pool.run(|client| {
            assert!(client.requests() > 0, "a new connection");
            encrypt(client, &key, b"", b"text")
        });
        assert!(sealed.is_ok(), "{served}");
    }
}
