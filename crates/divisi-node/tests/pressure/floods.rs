//! Handshakes that are begun and never ended, with the bytes with which real clients begin.

use super::{
    ServersHarness, alone, block, bounded, bounded_memory, eventually, in_own_process, resident, world,
};
use divisi_net::{Config, Machine};
use divisi_node::Client;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The bytes that a client sends first to a server.
fn hello() -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = vec![listener.local_addr().unwrap().to_string(); 3];
    let hosts: Vec<String> = hosts
        .into_iter()
        .enumerate()
        .map(|(i, host)| if i == 0 { host } else { format!("127.0.0.1:{i}") })
        .collect();
    let made = Config::create(3, &hosts, &["alice".into()], &Machine).unwrap();
    let dials = std::thread::spawn(move || Client::connect(&made.config, &made.clients[0], world()).is_ok());
    let (mut stream, _) = listener.accept().unwrap();
    let mut bytes = vec![0; 4096];
    let n = stream.read(&mut bytes).unwrap();
    bytes.truncate(n);
    drop(stream);
    assert!(!dials.join().unwrap() && n > 100);
    bytes
}

/// A connection from another address of this machine, where there are such.
fn dial_from(nth: usize, to: SocketAddr) -> std::io::Result<TcpStream> {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let from = Ipv4Addr::new(127, 0, (nth / 200) as u8, (nth % 200) as u8 + 2);
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&socket, &SocketAddrV4::new(from, 0))?;
    connect(&socket, &to)?;
    Ok(TcpStream::from(socket))
}

/// Handshakes that are begun and never ended, this many a second at each of some servers, from this many
/// addresses (0: the usual one), while `n` requests are timed. One server is stopped and started again
/// meanwhile.
fn flood(a_second: u32, servers: &[usize], addresses: usize, n: usize) {
    let _alone = alone();
    let mut harness = ServersHarness::new();
    let key = harness.key();
    let calm = (harness.blocks(&key, n), harness.comes(&key, n));
    let memory = resident();
    let (over, hello) = (AtomicBool::new(false), hello());
    let targets: Vec<SocketAddr> = servers.iter().map(|i| harness.address(*i)).collect();
    std::thread::scope(|s| {
        for to in targets {
            let (over, hello) = (&over, &hello);
            s.spawn(move || {
                let mut held = VecDeque::new();
                for nth in 0.. {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    let stream = match addresses {
                        0 => TcpStream::connect(to),
                        _ => dial_from(nth % addresses, to),
                    };
                    if let Ok(mut stream) = stream
                        && stream.write_all(hello).is_ok()
                    {
                        held.push_back(stream);
                    }
                    if held.len() > 600 {
                        held.pop_front();
                    }
                    std::thread::sleep(Duration::from_secs(1) / a_second);
                }
            });
        }
        // until as many handshakes are half open as there may be
        std::thread::sleep(Duration::from_millis(if n > 100 { 3000 } else { 800 }));
        let comes = harness.comes(&key, n);
        let blocks = harness.blocks(&key, n);
        harness.stop(1);
        harness.start(1, None);
        let begun = Instant::now();
        eventually(|| block(&mut harness.connect("alice")?, &key));
        println!("served again {:?} after a restart", begun.elapsed());
        let after = harness.comes(&key, n);
        over.store(true, Ordering::SeqCst);
        bounded_memory(memory, "handshakes without end");
        if n > 100 {
            // a minute is over: the log says how many there were, and what was wrong with them
            eventually(|| match harness.logged("handshakes refused in the last minute: ") {
                true => Ok(()),
                false => Err("nothing is logged"),
            });
            bounded(calm.0, blocks, "handshakes without end");
            bounded(calm.1, comes, "handshakes without end, at the listener");
            bounded(calm.1, after, "handshakes without end, after a restart");
        }
    });
}

macro_rules! floods {
    ($($name:ident: $a_second:expr, $servers:expr, $addresses:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let name = concat!("floods::", stringify!($name));
                in_own_process(name, || flood($a_second, $servers, $addresses, 5));
            }
        )*
    };
}

/// Other addresses of this machine, where there are such.
const MANY_ADDRESSES: usize = if cfg!(target_os = "linux") { 2000 } else { 0 };

floods! {
    twenty_handshakes_a_second_at_one_shut_nobody_out: 20, &[1], 0;
    twenty_handshakes_a_second_at_three_shut_nobody_out: 20, &[0, 1, 2], MANY_ADDRESSES;
    two_hundred_handshakes_a_second_at_one_shut_nobody_out: 200, &[1], MANY_ADDRESSES;
    two_hundred_handshakes_a_second_at_three_shut_nobody_out: 200, &[0, 1, 2], 0;
}

#[test]
#[ignore = "some minutes"]
fn handshakes_without_end_delay_nobody() {
    for a_second in [20, 200] {
        for servers in [&[0, 1, 2][..], &[1]] {
            for addresses in [0, MANY_ADDRESSES] {
                flood(a_second, servers, addresses, 500);
            }
        }
    }
}
