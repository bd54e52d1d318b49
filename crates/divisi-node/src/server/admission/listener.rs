//! Accepts connections of clients, up to a limit.

use super::connection;
use super::slots::{ConnectionSlot, OpenConnections};
use crate::admit::Who;
use crate::error::{ErrorKind, Failed};
use crate::request::{Reply, ToClient};
use crate::server::node::Node;
use crate::wire::encode;
use divisi_core::{PartyId, Step};
use divisi_net::{Connection, Peer, Refused};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

const BUSY: Step = Step::new("divisi_node::server::listener/busy");

/// The interval at which failed handshakes are logged.
const EVERY: Duration = Duration::from_secs(60);
/// How many refused identities are named in that time.
const NAMED: usize = 10;
/// How often the accepting thread looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The accepting thread. Its end of the channel `over`, and those of the clients' threads, are dropped when
/// they end, which shows that all have ended.
pub(crate) fn accept(node: &Arc<Node>, over: &Sender<()>) {
    let world = &node.world;
    let open = OpenConnections::default();
    let mut logged = world.now();
    let mut named = 0;
    #[cfg(not(test))]
    let every = EVERY;
    #[cfg(test)]
    let every = node.options.minute.unwrap_or(EVERY);
    while !node.stop.load(Ordering::SeqCst) {
        if world.now().saturating_duration_since(logged) >= every {
            logged = world.now();
            named = 0;
            log_refused(node, node.listener.take_refused());
        }
        for stranger in node.listener.take_strangers() {
            // more of them are counted
            if named < NAMED {
                named += 1;
                node.log(&format!("identity refused: {stranger}"));
            }
        }
        let Some(connection) = node.listener.next_client(LOOK) else { continue };
        let Some(who) = identity(node, &connection) else { continue };
        let Some(slot) = ConnectionSlot::admit(&open, &who.name, world.now()) else {
            node.log(&format!("client {} was turned away: too many connections are open", who.name));
            turn_away(node.me, connection);
            continue;
        };
        let name = format!("client {}", who.name);
        let (inside, over) = (node.clone(), over.clone());
        let work = move || {
            connection::attend(&inside, connection, who, &slot);
            drop((slot, over));
        };
        if world.spawn(name, Box::new(work)).is_err() {
            node.log("a client was turned away: no thread can be started");
        }
    }
    // a leader that waits for requests ends its session
    node.wake();
}

fn log_refused(node: &Node, refused: Refused) {
    let Refused { displaced, slow, unknown, broken } = refused;
    if refused.all() > 0 {
        node.log(&format!(
            "handshakes refused in the last minute: {displaced} gave way to newer ones, {slow} were too slow, {unknown} \
             showed an unknown identity, {broken} broke off or were not a handshake"
        ));
    }
}

/// Tell a client that there is no room for it now. The message fits into the socket's buffer, so this does
/// not wait for anybody.
fn turn_away(me: PartyId, mut connection: Connection) {
    let message = format!("{me} is busy with other connections: try again");
    let failed = Failed { kind: ErrorKind::Unavailable, retry: true, ..Failed::refused(BUSY, message) };
    let answer = Reply::apart(ToClient::Failed(Failed { peer: me.number(), ..failed }));
    if let Some(bytes) = encode(&answer, 0) {
        // a client that is gone needs no answer
        let _ = connection.send(&bytes);
    }
}

/// The client at the other end, by the identity that it proved: its name may belong to another one by now.
pub(crate) fn identity(node: &Node, connection: &Connection) -> Option<Who> {
    let Peer::Client(name) = connection.peer() else { return None };
    let who = Who { name: name.clone(), fingerprint: *connection.identity().bytes() };
    node.knows(&who).is_ok().then_some(who)
}
