//! The start of an engine on a session: base OTs, trees, and the source of its preprocessing.

use super::how::How;
use crate::ciphers::SETUP;
use crate::stock::StockPlan;
use crate::{Host, Spdz, SpdzProtocol};
use divisi_core::{Abort, Session};
use divisi_engine::{Watch, timed};

/// An engine on a session. A stock that has less than `needs` is refused before anything is taken.
///
/// # Errors
/// The abort that ends the session.
pub(super) fn engine<F: Host>(
    mut session: Session,
    how: &How,
    protocol: SpdzProtocol,
    needs: &StockPlan,
) -> Result<Spdz<F>, Abort> {
    session.phase(SETUP);
    if let Some(from) = &how.stock {
        let (party, source) = super::stock::open(session, from, needs)?;
        return Spdz::new(party, Box::new(source), protocol);
    }
    let (party, source) = how.prep.start::<F>(session, how.config)?;
    Spdz::new(party, source, protocol)
}

/// Run `step` as a phase, for the meter and for `watch`.
///
/// # Errors
/// The error of `step`, or of an observer that ends the run.
pub(super) fn phase<F: Host, R>(
    e: &mut Spdz<F>,
    watch: &mut dyn Watch,
    name: &'static str,
    step: impl FnOnce(&mut Spdz<F>) -> Result<R, Abort>,
) -> Result<R, Abort> {
    timed(watch, name, || {
        e.session().phase(name);
        step(e)
    })
}
