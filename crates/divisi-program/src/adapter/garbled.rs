//! Circuits that are garbled ahead ([`divisi_mpgc`]: GYKW, Figures 11 and 12).
//!
//! Adversary: all parties but one, semi-honest. Preprocessing is everything that depends on no input.

use super::circuits::{self, MOST, agreement, learn, owners, share, subject};
use super::manner::Manner;
use super::{ONLINE, PREPROCESSING, SETUP};
use crate::form::BitForm;
use crate::keys::KeyLookups;
use divisi_core::{Abort, PublicParameters, Session};
use divisi_engine::evaluations::Evaluates;
use divisi_engine::job::{CircuitJob, Own};
use divisi_engine::{Unsupported, Watch, timed};
use divisi_mixed::Gmw;
use divisi_mpgc::parameters::ROW_BYTES;
use divisi_mpgc::{Garbler, Wiring};
use serde_json::{Map, Value};

/// The largest number of bytes of rows that a party holds at once, unless an instance takes more.
const ROWS: usize = 512 << 20;

/// How a circuit is garbled. Public, the same at all parties.
pub(super) struct Garbling {
    manner: Manner,
    wiring: Wiring,
    keys: KeyLookups,
}

impl Garbling {
    /// # Errors
    /// [`Unsupported`] if the circuit cannot be garbled, or for an option that has no effect.
    pub fn new(job: &CircuitJob, manner: Manner) -> Result<Self, Unsupported> {
        let wiring = Wiring::new(job.circuit.program()?);
        let size = [wiring.gates(), wiring.ands()].map(|gates| gates.saturating_mul(job.count));
        let keys = manner.lookups_of_keys(size)?;
        if keys.form == BitForm::Cot && manner.insecure {
            return Err(Unsupported::new(
                "--danger-insecure-parameters applies to ciphertexts only: leave it out",
            ));
        }
        Ok(Garbling { manner, wiring, keys })
    }
}

impl Evaluates for Garbling {
    type Plan<'c> = ();
    type Party = Garbler;

    const ENGINE: &'static str = Manner::ENGINE;
    const MOST: usize = MOST;

    fn parties(&self) -> usize {
        self.manner.parties
    }

    fn plan(&self, _: &CircuitJob) -> Result<(), Unsupported> {
        Ok(())
    }

    fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        self.keys.describe(self.manner.describe(parameters))
    }

    fn subject(&self, job: &CircuitJob, (): &()) -> PublicParameters {
        subject(job)
    }

    fn agreement(&self, job: &CircuitJob, (): &()) -> Vec<(&'static str, [u8; 32])> {
        agreement(self, job)
    }

    fn batch(&self, job: &CircuitJob, (): &()) -> usize {
        let batch = (ROWS / (4 * ROW_BYTES * self.wiring.gates()).max(1)).max(1);
        batch.min(job.count.max(1))
    }

    fn facts(&self, job: &CircuitJob, (): &()) -> Map<String, Value> {
        circuits::facts(&self.manner, job, Some(&self.keys))
    }

    fn start(&self, mut session: Session, _: Option<(&CircuitJob, usize)>) -> Result<Garbler, Abort> {
        session.phase(SETUP);
        Garbler::new(Gmw::new(session, self.manner.config)?, self.keys.method.clone())
    }

    fn session(garbler: &mut Garbler) -> &mut Session {
        garbler.gmw().session()
    }

    fn evaluate(
        &self,
        garbler: &mut Garbler,
        (job, ()): (&CircuitJob, &()),
        count: usize,
        own: &[u8],
        watch: &mut dyn Watch,
    ) -> Result<Own, Abort> {
        let garbled = timed(watch, PREPROCESSING, || {
            garbler.gmw().session().phase(PREPROCESSING);
            garbler.garble(&self.wiring, count)
        })?;
        timed(watch, ONLINE, || {
            garbler.gmw().session().phase(ONLINE);
            let inputs = share(garbler.gmw(), &owners(job), count, own)?;
            let outputs = garbler.evaluate(garbled, &inputs)?;
            learn(garbler.gmw(), job, count, &outputs)
        })
    }
}
