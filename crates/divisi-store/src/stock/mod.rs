//! Preprocessing that outlives the process that made it: one party's part, encrypted, each value used once.
//!
//! A stock is a directory: `head` describes it and holds the secret that its values are bound to (alpha),
//! `state` says how much of it is used, and each lot of values has a file. All files are encrypted under a
//! key file ([`SealKey`]) and, except the head, under a secret in the head. Each file is bound to its party
//! and name: a file that was altered, truncated or put in another's place cannot be decrypted.
//!
//! **Once.** Values are taken by a durable change of `state` before they are used ([`Reserve::take`]); a lot
//! whose values are all taken is overwritten and removed. Values that a process took and did not use are
//! lost. A directory that was restored from an older copy would give out values twice, which no party can
//! notice alone: the parties compare how much each of them has used ([`Reserve::begin`]), and refuse one that
//! is behind without having been interrupted.
//!
//! **Alpha.** While a check is in progress whose failure would reveal alpha, `state` says so
//! ([`Reserve::risk`]). If the process dies then, the next process destroys the stock; if it dies at any
//! other time, the remaining values can be used. An abort destroys the stock at once ([`Reserve::destroy`]).

mod error;
mod files;
#[cfg(test)]
mod fuzz;
mod info;
mod seal;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod tests_of_contents;
#[cfg(test)]
mod tests_of_ends;
#[cfg(test)]
mod tests_of_keys;

pub use error::StockError;
pub use files::{forget, look};
pub use info::{Count, Series, StockInfo, StockState};
pub use seal::SealKey;

use crate::disk::{Disk, MachineDisk};
use files::{
    GONE, HEAD, LONGEST, NEW, STATE, context, erase, file_name, is_over, load, lock, private, read, too_long,
    wipe,
};
use info::Head;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// The source of fresh random bytes: a session's, or the machine's.
pub type Entropy = Box<dyn Fn(&mut [u8]) + Send + Sync>;

/// One party's part of a stock. No other process has it at the same time.
pub struct Reserve {
    dir: PathBuf,
    disk: Box<dyn Disk>,
    key: SealKey,
    entropy: Entropy,
    info: StockInfo,
    secret: Zeroizing<Vec<u8>>,
    wrap: Zeroizing<[u8; 32]>,
    state: Mutex<StockState>,
    /// Whether it was destroyed.
    gone: AtomicBool,
    _lock: Option<File>,
}

impl Reserve {
    /// Make a new, empty stock in a directory of this machine that has no stock, or one that is used up or
    /// destroyed.
    ///
    /// # Errors
    /// [`StockError::Exists`] if the directory has a stock that is not used up; [`StockError::InUse`] if
    /// another process uses it; otherwise if a file cannot be read or written.
    pub fn create(
        dir: &Path,
        key: SealKey,
        entropy: Entropy,
        info: StockInfo,
        secret: Zeroizing<Vec<u8>>,
    ) -> Result<Reserve, StockError> {
        MachineDisk.make_dir(dir).map_err(|e| StockError::Io(dir.into(), e))?;
        let held = lock(dir)?;
        if dir.join(STATE).exists() && !is_over(dir, &key)? {
            return Err(StockError::Exists(dir.into()));
        }
        erase(&MachineDisk, dir)?;
        let reserve = Reserve::create_on(Box::new(MachineDisk), dir, key, entropy, info, secret)?;
        Ok(Reserve { _lock: Some(held), ..reserve })
    }

    /// The same on any disk, in a directory that is there and has no stock.
    ///
    /// # Errors
    /// [`StockError::Io`] if a file cannot be written.
    pub fn create_on(
        disk: Box<dyn Disk>,
        dir: &Path,
        key: SealKey,
        entropy: Entropy,
        info: StockInfo,
        secret: Zeroizing<Vec<u8>>,
    ) -> Result<Reserve, StockError> {
        let counts = vec![Count::default(); info.series.len()];
        let state = StockState { counts, open: true, at_risk: false };
        let mut body = Zeroizing::new(vec![0; LONGEST - seal::OVERHEAD]);
        let mut wrap = Zeroizing::new([0; 32]);
        entropy(wrap.as_mut_slice());
        let head = Head { info, secret: secret.to_vec(), wrap: *wrap };
        let len = postcard::to_slice(&head, &mut body).map_err(|_| too_long(dir))?.len();
        let info = head.info.clone();
        let (dir, state, gone) = (dir.into(), Mutex::new(state), AtomicBool::new(false));
        let reserve = Reserve { dir, disk, key, entropy, info, secret, wrap, state, gone, _lock: None };
        reserve.write(HEAD, &context(&[], &[], HEAD), body.get(..len).unwrap_or_default())?;
        reserve.store(&reserve.state())?;
        Ok(reserve)
    }

    /// Open the stock in a directory of this machine, for party `party`.
    ///
    /// # Errors
    /// If there is no stock, another process uses it, it belongs to another party, or a file of it cannot be
    /// used; [`StockError::Destroyed`] if it was destroyed, also by this call because a process died during a
    /// check that could reveal alpha.
    pub fn open(dir: &Path, key: SealKey, entropy: Entropy, party: u8) -> Result<Reserve, StockError> {
        if !dir.is_dir() {
            return Err(StockError::Missing(dir.into()));
        }
        private(dir)?;
        let held = lock(dir)?;
        let reserve = Reserve::open_on(Box::new(MachineDisk), dir, key, entropy, party)?;
        Ok(Reserve { _lock: Some(held), ..reserve })
    }

    /// The same on any disk.
    ///
    /// # Errors
    /// Those of [`Reserve::open`].
    pub fn open_on(
        disk: Box<dyn Disk>,
        dir: &Path,
        key: SealKey,
        entropy: Entropy,
        party: u8,
    ) -> Result<Reserve, StockError> {
        let (mut head, state) = read(&*disk, dir, &key)?;
        if head.info.party != party {
            return Err(StockError::OtherParty(dir.into(), head.info.party));
        }
        let secret = Zeroizing::new(std::mem::take(&mut head.secret));
        let (info, wrap) = (head.info.clone(), Zeroizing::new(head.wrap));
        let (at_risk, state, gone) = (state.at_risk, Mutex::new(state), AtomicBool::new(false));
        let reserve =
            Reserve { dir: dir.into(), disk, key, entropy, info, secret, wrap, state, gone, _lock: None };
        if at_risk {
            reserve.destroy()?;
            return Err(StockError::Destroyed(dir.into()));
        }
        Ok(reserve)
    }

    /// Its public data.
    #[must_use]
    pub fn info(&self) -> &StockInfo {
        &self.info
    }

    /// The secret to which its values are bound: alpha.
    #[must_use]
    pub fn secret(&self) -> &Zeroizing<Vec<u8>> {
        &self.secret
    }

    /// How much of it is used.
    #[must_use]
    pub fn state(&self) -> StockState {
        self.guard().clone()
    }

    /// Durably record that a session begins whose parties agreed on these counts: no value that any of them
    /// has taken is taken again.
    ///
    /// # Errors
    /// [`StockError::Io`] if the state cannot be written; [`StockError::Destroyed`] if the stock was
    /// destroyed.
    pub fn begin(&self, counts: &[Count]) -> Result<(), StockError> {
        let mut state = self.guard();
        let next = StockState { counts: counts.to_vec(), open: true, at_risk: false };
        self.store(&next)?;
        *state = next;
        Ok(())
    }

    /// Durably store the next lot of a series, which has `count` values.
    ///
    /// # Errors
    /// [`StockError::Io`] if a file cannot be written; the lot is not stored then.
    pub fn put(&self, series: usize, count: u64, body: &[u8]) -> Result<(), StockError> {
        let mut state = self.guard();
        let (name, lot) = self.lot_of(series, state.counts.get(series).map_or(0, |count| count.made))?;
        let name = file_name(name, lot);
        if let Err(e) = self.write(&name, &context(self.wrap.as_slice(), &[self.info.party], &name), body) {
            // if there was no room for the whole file, free the room that it took
            let _ = wipe(&*self.disk, &self.dir.join(&name), body.len() + seal::OVERHEAD);
            return Err(e);
        }
        let mut next = state.clone();
        if let Some(of) = next.counts.get_mut(series) {
            of.made = of.made.saturating_add(count);
        }
        self.store(&next)?;
        *state = next;
        Ok(())
    }

    /// Take the next `count` values of a series; returns their positions, counted from the first value of the
    /// series. The state records this durably before this returns, so that the values are never given out
    /// again, whatever fails.
    ///
    /// # Errors
    /// [`StockError::UsedUp`] if fewer values are left; [`StockError::Io`] if the state cannot be written.
    /// Nothing is taken then.
    pub fn take(&self, series: usize, count: u64) -> Result<Range<u64>, StockError> {
        let mut state = self.guard();
        let used_up = |left| self.used_up(self.name_of(series), count, left);
        let of = state.counts.get(series).copied().ok_or_else(|| used_up(0))?;
        if of.left() < count {
            return Err(used_up(of.left()));
        }
        let range = of.taken..of.taken + count;
        let mut next = StockState { open: true, ..state.clone() };
        if let Some(of) = next.counts.get_mut(series) {
            of.taken = range.end;
        }
        self.store(&next)?;
        *state = next;
        Ok(range)
    }

    /// The body of a lot.
    ///
    /// # Errors
    /// If the lot's file is missing or cannot be decrypted.
    pub fn lot(&self, series: usize, lot: u64) -> Result<Zeroizing<Vec<u8>>, StockError> {
        let longest = self.info.series.get(series).map_or(0, |series| series.longest);
        let longest = usize::try_from(longest).unwrap_or(usize::MAX - seal::OVERHEAD);
        let name = file_name(&self.name_of(series), lot);
        let path = self.dir.join(&name);
        let bytes = load(&*self.disk, &path, longest + seal::OVERHEAD)?;
        let bytes = bytes.ok_or_else(|| StockError::Damaged(path.clone(), "it is missing"))?;
        self.key.open(&path, &context(self.wrap.as_slice(), &[self.info.party], &name), bytes)
    }

    /// Overwrite and remove a lot whose values are all taken.
    ///
    /// # Errors
    /// [`StockError::Io`] if the file cannot be overwritten or removed.
    pub fn wipe(&self, series: usize, lot: u64) -> Result<(), StockError> {
        let longest = self.info.series.get(series).map_or(0, |series| series.longest);
        let path = self.dir.join(file_name(&self.name_of(series), lot));
        wipe(&*self.disk, &path, usize::try_from(longest).unwrap_or(0) + seal::OVERHEAD)
    }

    /// Record whether a check is in progress whose failure would reveal alpha, so that if this process ends,
    /// somebody may know alpha. The record of `true` is durable when this returns; that of `false` outlives
    /// the process, but perhaps not a crash of the machine.
    ///
    /// # Errors
    /// [`StockError::Io`] if the state cannot be written; [`StockError::Destroyed`] if the stock was
    /// destroyed.
    pub fn risk(&self, at_risk: bool) -> Result<(), StockError> {
        let mut state = self.guard();
        let next = StockState { at_risk, ..state.clone() };
        if at_risk {
            self.store(&next)?
        } else {
            self.note(&next)?
        };
        *state = next;
        Ok(())
    }

    /// Durably record that all values that were taken were used and that nothing went wrong: a process that
    /// dies before it takes more values was not interrupted. This does nothing to a stock that is at risk or
    /// destroyed.
    ///
    /// # Errors
    /// [`StockError::Io`] if the state cannot be written.
    pub fn close(&self) -> Result<(), StockError> {
        let mut state = self.guard();
        if state.at_risk || self.gone.load(Ordering::SeqCst) {
            return Ok(());
        }
        let next = StockState { open: false, ..state.clone() };
        self.store(&next)?;
        *state = next;
        Ok(())
    }

    /// Destroy the stock: the head, which holds alpha, is overwritten and removed, then the other files are
    /// removed, which nobody can decrypt without it. A file remains that says that a stock was destroyed.
    ///
    /// # Errors
    /// [`StockError::Io`] if a file cannot be removed or written; everything else was tried then.
    pub fn destroy(&self) -> Result<(), StockError> {
        let _state = self.guard();
        self.gone.store(true, Ordering::SeqCst);
        let done = erase(&*self.disk, &self.dir);
        let path = self.dir.join(GONE);
        let mark = self.disk.write(&path, b"").and_then(|()| self.disk.sync(&path));
        let mark = mark.and_then(|()| self.disk.sync_dir(&self.dir));
        done.and(mark.map_err(|e| StockError::Io(path, e)))
    }

    /// The error of a stock of which too little is left: the name of a series, and how many values were
    /// wanted and are left.
    #[must_use]
    pub fn used_up(&self, series: String, wanted: u64, left: u64) -> StockError {
        StockError::UsedUp(self.dir.clone(), series, wanted, left, self.again())
    }

    /// The command that makes another stock like this one.
    fn again(&self) -> String {
        let StockInfo { protocol, blocks, parties, .. } = &self.info;
        let out = self.dir.parent().unwrap_or(&self.dir).display();
        // the name in the files of stocks of bit products is older than that on the command line
        let protocol = if protocol == "and" { "bit-products" } else { protocol.as_str() };
        format!("divisi prep make --protocol {protocol} --blocks {blocks} --parties {parties} --out {out}")
    }

    fn name_of(&self, series: usize) -> String {
        self.info.series.get(series).map_or_else(String::new, |series| series.name.clone())
    }

    /// The lot that begins with this value of a series.
    fn lot_of(&self, series: usize, value: u64) -> Result<(&str, u64), StockError> {
        let of = self.info.series.get(series).ok_or_else(|| too_long(&self.dir))?;
        Ok((&of.name, value.checked_div(of.lot).unwrap_or(0)))
    }

    /// Durably write a sealed file. An old file that it replaces need not be wiped, because it has no
    /// secrets.
    fn write(&self, name: &str, context: &[&[u8]], body: &[u8]) -> Result<(), StockError> {
        let path = self.dir.join(name);
        let bytes = self.sealed(context, body)?;
        let write = || {
            self.disk.write(&path, &bytes)?;
            self.disk.sync(&path)?;
            self.disk.sync_dir(&self.dir)
        };
        write().map_err(|e| StockError::Io(path.clone(), e))
    }

    fn sealed(&self, context: &[&[u8]], body: &[u8]) -> Result<Vec<u8>, StockError> {
        let mut salt = [0; 32];
        (self.entropy)(&mut salt);
        self.key.seal(&salt, context, body).ok_or_else(|| too_long(&self.dir))
    }

    /// Replace the state in one step, without waiting for the disk.
    fn note(&self, state: &StockState) -> Result<(), StockError> {
        self.replace(state, false)
    }

    /// Replace the state in one step, durably.
    fn store(&self, state: &StockState) -> Result<(), StockError> {
        self.replace(state, true)
    }

    fn replace(&self, state: &StockState, durably: bool) -> Result<(), StockError> {
        if self.gone.load(Ordering::SeqCst) {
            return Err(StockError::Destroyed(self.dir.clone()));
        }
        let body = postcard::to_allocvec(state).map_err(|_| too_long(&self.dir))?;
        let bytes = self.sealed(&context(self.wrap.as_slice(), &[self.info.party], STATE), &body)?;
        let [path, new] = [STATE, NEW].map(|name| self.dir.join(name));
        let replace = || {
            self.disk.write(&new, &bytes)?;
            if durably {
                self.disk.sync(&new)?;
            }
            self.disk.rename(&new, &path)?;
            if durably { self.disk.sync_dir(&self.dir) } else { Ok(()) }
        };
        replace().map_err(|e| StockError::Io(path.clone(), e))
    }

    fn guard(&self) -> MutexGuard<'_, StockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
