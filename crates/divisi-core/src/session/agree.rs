//! The start of a session: agreement on parameters, an id with randomness of every party, keys for each pair.
//!
//! Adversary: any number of malicious parties. An honest pair ends with the same id and a key that the others
//! do not know, or fails; the id contains 256 fresh bits of each honest party, so that it never repeats, and
//! messages recorded in one session are invalid in another. Keys depend on the link's own secret (for TLS its
//! exporter, bound to both identities), so that a relayed or reflected handshake confirms nothing \[M0.1\].
//!
//! 1. Each party sends to every other one the digest of its parameters, a nonce (the same to all), and a
//!    contribution to the key of the two.
//! 2. id = H(parameters, n, the session's number, all nonces); the key of each pair = H(link secret, both
//!    contributions, id). Each party sends to every other one the id, which is the echo of everything it
//!    received \[M0.3, M0.5\], and a proof that it has the pair's key.

use super::{PublicParameters, START, Session, SessionId, Shared};
use crate::{Abort, Meter, Misuse, same_bytes, taint};
use crate::{checks, purposes};
use divisi_net::{Mesh, PartyId, Step, step};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

pub(crate) const HELLO: Step = step!("hello");
pub(crate) const ECHO: Step = step!("echo");

/// Start a session: see [`Session::start`].
pub(super) fn start(mesh: &Arc<Mesh>, number: u32, parameters: &PublicParameters) -> Result<Session, Abort> {
    let n = mesh.parties();
    let me = mesh.me();
    let channel = mesh.open(number, 0)?;
    let mut session = Session {
        shared: Arc::new(Shared {
            mesh: Arc::clone(mesh),
            number,
            id: SessionId([0; 32]),
            pair_keys: Vec::new(),
            meter: Meter::default(),
            settled: super::Settled::default(),
            next_strand: AtomicU32::new(1),
            cause: OnceLock::new(),
            bound: super::bound::All::default(),
            happened: std::sync::Mutex::default(),
            #[cfg(feature = "testing")]
            draws: parameters.record(me),
        }),
        channel,
        strand: 0,
        phase: "setup",
        depth: 0,
        base: None,
        chains: super::Chains::new(),
        resets: 0,
        detoured: std::collections::BTreeMap::new(),
        asked: std::collections::BTreeMap::new(),
    };
    let digest = parameters.digest();

    // 1. parameters, nonce, contribution
    let mut nonces = vec![[0u8; 32]; n];
    session.entropy(purposes::NONCE, &mut nonces[me.index()]);
    let mut given = vec![Zeroizing::new([0u8; 32]); n];
    let mut taken = given.clone();
    for peer in session.peers() {
        let contribution = &mut given[peer.index()];
        session.entropy(purposes::CONTRIBUTION, contribution.as_mut_slice());
        let mut body = Zeroizing::new([0u8; 96]);
        body[..32].copy_from_slice(&digest);
        body[32..64].copy_from_slice(&nonces[me.index()]);
        body[64..].copy_from_slice(contribution.as_slice());
        session.send(HELLO, peer, body.as_slice(), 0)?;
    }
    for peer in session.peers() {
        let mut body = Zeroizing::new([0u8; 96]);
        session.recv(HELLO, peer, body.as_mut_slice())?;
        // [M0.4] has an abort of its own, because a wrong configuration ends here
        session.observe(checks::M0_4); // [M0.4]
        if !bool::from(digest.ct_eq(&body[..32])) {
            let what = "the session's parameters";
            return Err(session.fail(Abort::Disagreement { peer, step: HELLO, what }));
        }
        nonces[peer.index()].copy_from_slice(&body[32..64]);
        taken[peer.index()].copy_from_slice(&body[64..]);
    }

    // 2. id and keys, and the echo
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 session id v1");
    hasher.update(&digest);
    hasher.update(&(n as u64).to_le_bytes()).update(&number.to_le_bytes());
    for nonce in &nonces {
        hasher.update(nonce); // [M0.5]
    }
    let id = SessionId(*hasher.finalize().as_bytes());
    let mut pair_keys = vec![Zeroizing::new([0; 32]); n];
    for peer in session.peers() {
        let secret = session.network(mesh.link_secret(peer))?;
        pair_keys[peer.index()] =
            pair_key(&secret, me < peer, &given[peer.index()], &taken[peer.index()], id);
        taint::secret(ECHO, pair_keys[peer.index()].as_mut_slice());
    }
    for peer in session.peers() {
        let mut body = [0; 64];
        body[..32].copy_from_slice(&id.0);
        body[32..].copy_from_slice(&confirmation(&pair_keys[peer.index()], me, peer));
        session.send(ECHO, peer, &body, 0)?;
    }
    for peer in session.peers() {
        let mut body = [0; 64];
        session.recv(ECHO, peer, &mut body)?;
        session.require(checks::M0_3, ECHO, same_bytes(&id.0, &body[..32]), None)?; // [M0.3]
        let proof = confirmation(&pair_keys[peer.index()], peer, me);
        let same = taint::verdict(ECHO, same_bytes(&proof, &body[32..]));
        session.require(checks::M0_1, ECHO, same, Some(peer))?; // [M0.1]
    }
    match Arc::get_mut(&mut session.shared) {
        Some(shared) => (shared.id, shared.pair_keys) = (id, pair_keys),
        None => return Err(session.misuse(START, Misuse::OutOfOrder)),
    }
    session.observe(checks::M0_5); // [M0.5]
    Ok(session)
}

/// The key of this party and a peer: H(link secret, contribution of the lower party, of the higher, id).
fn pair_key(
    link: &[u8; 32],
    we_are_lower: bool,
    ours: &[u8; 32],
    theirs: &[u8; 32],
    id: SessionId,
) -> Zeroizing<[u8; 32]> {
    let (low, high) = if we_are_lower { (ours, theirs) } else { (theirs, ours) };
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 session pair key v1");
    hasher.update(link).update(low).update(high).update(&id.0);
    let key = Zeroizing::new(*hasher.finalize().as_bytes());
    zeroize::Zeroize::zeroize(&mut hasher);
    key
}

/// The proof of `from` towards `to` that it has the key of the two. It depends on who proves it to whom, so
/// that it cannot be reflected.
fn confirmation(key: &[u8; 32], from: PartyId, to: PartyId) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(b"divisi 2026 session confirmation v1");
    hasher.update(&(from.index() as u64).to_le_bytes()).update(&(to.index() as u64).to_le_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{Harness, MessageDirection};

    /// The id is the digest of what all have in common and of each party's nonce, in the parties' order:
    /// whoever speaks last cannot choose it.
    #[test]
    fn an_id_is_the_digest_of_every_nonce() {
        let parameters = PublicParameters::new("ids");
        for n in [2_u64, 4] {
            let harness = Harness::new(n as usize, &parameters);
            let recordings = harness.recordings();
            let ids = harness.act(|session| Ok(session.id()));
            let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 session id v1");
            hasher.update(&parameters.digest()).update(&n.to_le_bytes()).update(&[1, 0, 0, 0]);
            for recording in recordings {
                hasher.update(&recording.of(MessageDirection::Out, HELLO.name)[0].frame.body[32..64]);
            }
            let expected = hasher.finalize();
            assert!(ids.into_iter().all(|end| end.unwrap().as_bytes() == expected.as_bytes()), "{n} parties");
        }
    }

    /// A proof says what it is for: nothing else that is hashed under the key of two parties is one.
    #[test]
    fn a_proof_begins_with_its_purpose() {
        let [from, to] = [0, 2].map(|index| PartyId::from_index(index).unwrap());
        let text = [&b"divisi 2026 session confirmation v1"[..], &[0; 8], &[2, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(confirmation(&[7; 32], from, to), *blake3::keyed_hash(&[7; 32], &text).as_bytes());
    }

    /// The key of a pair depends on each byte of what it is made of.
    #[test]
    fn a_pairs_key_depends_on_all_of_its_parts() {
        let key =
            |[link, ours, theirs, id]: [[u8; 32]; 4]| *pair_key(&link, true, &ours, &theirs, SessionId(id));
        let parts = [[1; 32], [2; 32], [3; 32], [4; 32]];
        let mut keys = std::collections::BTreeSet::from([key(parts)]);
        for (part, byte) in (0..4).flat_map(|part| (0..32).map(move |byte| (part, byte))) {
            let mut other = parts;
            other[part][byte] ^= 0x80;
            assert!(keys.insert(key(other)), "{part} {byte}");
        }
        let [link, ours, theirs, id] = parts;
        assert_eq!(*pair_key(&link, false, &theirs, &ours, SessionId(id)), key(parts));
    }
}
