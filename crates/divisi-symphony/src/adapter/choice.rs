//! The choice of a protocol for S-boxes, by its name or by a performance mode.

use divisi_engine::EngineSettings;
use divisi_rep3::Protocol;
use std::collections::BTreeMap;
use std::fmt;

pub use crate::Priority;

/// The name of the option for the performance mode.
pub const MODE: &str = "mode";
/// The value of [`MODE`] for programs in a constant number of rounds.
pub const CONSTANT_ROUND: &str = "constant-round";
/// The name of the option for the protocol of S-boxes.
pub(super) const PROTOCOL: &str = "protocol";

/// How S-boxes are to be computed: a protocol by its own name, or the one that a mode stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    protocol: Protocol,
    mode: Option<Priority>,
}

impl Choice {
    /// The choice in the settings of an engine; the default if there is none.
    #[must_use]
    pub fn of(settings: &EngineSettings) -> Choice {
        let option = |name| settings.own.get(name);
        let protocol = option(PROTOCOL).and_then(|name| name.parse::<Protocol>().ok());
        let mode = option(MODE).and_then(|name| name.parse::<Priority>().ok());
        mode.map(Choice::from).or(protocol.map(Choice::from)).unwrap_or_default()
    }

    /// Put this choice into the options of an engine that has them, unless they have one of this name.
    pub fn put(self, own: &mut BTreeMap<String, String>) {
        let (name, value) = match self.mode {
            Some(mode) => (MODE, mode.name()),
            None => (PROTOCOL, self.protocol.name()),
        };
        own.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }

    /// The protocol.
    #[must_use]
    pub fn protocol(self) -> Protocol {
        self.protocol
    }

    /// The mode by which the protocol was chosen; `None` if it was chosen by its own name.
    #[must_use]
    pub fn mode(self) -> Option<Priority> {
        self.mode
    }

    /// The name of [`Choice::mode`], for JSON.
    #[must_use]
    pub fn mode_name(self) -> Option<&'static str> {
        self.mode.map(Priority::name)
    }
}

impl Default for Choice {
    fn default() -> Self {
        Protocol::Gf4Circuit.into()
    }
}

impl From<Protocol> for Choice {
    fn from(protocol: Protocol) -> Self {
        Choice { protocol, mode: None }
    }
}

impl From<Priority> for Choice {
    fn from(mode: Priority) -> Self {
        Choice { protocol: mode.protocol(), mode: Some(mode) }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            Some(mode) => write!(f, "{} ({mode})", self.protocol),
            None => self.protocol.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_chooses_its_protocol() {
        for mode in Priority::ALL {
            let choice = Choice::from(mode);
            assert_eq!((choice.protocol(), choice.mode_name()), (mode.protocol(), Some(mode.name())));
            assert_eq!(choice.to_string(), format!("{} ({mode})", mode.protocol()));
        }
        let default = Choice::default();
        assert_eq!((default.protocol(), default.mode()), (Protocol::Gf4Circuit, None));
        assert_eq!(default.to_string(), "gf4-circuit");
    }
}
