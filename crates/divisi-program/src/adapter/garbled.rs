//! Evaluations of a circuit that is garbled ahead ([`divisi_mpgc`]: GYKW, Figures 11 and 12).
//!
//! Adversary: all parties but one, semi-honest. Preprocessing is everything that depends on no input.

use super::manner::{BitForm, Manner};
use super::values::{learn, share};
use super::{ONLINE, PREPROCESSING};
use divisi_bgv::Ring;
use divisi_bgv::parameters::{Operation, Parameters as Lattice};
use divisi_circuit::Program;
use divisi_core::{Abort, Counts, PartyId, PublicParameters};
use divisi_engine::job::{CircuitJob, OutputGroup, Own};
use divisi_engine::{EngineParty, Unsupported, Watch, timed};
use divisi_field::zp::P16;
use divisi_mixed::Gmw;
use divisi_mpgc::cost::cheaper;
use divisi_mpgc::parameters::{MOST_GATES, ROW_BYTES, fits};
use divisi_mpgc::{Garbler, LookupMethod, Wiring};
use std::sync::Arc;

/// The largest number of bytes of rows that a party holds at once, unless an instance takes more.
const ROWS: usize = 512 << 20;

/// How a circuit is garbled. Public, the same at all parties.
pub(super) struct Garbling {
    wiring: Wiring,
    way: Looked,
}

/// How keys are looked up: as the option `--form` says, or in the way that is cheaper for the circuit.
/// Public, the same at all parties.
pub(super) struct Looked {
    pub(super) way: LookupMethod,
    form: BitForm,
}

impl Looked {
    /// The settings for this number of gates in all, of which `ands` are ANDs. `form` is the value of the
    /// option, if it was given.
    ///
    /// # Errors
    /// [`Unsupported`] if there are too many parties or gates, or if there are no lattice parameters for
    /// them.
    pub fn new(
        manner: &Manner,
        [gates, ands]: [usize; 2],
        form: Option<BitForm>,
    ) -> Result<Self, Unsupported> {
        let most = (2..256).take_while(|n| fits(*n)).last().unwrap_or(0);
        if !fits(manner.parties) {
            return Err(Unsupported::new(format!(
                "circuits are garbled among at most {most} parties, not {}: give another --parties, or evaluate them by GMW",
                manner.parties
            )));
        }
        if gates as u64 > MOST_GATES {
            return Err(Unsupported::new(format!(
                "a session garbles at most {MOST_GATES} gates: give fewer, or evaluate them by GMW"
            )));
        }
        let form = form.unwrap_or_else(|| {
            let cheaper = cheaper(manner.parties, [gates as u64, ands as u64], manner.config);
            cheaper.map_or(BitForm::Cot, |lattice| BitForm::Ciphertexts(lattice.form()))
        });
        let way = match form {
            BitForm::Cot => LookupMethod::Transfers,
            BitForm::Ciphertexts(form) => {
                let derive = if manner.insecure { Lattice::danger_insecure } else { Lattice::derive };
                let lattice = derive(Operation::PrivateTables, form, manner.parties, P16);
                let lattice = lattice.map_err(|error| Unsupported::new(error.to_string()))?;
                let ring = Ring::new(lattice);
                LookupMethod::Hops(Arc::new(
                    ring.ok_or_else(|| Unsupported::new("a prime without a transform"))?,
                ))
            }
        };
        Ok(Looked { way, form })
    }

    /// The name of the form on the command line.
    pub fn form(&self) -> &'static str {
        self.form.name()
    }

    /// Add the settings to the parameters that the parties compare.
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        let parameters = parameters.with("garbled", self.way.name().as_bytes());
        match &self.way {
            LookupMethod::Hops(ring) => ring.parameters().describe(parameters),
            LookupMethod::Transfers => parameters,
        }
    }
}

impl Garbling {
    /// # Errors
    /// [`Unsupported`] if the circuit cannot be garbled, or for an option that has no effect.
    pub fn new(program: &Program, count: usize, manner: &Manner) -> Result<Self, Unsupported> {
        let wiring = Wiring::new(program);
        let size = [wiring.gates(), wiring.ands()].map(|gates| gates.saturating_mul(count));
        let way = Looked::new(manner, size, manner.form)?;
        if way.form == BitForm::Cot && manner.insecure {
            return Err(Unsupported::new(
                "--danger-insecure-parameters applies to ciphertexts only: leave it out",
            ));
        }
        Ok(Garbling { wiring, way })
    }

    /// The name of the way in which keys are looked up.
    pub fn form(&self) -> &'static str {
        self.way.form()
    }

    /// The lattice, if keys are looked up by ciphertexts.
    pub fn lattice(&self) -> Option<&Lattice> {
        match &self.way.way {
            LookupMethod::Hops(ring) => Some(ring.parameters()),
            LookupMethod::Transfers => None,
        }
    }

    /// The number of instances in memory at the same time.
    pub fn batch(&self) -> usize {
        (ROWS / (4 * ROW_BYTES * self.wiring.gates()).max(1)).max(1)
    }

    /// Add the settings to the parameters that the parties compare.
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        self.way.describe(parameters)
    }
}

/// One party, with its set-up.
pub(super) struct Member<'p> {
    of: &'p Garbling,
    owners: &'p [PartyId],
    /// The circuit, and its outputs by their receivers.
    outputs: (&'p CircuitJob, &'p [OutputGroup]),
    garbler: Garbler,
}

impl<'p> Member<'p> {
    /// # Errors
    /// The abort that ends the session, from [`Garbler::new`].
    pub fn new(
        of: &'p Garbling,
        owners: &'p [PartyId],
        outputs: (&'p CircuitJob, &'p [OutputGroup]),
        gmw: Gmw,
    ) -> Result<Self, Abort> {
        let garbler = Garbler::new(gmw, of.way.way.clone())?;
        Ok(Member { of, owners, outputs, garbler })
    }
}

impl EngineParty for Member<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let Member { of, owners, outputs: (job, groups), garbler } = self;
        let garbled = timed(watch, PREPROCESSING, || {
            garbler.gmw().session().phase(PREPROCESSING);
            garbler.garble(&of.wiring, count)
        })?;
        timed(watch, ONLINE, || {
            garbler.gmw().session().phase(ONLINE);
            let inputs = share(garbler.gmw(), owners, count, own)?;
            let outputs = garbler.evaluate(garbled, &inputs)?;
            learn(garbler.gmw(), job, groups, count, &outputs)
        })
    }

    fn meter(&mut self) -> Counts {
        self.garbler.gmw().session().meter().read()
    }
}
