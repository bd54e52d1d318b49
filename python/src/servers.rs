//! Three servers as threads of the interpreter's process.

use crate::raised::{of_command, usage};
use crate::waiting::Caught;
use divisi::local::ServersHere;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Three servers, until they are stopped.
#[pyclass(frozen, module = "divisi._native")]
pub struct Servers {
    here: Mutex<Option<ServersHere>>,
    config: PathBuf,
    identities: Vec<PathBuf>,
}

#[pymethods]
impl Servers {
    /// Start the servers, and wait until they serve clients of these names.
    #[new]
    #[pyo3(signature = (clients))]
    fn new(py: Python<'_>, clients: Vec<String>) -> PyResult<Servers> {
        if clients.is_empty() {
            return Err(usage(py, "servers without a client serve nobody: name one"));
        }
        let caught = Caught::default();
        let started = py.detach(|| ServersHere::start_until(&clients, &caught.interrupt()));
        let here = started.map_err(|failure| caught.take().unwrap_or_else(|| of_command(py, &failure)))?;
        let config = here.config_file();
        let identities = (0..clients.len()).filter_map(|client| here.identity_file(client)).collect();
        Ok(Servers { here: Mutex::new(Some(here)), config, identities })
    }

    /// The file of the configuration.
    #[getter]
    fn config(&self) -> PathBuf {
        self.config.clone()
    }

    /// The files of the clients' identities.
    #[getter]
    fn identities(&self) -> Vec<PathBuf> {
        self.identities.clone()
    }

    /// Whether the servers run, in this process.
    #[getter]
    fn running(&self) -> bool {
        self.lock().as_ref().is_some_and(ServersHere::are_here)
    }

    /// Stop the servers, and remove their files; nothing is done where they do not run.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let Some(here) = self.lock().take() else { return Ok(()) };
        if !here.are_here() {
            drop(here);
            return Ok(());
        }
        py.detach(|| here.stop()).map_err(|failure| of_command(py, &failure))
    }
}

impl Servers {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<ServersHere>> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
