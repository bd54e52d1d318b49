//! The native module of the Python package `divisi`: a client of three servers, three servers as threads, and
//! the commands of the command line within the interpreter's process.
//!
//! What a user imports is in `divisi/*.py`, which checks and arranges arguments; here is what needs Rust.
//!
//! | module | what |
//! |---|---|
//! | `buffer` | memory of Python objects, read and written without the interpreter's lock; the only unsafe code |
//! | `client` | connections with three servers, and requests over them |
//! | `work` | one request: what is asked, and the bytes that come back |
//! | `servers` | three servers as threads of this process |
//! | `command` | the commands of `divisi`, as JSON or as the program itself |
//! | `waiting` | Ctrl-C during a call |
//! | `raised` | errors as exceptions |
//!
//! **Trust.** The process of the interpreter is the client: it has the plaintexts that it encrypts, and no
//! key and no share. What Python keeps of them (`bytes`, copies) it does not wipe.
#![deny(unsafe_code)]

mod buffer;
mod client;
mod command;
mod raised;
mod servers;
mod waiting;
mod work;

use pyo3::prelude::*;

/// The module `divisi._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("OVERHEAD", divisi_node::OVERHEAD)?;
    module.add_class::<client::Connections>()?;
    module.add_class::<servers::Servers>()?;
    module.add_class::<work::Work>()?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(command::main, module)?)?;
    module.add_function(wrap_pyfunction!(command::name_program, module)?)?;
    module.add_function(wrap_pyfunction!(client::key_types, module)?)?;
    Ok(())
}
