//! The checks of authenticated garbling, by their ids, beside those of the layers below.

pub use divisi_ot::checks::*;

divisi_core::checks! {
    /// HaAND: the hash is tweaked by session, pair, index and step.
    W12 = "W12",
    /// LaAND: e is broadcast.
    W13 = "W13",
    /// LaAND: the H_i are committed by all, then opened.
    W14 = "W14",
    /// LaAND: the H_i sum to zero in every triple.
    W15 = "W15",
    /// aAND: buckets by a coin that follows all triples.
    W16 = "W16",
    /// aAND: d is opened with its MACs.
    W17 = "W17",
    /// aAND: the bucket size is that of the bound.
    W18 = "W18",
    /// Garbling: the row hash is tweaked by session, gate, row and garbler.
    W19 = "W19",
    /// Inputs: mask shares with MACs to the owner; the masked input is broadcast.
    W20 = "W20",
    /// Inputs: labels for the broadcast value only.
    W21 = "W21",
    /// Evaluation: the MAC of every row share.
    W22 = "W22",
    /// Evaluation: no exit inside the loop depends on anything but masked values.
    W23 = "W23",
    /// Outputs: mask shares with MACs.
    W24 = "W24",
    /// Outputs to others: a garbler accepts its own two labels only.
    W25 = "W25",
    /// Preprocessing belongs to one circuit and is used once.
    W26 = "W26",
    /// AND on given masks: d and e are opened with MACs before any table is sent.
    W27 = "W27",
    /// The owner of an input wire alone sends its masked value, and all parties compare it before a label is
    /// sent; shares of an output's mask go to its receivers only.
    W28 = "W28",
    /// Public wires are folded; no label of one depends on Delta_i.
    W29 = "W29",
}
