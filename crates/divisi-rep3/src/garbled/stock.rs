//! The stock of calls garbled in idle time, for programs like those that ran last.

use super::ahead::{self, Ahead};
use crate::account::Account;
use crate::bit::Bit;
use divisi_circuit::Program;
use divisi_core::{Step, step, taint};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

const SAME: Step = step!("same");

/// How many stocks are remembered, each of a program on so many lanes and of one key or none.
const PROGRAMS: usize = 16;

/// The calls that wait in an engine, program by program; the one that was used last is at the end. What is
/// wanted, made, used and thrown away follows from public calls, so that the parties agree on it; and each
/// call has a number, so that they end in an abort if they do not.
#[derive(Default)]
pub(crate) struct CallStock {
    /// The limit in bytes.
    budget: usize,
    /// The name of the key whose bits are the first wires of programs.
    pub(crate) key: Option<[u8; 32]>,
    /// For whom programs run at present.
    pub(crate) account: Account,
    programs: Vec<ProgramStock>,
}

struct ProgramStock {
    /// The digest of the program as it is run.
    digest: [u8; 32],
    lanes: usize,
    /// The key that its calls are bound to.
    key: Option<Key>,
    /// The program without inner constants.
    program: Arc<Program>,
    /// The bytes of one call.
    bytes: usize,
    calls: VecDeque<Ahead>,
    /// For whom each call was used or foreseen that is not replaced yet, the first one first.
    lacking: VecDeque<Account>,
}

/// A key: its name, and our shares of the bits that are the first wires of a program under it.
struct Key {
    name: [u8; 32],
    bits: Vec<Bit>,
}

impl ProgramStock {
    fn bytes(&self) -> usize {
        let kept = self.key.iter().flat_map(|key| &key.bits);
        self.calls.len() * self.bytes + kept.map(|bit| size_of_val(&bit.tiles[..])).sum::<usize>()
    }
}

/// A program that is run on so many lanes.
pub(crate) struct Run<'r> {
    program: &'r Program,
    digest: [u8; 32],
    lanes: usize,
    /// The name of a key and the first inputs, which depend on it alone; other inputs follow.
    kept: Option<([u8; 32], &'r [Bit])>,
}

impl<'r> Run<'r> {
    /// A run whose first wires, `kept`, hold bits that depend on the key of this name alone, if there is one.
    pub(crate) fn new(program: &'r Program, lanes: usize, key: Option<[u8; 32]>, kept: &'r [Bit]) -> Run<'r> {
        let some = !kept.is_empty() && kept.len() < program.input_bits();
        let kept = key.filter(|_| some).map(|name| (name, kept));
        Run { program, digest: program.digest(), lanes, kept }
    }

    fn key(&self) -> Option<[u8; 32]> {
        self.kept.map(|(name, _)| name)
    }
}

/// A call that is to be garbled next.
pub(crate) struct Wanted {
    /// The position of its stock.
    pub(crate) at: usize,
    pub(crate) program: Arc<Program>,
    pub(crate) lanes: usize,
    /// Our shares of the bits of its key.
    pub(crate) kept: Vec<Bit>,
    /// For whom the call ran that it replaces.
    pub(crate) account: Account,
}

/// A call, and what it is bound to.
struct Found {
    key: Option<[u8; 32]>,
    call: Ahead,
}

/// The name of a key stood for other bits before.
pub(crate) struct OtherBits;

impl CallStock {
    /// An empty stock that holds at most `budget` bytes.
    pub(crate) fn bounded(budget: usize) -> CallStock {
        CallStock { budget, ..CallStock::default() }
    }

    /// Want nothing: calls that were used are not made again.
    pub(crate) fn want_nothing(&mut self) {
        self.programs.iter_mut().for_each(|stock| stock.lacking.clear());
    }

    fn find(&self, run: &Run<'_>, key: Option<[u8; 32]>) -> Option<usize> {
        let is_it = |stock: &ProgramStock| {
            let name = stock.key.as_ref().map(|key| key.name);
            (stock.digest, stock.lanes, name) == (run.digest, run.lanes, key)
        };
        self.programs.iter().position(is_it)
    }

    /// Note that this program runs, and that `more` more of its calls are wanted, bound to `key` if there is
    /// one.
    pub(crate) fn note(&mut self, run: &Run<'_>, key: Option<[u8; 32]>, more: usize) {
        let mut stock = match self.find(run, key) {
            Some(at) => self.programs.remove(at),
            None => {
                let folded = match run.program.folded() {
                    Cow::Borrowed(program) => program.clone(),
                    Cow::Owned(program) => program,
                };
                let Some(bytes) = ahead::size(&folded, run.lanes).filter(|bytes| *bytes <= self.budget)
                else {
                    return;
                };
                let of_key = run.kept.filter(|_| key.is_some());
                let key = of_key.map(|(name, bits)| Key { name, bits: bits.to_vec() });
                let (program, calls, lacking) = (Arc::new(folded), VecDeque::new(), VecDeque::new());
                ProgramStock { digest: run.digest, lanes: run.lanes, key, program, bytes, calls, lacking }
            }
        };
        let most = self.budget / stock.bytes.max(1);
        stock.lacking.extend(std::iter::repeat_n(self.account.clone(), more.min(most)));
        stock.lacking.truncate(most.saturating_sub(stock.calls.len()));
        if self.programs.len() >= PROGRAMS {
            self.programs.remove(0);
        }
        self.programs.push(stock);
    }

    /// For each of these runs take the call that has waited longest among those that are bound to the run's
    /// key, or, if there is none, among those that are bound to no key. `None` unless there is a call for
    /// each run, so that all run at once. Used and missing calls are noted as wanted; they are bound to a key
    /// from its second run on, so that a key that comes once takes no room.
    ///
    /// # Errors
    /// If a key's name does not stand for the bits that it stood for before.
    pub(crate) fn take(&mut self, runs: &[Run<'_>]) -> Result<Option<Vec<Ahead>>, OtherBits> {
        if self.budget == 0 || runs.is_empty() {
            return Ok(None);
        }
        // which runs have a key under which their program ran before
        let mut again = Vec::with_capacity(runs.len());
        for run in runs {
            let at = run.kept.and_then(|(name, _)| self.find(run, Some(name)));
            let of_key = at.and_then(|at| self.programs.get(at)?.key.as_ref());
            if let (Some(key), Some((_, bits))) = (of_key, run.kept)
                && !are_same(&key.bits, bits)
            {
                return Err(OtherBits);
            }
            again.push(of_key.is_some());
        }
        let found: Vec<Option<Found>> = runs.iter().map(|run| self.pop(run)).collect();
        let all = found.iter().all(Option::is_some);
        // for each run the key to which the found call is bound, and how many more such calls are wanted
        let places: Vec<(Option<[u8; 32]>, usize)> = found
            .iter()
            .map(|found| (found.as_ref().and_then(|found| found.key), usize::from(all || found.is_none())))
            .collect();
        let taken = if all {
            Some(found.into_iter().flatten().map(|found| found.call).collect())
        } else {
            // the calls that were found go back
            for (run, found) in runs.iter().zip(found).rev() {
                let Some(Found { key, call }) = found else { continue };
                let stock = self.find(run, key).and_then(|at| self.programs.get_mut(at));
                if let Some(stock) = stock {
                    stock.calls.push_front(call);
                }
            }
            None
        };
        for ((run, again), (of, more)) in runs.iter().zip(again).zip(places) {
            match run.key() {
                Some(key) if of.is_none() => {
                    // a call that it took, or lacked in its key's first run, is bound to no key
                    self.note(run, None, if all || !again { more } else { 0 });
                    self.note(run, Some(key), if again { more } else { 0 });
                }
                key => self.note(run, key, more),
            }
        }
        Ok(taken)
    }

    /// The call for a run: the one that has waited longest, bound to its key, or else to no key.
    fn pop(&mut self, run: &Run<'_>) -> Option<Found> {
        let mut of = |key: Option<[u8; 32]>| {
            let at = self.find(run, key)?;
            Some(Found { key, call: self.programs.get_mut(at)?.calls.pop_front()? })
        };
        run.key().and_then(|name| of(Some(name))).or_else(|| of(None))
    }

    /// What to make next, for the program that was used last among those that lack calls.
    pub(crate) fn wanted(&mut self) -> Option<Wanted> {
        let at = self.programs.iter().rposition(|stock| !stock.lacking.is_empty())?;
        let stock = &self.programs[at];
        let (program, lanes, bytes) = (stock.program.clone(), stock.lanes, stock.bytes);
        // calls of programs that were used before this one make room
        while self.bytes() + bytes > self.budget {
            let Some(older) = self.programs[..at].iter_mut().find(|stock| !stock.calls.is_empty()) else {
                // beyond the budget nothing is made
                self.programs[at].lacking.clear();
                return self.wanted();
            };
            drop(older.calls.pop_front());
        }
        let stock = &mut self.programs[at];
        let account = stock.lacking.pop_front()?;
        let kept = stock.key.as_ref().map_or(Vec::new(), |key| key.bits.clone());
        Some(Wanted { at, program, lanes, kept, account })
    }

    /// Put a call that was wanted into the stock at this position.
    pub(crate) fn put(&mut self, at: usize, call: Ahead) {
        if let Some(stock) = self.programs.get_mut(at) {
            stock.calls.push_back(call);
        }
    }

    /// Wipe the calls that are bound to a key, and our shares of its bits.
    pub(crate) fn forget(&mut self, name: &[u8; 32]) {
        self.programs.retain(|stock| stock.key.as_ref().is_none_or(|key| key.name != *name));
    }

    pub(crate) fn lack(&self) -> bool {
        self.programs.iter().any(|stock| !stock.lacking.is_empty())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.programs.iter().map(ProgramStock::bytes).sum()
    }
}

/// Whether our shares of two lists of bits are equal. In constant time; only the one answer is revealed.
fn are_same(one: &[Bit], other: &[Bit]) -> bool {
    let alike = |(x, y): (&Bit, &Bit)| x.lanes == y.lanes && x.tiles.len() == y.tiles.len();
    let mut difference = 0;
    for (x, y) in one.iter().zip(other).flat_map(|(x, y)| x.tiles.iter().zip(&y.tiles)) {
        for (x, y) in x.iter().flatten().zip(y.iter().flatten()) {
            difference |= x ^ y;
        }
    }
    let same = taint::verdict(SAME, difference == 0);
    one.len() == other.len() && one.iter().zip(other).all(alike) && same
}
