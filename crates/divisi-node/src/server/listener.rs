//! Accepts connections of clients, up to a limit.

use super::{Node, connection};
use crate::Who;
use crate::error::{ErrorKind, Failed};
use crate::request::{Reply, ToClient};
use crate::wire::encode;
use divisi_core::{PartyId, Step, step};
use divisi_net::{Connection, Peer, Refused};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const BUSY: Step = step!("busy");

/// Connections at a time, of all clients and of any one; more are turned away, but that a client without any
/// gets the place of one of the client that has most.
const CONNECTIONS: (usize, usize) = (256, 32);
/// So many, until those that are to give way have done so.
const LEAVING: usize = 2 * CONNECTIONS.0;
/// How often handshakes that came to nothing are told of.
const EVERY: Duration = Duration::from_secs(60);
/// How often the accepting thread looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The life of the accepting thread. Its end of the channel, and those of the clients' threads, tell when all
/// are over.
pub(super) fn accept(node: &Arc<Node>, over: &Sender<()>) {
    let world = &node.shared.world;
    let attendance = Attendance::default();
    let mut told = world.now();
    while !node.stop.load(Ordering::SeqCst) {
        if world.now().saturating_duration_since(told) >= EVERY {
            told = world.now();
            tell_refused(node, node.listener.take_refused());
        }
        let Some(connection) = node.listener.next_client(LOOK) else { continue };
        let Some(who) = identity(node, &connection) else { continue };
        let Some(attended) = Attended::admit(&attendance, &who.name) else {
            node.log(&format!("client {} was turned away: too many connections are open", who.name));
            turn_away(node.me, connection);
            continue;
        };
        let (shared, me, ended) = (node.shared.clone(), node.me, node.ended.clone());
        let name = format!("client {}", who.name);
        let over = over.clone();
        let work = move || {
            connection::attend(&shared, connection, me, who, &ended, &attended.leaves);
            drop((attended, over));
        };
        if world.spawn(name, Box::new(work)).is_err() {
            node.log("a client was turned away: no thread can be started");
        }
    }
}

fn tell_refused(node: &Node, refused: Refused) {
    let Refused { displaced, slow, unknown, broken } = refused;
    if refused.all() > 0 {
        node.log(&format!(
            "handshakes refused in the last minute: {displaced} gave way to newer ones, {slow} were too slow, {unknown} \
             showed an unknown identity, {broken} broke off or were none"
        ));
    }
}

/// Tell a client that there is no room for it now. What it is told fits into the socket's buffer: nobody is
/// waited for.
fn turn_away(me: PartyId, mut connection: Connection) {
    let message = format!("{me} is busy with other connections: try again");
    let failed = Failed { kind: ErrorKind::Unavailable, retry: true, ..Failed::refused(BUSY, message) };
    let answer = Reply::apart(ToClient::Failed(Failed { peer: me.number(), ..failed }));
    if let Some(bytes) = encode(&answer, 0) {
        // who is gone needs no answer
        let _ = connection.send(&bytes);
    }
}

/// Connections by client, the oldest first: whether each is to give way.
type Attendance = Arc<Mutex<HashMap<String, Vec<Arc<AtomicBool>>>>>;

/// Counts a connection while its thread lives.
struct Attended {
    all: Attendance,
    name: String,
    /// Set when the connection has to close in favour of another client's, once it has sent its client all
    /// answers.
    leaves: Arc<AtomicBool>,
}

impl Attended {
    fn admit(all: &Attendance, name: &str) -> Option<Attended> {
        let mut open = all.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, own) = (open.values().map(Vec::len).sum::<usize>(), open.get(name).map_or(0, Vec::len));
        if own >= CONNECTIONS.1 || total >= LEAVING || (total >= CONNECTIONS.0 && own > 0) {
            return None;
        }
        if total >= CONNECTIONS.0 {
            let stays = |leaves: &&Arc<AtomicBool>| !leaves.load(Ordering::SeqCst);
            let most = open.values().max_by_key(|connections| connections.iter().filter(stays).count())?;
            let mut staying = most.iter().filter(stays);
            let (oldest, _) = staying.next().zip(staying.next())?;
            oldest.store(true, Ordering::SeqCst);
        }
        let leaves = Arc::<AtomicBool>::default();
        open.entry(name.to_owned()).or_default().push(leaves.clone());
        Some(Attended { all: all.clone(), name: name.to_owned(), leaves })
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        let mut open = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.name) {
            own.retain(|leaves| !Arc::ptr_eq(leaves, &self.leaves));
        }
        open.retain(|_, own| !own.is_empty());
    }
}

/// Who is at the other end, by the configuration in force.
fn identity(node: &Node, connection: &Connection) -> Option<Who> {
    let Peer::Client(name) = connection.peer() else { return None };
    let config = node.config();
    let client = config.clients().iter().find(|c| c.name == *name)?;
    Some(Who { name: name.clone(), fingerprint: *client.pin.fingerprint().bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients that hold all connections keep out nobody who has none; a client with one keeps it.
    #[test]
    fn who_has_no_connection_gets_one_of_whoever_has_most() {
        let all = Attendance::default();
        let each = CONNECTIONS.1;
        let names: Vec<String> = (0..CONNECTIONS.0 / each).map(|i| format!("greedy {i}")).collect();
        let mut held: Vec<Attended> = (0..CONNECTIONS.0)
            .map(|i| Attended::admit(&all, &names[i / each]).expect("there is room"))
            .collect();
        let leaving = |held: &[Attended]| held.iter().filter(|a| a.leaves.load(Ordering::SeqCst)).count();
        assert!(names.iter().all(|name| Attended::admit(&all, name).is_none()));
        let modest: Vec<Attended> = (0..20).filter_map(|i| Attended::admit(&all, &format!("m{i}"))).collect();
        assert_eq!((modest.len(), leaving(&held), leaving(&modest)), (20, 20, 0));
        // none loses more than its share, and the oldest goes first
        for name in &names {
            let own: Vec<bool> =
                held.iter().filter(|a| a.name == *name).map(|a| a.leaves.load(Ordering::SeqCst)).collect();
            let gone = own.iter().filter(|leaves| **leaves).count();
            assert!((2..=3).contains(&gone) && own[..gone].iter().all(|leaves| *leaves), "{own:?}");
        }
        assert!(Attended::admit(&all, "m0").is_none());
        // places that are given up are free again
        held.retain(|attended| !attended.leaves.load(Ordering::SeqCst));
        drop(modest);
        assert!((0..20).all(|_| Attended::admit(&all, "m0").is_some()));
        let again: Vec<Attended> = (0..20).filter_map(|_| Attended::admit(&all, "m0")).collect();
        assert_eq!((again.len(), leaving(&held)), (20, 0));
        // where all have one, nobody gives way
        drop((held, again));
        let one: Vec<Attended> =
            (0..CONNECTIONS.0).filter_map(|i| Attended::admit(&all, &format!("m{i}"))).collect();
        assert_eq!(one.len(), CONNECTIONS.0);
        assert!(Attended::admit(&all, "late").is_none() && leaving(&one) == 0);
    }
}
