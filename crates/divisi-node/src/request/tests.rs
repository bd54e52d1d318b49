//! Every message as it is on the wire, byte by byte.

use super::*;
use crate::ErrorKind;
use crate::admit::{CLIENT_NAME, CLIENTS};
use crate::wire::{LONGEST, decode, encode};
use divisi_rep3::Protocol;
use divisi_store::{KeyState, KeyType};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::gates::Adder;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

fn name() -> KeyName {
    "k1".parse().unwrap()
}

fn new_key() -> NewKey {
    let clients = vec!["bob".to_owned()];
    NewKey { name: name(), kind: KeyType::Aes256, bytes: 32, exportable: true, clients, request: [9; 16] }
}

fn asked(algorithm: &str, output_bytes: u32) -> FunctionRequest {
    let none = || Blob(Vec::new());
    FunctionRequest {
        algorithm: algorithm.into(),
        customization: none(),
        function: none(),
        output_bytes,
        xof: false,
    }
}

/// What a client asks for is what the servers compute: each setting is in the request.
#[test]
fn all_settings_of_a_function_are_asked_for() {
    let cases: [(&str, &[u8], &[u8], usize, bool); 3] = [
        ("kmac128", b"for whom", b"", 77, true),
        ("kmac256", b"c", b"", 300, false),
        ("cshake256", b"c", b"f", 300, false),
    ];
    for (name, customization, function, output_bytes, xof) in cases {
        let settings = Settings {
            adder: Adder::LowDepth,
            customization: customization.to_vec(),
            function: function.to_vec(),
            output_bytes,
            xof,
            ..Settings::new(name.parse().unwrap())
        };
        assert_eq!(FunctionRequest::from(&settings).settings(), Ok(settings));
    }
}

#[test]
fn what_is_asked_for_is_checked() {
    assert_eq!(asked("sha256", 32).settings().map(|s| s.adder), Ok(Adder::LowDepth));
    for (algorithm, bytes) in
        [("md5", 16), ("sha256", 33), ("sha256", 0), ("shake128", 4097), (&"x".repeat(33), 1)]
    {
        assert!(asked(algorithm, bytes).settings().is_err(), "{algorithm} {bytes}");
    }
    let long = FunctionRequest { customization: Blob(vec![0; AAD + 1]), ..asked("kmac128", 16) };
    assert!(long.settings().is_err());
}

/// Names, texts and lists have these lengths at most: a server checks it before it waits for more.
#[test]
fn what_a_request_carries_has_a_longest_length() {
    let blob = |bytes: usize| Blob(vec![0; bytes]);
    let function = |name: usize, customization: usize, function: usize| FunctionRequest {
        customization: blob(customization),
        function: blob(function),
        ..asked(&"x".repeat(name), 16)
    };
    let tag = |bytes: usize| Some(Tag { tag: blob(bytes), nonce: None });
    let hash = |asked: FunctionRequest| Item::Hash { asked, length: 1 };
    let mac = |asked, tag| Item::Mac { key: name(), asked, length: 1, tag };
    let way = SboxChoice::DEFAULT;
    for (bytes, good) in [(AAD - 1, true), (AAD, true), (AAD + 1, false), (AAD + 256, false)] {
        for item in [
            Item::Encrypt { key: name(), aad: blob(bytes), length: 1, way },
            Item::EncryptStream { key: name(), aad: blob(bytes), way },
            hash(function(32, bytes, 0)),
            hash(function(32, 1, bytes - 1)),
            mac(function(6, 0, bytes), None),
        ] {
            assert_eq!(item.is_well_formed(), good, "{item:?}");
        }
    }
    for (bytes, good) in [(31, true), (32, true), (33, false), (288, false)] {
        assert_eq!(hash(function(bytes, 0, 0)).is_well_formed(), good, "{bytes}");
        assert_eq!(mac(function(bytes, 0, 0), None).is_well_formed(), good, "{bytes}");
    }
    for (bytes, good) in [(OUTPUT, true), (OUTPUT + 1, false)] {
        assert_eq!(mac(function(6, 0, 0), tag(bytes)).is_well_formed(), good, "{bytes}");
    }
    for (clients, name, good) in [
        (CLIENTS, CLIENT_NAME, true),
        (CLIENTS + 1, 1, false),
        (CLIENTS + 256, 1, false),
        (CLIENTS, CLIENT_NAME + 1, false),
    ] {
        let mut new = NewKey { clients: vec!["x".into(); clients], ..new_key() };
        *new.clients.last_mut().unwrap() = "x".repeat(name);
        let entry = KeyEntry { clients: new.clients.clone(), ..entry() };
        assert_eq!(entry.is_well_formed(), good, "{clients} {name}");
        assert_eq!(Item::KeyImport(new.clone()).is_well_formed(), good, "{clients} {name}");
        assert_eq!(Item::KeyNew(new).is_well_formed(), good, "{clients} {name}");
    }
    // each name of a list is looked at
    for place in 0..CLIENTS {
        let mut clients = vec!["x".to_owned(); CLIENTS];
        clients[place] = "\u{1b}[2J".into();
        assert!(!KeyEntry { clients, ..entry() }.is_well_formed(), "{place}");
    }
}

fn request(item: Item) -> ToServer {
    ToServer::Request { number: 1, item }
}

/// Each message with its bytes after the head, by hand from postcard's rules: variants and lengths as
/// varints.
pub(crate) fn client_messages() -> Vec<(ToServer, String)> {
    let key = format!("026b31 02 20 01 01 03626f62 {}", "09".repeat(16));
    let aad = || Blob(vec![0xaa, 0xbb]);
    let decrypt = Item::Decrypt {
        key: name(),
        aad: aad(),
        length: 300,
        iv: [5; IV],
        tag: [6; 16],
        way: SboxChoice(Protocol::Gf8Circuit),
    };
    vec![
        (
            ToServer::Begin { version: 1, challenges: [[1; 32], [2; 32], [3; 32]] },
            format!("00 01 {} {} {}", "01".repeat(32), "02".repeat(32), "03".repeat(32)),
        ),
        (request(Item::KeyNew(new_key())), format!("01 01 00 {key}")),
        (request(Item::KeyImport(new_key())), format!("01 01 01 {key}")),
        (request(Item::KeyList { after: None }), "01 01 02 00".into()),
        (request(Item::KeyList { after: Some(name()) }), "01 01 02 01 026b31".into()),
        (request(Item::KeyExport { name: name() }), "01 01 03 026b31".into()),
        (request(Item::KeyDestroy { name: name() }), "01 01 04 026b31".into()),
        (
            request(Item::Encrypt { key: name(), aad: aad(), length: 300, way: SboxChoice::DEFAULT }),
            "01 01 05 026b31 02aabb ac02 01".into(),
        ),
        (request(decrypt), format!("01 01 06 026b31 02aabb ac02 {} {} 00", "05".repeat(12), "06".repeat(16))),
        (
            request(Item::Hash { asked: asked("sha256", 32), length: 300 }),
            "01 01 07 06736861323536 00 00 20 00 ac02".into(),
        ),
        (
            request(Item::Mac { key: name(), asked: asked("kmac128", 16), length: 1, tag: None }),
            "01 01 08 026b31 076b6d6163313238 00 00 10 00 01 00".into(),
        ),
        (
            request(Item::Mac {
                key: name(),
                asked: asked("sha", 2),
                length: 1,
                tag: Some(Tag { nonce: Some([5; IV]), tag: aad() }),
            }),
            format!("01 01 08 026b31 03736861 00 00 02 00 01 01 01 {} 02aabb", "05".repeat(12)),
        ),
        (
            request(Item::Mode(ModeRequest {
                key: name(),
                mode: Mode::Siv,
                encrypts: true,
                aad: Some(aad()),
                length: 300,
                iv: [5; 16],
                way: SboxChoice::DEFAULT,
            })),
            format!("01 01 09 026b31 01 01 01 02aabb ac02 {} 01", "05".repeat(16)),
        ),
        (
            request(Item::Mode(ModeRequest {
                key: name(),
                mode: Mode::Kw,
                encrypts: true,
                aad: None,
                length: 16,
                iv: [0; 16],
                way: SboxChoice::DEFAULT,
            })),
            format!("01 01 09 026b31 02 01 00 10 {} 01", "00".repeat(16)),
        ),
        (ToServer::Data { number: 200, index: 3, body: aad() }, "02 c801 03 02aabb".into()),
        (ToServer::Finish { number: 1 }, "03 01".into()),
        (
            request(Item::EncryptStream { key: name(), aad: aad(), way: SboxChoice::DEFAULT }),
            "01 01 0a 026b31 02aabb 01".into(),
        ),
        (ToServer::Last { number: 200, index: 3, body: aad() }, "04 c801 03 02aabb".into()),
        (
            request(Item::KeyServe(KeyServe { name: name(), client: "bob".into(), serves: true })),
            "01 01 0b 026b31 03626f62 01".into(),
        ),
        (ToServer::Status, "05".into()),
    ]
}

fn entry() -> KeyEntry {
    KeyEntry {
        name: name(),
        id: [4; 16],
        kind: KeyType::Aes128,
        bytes: 16,
        generation: 1,
        state: KeyState::Active,
        maker: "alice".into(),
        clients: vec!["bob".into()],
        exportable: false,
        made: Some(1_800_000_000),
    }
}

pub(crate) fn server_messages() -> Vec<(ToClient, String)> {
    let entry = entry();
    let key = format!("026b31 {} 00 10 01 01 05616c696365 01 03626f62 00 01 80a4a7da06", "04".repeat(16));
    let failed = Failed {
        kind: ErrorKind::Mismatch,
        retry: true,
        peer: 3,
        step: "s".into(),
        message: "no".into(),
        hearsay: false,
    };
    let condition =
        ConditionReport { joined: false, missing: vec![1, 3], lost: vec![2], seconds: 300, waiting: 7 };
    let digest = "07".repeat(32);
    let body = || Blob(vec![0xcc]);
    vec![
        (
            ToClient::Welcome { lowest: 1, highest: 1, party: 2, challenge: [7; 32] },
            format!("00 01 01 02 {digest}"),
        ),
        (ToClient::Ready, "01".into()),
        (ToClient::Waiting, "02".into()),
        (ToClient::Failed(failed), "03 03 01 03 0173 026e6f 00".into()),
        (ToClient::Accepted, "04".into()),
        (ToClient::Done, "05".into()),
        (ToClient::Key(entry.clone()), format!("06 {key}")),
        (ToClient::Keys { keys: vec![entry], more: true }, format!("07 01 {key} 01")),
        (
            ToClient::Sealing { iv: [5; IV], key: UsedKey { id: [4; 16], maker: "alice".into() } },
            format!("08 {} {} 05616c696365", "05".repeat(12), "04".repeat(16)),
        ),
        (ToClient::Ciphertext(body()), "09 01cc".into()),
        (ToClient::Digest([7; 32]), format!("0a {digest}")),
        (ToClient::Tag([6; 16]), format!("0b {}", "06".repeat(16))),
        (ToClient::Valid, "0c".into()),
        (ToClient::Answer { component: body(), digest: [7; 32] }, format!("0d 01cc {digest}")),
        (ToClient::Tagging { nonce: [5; IV], key: None }, format!("0e {} 00", "05".repeat(12))),
        (
            ToClient::Begun { iv: [5; 16], key: UsedKey { id: [4; 16], maker: "alice".into() } },
            format!("0f {} {} 05616c696365", "05".repeat(16), "04".repeat(16)),
        ),
        (ToClient::Condition(condition), "10 00 02 01 03 01 02 ac02 07".into()),
    ]
}

fn golden<M: Serialize + DeserializeOwned + PartialEq + Debug>(messages: Vec<(M, String)>) {
    for (message, body) in messages {
        let bytes = encode(&message, 0).unwrap();
        assert_eq!(hex::encode(&*bytes), format!("44560500{}", body.replace(' ', "")), "{message:?}");
        assert_eq!(decode::<M>(&bytes), Some(message));
        // cut off, with something after it, or of another version: no message
        for len in 0..bytes.len() {
            assert_eq!(decode::<M>(&bytes[..len]), None);
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(decode::<M>(&longer), None);
        for at in 0..4 {
            let mut other = bytes.to_vec();
            other[at] ^= 2;
            assert_eq!(decode::<M>(&other), None);
        }
    }
}

#[test]
fn golden_bytes_of_every_message() {
    golden(client_messages());
    let replies = server_messages().into_iter();
    golden(
        replies
            .map(|(what, body)| (Reply { number: 200, nth: 3, what }, format!("c801 03 {body}")))
            .collect(),
    );
}

/// The codes of the ways to compute S-boxes, and codes that are none.
#[test]
fn golden_bytes_of_every_way() {
    let encrypt = |way| request(Item::Encrypt { key: name(), aad: Blob(vec![]), length: 1, way });
    let protocols = [
        Protocol::Gf8Circuit,
        Protocol::Gf4Circuit,
        Protocol::Lut16,
        Protocol::Lut256,
        Protocol::Lut256Additive,
    ];
    let ways = protocols.map(SboxChoice).into_iter().zip(["00", "01", "02", "03", "04"]);
    golden(ways.map(|(way, code)| (encrypt(way), format!("01 01 05 026b31 00 01 {code}"))).collect());
    // servers offer everything that the engine has
    golden(
        Protocol::ALL
            .iter()
            .map(|protocol| {
                let way = SboxChoice(*protocol);
                assert!(protocol.code() < 128, "one byte on the wire");
                (encrypt(way), format!("01 01 05 026b31 00 01 {:02x}", protocol.code()))
            })
            .collect(),
    );
    let mut unknown = encode(&encrypt(SboxChoice(Protocol::Lut256Additive)), 0).unwrap().to_vec();
    assert_eq!(unknown.pop(), Some(4));
    for code in [5, 6, 0x7f] {
        assert_eq!(decode::<ToServer>(&[&unknown[..], &[code]].concat()), None, "{code}");
    }
}

/// A new key has a length of its type: a server checks it before it waits for the key.
#[test]
fn a_new_key_has_a_length_of_its_type() {
    for (kind, bytes, good) in [
        (KeyType::Aes256, 32, true),
        (KeyType::Aes256, 16, false),
        (KeyType::HmacSha256, 0, false),
        (KeyType::HmacSha256, 1, true),
        (KeyType::Kmac256, 1024, true),
        (KeyType::HmacSha1, 1025, false),
        (KeyType::OtpSha1, 9, false),
        (KeyType::OtpSha1, 10, true),
        (KeyType::OtpSha512, 65, false),
        (KeyType::HmacSha256, u32::MAX, false),
    ] {
        let new = NewKey { kind, bytes, ..new_key() };
        assert_eq!(Item::KeyImport(new.clone()).is_well_formed(), good, "{kind} {bytes}");
        assert_eq!(Item::KeyNew(new).is_well_formed(), good, "{kind} {bytes}");
    }
}

/// A client that a key is to serve has a name that a configuration can have.
#[test]
fn a_client_that_is_served_has_a_name_of_a_client() {
    let long = "x".repeat(64);
    for (client, good) in [
        (long.as_str(), true),
        (&format!("{long}x"), false),
        ("", false),
        ("a-b_c.d@e9", true),
        ("a b", false),
        ("a/b", false),
        ("\u{e9}", false),
    ] {
        let serve = KeyServe { name: name(), client: client.into(), serves: true };
        assert_eq!(Item::KeyServe(serve).is_well_formed(), good, "{client:?}");
    }
}

#[test]
fn garbage_never_panics() {
    let mut stream = blake3::Hasher::new().finalize_xof();
    for round in 0..20_000 {
        let mut bytes = vec![0; 4 + round % 200];
        stream.fill(&mut bytes);
        bytes[..4].copy_from_slice(b"DV\x05\x00");
        if round % 2 == 0 && bytes.len() > 8 {
            // a request with a long list
            bytes[4..9].copy_from_slice(&[1, 1, 0xff, 0xff, 0x7f]);
        }
        if let Some(message) = decode::<ToServer>(&bytes) {
            assert_eq!(decode::<ToServer>(&encode(&message, 0).unwrap()), Some(message));
        }
        let _ = decode::<ToClient>(&bytes);
    }
}

#[test]
fn what_is_too_long_is_not_encoded_and_what_is_secret_not_printed() {
    let data = |len| ToServer::Data { number: 1, index: 0, body: Blob(vec![0x5a; len]) };
    let chunk = data(2 * crate::CHUNK);
    assert!(encode(&chunk, chunk.body()).unwrap().len() < LONGEST);
    let longest = (LONGEST - 100..=LONGEST).rev().find_map(|len| encode(&data(len), len));
    assert_eq!(longest.unwrap().len(), LONGEST);
    let length = format!("{} bytes", 2 * crate::CHUNK);
    assert!(format!("{chunk:?}").contains(&length) && !format!("{chunk:?}").contains("90"));
}

/// A page of the largest keys fits in a message.
#[test]
fn a_full_page_of_keys_fits() {
    let entry = KeyEntry {
        name: "n".repeat(KeyName::LONGEST).parse().unwrap(),
        id: [255; 16],
        kind: KeyType::Aes128,
        bytes: 16,
        generation: u32::MAX,
        state: KeyState::Active,
        maker: "m".repeat(64),
        clients: vec!["c".repeat(64); CLIENTS],
        exportable: true,
        made: Some(u64::MAX),
    };
    assert!(encode(&ToClient::Keys { keys: vec![entry; PAGE], more: true }, 0).is_some());
}

/// An answer fits one place: each part of its context changes it, to the last byte; and the digest of a chunk
/// is of all of it.
#[test]
fn an_answer_is_bound_to_its_place() {
    let right = context(&[1; 32], 2, 4);
    let mut other = [1; 32];
    other[31] ^= 1;
    let others = [
        context(&other, 2, 4),
        context(&[1; 32], 2 | 1 << 63, 4),
        context(&[1; 32], 2, 4 | 1 << 63),
        context(&[1; 32], 4, 2),
    ];
    assert!(others.iter().all(|context| *context != right));
    let chunk = vec![5; crate::CHUNK];
    let digest = chunk_digest(&right, &chunk);
    assert_ne!(digest, chunk_digest(&others[0], &chunk));
    for i in (0..17).map(|i| 1 << i).chain([0, 500, chunk.len() - 1]) {
        let mut changed = chunk.clone();
        changed[i] ^= 0x80;
        assert_ne!(digest, chunk_digest(&right, &changed), "byte {i}");
    }
    assert_ne!(digest, chunk_digest(&right, &chunk[1..]));
    let challenges = [[1; 32], [2; 32], [3; 32]];
    for server in 0..3 {
        let mut changed = challenges;
        changed[server][31] ^= 1;
        assert_ne!(connection_id(&challenges), connection_id(&changed), "server {server}");
    }
}
