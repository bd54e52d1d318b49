//! How the engine computes: among how many, with which transfers. Public, the same at all parties.

use super::super::{Settings, Unsupported, parties};
use divisi_core::Parameters;
use divisi_ot::Config;
use divisi_rep3::Security;

/// How the engine computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    /// How many parties.
    pub parties: usize,
    /// Parameters of the transfers.
    pub config: Config,
}

/// The options of this engine.
pub(super) const OPTIONS: &[&str] = &[K];
const K: &str = "k";

impl Manner {
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
        Ok(Manner { parties: parties(&super::Mixed, settings), config })
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
            Manner { parties: 7, config: Config::default() }
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
