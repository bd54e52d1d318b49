//! A party's own end: it takes orders on standard input and reports on standard output.

use super::frame::{decode, encode, read_frame, unheard, write_frame};
use crate::failure::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufReader};
use std::sync::mpsc::{Receiver, channel};

/// A party's own end of the pipes.
pub struct Pipes {
    orders: Receiver<Vec<u8>>,
}

impl Pipes {
    /// Take over standard input. From now on the process ends when it ends, whatever it is doing then.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn take() -> Result<Self, Failure> {
        die_with_parent();
        let (give, orders) = channel();
        let read = move || {
            let mut input = BufReader::new(io::stdin());
            while let Ok(frame) = read_frame(&mut input) {
                if give.send(frame).is_err() {
                    break;
                }
            }
            std::process::exit(0)
        };
        let thread = std::thread::Builder::new().name("orders".into()).spawn(read);
        thread.map_err(|e| Failure::unavailable(format!("no thread can be started ({e}): try again")))?;
        Ok(Pipes { orders })
    }

    /// The next bytes from the process that started us.
    ///
    /// # Errors
    /// If it is gone.
    pub fn bytes(&self) -> Result<Vec<u8>, Failure> {
        self.orders.recv().map_err(|_| {
            Failure::unavailable("the process that gives the orders is gone: start the command again")
        })
    }

    /// The next order.
    ///
    /// # Errors
    /// If there is none, or it is another.
    pub fn order<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        decode(&self.bytes()?)
    }

    /// Report.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub fn report<T: Serialize>(&self, report: Result<T, Failure>) -> Result<(), Failure> {
        self.raw(&encode(&report)?)
    }

    /// Send bytes that are expected.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub fn raw(&self, body: &[u8]) -> Result<(), Failure> {
        write_frame(&mut io::stdout().lock(), body).map_err(unheard)
    }
}

#[cfg(target_os = "linux")]
fn die_with_parent() {
    // Without it the end of standard input still ends us.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() {}
