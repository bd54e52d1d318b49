//! The crates below this one, so that a program needs a single dependency.
//!
//! | engine or layer | what |
//! |---|---|
//! | [`rep3`], [`symphony`] | three parties, one of them possibly corrupt; AES, hashes, MACs and circuits among them |
//! | [`garble`], [`ot`] | any circuit among 2 to 128 parties, all but one of them possibly corrupt; its set-up |
//! | [`node`] | client and server of the three-party service |
//! | [`symmetric`] | ciphers, modes, hashes and MACs, written once over the engine traits |
//! | [`net`], [`core`](mod@core) | links between machines; sessions, checks, verified values |
//! | [`circuits`] | gates, programs, Bristol Fashion |

pub use divisi_circuit as circuits;
pub use divisi_core as core;
pub use divisi_garble as garble;
pub use divisi_net as net;
pub use divisi_node as node;
pub use divisi_ot as ot;
pub use divisi_rep3 as rep3;
pub use divisi_symmetric as symmetric;
pub use divisi_symphony as symphony;
