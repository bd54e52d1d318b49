//! How members of jobs are sent that other crates define, or that have a shorter form.

use super::table::UserTable;
use divisi_core::Direction;
use divisi_symmetric::algorithm::Settings as Use;
use divisi_symmetric::gates::Adder;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The adder that was sent.
pub fn adder(low_depth: bool) -> Adder {
    if low_depth { Adder::LowDepth } else { Adder::FewestAnds }
}

/// A direction as it is sent: whether it is that of decryption.
pub mod is_decryption {
    use super::*;

    pub fn serialize<S: Serializer>(direction: &Direction, to: S) -> Result<S::Ok, S::Error> {
        (*direction == Direction::Decrypt).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Direction, D::Error> {
        Ok(if bool::deserialize(from)? { Direction::Decrypt } else { Direction::Encrypt })
    }
}

/// An algorithm as it is sent: its name, and whether its adder has low depth. No other setting is sent.
pub mod name_and_adder {
    use super::*;

    pub fn serialize<S: Serializer>(using: &Use, to: S) -> Result<S::Ok, S::Error> {
        if *using != (Use { adder: using.adder, ..Use::new(using.algorithm) }) {
            return Err(S::Error::custom("an algorithm with settings that are not sent"));
        }
        (using.algorithm.name(), using.adder == Adder::LowDepth).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Use, D::Error> {
        let (name, low_depth) = <(String, bool)>::deserialize(from)?;
        let algorithm = name.parse().map_err(D::Error::custom)?;
        Ok(Use { adder: adder(low_depth), ..Use::new(algorithm) })
    }
}

/// A user's table as it is sent: its entries; none for a table of bytes.
pub mod entries {
    use super::*;

    pub fn serialize<S: Serializer>(table: &Option<Arc<UserTable>>, to: S) -> Result<S::Ok, S::Error> {
        table.as_ref().map_or(&[][..], |table| table.entries()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<UserTable>>, D::Error> {
        let entries = Vec::<u16>::deserialize(from)?;
        if entries.is_empty() {
            return Ok(None);
        }
        UserTable::new(entries).map(|table| Some(Arc::new(table))).map_err(D::Error::custom)
    }
}
