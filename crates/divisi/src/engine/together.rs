//! All parties of a job as threads of this process, over links in memory.
//!
//! Trust: this process knows everything. That is for known answers and tests, whose inputs are public.

use super::{Differ, Own, Prepared, Rows, Unwatched};
use divisi_core::{Abort, Counts, Session, Step, step};
use divisi_net::{Machine, Mesh, Options, memory};
use std::sync::Arc;
use std::time::Duration;

const TOGETHER: Step = step!("together");

/// Why there are no outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The session ended.
    Abort(Abort),
    /// The parties' outputs do not fit each other.
    Differ(Differ),
}

impl From<Abort> for Ended {
    fn from(abort: Abort) -> Self {
        Ended::Abort(abort)
    }
}

/// Run all parties, with one batch of these rows: the outputs, one row behind the other, and what the first party's session counted.
///
/// # Errors
/// The end of a party's session; outputs that do not fit each other.
pub fn together(prepared: &dyn Prepared, key: &[u8], inputs: &Rows) -> Result<(Vec<u8>, Counts), Ended> {
    let parties = prepared.parties();
    let count = inputs.count();
    let keys = prepared.deal_key(key);
    let owns = prepared.deal(inputs);
    // many parties share few processors
    let timeout = Duration::from_secs(20).max(Duration::from_secs(2 * parties as u64));
    let meshes = memory::mesh_with(parties, &Options { timeout, ..Options::default() }, Arc::new(Machine));
    let one = |mesh: Mesh, key: Own, own: Own| -> Result<(Own, Counts), Abort> {
        let session = Session::start(&Arc::new(mesh), 1, &prepared.parameters(count))?;
        let mut party = prepared.start(session, count, &key)?;
        let output = party.batch(count, &own, &mut Unwatched)?;
        Ok((output, party.meter()))
    };
    let given: Vec<Result<(Own, Counts), Abort>> = std::thread::scope(|scope| {
        let one = &one;
        let threads: Vec<_> = meshes
            .into_iter()
            .zip(keys.into_iter().zip(owns))
            .map(|(mesh, (key, own))| scope.spawn(move || one(mesh, key, own)))
            .collect();
        let ended =
            |_| Err(Abort::Misuse { step: TOGETHER, what: "a party's thread ended without an answer" });
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(ended)).collect()
    });
    let given = given.into_iter().collect::<Result<Vec<_>, Abort>>()?;
    let (outputs, mut counts): (Vec<Own>, Vec<Counts>) = given.into_iter().unzip();
    let outputs = prepared.collect(count, outputs).map_err(Ended::Differ)?;
    let counts = if counts.is_empty() { Counts::default() } else { counts.swap_remove(0) };
    Ok((outputs, counts))
}
