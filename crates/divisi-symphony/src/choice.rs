//! The choice of a protocol for S-boxes, by its name or by what matters most.

use divisi_rep3::Protocol;
use std::collections::BTreeMap;
use std::fmt;

pub use crate::Priority;

/// The name of the option for what matters most.
pub const PRIORITY: &str = "priority";
/// The name of the option for the protocol of S-boxes.
pub const PROTOCOL: &str = "protocol";

/// How S-boxes are to be computed: a protocol by its own name, or the one that a mode stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    protocol: Protocol,
    mode: Option<Priority>,
}

impl Choice {
    /// The choice by the names of a mode and of a protocol; the default if there is none.
    #[must_use]
    pub fn named(mode: Option<&str>, protocol: Option<&str>) -> Choice {
        let protocol = protocol.and_then(|name| name.parse::<Protocol>().ok());
        let mode = mode.and_then(|name| name.parse::<Priority>().ok());
        mode.map(Choice::from).or(protocol.map(Choice::from)).unwrap_or_default()
    }

    /// Put this choice into the options of an engine that has them, unless they have one of this name. The
    /// default choice stays out: engines of other crates may have a mode, and no such protocol.
    pub fn put(self, own: &mut BTreeMap<String, String>) {
        if self == Choice::default() {
            return;
        }
        let (name, value) = match self.mode {
            Some(mode) => (PRIORITY, mode.name()),
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

    #[test]
    fn a_choice_comes_back_from_the_options_of_an_engine() {
        let all = Protocol::ALL.iter().map(|protocol| Choice::from(*protocol));
        for choice in all.chain(Priority::ALL.map(Choice::from)) {
            let mut own = BTreeMap::new();
            choice.put(&mut own);
            let option = |name| own.get(name).map(String::as_str);
            assert_eq!(Choice::named(option(PRIORITY), option(PROTOCOL)), choice);
            assert_eq!(own.is_empty(), choice == Choice::default());
        }
        let mut own = BTreeMap::from([(PROTOCOL.to_owned(), "lut16".to_owned())]);
        Choice::from(Protocol::Lut256).put(&mut own);
        assert_eq!(own[PROTOCOL], "lut16");
        // a name that is no choice of a protocol leaves the protocol as it is
        assert_eq!(Choice::named(Some("fast"), Some("lut16")), Protocol::Lut16.into());
    }
}
