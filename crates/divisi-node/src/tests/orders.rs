//! Operators that give keys away and destroy them: all three together, and no fewer.

use super::harness::{BUSY, ServersHarness, decrypt, encrypt, eventually, fails};
use crate::operator::{self, Answer, Asking, Order, OrderState};
use crate::wire::{decode, encode};
use crate::{Error, ErrorKind, KeyName, ServerOptions};
use divisi_net::tamper::Tap;
use divisi_net::{Frame, Mesh, PartyId, Step};
use divisi_store::{Maker, StoredKeys};
use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn chown(to: &[&str]) -> Order {
    Order::chown(key(), to.iter().map(|name| (*name).to_owned()).collect())
}

fn destroy() -> Order {
    Order { key: key(), deed: operator::Deed::Destroy }
}

fn key() -> KeyName {
    "k".parse().unwrap()
}

fn asked(waiting: &[u8], differs: &[u8]) -> OrderState {
    OrderState::Asked { waiting: waiting.into(), differs: differs.into() }
}

/// Servers that have their turns soon, because an order waits for the turn of its server, and whose operators
/// wait for the outcome also on a busy machine, for less than the time limit of their command.
fn with(change: impl Fn(&mut ServerOptions)) -> ServersHarness {
    ServersHarness::patient(|options| {
        options.beat = Some(Duration::from_millis(100));
        options.outcome = Some(Duration::from_secs(25));
        change(options);
    })
}

/// The same, with a key of alice's.
fn with_her_key(change: impl Fn(&mut ServerOptions)) -> ServersHarness {
    let harness = with(change);
    harness.key(&mut harness.connect("alice"), "k", false, &[]);
    harness
}

impl ServersHarness {
    /// The operator of server `i` asks.
    fn operator(&self, i: usize, order: &Order) -> OrderState {
        self.ask(i, order).unwrap()
    }

    fn ask(&self, i: usize, order: &Order) -> Result<OrderState, Error> {
        operator::ask(&self.data(i), PartyId::from_index(i).unwrap(), &self.party_identity(i), order)
    }

    /// What each server's file of the key says: who made it, and whom else it serves.
    fn owners(&self) -> Vec<(Maker, Vec<String>)> {
        let dir = tempfile::tempdir().unwrap();
        let each = |i: usize| {
            // a copy: the directory is the running server's
            let copy = dir.path().join(i.to_string());
            fs::create_dir(&copy).unwrap();
            // while the server replaces its file, what is read may be the old one, half wiped
            let key = eventually(BUSY, || {
                fs::copy(self.key_file(i, "k"), copy.join("k.key")).map_err(|e| e.to_string())?;
                let keys = StoredKeys::open(&copy).map_err(|e| e.to_string())?;
                keys.load(&key()).map_err(|e| e.to_string())?.ok_or_else(|| "no such key".to_owned())
            });
            (key.info.maker, key.info.clients)
        };
        (0..3).map(each).collect()
    }
}

/// Two operators change nothing; with the third the key is its new owner's and those that were named, at all
/// three and for good; whoever had it before has it no more.
#[test]
fn three_operators_give_a_key_to_others() {
    let mut harness = with(|_| {});
    let mut alice = harness.connect("alice");
    harness.key(&mut alice, "k", true, &["alicia"]);
    let file = encrypt(&mut alice, &key(), b"", b"hers").unwrap();
    let before = harness.owners();
    let order = chown(&["carol", "alicia"]);
    assert_eq!(harness.operator(0, &order), asked(&[2, 3], &[]));
    assert_eq!(harness.operator(2, &order), asked(&[2], &[]));
    harness.await_logged(2, "operator: key chown k to carol,alicia: asked here");
    harness.await_logged(
        1,
        "operator: key chown k to carol,alicia: waits for the operator of party 2 and party 3",
    );
    harness.await_logged(1, "operator: key chown k to carol,alicia: asked at party 1, and not here");
    assert_eq!(harness.owners(), before);
    encrypt(&mut alice, &key(), b"", b"still hers").unwrap();

    assert_eq!(harness.operator(1, &order), OrderState::Done);
    harness.await_logged(3, "operator: key chown k to carol,alicia: done, all three asked for it");
    let carol = Maker { name: "carol".into(), fingerprint: *harness.identity("carol").fingerprint().bytes() };
    assert_eq!(harness.owners(), vec![(carol, vec!["alicia".to_owned()]); 3]);
    // whoever asks again learns that it is done
    assert_eq!(harness.operator(0, &order), OrderState::Done);
    harness.restart();
    let connect = |name: &str| harness.reconnect(name);
    let (mut alice, mut alicia, mut carol) = (connect("alice"), connect("alicia"), connect("carol"));
    assert_eq!(eventually(4 * BUSY, || alicia.key_list())[0].key.maker, "carol");
    for error in [
        encrypt(&mut alice, &key(), b"", b"x").unwrap_err(),
        alice.key_export(&key()).unwrap_err(),
        alice.key_destroy(&key()).unwrap_err(),
        alicia.key_export(&key()).unwrap_err(),
    ] {
        assert_eq!((error.kind, error.peer), (ErrorKind::Refused, None), "{error}");
    }
    assert!(alice.key_list().unwrap().is_empty());
    assert_eq!(decrypt(&mut alicia, &key(), b"", &file).0, b"hers");
    assert_eq!(carol.key_export(&key()).unwrap().len(), 16);
    carol.key_destroy(&key()).unwrap();
}

/// Operators who name different clients change nothing, and each log says what differs.
#[test]
fn operators_who_differ_change_nothing() {
    let harness = with_her_key(|_| {});
    let before = harness.owners();
    harness.operator(0, &chown(&["alicia"]));
    assert_eq!(harness.operator(1, &chown(&["carol"])), asked(&[1, 3], &[1]));
    assert_eq!(harness.operator(2, &chown(&["alicia"])), asked(&[2], &[2]));
    harness.await_logged(
        1,
        "key chown k to alicia was asked here, and key chown k to carol at party 2: nothing is done",
    );
    harness.await_logged(
        1,
        "key chown k to carol was asked here, and key chown k to alicia at party 3: nothing is done",
    );
    harness.await_logged(1, "key chown k to alicia: the operator of party 2 gave another order");
    assert_eq!(harness.operator(1, &destroy()), asked(&[1, 3], &[1, 3]));
    assert_eq!(harness.owners(), before);
    // whoever thinks better of it
    assert_eq!(harness.operator(1, &chown(&["alicia"])), OrderState::Done);
    harness.await_logged(1, "operator: key destroy k: taken back");
    assert_eq!(harness.owners()[1].0.name, "alicia");
}

/// Where the servers know the new owner by different identities, that is what the operators learn; nothing is
/// done.
#[test]
fn an_owner_with_two_identities_is_told_from_a_damaged_file() {
    let harness = with_her_key(|_| {});
    let before = harness.owners();
    let text = harness.config.to_toml();
    let other =
        text.replace("\"alicia\"", "\"x\"").replace("\"carol\"", "\"alicia\"").replace("\"x\"", "\"carol\"");
    harness.reload(1, divisi_net::Config::parse(&other).unwrap());
    let order = chown(&["carol"]);
    [0, 2].iter().for_each(|i| drop(harness.operator(*i, &order)));
    let end = harness.operator(1, &order);
    assert!(matches!(&end, OrderState::Failed(why) if why.contains("different identities")), "{end:?}");
    assert_eq!(harness.owners(), before);
}

/// Where a server's file of a key has other parts, or says something else of it, the key is given to nobody,
/// and stays as it is at all \[A26\].
#[test]
fn a_key_whose_files_differ_is_given_to_nobody() {
    let harness = with_her_key(|_| {});
    let path = harness.key_file(1, "k");
    let good = fs::read(&path).unwrap();
    let store = harness.store(1);
    let order = chown(&["alicia"]);
    for change in 0..3 {
        let mut other = store.load(&key()).unwrap().unwrap();
        let secret = other.secret.as_mut().unwrap();
        match change {
            0 => secret.first[3] ^= 1,
            1 => secret.second[15] ^= 1,
            _ => other.info.exportable ^= true,
        }
        fs::remove_file(&path).unwrap();
        store.prepare(&mut other).unwrap();
        let before = harness.owners();
        [0, 2].iter().for_each(|i| drop(harness.operator(*i, &order)));
        let end = harness.operator(1, &order);
        assert!(matches!(&end, OrderState::Failed(_)), "{change}: {end:?}");
        assert_eq!(harness.owners(), before, "{change}");
        fs::write(&path, &good).unwrap();
    }
    [0, 2].iter().for_each(|i| drop(harness.operator(*i, &order)));
    assert_eq!(harness.operator(1, &order), OrderState::Done);
}

/// Three operators destroy a key without its maker, also where its file is damaged or lost; not two of them.
#[test]
fn three_operators_destroy_a_key() {
    let harness = with_her_key(|_| {});
    let mut alice = harness.connect("alice");
    encrypt(&mut alice, &key(), b"", b"x").unwrap();
    fs::write(harness.key_file(1, "k"), b"damaged").unwrap();
    fs::remove_file(harness.key_file(2, "k")).unwrap();
    // of a key that is lost here, another operator has to speak first
    let lost = fails(harness.ask(2, &destroy()), "there is no key k at party 3");
    assert_eq!(lost.kind, ErrorKind::Usage);
    fails(harness.ask(1, &chown(&["alicia"])), "is damaged");
    assert_eq!(harness.operator(0, &destroy()), asked(&[2, 3], &[]));
    assert_eq!(harness.operator(1, &destroy()), asked(&[3], &[]));
    fails(harness.ask(1, &chown(&["alicia"])), "is damaged");
    assert!(fs::read(harness.key_file(1, "k")).unwrap() == b"damaged");
    assert_eq!(harness.operator(2, &destroy()), OrderState::Done);
    let error = encrypt(&mut alice, &key(), b"", b"x").unwrap_err();
    assert!(error.message.contains("destroyed") || error.message.contains("no key"), "{error}");
    assert!(harness.logged("key k is wiped from the memory of party 1"));
    assert!(!harness.key_file(1, "k").exists());
    assert_eq!(harness.operator(0, &destroy()), OrderState::Done);
    fails(harness.ask(0, &chown(&["alicia"])), "is destroyed at party 1 already");
}

/// An order expires after its time; and a server that is restarted has lost the orders of its operator.
#[test]
fn orders_end_with_their_time_and_with_their_server() {
    let lasts = Duration::from_secs(20);
    let mut harness = with_her_key(|options| options.orders = lasts);
    let (before, order) = (harness.owners(), chown(&["alicia"]));
    harness.operator(0, &order);
    harness.pass(lasts);
    harness.await_logged(
        1,
        "key chown k to alicia: expired, the operators of all three did not give it within 1 minutes",
    );
    harness.operator(1, &order);
    assert_eq!(harness.operator(2, &order), asked(&[1], &[]));
    assert_eq!(harness.owners(), before);
    drop(harness);

    harness = with_her_key(|_| {});
    let before = harness.owners();
    harness.operator(0, &order);
    harness.operator(1, &order);
    harness.stop(0);
    let stopped = harness.log.lock().unwrap().len();
    harness.start(0, None);
    // after the restart the second's order is called for again, and the first has none
    eventually(4 * BUSY, || {
        let log = harness.log.lock().unwrap();
        let waits = |line: &String| line.contains("waits for the operator of party 1 and party 3");
        if log[stopped..].iter().any(waits) { Ok(()) } else { Err("not called for again") }
    });
    assert_eq!(harness.operator(2, &order), asked(&[1], &[]));
    assert_eq!(harness.owners(), before);
    assert_eq!(harness.operator(0, &order), OrderState::Done);
    assert_eq!(harness.owners()[2].0.name, "alicia");
}

/// What an operator has to correct, in one sentence.
#[test]
fn what_an_operator_asks_wrongly_is_refused() {
    let mut harness = with_her_key(|_| {});
    let order = chown(&["alicia"]);
    // whose data, as whom, and with whose identity
    let refused = |harness: &ServersHarness, [data, me, identity]: [usize; 3], order: &Order, words: &str| {
        let me = PartyId::from_index(me).unwrap();
        let asked = operator::ask(&harness.data(data), me, &harness.party_identity(identity), order);
        let error = fails(asked, words);
        assert_eq!((error.kind, error.message.lines().count()), (ErrorKind::Usage, 1));
    };
    let other = Order { key: "other".parse().unwrap(), ..destroy() };
    let unknown = "client alison is not in the configuration of party 1";
    refused(&harness, [0, 1, 1], &order, "the server here is party 1, not party 2");
    refused(&harness, [0, 0, 1], &order, "the identity is not that of party 1");
    // every byte of the fingerprint counts
    let mut fingerprint = *harness.party_identity(0).fingerprint().bytes();
    fingerprint[31] ^= 1;
    let nearly = encode(&Asking { party: 1, fingerprint, order: order.clone() }, 0).unwrap();
    let mut stream = operator::short(&harness.data(0), |path| UnixStream::connect(path)).unwrap();
    stream.write_all(&nearly).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let Some(Answer::Refused(why)) = decode(&answer) else { panic!("another operator was heard") };
    assert!(why.contains("the identity is not that of party 1"), "{why}");
    refused(&harness, [0; 3], &chown(&["alison"]), unknown);
    refused(&harness, [0; 3], &chown(&["alicia", "alison"]), unknown);
    refused(&harness, [0; 3], &other, "there is no key other at party 1");
    refused(&harness, [0; 3], &chown(&[]), "larger than allowed");
    let many: Vec<String> = (0..400).map(|i| format!("client {i:060}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    refused(&harness, [0; 3], &chown(&many), "names too many clients: name fewer");
    // the socket is its owner's, and goes with the server
    let socket = harness.data(0).join(operator::NAME);
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    harness.stop(0);
    assert!(!socket.exists());
    refused(&harness, [0; 3], &order, "no running server has its data in");
    // one that was left behind by a crash is replaced; what is no socket stays, and the server says so
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    harness.start(0, None);
    eventually(4 * BUSY, || encrypt(&mut harness.try_connect("alice")?, &key(), b"", b"x"));
    assert_eq!(harness.operator(0, &order), asked(&[2, 3], &[]));
    harness.stop(0);
    fs::write(&socket, "mine").unwrap();
    harness.start(0, None);
    assert!(harness.logged("operators cannot give orders here"));
    harness.stop(0);
    assert!(!fs::metadata(&socket).unwrap().file_type().is_socket());
}

/// A directory with a path that no socket's address has room for.
#[test]
fn a_long_path_has_its_socket() {
    let dir = tempfile::tempdir().unwrap();
    let long = dir.path().join("x".repeat(200));
    fs::create_dir(&long).unwrap();
    let listener = operator::short(&long, |path| UnixListener::bind(path)).unwrap();
    assert!(fs::symlink_metadata(long.join(operator::NAME)).unwrap().file_type().is_socket());
    operator::short(&long, |path| std::os::unix::net::UnixStream::connect(path)).unwrap();
    drop(listener);
}

/// A server says that all agree on an order, to both others or to one of them, or that it did what it did not
/// do: without their own operators nothing happens at the two others, and with them both do it, or neither.
#[test]
fn a_lying_server_changes_nothing_at_the_others() {
    let armed = Arc::new(AtomicBool::new(false));
    // the third says this of what the comparison found, to each of these
    let lying = |to: &'static [PartyId], says: [u8; 2]| {
        let armed = armed.clone();
        let verdict = Step::new("divisi_rep3::input/verdict").id;
        let hand = move |mesh: &Mesh| {
            for to in to.iter().filter(|_| mesh.me() == PartyId::P3) {
                let armed = armed.clone();
                let lie = move |mut frame: Frame| {
                    if armed.load(Ordering::SeqCst) && frame.step == verdict && frame.body.len() == 6 {
                        frame.body[..2].copy_from_slice(&says);
                    }
                    vec![frame]
                };
                Tap::new(mesh).intercept(*to, Box::new(lie)).unwrap();
            }
        };
        let hand: Arc<dyn Fn(&Mesh) + Send + Sync> = Arc::new(hand);
        with_her_key(|options| {
            options.hand = Some(hand.clone());
            // there is no outcome while sessions end
            options.outcome = None;
        })
    };
    // all agree
    let harness = lying(&[PartyId::P1, PartyId::P2], [0, 0]);
    let before = harness.owners();
    armed.store(true, Ordering::SeqCst);
    for order in [chown(&["alicia"]), destroy()] {
        harness.operator(2, &order);
        harness.operator(0, &order);
        harness.operator(2, &order);
        assert_eq!(harness.owners(), before);
    }
    drop(harness);

    // to one of the others that it was not asked, and to the other that all agree
    armed.store(false, Ordering::SeqCst);
    let harness = lying(&[PartyId::P2], [4, 2]);
    let before = harness.owners();
    armed.store(true, Ordering::SeqCst);
    (0..3).for_each(|i| drop(harness.operator(i, &chown(&["alicia"]))));
    // the barrier ends it before anybody writes, in each session
    harness.await_logged(4, "session ended");
    assert_eq!(harness.owners()[..2], before[..2]);
    // without a lie all do it
    armed.store(false, Ordering::SeqCst);
    eventually(4 * BUSY, || {
        let owners = harness.owners();
        if owners.iter().all(|(maker, _)| maker.name == "alicia") {
            Ok(())
        } else {
            Err(format!("{owners:?}"))
        }
    });
}
