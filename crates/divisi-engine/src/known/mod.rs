//! Known answers on an engine: messages in the modes of block ciphers, hashes and MACs of many messages, and
//! the same as circuits for engines that only evaluate circuits.
//!
//! | module | what |
//! |---|---|
//! | [`circuits`] | an engine that evaluates circuits gives known answers by its circuits alone |
//! | `drawn` | the circuit of each message |
//! | [`taken`] | messages that a mode does not have, which no engine prepares |
//! | [`groups`] | messages of one cipher and direction together, a lane a block |
//! | [`gcm`], [`one_shot`] | messages in GCM; messages in modes that take them as a whole |
//! | [`hashes`] | hashes and MACs, a lane a message |

pub mod circuits;
mod drawn;
pub mod gcm;
pub mod groups;
pub mod hashes;
pub mod one_shot;
pub mod taken;

pub use drawn::in_the_clear;
