//! The registry of the ways to compute S-boxes, and their handle for everybody else.

use super::Sbox;
use divisi_field::Plane;
use std::fmt;
use std::str::FromStr;

/// A name, its number in messages, and the file whose [`Sbox`] has that name.
macro_rules! registry {
    ($($(#[doc = $about:literal])* $(#[cfg($when:meta)])? $name:ident = $code:literal in $file:ident;)*) => {
        /// How S-boxes are computed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Protocol {
            $($(#[doc = $about])* $(#[cfg($when)])? $name = $code,)*
        }

        impl Protocol {
            /// Every protocol.
            pub const ALL: &'static [Protocol] = &[$($(#[cfg($when)])? Protocol::$name,)*];

            /// The implementation of the protocol.
            pub(crate) fn sbox(self) -> &'static dyn Sbox {
                match self {
                    $($(#[cfg($when)])? Protocol::$name => &super::$file::$name,)*
                }
            }
        }
    };
}

// A number stands for its protocol in messages of clients: it is never given to another.
registry! {
    /// Inversion as a power in GF(2^8), after Chida et al.: 3 rounds, 32 bits an S-box.
    Gf8Circuit = 0 in gf8_circuit;
    /// Inversion in GF(2^8) through GF(2^4), by powers there (MAESTRO Protocol 3 with a circuit for the small
    /// inverse): 4 rounds, 20 bits an S-box.
    Gf4Circuit = 1 in gf4_circuit;
    /// Inversion in GF(2^8) through GF(2^4), by a lookup there (MAESTRO Protocol 3): 2 rounds, 16 bits an
    /// S-box online, and 11 bits ahead.
    Lut16 = 2 in lut16;
    /// The S-box as a table of 256 (MAESTRO section 3.5.2): 1 round, 8 bits an S-box online, and 247 bits
    /// ahead.
    Lut256 = 3 in lut256;
    /// The S-box as a table of 256, additively shared from layer to layer (MAESTRO Protocol 7): 1 round, 16
    /// bits an S-box online, and 22 bits ahead; one round more at the end of a chain.
    Lut256Additive = 4 in lut256_additive;
    /// For tests.
    #[cfg(test)]
    Toy = 255 in toy;
}

impl Protocol {
    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.sbox().name()
    }

    /// Its number in messages: it does not change from version to version.
    #[must_use]
    pub fn code(self) -> u32 {
        u32::from(self as u8)
    }

    /// The protocol with that number in messages.
    #[must_use]
    pub fn of_code(code: u32) -> Option<Protocol> {
        Protocol::ALL.iter().copied().find(|protocol| protocol.code() == code)
    }

    /// The protocol for the key schedule of a cipher that uses this one: a schedule is short and computed
    /// once, and its chain of dependent layers gains nothing from large tables.
    #[must_use]
    pub fn for_key_schedule(self) -> Protocol {
        if self.sbox().is_for_key_schedules() { self } else { Protocol::Gf4Circuit }
    }

    /// How many rounds a layer of S-boxes takes, in a chain of them.
    #[must_use]
    pub fn rounds(self) -> usize {
        self.sbox().rounds()
    }

    /// How many bits each party sends for an S-box online, in a chain of them.
    #[must_use]
    pub fn bits(self) -> usize {
        self.sbox().bits()
    }

    /// How many blocks go through the cipher at once. More of them pay a round's waiting and a verification's
    /// rounds less often; fewer stay in a processor's cache.
    #[must_use]
    pub fn blocks_at_once(self) -> usize {
        self.sbox().blocks_at_once()
    }

    /// Whether its layers owe products that must be verified, and not openings alone, which are compared.
    #[must_use]
    pub fn owes_products(self) -> bool {
        self.sbox().owes_products()
    }

    /// Whether it consumes one-hot vectors.
    #[must_use]
    pub fn has_vectors(self) -> bool {
        self.sbox().vector_planes() > 0
    }

    /// The memory that the vectors for one S-box of up to 512 lanes take, in bytes.
    pub(crate) fn vector_bytes(self) -> usize {
        2 * self.sbox().vector_planes() * Plane::BYTES
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
    use std::collections::BTreeSet;

    #[test]
    fn names_and_numbers_round_trip() {
        let mut names = BTreeSet::new();
        for protocol in Protocol::ALL {
            assert!(names.insert(protocol.name()));
            assert_eq!(protocol.name().parse(), Ok(*protocol));
            assert_eq!(Protocol::of_code(protocol.code()), Some(*protocol));
        }
        assert!("gf5".parse::<Protocol>().is_err_and(|e| e.contains("lut256-additive")));
        assert_eq!(Protocol::of_code(200), None);
    }
}
