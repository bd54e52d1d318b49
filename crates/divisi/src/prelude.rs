//! The items that most programs on Divisi need, in one line: `use divisi::prelude::*;`.
//!
//! Items of one engine or of the servers are in the crates below, through [`crate::layers`].

pub use crate::WireValue;
pub use divisi_circuit::{Build, Gates, Program};
pub use divisi_core::{
    Abort, Blocks, Boolean, Bytes, Convert, Direction, Lanes, Misuse, PartyId, Pending, PublicParameters,
    Session, Step, Verified, local, settle, step,
};
pub use divisi_net::{Config, Identity, Listener, Machine, Mesh};
