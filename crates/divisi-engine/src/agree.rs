//! The start of a prepared job among parties that were started separately: before anything secret exists,
//! they compare what they are about to run, so that an error names the difference.

use super::Prepared;
use crate::disagreement::Disagreement;
use divisi_core::{PublicParameters, Session, Step, step};
use divisi_net::Mesh;
use std::sync::Arc;

const AGREE: Step = step!("run.agree");

/// Start the session of a job for `count` instances, on a mesh on which no session was before. If the engine
/// has something to compare ([`Prepared::agreement`]), the parties compare it in an earlier session of its
/// own.
///
/// # Errors
/// [`Disagreement`] if another party runs something else, with what that is; or the abort that ended one of
/// the sessions.
pub fn start(mesh: &Arc<Mesh>, prepared: &dyn Prepared, count: usize) -> Result<Session, Disagreement> {
    let agreement = prepared.agreement();
    let mut number = 1;
    if !agreement.is_empty() {
        agree(mesh, number, &agreement)?;
        number += 1;
    }
    Ok(Session::start(mesh, number, &prepared.parameters(count))?)
}

/// Send the others the digests of what this party is about to run, in session `number` of the mesh, and
/// compare theirs.
fn agree(mesh: &Arc<Mesh>, number: u32, agreement: &[(&'static str, [u8; 32])]) -> Result<(), Disagreement> {
    let mut session = Session::start(mesh, number, &PublicParameters::new("run.agree"))?;
    let ours: Vec<[u8; 32]> = agreement.iter().map(|(_, digest)| *digest).collect();
    for peer in session.peers() {
        session.send(AGREE, peer, ours.as_flattened(), 0)?;
    }
    let mut differs = None;
    // receive from all peers before returning, so that each party learns with whom it disagrees
    for peer in session.peers() {
        let mut theirs = vec![[0; 32]; ours.len()];
        session.recv(AGREE, peer, theirs.as_flattened_mut())?;
        differs = differs.or((ours != theirs).then_some((peer, theirs)));
    }
    let Some((peer, theirs)) = differs else { return Ok(()) };
    let mut all = agreement.iter().zip(&theirs);
    let Some(((what, ours), theirs)) = all.find(|((_, ours), theirs)| ours != *theirs) else {
        return Ok(());
    };
    Err(Disagreement::Differs { peer, what, digests: [*theirs, *ours], step: AGREE })
}
