//! The examples, run.

#[path = "../../examples/circuit_among_five.rs"]
mod circuit_among_five;
#[path = "../../examples/encrypt_in_one_process.rs"]
mod encrypt_in_one_process;
#[path = "../../examples/many_requests.rs"]
mod many_requests;
#[path = "../../examples/own_protocol.rs"]
mod own_protocol;
#[path = "../../examples/three_machines.rs"]
mod three_machines;

use divisi::local::ServersHere;
use std::net::TcpListener;
use std::sync::Arc;

#[test]
fn three_servers_in_one_process_encrypt_and_decrypt() {
    let servers = ServersHere::start(&["me".into()]).unwrap();
    let (pool, folder) = (servers.pool(0).unwrap(), servers.folder().to_owned());
    let text: Vec<u8> = (0..100_000u32).map(|i| (i * 7) as u8).collect();
    let (sealed, opened) = encrypt_in_one_process::there_and_back(&pool, &text).unwrap();
    assert_eq!(opened, text);
    assert_eq!(sealed.len(), 12 + text.len() + 16);
    assert!(sealed.windows(64).all(|window| !text.windows(64).step_by(1009).any(|piece| piece == window)));
    let texts: Vec<&[u8]> = text.chunks(999).collect();
    assert_eq!(encrypt_in_one_process::all_there_and_back(&pool, &texts).unwrap(), texts);
    assert!(servers.config_file().exists() && servers.identity_file(0).unwrap().exists());
    assert!(servers.pool(1).is_err() && servers.identity_file(1).is_none());
    servers.stop().unwrap();
    assert!(!folder.exists());
}

#[test]
fn a_protocol_of_ones_own_gives_what_an_ordinary_aes_gives() {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    for seed in [0u8, 1, 0xff] {
        let keys = [[seed; 16], [seed.wrapping_add(3); 16]];
        let x: [u8; 16] = std::array::from_fn(|i| seed ^ i as u8);
        let [one, two] = keys.map(|key| {
            let mut block = x.into();
            aes::Aes128::new(&key.into()).encrypt_block(&mut block);
            <[u8; 16]>::from(block)
        });
        let sum: Vec<u8> = one.iter().zip(&two).map(|(a, b)| a ^ b).collect();
        assert_eq!(own_protocol::compute([keys[0], keys[1], x]).unwrap(), vec![sum; 3]);
    }
}

#[test]
fn five_learn_the_greatest_of_their_numbers() {
    for numbers in [[31, 47, 25, 62, 38], [0x100, 0xff, 0, 1, 2], [0, 0, 0, 0, 0xffff]] {
        let greatest = numbers.into_iter().max().unwrap();
        assert_eq!(circuit_among_five::compute(numbers).unwrap(), [greatest; 5]);
    }
}

/// FIPS 197, C.1, among three that join each other by a configuration.
#[test]
fn three_machines_encrypt_a_block() {
    use divisi::prelude::{Config, Listener, Machine, PartyId};
    let ports: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts: Vec<String> = ports.iter().map(|port| port.local_addr().unwrap().to_string()).collect();
    let made = Config::create(3, &hosts, &[], &Machine).unwrap();
    let blocks: Vec<Vec<[u8; 16]>> = std::thread::scope(|scope| {
        let parties = PartyId::all(3).zip(ports).zip(made.parties);
        let start = |((me, port), identity): ((PartyId, TcpListener), divisi::prelude::Identity)| {
            let config = made.config.clone();
            scope.spawn(move || {
                let within = config.connect();
                let listener =
                    Listener::open_at(port, config, me, Arc::new(identity), Arc::new(Machine)).unwrap();
                three_machines::party(&listener, within).unwrap()
            })
        };
        let parties: Vec<_> = parties.map(start).collect();
        parties.into_iter().map(|party| party.join().unwrap()).collect()
    });
    let expected = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes();
    assert_eq!(blocks, vec![vec![expected]; 3]);
}

/// Threads that share connections with three servers in this process encrypt many texts, in their order.
#[test]
fn many_requests_go_over_a_few_connections() {
    let servers = ServersHere::start(&["me".into()]).unwrap();
    let pool = servers.pool(0).unwrap().with_most(4).with_patience(std::time::Duration::from_secs(60));
    let key = "Lines".parse().unwrap();
    let texts: Vec<String> = (0..30).map(|i| "x".repeat(i)).collect();
    let sealed = many_requests::encrypt_all(&pool, &key, &texts).unwrap();
    let opened = pool.map(&sealed, |client, sealed| {
        let (mut input, mut text) = (std::io::Cursor::new(sealed), Vec::new());
        client.decrypt(&key, b"", &mut input, sealed.len() as u64, &mut text, &mut |_| {})?;
        Ok(text)
    });
    let texts: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    assert_eq!(opened.unwrap(), texts);
}

/// The examples for beginners are at most a page long.
#[test]
fn those_to_begin_with_are_short() {
    for example in ["own_protocol", "circuit_among_five", "three_machines", "many_requests"] {
        let path = format!("{}/examples/{example}.rs", env!("CARGO_MANIFEST_DIR"));
        assert!(std::fs::read_to_string(path).unwrap().lines().count() < 60, "{example}");
    }
}
