//! Garbling in idle time, and the use of what was garbled.

use super::ahead::Ahead;
use super::shelf::Calls;
use crate::engine::Rep3;
use divisi_core::{Abort, ProgramRun, Step, step};

const FORESEE: Step = step!("foresee");

impl Rep3 {
    /// Let [`Rep3::restock`] keep up to `bytes` bytes of calls garbled ahead, for programs like those that
    /// last ran in constant rounds: a later run of one such program uses one of them. The default is 0, with
    /// which none is kept. All three parties call this at the same place.
    pub fn stock_calls(&mut self, bytes: usize) {
        self.calls = Calls::bounded(bytes);
    }

    /// Let [`Rep3::restock`] garble for the programs that `f` runs, and for none that ran before. The
    /// programs are noted and return zeros of no meaning. `f` must be linear apart from programs in constant
    /// rounds; nothing is sent.
    ///
    /// # Errors
    /// The errors of `f`; [`Abort::Misuse`] if it makes products.
    pub fn foresee(&mut self, f: impl FnOnce(&mut Self) -> Result<(), Abort>) -> Result<(), Abort> {
        let (before, owed) = (std::mem::replace(&mut self.calls.foreseeing, true), self.owes());
        self.calls.want_nothing();
        let result = f(self);
        self.calls.foreseeing = before;
        result?;
        if self.owes() != owed {
            return Err(self
                .trio()
                .session()
                .misuse(FORESEE, "products made while programs are only foreseen"));
        }
        Ok(())
    }

    /// Whether programs are only noted now; if so these are.
    pub(super) fn foresees<B>(&mut self, jobs: &[ProgramRun<'_, B>], lanes: &[usize]) -> bool {
        if self.calls.foreseeing
            && let ([job], [lanes]) = (jobs, lanes)
        {
            self.calls.note(job.program, *lanes);
        }
        self.calls.foreseeing
    }

    /// A call that waits for the only program of a run.
    pub(super) fn take_call<B>(&mut self, jobs: &[ProgramRun<'_, B>], lanes: &[usize]) -> Option<Ahead> {
        let ([job], [lanes]) = (jobs, lanes) else { return None };
        self.calls.take(job.program, *lanes)
    }

    /// Garble one call of those that are wanted.
    pub(crate) fn restock_calls(&mut self) -> Result<(), Abort> {
        let Some((at, program, lanes)) = self.calls.wanted() else { return Ok(()) };
        let place = self.trio().session().detour("preprocessing");
        let call = self.garble_program_ahead(program, lanes, &[]);
        self.trio().session().back(place);
        self.calls.put(at, call?);
        Ok(())
    }
}
