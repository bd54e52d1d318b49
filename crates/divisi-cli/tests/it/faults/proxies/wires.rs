//! Proxies on the links between parties: they count bytes and records, and do to one party what a plan says.

use super::PARTIES;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    Killed,
    Stopped,
    CutOff,
    Garbage,
}

pub const FAULTS: [Fault; 4] = [Fault::Killed, Fault::Stopped, Fault::CutOff, Fault::Garbage];

/// A record of TLS: from whom to whom, and which one of their connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    pub from: usize,
    pub to: usize,
    pub number: usize,
}

/// When something happens to a party.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// Once it has sent this many bytes.
    Sent(u64),
    /// When this record sets out, its own or not.
    Record(Record),
    /// When a record of this many bytes sets out, whosever it is.
    Length(usize),
}

/// What happens to one party, and when.
#[derive(Clone, Copy)]
pub struct Plan {
    pub victim: usize,
    pub when: When,
    pub fault: Fault,
}

/// What all proxies share.
#[derive(Default)]
pub struct Wires {
    pub plan: Option<Plan>,
    /// Bytes that each party sent.
    pub sent: [u64; PARTIES],
    /// Every record, with its bytes, in the order in which they came.
    pub records: Vec<(Record, usize)>,
    pub processes: Vec<u32>,
    pub sockets: Vec<(usize, TcpStream)>,
    pub begun: Option<Instant>,
}

impl Wires {
    /// A party sends this part of a record: whether it is to be forwarded, as it is then; nothing if there is
    /// no link any more.
    fn pass(&mut self, record: Record, bytes: usize, body: &mut [u8]) -> Option<bool> {
        let Record { from, to, number } = record;
        self.sent[from] += body.len() as u64;
        let Some(Plan { victim, when, fault }) = self.plan else { return Some(true) };
        let now = match when {
            When::Sent(after) => from == victim && self.sent[from] >= after,
            When::Record(at) => (from, to) == (at.from, at.to) && number >= at.number,
            When::Length(length) => bytes == length,
        };
        let first = now && self.begun.is_none();
        if first {
            self.begun = Some(Instant::now());
            self.strike(victim, fault);
        }
        let is_struck = self.begun.is_some();
        match fault {
            Fault::CutOff if is_struck && [from, to].contains(&victim) => return None,
            Fault::Garbage if is_struck && from == victim => {
                body.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(7) ^ 0xa5);
            }
            // what lay in its own buffers is lost
            Fault::Killed | Fault::Stopped if is_struck && from == victim => return Some(false),
            _ => {}
        }
        Some(true)
    }

    /// Set the fault that happens from now on, or none.
    pub fn then(&mut self, plan: Option<Plan>) {
        (self.plan, self.begun) = (plan, None);
    }

    /// Whether the fault has happened.
    pub fn has_struck(&self) -> bool {
        self.begun.is_some()
    }

    /// What happens to a party all at once.
    fn strike(&mut self, victim: usize, fault: Fault) {
        let signal = |signal| kill_process(Pid::from_raw(self.processes[victim] as i32).unwrap(), signal);
        match fault {
            Fault::Killed => signal(Signal::KILL).unwrap(),
            Fault::Stopped => signal(Signal::STOP).unwrap(),
            Fault::CutOff => {
                let links = self.sockets.iter().filter(|(party, _)| *party == victim);
                links.for_each(|(_, socket)| drop(socket.shutdown(Shutdown::Both)));
            }
            Fault::Garbage => {}
        }
    }
}

/// Forward what one end says until it ends, record by record.
fn pump(mut near: TcpStream, mut far: TcpStream, from: usize, to: usize, wires: Arc<Mutex<Wires>>) {
    let mut body = [0; 256];
    // all records have a head of five bytes, which ends with the length of the rest
    'link: for number in 0.. {
        let record = Record { from, to, number };
        if near.read_exact(&mut body[..5]).is_err() {
            break;
        }
        let bytes = usize::from(u16::from_be_bytes([body[3], body[4]]));
        let (mut left, mut here) = (bytes, 5);
        wires.lock().unwrap().records.push((record, bytes));
        loop {
            let passed = wires.lock().unwrap().pass(record, bytes, &mut body[..here]);
            let Some(forward) = passed else { break 'link };
            if forward && far.write_all(&body[..here]).is_err() {
                break 'link;
            }
            if left == 0 {
                break;
            }
            let most = left.min(body.len());
            here = match near.read(&mut body[..most]) {
                Ok(n @ 1..) => n,
                _ => break 'link,
            };
            left -= here;
        }
    }
    let _ = far.shutdown(Shutdown::Write);
}

/// A listener through which `dialler` reaches `acceptor`: its address.
fn proxy(dialler: usize, acceptor: usize, address: String, wires: &Arc<Mutex<Wires>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap().to_string();
    let wires = Arc::clone(wires);
    std::thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            // whoever is not there yet will be called again
            let Ok(far) = TcpStream::connect(&address) else { continue };
            for socket in [&near, &far] {
                socket.set_nodelay(true).unwrap();
                let mut wires = wires.lock().unwrap();
                wires.sockets.extend([dialler, acceptor].map(|party| (party, socket.try_clone().unwrap())));
            }
            let ways = [(&near, &far, dialler, acceptor), (&far, &near, acceptor, dialler)];
            for (one, other, from, to) in ways {
                let (one, other) = (one.try_clone().unwrap(), other.try_clone().unwrap());
                let wires = Arc::clone(&wires);
                std::thread::spawn(move || pump(one, other, from, to, wires));
            }
        }
    });
    here
}

/// Write a configuration for each party of a mesh, in which those whom it dials stand behind proxies.
pub fn through_proxies(mesh: &Path, hosts: &[String], wires: &Arc<Mutex<Wires>>) {
    let config = std::fs::read_to_string(mesh.join("mesh.toml")).unwrap();
    for dialler in 0..PARTIES {
        let mut own = config.clone();
        for (acceptor, host) in hosts.iter().enumerate().take(dialler) {
            own = own.replace(host, &proxy(dialler, acceptor, host.clone(), wires));
        }
        std::fs::write(mesh.join(format!("mesh-{dialler}.toml")), own).unwrap();
    }
}
