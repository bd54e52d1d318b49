//! The adversary against which an engine is secure.

use std::fmt;
use std::str::FromStr;

/// The adversary against which a computation is secure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Security {
    /// Corrupt parties deviate from the protocol at will: the honest ones get the right output or abort.
    Malicious,
    /// Corrupt parties follow the protocol, and learn nothing from what they see: nothing is verified.
    SemiHonest,
}

impl Security {
    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Security::Malicious => "malicious",
            Security::SemiHonest => "semi-honest",
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Security {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "malicious" => Ok(Security::Malicious),
            "semi-honest" => Ok(Security::SemiHonest),
            _ => Err(format!("unknown security {name:?}: choose malicious or semi-honest")),
        }
    }
}
