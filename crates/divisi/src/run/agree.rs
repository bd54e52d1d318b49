//! The comparison of what separately started parties are about to run, before anything secret exists: an
//! error shows both digests.

use crate::failure::Failure;
use divisi_core::{PublicParameters, Session, Step, step};
use divisi_net::Mesh;
use std::sync::Arc;

const AGREE: Step = step!("run.agree");

/// Tell the others what we are about to run, in session `number` of the mesh, and compare.
///
/// # Errors
/// The first thing that the parties do not agree on, with both digests; the abort that ends the session.
pub(super) fn agree(
    mesh: &Arc<Mesh>,
    number: u32,
    agreement: &[(&'static str, [u8; 32])],
) -> Result<(), Failure> {
    let mut session = Session::start(mesh, number, &PublicParameters::new("run.agree"))?;
    let ours: Vec<[u8; 32]> = agreement.iter().map(|(_, digest)| *digest).collect();
    for peer in session.peers() {
        session.send(AGREE, peer, ours.as_flattened(), 0)?;
    }
    let mut differs = None;
    // from all of them before anybody leaves: each is to learn with whom it disagrees
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
    let (ours, theirs) = (hex::encode(ours), hex::encode(theirs));
    let error = format!(
        "{peer} runs {what}: digest {theirs} there, {ours} here; give all parties the same arguments and files"
    );
    Err(Failure::usage(error).with_peer(peer).at(AGREE.to_string()))
}
