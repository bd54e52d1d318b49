//! The set-up of a corrupt party of a test (feature `fault`; never part of a build that holds real secrets).

use super::{Config, Setup, Source};
use crate::Delta;
use crate::adversary::Deviation;
use divisi_core::{Abort, Session};
use zeroize::Zeroizing;

impl Setup {
    /// A set-up of a party that deviates.
    ///
    /// # Errors
    /// As [`Setup::new`].
    pub fn corrupt(session: &mut Session, config: Config, deviation: Deviation) -> Result<Setup, Abort> {
        let mut bytes = [0; 16];
        session.entropy(&mut bytes);
        let delta = Delta::from_uniform(session.me(), bytes);
        let mut deltas = Zeroizing::new(vec![delta.get(); session.parties()]);
        if let Some((peer, difference)) = deviation.other_delta {
            deltas[peer.index()] ^= difference;
        }
        let mut setup = Setup::with_deltas(session, config, delta, deltas)?;
        if let Source::Trees(ends, _) = &mut setup.source {
            ends.deviation = deviation;
        }
        Ok(setup)
    }

    /// From now on this party computes with a Delta that differs by so much from the one that its trees are for; with `rows` also where
    /// it makes its keys of others' bits.
    pub fn take_another_delta(&mut self, difference: u128, rows: bool) {
        self.delta = Delta::from_uniform(self.me, (self.delta.get() ^ difference).to_le_bytes());
        if let (Source::Trees(ends, _), true) = (&mut self.source, rows) {
            ends.deltas.iter_mut().for_each(|delta| *delta ^= difference & !1);
        }
    }
}
