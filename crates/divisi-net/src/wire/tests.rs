//! Connections of which both ends are in the hands of the test.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::{Identity, Machine, tls};
use std::net::TcpListener;

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(20);

/// The accepting end of a connection, and the dialling one.
pub(crate) fn ends() -> (Wire, Wire) {
    let (world, until): (Arc<dyn World>, _) = (Arc::new(Machine), Machine.now() + LONG);
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = TcpStream::connect(port.local_addr().unwrap()).unwrap();
    let dialling = world.clone();
    let far = std::thread::spawn(move || {
        let begun = tls::dialler(&Identity::generate(&Machine), Box::new(|_| true), &dialling).unwrap();
        Wire::establish(socket, begun, dialling, until, LONG, until).unwrap()
    });
    let begun = tls::acceptor(&Identity::generate(&Machine), Box::new(|_| true), &world).unwrap();
    let near = Wire::establish(port.accept().unwrap().0, begun, world, until, LONG, until).unwrap();
    (near, far.join().unwrap())
}

/// Nothing goes out at this end any more.
pub(crate) fn mute(wire: &Wire) {
    wire.socket.shutdown(std::net::Shutdown::Write).unwrap();
}

/// Whoever reads or writes where nobody is any more learns it, and does not wait for the time limit.
#[test]
fn nobody_waits_for_what_is_gone() {
    let (mut near, far) = ends();
    let until = near.now() + LONG;
    // what the other end did not read makes its end a reset
    near.write_all(b"never read", until).unwrap();
    far.sleep(PollFlags::IN, until).unwrap();
    drop(far);
    assert_eq!(near.read_exact(&mut [0], until), Err(Broken::Closed));
    assert_eq!(near.write_all(b"never sent", until), Err(Broken::Closed));
}

/// An end of the socket could be anybody's doing: who closes a connection says so inside it.
#[test]
fn an_orderly_end_is_said() {
    let (mut near, mut far) = ends();
    let until = near.now() + LONG;
    std::thread::scope(|s| {
        s.spawn(move || near.close());
        assert_eq!(far.fill(until), Ok(()));
        assert_eq!(far.tls.reader().read(&mut [0]).ok(), Some(0));
        drop(far);
    });
}

/// Whom a wait asks can be chosen for each call on a connection.
#[test]
fn a_wait_ends_when_its_caller_wants() {
    let (mut near, _far) = ends();
    let over = Interrupt::new(|| true);
    assert!(over.is_due());
    near.set_interrupt(&over);
    let begun = near.now();
    assert_eq!(near.read_exact(&mut [0], begun + LONG), Err(Broken::Timeout));
    assert!(begun.elapsed() < LONG / 2);
}
