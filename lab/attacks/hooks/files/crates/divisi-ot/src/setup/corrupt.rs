//! The set-up of a test's corrupt party (only in the copy of `lab/attacks`).

use super::{Setup, SetupConfig, Source};
use crate::Delta;
use crate::adversary::Deviation;
use crate::delta::Deltas;
use crate::purposes;
use divisi_core::{Abort, Session};

impl Setup {
    /// Makes a set-up as a party that deviates.
    ///
    /// # Errors
    /// Those of [`Setup::new`].
    pub fn corrupt(session: &mut Session, config: SetupConfig, deviation: Deviation) -> Result<Setup, Abort> {
        let delta = Delta::drawn(session.me(), |bytes| session.entropy(purposes::DELTA, bytes));
        Setup::deviating(session, config, Deltas::labels(config.k, delta), deviation)
    }

    /// The same over a field.
    ///
    /// # Errors
    /// Those of [`Setup::over_field`].
    pub fn corrupt_over_field(
        session: &mut Session,
        config: SetupConfig,
        f: u32,
        deviation: Deviation,
    ) -> Result<Setup, Abort> {
        let delta = Delta::uniform(f, |bytes| session.entropy(purposes::DELTA_OF_FIELD, bytes));
        let pads = Delta::uniform(128, |bytes| session.entropy(purposes::DELTA_OF_PADS, bytes));
        Setup::deviating(session, config, Deltas::field(config.k, f, delta, pads), deviation)
    }

    fn deviating(
        session: &mut Session,
        config: SetupConfig,
        mut deltas: Deltas,
        deviation: Deviation,
    ) -> Result<Setup, Abort> {
        deltas.differences = vec![0; session.parties()];
        if let Some((peer, difference)) = deviation.other_delta {
            deltas.differences[peer.index()] = difference;
        }
        let mut setup = Setup::with_any(session, config, deltas)?;
        if let Source::Trees(ends, _) = &mut setup.source {
            *ends.deviation = deviation;
        }
        Ok(setup)
    }

    /// From now on this party computes with a Delta that differs by `difference` from the one of its trees;
    /// with `rows` also when it makes its keys for others' bits.
    pub fn take_another_delta(&mut self, difference: u128, rows: bool) {
        let other = self.deltas.delta.get() ^ difference;
        self.deltas.delta = if self.layout.public {
            Delta::drawn(self.me, |bytes| *bytes = other.to_le_bytes())
        } else {
            Delta::uniform(self.mac_bits(), |bytes| *bytes = other.to_le_bytes())
        };
        if !rows {
            self.deltas.differences.resize(self.parties, 0);
            let public = u128::from(self.layout.public);
            self.deltas.differences.iter_mut().for_each(|of| *of ^= difference & !public);
        }
    }
}
