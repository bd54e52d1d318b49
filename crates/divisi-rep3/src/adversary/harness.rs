//! Three parties over memory links, some of which are controlled by a test.

use crate::trio::Trio;
use divisi_core::testing;
pub use divisi_core::testing::{
    LIMIT, MessageDirection, Recording, ended_by_another, failed_check, many, party,
};
use divisi_core::{Abort, Check, PartyId, PublicParameters};
use divisi_net::{Machine, World};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// Longer than any run lasts: after this time the test program ends, so that a hang is a failure and not a
/// wait.
const HANG: Duration = Duration::from_secs(1200);

/// A harness of three parties, each of which is a [`Trio`].
pub struct TrioHarness(testing::Harness);

impl Deref for TrioHarness {
    type Target = testing::Harness;

    fn deref(&self) -> &testing::Harness {
        &self.0
    }
}

impl Default for TrioHarness {
    fn default() -> Self {
        TrioHarness::new(&PublicParameters::new("rep3 harness"))
    }
}

impl TrioHarness {
    /// A harness for a session with these parameters.
    #[must_use]
    pub fn new(parameters: &PublicParameters) -> TrioHarness {
        TrioHarness::in_world(parameters, Arc::new(Machine))
    }

    /// A harness for a session without one check ([`testing::without`]).
    ///
    /// # Panics
    /// If a check is given, but in the copy of `lab/attacks`.
    #[must_use]
    pub fn without(check: Option<Check>) -> TrioHarness {
        TrioHarness::new(&testing::without(PublicParameters::new("rep3 harness"), check))
    }

    /// A harness in a world of its own.
    #[must_use]
    pub fn in_world(parameters: &PublicParameters, world: Arc<dyn World>) -> TrioHarness {
        TrioHarness(testing::Harness::in_world(3, parameters, world))
    }

    /// This harness with parties that wait still longer: for runs in which a party computes long.
    #[must_use]
    pub fn patient(self) -> TrioHarness {
        TrioHarness(self.0.patient())
    }

    /// Run `f` at each party, the session included; the results in the parties' order.
    pub fn act<R: Send>(self, f: impl Fn(Trio) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
        let _watch = watch();
        self.0.act(|session| f(Trio::new(session)?))
    }

    /// Like [`TrioHarness::act`], where each party has parameters of its own and does something before the
    /// session starts.
    pub fn act_each<R: Send>(
        self,
        parameters: &[PublicParameters; 3],
        before: impl Fn(PartyId) + Sync,
        f: impl Fn(Trio) -> Result<R, Abort> + Sync,
    ) -> Vec<Result<R, Abort>> {
        let begin = |me: PartyId| {
            before(me);
            parameters[me.index()].clone()
        };
        let _watch = watch();
        self.0.act_each(begin, |session| f(Trio::new(session)?))
    }
}

/// Ends the program if a run lasts too long: unless what is returned is dropped in time.
fn watch() -> Sender<()> {
    let (done, watch) = mpsc::channel();
    std::thread::spawn(move || {
        if watch.recv_timeout(HANG) == Err(RecvTimeoutError::Timeout) {
            eprintln!("a run hangs");
            std::process::abort();
        }
    });
    done
}

/// All directed links.
pub fn links() -> impl Iterator<Item = (PartyId, PartyId)> {
    testing::links(3)
}
