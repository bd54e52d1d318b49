//! The five protocols by name, and what each needs.

use crate::ohv::byte::BYTE_PLANES;
use crate::ohv::nibble::{NIBBLE_PLANES, NIBBLES_PLANES};
use divisi_field::Plane;
use std::fmt;
use std::str::FromStr;

/// How S-boxes are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// Inversion as a power in GF(2^8), after Chida et al.: 3 rounds, 32 bits an S-box.
    Gf8Circuit,
    /// Inversion in GF(2^8) through GF(2^4), by powers there (MAESTRO Protocol 3 with a circuit for the small
    /// inverse): 4 rounds, 20 bits an S-box.
    Gf4Circuit,
    /// Inversion in GF(2^8) through GF(2^4), by a lookup there (MAESTRO Protocol 3): 2 rounds, 16 bits an
    /// S-box online, and 11 bits ahead.
    Lut16,
    /// The S-box as a table of 256 (MAESTRO section 3.5.2): 1 round, 8 bits an S-box online, and 247 bits
    /// ahead.
    Lut256,
    /// The S-box as a table of 256, additively shared from layer to layer (MAESTRO Protocol 7): 1 round, 16
    /// bits an S-box online, and 22 bits ahead; one round more at the end of a chain.
    Lut256Additive,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: &'static [Protocol] = &[
        Protocol::Gf8Circuit,
        Protocol::Gf4Circuit,
        Protocol::Lut16,
        Protocol::Lut256,
        Protocol::Lut256Additive,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Gf8Circuit => "gf8-circuit",
            Protocol::Gf4Circuit => "gf4-circuit",
            Protocol::Lut16 => "lut16",
            Protocol::Lut256 => "lut256",
            Protocol::Lut256Additive => "lut256-additive",
        }
    }

    /// The protocol for the key schedule of a cipher that uses this one: a schedule is short and computed
    /// once, and its chain of dependent layers gains nothing from large tables.
    #[must_use]
    pub fn for_key_schedule(self) -> Protocol {
        match self {
            Protocol::Lut256 | Protocol::Lut256Additive => Protocol::Gf4Circuit,
            other => other,
        }
    }

    /// How many rounds a layer of S-boxes takes, in a chain of them.
    #[must_use]
    pub fn rounds(self) -> usize {
        match self {
            Protocol::Gf8Circuit => 3,
            Protocol::Gf4Circuit => 4,
            Protocol::Lut16 => 2,
            Protocol::Lut256 | Protocol::Lut256Additive => 1,
        }
    }

    /// How many blocks go through the cipher at once. More of them pay a round's waiting and a verification's
    /// rounds less often; fewer stay in a processor's cache. With gf4-circuit a message of a step is 64 KiB,
    /// whose cost the arithmetic of the step exceeds, and what is owed to the verification stays below 32
    /// MiB. With lut256 it is the vectors that count: 10 MB of them, at each of three parties that may share
    /// a processor.
    #[must_use]
    pub fn blocks_at_once(self) -> usize {
        match self {
            Protocol::Gf4Circuit => 8192,
            Protocol::Lut256 => 1024,
            _ => 4096,
        }
    }

    /// Whether it consumes one-hot vectors.
    #[must_use]
    pub fn has_vectors(self) -> bool {
        self.vector_bytes() > 0
    }

    /// The memory that the vectors for one S-box of up to 512 lanes take, in bytes.
    pub(crate) fn vector_bytes(self) -> usize {
        let planes = match self {
            Protocol::Gf8Circuit | Protocol::Gf4Circuit => 0,
            Protocol::Lut16 => NIBBLE_PLANES,
            Protocol::Lut256 => BYTE_PLANES,
            Protocol::Lut256Additive => NIBBLES_PLANES,
        };
        2 * planes * Plane::BYTES
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Protocol::ALL.iter().map(|p| p.name()).collect::<Vec<_>>().join(", ");
        Protocol::ALL
            .iter()
            .copied()
            .find(|p| p.name() == name)
            .ok_or_else(|| format!("unknown protocol {name:?}: choose one of {}", known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().parse(), Ok(*protocol));
        }
        assert!("gf5".parse::<Protocol>().is_err_and(|e| e.contains("lut256-additive")));
    }
}
