//! The checks of oblivious transfer, by their ids, beside those of the layers below.

pub use divisi_core::checks::*;

divisi_core::checks! {
    /// A base OT message is the canonical encoding of a group element, which is neither the neutral element
    /// nor this party's own element sent back.
    O1 = "O1",
    /// The all-but-one trees of a pair are what their maker committed to.
    O2 = "O2",
    /// OT extension: the column-wise check of SoftSpokenOT, and the public lowest bit of each Delta.
    W1 = "W1",
    /// Authenticated bits: one sacrificed bit for each equation, coefficients (R | I).
    W2 = "W2",
    /// Authenticated bits: the coin follows the corrections and is fresh for each batch.
    W3 = "W3",
    /// Authenticated bits: the checked sums are broadcast.
    W4 = "W4",
    /// Authenticated bits: the MACs of the checked sums under every Delta.
    W5 = "W5",
    /// Authenticated bits: the sacrificed bits are dropped.
    W6 = "W6",
    /// Consistency of Delta: commitments for each of the rho sacrificed bits are broadcast.
    W7 = "W7",
    /// Consistency of Delta: nothing is opened before all commitments are received.
    W8 = "W8",
    /// Consistency of Delta: exactly one of the two key sums is opened.
    W9 = "W9",
    /// Consistency of Delta: the opened key sum is the sum of the MACs, and each opened bit has its MAC.
    W10 = "W10",
    /// Consistency of Delta: rho bits, dropped afterwards.
    W11 = "W11",
    /// Rows over a field: one relation over all columns of a row, narrow or wide; X is broadcast.
    K11 = "K11",
    /// Rows over a field: one Delta_i towards all peers, on the columns of MACs.
    K12 = "K12",
    /// Products: pads and MAC of a bit are columns of one row.
    K13 = "K13",
    /// Pads and base OTs by halves come from the 128 columns of Delta', never from the few of Delta_i.
    K14 = "K14",
    /// Semi-honest correlations: rows of their own type, no tweak twice, no pad for two payloads.
    G14 = "G14",
}
