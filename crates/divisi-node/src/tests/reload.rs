//! A configuration that changes while servers run.

use super::harness::{BUSY, ServersHarness, decrypt, encrypt, eventually, with_key, world};
use crate::Client;
use divisi_net::{Config, Identity, Machine, Pin, check};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A server with a new identity is served with by the two others after a reload, and keys made before work
/// on. The link to the old identity ends, though its server still runs.
#[test]
fn a_new_identity_needs_no_restart_of_the_others() {
    let (mut harness, mut alice, key) = with_key(&[]);
    let file = encrypt(&mut alice, &key, b"", b"before").unwrap();
    let old = harness.config.clone();
    let fresh = Arc::new(Identity::generate(&Machine));
    let party = divisi_core::PartyId::P3;
    let new = old.add_party(party, None, Pin::Key(fresh.public())).unwrap();
    let changes = harness.reload(0, new.clone());
    assert!(changes.concat().starts_with("the identity of party 3 is"), "{changes:?}");
    eventually(BUSY, || {
        let ended = harness.logged("session ended: the configuration has other identities of parties now");
        if ended { Ok(()) } else { Err("the link to the old identity stays") }
    });
    let error = encrypt(&mut alice, &key, b"", b"x").unwrap_err();
    assert!(error.retry, "{error:?}");
    // a server that is asked whether its link works says that it does not serve
    let reports = check(&new, harness.identity("alice"), &world(), BUSY).unwrap();
    let why = reports[0].out_of_step(&new).unwrap();
    assert!(why.contains("is in no session with the other servers"), "{why}");
    // for the server itself another identity is no change that it can take over
    let refused = harness.try_reload(2, new.clone()).unwrap_err().to_string();
    assert!(refused.contains("pins another identity for party 3: start this server again"), "{refused}");
    harness.reload(1, new.clone());
    harness.stop(2);
    harness.replace_identity(2, fresh);
    harness.start(2, None);
    let serves = || -> Result<_, crate::Error> {
        let mut alice = harness.try_connect("alice")?;
        encrypt(&mut alice, &key, b"", b"after")?;
        Ok(alice)
    };
    let mut alice = eventually(4 * BUSY, serves);
    assert_eq!(decrypt(&mut alice, &key, b"", &file), (b"before".to_vec(), None));
    harness.key(&mut alice, "made-after", false, &[]);
    let reports = check(&new, harness.identity("alice"), &world(), BUSY).unwrap();
    for report in reports {
        let status = report.result.as_ref().unwrap().status.clone().unwrap();
        assert_eq!((status.session.len(), report.out_of_step(&new)), (2, None));
        // by another configuration they are out of step
        let elsewhere = report.out_of_step(&old);
        assert_eq!(elsewhere.is_some(), report.peer != party, "{elsewhere:?}");
    }
}

/// What a reload changes besides the identities of parties, one member of the configuration after the other.
fn changed(config: &Config, member: usize, round: usize) -> Config {
    let text = config.to_toml();
    let line = |key: &str, value: String| {
        let others: Vec<&str> = text.lines().filter(|line| !line.starts_with(key)).collect();
        // members of the whole file come before its tables
        Config::parse(&format!("{key} = {value}\n{}", others.join("\n"))).unwrap()
    };
    match member {
        0 => line("timeout_seconds", (61 + round).to_string()),
        1 => line("connect_seconds", (31 + round).to_string()),
        2 => {
            let old = |line: &&str| *line != "[limits]" && !line.starts_with("keys = ");
            let plain = text.lines().filter(old).collect::<Vec<_>>().join("\n");
            Config::parse(&format!("limits = {{ keys = {} }}\n{plain}", 100 + round)).unwrap()
        }
        3 => {
            let (from, to) = if text.contains("127.0.0.1:") {
                ("127.0.0.1:", "localhost:")
            } else {
                ("localhost:", "127.0.0.1:")
            };
            Config::parse(&text.replace(from, to)).unwrap()
        }
        4 => {
            let fresh = Pin::Key(Identity::generate(&Machine).public());
            config.remove_client("dora").or_else(|_| config.add_client("dora", fresh)).unwrap()
        }
        5 => config.add_client("carol", Pin::Key(Identity::generate(&Machine).public())).unwrap(),
        _ => {
            let (before, carol) = text.split_once("name = \"carol\"").unwrap();
            let carol = carol.split_once("[client.limits]").map_or(carol, |(key, _)| key);
            let limits = format!("\n[client.limits]\nwaiting = {}\n", 5 + round);
            Config::parse(&format!("{before}name = \"carol\"{carol}{limits}")).unwrap()
        }
    }
}

/// A server with a time limit of its own says so when the configuration's is another one, and then alone.
#[test]
fn an_option_that_takes_precedence_is_told() {
    let mut harness = ServersHarness::with(|options| options.timeout = Some(BUSY));
    for (member, told) in [(1, false), (0, true), (1, false)] {
        harness.config = changed(&harness.config, member, 5 + usize::from(told));
        let changes = harness.reload(0, harness.config.clone());
        assert_eq!(
            changes.iter().any(|change| change.contains("--timeout takes precedence")),
            told,
            "{changes:?}"
        );
    }
}

/// Reload one member of the configuration after the other at all servers, under eight clients: no request is
/// lost but with \"try again\", and each that was answered is answered rightly.
fn reloads(rounds: usize, new_identities: bool) {
    let (mut harness, _, key) = with_key(&["alicia"]);
    let config = Arc::new(Mutex::new(harness.config.clone()));
    let (over, served, again) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|s| {
        for i in 0..8 {
            let (config, over, served, again, key) = (&config, &over, &served, &again, &key);
            let identity = harness.identity(["alice", "alicia"][i % 2]).clone();
            s.spawn(move || {
                let mut client = None;
                let mut known = config.lock().unwrap().clone();
                while !over.load(Ordering::SeqCst) {
                    let text = [i as u8; 20];
                    if client.is_none() {
                        known = config.lock().unwrap().clone();
                    }
                    let connect = || Client::connect(&known, &identity, world());
                    let mut ask = || {
                        let client = match &mut client {
                            Some(client) => client,
                            None => client.insert(connect()?),
                        };
                        let file = encrypt(client, key, b"", &text)?;
                        match decrypt(client, key, b"", &file) {
                            (back, None) => {
                                assert_eq!(back, text);
                                Ok(())
                            }
                            (_, Some(error)) => Err(error),
                        }
                    };
                    match ask() {
                        Ok(()) => served.fetch_add(1, Ordering::SeqCst),
                        Err(error) => {
                            // who connects, or connects again, by the file of before does not know the new
                            // identity; the end of the test is seen by all
                            let stale = known.digest() != config.lock().unwrap().digest();
                            let lost = !error.retry && !stale;
                            over.fetch_or(lost, Ordering::SeqCst);
                            assert!(!lost, "{error:?}");
                            client = None;
                            std::thread::sleep(Duration::from_millis(5));
                            again.fetch_add(1, Ordering::SeqCst)
                        }
                    };
                }
            });
        }
        for round in 0..rounds {
            let member = round % if new_identities { 8 } else { 7 };
            if member == 7 {
                let fresh = Arc::new(Identity::generate(&Machine));
                let i = round / 8 % 3;
                harness.stop(i);
                harness.replace_identity(i, fresh);
                *config.lock().unwrap() = harness.config.clone();
                (0..3).filter(|other| *other != i).for_each(|other| {
                    harness.reload(other, harness.config.clone());
                });
                harness.start(i, None);
            } else {
                harness.config = changed(&harness.config, member, round);
                for i in 0..3 {
                    let changes = harness.reload(i, harness.config.clone());
                    assert!(!changes.is_empty());
                    // its own address is the one member that a running server cannot take over
                    let restart = changes.iter().any(|c| c.contains("until it is started again"));
                    assert_eq!(restart, member == 3, "{changes:?}");
                }
            }
            let before = served.load(Ordering::SeqCst);
            eventually(8 * BUSY, || {
                let goes_on = served.load(Ordering::SeqCst) > before || over.load(Ordering::SeqCst);
                if goes_on { Ok(()) } else { Err(format!("nothing is served after reload {round}")) }
            });
        }
        over.store(true, Ordering::SeqCst);
    });
    println!("{} served, {} told to try again", served.into_inner(), again.load(Ordering::SeqCst));
    // only other identities of parties end a session
    assert!(new_identities || again.into_inner() == 0);
}

#[test]
fn a_reload_of_any_member_loses_no_request() {
    reloads(7, false);
}

/// The same 200 times, with new identities of servers, which takes minutes.
#[test]
#[ignore = "takes minutes"]
fn two_hundred_reloads_lose_no_request() {
    reloads(200, true);
}
