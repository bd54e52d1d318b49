//! An order of the operators in a session: the three servers compare who has given it, and carry it out if
//! all have.
//!
//! 1. Each server tells the others whether its own operator gave the same order, another one, or none: for
//!    the log and for the operators who wait.
//! 2. All compare the order \[A25\]; for a key that is given away also its two components, its new entry, and
//!    the identity by which they know its new owner \[A26\]. A server whose operator has not given the order
//!    says that it may yet come, and then nobody carries it out.
//! 3. A barrier: no server saw another outcome.
//! 4. Each carries it out, durably; all learn who has.
//! 5. If the key was given away, all compare what is on their disks \[A26\].
//!
//! Adversary: one malicious server. An honest server carries out only what both its own operator and that of
//! the other honest server ordered: without the other's word step 2 ends differently at all servers. If a
//! malicious server does not do its part, the other two have carried out the order: a key that is given away
//! then serves nobody until the operators give the order again.

use super::keys::{Erased, Forget, erase};
use super::ready::Ready;
use crate::error::parties;
use crate::operator::{Deed, Order};
use crate::server::agreement::{About, exchange, first, verdict_of};
use crate::server::node::Node;
use crate::server::operators::SAME;
use divisi_core::{Abort, PartyId, Step};
use divisi_rep3::checks;
use divisi_rep3::deal::{NOTHING, Part};
use divisi_rep3::{Agreement, ComparedInput, Lack, Rep3};
use divisi_store::{KeyFile, KeyInfo, Maker};

const ORDER: Step = Step::new("divisi_node::server::orders/order");

/// Carry out an order that the leader proposed, if the operators of all three servers have given it.
pub(crate) fn run(
    node: &Node,
    rep: &mut Rep3,
    ready: &mut Ready,
    leader: PartyId,
    order: &Order,
    forget: &mut Forget<'_>,
) -> Result<(), Abort> {
    let found = node.keys.load(&order.key).ok().flatten();
    let id = found.as_ref().map(|key| key.info.id);
    let (mine, asking) = node.operators(|orders, now| (orders.stands(order, id, now), orders.asking(order)));
    let has = exchange(rep, [mine, 0, 0, 0, 0])?;
    node.operators(|orders, now| orders.compared(leader, order, has.map(|status| status[0]), now));

    // a server compares nothing of a key that its own operator did not name
    let given = match (&order.deed, found) {
        _ if mine != SAME => Err(Lack::NotYet),
        (Deed::Destroy, _) => Ok(None),
        (Deed::Chown { to }, Some(key)) => given(node, key, to).map(Some),
        (Deed::Chown { .. }, None) => Err(Lack::Missing),
    };
    let asked = if mine == SAME { Ok(&NOTHING) } else { Err(Lack::NotYet) };
    let (agreed, part) = match &given {
        Ok(Some((info, part))) => (info.agreed(), Ok(part)),
        Ok(None) => ([0; 32], Ok(&NOTHING)),
        Err(lack) => ([0; 32], Err(*lack)),
    };
    let digest = order.digest();
    // compared separately, so that servers which know the new owner by different identities say that, and not
    // that files differ
    let owner = owner(&given);
    let inputs = [
        ComparedInput { check: checks::A25, public: digest, part: asked },
        ComparedInput { check: checks::A26, public: agreed, part },
        ComparedInput { check: checks::A26, public: owner, part: part.map(|_| &NOTHING) },
    ];
    let verdicts = rep.trio().agree_list(&digest, &inputs)?;
    let [said, key, known] =
        [0, 1, 2].map(|at| verdicts.get(at).copied().unwrap_or(Agreement::PublicDiffers));
    if said != Agreement::Agreed {
        return Ok(());
    }
    rep.trio().barrier()?;
    let end = match given {
        _ if known == Agreement::PublicDiffers => {
            Err("the servers' configurations give the new owner different identities: give all servers the same configuration"
                .into())
        }
        _ if key != Agreement::Agreed => Err(match key {
            Agreement::Missing(party) => {
                format!("{party} cannot read its file of the key, or does not know all these clients")
            }
            key => verdict_of(key, ORDER, About::Key(order.key.as_str()))
                .err()
                .map_or_else(String::new, |e| e.message),
        }),
        Ok(Some((info, _))) => chown(node, rep, order, &info)?,
        _ => destroy(node, rep, ready, order, forget)?,
    };
    node.operators(|orders, _| orders.ended(order, asking, end));
    Ok(())
}

/// The identity by which this server knows a key's new owner, if it has one.
fn owner(given: &Result<Option<(KeyInfo, Part)>, Lack>) -> [u8; 32] {
    given.as_ref().ok().and_then(Option::as_ref).map_or([0; 32], |(info, _)| info.maker.fingerprint)
}

/// The entry of a key after the order, and this server's part of the key.
fn given(node: &Node, key: KeyFile, to: &[String]) -> Result<(KeyInfo, Part), Lack> {
    let part = part(&key).ok_or(Lack::Missing)?;
    let (owner, others) = to.split_first().ok_or(Lack::Missing)?;
    let config = node.config();
    let known = |name: &String| config.clients().iter().find(|client| client.name == *name);
    if !others.iter().all(|name| known(name).is_some()) {
        return Err(Lack::Missing);
    }
    let fingerprint = *known(owner).ok_or(Lack::Missing)?.pin.fingerprint().bytes();
    let maker = Maker { name: owner.clone(), fingerprint };
    Ok((KeyInfo { maker, clients: others.to_vec(), ..key.info }, part))
}

/// Our part of a key, unless it is destroyed.
fn part(key: &KeyFile) -> Option<Part> {
    let secret = key.secret.as_ref()?;
    Some(Part { first: secret.first.to_vec(), second: secret.second.to_vec() })
}

/// Give a key to others. The outcome is the same at all three servers.
fn chown(node: &Node, rep: &mut Rep3, order: &Order, info: &KeyInfo) -> Result<Result<(), String>, Abort> {
    let name = &order.key;
    let written = node.keys.chown(name, &info.id, &info.maker, &info.clients);
    if let Err(e) = &written {
        node.log(&format!("key {name} at {ORDER}: {e}"));
    }
    // end the requests that use the key; a client that may still use it asks again
    node.schedule(|schedule, now| schedule.key_is_gone(name, "was given to other clients", now));
    // what lies on the disk now
    let stored = written.is_ok().then(|| node.keys.load(name).ok().flatten()).flatten();
    let part = stored.as_ref().and_then(part);
    let statuses = exchange(rep, [u8::from(part.is_some()), 0, 0, 0, 0])?;
    let agreed = stored.map_or([0; 32], |key| key.info.agreed());
    let verdict = rep.trio().agree_input(checks::A26, &agreed, part.as_ref())?; // [A26]
    rep.trio().barrier()?;
    if verdict == Agreement::Agreed {
        return Ok(Ok(()));
    }
    let lacking = parties(PartyId::all(3).filter(|party| statuses[party.index()][0] != 1));
    let what =
        if lacking.is_empty() { "the files differ".into() } else { format!("not written at {lacking}") };
    Ok(Err(format!("{what}, and the key serves nobody until all three operators have given the order again")))
}

/// Destroy a key. The outcome is the same at all three servers.
fn destroy(
    node: &Node,
    rep: &mut Rep3,
    ready: &mut Ready,
    order: &Order,
    forget: &mut Forget<'_>,
) -> Result<Result<(), String>, Abort> {
    let Erased { statuses, own } = erase(node, rep, ready, &order.key, forget)?;
    if let Err(e) = &own {
        node.log(&format!("key {} at {ORDER}: {e}", order.key));
    }
    if first(&statuses, |status| status[0] != 1).is_none() {
        return Ok(Ok(()));
    }
    let with = |done: u8| parties(PartyId::all(3).filter(|party| statuses[party.index()][0] == done));
    Ok(Err(format!(
        "destroyed at {}, and not at {}: give the command again at all three servers",
        with(1),
        with(0)
    )))
}
