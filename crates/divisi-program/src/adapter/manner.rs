//! The settings of the engine: number of parties, transfers, forms, circuits, adder. Public, the same at all
//! parties.

use divisi_core::PublicParameters;
use divisi_core::Security;
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

/// How random bits shared modulo 2 and modulo p are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BitForm {
    /// By correlated transfers.
    Cot,
    /// By ciphertexts.
    Ciphertexts(divisi_bgv::parameters::Form),
}

impl BitForm {
    /// All values.
    pub const ALL: [BitForm; 4] = [
        BitForm::Cot,
        BitForm::Ciphertexts(divisi_bgv::parameters::Form::LeanTree),
        BitForm::Ciphertexts(divisi_bgv::parameters::Form::LeanRing),
        BitForm::Ciphertexts(divisi_bgv::parameters::Form::Paper),
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BitForm::Cot => "cot",
            BitForm::Ciphertexts(form) => form.name(),
        }
    }

    /// The form of the ciphertexts that mask private tables, if there is one.
    #[must_use]
    pub fn hops(self) -> Option<divisi_bgv::parameters::Form> {
        match self {
            BitForm::Cot => None,
            BitForm::Ciphertexts(form) => Some(form),
        }
    }

    /// The form that is fastest for this number of parties: the work of transfers grows quadratically, that
    /// of products along a tree does not. This was measured with processes over TLS on a processor with
    /// AVX-512 and IFMA, where B2A among 16 takes 116 to 122 us by transfers, and 133 to 143 by tree. Without
    /// IFMA the tree may be faster from some 16 parties on (docs/mixed.md, 11).
    #[must_use]
    pub fn usual(parties: usize) -> BitForm {
        if parties <= 20 { BitForm::ALL[0] } else { BitForm::ALL[1] }
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

    /// Add the security and the parameters of the transfers to those that the parties compare at the start of
    /// a session.
    #[must_use]
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        self.config.describe(parameters).with("security", Security::SemiHonest.name().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        let usual = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() };
        assert_eq!(
            Manner::new(&usual.clone().among(7)).unwrap(),
            Manner {
                parties: 7,
                config: SetupConfig::default(),
                form: None,
                insecure: false,
                circuits: None,
                adder: None
            }
        );
        assert_eq!(Manner::new(&usual.clone().with(K, 2)).unwrap().config.k, 2);
        for wrong in [
            EngineSettings::default(),
            EngineSettings { threads: 2, ..usual.clone() },
            EngineSettings { statistical: Some(40), ..usual.clone() },
            usual.clone().with(K, 9),
            usual.clone().with(K, "x"),
            usual.clone().with("streamed", ""),
            usual.clone().with(PROTOCOL, "yao"),
            usual.clone().with(ADDER, "ripple"),
        ] {
            assert!(Manner::new(&wrong).is_err());
        }
        let adding = Manner::new(&usual.clone().with(ADDER, "low-depth")).unwrap();
        assert_eq!(adding.adder, Some(NumberAdder::LowDepth));
        assert!(adding.without_adder().is_err());
        let garbled = Manner::new(&usual.with(PROTOCOL, "mpgc")).unwrap();
        assert!(garbled.without_adder().is_ok());
        assert!(garbled.is_garbled() && garbled.of_circuits().is_ok());
        assert!(garbled.without_circuits().is_err());
    }
}
