//! What most programs on Divisi need, in one line: `use divisi::prelude::*;`.
//!
//! What belongs to one engine or to the servers is in the crates below, by way of [`crate::layers`].

pub use crate::WireValue;
pub use divisi_circuit::{Build, Gates, Program};
pub use divisi_core::{
    Abort, Blocks, Boolean, Bytes, Convert, Direction, Lanes, PartyId, Pending, PublicParameters, Session,
    Step, Verified, local, settle, step,
};
pub use divisi_net::{Config, Identity, Listener, Machine, Mesh};
