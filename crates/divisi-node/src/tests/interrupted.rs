//! Calls that their caller wants to end, and lists of requests over several connections.

use super::harness::{BUSY, encrypt, eventually, with_key, world};
use crate::{ClientPool, Error, ErrorKind};
use divisi_net::{Config, Interrupt, Machine};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How soon a call ends, on a busy machine; none of these would end by itself in ten times as long.
const SOON: Duration = Duration::from_secs(6);

/// An interrupt that is due after this time.
fn after(time: Duration) -> Interrupt {
    let begun = Instant::now();
    Interrupt::new(move || begun.elapsed() > time)
}

fn ended<T>(begun: Instant, done: Result<T, Error>) {
    let error = done.err().unwrap();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert_eq!((error.kind, error.retry, error.by_all), (ErrorKind::Unavailable, false, false));
    assert!(error.message.contains("was interrupted"), "{error}");
}

/// A hash that takes the servers minutes ends when its caller wants it to; they serve on.
#[test]
fn an_interrupted_call_ends_and_the_servers_serve_on() {
    let (harness, _, key) = with_key(&[]);
    let pool = ClientPool::new(harness.config.clone(), harness.identity("alice").clone(), world()).unwrap();
    let pool = pool.with_patience(4 * BUSY);
    let settings = Settings::new("sha512".parse::<Algorithm>().unwrap());
    let text = vec![7; 1 << 20];
    let hash = |client: &mut crate::Client, text: &Vec<u8>| {
        client.hash(&settings, &mut &text[..], text.len() as u64, &mut |_| {})
    };
    let begun = Instant::now();
    ended(begun, pool.run_until(&after(Duration::from_millis(300)), |client| hash(client, &text)));
    let texts = vec![text; 3];
    let begun = Instant::now();
    ended(begun, pool.map_until(&after(Duration::from_millis(300)), &texts, hash));
    pool.run(|client| encrypt(client, &key, b"", b"text")).unwrap();
    harness.assert_unharmed();
}

/// Servers that accept connections and say nothing, a call that waits for a connection, and one that is tried
/// again and again.
#[test]
fn waits_of_all_kinds_end() {
    let silent: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts: Vec<String> = silent.iter().map(|port| port.local_addr().unwrap().to_string()).collect();
    let pool_of = |hosts: &[String]| {
        let mut made = Config::create(3, hosts, &["alice".into()], &Machine).unwrap();
        let alice = Arc::new(made.clients.remove(0));
        ClientPool::new(made.config, alice, world()).unwrap().with_patience(10 * BUSY).with_most(1)
    };
    let pool = pool_of(&hosts);
    let begun = Instant::now();
    ended(begun, pool.run_until(&after(Duration::from_millis(200)), |client| client.key_list()));
    let soon = after(Duration::from_millis(200));
    std::thread::scope(|scope| {
        let long = after(Duration::from_secs(2));
        let waits = &pool;
        scope.spawn(move || waits.run_until(&long, |client| client.key_list()).unwrap_err());
        std::thread::sleep(Duration::from_millis(100));
        let begun = Instant::now();
        ended(begun, pool.run_until(&soon, |client| client.key_list()));
    });
    // where connections are refused, the call is tried again until its caller wants no more; nobody else
    // listens there, as some other test may at a port that is given back
    let pool = pool_of(&[1, 2, 3].map(|port| format!("127.0.0.1:{port}")));
    let begun = Instant::now();
    ended(begun, pool.run_until(&after(Duration::from_millis(700)), |client| client.key_list()));
}

/// The results have the order of the items, of which there are more than connections; an error ends it.
#[test]
fn a_list_is_done_in_order_over_several_connections() {
    let (harness, _, key) = with_key(&[]);
    let pool = ClientPool::new(harness.config.clone(), harness.identity("alice").clone(), world()).unwrap();
    let pool = pool.with_patience(4 * BUSY).with_most(3);
    let texts: Vec<Vec<u8>> = (0..20).map(|length| vec![1; length]).collect();
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let sealed = pool.map(&texts, |client, text| {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let sealed = encrypt(client, &key, b"", text);
        now.fetch_sub(1, Ordering::SeqCst);
        sealed
    });
    let lengths: Vec<usize> = sealed.unwrap().iter().map(Vec::len).collect();
    assert_eq!(lengths, (28..48).collect::<Vec<_>>());
    assert!((2..=3).contains(&most.into_inner()));
    let (refused, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let failed = pool.map(&texts, |_, text| {
        if text.len() == 2 {
            refused.store(true, Ordering::SeqCst);
            return Err(Error::new(ErrorKind::Refused, divisi_core::step!("x"), "not this one"));
        }
        // however late the one that fails begins
        let is_refused = || refused.load(Ordering::SeqCst);
        eventually(4 * BUSY, || if is_refused() { Ok(()) } else { Err("none is refused") });
        std::thread::sleep(Duration::from_millis(50));
        done.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    assert_eq!(failed.unwrap_err().message, "not this one");
    assert!(done.into_inner() < texts.len() - 5);
    assert!(pool.map(&texts[..0], |_, _| Ok(())).unwrap().is_empty());
    // more of them than a byte counts, of which each connection does some
    let many: Vec<u16> = (0..700).collect();
    assert_eq!(pool.map(&many, |_, item| Ok(*item)).unwrap(), many);
    // one that ends its thread has no result, and none of another item stands in its place
    let died = pool.map(&many, |_, item| {
        assert_ne!(*item, 350, "an item of a test");
        Ok(*item)
    });
    assert!(died.unwrap_err().message.contains("a thread of the call ended early"));
    harness.assert_unharmed();
}

/// A connection that was used before asks whoever uses it now whether to wait, and nobody whom it asked then.
#[test]
fn a_connection_asks_whoever_uses_it() {
    let (harness, _, key) = with_key(&[]);
    let pool = ClientPool::new(harness.config.clone(), harness.identity("alice").clone(), world()).unwrap();
    let pool = pool.with_patience(4 * BUSY).with_most(1);
    let due = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&due);
    let first = Interrupt::new(move || asked.load(Ordering::SeqCst));
    // how many requests the connection had served before
    let used = |client: &mut crate::Client| {
        let before = client.requests();
        encrypt(client, &key, b"", b"text").map(|_| before)
    };
    assert_eq!(pool.run_until(&first, used), Ok(0));
    due.store(true, Ordering::SeqCst);
    assert!(first.is_due());
    assert_eq!(pool.run(used), Ok(1));
    // it is known to be due, so that no wait is long enough
    let (begun, second) = (Instant::now(), Interrupt::new(|| true));
    assert!(second.is_due());
    let second = pool.run_until(&second, |client| {
        assert_eq!(client.requests(), 2);
        encrypt(client, &key, b"", b"text")
    });
    ended(begun, second);
    assert_eq!(pool.run(used), Ok(0));
}
