//! What an engine garbles in idle time, and what takes it.

use super::ahead::Ahead;
use super::shelf::Calls;
use crate::engine::Rep3;
use divisi_core::{Abort, ProgramRun, Step, step};

const FORESEE: Step = step!("foresee");

impl Rep3 {
    /// From now on keep up to so many bytes of calls that are garbled ahead, in [`Rep3::restock`], for
    /// programs like those that ran in constant rounds before: a run of one program takes one that waits.
    /// With 0 none is kept, which is so at first. All three parties at the same place.
    pub fn stock_calls(&mut self, bytes: usize) {
        self.calls = Calls::bounded(bytes);
    }

    /// Have [`Rep3::restock`] garble for what `f` runs, and for nothing that ran before: its programs are
    /// noted and come out as zeros that are worth nothing. For what runs programs in constant rounds and is
    /// linear beside them: then nothing is sent.
    ///
    /// # Errors
    /// Those of `f`; [`Abort::Misuse`] if it makes products.
    pub fn foresee(&mut self, f: impl FnOnce(&mut Self) -> Result<(), Abort>) -> Result<(), Abort> {
        let (before, owed) = (std::mem::replace(&mut self.calls.foreseeing, true), self.owes());
        self.calls.want_nothing();
        let result = f(self);
        self.calls.foreseeing = before;
        result?;
        if self.owes() != owed {
            return Err(self.trio().session().misuse(FORESEE, "products of programs that are only foreseen"));
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
