//! Known answers by authenticated garbling: the instances of one circuit are garbled together, all circuits in
//! one session.

use super::garbling::Garbling;
use crate::{Garble, Plan, SETUP_PHASE};
use divisi_circuit::Program;
use divisi_core::{Abort, PartyId, PublicParameters, Session, Step, step};
use divisi_engine::Own;
use divisi_engine::known::circuits::{Evaluates, Evaluator};
use divisi_ot::Setup;
use zeroize::Zeroizing;

const KNOWN: Step = step!("known");

/// The largest number of ANDs that are garbled together, unless one instance has more.
const TOGETHER: usize = 1 << 19;

impl Evaluates for Garbling {
    type Evaluator = Learner;

    const ENGINE: &'static str = "garble";

    fn parties(&self) -> usize {
        self.parties
    }

    fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        Garbling::describe(self, parameters)
    }

    fn start(&self, mut session: Session) -> Result<Learner, Abort> {
        session.phase(SETUP_PHASE);
        let setup = Setup::new(&mut session, self.config)?;
        let garble = Garble::new(&session, setup, self.options);
        Ok(Learner { garbling: *self, session, garble })
    }
}

/// One party, which learns all outputs.
pub struct Learner {
    garbling: Garbling,
    session: Session,
    garble: Garble,
}

impl Evaluator for Learner {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// As many instances together as [`TOGETHER`] allows; those whose tables exceed the budget are streamed.
    fn evaluate(
        &mut self,
        program: &Program,
        owners: &[PartyId],
        count: usize,
        own: &[u8],
    ) -> Result<Own, Abort> {
        let Learner { garbling, session, garble } = self;
        let misfit = || Abort::Misuse { step: KNOWN, what: "a circuit that cannot be garbled" };
        let all: Vec<PartyId> = PartyId::all(garbling.parties).collect();
        let streamed = Garbling { streamed: true, ..*garbling };
        let plan: Plan<'_> = streamed.plan(program, owners, &all, 1).map_err(|_| misfit())?;
        let width = plan.wires_of(session.me()).count();
        let mut outputs = Own::default();
        let most = (TOGETHER / plan.and_count().max(1)).max(1);
        for first in (0..count).step_by(most) {
            let count = most.min(count - first);
            let inputs = (first..first + count)
                .map(|i| own.get(i * width..(i + 1) * width).unwrap_or_default().to_vec());
            let inputs: Zeroizing<Vec<Vec<u8>>> = Zeroizing::new(inputs.collect());
            let learned = if garbling.options.admit(&plan, garbling.config.rho, count).is_err() {
                garble.streamed(session, &plan, &inputs)?
            } else {
                let (ands, wires) = (count * plan.and_count(), count * plan.wires());
                let mut made = garble.function_independent(session, ands, wires)?;
                let garbled = garble.function_dependent(session, &mut made, &plan, count)?;
                garble.online(session, garbled, &inputs)?
            };
            learned.iter().for_each(|bits| outputs.extend_from_slice(bits));
        }
        Ok(outputs)
    }
}
