//! The rings of ciphertexts that a computation needs.

use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use std::sync::Arc;

/// The ring for an operation on numbers modulo `plain`, in this form of ciphertexts. `insecure` takes the
/// lattices of tests, which are too small to protect anything.
///
/// # Errors
/// If there are no parameters for so many parties, with the reason.
pub(crate) fn ring(
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    insecure: bool,
) -> Result<Arc<Ring>, String> {
    let derive = if insecure { Parameters::danger_insecure } else { Parameters::derive };
    let lattice = derive(operation, form, parties, plain).map_err(|error| error.to_string())?;
    Ring::new(lattice).map(Arc::new).ok_or_else(|| "a prime without a transform".into())
}
