//! The settings of engines: those that all engines know, and those of one engine alone.

use crate::mode::Choice;
use divisi_core::Security;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The settings of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSettings {
    /// The number of parties, if given.
    pub parties: Option<usize>,
    /// The adversary against which it is secure.
    pub security: Security,
    /// The protocol for S-boxes, or the performance mode that chooses it.
    pub choice: Choice,
    /// The statistical security in bits, if given: a lie passes with probability at most 2 to the minus this.
    pub statistical: Option<u32>,
    /// The number of threads of a party that run at the same time.
    pub threads: usize,
    /// The options of one engine alone, by their names on the command line ([`super::Engine::options`]); the
    /// value is empty for a switch.
    pub own: BTreeMap<String, String>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        EngineSettings {
            parties: None,
            security: Security::Malicious,
            choice: Choice::default(),
            statistical: None,
            threads: 1,
            own: BTreeMap::new(),
        }
    }
}

impl EngineSettings {
    /// These settings with an option of one engine, by its name on the command line.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.own.insert(name.to_owned(), value.to_string());
        self
    }

    /// These settings with this number of parties.
    #[must_use]
    pub fn among(mut self, parties: usize) -> Self {
        self.parties = Some(parties);
        self
    }

    /// Whether circuits may stay in their files.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        self.own.contains_key(STREAMED)
    }
}

/// The help of the option for SoftSpokenOT's parameter, which several engines have.
pub(super) const SOFT_SPOKEN_K: &str =
    "the parameter of SoftSpokenOT, 1 to 8; a larger one sends less and computes more";

/// The name of the option by which a circuit stays in its file.
pub const STREAMED: &str = "streamed";

/// [`EngineSettings`] as a message between processes of this program.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SettingsMessage {
    parties: Option<u32>,
    security: String,
    protocol: String,
    mode: Option<String>,
    statistical: Option<u32>,
    threads: u32,
    own: BTreeMap<String, String>,
}

impl From<&EngineSettings> for SettingsMessage {
    fn from(settings: &EngineSettings) -> Self {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SettingsMessage {
            parties: settings.parties.map(number),
            security: settings.security.name().to_owned(),
            protocol: settings.choice.protocol().name().to_owned(),
            mode: settings.choice.mode_name().map(str::to_owned),
            statistical: settings.statistical,
            threads: number(settings.threads),
            own: settings.own.clone(),
        }
    }
}

impl TryFrom<SettingsMessage> for EngineSettings {
    type Error = String;

    fn try_from(message: SettingsMessage) -> Result<Self, String> {
        let choice = match &message.mode {
            Some(mode) => mode.parse::<crate::mode::Priority>()?.into(),
            None => message.protocol.parse::<divisi_rep3::Protocol>()?.into(),
        };
        Ok(EngineSettings {
            parties: message.parties.map(|parties| parties as usize),
            security: message.security.parse()?,
            choice,
            statistical: message.statistical,
            threads: message.threads as usize,
            own: message.own,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Priority;

    #[test]
    fn what_is_told_is_what_was_meant() {
        let usual = EngineSettings::default();
        let meant = [
            EngineSettings {
                choice: divisi_rep3::Protocol::Lut16.into(),
                statistical: Some(64),
                ..usual.clone()
            },
            EngineSettings {
                choice: Priority::ALL[1].into(),
                security: Security::SemiHonest,
                threads: 7,
                ..usual.clone()
            },
            usual.clone().among(5).with("form", "paper").with(STREAMED, ""),
            usual,
        ];
        for meant in meant {
            assert_eq!(EngineSettings::try_from(SettingsMessage::from(&meant)).unwrap(), meant);
        }
    }
}
