//! What a test knows of a corrupt party, and where its lies are told (feature `testing`).
//!
//! A blind change of a message ([`divisi_net::tamper`]) leaves its sender out of step with its own lie, and
//! the next opening gives it away. The adversary of MAESTRO's functionalities is stronger: F_weakMult lets it
//! choose an additive error of each product (Figure 2) and continue consistently. Such a party needs code of
//! its own inside the protocol, which only the copy of `lab/attacks` has.

pub mod adaptive;
pub mod blackbox;
pub mod compare;
pub mod harness;
pub mod lookups;
pub mod planes;

pub use crate::garbled::stolen::StolenCall;
