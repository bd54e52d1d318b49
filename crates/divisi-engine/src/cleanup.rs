//! The register of everything that must not outlive the program, however the program ends: processes that it
//! started, and incomplete files.
//!
//! A process or file is registered when it begins, and leaves the register when it ends well. On SIGINT,
//! SIGTERM or SIGHUP a thread of its own ends or removes what is still registered, so that it does not matter
//! what the program is waiting for. If the program is killed, processes end by themselves: see
//! the crate `divisi`, `local`.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A child process that several threads share.
pub type SharedChild = Arc<Mutex<Child>>;

enum Item {
    Process(SharedChild),
    Path(PathBuf),
}

#[derive(Default)]
struct State {
    items: HashMap<u64, Item>,
    next: u64,
    /// Whether what is registered from now on ends at once.
    is_over: bool,
}

/// The register. Clones share it.
#[derive(Clone, Default)]
pub struct Cleanup(Arc<Mutex<State>>);

/// One entry of the register; dropping it ends the process, or removes the file.
pub struct Entry {
    cleanup: Cleanup,
    number: u64,
}

/// A mutex's value, also after a thread that held it has panicked.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cleanup {
    /// A register that is emptied when its owner drops the entries, and not by signals: for callers of the
    /// library that handle signals themselves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A register that SIGINT, SIGTERM and SIGHUP empty before they end the program with exit code 1.
    ///
    /// # Errors
    /// The error of the system if signals cannot be handled.
    pub fn on_signals() -> io::Result<Self> {
        let cleanup = Self::default();
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let register = cleanup.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            if signals.forever().next().is_some() {
                // The lock is held until the end, so that nothing more can be registered: a thread that tries
                // waits.
                let mut state = lock(&register.0);
                state.empty();
                let _ = writeln!(
                    io::stderr(),
                    "divisi: interrupted: all its processes and files are removed, run the command again"
                );
                std::process::exit(1)
            }
        })?;
        Ok(cleanup)
    }

    /// Register a process, which is killed if it is not over when the entry goes.
    #[must_use]
    pub fn process(&self, child: SharedChild) -> Entry {
        self.add(Item::Process(child))
    }

    /// Register a file or directory, to be removed.
    #[must_use]
    pub fn path(&self, path: &Path) -> Entry {
        self.add(Item::Path(path.to_owned()))
    }

    fn add(&self, item: Item) -> Entry {
        let mut state = lock(&self.0);
        let number = state.next;
        state.next += 1;
        if state.is_over {
            drop(state);
            end(item);
        } else {
            state.items.insert(number, item);
        }
        Entry { cleanup: self.clone(), number }
    }

    /// End and remove all that is registered, and from now on what is registered later: for a caller that
    /// handles signals itself, and lets a command that runs in another thread fail.
    pub fn end_all(&self) {
        let mut state = lock(&self.0);
        state.is_over = true;
        state.empty();
    }
}

impl State {
    /// Processes are ended first, because files that they have open can be removed afterwards.
    fn empty(&mut self) {
        let (processes, paths): (Vec<Item>, Vec<Item>) =
            self.items.drain().map(|(_, item)| item).partition(|item| matches!(item, Item::Process(_)));
        processes.into_iter().chain(paths).for_each(end);
    }
}

/// End a process, or remove a path. Errors are ignored: an item may be gone already.
fn end(item: Item) {
    match item {
        Item::Process(child) => {
            let mut child = lock(&child);
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
        Item::Path(path) if path.is_dir() => {
            let _ = std::fs::remove_dir_all(path);
        }
        Item::Path(path) => {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Entry {
    /// Leave the register: the file or process may stay.
    pub fn keep(self) {
        lock(&self.cleanup.0).items.remove(&self.number);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let item = lock(&self.cleanup.0).items.remove(&self.number);
        item.into_iter().for_each(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::thread;

    /// A process that lasts until it is ended, and that keeps nobody waiting for its output.
    fn sleeper() -> SharedChild {
        let mut sleep = Command::new("sleep");
        let sleep = sleep.arg("1000").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Arc::new(Mutex::new(sleep.spawn().unwrap()))
    }

    #[test]
    fn what_is_dropped_goes_and_what_is_kept_stays() {
        let dir = tempfile::tempdir().unwrap();
        let [kept, dropped] = ["kept", "dropped"].map(|name| dir.path().join(name));
        let cleanup = Cleanup::new();
        for path in [&kept, &dropped] {
            std::fs::write(path, "x").unwrap();
        }
        cleanup.path(&kept).keep();
        drop(cleanup.path(&dropped));
        assert!(kept.exists() && !dropped.exists());
        assert!(lock(&cleanup.0).items.is_empty());
    }

    #[test]
    fn an_interruption_ends_processes_and_removes_paths() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("file"), "x").unwrap();
        let cleanup = Cleanup::new();
        let child = sleeper();
        let _entries = [cleanup.path(&path), cleanup.process(Arc::clone(&child))];
        cleanup.end_all();
        assert!(!path.exists() && matches!(lock(&child).try_wait(), Ok(Some(_))));
        // what begins after the end does not stay either
        std::fs::write(&path, "x").unwrap();
        cleanup.path(&path).keep();
        assert!(!path.exists());
        let late = sleeper();
        cleanup.process(Arc::clone(&late)).keep();
        assert!(matches!(lock(&late).try_wait(), Ok(Some(_))));
    }

    /// A thread that panics while it holds this.
    fn panics<T>(with: impl FnOnce() -> T + Send) {
        thread::scope(|scope| {
            let end: thread::ScopedJoinHandle<'_, ()> = scope.spawn(|| {
                let _held = with();
                std::panic::resume_unwind(Box::new(()))
            });
            assert!(end.join().is_err());
        });
    }

    /// A panic takes along what the thread has registered, and keeps nobody from ending a process that the
    /// thread was about to use.
    #[test]
    fn a_panic_leaves_neither_paths_nor_processes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some");
        std::fs::write(&path, "x").unwrap();
        let (cleanup, children) = (Cleanup::new(), [sleeper(), sleeper()]);
        let [own, other] = &children;
        let held = [cleanup.path(&path), cleanup.process(Arc::clone(own))];
        panics(move || held);
        assert!(!path.exists());
        let entry = cleanup.process(Arc::clone(other));
        panics(|| lock(other));
        assert!(other.is_poisoned());
        drop(entry);
        for child in children {
            assert!(matches!(lock(&child).try_wait(), Ok(Some(_))));
        }
    }
}
