//! Ctrl-C during a call: the call is without the interpreter's lock, so that nothing of Python would notice.

use divisi_net::Interrupt;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The exception that a handler of signals raised while a call waited: `KeyboardInterrupt` for Ctrl-C, unless
/// the program has a handler of its own.
#[derive(Clone, Default)]
pub struct Caught(Arc<Mutex<Option<PyErr>>>);

impl Caught {
    /// An interrupt that runs the handlers of signals that have come. Python runs them in its main thread
    /// alone; elsewhere nothing is interrupted.
    pub fn interrupt(&self) -> Interrupt {
        let caught = self.clone();
        Interrupt::new(move || {
            // an interpreter that ends waits for nothing
            Python::try_attach(|py| match py.check_signals() {
                Ok(()) => false,
                Err(error) => {
                    caught.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    true
                }
            })
            .unwrap_or(true)
        })
    }

    /// The exception, if one was raised.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
