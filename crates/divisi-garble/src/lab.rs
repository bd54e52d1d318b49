//! All parties in one process, for tests: inputs and outputs in the clear, and the counted costs (feature
//! `testing`; never part of a build that holds real secrets).

use crate::{Garble, GarbleOptions, Plan};
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session, local};
use divisi_net::Mesh;
use divisi_ot::{Setup, SetupConfig};
use zeroize::Zeroizing;

/// Where authenticated bits come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// From a common seed.
    Dealt,
    /// From the protocols.
    Made,
}

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub struct Lab {
    /// Where authenticated bits come from.
    pub bits: Bits,
    /// The seed of those that are dealt.
    pub seed: u8,
    /// Parameters of the set-up.
    pub config: SetupConfig,
    /// Form, budgets, batches.
    pub options: GarbleOptions,
    /// Whether triples, tables and evaluation go batch by batch, after the inputs.
    pub streamed: bool,
}

impl Default for Lab {
    fn default() -> Self {
        let (config, options) = (SetupConfig::default(), GarbleOptions::default());
        Lab { bits: Bits::Dealt, seed: 7, config, options, streamed: false }
    }
}

/// What one party ends with: the output bits that it learns, of each instance, and what it cost.
pub type End = (Vec<Vec<u8>>, Counts);

impl Lab {
    /// The parameters that the parties compare.
    #[must_use]
    pub fn parameters(&self) -> PublicParameters {
        self.options.describe(self.config.describe(PublicParameters::new("garble lab")))
    }

    /// One party's set-up on its session.
    ///
    /// # Errors
    /// The abort of the session.
    pub fn party(&self, session: &mut Session) -> Result<Garble, Abort> {
        let setup = match self.bits {
            Bits::Dealt => divisi_ot::testing::deal(session, self.config, self.seed)?,
            Bits::Made => Setup::new(session, self.config)?,
        };
        Ok(Garble::new(session, setup, self.options))
    }

    /// One party's run of a plan, with its input bits of each instance.
    ///
    /// # Errors
    /// The abort of the session.
    pub fn play(&self, session: &mut Session, plan: &Plan<'_>, inputs: &[Vec<u8>]) -> Result<End, Abort> {
        let mut garble = self.party(session)?;
        let count = inputs.len();
        let outputs = if self.streamed {
            garble.streamed(session, plan, inputs)?
        } else {
            let wires = plan.input_bits() + plan.and_count();
            let mut made = garble.function_independent(session, count * plan.and_count(), count * wires)?;
            let garbled = garble.function_dependent(session, &mut made, plan, count)?;
            garble.online(session, garbled, inputs)?
        };
        let outputs = outputs.iter().map(|bits: &Zeroizing<Vec<u8>>| bits.to_vec()).collect();
        Ok((outputs, session.meter().read()))
    }

    /// All parties' runs, over memory links: `inputs` has the bits of all input wires of each instance.
    ///
    /// # Errors
    /// The first party's abort.
    pub fn run(&self, plan: &Plan<'_>, inputs: &[Vec<u8>]) -> Result<Vec<End>, Abort> {
        let ends = run_over(
            local::links(plan.parties()),
            |_| self.parameters(),
            |session| self.play(session, plan, &of_party(plan, session.me(), inputs)),
        );
        // the first cause says more than what it led to at the others
        local::first(ends)
    }
}

/// A party's bits among those of all input wires.
#[must_use]
pub fn of_party(plan: &Plan<'_>, party: PartyId, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let wires: Vec<usize> = plan.wires_of(party).collect();
    inputs.iter().map(|bits| wires.iter().map(|wire| bits[*wire]).collect()).collect()
}

/// Run `f` at each party, over these meshes; the results in the parties' order.
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
