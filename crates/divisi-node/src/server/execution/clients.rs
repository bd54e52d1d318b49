//! Which clients a key serves: changed by its owner, at all three servers or at none.
//!
//! 1. All three complete or drop what a crash left of an earlier change (see below), load the key \[A26\],
//!    and compare whether each admits the change.
//! 2. Each writes the new list of clients beside the one in force, durably; all compare the key's entry with
//!    the new list, and their shares \[A26\]. If one could not write it, all drop it.
//! 3. A barrier: no server saw another outcome.
//! 4. Each puts the new list in force, durably, and ends what a client that is taken off has under way; all
//!    learn who has, and the client is told when all have.
//!
//! **Crashes.** A server that died after step 2 finds both lists in the key's file. At the start of a session
//! the servers tell each other the digests of both entries of such a key. If each of the three has the new
//! list in force or written, those that have it written put it in force. If none has it in force and one
//! lacks it, nobody has told the client that it is in force, and those that have it written drop it. A server
//! that cannot read the key may have it in force: as long as there is one, nothing is completed or dropped.
//!
//! Adversary: one malicious server. An honest server puts in force only what the key's owner asked both
//! honest servers for, since both must have written it. A malicious server that lies about its file can keep
//! a key from being used, as it always can; it cannot let a client use a key that the owner did not grant it.

use super::step::StepRun;
use crate::admit::{CLIENTS, What};
use crate::error::{Failed, Stop};
use crate::request::{KeyEntry, KeyServe, ToClient};
use crate::server::admission::stored;
use crate::server::agreement::{exchange, first};
use crate::server::node::Node;
use divisi_core::{Abort, PartyId, Step};
use divisi_rep3::Rep3;
use divisi_store::{KeyInfo, KeyName, KeyState};

const SERVE: Step = Step::new("divisi_node::server::clients/serve");
const CHANGE: Step = Step::new("divisi_node::server::clients/clients");
const WRITTEN: Step = Step::new("divisi_node::server::clients/written");
const IN_FORCE: Step = Step::new("divisi_node::server::clients/in-force");

/// How many changes that crashes interrupted one session completes: there is rarely more than one.
const MOST: usize = 64;

/// Let a key serve another client, or one client less.
pub(crate) fn change(run: &mut StepRun<'_>, asked: &KeyServe) -> Result<(), Stop> {
    let KeyServe { name, client, .. } = asked;
    let owned = owned(run, name);
    run.all(SERVE, owned)?;
    complete(run.node, run.rep, Some(name))?;
    let loaded = run.load(name, |key| What::Serve(key))?;
    let next = next(run, asked, &loaded.info);
    let Some(clients) = run.all(CHANGE, next)? else {
        // it serves the client already: the answer to the same command was lost
        run.answer(ToClient::Key(KeyEntry::from(&loaded.info)));
        return Ok(());
    };
    let (node, id) = (run.node, loaded.info.id);
    let next = KeyInfo { clients, ..loaded.info };
    let written = node.keys.prepare_clients(name, &id, Some(&next.clients));
    let written = written.map_err(|e| stored(run.node, WRITTEN, name, &e));
    let agreed = run.agree_key(WRITTEN, name.as_str(), &next.agreed(), written.map(|()| &loaded.part));
    if let Err(Stop::Refused(_)) = &agreed {
        drop_change(node, name, &id);
    }
    agreed?;
    // whoever goes on knows that the others do, too
    run.rep.trio().barrier()?;
    let put = node.keys.activate_clients(name, &id);
    if !asked.serves {
        // whatever was written: at all three
        node.schedule(|schedule, now| schedule.key_is_revoked(name, client, now));
    }
    let statuses = exchange(run.rep, [u8::from(put.is_ok())])?;
    let put = put.map_err(|e| stored(run.node, IN_FORCE, name, &e));
    if let Some(party) = first(&statuses, |done| *done != [1]) {
        let why = put.as_ref().err().map_or_else(String::new, |failed| format!(" ({})", failed.message));
        let message = format!(
            "the clients of key {name} are not changed at {party}{why}, and it serves nobody until they are: give the command again"
        );
        let (peer, hearsay) = (party.number(), put.is_ok());
        return Err(Failed { peer, retry: true, hearsay, ..Failed::refused(IN_FORCE, message) }.into());
    }
    let what = if asked.serves { "now serves" } else { "no longer serves" };
    node.log(&format!("key {name} {what} client {client}, by its owner {}", run.who.name));
    run.answer(ToClient::Key(KeyEntry::from(&next)));
    Ok(())
}

/// Check that this client may change which clients the key serves.
fn owned(run: &StepRun<'_>, name: &KeyName) -> Result<(), Failed> {
    let (me, node) = (run.me(), run.node);
    let key = node.keys.load(name).map_err(|e| stored(run.node, SERVE, name, &e))?;
    let key =
        key.ok_or_else(|| Failed::refused(SERVE, format!("there is no key {name} at {me}: see `key list`")))?;
    node.admit.admit(run.who, &What::Serve(&key.info))?;
    Ok(())
}

/// The clients that the key is to serve besides its owner; `None` if it serves the new one already.
fn next(run: &StepRun<'_>, asked: &KeyServe, key: &KeyInfo) -> Result<Option<Vec<String>>, Failed> {
    let KeyServe { name, client, serves } = asked;
    let refused = |message: String| Err(Failed::refused(CHANGE, message));
    let is_owner = key.maker.name == *client;
    let has = key.clients.contains(client);
    match (serves, is_owner || has) {
        (true, true) => return Ok(None),
        (false, false) => {
            return refused(format!("key {name} does not serve client {client}: see `key list`"));
        }
        (false, true) if is_owner => {
            return refused(format!(
                "client {client} owns key {name}, and a key serves its owner to the last: `key chown`, an order of the operators, gives it to others"
            ));
        }
        _ => {}
    }
    if *serves {
        let config = run.node.config();
        if !config.clients().iter().any(|known| known.name == *client) {
            let me = run.me();
            return refused(format!(
                "client {client} is not in the configuration of {me}: add it there first"
            ));
        }
        if key.clients.len() >= CLIENTS {
            return refused(format!(
                "a key can name at most {CLIENTS} clients: take one off with `key revoke`"
            ));
        }
    }
    let mut clients: Vec<String> = key.clients.iter().filter(|name| *name != client).cloned().collect();
    if *serves {
        clients.push(client.clone());
    }
    Ok(Some(clients))
}

/// Drop a change that not all servers wrote. If this cannot be written either, the next session drops it.
fn drop_change(node: &Node, name: &KeyName, id: &[u8; 16]) {
    if let Err(e) = node.keys.prepare_clients(name, id, None) {
        node.log(&format!("key {name} at {WRITTEN}: {e}"));
    }
}

/// Complete or drop the changes that were under way when an earlier session ended.
pub(crate) fn resume(node: &Node, rep: &mut Rep3) -> Result<(), Abort> {
    let mut mine = node.keys.changing().into_iter();
    for _ in 0..MOST {
        // ids, because a server that has the key finds its name by it
        let ids = exchange(rep, mine.next().unwrap_or_default())?;
        if ids == [[0; 16]; 3] {
            break;
        }
        for party in PartyId::all(3) {
            let id = ids[party.index()];
            let again = ids[..party.index()].contains(&id);
            if id != [0; 16] && !again {
                complete(node, rep, node.keys.named(&id).as_ref())?;
            }
        }
    }
    Ok(())
}

/// What a server has of a key: digests of its entry as it is in force, and as it is to be; zeros for what it
/// does not have.
type Entries = [[u8; 32]; 2];

/// Put a written change of a key in force if all three have it, or drop it if it is in force nowhere.
fn complete(node: &Node, rep: &mut Rep3, name: Option<&KeyName>) -> Result<(), Abort> {
    let key = name.and_then(|name| node.keys.load(name).ok().flatten());
    let key = key.filter(|key| key.info.state != KeyState::Destroyed);
    let entries =
        key.as_ref().map_or([[0; 32]; 2], |key| [key.info.agreed(), key.agreed_next().unwrap_or_default()]);
    let mut mine = [0; 64];
    mine.copy_from_slice(entries.as_flattened());
    let all = exchange(rep, mine)?.map(|bytes| {
        let (now, next) = bytes.split_at(32);
        [now, next].map(|digest| digest.try_into().unwrap_or([0; 32]))
    });
    // before anything is written: nobody was told anything else
    rep.trio().barrier()?;
    let Some(key) = key else { return Ok(()) };
    let (name, id) = (&key.info.name, &key.info.id);
    let done = match end(&all, &entries[1]) {
        End::Nothing => return Ok(()),
        End::InForce => node.keys.activate_clients(name, id).map(|()| "is in force"),
        End::Dropped => {
            node.keys.prepare_clients(name, id, None).map(|()| "was not finished, and is dropped")
        }
        End::Unknown => {
            node.log(&format!(
                "a change of the clients of key {name} is neither completed nor dropped: a server cannot read the key, or \
                 has the change in force while another lacks it; restore the file that is lost, old or damaged, or \
                 have all three operators give `key chown`, which sets owner and clients anew"
            ));
            return Ok(());
        }
    };
    match done {
        Ok(what) => node.log(&format!("an interrupted change of the clients of key {name} {what}")),
        Err(e) => node.log(&format!("key {name} at {IN_FORCE}: {e}")),
    }
    Ok(())
}

/// What becomes of a server's written change.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Nothing,
    InForce,
    Dropped,
    Unknown,
}

/// What becomes of the change to `next`, which this server has written; zeros if it has none.
fn end(all: &[Entries; 3], next: &[u8; 32]) -> End {
    if *next == [0; 32] {
        End::Nothing
    } else if all.iter().any(|[now, _]| *now == [0; 32]) {
        // whoever cannot read the key may have the change in force
        End::Unknown
    } else if all.iter().all(|entries| entries.contains(next)) {
        End::InForce
    } else if all.iter().all(|[now, _]| now != next) {
        End::Dropped
    } else {
        End::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::{End, end};

    /// Every way in which a crash can leave the three: a server has the old list in force, with the new one
    /// written or not, or the new list; or it cannot read the key, and nothing becomes of the change.
    #[test]
    fn a_change_is_in_force_at_all_or_at_none() {
        // digests that differ in their last byte alone, also from that of no change
        let digest = |last| std::array::from_fn(|i| if i == 31 { last } else { 0 });
        let [old, new, other, none] = [1, 2, 3, 0].map(digest);
        let states = [[old, none], [old, new], [new, none], [none, none], [old, other]];
        for a in states {
            for b in states {
                for c in states {
                    let all = [a, b, c];
                    let lacks = all.iter().any(|entries| !entries.contains(&new));
                    let in_force = all.iter().any(|[now, _]| *now == new);
                    let unread = all.iter().any(|[now, _]| *now == none);
                    for [_, next] in all {
                        let right = match (lacks, in_force) {
                            _ if next == none => End::Nothing,
                            _ if unread => End::Unknown,
                            _ if next == other && all.iter().all(|[now, _]| *now != other) => {
                                if all.iter().all(|entries| entries.contains(&other)) {
                                    End::InForce
                                } else {
                                    End::Dropped
                                }
                            }
                            (false, _) => End::InForce,
                            (true, false) => End::Dropped,
                            (true, true) => End::Unknown,
                        };
                        assert_eq!(end(&all, &next), right, "{all:?} {next:?}");
                    }
                }
            }
        }
        // of those that can be: once one has it in force, all have at least written it
        assert_eq!(end(&[[old, new], [new, none], [old, new]], &new), End::InForce);
        assert_eq!(end(&[[old, new], [old, none], [old, new]], &new), End::Dropped);
        // a server that cannot read the key may be the one that has it in force
        assert_eq!(end(&[[old, new], [none, none], [old, new]], &new), End::Unknown);
    }
}
