//! Many honest clients at once: each is served, or told to try again.

use super::{BUSY, ServersHarness, alone, block, bounded_memory, eventually, in_own_process, resident};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// 256 known clients with one connection each keep out nobody: a client that comes then gets the place of the
/// one that has been without a request for longest, and those that lose their place can come again in the
/// same way.
#[test]
fn two_hundred_and_fifty_six_clients_with_one_connection_each_shut_nobody_out() {
    let name = "two_hundred_and_fifty_six_clients_with_one_connection_each_shut_nobody_out";
    in_own_process(&format!("bursts::{name}"), many_with_one_connection_each);
}

fn many_with_one_connection_each() {
    let harness = ServersHarness::of(257);
    let key = harness.key();
    let memory = resident();
    let name = |i: usize| format!("c{i}");
    let mut held: Vec<_> = (0..256).map(|i| eventually(|| harness.connect(&name(i)))).collect();
    // the first 200 make a request, so that they are not the ones without a request for longest
    held.iter_mut().take(200).for_each(|client| assert!(client.key_list().unwrap().is_empty()));
    for _ in 0..3 {
        eventually(|| block(&mut harness.connect("alice")?, &key));
    }
    let mut alice = eventually(|| harness.connect("alice"));
    let mut late = eventually(|| harness.connect(&name(256)));
    assert!(late.key_list().unwrap().is_empty());
    bounded_memory(memory, "a connection of each of 256 clients");
    // a connection that has to leave may answer once more: ask until one says that it left
    let mut gone = Vec::new();
    let until = Instant::now() + BUSY;
    while gone.is_empty() && Instant::now() < until {
        let asked = held.iter_mut().enumerate();
        gone = asked.filter_map(|(i, client)| Some((i, client.key_list().err()?))).collect();
    }
    // of those that asked for something lately, none
    assert!(!gone.is_empty() && gone.len() <= 12, "{gone:?}");
    assert!(gone.iter().all(|(i, error)| *i >= 200 && error.retry), "{gone:?}");
    for (i, _) in &gone {
        eventually(|| harness.connect(&name(*i))?.key_list());
    }
    // others had a turn since, and the place of whoever asks is not the first to go
    block(&mut alice, &key).unwrap();
}

/// This many clients come at the same moment, while this many threads of other programs want both cores: each
/// is served or told to try again, and none finds a connection closed.
fn burst(clients: usize, load: usize) {
    let _alone = alone();
    let harness = ServersHarness::of(clients);
    let memory = resident();
    let (over, served, busy) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let start = Barrier::new(clients);
    std::thread::scope(|s| {
        for _ in 0..load {
            s.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let all: Vec<_> = (0..clients)
            .map(|i| {
                let (harness, start, served, busy) = (&harness, &start, &served, &busy);
                s.spawn(move || {
                    start.wait();
                    match harness.connect(&format!("c{i}")).and_then(|mut client| client.key_list()) {
                        Ok(_) => served.fetch_add(1, Ordering::SeqCst),
                        Err(error) => {
                            assert!(error.retry && error.message.contains("busy"), "{error}");
                            busy.fetch_add(1, Ordering::SeqCst)
                        }
                    };
                })
            })
            .collect();
        let all: Vec<_> = all.into_iter().map(|client| client.join()).collect();
        over.store(true, Ordering::SeqCst);
        assert!(all.iter().all(Result::is_ok));
    });
    let (served, busy) = (served.into_inner(), busy.into_inner());
    println!("{served} of {clients} served, {busy} told to try again");
    assert!(served + busy == clients && served > 0);
    bounded_memory(memory, "a burst of clients");
}

#[test]
fn forty_clients_at_once_are_served() {
    in_own_process("bursts::forty_clients_at_once_are_served", || burst(40, 0));
}

#[test]
#[ignore = "loads the machine for a minute"]
fn forty_clients_at_once_on_a_loaded_machine_are_served() {
    (0..5).for_each(|_| burst(40, 20));
}
