//! Three parties as threads of this process ([`divisi_core::local`]), and inputs that a dealer splits for
//! them.
//!
//! Trust: this process knows all secrets.

use crate::Trio;
use crate::deal::{self, Part};
use divisi_core::{Abort, PublicParameters, local};
use divisi_net::{Machine, Mesh, World};

/// Run `f` at each of three parties; the results in the parties' order.
///
/// # Errors
/// The most informative abort among the parties'.
///
/// # Panics
/// If a party panics.
pub fn run<R: Send>(f: impl Fn(Trio) -> Result<R, Abort> + Sync) -> Result<Vec<R>, Abort> {
    local::first(run_over(local::links(3), &PublicParameters::new("rep3 local"), f))
}

/// Run `f` at each of three parties, over these links; how each party ended.
///
/// # Panics
/// If a party panics.
pub fn run_over<R: Send>(
    meshes: Vec<Mesh>,
    parameters: &PublicParameters,
    f: impl Fn(Trio) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    local::run_over(meshes, |_| parameters.clone(), |session| f(Trio::new(session)?))
}

/// The parts of each input, for each party in the parties' order.
#[must_use]
pub fn deal_all(inputs: &[Vec<u8>]) -> [Vec<Part>; 3] {
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    for input in inputs {
        #[expect(clippy::disallowed_methods, reason = "a client deals, before any session")]
        let dealt = deal::split(input, |out| Machine.entropy(out));
        parts.iter_mut().zip(dealt).for_each(|(parts, part)| parts.push(part));
    }
    parts
}
