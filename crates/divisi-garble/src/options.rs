//! How circuits are garbled, and the names of the phases.

use crate::plan::{Plan, Unfit};
use crate::table::{GarblingForm, Layout};
use divisi_core::PublicParameters;
use divisi_ot::bucket;

/// The name of the first phase, in which the session and its set-up are made.
pub const SETUP_PHASE: &str = "setup";
/// The name of the second phase.
pub const INDEPENDENT_PHASE: &str = "function-independent";
/// The name of the third phase.
pub const DEPENDENT_PHASE: &str = "function-dependent";
/// The name of the last phase.
pub const ONLINE_PHASE: &str = "online";

/// How circuits are garbled: the same at all parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GarbleOptions {
    /// Which tables, and which leaky triples.
    pub form: GarblingForm,
    /// Bytes of tables that may be kept from the function-dependent phase to the online phase.
    pub budget: u64,
    /// Bytes of leaky triples that are held at once; likewise of what many instances need together
    /// ([`GarbleOptions::wave`]).
    pub memory: usize,
    /// ANDs garbled at once in the streamed mode, all instances together.
    pub batch: usize,
}

impl Default for GarbleOptions {
    fn default() -> Self {
        GarbleOptions { form: GarblingForm::default(), budget: 1 << 30, memory: 24 << 20, batch: 1 << 13 }
    }
}

impl GarbleOptions {
    /// These options among the parameters that the parties compare at the start of a session \[M0.4\].
    #[must_use]
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        parameters
            .with("form", self.form.name().as_bytes())
            .with("triples at once", &(self.memory as u64).to_le_bytes())
            .with("ands at once", &(self.batch as u64).to_le_bytes())
    }

    /// Bytes of tables that one party keeps at most for so many instances of a plan, `rho` bits of
    /// statistical security.
    #[must_use]
    pub(crate) fn kept(&self, plan: &Plan<'_>, rho: u32, count: usize) -> u64 {
        let parties = plan.parties();
        let tables = count.div_ceil(parties).saturating_mul(parties - 1) as u64;
        let layout = Layout::new(self.form, parties, rho as usize);
        tables.saturating_mul(layout.table(plan.and_count()) as u64)
    }

    /// How many of `count` instances of a plan should be garbled together, so that what is made for them
    /// stays within the memory that these options allow: a multiple of the number of parties, for the
    /// evaluator rotates, or all. Further ones are further waves, through all phases but the set-up.
    #[must_use]
    pub fn wave(&self, plan: &Plan<'_>, rho: u32, count: usize) -> usize {
        let parties = plan.parties();
        // three parts of each leaky triple; masks, three parts of a triple, and what garbling makes of them
        let rows = 3 * bucket::size(plan.and_count().saturating_mul(parties).max(1), rho) + 7;
        let shares = plan.and_count().saturating_mul(rows * (32 * (parties - 1) + 1));
        let tables = usize::try_from(self.kept(plan, rho, parties)).unwrap_or(usize::MAX) / parties;
        let fit = self.memory / shares.saturating_add(tables).max(1);
        (fit / parties).max(1).saturating_mul(parties).min(count)
    }

    /// Refuse a run whose tables exceed the budget, before there is a session.
    ///
    /// # Errors
    /// [`Unfit::Budget`].
    pub fn admit(&self, plan: &Plan<'_>, rho: u32, count: usize) -> Result<(), Unfit> {
        let (need, budget) = (self.kept(plan, rho, count), self.budget);
        if need > budget { Err(Unfit::Budget { need, budget }) } else { Ok(()) }
    }
}
