//! Three servers of which some lie, with texts, keys and ciphertexts that are all made up; and a client that
//! does all that a client does.

use crate::request::{
    ConditionReport, Item, KeyEntry, ModeRequest, Reply, ToClient, ToServer, chunk_digest, connection_id,
    context,
};
use crate::tests::harness::{decrypt, encrypt, mesh, text, world};
use crate::wire::{Blob, LONGEST, VERSIONS, decode, encode};
use crate::{Client, KeyState, KeyType, UsedKey};
use divisi_net::{Config, Connection, Identity, Listener, PartyId};
use divisi_rep3::deal;
use divisi_rep3::open::component_digest;
use std::collections::HashSet;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

pub(super) const LENGTH: usize = 100;

/// What a server tells a client in place of an answer.
pub(super) type Lie = fn(&mut ToClient);

/// No lie.
pub(super) const TRUTH: Lie = |_| {};

/// What a server knows of a request that it serves: whether it decrypts, reads for the second time, is short,
/// is in another mode than GCM.
type Course = [bool; 4];

/// Answers as an honest server `i` would, of texts, keys and ciphertexts that are all made up.
fn honest(
    i: usize,
    id: &[u8; 32],
    [decrypting, second, short, mode]: Course,
    message: &ToServer,
) -> ToClient {
    match message {
        ToServer::Begin { .. } => ToClient::Ready,
        ToServer::Status => {
            let (missing, lost, seconds, waiting) = (Vec::new(), Vec::new(), 0, 0);
            ToClient::Condition(ConditionReport { joined: true, missing, lost, seconds, waiting })
        }
        ToServer::Request { item, number } => match item {
            Item::Encrypt { .. } | Item::EncryptStream { .. } => {
                ToClient::Sealing { iv: [1; 12], key: UsedKey { id: [1; 16], maker: "alice".into() } }
            }
            Item::Decrypt { .. } => ToClient::Accepted,
            Item::Mac { .. } => ToClient::Tagging {
                nonce: [0; 12],
                key: Some(UsedKey { id: [1; 16], maker: "alice".into() }),
            },
            Item::KeyNew(_) => ToClient::Key(entry("k")),
            Item::Mode(_) => {
                ToClient::Begun { iv: [1; 16], key: UsedKey { id: [1; 16], maker: "alice".into() } }
            }
            // a second page, for whoever asks for one
            Item::KeyList { after: Some(after) } if after.to_string() == "k" => {
                ToClient::Keys { keys: vec![entry("l")], more: false }
            }
            Item::KeyList { .. } => ToClient::Keys { keys: vec![entry("k")], more: false },
            Item::KeyDestroy { .. } => ToClient::Done,
            _ => answer(i, &context(id, *number, 0), &text(16)),
        },
        ToServer::Data { number, index, body } | ToServer::Last { number, index, body } => {
            let context = context(id, *number, *index);
            // of a plaintext come two components
            let piece = text(if decrypting { body.0.len() } else { body.0.len() / 2 });
            match (decrypting, second, i) {
                (true, false, _) => ToClient::Accepted,
                (true, true, _) => answer(i, &context, &piece),
                (false, _, 0) => ToClient::Ciphertext(Blob(piece)),
                (false, ..) => ToClient::Digest(chunk_digest(&context, &piece)),
            }
        }
        ToServer::Finish { .. } if mode => ToClient::Done,
        ToServer::Finish { number } if short && decrypting => {
            answer(i, &context(id, *number, 0), &text(LENGTH))
        }
        ToServer::Finish { .. } if decrypting => ToClient::Valid,
        ToServer::Finish { .. } => ToClient::Tag([2; 16]),
    }
}

pub(super) fn entry(name: &str) -> KeyEntry {
    KeyEntry {
        name: name.parse().unwrap(),
        id: [1; 16],
        kind: KeyType::Aes128,
        bytes: 16,
        generation: 1,
        state: KeyState::Active,
        maker: "alice".into(),
        clients: vec![],
        exportable: false,
        made: Some(1_800_000_000),
    }
}

fn answer(i: usize, context: &[u8; 32], secret: &[u8]) -> ToClient {
    // any sharing will do, the same at all three
    let parts = deal::split(secret, |out| out.fill(0x33));
    let digest = component_digest(context, &parts[i].second);
    ToClient::Answer { component: Blob(parts[i].first.clone()), digest }
}

/// Three servers that answer one client honestly, except that `liar` tells `lie`.
pub(super) fn served<R>(liar: usize, lie: Lie, client: impl FnOnce(&mut Client) -> R) -> R {
    served_with([0, 1, 2].map(|i| if i == liar { lie } else { TRUTH }), client)
}

/// Three servers, each of which tells its own lie.
pub(super) fn served_with<R>(lies: [Lie; 3], client: impl FnOnce(&mut Client) -> R) -> R {
    three_servers(|i| (lies[i], |place| place), client)
}

fn three_servers<R>(
    way: impl Fn(usize) -> (Lie, fn((u64, u64)) -> (u64, u64)),
    client: impl FnOnce(&mut Client) -> R,
) -> R {
    met(way, |config, identity| client(&mut Client::connect(config, identity, world()).unwrap()))
}

/// Three servers of which `liar` tells `lie`, before anybody has connected with them: each serves one
/// connection.
pub(super) fn met_with<R>(liar: usize, lie: Lie, client: impl FnOnce(&Config, &Identity) -> R) -> R {
    met(|i| (if i == liar { lie } else { TRUTH }, |place| place), client)
}

fn met<R>(
    way: impl Fn(usize) -> (Lie, fn((u64, u64)) -> (u64, u64)),
    client: impl FnOnce(&Config, &Identity) -> R,
) -> R {
    let (listeners, made) = mesh(&["alice"]);
    std::thread::scope(|s| {
        for (i, (listener, identity)) in listeners.into_iter().zip(made.parties).enumerate() {
            let (config, way) = (made.config.clone(), way(i));
            s.spawn(move || serve(i, listener, config, identity, way));
        }
        client(&made.config, &made.clients[0])
    })
}

/// Three servers that tell the truth, of which the first tells it in another place.
pub(super) fn served_at<R>(place: fn((u64, u64)) -> (u64, u64), client: impl FnOnce(&mut Client) -> R) -> R {
    three_servers(|i| (TRUTH, if i == 0 { place } else { |place| place }), client)
}

fn serve(
    i: usize,
    listener: TcpListener,
    config: Config,
    identity: Identity,
    (lie, moved): (Lie, fn((u64, u64)) -> (u64, u64)),
) {
    let me = PartyId::from_index(i).unwrap();
    let listener = Listener::open_at(listener, config, me, Arc::new(identity), world()).unwrap();
    let mut connection = listener.next_client(Duration::from_secs(5)).unwrap();
    let challenge = [i as u8; 32];
    let apart = (0, 0);
    let (lowest, highest) = VERSIONS;
    let mut welcome = ToClient::Welcome { lowest, highest, party: me.number(), challenge };
    lie(&mut welcome);
    say(&mut connection, apart, welcome);
    let mut place = apart;
    let (mut id, mut course) = ([0; 32], [false; 4]);
    let (mut is_secret, mut masks) = (false, HashSet::new());
    while let Ok(bytes) = connection.recv(LONGEST) {
        let message: ToServer = decode(&bytes).unwrap();
        if let ToServer::Begin { challenges, .. } = &message {
            id = connection_id(challenges);
        }
        if let ToServer::Data { body, .. } | ToServer::Last { body, .. } = &message
            && is_secret
        {
            // shares of every piece are masked anew
            for half in body.0.chunks(body.0.len().div_ceil(2).max(1)) {
                assert!(
                    half.chunks_exact(16).take(4).all(|share| masks.insert(share.to_vec())),
                    "a mask again"
                );
            }
        }
        if let ToServer::Request { item, .. } = &message {
            is_secret =
                !matches!(item, Item::Decrypt { .. } | Item::Mode(ModeRequest { encrypts: false, .. }));
            course = match item {
                Item::Mode(asked) => [!asked.encrypts, true, false, true],
                Item::Decrypt { .. } | Item::Mac { .. } => [true, false, item.is_short(), false],
                _ => [false, false, item.is_short(), false],
            };
        }
        if message == ToServer::Status {
            // as a server may say whenever a client waits
            say(&mut connection, apart, ToClient::Waiting);
        }
        let mut reply = honest(i, &id, course, &message);
        course[1] |= matches!(message, ToServer::Finish { .. });
        lie(&mut reply);
        place = match message.number() {
            Some(number) if number == place.0 => (number, place.1 + 1),
            number => (number.unwrap_or(0), 0),
        };
        say(&mut connection, if place == apart { place } else { moved(place) }, reply);
    }
}

fn say(connection: &mut Connection, (number, nth): (u64, u64), what: ToClient) {
    let message = &Reply { number, nth, what };
    let _ = connection.send(&encode(message, message.what.body()).unwrap());
}

/// Does all that a client does; returns its first error, before which nothing of a lie may have been written.
pub(super) fn everything(client: &mut Client) -> Option<crate::Error> {
    let key = "k".parse().unwrap();
    let new = client.new_key("k".parse().unwrap(), KeyType::Aes128, false, vec![]);
    let all = |client: &mut Client| {
        client.key_new(&new)?;
        let file = encrypt(client, &key, b"", &text(LENGTH))?;
        assert_eq!(file, [&[1; 12][..], &text(LENGTH), &[2; 16]].concat());
        let mut sealed = Vec::new();
        client.encrypt_stream(&key, b"", &mut &text(LENGTH)[..], &mut sealed, &mut |_| {})?;
        assert_eq!(sealed, file);
        // a long one, read twice, and a short one
        for aad in [&[0; 17_000][..], b""] {
            let (out, error) = decrypt(client, &key, aad, &file);
            if let Some(error) = error {
                assert!(out.is_empty(), "something of a lie was written");
                return Err(error);
            }
            assert_eq!(out, text(LENGTH));
        }
        assert_eq!(*client.key_export(&key)?, text(16));
        client.key_destroy(&key)
    };
    all(client).err()
}
