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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::{BenchSchedule, Differ, Own, Rows, StartedParty};
    use std::thread;

    /// How each of these parties ends, one of which has another digest in one place, if there is one.
    fn ends(parties: usize, other: Option<(usize, usize)>) -> Vec<Result<(), Disagreement>> {
        let meshes: Vec<Arc<Mesh>> = divisi_net::memory::mesh(parties).into_iter().map(Arc::new).collect();
        thread::scope(|scope| {
            let party = |(i, mesh)| {
                scope.spawn(move || {
                    let mut all = [("one", [1; 32]), ("two", [2; 32]), ("three", [3; 32])];
                    if let Some((_, at)) = other.filter(|(party, _)| *party == i) {
                        all[at].1[31] ^= 1;
                    }
                    agree(mesh, 1, &all)
                })
            };
            let threads: Vec<_> = meshes.iter().enumerate().map(party).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// A job of which the parties compare one thing, and which nobody runs.
    struct Named(u8);

    impl Prepared for Named {
        fn parties(&self) -> usize {
            2
        }
        fn parameters(&self, _: usize) -> PublicParameters {
            PublicParameters::new("test")
        }
        fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
            vec![("name", [self.0; 32])]
        }
        fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
            BenchSchedule::together(1, warmup)
        }
        fn deal(&self, _: &Rows) -> Vec<Own> {
            unreachable!()
        }
        fn collect(&self, _: usize, _: Vec<Own>) -> Result<Vec<u8>, Differ> {
            unreachable!()
        }
        fn start<'p>(&'p self, _: Session, _: usize, _: &Own) -> StartedParty<'p> {
            unreachable!()
        }
    }

    /// Parties compare at each start, also if they agreed before.
    #[test]
    fn every_start_compares() {
        let jobs = [[7, 8], [7, 9]];
        let meshes =
            [(); 2].map(|()| divisi_net::memory::mesh(2).into_iter().map(Arc::new).collect::<Vec<_>>());
        let ends = thread::scope(|scope| {
            let party = |i: usize| {
                let meshes = &meshes;
                scope.spawn(move || {
                    [0, 1].map(|run| start(&meshes[run][i], &Named(jobs[i][run]), 1).map(drop))
                })
            };
            [0, 1].map(party).map(|thread| thread.join().unwrap())
        });
        for [alike, other] in ends {
            assert!(alike.is_ok() && matches!(other, Err(Disagreement::Differs { what: "name", .. })));
        }
    }

    /// Each digest of each peer is compared to its last bit; all learn what differs, and at whom.
    #[test]
    fn every_digest_of_every_peer_is_compared() {
        const PARTIES: usize = 5;
        assert!(ends(PARTIES, None).into_iter().all(|end| end.is_ok()));
        for (party, at) in (0..PARTIES).flat_map(|party| (0..3).map(move |at| (party, at))) {
            for (i, end) in ends(PARTIES, Some((party, at))).into_iter().enumerate() {
                let Err(Disagreement::Differs { peer, what, digests, .. }) = end else {
                    panic!("{party} {at}: {end:?}")
                };
                assert_eq!(what, ["one", "two", "three"][at]);
                assert!(i == party || peer.index() == party, "{party} {at}: {peer}");
                let (alike, mut other) = ([at as u8 + 1; 32], [at as u8 + 1; 32]);
                other[31] ^= 1;
                assert_eq!(digests, if i == party { [alike, other] } else { [other, alike] });
            }
        }
    }
}
