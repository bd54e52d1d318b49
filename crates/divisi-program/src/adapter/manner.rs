//! The settings of the engine: number of parties, transfers, forms, circuits, adder. Public, the same at all
//! parties.

use crate::form::BitForm;
use crate::keys::KeyLookups;
use divisi_core::{PublicParameters, Security};
use divisi_engine::{EngineSettings, Unsupported, parties};
use divisi_mixed::adders::NumberAdder;
use divisi_ot::SetupConfig;

/// The settings of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// The number of parties.
    pub parties: usize,
    /// Parameters of the transfers.
    pub config: SetupConfig,
    /// How random bits are made, if given.
    pub form: Option<BitForm>,
    /// Whether to use the insecure lattices of tests.
    pub insecure: bool,
    /// How circuits are evaluated, if given.
    pub circuits: Option<CircuitProtocol>,
    /// What A2B's adder minimises, if given.
    pub adder: Option<NumberAdder>,
}

/// How circuits are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CircuitProtocol {
    /// GMW, with one round for each level.
    Gmw,
    /// Garbled ahead, by Figures 11 and 12: two rounds at any depth, and one for the outputs.
    Mpgc,
}

impl CircuitProtocol {
    /// All values.
    pub const ALL: [CircuitProtocol; 2] = [CircuitProtocol::Gmw, CircuitProtocol::Mpgc];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CircuitProtocol::Gmw => "gmw",
            CircuitProtocol::Mpgc => "mpgc",
        }
    }
}

const PROTOCOL: &str = Manner::PROTOCOL;
const K: &str = Manner::K;
const FORM: &str = Manner::FORM;
const ADDER: &str = Manner::ADDER;
/// The option for lattices that are too small to protect anything.
pub const INSECURE: &str = "danger-insecure-parameters";

impl Manner {
    /// The name of the option for the parameter of transfers.
    pub const K: &'static str = "k";
    /// The name of the option for the form of random bits.
    pub const FORM: &'static str = "form";
    /// The name of the option for A2B's adder.
    pub const ADDER: &'static str = "adder";
    /// The name of the option for circuits.
    pub const PROTOCOL: &'static str = "protocol";

    /// The settings from those that all engines have.
    ///
    /// # Errors
    /// [`Unsupported`] with a sentence that says what to correct.
    pub fn new(settings: &EngineSettings) -> Result<Manner, Unsupported> {
        if settings.security == Security::Malicious {
            return Err(Unsupported::new(
                "the engine mixed is secure against semi-honest parties only: leave --security out, or give semi-honest",
            ));
        }
        settings.one_thread("mixed")?;
        if settings.statistical.is_some() {
            return Err(Unsupported::new("the engine mixed verifies nothing: leave --statistical out"));
        }
        if settings.is_streamed() {
            return Err(Unsupported::new("the engine mixed keeps circuits in memory: leave --streamed out"));
        }
        let mut config = SetupConfig::default();
        config.k = settings.number(K, 1..=8)?.unwrap_or(config.k);
        let form = settings.one_of(FORM, &BitForm::ALL, BitForm::name)?;
        let insecure = settings.own.contains_key(INSECURE);
        let circuits = settings.one_of(PROTOCOL, &CircuitProtocol::ALL, CircuitProtocol::name)?;
        let adder = settings.one_of(ADDER, &NumberAdder::ALL, NumberAdder::name)?;
        let parties = parties(&super::MixedEngine, settings);
        Ok(Manner { parties, config, form, insecure, circuits, adder })
    }

    /// The settings for jobs in which no adder can be chosen: refuses the option.
    ///
    /// # Errors
    /// [`Unsupported`] with the option to leave out.
    pub fn without_adder(self) -> Result<Manner, Unsupported> {
        if self.adder.is_some() {
            return Err(Unsupported::new("--adder belongs to `bench mixed --op a2b`: leave it out"));
        }
        Ok(self)
    }

    /// The settings for circuits, which need no random bits: refuses options about them.
    ///
    /// # Errors
    /// [`Unsupported`] with the option to leave out.
    pub fn of_circuits(self) -> Result<Manner, Unsupported> {
        if self.is_garbled() {
            return Ok(self);
        }
        if self.form.is_some() || self.insecure {
            let error = "--form and --danger-insecure-parameters of the engine mixed belong to `bench mixed`: leave them out";
            return Err(Unsupported::new(error));
        }
        Ok(self)
    }

    /// Whether circuits are garbled.
    #[must_use]
    pub fn is_garbled(&self) -> bool {
        self.circuits == Some(CircuitProtocol::Mpgc)
    }

    /// The settings for jobs without circuits: refuses options about circuits.
    ///
    /// # Errors
    /// [`Unsupported`] with the option to leave out.
    pub fn without_circuits(self) -> Result<Manner, Unsupported> {
        if self.is_garbled() {
            return Err(Unsupported::new("--protocol mpgc is for a single circuit: leave it out"));
        }
        Ok(self)
    }

    /// How keys are looked up for this number of garbled gates in all, of which the second number are ANDs.
    ///
    /// # Errors
    /// [`Unsupported`] if there are too many parties or gates.
    pub(super) fn lookups_of_keys(&self, size: [usize; 2]) -> Result<KeyLookups, Unsupported> {
        KeyLookups::new(self.parties, self.config, size, self.form, self.insecure).map_err(Unsupported::new)
    }

    /// Add the security and the parameters of the transfers to those that the parties compare at the start of
    /// a session.
    #[must_use]
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        self.config.describe(parameters).with("security", Security::SemiHonest.name().as_bytes())
    }
}
