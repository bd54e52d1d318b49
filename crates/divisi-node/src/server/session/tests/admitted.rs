//! What each server admits under a key, by itself, before the three compare what they have.

use super::wiped::ordered;
use super::*;
use crate::admit::{Admit, Lists, What};
use crate::request::KeyServe;
use crate::request::{AAD, FunctionRequest, IV, MODE_AAD, MODE_MESSAGE, Mode, ModeRequest, Tag};
use crate::server::admission::{admit, gcm_serves, identity, mode_serves};
use divisi_net::Connection;
use divisi_store::{BLOCK, KeyInfo, Purpose, USES};
use divisi_symmetric::algorithm::{Algorithm, Settings};

/// A key of each type, each made by alice on a connection of its own.
fn of_each_type() -> (Three, Vec<(u8, KeyName, KeyType)>) {
    let three = Three::new();
    let keys: Vec<_> = (1..)
        .zip(KeyType::ALL)
        .map(|(id, kind)| (id, format!("k-{kind}").parse::<KeyName>().unwrap(), *kind))
        .collect();
    for (id, name, kind) in &keys {
        three.all_asked_for(*id, &new_key(name.clone(), *kind));
    }
    three.run(|_, state| keys.iter().for_each(|(id, ..)| state.round(LEADER, &[offer(*id)]).unwrap()));
    (three, keys)
}

/// So much associated data that a message is not short: its request is a step by itself.
fn aad() -> Blob {
    Blob(vec![0; 17_000])
}

fn in_mode(key: &KeyName, mode: Mode, encrypts: bool, length: u64, aad: Option<usize>) -> ModeRequest {
    let aad = aad.map(|bytes| Blob(vec![0; bytes]));
    ModeRequest { key: key.clone(), mode, encrypts, aad, length, iv: [0; 16], way: SboxChoice::DEFAULT }
}

/// A tag to make, or one of so many bytes to compare.
fn mac(key: &KeyName, settings: &Settings, tag: Option<(bool, usize)>) -> Item {
    let tag = tag.map(|(nonce, bytes)| Tag { nonce: nonce.then_some([0; IV]), tag: Blob(vec![0; bytes]) });
    Item::Mac { key: key.clone(), asked: FunctionRequest::from(settings), length: 1, tag }
}

/// Every use of a key, with the purpose of the keys that it is for and their type, if there is one such type
/// only; decryption with GCM comes last.
pub(super) fn uses(key: &KeyName) -> Vec<(Item, Purpose, Option<String>)> {
    let (way, key) = (SboxChoice::DEFAULT, key.clone());
    let mut all = vec![
        (Item::Encrypt { key: key.clone(), aad: aad(), length: 1, way }, Purpose::Gcm, None),
        (Item::EncryptStream { key: key.clone(), aad: aad(), way }, Purpose::Gcm, None),
    ];
    for (mode, purpose) in [
        (Mode::Cbc, Purpose::Cbc),
        (Mode::Siv, Purpose::Siv),
        (Mode::Kw, Purpose::Wrap),
        (Mode::Kwp, Purpose::Wrap),
    ] {
        for encrypts in [true, false] {
            all.push((Item::Mode(in_mode(&key, mode, encrypts, 32, None)), purpose, None));
        }
    }
    for algorithm in Algorithm::macs() {
        let settings = Settings::new(algorithm);
        let with_nonce = algorithm.nonce_bytes() > 0;
        all.push((mac(&key, &settings, None), Purpose::Mac, Some(algorithm.name())));
        if !matches!(algorithm, Algorithm::Otp(_)) {
            let tag = Some((with_nonce, settings.output_bytes));
            all.push((mac(&key, &settings, tag), Purpose::Mac, Some(algorithm.name())));
        }
    }
    all.push((
        Item::Decrypt { key, aad: aad(), length: 1, iv: [0; IV], tag: [0; 16], way },
        Purpose::Gcm,
        None,
    ));
    all
}

pub(super) fn serves(kind: KeyType, purpose: Purpose, name: Option<&String>) -> bool {
    kind.purpose() == purpose && name.is_none_or(|name| kind.name() == name)
}

/// A key serves the algorithms of its type, in both directions, and no other.
#[test]
fn a_key_serves_its_type_alone_in_both_directions() {
    let (three, keys) = of_each_type();
    for (_, key, kind) in &keys {
        let mut served = 0;
        for (item, purpose, name) in uses(key) {
            let admitted = admit(three.node(0), &three.alice(0), &item).is_ok();
            assert_eq!(admitted, serves(*kind, purpose, name.as_ref()), "{kind}: {item:?}");
            served += usize::from(admitted);
        }
        assert!(served > 0, "{kind}");
    }
}

/// What no algorithm takes is refused by each server, whatever its client checked: messages and associated
/// data that are too long, lengths that a mode does not have, tags of another length or without their nonce.
#[test]
fn lengths_that_no_algorithm_takes_are_refused() {
    let (three, keys) = of_each_type();
    let takes = |item: Item| admit(three.node(0), &three.alice(0), &item).is_ok();
    let way = SboxChoice::DEFAULT;
    for (_, key, kind) in keys {
        match kind.purpose() {
            Purpose::Gcm => {
                let most = (1 << 36) - 32;
                for (bytes, length) in [(0, 0), (AAD, most), (AAD + 1, 0), (0, most + 1), (0, u64::MAX)] {
                    let (aad, key, fits) =
                        (Blob(vec![0; bytes]), key.clone(), bytes <= AAD && length <= most);
                    let (iv, tag) = ([0; IV], [0; 16]);
                    assert_eq!(
                        takes(Item::Encrypt { key: key.clone(), aad: aad.clone(), length, way }),
                        fits
                    );
                    let stream = Item::EncryptStream { key: key.clone(), aad: aad.clone(), way };
                    assert_eq!(takes(stream), bytes <= AAD);
                    assert_eq!(
                        takes(Item::Decrypt { key, aad, length, iv, tag, way }),
                        fits,
                        "{bytes} {length}"
                    );
                }
            }
            Purpose::Mac => {
                let algorithm: Algorithm = kind.name().parse().unwrap();
                let (settings, right) = (Settings::new(algorithm), algorithm.nonce_bytes() > 0);
                let whole = settings.output_bytes;
                for (nonce, bytes) in (0..=whole + 2).flat_map(|bytes| [(true, bytes), (false, bytes)]) {
                    let otp = matches!(algorithm, Algorithm::Otp(_));
                    let fits = (nonce, bytes) == (right, whole) && !otp;
                    assert_eq!(
                        takes(mac(&key, &settings, Some((nonce, bytes)))),
                        fits,
                        "{kind} {nonce} {bytes}"
                    );
                }
            }
            purpose => {
                let modes = Mode::ALL.into_iter().filter(|mode| {
                    let own = matches!(mode, Mode::Kw | Mode::Kwp);
                    match purpose {
                        Purpose::Cbc => *mode == Mode::Cbc,
                        Purpose::Siv => *mode == Mode::Siv,
                        _ => own,
                    }
                });
                for (mode, encrypts) in modes.flat_map(|mode| [(mode, true), (mode, false)]) {
                    let long = (MODE_MESSAGE as u64 - 8..).take(34);
                    for length in (0..40).chain(long).chain([u64::MAX]) {
                        for aad in [None, Some(0), Some(MODE_AAD), Some(MODE_AAD + 1)] {
                            let asked = in_mode(&key, mode, encrypts, length, aad);
                            let fits = asked.misfit().is_none();
                            assert_eq!(takes(Item::Mode(asked)), fits, "{mode} {encrypts} {length} {aad:?}");
                        }
                    }
                }
            }
        }
    }
}

/// A client is its name with its identity: one without the other is nobody, whatever it asks for.
#[test]
fn a_client_is_its_name_with_its_identity() {
    let three = Three::new();
    let alice = three.alice(0);
    let serves = |who: &Who| admit(three.node(0), who, &Item::KeyList { after: None }).is_ok();
    assert!(serves(&alice));
    assert!(!serves(&Who { name: "alicia".into(), ..alice.clone() }));
    for bit in 0..256 {
        let mut other = alice.clone();
        other.fingerprint[bit / 8] ^= 1 << (bit % 8);
        assert!(!serves(&other), "{bit}");
    }
    let name = key();
    let Item::KeyNew(new) = new_key(name.clone(), KeyType::Aes128) else { panic!("a new key") };
    let mut items: Vec<Item> = uses(&name).into_iter().map(|(item, ..)| item).collect();
    items.extend([
        sha256(0),
        Item::KeyList { after: None },
        Item::KeyNew(new.clone()),
        Item::KeyImport(new),
        Item::KeyExport { name: name.clone() },
        Item::KeyDestroy { name: name.clone() },
        Item::KeyServe(KeyServe { name, client: "alicia".into(), serves: true }),
    ]);
    for item in items {
        for fingerprint in [[0; 32], three.alicia(0).fingerprint] {
            let refused = admit(three.node(0), &Who { fingerprint, ..alice.clone() }, &item).err();
            let why = refused.expect("refused").message;
            assert!(why.contains("client alice is not in the configuration"), "{item:?}: {why}");
        }
    }
}

/// A key serves what its purpose and its type say, if they agree; a file whose purpose was changed serves
/// nothing.
#[test]
fn a_key_with_another_purpose_than_its_types_serves_nothing() {
    let (three, keys) = of_each_type();
    let purposes = [Purpose::Gcm, Purpose::Mac, Purpose::Cbc, Purpose::Siv, Purpose::Wrap];
    for (_, name, _) in &keys {
        let info = three.node(0).keys.load(name).unwrap().unwrap().info;
        for purpose in purposes.into_iter().filter(|purpose| *purpose != info.purpose) {
            let key = KeyInfo { purpose, ..info.clone() };
            assert!(gcm_serves(&key).is_err(), "{key:?}");
            for mode in [Mode::Cbc, Mode::Siv, Mode::Kw, Mode::Kwp] {
                assert!(mode_serves(&key, mode).is_err(), "{mode} {key:?}");
            }
        }
    }
}

/// The id of a key is drawn to its last bit.
#[test]
fn each_bit_of_an_id_is_now_one_and_now_the_other() {
    let worlds = [of_each_type(), of_each_type()];
    let ids = worlds.iter().flat_map(|(three, keys)| {
        keys.iter()
            .map(|(_, name, _)| u128::from_le_bytes(three.node(0).keys.load(name).unwrap().unwrap().info.id))
    });
    let (ones, zeros, number) =
        ids.fold((0, 0, 0), |(ones, zeros, number), id| (ones | id, zeros | !id, number + 1));
    assert!(number > 40 && ones == u128::MAX && zeros == u128::MAX, "{number}: {ones:x} {zeros:x}");
}

/// A key serves the clients of its list and its maker by their whole names, letter for letter, whatever is
/// asked of it.
#[test]
fn a_name_that_is_nearly_a_clients_is_another_ones() {
    let (three, keys) = of_each_type();
    let key = three.node(0).keys.load(&keys[0].1).unwrap().unwrap();
    let key = KeyInfo { clients: vec!["alicia".into(), "carol.x".into()], exportable: true, ..key.info };
    let all = [What::See, What::Encrypt, What::Decrypt, What::Mac, What::Export, What::Destroy, What::Serve];
    let admits = |name: &str| {
        let who = Who { name: name.into(), ..three.alice(0) };
        all.iter().filter(|what| Lists.admit(&who, &what(&key)).is_ok()).count()
    };
    assert_eq!(
        (key.maker.name.as_str(), admits("alice"), admits("alicia"), admits("carol.x")),
        ("alice", 7, 4, 4)
    );
    // nor is a key used for another purpose than its type's, whatever its file says
    let of = |purpose: Purpose| KeyInfo { purpose, ..key.clone() };
    let right = of(key.kind.purpose());
    assert!(What::Encrypt(&right).is_purpose().is_ok() && What::Mac(&right).is_purpose().is_err());
    assert!(What::Mac(&of(Purpose::Mac)).is_purpose().is_err());
    assert!(What::Encrypt(&of(Purpose::Siv)).is_purpose().is_err());
    for name in ["alice", "alicia", "carol.x"] {
        let (first, rest) = name.split_at(1);
        let others = [first.to_uppercase() + rest, name.to_uppercase(), rest.into(), first.into()];
        let longer =
            [format!("{name}x"), format!("{name}."), format!("{name}@alicia"), name.replace('.', "-") + "-"];
        for other in
            others.into_iter().chain(longer).chain([String::new(), "*".into(), "alicia,carol.x".into()])
        {
            assert_eq!(admits(&other), 0, "{other:?}");
        }
    }
}

/// Whoever a key serves no more is admitted to none of its uses, whatever was admitted before: when its owner
/// took the client off, and when the operators gave the key to others.
#[test]
fn what_was_admitted_once_is_not_admitted_for_good() {
    let (three, keys) = of_each_type();
    three.run(|i, state| {
        for (id, key, kind) in &keys {
            let fitting =
                uses(key).into_iter().filter(|(_, purpose, name)| serves(*kind, *purpose, name.as_ref()));
            let items: Vec<Item> = fitting.map(|(item, ..)| item).collect();
            // of alice and of alicia, to how many uses
            let admitted = || {
                let serves = |who: &Who, item: &Item| admit(three.node(i), who, item).is_ok();
                [three.alice(i), three.alicia(i)]
                    .map(|who| items.iter().filter(|item| serves(&who, item)).count())
            };
            let (all, mut seen) = (items.len(), vec![admitted()]);
            for (number, serves) in [(2, true), (3, false)] {
                let asked = KeyServe { name: key.clone(), client: "alicia".into(), serves };
                three.ask_for(i, *id, number, Item::KeyServe(asked));
                state.round(LEADER, &[Offer { number, ..offer(*id) }]).unwrap();
                seen.push(admitted());
            }
            ordered(state, &Order::chown(key.clone(), vec!["alicia".into()]));
            seen.push(admitted());
            assert_eq!(seen, [[all, 0], [all, all], [all, 0], [0, all]], "{kind}");
        }
    });
}

/// A client is who it proved to be when it connected, also if its name belongs to another identity by the
/// time at which the server takes the connection.
#[test]
fn a_name_that_was_given_to_another_identity_meanwhile_admits_nobody() {
    let three = Three::new();
    let (node, world) = (three.node(0), Arc::new(Machine) as Arc<dyn World>);
    let [old, new] = [(); 2].map(|()| divisi_net::Identity::generate(&Machine));
    let named = |identity: &divisi_net::Identity| {
        node.config().add_client("carol", divisi_net::Pin::Key(identity.public())).unwrap()
    };
    three.servers[0].reload(named(&old)).unwrap();
    let taken = |before_it_is_taken: &dyn Fn()| {
        let within = Duration::from_secs(60);
        let client = Connection::dial(&node.config(), node.me, &old, &world, within).ok().unwrap();
        let connection = node.listener.next_client(within).unwrap();
        before_it_is_taken();
        let who = identity(node, &connection);
        drop(client);
        who
    };
    let carol = Who { name: "carol".into(), fingerprint: *old.fingerprint().bytes() };
    assert_eq!(taken(&|| ()), Some(carol));
    assert_eq!(taken(&|| drop(three.servers[0].reload(named(&new)).unwrap())), None);
}

/// A key that is used up at one server serves nothing but decryption with GCM: every other use counts, in
/// every mode and in both directions, before it begins.
#[test]
fn every_use_but_decryption_with_gcm_is_counted() {
    let (three, keys) = of_each_type();
    for (_, key, _) in &keys {
        three.node(2).keys.reserve(key, USES).unwrap();
    }
    let asked: Vec<(u8, Vec<Item>)> = keys
        .into_iter()
        .map(|(id, key, kind)| {
            let fitting =
                uses(&key).into_iter().filter(|(_, purpose, name)| serves(kind, *purpose, name.as_ref()));
            (id, fitting.map(|(item, ..)| item).collect())
        })
        .collect();
    three.run(|i, state| {
        for (id, items) in &asked {
            for (number, item) in (2..).zip(items) {
                three.ask_for(i, *id, number, item.clone());
                state.round(LEADER, &[Offer { number, ..offer(*id) }]).unwrap();
            }
        }
    });
    for (id, items) in &asked {
        let told = three.refusals(2, *id);
        for (number, item) in (2..).zip(items) {
            let failed = told.iter().find(|(of, _)| *of == number).map(|(_, failed)| failed);
            let is_free = matches!(item, Item::Decrypt { .. });
            assert_eq!(failed.is_some_and(|failed| failed.message.contains("2^32")), !is_free, "{item:?}");
        }
    }
}

/// A use is counted once, however often its step is offered before all three have its messages.
#[test]
fn a_use_is_counted_once_however_often_it_is_offered() {
    let three = Three::asked_for_key();
    three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        // the next use is the last of a block
        state.node.keys.reserve(&key(), BLOCK - 1).unwrap();
        three.ask_for(i, 1, 2, encrypt(0));
        for _ in 0..3 {
            if i < 2 && three.node(i).schedule(|schedule, _| schedule.stands(&step_of(2, 0))) == Some(false) {
                three.say(i, 1, ToServer::Finish { number: 2 });
            }
            state.round(LEADER, &[step_of(2, 0)]).unwrap();
        }
        if i == 2 {
            three.say(i, 1, ToServer::Finish { number: 2 });
        }
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        assert!(!three.has(i, 1, 2));
    });
    let counted = |i: usize| three.node(i).keys.load(&key()).unwrap().unwrap().reserved;
    assert_eq!([0, 1, 2].map(counted), [BLOCK; 3]);
}

/// A configuration that is reloaded is in force as a whole: the limits of all clients and of single ones, the
/// time limit, and the list of clients that is compared with the others'. What a client has used of its hour
/// stays used.
#[test]
fn what_is_reloaded_is_in_force() {
    let three = Three::new();
    let node = three.node(0);
    let text = node.config().to_toml().replace("name = \"alice\"", "name = \"alice\"\nlimits = { keys = 9 }");
    let text = text.replace("name = \"alicia\"", "name = \"carol\"");
    let text = text.replacen("[[party]]", "[limits]\nwaiting = 7\nbytes_an_hour = 1500\n\n[[party]]", 1);
    let config = Config::parse(&format!("timeout_seconds = 77\n{text}")).unwrap();
    let clients = config.digest().clients;
    assert_ne!(node.clients(), clients);
    (1..=2).for_each(|id| three.enter(0, id));
    three.ask_for(0, 1, 1, encrypt(1000));
    node.schedule(|schedule, now| schedule.charge(&offer(1), Duration::from_secs(5), now));
    three.servers[0].reload(config).unwrap();
    assert_eq!(node.clients(), clients);
    node.schedule(|schedule, _| {
        let limits = ["alice", "carol"].map(|client| schedule.limits.of(client));
        assert_eq!(limits.map(|limits| limits.waiting), [7, 7]);
        assert!(limits[0].keys == 9 && limits[1].keys > 9);
        assert_eq!(schedule.timeout, Duration::from_secs(77));
    });
    assert_eq!(node.timeout(), Duration::from_secs(77));
    assert_eq!(node.schedule(|schedule, _| schedule.computed("alice")), Duration::from_secs(5));
    three.ask_for(0, 2, 1, encrypt(501));
    let why = three.refusal(0, 2, 1).expect("used up").message;
    assert!(why.contains("1000 of its 1500 bytes"), "{why}");
}
