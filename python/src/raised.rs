//! Errors as exceptions of the package: `divisi.Error`, and `divisi.UsageError` for what the caller has to
//! correct, which is a `ValueError`, too.

use divisi::failure::Failure;
use divisi_node::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The function of the package that makes the exception.
static MAKER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The exception for these fields.
fn raised(
    py: Python<'_>,
    message: &str,
    kind: &str,
    retry: bool,
    peer: Option<u8>,
    step: Option<&str>,
    by_all: bool,
) -> PyErr {
    let make = || {
        let maker = MAKER
            .get_or_try_init(py, || Ok::<_, PyErr>(py.import("divisi._errors")?.getattr("made")?.unbind()))?;
        maker.bind(py).call1((message, kind, retry, peer, step, by_all))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// The exception for an error of a client.
pub fn of_client(py: Python<'_>, error: &Error) -> PyErr {
    let peer = error.peer.map(divisi_net::PartyId::number);
    raised(py, &error.message, error.kind.name(), error.retry, peer, Some(&error.step), error.by_all)
}

/// The exception for the failure of a command.
pub fn of_command(py: Python<'_>, failure: &Failure) -> PyErr {
    let kind = match failure.to_json().get("kind") {
        Some(kind) => kind.as_str().unwrap_or("abort").to_owned(),
        None => "abort".to_owned(),
    };
    raised(py, &failure.error, &kind, failure.retry, failure.peer, failure.step.as_deref(), false)
}

/// The exception for a mistake of the caller.
pub fn usage(py: Python<'_>, message: &str) -> PyErr {
    raised(py, message, "usage", false, None, None, false)
}
