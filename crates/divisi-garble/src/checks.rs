//! The checks of authenticated garbling, by their ids, beside those of the layers below.

pub use divisi_ot::checks::*;

divisi_core::checks! {
    /// HaAND: the hash is tweaked by session, pair, index and step.
    W12 = "W12",
    /// LaAND: e is broadcast.
    W13 = "W13",
    /// LaAND: all parties commit to their shares of the check of triples, and open them after all
    /// commitments.
    W14 = "W14",
    /// LaAND: the H_i of every triple add up to zero.
    W15 = "W15",
    /// aAND: the buckets come from a coin that is tossed after all triples are fixed.
    W16 = "W16",
    /// aAND: d is opened with its MACs.
    W17 = "W17",
    /// aAND: the bucket size is that of the bound.
    W18 = "W18",
    /// Garbling: the row hash is tweaked by session, gate, row and garbler.
    W19 = "W19",
    /// Inputs: shares of masks are sent to the owner with MACs; the masked input is broadcast.
    W20 = "W20",
    /// Inputs: labels are sent for the broadcast value only.
    W21 = "W21",
    /// Evaluation: every row's share has its MAC.
    W22 = "W22",
    /// Evaluation: no exit inside the loop depends on anything but masked values.
    W23 = "W23",
    /// Outputs: shares of masks are sent with MACs.
    W24 = "W24",
    /// Outputs to others: a receiver accepts only labels that it made itself, as a garbler.
    W25 = "W25",
    /// Preprocessing belongs to one circuit and is used once.
    W26 = "W26",
    /// AND on given masks: d and e are opened with MACs before any table is sent.
    W27 = "W27",
    /// The owner of an input wire alone sends its masked value, and all parties compare it before a label is
    /// sent; shares of an output's mask go to its receivers only.
    W28 = "W28",
    /// Wires with public values are folded, so that no label of such a wire depends on a Delta_i.
    W29 = "W29",
}
