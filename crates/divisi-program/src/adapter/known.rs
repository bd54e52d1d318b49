//! Known answers by GMW: the instances of one circuit side by side.

use super::manner::Manner;
use super::values::{evaluate, learn_all};
use super::{ONLINE, SETUP};
use divisi_circuit::Program;
use divisi_core::{Abort, PartyId, PublicParameters, Session};
use divisi_engine::Own;
use divisi_engine::known::circuits::{Evaluates, Evaluator};
use divisi_mixed::Gmw;

impl Evaluates for Manner {
    type Evaluator = Learner;

    const ENGINE: &'static str = "mixed";

    fn parties(&self) -> usize {
        self.parties
    }

    fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        Manner::describe(self, parameters)
    }

    fn start(&self, mut session: Session) -> Result<Learner, Abort> {
        session.phase(SETUP);
        let mut gmw = Gmw::new(session, self.config)?;
        gmw.session().phase(ONLINE);
        Ok(Learner { parties: self.parties, gmw })
    }
}

/// One party, which learns all outputs.
pub struct Learner {
    parties: usize,
    gmw: Gmw,
}

impl Evaluator for Learner {
    fn session(&mut self) -> &mut Session {
        self.gmw.session()
    }

    fn evaluate(
        &mut self,
        program: &Program,
        owners: &[PartyId],
        count: usize,
        own: &[u8],
    ) -> Result<Own, Abort> {
        let owner = |(width, owner): (&usize, &PartyId)| std::iter::repeat_n(*owner, *width);
        let wires: Vec<PartyId> = program.inputs().iter().zip(owners).flat_map(owner).collect();
        let outputs = evaluate(&mut self.gmw, program, &wires, count, own)?;
        let all: Vec<PartyId> = PartyId::all(self.parties).collect();
        learn_all(&mut self.gmw, &all, count, &outputs)
    }
}
