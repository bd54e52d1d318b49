//! One server of three lies to a client: the client takes nothing of it, and says who differs.

use super::house::{decrypt, encrypt, text, world};
use crate::request::{
    CLIENTS, Item, KeyEntry, PAGE, Reply, ToClient, ToServer, chunk_digest, connection_id, context,
};
use crate::wire::{Blob, LONGEST, decode, encode};
use crate::{CHUNK, Client, ErrorKind, KeyState, KeyType, UsedKey};
use divisi_net::{Config, Connection, Identity, Listener, Machine, PartyId};
use divisi_rep3::deal;
use divisi_rep3::open::component_digest;
use divisi_symmetric::algorithm::Settings;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const LENGTH: usize = 100;

/// What a server tells a client in place of an answer.
type Lie = fn(&mut ToClient);

/// None.
const TRUTH: Lie = |_| {};

/// Answers as an honest server `i` would, of texts, keys and ciphertexts that are all made up.
fn honest(i: usize, id: &[u8; 32], [decrypting, second, short]: [bool; 3], message: &ToServer) -> ToClient {
    match message {
        ToServer::Begin { .. } => ToClient::Ready,
        ToServer::Request { item, number } => match item {
            Item::Encrypt { .. } => {
                ToClient::Sealing { iv: [1; 12], key: UsedKey { id: [1; 16], maker: "alice".into() } }
            }
            Item::Decrypt { .. } => ToClient::Accepted,
            Item::Mac { .. } => ToClient::Tagging {
                nonce: [0; 12],
                key: Some(UsedKey { id: [1; 16], maker: "alice".into() }),
            },
            Item::KeyNew(_) => ToClient::Key(entry("k")),
            Item::KeyList { .. } => ToClient::Keys { keys: vec![entry("k")], more: false },
            Item::KeyDestroy { .. } => ToClient::Done,
            _ => answer(i, &context(id, *number, 0), &text(16)),
        },
        ToServer::Data { number, index, .. } => {
            let context = context(id, *number, *index);
            match (decrypting, second, i) {
                (true, false, _) => ToClient::Accepted,
                (true, true, _) => answer(i, &context, &text(LENGTH)),
                (false, _, 0) => ToClient::Ciphertext(Blob(text(LENGTH))),
                (false, ..) => ToClient::Digest(chunk_digest(&context, &text(LENGTH))),
            }
        }
        ToServer::Finish { number } if short && decrypting => {
            answer(i, &context(id, *number, 0), &text(LENGTH))
        }
        ToServer::Finish { .. } if decrypting => ToClient::Valid,
        ToServer::Finish { .. } => ToClient::Tag([2; 16]),
    }
}

fn entry(name: &str) -> KeyEntry {
    KeyEntry {
        name: name.parse().unwrap(),
        id: [1; 16],
        kind: KeyType::Aes128,
        generation: 1,
        state: KeyState::Active,
        maker: "alice".into(),
        clients: vec![],
        exportable: false,
    }
}

fn answer(i: usize, context: &[u8; 32], secret: &[u8]) -> ToClient {
    // any sharing will do, the same at all three
    let parts = deal::split(secret, |out| out.fill(0x33));
    let digest = component_digest(context, &parts[i].second);
    ToClient::Answer { component: Blob(parts[i].first.clone()), digest }
}

/// Three servers that answer `rounds` clients honestly, but that `liar` tells `lie`.
fn served<R>(liar: usize, lie: Lie, client: impl FnOnce(&mut Client) -> R) -> R {
    served_with([0, 1, 2].map(|i| if i == liar { lie } else { TRUTH }), client)
}

/// Three servers of which each tells its own.
fn served_with<R>(lies: [Lie; 3], client: impl FnOnce(&mut Client) -> R) -> R {
    three_servers(|i| (lies[i], |place| place), client)
}

fn three_servers<R>(
    way: impl Fn(usize) -> (Lie, fn((u64, u64)) -> (u64, u64)),
    client: impl FnOnce(&mut Client) -> R,
) -> R {
    let listeners: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts: Vec<String> = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    let made = Config::create(3, &hosts, &["alice".into()], &Machine).unwrap();
    std::thread::scope(|s| {
        for (i, (listener, identity)) in listeners.into_iter().zip(made.parties).enumerate() {
            let (config, way) = (made.config.clone(), way(i));
            s.spawn(move || serve(i, listener, config, identity, way));
        }
        let mut alice = Client::connect(&made.config, &made.clients[0], world()).unwrap();
        client(&mut alice)
    })
}

/// Three servers that tell the truth, of which the first tells it in another place.
fn served_at<R>(place: fn((u64, u64)) -> (u64, u64), client: impl FnOnce(&mut Client) -> R) -> R {
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
    say(&mut connection, apart, ToClient::Welcome { lowest: 3, highest: 3, party: me.number(), challenge });
    let mut place = apart;
    let (mut id, mut decrypting, mut second, mut short) = ([0; 32], false, false, false);
    while let Ok(bytes) = connection.recv(LONGEST) {
        let message: ToServer = decode(&bytes).unwrap();
        if let ToServer::Begin { challenges, .. } = &message {
            id = connection_id(challenges);
        }
        if let ToServer::Request { item, .. } = &message {
            (decrypting, second) = (matches!(item, Item::Decrypt { .. } | Item::Mac { .. }), false);
            short = item.is_short();
        }
        let mut reply = honest(i, &id, [decrypting, second, short], &message);
        second |= matches!(message, ToServer::Finish { .. });
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

/// Does all that a client does; its first error, and what it wrote before.
fn everything(client: &mut Client) -> Option<crate::Error> {
    let key = "k".parse().unwrap();
    let new = client.new_key("k".parse().unwrap(), KeyType::Aes128, false, vec![]);
    let all = |client: &mut Client| {
        client.key_new(&new)?;
        let file = encrypt(client, &key, b"", &text(LENGTH))?;
        assert_eq!(file, [&[1; 12][..], &text(LENGTH), &[2; 16]].concat());
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

#[test]
fn servers_that_agree_are_believed() {
    assert_eq!(served(0, |_| {}, everything), None);
}

#[test]
fn whoever_tells_something_else_is_named_and_not_believed() {
    let lies: [Lie; 8] = [
        |m| {
            if let ToClient::Key(key) = m {
                key.exportable = true;
            }
        },
        |m| {
            if let ToClient::Sealing { iv, .. } = m {
                iv[0] ^= 1;
            }
        },
        |m| {
            if let ToClient::Sealing { key, .. } = m {
                key.maker = "bob".into();
            }
        },
        |m| match m {
            ToClient::Ciphertext(body) => body.0[LENGTH - 1] ^= 1,
            ToClient::Digest(digest) => digest[31] ^= 1,
            _ => {}
        },
        |m| {
            if let ToClient::Tag(tag) = m {
                tag[15] ^= 0x80;
            }
        },
        |m| {
            if matches!(m, ToClient::Valid) {
                *m = ToClient::Accepted;
            }
        },
        |m| {
            if matches!(m, ToClient::Done) {
                *m = ToClient::Valid;
            }
        },
        |m| {
            if matches!(m, ToClient::Accepted) {
                *m = ToClient::Done;
            }
        },
    ];
    for lie in lies {
        for liar in 0..3 {
            let error = served(liar, lie, everything).expect("a lie was believed");
            assert_eq!((error.kind, error.retry), (ErrorKind::Mismatch, false), "{error:?}");
            assert_eq!(error.peer.map(|p| p.index()), Some(liar), "{error:?}");
        }
    }
}

/// Components of an answer: one of its two holders lies, and both are named.
#[test]
fn a_component_is_believed_only_from_both_its_holders() {
    let lies: [Lie; 4] = [
        |m| {
            if let ToClient::Answer { component, .. } = m {
                component.0[0] ^= 1;
            }
        },
        |m| {
            if let ToClient::Answer { digest, .. } = m {
                digest[0] ^= 1;
            }
        },
        |m| {
            if let ToClient::Answer { component, .. } = m {
                component.0.pop();
            }
        },
        |m| {
            if let ToClient::Answer { component, .. } = m {
                component.0 = vec![0; CHUNK];
            }
        },
    ];
    for (n, lie) in lies.into_iter().enumerate() {
        for liar in 0..3 {
            let error = served(liar, lie, everything).expect("a lie was believed");
            assert_eq!(error.kind, ErrorKind::Mismatch, "{error:?}");
            let holder = if n == 1 { (liar + 1) % 3 } else { liar };
            let named = format!("party {}", liar + 1);
            assert_eq!(error.peer.map(|p| p.index()), Some(holder), "{error:?}");
            assert!(error.message.contains(&named), "{error}");
        }
    }
}

/// A verdict is that of all three: one server makes no right tag wrong and no wrong one right, of a message
/// or of a ciphertext.
#[test]
fn one_server_alone_gives_no_verdict_on_a_tag() {
    fn wrong() -> ToClient {
        let failed = crate::error::Failed::refused(divisi_core::step!("compare"), "the tag is not right");
        ToClient::Failed(crate::error::Failed { kind: ErrorKind::Mismatch, ..failed })
    }
    let hearsay: Lie = |m| {
        if let (ToClient::Valid, ToClient::Failed(failed)) = (&*m, wrong()) {
            *m = ToClient::Failed(crate::error::Failed { hearsay: true, peer: 1, ..failed });
        }
    };
    let own: Lie = |m| {
        if matches!(m, ToClient::Valid) {
            *m = wrong();
        }
    };
    let verified = |client: &mut Client| {
        let settings = Settings::new("hmac-sha256".parse().unwrap());
        let key = "k".parse().unwrap();
        client.mac_verify(&key, &settings, None, &[3; 32], &mut &b"text"[..], 4, &mut |_| {}).err()
    };
    let decrypted =
        |client: &mut Client| decrypt(client, &"k".parse().unwrap(), &[0; 17_000], &text(LENGTH + 28)).1;
    let clients: [fn(&mut Client) -> Option<crate::Error>; 2] = [verified, decrypted];
    for client in clients {
        assert_eq!(served(0, |_| {}, client), None);
        for liar in 0..3 {
            // one against two, and two against one
            for lies in [
                [0, 1, 2].map(|i| if i == liar { own } else { TRUTH }),
                [0, 1, 2].map(|i| if i == liar { hearsay } else { TRUTH }),
                [0, 1, 2].map(|i| if i == liar { TRUTH } else { own }),
            ] {
                let error = served_with(lies, client).expect("a lie was believed");
                assert_eq!(error.kind, ErrorKind::Mismatch, "{error:?}");
                assert_eq!(error.peer.map(|p| p.index()), Some(liar), "{error:?}");
                assert!(error.message.contains("gave different answers"), "{error}");
            }
        }
        let error = served_with([own; 3], client).unwrap();
        assert_eq!((error.kind, error.peer), (ErrorKind::Mismatch, None));
        assert_eq!(error.message, "the tag is not right");
    }
    let maker: Lie = |m| {
        if let ToClient::Tagging { key: Some(key), .. } = m {
            key.maker = "\x1b[2Jalice".into();
        }
    };
    let error = served(1, maker, verified).expect("a lie was believed");
    assert!(error.message.contains("an entry that no key can have"), "{error}");
}

/// Text of a server goes to a terminal: without control characters, and not without end.
#[test]
fn a_servers_words_are_cleaned() {
    fn words(m: &mut ToClient) {
        if matches!(m, ToClient::Key(_)) {
            let mut failed = crate::error::Failed::refused(divisi_core::step!("x"), "\x1b[2J\n".repeat(1000));
            failed.step = "a\rb".into();
            *m = ToClient::Failed(failed);
        }
    }
    let error = served(1, words, everything).unwrap();
    assert!(error.message.len() < 700 && !error.message.chars().any(char::is_control));
    assert_eq!(error.step, "a?b");
}

/// What a server says of keys goes to a terminal and into memory: only what an honest one could say.
#[test]
fn a_key_that_none_can_be_is_refused() {
    fn change(m: &mut ToClient, change: impl Fn(&mut KeyEntry)) {
        match m {
            ToClient::Key(key) => change(key),
            ToClient::Keys { keys, .. } => keys.iter_mut().for_each(change),
            _ => {}
        }
    }
    let lies: [Lie; 5] = [
        |m| change(m, |key| key.maker = "\x1b[2Jalice".into()),
        |m| change(m, |key| key.maker = "m".repeat(65)),
        |m| change(m, |key| key.clients = vec!["bob\n".into()]),
        |m| change(m, |key| key.clients = vec![String::new()]),
        |m| change(m, |key| key.clients = vec!["bob".into(); CLIENTS + 1]),
    ];
    let listed = |client: &mut Client| client.key_list().err();
    for lie in lies {
        for client in [everything, listed] {
            let error = served(1, lie, client).expect("a lie was believed");
            assert_eq!(
                (error.kind, error.peer.map(|p| p.number())),
                (ErrorKind::Mismatch, Some(2)),
                "{error:?}"
            );
            assert!(error.message.contains("an entry that no key can have"), "{error}");
        }
    }
}

/// A list without end, or out of order, is not followed.
#[test]
fn a_list_is_followed_only_as_far_as_an_honest_one_could_go() {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    fn page(m: &mut ToClient, len: usize, mut next: impl FnMut() -> usize) {
        if let ToClient::Keys { keys, more } = m {
            *keys = (0..len).map(|_| entry(&format!("k{:09}", next()))).collect();
            *more = true;
        }
    }
    let lies: [Lie; 4] = [
        |m| page(m, PAGE + 1, || NEXT.fetch_add(1, Ordering::SeqCst)),
        |m| page(m, 1, || NEXT.fetch_add(1, Ordering::SeqCst)),
        |m| page(m, 1, || 7),
        |m| page(m, 0, || 0),
    ];
    for (n, lie) in lies.into_iter().enumerate() {
        let error = served(0, lie, |client| client.key_list().err()).expect("a lie was believed");
        let words =
            if n == 0 { "more keys than a page has" } else { "lists keys out of order, or more than" };
        assert!(error.message.contains(words), "{error}");
        assert_eq!((error.kind, error.peer.map(|p| p.number())), (ErrorKind::Mismatch, Some(1)), "{error:?}");
    }
    let listed = served(0, |_| {}, Client::key_list).unwrap();
    assert!(listed.len() == 1 && listed[0].differs.is_empty());
}

/// A server that fails a request which the two others do: what these still say belongs to no later request,
/// neither by number nor by place.
#[test]
fn answers_to_one_request_are_not_those_to_the_next() {
    fn fails(m: &mut ToClient) {
        if matches!(m, ToClient::Accepted | ToClient::Tagging { .. }) {
            *m = ToClient::Failed(crate::error::Failed::refused(divisi_core::step!("x"), "no"));
        }
    }
    let settings = Settings::new("hmac-sha256".parse().unwrap());
    for liar in 0..3 {
        let results = served(liar, fails, |client| {
            let key = "k".parse().unwrap();
            let mut verify = |text: &[u8]| {
                let length = text.len() as u64;
                client
                    .mac_verify(&key, &settings, None, &[0; 32], &mut &text[..], length, &mut |_| {})
                    .map(drop)
            };
            [verify(b"one"), verify(b"forged"), verify(b"forged")].map(|result| result.is_ok())
        });
        assert_eq!(results, [false; 3]);
    }
    // an answer in another's place, of this request or of another
    const MOVES: [fn((u64, u64)) -> (u64, u64); 3] = [|(n, i)| (n, i + 1), |(n, i)| (n + 1, i), |_| (0, 0)];
    for moved in MOVES {
        let error = served_at(moved, |client| client.key_list().map(drop)).unwrap_err();
        assert_eq!((error.kind, error.peer.map(|p| p.number())), (ErrorKind::Mismatch, Some(1)), "{error}");
    }
}
