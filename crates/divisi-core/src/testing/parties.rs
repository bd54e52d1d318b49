//! All parties of a session as threads of one process, and how each of them ended.

pub use crate::local::run_over;

use crate::{Abort, Check, Misuse, PartyId, PublicParameters, Session};
use divisi_net::{Fault, Machine, Mesh, Options, memory};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Start session 1 among `n` parties over links in memory and run `f` at each. The results are in the
/// parties' order.
///
/// # Panics
/// If a party panics.
pub fn run<R: Send>(
    n: usize,
    parameters: &PublicParameters,
    f: impl Fn(Session) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    run_over(skipping(n), |_| parameters.clone(), f)
}

/// Links whose time limits pass at once when all parties wait, and never because the machine is busy.
fn skipping(n: usize) -> Vec<Mesh> {
    let options = Options { timeout: Duration::from_secs(120), ..Options::default() };
    memory::mesh_that_skips(n, &options, Arc::new(Machine))
}

/// Like [`run`], with a time limit for messages. Messages are not recorded, so that they take no memory after
/// they were read: for runs of many parties.
pub fn run_waiting<R: Send>(
    n: usize,
    limit: Duration,
    parameters: &PublicParameters,
    f: impl Fn(Session) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let meshes = memory::mesh(n);
    meshes.iter().for_each(|mesh| mesh.set_timeout(limit));
    run_over(meshes, |_| parameters.clone(), f)
}

/// The party with this number.
///
/// # Panics
/// If the number is 0.
#[must_use]
pub fn party(number: u8) -> PartyId {
    PartyId::new(number).unwrap_or_else(|| unreachable!("parties are counted from 1"))
}

/// All directed links among `n` parties.
pub fn links(n: usize) -> impl Iterator<Item = (PartyId, PartyId)> {
    PartyId::all(n).flat_map(move |p| PartyId::all(n).filter(move |q| *q != p).map(move |q| (p, q)))
}

/// The check that ended a session, if one did.
#[must_use]
pub fn failed_check<R>(result: &Result<R, Abort>) -> Option<Check> {
    match result {
        Err(Abort::CheckFailed { check, .. }) => Some(*check),
        _ => None,
    }
}

/// Demands that each of these calls was refused for this reason. The first one ends the session, so that a
/// call that sends anything before it refuses fails for another one.
///
/// # Panics
/// If one was not.
pub fn refused_for(calls: impl IntoIterator<Item = (Misuse, Result<(), Abort>)>) {
    for (call, (wanted, end)) in calls.into_iter().enumerate() {
        let found = matches!(&end, Err(Abort::Misuse { what, .. }) if *what == wanted);
        assert!(found, "call {call}: {end:?}, not {wanted:?}");
    }
}

/// Whether the session ended because another party aborted, or because the link to it was lost.
#[must_use]
pub fn ended_by_another<R>(result: &Result<R, Abort>) -> bool {
    matches!(result, Err(Abort::Network(Fault::Aborted { .. } | Fault::Lost { .. })))
}

/// Run jobs `0..n` in `threads` threads. The results are in order. An attacked run mostly waits, so that more
/// threads than processors are useful.
pub fn many<R: Send>(n: usize, threads: usize, job: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new((0..n).map(|_| None).collect::<Vec<Option<R>>>());
    in_threads(threads.min(n), &|| {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                break;
            }
            let result = job(i);
            if let Some(place) = results.lock().unwrap_or_else(PoisonError::into_inner).get_mut(i) {
                *place = Some(result);
            }
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

/// Run `work` in so many threads. No type of [`many`] is in it, so that it is compiled once.
fn in_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}

/// Demands that a digest depends on each byte of what is hashed, of whatever length: it is changed at its
/// first byte, at its last one, and where lengths of buffers and blocks end.
///
/// # Panics
/// If one of these changes gives the same digest.
pub fn each_byte_counts<D: PartialEq>(digest: impl Fn(&[u8]) -> D) {
    let whole: Vec<u8> = (0..70_000_u32).map(|i| (i.wrapping_mul(i) >> 3) as u8).collect();
    for len in [1, 16, 33, 300, 5000, whole.len()] {
        let whole = &whole[..len];
        let ends = (0..17).map(|log| 1_usize << log).flat_map(|end| [end - 1, end]);
        for at in ends.chain([len - 1]).filter(|at| *at < len) {
            let mut changed = whole.to_vec();
            changed[at] ^= 1;
            assert!(digest(whole) != digest(&changed), "byte {at} of {len}");
        }
        assert!(digest(whole) != digest(&whole[..len - 1]), "the last byte of {len}");
    }
}
