//! A circuit among three parties: inputs of any party, outputs to chosen ones, by
//! [`crate::circuit`].

use super::OUTPUTS;
use super::strands::{ONLINE, VERIFICATION};
use crate::circuit::OwnedCircuit;
use crate::close;
use divisi_circuit::Program;
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_engine::job::{self, Own};
use divisi_engine::{BenchSchedule, Differ, EngineParty, Prepared, Rows, Watch, timed};
use divisi_rep3::{Protocol, Rep3, Rounds, Security, Trio};

/// The parties of the engine.
const PARTIES: usize = 3;

/// A circuit with its owners and receivers, and the settings: the data on which all parties must agree.
pub(super) struct Task<'j> {
    pub job: &'j job::CircuitJob,
    pub program: &'j Program,
    /// A digest of the circuit.
    pub digest: [u8; 32],
    pub owners: &'j [PartyId],
    pub security: Security,
    pub rounds: Rounds,
}

impl Prepared for Task<'_> {
    fn parties(&self) -> usize {
        PARTIES
    }

    fn parameters(&self, _: usize) -> PublicParameters {
        let numbers = |parties: &[PartyId]| parties.iter().map(|party| party.number()).collect::<Vec<u8>>();
        let parameters =
            PublicParameters::new("run").with("circuit", &self.digest).with("owners", &numbers(self.owners));
        self.job
            .describe_receivers(parameters)
            .with("security", self.security.name().as_bytes())
            .with("rounds", format!("{:?}", self.rounds).as_bytes())
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch: 1, warmup: (warmup, 1), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.job.owned(PARTIES, inputs)
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        self.job.learned(count, &outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        let circuit =
            OwnedCircuit::with_receivers(self.program, &self.digest, self.owners, self.job.receivers())?;
        let mut rep = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, self.security);
        rep.use_rounds(self.rounds);
        Ok(Box::new(Owner { circuit, rep }))
    }
}

/// One party, whose inputs are its own.
struct Owner<'p> {
    circuit: OwnedCircuit<'p>,
    rep: Rep3,
}

impl EngineParty for Owner<'_> {
    /// `own` has this party's input wires, value after value, one to a byte. The outputs have the same form:
    /// the wires of the values that this party learns.
    fn batch(&mut self, _: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let rep = &mut self.rep;
        let outputs = timed(watch, ONLINE, || {
            rep.trio().session().phase(ONLINE);
            self.circuit.compute(rep, own)
        })?;
        let verified = timed(watch, VERIFICATION, || {
            rep.trio().session().phase(VERIFICATION);
            close(rep, outputs)
        })?;
        rep.trio().session().phase(OUTPUTS);
        self.circuit.deliver(rep, &verified)
    }

    fn meter(&mut self) -> Counts {
        self.rep.trio().session().meter().read()
    }
}
