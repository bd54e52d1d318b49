//! All parties of a job as threads of this process, over links in memory.
//!
//! Trust: this process knows all secrets. It is for known answers and tests, whose inputs are public.

use super::{Differ, Own, Prepared, Rows, Took, Watch};
use divisi_core::{Abort, Counts, Misuse, Step, local, step};

const TOGETHER: Step = step!("together");

/// Why there are no outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "outputs that contradict each other are no outputs")]
pub enum Ended {
    /// The session ended.
    Abort(Abort),
    /// The outputs of the parties contradict each other.
    Differ(Differ),
}

impl From<Abort> for Ended {
    fn from(abort: Abort) -> Self {
        Ended::Abort(abort)
    }
}

/// A callback for the progress of a long job: how many steps are done, of how many.
pub type ProgressReport<'p> = &'p (dyn Fn(u64, u64) + Sync);

/// The observer of a party: at the first party it reports progress, at the others it does nothing.
struct Seen<'p>(Option<ProgressReport<'p>>);

impl Watch for Seen<'_> {
    fn meet(&mut self, _: &'static str) -> Result<(), Abort> {
        Ok(())
    }

    fn took(&mut self, _: &'static str, _: Took) {}

    fn at(&mut self, done: u64, all: u64) {
        if let Some(tell) = self.0 {
            tell(done, all);
        }
    }
}

/// Run all parties with one batch of these rows: the concatenated output rows, and the counts of the first
/// party's session.
///
/// # Errors
/// The abort of a session, or outputs that contradict each other.
pub fn together(prepared: &dyn Prepared, key: &[u8], inputs: &Rows) -> Result<(Vec<u8>, Counts), Ended> {
    together_seen(prepared, key, inputs, &|_, _| {})
}

/// Like [`together`], with a report of progress.
///
/// # Errors
/// The abort of a session, or outputs that contradict each other.
pub fn together_seen(
    prepared: &dyn Prepared,
    key: &[u8],
    inputs: &Rows,
    tell: ProgressReport<'_>,
) -> Result<(Vec<u8>, Counts), Ended> {
    let parties = prepared.parties();
    let count = inputs.count();
    let keys = prepared.deal_key(key);
    let owns = prepared.deal(inputs);
    let given = local::run(parties, &prepared.parameters(count), |session| {
        let me = session.me().index();
        let missing = Abort::Misuse { step: TOGETHER, what: Misuse::PartyUnknown };
        let (key, own) = keys.get(me).zip(owns.get(me)).ok_or(missing)?;
        let mut party = prepared.start(session, count, key)?;
        let mut watch = Seen((me == 0).then_some(tell));
        let output = party.batch(count, own, &mut watch)?;
        Ok((output, party.meter()))
    })?;
    let (outputs, mut counts): (Vec<Own>, Vec<Counts>) = given.into_iter().unzip();
    let outputs = prepared.collect(count, outputs).map_err(Ended::Differ)?;
    let counts = if counts.is_empty() { Counts::default() } else { counts.swap_remove(0) };
    Ok((outputs, counts))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::job::{JobSpec, LargeJob};
    use crate::plain::InTheClear;
    use crate::{EngineSettings, engine};
    use divisi_symmetric::algorithm::Settings;
    use std::sync::Mutex;

    /// Of a long message each piece is told, and of how many bytes.
    #[test]
    fn progress_is_told_as_it_is_made() {
        let using = Settings::new("sha256".parse().unwrap());
        let job: JobSpec = LargeJob { using, content: 64, lengths: vec![200_000] }.into();
        let settings = EngineSettings::default();
        let told = Mutex::new(Vec::new());
        let tell = |done, all| told.lock().unwrap().push((done, all));
        let rows = Rows::cut(vec![7; 64], [64].into_iter());
        let prepared = engine::prepare(&InTheClear, &job, &settings).unwrap();
        let (digest, _) = together_seen(&*prepared, &[], &rows, &tell).unwrap();
        let told = told.into_inner().unwrap();
        assert!(digest.len() == 32 && told.len() > 1, "{told:?}");
        assert!(told.is_sorted() && told.iter().all(|(done, all)| done < all && *all == 200_000), "{told:?}");
    }
}
