//! Garbling in idle time, and the use of what was garbled.

use super::{Account, Rep3};
use crate::bit::Bit;
use crate::garbled::ahead::Ahead;
use crate::garbled::stock::{CallStock, Run, Wanted};
use divisi_core::{Abort, Misuse, ProgramRun, Step, step};

const FORESEE: Step = step!("foresee");
const KEY: Step = step!("key");

impl Rep3 {
    /// Let [`Rep3::restock`] keep up to `bytes` bytes of calls garbled ahead, for programs like those that
    /// last ran in constant rounds. A later run takes a call for each of its programs if all are there: then
    /// all of them run in two one-way messages. The default is 0, with which none is kept. All three parties
    /// call this at the same place.
    pub fn stock_calls(&mut self, bytes: usize) {
        let account = std::mem::take(&mut self.calls.account);
        self.calls = CallStock::bounded(bytes);
        self.calls.account = account;
    }

    /// Note for whom later calls are. [`Rep3::restock`] returns for whom the calls were in whose place it
    /// makes something, so that they can be charged for it. Local, and without any effect on what is made.
    pub fn use_account(&mut self, account: Account) {
        self.calls.account = account;
    }

    /// State that the first wires of programs with [`ProgramRun::keeping`] hold the bits that the key of this
    /// name gives, or, with `None`, bits of no named key. [`Rep3::restock`] then garbles for this key, and
    /// sends labels of these wires ahead, too, so that 96 bytes for each bit need not be sent when the
    /// program runs. The name is public, agreed on by all, and stands for the same bits until
    /// [`Rep3::forget_key`]: with other bits the session ends. All three parties call this at the same place.
    pub fn use_key(&mut self, name: Option<[u8; 32]>) {
        self.calls.key = name;
    }

    /// Wipe the calls that were garbled for a key, and the shares kept for garbling more. All three parties
    /// call this at the same place.
    pub fn forget_key(&mut self, name: &[u8; 32]) {
        self.calls.forget(name);
    }

    /// Let [`Rep3::restock`] garble for the programs that `f` runs, and for none that ran before. The
    /// programs are noted and not run: what they return, and all that `f` makes of it, is no value and
    /// belongs to no engine, so that using it later ends the session. `f` must be linear apart from programs
    /// in constant rounds; nothing is sent.
    ///
    /// # Errors
    /// The errors of `f`; [`Abort::Misuse`] if it makes products that a verification is owed for.
    pub fn foresee(&mut self, f: impl FnOnce(&mut Self) -> Result<(), Abort>) -> Result<(), Abort> {
        let (before, owed) = (std::mem::replace(&mut self.trio.foreseeing, true), self.owes());
        self.calls.want_nothing();
        let result = f(self);
        self.trio.foreseeing = before;
        result?;
        if self.owes() != owed {
            return Err(self.trio().session().misuse(FORESEE, Misuse::Foreseeing));
        }
        Ok(())
    }

    /// Whether programs are only noted at present; if so, these are noted.
    pub(super) fn foresees(&mut self, jobs: &[ProgramRun<'_, Bit>], lanes: &[usize]) -> bool {
        if self.trio.foreseeing {
            for (job, lanes) in jobs.iter().zip(lanes) {
                self.calls.note(&Run::new(job.program, *lanes, None, &[]), None, 1);
            }
        }
        self.trio.foreseeing
    }

    /// The stocked calls for the programs of a run, one for each; `None` if there is not one for each.
    pub(super) fn take_calls(
        &mut self,
        jobs: &[ProgramRun<'_, Bit>],
        lanes: &[usize],
    ) -> Result<Option<Vec<Ahead>>, Abort> {
        let key = self.calls.key;
        let mut runs = Vec::with_capacity(jobs.len());
        for (job, lanes) in jobs.iter().zip(lanes) {
            runs.push(Run::new(job.program, *lanes, key, job.wires.get(..job.kept).unwrap_or_default()));
        }
        let taken = self.calls.take(&runs);
        taken.map_err(|_| self.trio().session().misuse(KEY, Misuse::NameReused))
    }

    /// Garble one call of those that are wanted; returns for whom.
    pub(crate) fn restock_calls(&mut self) -> Result<Option<Account>, Abort> {
        let Some(Wanted { at, program, lanes, kept, account }) = self.calls.wanted() else {
            return Ok(None);
        };
        let place = self.trio().session().detour("preprocessing");
        let call = self.garble_program_ahead(program, lanes, &kept);
        self.trio().session().back(place);
        self.calls.put(at, call?);
        Ok(Some(account))
    }
}
