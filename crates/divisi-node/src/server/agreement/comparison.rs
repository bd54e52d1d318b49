//! What the three servers compare before they use it: every public input among all three \[A25\]; every
//! secret component between its two holders, whether it comes from a client \[A24\] or from the store
//! \[A26\].
//!
//! Adversary: one malicious server, any clients. A difference, a missing part or a server's refusal ends that
//! request at all three servers and affects no other request: the client is as likely to be at fault as a
//! server. Nothing of the input has been used by then.

use crate::error::{Failed, Stop};
use divisi_core::{Abort, Check, ComparedDigest, PartyId, Step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Agreement, Rep3};

pub(crate) const STATUS: Step = Step::new("divisi_node::agree/status");

/// Whose inputs are compared, for the words of a refusal.
#[derive(Clone, Copy)]
pub(crate) enum About<'a> {
    /// An input that this client sent.
    Client(&'a str),
    /// A key that the servers have stored under this name.
    Key(&'a str),
}

/// Compare an input: `mine` is our secret part (empty if there is none), or why we have no such input or
/// refuse it.
pub(crate) fn agree(
    rep: &mut Rep3,
    step: Step,
    check: Check,
    public: &[u8; 32],
    mine: Result<&Part, Failed>,
    about: About<'_>,
) -> Result<(), Stop> {
    let trio = rep.trio();
    let verdict = match &mine {
        Ok(part) => trio.agree_input(check, public, Some(part))?,
        Err(_) => trio.agree_input(check, public, None)?,
    };
    mine?;
    Ok(verdict_of(verdict, step, about)?)
}

/// The failure that a client receives for an input that differs between servers, or that one of them lacks.
pub(crate) fn verdict_of(verdict: Agreement, step: Step, about: About<'_>) -> Result<(), Failed> {
    let (peer, message) = match (verdict, about) {
        (Agreement::Agreed, _) => return Ok(()),
        (Agreement::Missing(party) | Agreement::NotYet(party), _) => (
            party.number(),
            format!("{party} refused this input, or did not receive its part of it, at {step}"),
        ),
        (Agreement::PublicDiffers, About::Client(who)) => (
            0,
            format!("client {who} told the servers different things at {step}: send the same to all three"),
        ),
        (Agreement::SecretDiffers, About::Client(who)) => (
            0,
            format!(
                "client {who} gave the servers shares that do not match at {step}: split the input again"
            ),
        ),
        (Agreement::PublicDiffers | Agreement::SecretDiffers, About::Key(name)) => (
            0,
            format!(
                "the servers' files of key {name} do not belong together, at {step}: one of them is damaged, old or \
                 another key's; give the last `key grant` or `key revoke` again if it failed; if that does not help, \
                 all three operators give `key chown`, which sets owner and clients anew; if the files still differ, \
                 restore the one that is wrong from its server's backup, or destroy the key"
            ),
        ),
    };
    // one server that lies about what it has is enough for each of these
    Err(Failed { peer, hearsay: true, ..Failed::refused(step, message) })
}

/// A digest of all that is public about something that is compared for a request.
pub(crate) fn public(request: &[u8; 32], step: Step, extra: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 agreed input v2");
    hasher.update(request);
    for part in [step.name.as_bytes(), extra] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.to_compare()
}

/// Tell the others a few public bytes, and receive theirs; returns all three, by party.
pub(crate) fn exchange<const N: usize>(rep: &mut Rep3, mine: [u8; N]) -> Result<[[u8; N]; 3], Abort> {
    let session = rep.trio().session();
    let mut all = [mine; 3];
    for peer in session.peers() {
        session.send(STATUS, peer, &mine, 0)?;
    }
    for peer in session.peers() {
        session.recv(STATUS, peer, &mut all[peer.index()])?;
    }
    // if a party sends different states to the two others, their views differ, which is an abort at the next
    // barrier
    rep.trio().absorb("status", all.as_flattened());
    Ok(all)
}

/// The first party for whose bytes `holds` is true.
pub(crate) fn first<T>(all: &[T; 3], holds: impl Fn(&T) -> bool) -> Option<PartyId> {
    PartyId::all(3).find(|p| holds(&all[p.index()]))
}
