//! A circuit among three parties: inputs of any party, outputs to chosen ones, by [`crate::circuit`].

use super::{OUTPUTS, PARTIES};
use crate::circuit::OwnedCircuit;
use crate::close;
use crate::strands::{ONLINE, VERIFICATION};
use divisi_circuit::Program;
use divisi_core::{Abort, PublicParameters, Session};
use divisi_engine::evaluations::Evaluates;
use divisi_engine::job::{CircuitJob, Own};
use divisi_engine::{Unsupported, Watch, timed};
use divisi_rep3::{Protocol, Rep3, Rounds, Security, Trio};

/// The settings with which a circuit is evaluated.
pub(super) struct Circuits {
    pub security: Security,
    pub rounds: Rounds,
}

impl Evaluates for Circuits {
    /// With a digest of the circuit.
    type Plan<'c> = (&'c Program, [u8; 32]);
    type Party = Rep3;

    const ENGINE: &'static str = "rep3";

    fn parties(&self) -> usize {
        PARTIES
    }

    fn plan<'c>(&self, job: &'c CircuitJob) -> Result<(&'c Program, [u8; 32]), Unsupported> {
        Ok((job.circuit.program()?, job.circuit.digest()))
    }

    fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        parameters
            .with("security", self.security.name().as_bytes())
            .with("rounds", format!("{:?}", self.rounds).as_bytes())
    }

    fn subject(&self, job: &CircuitJob, _: &(&Program, [u8; 32])) -> PublicParameters {
        job.describe(PublicParameters::new("run"))
    }

    /// There is one evaluation at a time.
    fn parameters(&self, job: &CircuitJob, plan: &(&Program, [u8; 32]), _: usize) -> PublicParameters {
        self.describe(self.subject(job, plan))
    }

    fn batch(&self, _: &CircuitJob, _: &(&Program, [u8; 32])) -> usize {
        1
    }

    fn start(&self, session: Session, _: Option<(&CircuitJob, usize)>) -> Result<Rep3, Abort> {
        let mut rep = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, self.security);
        rep.use_rounds(self.rounds);
        Ok(rep)
    }

    fn session(rep: &mut Rep3) -> &mut Session {
        rep.trio().session()
    }

    fn evaluate(
        &self,
        rep: &mut Rep3,
        (job, (program, digest)): (&CircuitJob, &(&Program, [u8; 32])),
        _: usize,
        own: &[u8],
        watch: &mut dyn Watch,
    ) -> Result<Own, Abort> {
        let circuit = OwnedCircuit::with_receivers(program, digest, job.owners(), job.receivers())?;
        let outputs = timed(watch, ONLINE, || {
            rep.trio().session().phase(ONLINE);
            circuit.compute(rep, own)
        })?;
        let verified = timed(watch, VERIFICATION, || {
            rep.trio().session().phase(VERIFICATION);
            close(rep, outputs)
        })?;
        rep.trio().session().phase(OUTPUTS);
        circuit.deliver(rep, &verified)
    }
}
