//! A party's end of the pipes: it takes orders on standard input and reports on standard output.

use super::PREFIX;
use super::frame::{decode, encode, no_listener, read_frame, write_frame};
use crate::cleanup::lock;
use crate::failure::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

/// A party's end of the pipes.
pub struct Pipes {
    /// Locked by the thread that takes orders; reports need no lock.
    orders: Mutex<Receiver<Vec<u8>>>,
    folder: Arc<Mutex<Option<PathBuf>>>,
}

impl Pipes {
    /// Take over standard input. From now on the process ends at the end of standard input, whatever it is
    /// doing.
    ///
    /// # Errors
    /// [`Failure`] if a thread cannot be started.
    pub fn take() -> Result<Self, Failure> {
        // Ctrl-C goes to all processes of the terminal. It is meant for the process that started this one,
        // which then ends this one.
        let ignored =
            signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)));
        ignored.map_err(|e| Failure::unavailable(format!("signals cannot be handled ({e}): try again")))?;
        let (give, orders) = channel();
        let folder: Arc<Mutex<Option<PathBuf>>> = Arc::default();
        let left = Arc::clone(&folder);
        let read = move || {
            let mut input = BufReader::new(io::stdin());
            while let Ok(frame) = read_frame(&mut input) {
                if give.send(frame).is_err() {
                    break;
                }
            }
            // The process that started this one has no more orders, or was killed; if it was killed, nobody
            // else removes the directory.
            if let Some(folder) = lock(&left).take() {
                let _ = std::fs::remove_dir_all(folder);
            }
            std::process::exit(0)
        };
        let thread = std::thread::Builder::new().name("orders".into()).spawn(read);
        thread.map_err(|e| Failure::unavailable(format!("no thread can be started ({e}): try again")))?;
        Ok(Pipes { orders: Mutex::new(orders), folder })
    }

    /// Remove this directory of [`super::PrivateDir`] when the orders end.
    pub fn leave_no(&self, folder: &Path) {
        let ours =
            folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
        *lock(&self.folder) = ours.then(|| folder.to_owned());
    }

    /// The next bytes from the process that started this one.
    ///
    /// # Errors
    /// [`Failure`] if that process has ended.
    pub fn bytes(&self) -> Result<Vec<u8>, Failure> {
        lock(&self.orders).recv().map_err(|_| {
            Failure::unavailable("the process that started this party has ended: start the command again")
        })
    }

    /// The next order.
    ///
    /// # Errors
    /// [`Failure`] if there is no order, or one of another type.
    pub fn order<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        decode(&self.bytes()?)
    }

    /// Send a report.
    ///
    /// # Errors
    /// [`Failure`] if no process reads it any more.
    pub fn report<T: Serialize>(&self, report: Result<T, Failure>) -> Result<(), Failure> {
        self.raw(&encode(&report)?)
    }

    /// Send bytes that the other process expects.
    ///
    /// # Errors
    /// [`Failure`] if no process reads them any more.
    pub fn raw(&self, body: &[u8]) -> Result<(), Failure> {
        write_frame(&mut io::stdout().lock(), body).map_err(no_listener)
    }
}
