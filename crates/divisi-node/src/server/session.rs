//! One session of the three servers: the first leads, all serve the same requests in the same order.
//!
//! Adversary: one malicious server. If it leads it can delay requests or invent them; what is served is what all three got
//! from the client itself, or nothing. It can call for one-hot vectors, of which the others make what their own history says.

use super::Node;
use super::turn::{Ready, Turn};
use super::{digest, keys, text};
use crate::agree::{About, NOTHING, agree};
use crate::error::{Failed, Stop};
use crate::request::{ConnectionId, Item, ToServer};
use divisi_core::{Abort, Check, Parameters, PartyId, Session, Step, step};
use divisi_net::{Fault, Mesh};
use divisi_rep3::{Protocol, Rep3, Security, Trio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const ANNOUNCE: Step = step!("announce");
const REQUEST: Step = step!("request");
const NEXT: Step = step!("next");

/// The number of the one session of each mesh.
const SESSION: u32 = 1;
/// How long a request that reached the leader may take to reach the others: its client sends it to all at once.
const ARRIVAL: Duration = Duration::from_millis(700);
/// How long nobody must have asked for anything before one-hot vectors are made ahead.
const IDLE: Duration = Duration::from_millis(20);
/// `kind | connection | number`
const ANNOUNCEMENT: usize = 41;

/// Serve until the session ends, or the server stops.
pub(crate) fn serve(node: &Node, mesh: &Arc<Mesh>) -> Result<(), Abort> {
    let config = node.config();
    let parameters = Parameters::new("rep3 server")
        .with("security", Security::Malicious.name().as_bytes())
        .with("mesh", &node.mesh)
        .with("parties", &config.digest().parties);
    let session = Session::start(mesh, SESSION, &parameters)?;
    let mut rep = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, Security::Malicious);
    let mut ready = Ready::default();
    let leader = PartyId::all(3).next();
    let mut quiet = IDLE;
    while !node.stop.load(Ordering::SeqCst) {
        match if leader == Some(node.me) { lead(node, &mut rep, quiet)? } else { follow(&mut rep, leader)? } {
            Call::Nothing => {}
            Call::Request(connection, number) => request(node, &mut rep, &mut ready, &connection, number)?,
            Call::Restock => {
                let (lacked, begun) = (rep.lacks_vectors(), node.desk.world.now());
                rep.restock()?;
                // on slow links it takes longer, and whoever comes meanwhile waits: it needs as long a silence before
                quiet = IDLE.max(node.desk.world.now().saturating_duration_since(begun));
                if lacked && !rep.lacks_vectors() {
                    let mebibytes = rep.stocked_bytes() as f64 / f64::from(1 << 20);
                    node.log(&format!("{mebibytes:.1} MiB of one-hot vectors are in stock"));
                }
            }
        }
    }
    Ok(())
}

/// What the leader says is next.
enum Call {
    Nothing,
    Request(ConnectionId, u64),
    /// Nobody asks for anything: make one-hot vectors for those who will.
    Restock,
}

/// Say which request is next, or that there is none; that vectors are to be made if nobody asked for anything for so long.
fn lead(node: &Node, rep: &mut Rep3, quiet: Duration) -> Result<Call, Abort> {
    let lacks = rep.lacks_vectors();
    let wait = if lacks { node.beat.min(quiet) } else { node.beat };
    let call = match node.desk.first(node.desk.world.now() + wait) {
        Some((connection, number)) => Call::Request(connection, number),
        None if lacks => Call::Restock,
        None => Call::Nothing,
    };
    let mut body = [0; ANNOUNCEMENT];
    match &call {
        Call::Nothing => {}
        Call::Request(connection, number) => {
            body[0] = 1;
            body[1..33].copy_from_slice(connection);
            body[33..].copy_from_slice(&number.to_le_bytes());
        }
        Call::Restock => body[0] = 2,
    }
    let session = rep.trio().session();
    for peer in session.peers() {
        session.send(ANNOUNCE, peer, &body, 0)?;
    }
    Ok(call)
}

fn follow(rep: &mut Rep3, leader: Option<PartyId>) -> Result<Call, Abort> {
    let Some(leader) = leader else { return Ok(Call::Nothing) };
    let mut body = [0; ANNOUNCEMENT];
    rep.trio().session().recv(ANNOUNCE, leader, &mut body)?;
    let (mut connection, mut number) = ([0; 32], [0; 8]);
    connection.copy_from_slice(&body[1..33]);
    number.copy_from_slice(&body[33..]);
    let rest_is_zero = body[1..].iter().all(|byte| *byte == 0);
    Ok(match body[0] {
        0 if rest_is_zero => Call::Nothing,
        1 => Call::Request(connection, u64::from_le_bytes(number)),
        2 if rest_is_zero => Call::Restock,
        _ => {
            let n = ANNOUNCEMENT;
            let fault = Fault::Malformed { peer: leader, step: ANNOUNCE, want: n, got: n };
            return Err(rep.trio().session().fail(fault.into()));
        }
    })
}

/// Serve one request, whatever becomes of it.
fn request(
    node: &Node,
    rep: &mut Rep3,
    ready: &mut Ready,
    connection: &ConnectionId,
    number: u64,
) -> Result<(), Abort> {
    let world = &node.desk.world;
    let begun = world.now();
    let found = node.desk.request(connection, number, begun + node.patience.min(ARRIVAL));
    let Some((line, ToServer::Request { items, .. })) = found else {
        let failed = Failed { retry: true, ..Failed::refused(REQUEST, "the client has not sent it here") };
        return match agree(rep, REQUEST, Check::A25, &[0; 32], Err(failed), About::Client("unknown")) {
            Err(Stop::Abort(abort)) => Err(abort),
            Ok(()) | Err(Stop::Refused(_)) => {
                node.log(&format!("a request was announced that no client sent to {}: refused", node.me));
                Ok(())
            }
        };
    };
    let digest = digest(&line.who.name, &line.who.fingerprint, connection, number, &items);
    let mut turn = Turn::new(node, rep, ready, line, number, digest);
    let result = all_items(&mut turn, &items);
    let line = turn.line;
    let seconds = world.now().saturating_duration_since(begun).as_secs_f64();
    let summary = items.first().map(Item::summary).unwrap_or_default();
    let more = if items.len() > 1 { format!(" and {} more", items.len() - 1) } else { String::new() };
    let log =
        |end: &str| node.log(&format!("client {}: {summary}{more}: {end} in {seconds:.3} s", line.who.name));
    match result {
        Ok(()) => {
            log("done");
            line.end(None);
            Ok(())
        }
        Err(Stop::Refused(failed)) => {
            log(&format!("refused ({})", failed.message));
            line.end(Some(failed));
            Ok(())
        }
        Err(Stop::Abort(abort)) => {
            log("aborted");
            line.end(Some(Failed::abort(node.me, &abort)));
            Err(abort)
        }
    }
}

/// All that is public about a request, and who asks.
fn digest(
    name: &str,
    fingerprint: &[u8; 32],
    connection: &ConnectionId,
    number: u64,
    items: &[Item],
) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 request v1");
    hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(fingerprint);
    hasher.update(connection).update(&number.to_le_bytes());
    // never longer than what was decoded, so that there is always an encoding
    let items = crate::wire::encode(&items, crate::AAD).unwrap_or_default();
    hasher.update(&items);
    *hasher.finalize().as_bytes()
}

fn all_items(turn: &mut Turn<'_>, items: &[Item]) -> Result<(), Stop> {
    let known = turn.node.knows(&turn.line.who);
    turn.agree(REQUEST, Check::A25, &[], known.map(|()| &NOTHING))?;
    for (i, item) in (0..).zip(items) {
        turn.item = i;
        if i > 0 {
            let due = ToServer::Next { number: turn.number, item: i };
            let next = turn.word(NEXT, &due);
            turn.all(NEXT, next)?;
        }
        match item {
            Item::KeyNew(new) => keys::make(turn, new, false)?,
            Item::KeyImport(new) => keys::make(turn, new, true)?,
            Item::KeyList { after } => keys::list(turn, after.as_ref())?,
            Item::KeyExport { name } => keys::export(turn, name)?,
            Item::KeyDestroy { name } => keys::destroy(turn, name)?,
            Item::Encrypt { key, aad, length, way } => {
                turn.rep.use_protocol((*way).into());
                text::encrypt(turn, key, aad, *length)?;
            }
            Item::Decrypt { key, aad, length, iv, tag, way } => {
                turn.rep.use_protocol((*way).into());
                text::decrypt(turn, key, aad, *length, *iv, tag)?;
            }
            Item::Hash { asked, length } => digest::hash(turn, asked, *length)?,
            Item::Mac { key, asked, length, tag } => digest::mac(turn, key, asked, *length, tag.as_ref())?,
        }
    }
    Ok(())
}
