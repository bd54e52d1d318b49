//! Two sessions whose ids begin with the same byte: whoever compares less than all of an id takes one for the
//! other.

#![expect(clippy::expect_used, clippy::panic, reason = "it is there for tests alone")]

use super::Harness;
use super::nets::KnownWorld;
use crate::{Abort, PublicParameters, Session};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs `first` in one session and `other`, with what it returned, in another one; returns how the second one
/// ended. Of sessions at random one in 256 has an id that begins as a given one's: the ids of these two do.
///
/// # Panics
/// If a party has nothing left of the first session, or no two of very many ids begin alike.
pub fn in_another<T: Send>(
    n: usize,
    parameters: &PublicParameters,
    first: impl Fn(&mut Session) -> Result<T, Abort> + Sync,
    other: impl Fn(&mut Session, T) -> Result<(), Abort> + Sync,
) -> Vec<Result<(), Abort>> {
    let [one, another] = alike(n, parameters);
    let left = act(n, parameters, one, |mut session| first(&mut session));
    let left: Vec<Mutex<Option<T>>> = left.into_iter().map(|left| Mutex::new(left.ok())).collect();
    act(n, parameters, another, |mut session| {
        let left = left[session.me().index()].lock().unwrap_or_else(PoisonError::into_inner).take();
        other(&mut session, left.expect("something of the first session"))
    })
}

/// The seeds of two worlds in which sessions with these parameters have ids that begin alike.
fn alike(n: usize, parameters: &PublicParameters) -> [u64; 2] {
    let mut seen = BTreeMap::new();
    for seed in 0..10_000 {
        let ids = act(n, parameters, seed, |session| Ok(*session.id().as_bytes()));
        let id = ids.into_iter().flatten().next().unwrap_or_default();
        if let Some((before, other)) = seen.insert(id[0], (seed, id))
            && other != id
        {
            return [before, seed];
        }
    }
    panic!("no two of 10,000 ids begin alike");
}

/// A session in the world of a seed, which is the same whenever it is run.
fn act<R: Send>(
    n: usize,
    parameters: &PublicParameters,
    seed: u64,
    f: impl Fn(Session) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let entered = |party| {
        KnownWorld::enter(seed, party);
        parameters.clone()
    };
    Harness::in_world(n, parameters, Arc::new(KnownWorld::new(seed))).act_each(entered, f)
}
