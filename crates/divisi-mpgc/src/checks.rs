//! The checks of linear garbling, by their ids, beside those of the layers below.

pub use divisi_mixed::checks::*;

divisi_core::checks! {
    /// Linear garbling: a label is used in one row, so that no public polynomial masks two messages under one
    /// key.
    G8 = "G8",
    /// Linear garbling: a row is the sum of exactly one contribution of every party.
    G9 = "G9",
}
