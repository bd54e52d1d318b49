//! Runs all parties in one process, for tests: inputs and outputs in the clear, and the costs that the meter
//! counted (feature `testing`; never part of a build that holds real secrets).

use crate::{Garble, GarbleOptions, GarblingForm, Plan};
use divisi_circuit::{Program, plain};
use divisi_core::testing::{self, Harness};
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session, local};
use divisi_net::Mesh;
use divisi_ot::{Setup, SetupConfig};
use zeroize::Zeroizing;

/// Where authenticated bits come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum BitSource {
    /// A dealer makes them from a common seed.
    Dealer,
    /// The protocols of [`divisi_ot`] make them.
    Protocol,
}

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct GarbleLab {
    /// Where authenticated bits come from.
    pub bits: BitSource,
    /// The seed for authenticated bits of a dealer.
    pub seed: u8,
    /// Parameters of the set-up.
    pub config: SetupConfig,
    /// The form of tables, memory limits and batch sizes.
    pub options: GarbleOptions,
    /// Whether to use the streamed mode.
    pub streamed: bool,
}

impl Default for GarbleLab {
    fn default() -> Self {
        let (config, options) = (SetupConfig::default(), GarbleOptions::default());
        GarbleLab { bits: BitSource::Dealer, seed: 7, config, options, streamed: false }
    }
}

/// What one party has at the end: for each instance the output bits that it learns, and its costs.
pub type OutputsAndCounts = (Vec<Vec<u8>>, Counts);

impl GarbleLab {
    /// The usual settings, with tables of this form.
    #[must_use]
    pub fn of(form: GarblingForm, streamed: bool) -> GarbleLab {
        let options = GarbleOptions { form, ..GarbleOptions::default() };
        GarbleLab { options, streamed, ..GarbleLab::default() }
    }

    /// The usual settings in the streamed mode, with this many ANDs in a batch.
    #[must_use]
    pub fn in_batches(batch: usize) -> GarbleLab {
        let options = GarbleOptions { batch, ..GarbleOptions::default() };
        GarbleLab { options, streamed: true, ..GarbleLab::default() }
    }

    /// A harness of `n` parties with these settings.
    #[must_use]
    pub fn harness(&self, n: usize) -> Harness {
        Harness::new(n, &self.parameters())
    }

    /// The parameters that the parties compare.
    #[must_use]
    pub fn parameters(&self) -> PublicParameters {
        self.options.describe(self.config.describe(PublicParameters::new("garble lab")))
    }

    /// Makes one party's set-up on its session.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    pub fn party(&self, session: &mut Session) -> Result<Garble, Abort> {
        let setup = match self.bits {
            BitSource::Dealer => divisi_ot::testing::deal(session, self.config, self.seed)?,
            BitSource::Protocol => Setup::new(session, self.config)?,
        };
        Ok(Garble::new(session, setup, self.options))
    }

    /// Runs a plan as one party, with its input bits of each instance.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    pub fn play(
        &self,
        session: &mut Session,
        plan: &Plan<'_>,
        inputs: &[Vec<u8>],
    ) -> Result<OutputsAndCounts, Abort> {
        let mut garble = self.party(session)?;
        let outputs = self.run_on(&mut garble, session, plan, inputs)?;
        Ok((outputs, session.meter().read()))
    }

    /// Runs a plan on a set-up that is there already, with its party's input bits of each instance.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    pub fn run_on(
        &self,
        garble: &mut Garble,
        session: &mut Session,
        plan: &Plan<'_>,
        inputs: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, Abort> {
        let count = inputs.len();
        let outputs = if self.streamed {
            garble.streamed(session, plan, inputs)?
        } else {
            let wires = plan.input_bits() + plan.and_count();
            let mut made = garble.function_independent(session, count * plan.and_count(), count * wires)?;
            let garbled = garble.function_dependent(session, &mut made, plan, count)?;
            garble.online(session, garbled, inputs)?
        };
        Ok(outputs.iter().map(|bits: &Zeroizing<Vec<u8>>| bits.to_vec()).collect())
    }

    /// Runs a plan as one party, which takes its own bits from those of all input wires, and returns the
    /// outputs alone.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    pub fn outputs(
        &self,
        session: &mut Session,
        plan: &Plan<'_>,
        inputs: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, Abort> {
        let mine = of_party(plan, session.me(), inputs);
        self.play(session, plan, &mine).map(|(outputs, _)| outputs)
    }

    /// Runs `f` at each of `n` parties after its set-up. Returns how each of them ended.
    pub fn each<R: Send>(
        &self,
        n: usize,
        f: impl Fn(&mut Session, &mut Garble) -> Result<R, Abort> + Sync,
    ) -> Vec<Result<R, Abort>> {
        testing::run(n, &self.parameters(), |mut session| {
            let mut garble = self.party(&mut session)?;
            f(&mut session, &mut garble)
        })
    }

    /// Runs a plan with all parties in one process, connected in memory. `inputs` has, for each instance, the
    /// bits of all input wires.
    ///
    /// # Errors
    /// The first abort by its cause: see [`local::first`].
    pub fn run(&self, plan: &Plan<'_>, inputs: &[Vec<u8>]) -> Result<Vec<OutputsAndCounts>, Abort> {
        let ends = run_over(
            local::links(plan.parties()),
            |_| self.parameters(),
            |session| self.play(session, plan, &of_party(plan, session.me(), inputs)),
        );
        // the first cause explains more than the aborts that follow from it at the other parties
        local::first(ends)
    }
}

/// The bits of one party's input wires, selected from those of all input wires.
#[must_use]
pub fn of_party(plan: &Plan<'_>, party: PartyId, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let wires: Vec<usize> = plan.wires_of(party).collect();
    inputs.iter().map(|bits| wires.iter().map(|wire| bits[*wire]).collect()).collect()
}

/// The parties in turn, as the owners of this many input values.
#[must_use]
pub fn in_turn(values: usize, parties: usize) -> Vec<PartyId> {
    let all: Vec<PartyId> = PartyId::all(parties).collect();
    all.into_iter().cycle().take(values).collect()
}

/// The output bits of one instance, computed in the clear.
///
/// # Panics
/// If there is not one input bit for each input wire.
#[must_use]
pub fn expected(program: &Program, input: &[u8]) -> Vec<u8> {
    let words: Vec<Vec<u64>> = input.iter().map(|bit| vec![u64::from(*bit)]).collect();
    match plain::run(program, &words) {
        Ok(outputs) => outputs.iter().map(|word| (word[0] & 1) as u8).collect(),
        Err(e) => unreachable!("{e:?}"),
    }
}

/// Runs `f` at each party, over these meshes. Returns the results in the order of parties.
///
/// # Panics
/// If a party panics.
pub fn run_over<R: Send>(
    meshes: Vec<Mesh>,
    parameters: impl Fn(PartyId) -> PublicParameters + Sync,
    f: impl Fn(&mut Session) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    local::run_over(meshes, parameters, |mut session| f(&mut session))
}
