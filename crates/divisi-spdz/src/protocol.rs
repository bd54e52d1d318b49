//! The protocols by their names on the command line, and the fields of MACs.

use crate::SpdzProtocol;

/// The number of blocks of AES in a batch. Their tables take most of a party's memory, beside the products
/// for the tables of all blocks.
const BATCH_OF_TABLES: usize = 256;
/// The same for triple DES, whose 384 tables for each block have four words in each entry.
const BATCH_OF_SMALL_TABLES: usize = 160;
/// The same for protocols with products instead of tables: so many blocks that buckets of three are enough
/// for their products.
const BATCH_OF_PRODUCTS: usize = 512;
/// The same for 3DES-Raw, which takes 23,424 products for each block.
const BATCH_OF_POWERS: usize = 16;

/// What a protocol computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Aes,
    TripleDes,
    /// Circuits, for which a stock has products of bits.
    Circuits,
}

impl Task {
    pub fn name(self) -> &'static str {
        match self {
            Task::Aes => "AES",
            Task::TripleDes => "triple DES",
            Task::Circuits => "circuits",
        }
    }
}

/// A protocol by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedProtocol {
    pub name: &'static str,
    /// The task of the protocol.
    pub task: Task,
    /// How S-boxes are computed.
    pub protocol: SpdzProtocol,
    /// Whether the cipher runs over masks first.
    pub tiny: bool,
}

impl NamedProtocol {
    /// The protocol of that name.
    pub fn of(name: &str) -> Option<NamedProtocol> {
        NAMED.into_iter().find(|named| named.name == name || named.shown() == name)
    }

    /// The name on the command line. Stocks and reports have `name`.
    pub fn shown(self) -> &'static str {
        if self.task == Task::Circuits { BIT_PRODUCTS } else { self.name }
    }

    /// The number of blocks of its cipher that go through all phases together.
    pub fn batch(self) -> usize {
        match self.protocol {
            SpdzProtocol::Lookup if self.task == Task::Aes => BATCH_OF_TABLES,
            SpdzProtocol::Lookup => BATCH_OF_SMALL_TABLES,
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition => BATCH_OF_PRODUCTS,
            SpdzProtocol::Raw => BATCH_OF_POWERS,
        }
    }
}

const fn named(name: &'static str, task: Task, protocol: SpdzProtocol, tiny: bool) -> NamedProtocol {
    NamedProtocol { name, task, protocol, tiny }
}

/// The protocol of circuits on the command line: a word for which a sentence has room.
const BIT_PRODUCTS: &str = "bit-products";

/// All protocols. The first one for each task is its default.
pub(crate) const NAMED: [NamedProtocol; 9] = [
    named("aes-lt", Task::Aes, SpdzProtocol::Lookup, false),
    named("aes-tinytable", Task::Aes, SpdzProtocol::Lookup, true),
    named("aes-rp", Task::Aes, SpdzProtocol::RivainProuff, false),
    named("aes-bd", Task::Aes, SpdzProtocol::BitDecomposition, false),
    named("3des-lt", Task::TripleDes, SpdzProtocol::Lookup, false),
    named("3des-tinytable", Task::TripleDes, SpdzProtocol::Lookup, true),
    named("3des-pv", Task::TripleDes, SpdzProtocol::RivainProuff, false),
    named("3des-raw", Task::TripleDes, SpdzProtocol::Raw, false),
    named("and", Task::Circuits, SpdzProtocol::Lookup, false),
];

/// The field of the MACs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MacField {
    /// GF(2^40): that of KOR+17.
    F40,
    /// GF(2^42): that of 3DES-Raw in KOR+17. It holds no bytes.
    F42,
    /// GF(2^48).
    F48,
    /// GF(2^72), for 64 bits of security.
    F72,
}

impl MacField {
    /// All fields, the smallest first.
    pub const ALL: [MacField; 4] = [MacField::F40, MacField::F42, MacField::F48, MacField::F72];

    /// The width of the field in bits.
    pub fn bits(self) -> u32 {
        match self {
            MacField::F40 => 40,
            MacField::F42 => 42,
            MacField::F48 => 48,
            MacField::F72 => 72,
        }
    }
}

/// Evaluates an expression in which `$name` is the type of the field `$field`.
macro_rules! by_field {
    ($field:expr, $name:ident => $body:expr) => {
        match $field {
            $crate::protocol::MacField::F40 => {
                type $name = divisi_field::Gf40;
                $body
            }
            $crate::protocol::MacField::F42 => {
                type $name = divisi_field::Gf42;
                $body
            }
            $crate::protocol::MacField::F48 => {
                type $name = divisi_field::Gf48;
                $body
            }
            $crate::protocol::MacField::F72 => {
                type $name = divisi_field::Gf72;
                $body
            }
        }
    };
}
pub(crate) use by_field;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_found_by_its_whole_name() {
        for named in NAMED {
            assert_eq!(NamedProtocol::of(named.name), Some(named));
            assert_eq!(NamedProtocol::of(named.shown()).map(NamedProtocol::shown), Some(named.shown()));
            for other in [format!("{}x", named.name), named.name[..1].to_owned()] {
                assert_eq!(NamedProtocol::of(&other), None, "{other}");
            }
        }
    }
}
