//! How the engine computes: among how many, with which transfers. Public, the same at all parties.

use super::super::{Settings, Unsupported, parties};
use divisi_core::Parameters;
use divisi_ot::Config;
use divisi_rep3::Security;

/// How the engine computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// How many parties.
    pub parties: usize,
    /// Parameters of the transfers.
    pub config: Config,
    /// How random bits are made, if that was said.
    pub form: Option<Form>,
    /// Whether the lattices are those of tests.
    pub insecure: bool,
}

/// How random bits shared in both worlds are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By correlated transfers.
    Cot,
    /// By ciphertexts.
    Ciphertexts(divisi_bgv::parameters::Form),
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 4] = [
        Form::Cot,
        Form::Ciphertexts(divisi_bgv::parameters::Form::LeanTree),
        Form::Ciphertexts(divisi_bgv::parameters::Form::LeanRing),
        Form::Ciphertexts(divisi_bgv::parameters::Form::Paper),
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Form::Cot => "cot",
            Form::Ciphertexts(form) => form.name(),
        }
    }

    /// The form of ciphertexts that go around all parties, if it is one.
    #[must_use]
    pub fn hops(self) -> Option<divisi_bgv::parameters::Form> {
        use divisi_bgv::parameters::Form as Lattice;
        match self {
            Form::Ciphertexts(form @ (Lattice::LeanRing | Lattice::Paper)) => Some(form),
            _ => None,
        }
    }

    /// What is measured to be best among so many (docs/mixed.md, 11): transfers are quadratic in all,
    /// products along a tree are not.
    #[must_use]
    pub fn usual(parties: usize) -> Form {
        if parties <= 20 { Form::ALL[0] } else { Form::ALL[1] }
    }
}

/// The options of this engine.
pub(super) const OPTIONS: &[&str] = &[K, FORM, INSECURE];
const K: &str = Manner::K;
const FORM: &str = Manner::FORM;
/// Whether lattices are too small to protect anything.
pub const INSECURE: &str = "danger-insecure-parameters";

impl Manner {
    /// The option of transfers.
    pub const K: &'static str = "k";
    /// The option of random bits.
    pub const FORM: &'static str = "form";

    /// What these settings say.
    ///
    /// # Errors
    /// What to correct.
    pub fn new(settings: &Settings) -> Result<Manner, Unsupported> {
        if settings.security == Security::Malicious {
            return Err(Unsupported::new(
                "the engine mixed protects from curious parties only: leave --security out, or give semi-honest",
            ));
        }
        if settings.threads != 1 {
            return Err(Unsupported::new("the engine mixed has one thread a party: leave --threads out"));
        }
        if settings.statistical.is_some() {
            return Err(Unsupported::new("the engine mixed verifies nothing: leave --statistical out"));
        }
        if settings.is_streamed() {
            return Err(Unsupported::new("the engine mixed keeps circuits in memory: leave --streamed out"));
        }
        let mut config = Config::default();
        if let Some(k) = settings.own.get(K) {
            let wrong = || Unsupported::new(format!("--k is {k}: give 1 to 8"));
            config.k = k.parse().ok().filter(|k| (1..=8).contains(k)).ok_or_else(wrong)?;
        }
        let named = |name: &String| {
            let form = Form::ALL.into_iter().find(|form| form.name() == name);
            form.ok_or_else(|| {
                Unsupported::new(format!("--form is {name}: give cot, lean-tree, lean-ring or paper"))
            })
        };
        let form = settings.own.get(FORM).map(named).transpose()?;
        let insecure = settings.own.contains_key(INSECURE);
        Ok(Manner { parties: parties(&super::Mixed, settings), config, form, insecure })
    }

    /// That nothing is said about random bits, for circuits, which have none.
    ///
    /// # Errors
    /// What to leave out.
    pub fn of_circuits(self) -> Result<Manner, Unsupported> {
        if self.form.is_some() || self.insecure {
            let error = "--form and --danger-insecure-parameters of the engine mixed are about `bench mixed`: leave them out";
            return Err(Unsupported::new(error));
        }
        Ok(self)
    }

    /// All of it among the parameters that the parties compare at the start of a session.
    #[must_use]
    pub fn describe(&self, parameters: Parameters) -> Parameters {
        self.config.describe(parameters).with("security", Security::SemiHonest.name().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        let usual = Settings { security: Security::SemiHonest, ..Settings::default() };
        assert_eq!(
            Manner::new(&usual.clone().among(7)).unwrap(),
            Manner { parties: 7, config: Config::default(), form: None, insecure: false }
        );
        assert_eq!(Manner::new(&usual.clone().with(K, 2)).unwrap().config.k, 2);
        for wrong in [
            Settings::default(),
            Settings { threads: 2, ..usual.clone() },
            Settings { statistical: Some(40), ..usual.clone() },
            usual.clone().with(K, 9),
            usual.clone().with(K, "x"),
            usual.with("streamed", ""),
        ] {
            assert!(Manner::new(&wrong).is_err());
        }
    }
}
