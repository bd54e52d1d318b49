//! The checks of programs of numbers and bits, by their ids, beside those of the layers below.

pub use divisi_bgv::checks::*;
pub use divisi_ot::checks::*;

divisi_core::checks! {
    /// Mixed mode: of a candidate mask of A2B only d = a b c is opened, and a rejected candidate is dropped
    /// whole.
    G6 = "G6",
    /// Mixed mode: random bits, masked tables and triples are used once.
    G7 = "G7",
    /// Mixed mode: shares of an output go to its receivers and to nobody else.
    G11 = "G11",
}
