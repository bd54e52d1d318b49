//! Stored keys: making, importing, loading, listing, exporting and destroying them, at all three servers or
//! at none.
//!
//! Every server writes a new key as *prepared*; they compare it \[A26\], and only then make it *active*; the
//! client is told when all three have done so. A server that failed in between still has the key
//! prepared. The servers use a key if all three have it, prepared or active, and it compares equal; that
//! makes it active. A prepared key that some server lacks was never used, and the next key of its name
//! replaces it. A malicious server that lies about its store can keep a key from being used; it cannot make
//! the honest two use different keys, or lose a key that they finished.
//!
//! **The time of a key.** The servers tell each other their clocks while they make a key, and each takes the
//! middle one, which is stored with the key and compared \[A26\]. A clock that lies moves it nowhere but
//! between the clocks of the other two: it cannot make a key look older or younger than both honest servers
//! say. A server that tells the two others different clocks ends the session before the key's id is drawn.

use super::ready::Ready;
use super::step::StepRun;
use crate::admit::{CLIENTS, What};
use crate::error::{Failed, Stop};
use crate::purposes;
use crate::request::{KeyEntry, NewKey, PAGE, ToClient};
use crate::server::admission::stored;
use crate::server::agreement::{exchange, first};
use crate::server::node::Node;
use crate::server::release::alone;
use divisi_core::{Abort, Expands, PartyId, Step};
use divisi_rep3::Rep3;
use divisi_rep3::deal::Part;
use divisi_store::{KeyFile, KeyInfo, KeyName, KeyState, Maker, Secret, StoreError};
use divisi_symphony::close;
use zeroize::Zeroizing;

const MAKE: Step = Step::new("divisi_node::server::keys/make");
const PREPARED: Step = Step::new("divisi_node::server::keys/prepared");
const ACTIVE: Step = Step::new("divisi_node::server::keys/active");
const EXPORT: Step = Step::new("divisi_node::server::keys/export");
const DESTROY: Step = Step::new("divisi_node::server::keys/destroy");
const DESTROYED: Step = Step::new("divisi_node::server::keys/destroyed");

/// A server's state of a key, as it is sent to the others.
const ABSENT: u8 = 0;
const UNFINISHED: u8 = 1;
const SAME: u8 = 2;
const OTHER: u8 = 3;

/// Make a key that nobody knows, or store one that the client brings.
pub(crate) fn make(run: &mut StepRun<'_>, new: &NewKey, brought: Option<Part>) -> Result<(), Stop> {
    let mine = status(run, new);
    let (status, last) = run.all(MAKE, mine)?;
    let own = Standing { status, last, clock: run.node.clock() };
    let all = exchange(run.rep, own.encode())?.map(Standing::decode);
    if let Some(party) = first(&all, |s| s.status == OTHER) {
        let message =
            format!("there is a key {} already: choose another name, or destroy it first", new.name);
        let hearsay = party != run.me() && status != OTHER;
        return Err(Failed { hearsay, ..Failed::refused(MAKE, message) }.into());
    }
    if first(&all, |s| s.status == SAME).is_some() {
        // the request was served before: its answer was lost
        if let Some(party) = first(&all, |s| s.status == ABSENT) {
            let message =
                format!("{party} does not have key {}: destroy the key and make it again", new.name);
            return Err(differ(party, message));
        }
        let loaded = run.load(&new.name, |key| What::See(key))?;
        return finish(run, loaded.info);
    }
    if let Some(party) = first(&all, |s| s.last != last) {
        let message = format!(
            "the servers remember different numbers of keys named {} ({party} and {} differ): choose another name",
            new.name,
            run.me()
        );
        return Err(differ(party, message));
    }
    // a client's own key was compared with its request [A24]
    let part = brought.unwrap_or_else(|| draw(run, new));
    let info = KeyInfo {
        name: new.name.clone(),
        id: draw_id(run)?,
        kind: new.kind,
        bytes: new.bytes as usize,
        purpose: new.kind.purpose(),
        generation: last + 1,
        state: KeyState::Prepared,
        request: new.request,
        maker: Maker { name: run.who.name.clone(), fingerprint: run.who.fingerprint },
        clients: new.clients.clone(),
        exportable: new.exportable,
        party: run.me().number(),
        mesh: run.node.mesh_of_session(),
        made: middle(all.map(|standing| standing.clock)),
    };
    store(run, info, part)
}

/// The servers do not have the same: one that lies about what it has is enough for that.
fn differ(party: PartyId, message: String) -> Stop {
    Failed { peer: party.number(), hearsay: true, ..Failed::refused(MAKE, message) }.into()
}

/// What a server tells the others before a key is made.
#[derive(Clone, Copy)]
struct Standing {
    /// Its state of the key.
    status: u8,
    /// How many keys of this name there were before.
    last: u32,
    /// Its clock, in seconds since 1970.
    clock: u64,
}

impl Standing {
    /// `status | last | clock`, numbers little-endian
    fn encode(self) -> [u8; 13] {
        let mut bytes = [self.status; 13];
        bytes[1..5].copy_from_slice(&self.last.to_le_bytes());
        bytes[5..].copy_from_slice(&self.clock.to_le_bytes());
        bytes
    }

    fn decode([status, a, b, c, d, clock @ ..]: [u8; 13]) -> Standing {
        Standing { status, last: u32::from_le_bytes([a, b, c, d]), clock: u64::from_le_bytes(clock) }
    }
}

/// The middle one of the three clocks; `None` if it is 0, which stands for a time that is not known.
fn middle(mut clocks: [u64; 3]) -> Option<u64> {
    clocks.sort_unstable();
    Some(clocks[1]).filter(|clock| *clock > 0)
}

/// The state of the key of this name at this server, and how many keys of this name there were before.
fn status(run: &StepRun<'_>, new: &NewKey) -> Result<(u8, u32), Failed> {
    run.node.admit.admit(run.who, &What::Make)?;
    if new.clients.len() > CLIENTS {
        return Err(Failed::refused(MAKE, "a key can name at most 64 clients: name fewer"));
    }
    let config = run.node.config();
    if let Some(unknown) = new.clients.iter().find(|name| !config.clients().iter().any(|c| c.name == **name))
    {
        let shown: String = unknown.chars().take(64).flat_map(char::escape_default).collect();
        let message =
            format!("client {shown} is not in the configuration of {}: add it there first", run.me());
        return Err(Failed::refused(MAKE, message));
    }
    let found = run.node.keys.load(&new.name).map_err(|e| stored(run.node, MAKE, &new.name, &e))?;
    // destroyed ones included, whose files stay
    let made = run.node.keys.count(|key| key.maker.name == run.who.name);
    let most = run.node.limits(&run.who.name).keys;
    if made >= most && found.is_none() {
        let message = format!(
            "client {} has used {made} names of keys, and {} keeps at most {most} for it: reuse the name of a destroyed key, or have the operator raise the limit",
            run.who.name,
            run.me()
        );
        return Err(Failed::refused(MAKE, message));
    }
    Ok(match found.map(|key| key.info) {
        None => (ABSENT, 0),
        Some(key) => {
            let same = key.request == new.request
                && key.kind == new.kind
                && key.bytes == new.bytes as usize
                && key.maker.fingerprint == run.who.fingerprint;
            match key.state {
                KeyState::Destroyed => (ABSENT, key.generation),
                KeyState::Prepared => (UNFINISHED, key.generation.saturating_sub(1)),
                KeyState::Active if same => (SAME, key.generation.saturating_sub(1)),
                KeyState::Active => (OTHER, key.generation.saturating_sub(1)),
            }
        }
    })
}

/// Draw a key that nobody knows: the part of one server reveals nothing about it.
fn draw(run: &mut StepRun<'_>, new: &NewKey) -> Part {
    run.rep.trio().random_part(new.bytes as usize)
}

fn draw_id(run: &mut StepRun<'_>) -> Result<[u8; 16], Stop> {
    let trio = run.rep.trio();
    let fixed = trio.barrier()?;
    let coin = trio.coin(&fixed)?;
    Ok(id_of(&coin.bytes(), &run.offer.connection, run.offer.number))
}

/// The id of a key, derived from a coin that nobody foresaw and from the request for the key \[M0.2\].
fn id_of(coin: &[u8], connection: &[u8], number: u64) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 key id v2");
    hasher.update(coin).update(connection).update(&number.to_le_bytes());
    let mut id = [0; 16];
    hasher.expand(purposes::KEY_ID).fill(&mut id);
    id
}

/// Store a new key: every server writes it as prepared, all compare it, and every server makes it active.
fn store(run: &mut StepRun<'_>, info: KeyInfo, part: Part) -> Result<(), Stop> {
    let secret =
        Secret { first: Zeroizing::new(part.first.clone()), second: Zeroizing::new(part.second.clone()) };
    let mut file = KeyFile { info, reserved: 0, secret: Some(secret), next_clients: None };
    let written = run.node.keys.prepare(&mut file);
    let info = file.info;
    let written = written.map_err(|e| stored(run.node, PREPARED, &info.name, &e));
    run.agree_key(PREPARED, info.name.as_str(), &info.agreed(), written.map(|()| &part))?;
    finish(run, info)
}

fn finish(run: &mut StepRun<'_>, mut info: KeyInfo) -> Result<(), Stop> {
    let activated = run.node.keys.activate(&info.name, &info.id);
    let activated = activated.map_err(|e| stored(run.node, ACTIVE, &info.name, &e));
    run.all(ACTIVE, activated)?;
    info.state = KeyState::Active;
    run.answer(ToClient::Key(KeyEntry::from(&info)));
    Ok(())
}

/// The keys that this client may use, in the order of their names. Which keys these are is known without
/// reading the disk; the files of the keys on this page are read, so that lost or damaged keys are not
/// listed.
pub(crate) fn list(run: &mut StepRun<'_>, after: Option<&KeyName>) -> Result<(), Stop> {
    let (node, who) = (run.node, run.who);
    let mut names = node.keys.list(after, PAGE + 1, |key| node.admit.admit(who, &What::See(key)).is_ok());
    let more = names.len() > PAGE;
    names.truncate(PAGE);
    let mut keys = Vec::with_capacity(names.len());
    for name in &names {
        match node.keys.load(name) {
            Ok(Some(key)) if node.admit.admit(who, &What::See(&key.info)).is_ok() => {
                keys.push(KeyEntry::from(&key.info));
            }
            Ok(_) => {}
            Err(e) => node.log(&format!("key {name} is not listed: {e}")),
        }
    }
    run.answer(ToClient::Keys { keys, more });
    Ok(())
}

/// Give a key to its maker.
pub(crate) fn export(run: &mut StepRun<'_>, name: &KeyName) -> Result<(), Stop> {
    let loaded = run.load(name, |key| What::Export(key))?;
    let key = run.rep.trio().input(&loaded.part)?;
    let verified = close(run.rep, vec![key])?;
    let context = run.context(0);
    let answer = alone(run.rep, &context, &verified)?;
    run.node.log(&format!("key {name} leaves for client {} at {EXPORT}", run.who.name));
    run.answer(answer);
    Ok(())
}

/// Destroy a key. A server whose file is damaged or gone takes part; the servers that have the key check that
/// its maker asks.
pub(crate) fn destroy(run: &mut StepRun<'_>, name: &KeyName, forget: &mut Forget<'_>) -> Result<(), Stop> {
    let mine = match run.node.keys.load(name) {
        Ok(Some(key)) if key.info.state != KeyState::Destroyed => {
            let admitted = run.node.admit.admit(run.who, &What::Destroy(&key.info));
            admitted.map(|_| SAME).map_err(Failed::from)
        }
        Ok(_) => Ok(ABSENT),
        Err(e @ StoreError::Io(..)) => Err(stored(run.node, DESTROY, name, &e)),
        Err(_) => Ok(ABSENT),
    };
    let status = run.all(DESTROY, mine)?;
    let all = exchange(run.rep, [status, 0, 0, 0, 0])?;
    if first(&all, |s| s[0] == SAME).is_none() {
        let message = format!("no server has a key {name} that could be destroyed: see `key list`");
        return Err(Failed::refused(DESTROY, message).into());
    }
    let Erased { statuses, own } = erase(run.node, run.rep, run.ready, name, forget)?;
    let gone = own.map_err(|e| stored(run.node, DESTROYED, name, &e));
    let named = |done: u8| {
        let parties = PartyId::all(3).filter(|party| statuses[party.index()][0] == done);
        parties.map(|party| party.to_string()).collect::<Vec<_>>().join(" and ")
    };
    let Some(party) = first(&statuses, |status| status[0] != 1) else {
        run.answer(ToClient::Done);
        return Ok(());
    };
    let done = if statuses.iter().any(|status| status[0] == 1) { named(1) } else { "no server".into() };
    let why = gone.as_ref().err().map_or_else(String::new, |failed| format!(" ({})", failed.message));
    let message =
        format!("key {name} is destroyed at {done}, and not at {}{why}: give the command again", named(0));
    let peer = party.number();
    Err(Failed { peer, retry: true, hearsay: gone.is_ok(), ..Failed::refused(DESTROYED, message) }.into())
}

/// A function that wipes the data of requests that are over, and returns whether there were any.
pub(super) type Forget<'f> = dyn FnMut(&Node) -> bool + 'f;

/// The outcome of the destruction of a key: at each server, where 1 is success, and this server's own error.
pub(super) struct Erased {
    pub statuses: [[u8; 5]; 3],
    pub own: Result<(), StoreError>,
}

/// Destroy a key, as all three agreed.
pub(super) fn erase(
    node: &Node,
    rep: &mut Rep3,
    ready: &mut Ready,
    name: &KeyName,
    forget: &mut Forget<'_>,
) -> Result<Erased, Abort> {
    // whatever becomes of the files: at all three, so that what is ready stays the same
    let known = ready.forget(rep, name);
    node.schedule(|schedule, now| schedule.key_is_gone(name, "was destroyed", now));
    // what was under way with it held it, too
    if forget(node) || known {
        node.log(&format!("key {name} is wiped from the memory of {}", node.me));
    }
    let own = node.keys.destroy(name);
    let statuses = exchange(rep, [u8::from(own.is_ok()), 0, 0, 0, 0])?;
    Ok(Erased { statuses, own })
}

#[cfg(test)]
mod tests {
    use super::{Standing, id_of, middle};

    /// Whatever one server says, the middle lies between what the other two say.
    #[test]
    fn a_clock_that_lies_reaches_no_further_than_the_honest_ones() {
        for lie in [0, 1, 89, 90, 95, 100, 101, u64::MAX] {
            for honest in [[90, 100], [100, 90], [90, 90]] {
                let [a, b] = honest;
                for clocks in [[lie, a, b], [a, lie, b], [a, b, lie]] {
                    let middle = middle(clocks).unwrap();
                    assert!((a.min(b)..=a.max(b)).contains(&middle), "{clocks:?}");
                }
            }
        }
        assert_eq!([middle([0, 0, 7]), middle([0, 7, 0]), middle([0, 0, 0])], [None; 3]);
    }

    #[test]
    fn golden_bytes_of_what_servers_say_before_a_key() {
        let standing = Standing { status: 2, last: 0x0304_0506, clock: 0x0708_090a_0b0c_0d0e };
        let bytes = standing.encode();
        assert_eq!(bytes, [2, 6, 5, 4, 3, 14, 13, 12, 11, 10, 9, 8, 7]);
        let Standing { status, last, clock } = Standing::decode(bytes);
        assert_eq!((status, last, clock), (2, 0x0304_0506, 0x0708_090a_0b0c_0d0e));
    }

    /// Every byte of the coin, of the connection and of the number changes the id, and every byte of the id
    /// depends on them.
    #[test]
    fn an_id_is_of_all_that_makes_it() {
        let (coin, connection) = ([1; 16], [2; 16]);
        let id = id_of(&coin, &connection, 3);
        let other = |at: usize, of: [u8; 16]| {
            let mut of = of;
            of[at] ^= 1;
            of
        };
        let mut others: Vec<[u8; 16]> = Vec::new();
        for at in 0..16 {
            others.push(id_of(&other(at, coin), &connection, 3));
            others.push(id_of(&coin, &other(at, connection), 3));
        }
        others.extend((0..8).map(|byte| id_of(&coin, &connection, 3 ^ 1 << (8 * byte))));
        for (i, x) in others.iter().enumerate() {
            assert!(*x != id && others[..i].iter().all(|y| x != y), "{i}");
        }
        // no byte is the same in all
        assert!((0..16).all(|at| others.iter().any(|x| x[at] != id[at])));
    }
}
