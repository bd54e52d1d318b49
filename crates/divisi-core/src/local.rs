//! All parties of a session as threads of this process, over links in memory: the simplest way to run a
//! protocol.
//!
//! Trust: this process knows all secrets. It is for examples, measurements and tests; over a network each
//! party is a process of its own, with the same `f` on a session over [`Mesh::join`](divisi_net::Mesh::join).
//!
//! ```
//! use divisi_core::{PublicParameters, local, step};
//!
//! // three parties tell each other their numbers
//! let sums = local::run(3, &PublicParameters::new("sum"), |mut session| {
//!     let mine = session.me().number();
//!     let mut sum = mine;
//!     for peer in session.peers() {
//!         session.send(step!("number"), peer, &[mine], 8)?;
//!     }
//!     for peer in session.peers() {
//!         let mut theirs = [0];
//!         session.recv(step!("number"), peer, &mut theirs)?;
//!         sum += theirs[0];
//!     }
//!     Ok(sum)
//! })?;
//! assert_eq!(sums, [6, 6, 6]);
//! # Ok::<(), divisi_core::Abort>(())
//! ```

use crate::{Abort, PublicParameters, Session};
use divisi_net::{Machine, Mesh, Options, PartyId, memory};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Start a session among `n` parties and run `f` at each. The results are in the parties' order. `f` learns
/// its party's number from [`Session::me`], and brings that party's inputs.
///
/// # Errors
/// If a party aborts: the most informative abort, which is that of a party that found something wrong, rather
/// than those that followed at the other parties.
///
/// # Panics
/// If a party panics.
pub fn run<R: Send>(
    n: usize,
    parameters: &PublicParameters,
    f: impl Fn(Session) -> Result<R, Abort> + Sync,
) -> Result<Vec<R>, Abort> {
    first(run_over(links(n), |_| parameters.clone(), f))
}

/// Links in memory among `n` parties, with a time limit that suits this number on a few processors.
#[must_use]
pub fn links(n: usize) -> Vec<Mesh> {
    links_within(n, None)
}

/// Links in memory among `n` parties, with this time limit if one is given, otherwise with that of [`links`].
#[must_use]
pub fn links_within(n: usize, timeout: Option<Duration>) -> Vec<Mesh> {
    let default = Duration::from_secs(20).max(Duration::from_secs(2 * n as u64));
    let timeout = timeout.unwrap_or(default);
    memory::mesh_with(n, &Options { timeout, ..Options::default() }, Arc::new(Machine))
}

/// Like [`run`], but over given links, and with parameters for each party, for which `parameters` is called
/// in the party's own thread before its session starts. Returns how each party ended.
///
/// # Panics
/// If a party panics.
pub fn run_over<R: Send>(
    meshes: Vec<Mesh>,
    parameters: impl Fn(PartyId) -> PublicParameters + Sync,
    f: impl Fn(Session) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    ends_of(meshes, &parameters, &f)
}

/// [`run_over`] without the types of its functions, so that it is compiled once for each kind of result.
fn ends_of<R: Send>(
    meshes: Vec<Mesh>,
    parameters: &(dyn Fn(PartyId) -> PublicParameters + Sync),
    f: &(dyn Fn(Session) -> Result<R, Abort> + Sync),
) -> Vec<Result<R, Abort>> {
    let ends = Mutex::new(meshes.iter().map(|_| None).collect::<Vec<_>>());
    at_each(meshes, parameters, &|place, session| {
        let end = session.and_then(f);
        if let Some(slot) = ends.lock().unwrap_or_else(PoisonError::into_inner).get_mut(place) {
            *slot = Some(end);
        }
    });
    let mut all = Vec::new();
    for end in ends.into_inner().unwrap_or_else(PoisonError::into_inner) {
        all.extend(end);
    }
    all
}

/// Start each party's session in a thread, and hand it, or why there is none, to `party`, with the party's
/// place. No type of a result is in it, so that the threads are compiled once.
fn at_each(
    meshes: Vec<Mesh>,
    parameters: &(dyn Fn(PartyId) -> PublicParameters + Sync),
    party: &(dyn Fn(usize, Result<Session, Abort>) + Sync),
) {
    let start = |place, mesh: Mesh| {
        let parameters = parameters(mesh.me());
        party(place, Session::start(&Arc::new(mesh), 1, &parameters));
    };
    let start = &start;
    let mut meshes: Vec<_> = meshes.into_iter().enumerate().collect();
    let own = own_place(meshes.len()).map(|place| meshes.remove(place));
    std::thread::scope(|scope| {
        let spawn = |(place, mesh)| scope.spawn(move || start(place, mesh));
        let parties: Vec<_> = meshes.into_iter().map(spawn).collect();
        if let Some((place, mesh)) = own {
            start(place, mesh);
        }
        let ends: Vec<_> = parties.into_iter().map(|party| party.join()).collect();
        if let Some(panic) = ends.into_iter().find_map(Result::err) {
            std::panic::resume_unwind(panic)
        }
    });
}

/// The place of the party that the calling thread runs itself.
#[cfg(not(feature = "testing"))]
fn own_place(_parties: usize) -> Option<usize> {
    None
}

/// The place of the party that the calling thread runs itself: in tests it is another one each time, so that
/// each party also runs in a thread in which sessions ran before.
#[cfg(feature = "testing")]
fn own_place(parties: usize) -> Option<usize> {
    thread_local! {
        static RUNS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }
    let runs = RUNS.get();
    RUNS.set(runs.wrapping_add(1));
    runs.checked_rem(parties)
}

/// All results, or the most informative of the aborts.
///
/// # Errors
/// If a party aborted: the most informative of the aborts.
pub fn first<R>(ends: Vec<Result<R, Abort>>) -> Result<Vec<R>, Abort> {
    let mut results = Vec::new();
    let mut lost = None;
    for end in ends {
        match end {
            Ok(result) => results.push(result),
            Err(cause @ (Abort::CheckFailed { .. } | Abort::Misuse { .. } | Abort::Unfit { .. })) => {
                return Err(cause);
            }
            Err(abort) => lost = lost.or(Some(abort)),
        }
    }
    lost.map_or(Ok(results), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checks, step};

    /// In tests the calling thread runs each party in turn.
    #[cfg(feature = "testing")]
    #[test]
    fn each_party_runs_where_another_ran_before() {
        let own = std::thread::current().id();
        let here = |_| {
            let threads = run(3, &PublicParameters::new("threads"), |_| Ok(std::thread::current().id()));
            threads.unwrap().iter().map(|thread| *thread == own).collect::<Vec<_>>()
        };
        let runs: Vec<_> = (0..4).map(here).collect();
        let turn = |place| (0..3).map(|party| party == place % 3).collect::<Vec<_>>();
        assert_eq!(runs, (0..4).map(turn).collect::<Vec<_>>());
    }

    /// A party that found a failed check is reported before parties that only lost a peer.
    #[test]
    fn the_cause_comes_before_what_it_led_to() {
        let last = PartyId::P3;
        let ends = run(3, &PublicParameters::new("cause"), |mut session| {
            if session.me() == last {
                return session.require(checks::M0_3, step!("found"), false, None);
            }
            session.recv(step!("never"), last, &mut [0])
        });
        assert!(matches!(ends, Err(Abort::CheckFailed { check: checks::M0_3, .. })), "{ends:?}");
    }
}
