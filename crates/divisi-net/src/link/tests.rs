//! A link whose other end is in the hands of the test.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use crate::fabric::Link;
use crate::frame::segments;
use crate::mesh::Mesh;
use crate::options::Options;
use crate::world::{Machine, World};
use crate::{step, wire};
use std::sync::Arc;
use std::sync::mpsc::channel;
use zeroize::Zeroizing;

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(5);

/// Party 1's mesh of so many, and of each link the other end and its own socket in the hands of the test.
fn party_of(n: usize) -> (Mesh, Vec<(wire::Wire, TcpStream)>) {
    party_with(n, Options { timeout: Duration::from_secs(2), ..Options::default() })
}

fn party_with(n: usize, options: Options) -> (Mesh, Vec<(wire::Wire, TcpStream)>) {
    let (mut links, mut ends) = (vec![None], Vec::new());
    for peer in PartyId::all(n).skip(1) {
        let (near, far) = wire::tests::ends();
        let (socket, tls) = near.into_parts();
        ends.push((far, socket.try_clone().unwrap()));
        let link = TlsLink::new(socket, tls, false, options.buffer).unwrap();
        links.push(Some(Link::new(peer, &options, Out::Tls(Box::new(link)), Zeroizing::new([0; 32]))));
    }
    let fabric = Fabric::new(PartyId::P1, Arc::new(Machine), &options, links);
    (Mesh::from_fabric(Arc::new(fabric)), ends)
}

/// Party 1's mesh of two, and the other end of its link in the hands of the test.
fn half() -> (Mesh, wire::Wire) {
    let (mesh, mut ends) = party_of(2);
    (mesh, ends.remove(0).0)
}

fn fault_of(bytes: &[u8]) -> Fault {
    let (mesh, mut far) = half();
    let c = mesh.open(1, 0).unwrap();
    far.write_all(bytes, far.now() + Duration::from_secs(1)).unwrap();
    c.recv(PartyId::P2, step!("x"), &mut [0; 8]).unwrap_err()
}

#[test]
fn garbage_inside_tls_ends_the_link() {
    let head = Head { session: 1, strand: 0, step: step!("x").id, depth: 1, len: 8, more: false };
    let with = |at: usize, word: u32| {
        let mut bytes = head.encode().to_vec();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        bytes
    };
    let control = u32::MAX;
    for bytes in [vec![0xff; 20], with(16, u32::MAX), with(16, 65_537), with(16, 1 << 31), with(4, control)] {
        let fault = fault_of(&[&bytes[..], &[0; 8]].concat());
        assert!(matches!(fault, Fault::Lost { reason: Loss::Garbage, .. }), "{bytes:?}: {fault}");
    }
}

#[test]
fn a_length_that_never_comes_is_a_stall_or_a_cut() {
    let (mesh, mut far) = half();
    mesh.set_timeout(Duration::from_millis(200));
    let c = mesh.open(1, 0).unwrap();
    let (peer, step) = (PartyId::P2, step!("x"));
    let whole = segments(1, 0, step.id, 1, &[7; 8]).next().unwrap();
    let bytes = [&whole.0.encode()[..], whole.1].concat();
    far.write_all(&bytes[..21], far.now() + Duration::from_secs(1)).unwrap();
    assert!(matches!(c.recv(peer, step, &mut [0; 8]), Err(Fault::Stalled { .. })));
    // The rest arrives late: what was cut into pieces is whole again.
    far.write_all(&bytes[21..], far.now() + Duration::from_secs(1)).unwrap();
    let mut got = [0; 8];
    assert_eq!((c.recv(peer, step, &mut got), got), (Ok(1), [7; 8]));
    far.write_all(&bytes[..5], far.now() + Duration::from_secs(1)).unwrap();
    drop(far);
    assert!(matches!(c.recv(peer, step, &mut [0; 8]), Err(Fault::Lost { reason: Loss::Cut, .. })));
}

#[test]
fn unasked_answers_and_unknown_sessions_are_passed_over() {
    use crate::frame::Control;
    let (mesh, mut far) = half();
    mesh.set_timeout(Duration::from_millis(200));
    let c = mesh.open(1, 0).unwrap();
    let mut bytes = Vec::new();
    for control in [
        Control::Answer { strand: 0, party: 77, step: 5 },
        Control::Answer { strand: 9, party: 0, step: 5 },
        Control::Ask { strand: 3 },
    ] {
        let (head, body) = control.encode(1);
        bytes.extend_from_slice(&head.encode());
        bytes.extend_from_slice(&body);
    }
    for session in 100..5000 {
        bytes.extend_from_slice(&Control::Abort { blames: 0 }.encode(session).0.encode());
    }
    far.write_all(&bytes, far.now() + Duration::from_secs(1)).unwrap();
    let fault = c.recv(PartyId::P2, step!("x"), &mut [0; 8]).unwrap_err();
    assert!(matches!(fault, Fault::Stalled { claim: None, .. }), "{fault}");
    assert!(matches!(mesh.open(4999, 0).err(), Some(Fault::Aborted { .. })));
}

/// A party that waits for room goes on when the peer has read enough; a peer that reads nothing counts as
/// stalled.
#[test]
fn room_comes_when_the_peer_reads() {
    let (mesh, mut far) = half();
    mesh.set_timeout(Duration::from_millis(200));
    let c = mesh.open(1, 0).unwrap();
    let (peer, step) = (PartyId::P2, step!("x"));
    assert_eq!(c.wait_for_capacity(peer, step, 0), Ok(()));
    // more than sockets hold
    let body = vec![7; 32 << 20];
    c.send(peer, step, 1, &body).unwrap();
    assert!(matches!(c.wait_for_capacity(peer, step, 1 << 20), Err(Fault::Stalled { .. })));
    mesh.set_timeout(LONG);
    let reads = std::thread::spawn(move || {
        let mut some = vec![0; 31 << 20];
        far.read_exact(&mut some, far.now() + 4 * LONG).unwrap();
        far
    });
    assert_eq!(c.wait_for_capacity(peer, step, 1 << 20), Ok(()));
    drop(reads.join().unwrap());
}

/// What a peer does not read is queued up to the limit; then the sender waits for it.
#[test]
fn so_much_waits_for_a_peer_that_reads_nothing() {
    let options = Options { timeout: Duration::from_millis(200), buffer: 1 << 20, ..Options::default() };
    let (mesh, _ends) = party_with(2, options);
    let c = mesh.open(1, 0).unwrap();
    // sockets hold some of it
    let sent = c.send(PartyId::P2, step!("x"), 1, &vec![7; 32 << 20]);
    assert!(matches!(sent, Err(Fault::Stalled { .. })), "{sent:?}");
}

/// A peer that reads very slowly does not delay a party for ever: one that takes less than 64 KiB within a
/// time limit counts as stalled, too.
#[test]
fn a_peer_that_takes_drops_is_a_stall() {
    let (mesh, mut far) = half();
    mesh.set_timeout(Duration::from_millis(500));
    let c = mesh.open(1, 0).unwrap();
    let (peer, step) = (PartyId::P2, step!("x"));
    c.send(peer, step, 1, &vec![7; 32 << 20]).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let (tell, told) = channel();
    let drips = std::thread::spawn({
        let over = over.clone();
        move || {
            let mut drops = 0;
            while !over.load(Ordering::Relaxed) {
                far.read_exact(&mut [0; 256], far.now() + LONG).unwrap();
                drops += 1;
                tell.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(10));
            }
            drops
        }
    });
    // on a busy machine the peer may begin late
    (0..2).for_each(|_| told.recv().unwrap());
    let ends = c.wait_for_capacity(peer, step, 1 << 20);
    over.store(true, Ordering::Relaxed);
    assert!(matches!(ends, Err(Fault::Stalled { .. })), "{ends:?}");
    assert!(drips.join().unwrap() > 1, "it took nothing");
}

/// Whoever leaves tells all others that nothing more follows, behind all that it sent them.
#[test]
fn who_leaves_says_goodbye_to_all() {
    let (mesh, ends) = party_of(4);
    let goodbye = crate::frame::Control::Close.encode(0).0.encode();
    let (c, step, body) = (mesh.open(1, 0).unwrap(), step!("x"), vec![7; 12 << 20]);
    // the last one gets more than sockets hold
    c.send(PartyId::new(4).unwrap(), step, 1, &body).unwrap();
    let sent: usize =
        segments(1, 0, step.id, 1, &body).map(|(head, part)| head.encode().len() + part.len()).sum();
    std::thread::scope(|s| {
        for ((mut far, _), before) in ends.into_iter().zip([0, 0, sent]) {
            s.spawn(move || {
                let (mut rest, mut got) = (vec![0; before], goodbye.map(|_| 0));
                far.read_exact(&mut rest, far.now() + 4 * LONG).unwrap();
                far.read_exact(&mut got, far.now() + 4 * LONG).unwrap();
                assert_eq!(got, goodbye);
            });
        }
        drop(c);
        mesh.close(4 * LONG);
    });
}

/// A message that cannot be sent any more is told as such by its own send, and by each later one.
#[test]
fn what_cannot_be_sent_is_told() {
    let (mesh, ends) = party_of(2);
    let c = mesh.open(1, 0).unwrap();
    ends[0].1.shutdown(Shutdown::Write).unwrap();
    let (peer, step) = (PartyId::P2, step!("x"));
    for _ in 0..2 {
        let lost = Fault::Lost { peer, step, reason: Loss::Cut };
        assert_eq!(c.send(peer, step, 1, &[7]), Err(lost));
    }
}

/// A link that a thread reads is left to it by whoever looks at all links, for whatever reason.
#[test]
fn a_link_is_read_by_one_thread() {
    let (mesh, ends) = party_of(3);
    let (fabric, step) = (mesh.fabric(), step!("x"));
    let [other, read] = [PartyId::P2, PartyId::P3].map(|peer| fabric.link(peer, step).unwrap());
    assert!(read.inbox.enter());
    // one that waits long for another link
    let Out::Tls(tls) = &other.out else { return assert!(mesh.peers().next().is_none()) };
    tls.read(fabric, PartyId::P2, Machine.now(), true, permits::pause(), &|| true);
    assert!(read.inbox.is_read());
    // one that looks who is gone
    assert_eq!(fabric.dead_besides(PartyId::P2, Duration::ZERO), None);
    assert!(read.inbox.is_read());
    // one that waits for room: this is more than small sockets hold
    rustix::net::sockopt::set_socket_send_buffer_size(&ends[1].1, 4096).unwrap();
    let c = mesh.open(1, 0).unwrap();
    c.send(PartyId::P3, step, 1, &vec![7; 2 << 20]).unwrap();
    mesh.set_timeout(Duration::from_millis(50));
    assert!(matches!(c.wait_for_capacity(PartyId::P3, step, 0), Err(Fault::Stalled { .. })));
    assert!(read.inbox.is_read());
    // one that looks for the ends of others, for long or not
    ends[1].1.shutdown(Shutdown::Both).unwrap();
    for long in [false, true] {
        tls.read(fabric, PartyId::P2, Machine.now(), long, permits::pause(), &|| true);
        assert!(read.inbox.is_read());
    }
    mesh.reset();
}
