//! The crates below this one, so that a program needs a single dependency.
//!
//! | engine or layer | what |
//! |---|---|
//! | [`rep3`], [`symphony`] | three parties, one of them possibly corrupt; AES, hashes, MACs and circuits among them |
//! | [`garble`], [`ot`] | any circuit among 2 to 128 parties, all but one of them possibly corrupt; the oblivious transfers of its set-up |
//! | [`spdz`] | AES, triple DES and circuits among parties that trust nobody, by masked tables |
//! | [`mixed`], [`bgv`], [`program`] | numbers, bits and programs among many semi-honest parties; the encryption of numbers (threshold BGV) |
//! | [`mpgc`] | garbled circuits among semi-honest parties: for the rows of a gate a party sends the same number of bytes, however many parties there are |
//! | [`node`] | client and server of the three-party service |
//! | [`symmetric`] | ciphers, modes, hashes and MACs, written once over the engine traits |
//! | [`net`], [`core`](mod@core) | links between machines; sessions, checks, verified values |
//! | [`circuits`], [`field`](mod@field) | gates, programs, Bristol Fashion; fields and their kernels |
//! | [`store`] | sealed files of keys and of preprocessing |

pub use divisi_bgv as bgv;
pub use divisi_circuit as circuits;
pub use divisi_core as core;
pub use divisi_field as field;
pub use divisi_garble as garble;
pub use divisi_mixed as mixed;
pub use divisi_mpgc as mpgc;
pub use divisi_net as net;
pub use divisi_node as node;
pub use divisi_ot as ot;
pub use divisi_program as program;
pub use divisi_rep3 as rep3;
pub use divisi_spdz as spdz;
pub use divisi_store as store;
pub use divisi_symmetric as symmetric;
pub use divisi_symphony as symphony;
