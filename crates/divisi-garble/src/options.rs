//! How circuits are garbled, and the names of the phases.

use crate::plan::{Plan, Unfit};
use crate::table::{GarblingForm, Layout};
use divisi_core::PublicParameters;
use divisi_ot::{SetupConfig, bucket};

/// The name of the first phase, in which the session and its set-up are made.
pub const SETUP_PHASE: &str = "setup";
/// The name of the second phase.
pub const INDEPENDENT_PHASE: &str = "function-independent";
/// The name of the third phase.
pub const DEPENDENT_PHASE: &str = "function-dependent";
/// The name of the last phase.
pub const ONLINE_PHASE: &str = "online";

/// With at least this many ANDs in all instances together, SoftSpokenOT's default k is 5, otherwise 4. With 5
/// a fifth less is sent, but the larger trees cost more at first.
const MANY_ANDS: usize = 1 << 18;

/// SoftSpokenOT's k that suits this number of ANDs in all instances together.
#[must_use]
pub fn k_for(ands: usize) -> u32 {
    if ands < MANY_ANDS { SetupConfig::default().k } else { 5 }
}

/// How circuits are garbled. All parties must have the same options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GarbleOptions {
    /// The form of tables and of leaky triples.
    pub form: GarblingForm,
    /// How many bytes of tables a party may keep from the function-dependent phase to the online phase.
    pub budget: u64,
    /// How many bytes of leaky triples may be in memory at once. The same limit holds for what the instances
    /// of a wave need together ([`GarbleOptions::wave`]).
    pub memory: usize,
    /// How many ANDs are garbled at once in the streamed mode, in all instances together.
    pub batch: usize,
}

impl Default for GarbleOptions {
    fn default() -> Self {
        GarbleOptions { form: GarblingForm::default(), budget: 1 << 30, memory: 24 << 20, batch: 1 << 13 }
    }
}

impl GarbleOptions {
    /// Adds these options to the parameters that the parties compare at the start of a session \[M0.4\].
    #[must_use]
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        parameters
            .with("form", self.form.name().as_bytes())
            .with("triples at once", &(self.memory as u64).to_le_bytes())
            .with("ands at once", &(self.batch as u64).to_le_bytes())
    }

    /// How many bytes of tables one party keeps, at most, for `count` instances of a plan, at `rho` bits of
    /// statistical security.
    #[must_use]
    pub(crate) fn kept(&self, plan: &Plan<'_>, rho: u32, count: usize) -> u64 {
        let parties = plan.parties();
        let tables = count.div_ceil(parties).saturating_mul(parties - 1) as u64;
        let layout = Layout::new(self.form, parties, rho as usize);
        tables.saturating_mul(layout.table(plan.and_count()) as u64)
    }

    /// How many of `count` instances of a plan should be garbled together, so that their data stays within
    /// [`memory`](GarbleOptions::memory): `count`, or a multiple of the number of parties, because evaluators
    /// take turns. The instances that remain form further waves, each of which runs through all phases but
    /// the set-up.
    #[must_use]
    pub fn wave(&self, plan: &Plan<'_>, rho: u32, count: usize) -> usize {
        let parties = plan.parties();
        // rows of shares for an AND: three for each leaky triple of its bucket; one for its mask, three for
        // its triple, three in garbling
        let rows = 3 * bucket::size(plan.and_count().saturating_mul(parties).max(1), rho) + 7;
        let shares = plan.and_count().saturating_mul(rows * (32 * (parties - 1) + 1));
        let tables = usize::try_from(self.kept(plan, rho, parties)).unwrap_or(usize::MAX) / parties;
        let fit = self.memory / shares.saturating_add(tables).max(1);
        (fit / parties).max(1).saturating_mul(parties).min(count)
    }

    /// The size of the waves of `count` instances that are garbled ahead ([`GarbleOptions::wave`]), at least
    /// 1.
    ///
    /// # Errors
    /// [`Unfit::Budget`] if the tables of one wave exceed the budget; [`Unfit::Streamed`] for a circuit that
    /// stays in its file.
    pub fn admitted_wave(&self, plan: &Plan<'_>, rho: u32, count: usize) -> Result<usize, Unfit> {
        plan.ahead()?;
        self.admit(plan, rho, 1)?;
        let wave = self.wave(plan, rho, count).max(1);
        self.admit(plan, rho, wave)?;
        Ok(wave)
    }

    /// Refuses a run whose tables exceed the budget, before there is a session.
    ///
    /// # Errors
    /// [`Unfit::Budget`] if the tables exceed the budget.
    pub fn admit(&self, plan: &Plan<'_>, rho: u32, count: usize) -> Result<(), Unfit> {
        let (need, budget) = (self.kept(plan, rho, count), self.budget);
        if need > budget { Err(Unfit::Budget { need, budget }) } else { Ok(()) }
    }
}
