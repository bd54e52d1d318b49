//! Accepts clients, as many as there is room for.

use super::{Node, connection};
use crate::Who;
use crate::error::{ErrorKind, Failed};
use crate::request::{Reply, ToClient};
use crate::wire::encode;
use divisi_core::{PartyId, Step, step};
use divisi_net::{Connection, Peer, Refused};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const BUSY: Step = step!("busy");

/// Connections at a time, of all clients and of any one; more are turned away.
const CONNECTIONS: (usize, usize) = (256, 32);
/// How often handshakes that came to nothing are told of.
const EVERY: Duration = Duration::from_secs(60);
/// How often the accepting thread looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The life of the accepting thread. Its end of the channel, and those of the clients' threads, tell when all
/// are over.
pub(super) fn accept(node: &Arc<Node>, over: &Sender<()>) {
    let world = &node.counter.world;
    let attendance = Attendance::default();
    let mut told = world.now();
    while !node.stop.load(Ordering::SeqCst) {
        if world.now().saturating_duration_since(told) >= EVERY {
            told = world.now();
            tell_refused(node, node.door.take_refused());
        }
        let Some(connection) = node.door.next_client(LOOK) else { continue };
        let Some(who) = identity(node, &connection) else { continue };
        let Some(attended) = Attended::admit(&attendance, &who.name) else {
            node.log(&format!("client {} was turned away: too many connections are open", who.name));
            turn_away(node.me, connection);
            continue;
        };
        let (counter, me, ended) = (node.counter.clone(), node.me, node.ended.clone());
        let name = format!("client {}", who.name);
        let over = over.clone();
        let work = move || {
            connection::attend(&counter, connection, me, who, &ended);
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

/// Connections by client.
type Attendance = Arc<Mutex<HashMap<String, usize>>>;

/// Counts a connection while its thread lives.
struct Attended(Attendance, String);

impl Attended {
    fn admit(all: &Attendance, name: &str) -> Option<Attended> {
        let mut open = all.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, own) = (open.values().sum::<usize>(), open.get(name).copied().unwrap_or(0));
        if total >= CONNECTIONS.0 || own >= CONNECTIONS.1 {
            return None;
        }
        open.insert(name.to_owned(), own + 1);
        Some(Attended(all.clone(), name.to_owned()))
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.1) {
            *own = own.saturating_sub(1);
        }
        open.retain(|_, own| *own > 0);
    }
}

/// Who is at the other end, by the configuration in force.
fn identity(node: &Node, connection: &Connection) -> Option<Who> {
    let Peer::Client(name) = connection.peer() else { return None };
    let config = node.config();
    let client = config.clients().iter().find(|c| c.name == *name)?;
    Some(Who { name: name.clone(), fingerprint: *client.pin.fingerprint().bytes() })
}
