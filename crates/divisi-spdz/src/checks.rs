//! The checks of masked tables, by their ids, beside those of the layers below.

pub use divisi_ot::checks::*;

divisi_core::checks! {
    /// Openings: the parties compare what they saw opened before they check the MACs.
    K1 = "K1",
    /// Masked tables: each is used once.
    K2 = "K2",
    /// TinyTable: the opened entries and the output masks have MACs.
    K3 = "K3",
    /// The MACs of everything opened are checked before an output and before any branch.
    K4 = "K4",
    /// Random bits are bits, and nobody knows them.
    K5 = "K5",
    /// Each product uses an authenticated triple, which is used once.
    K6 = "K6",
    /// Openings have the bits of their part of the field and no others; the MAC check covers what is
    /// reassembled from them.
    K8 = "K8",
    /// One MAC a value: the field of the MACs has at least 2^40 elements.
    K9 = "K9",
    /// The error of a MAC check is counted: n/|F|, more than the field's size alone suggests.
    K9B = "K9b",
    /// A small field whose products are used is embedded in the field of the MACs by a root of its modulus.
    K10 = "K10",
    /// Products of bits and vectors: the MAC of a masked random combination of all products is checked; its
    /// coin follows all of them.
    K15 = "K15",
    /// Products of bits and vectors: buckets have the size that the bound demands, and are filled by a coin
    /// that follows that combination.
    K16 = "K16",
    /// The MACs of what preprocessing opens are checked before a result leaves.
    K17 = "K17",
    /// Products of MASCOT: the coins that combine them follow all of them.
    K18 = "K18",
    /// Products of MASCOT: the sacrifice is compared with zero; its coin follows both products.
    K19 = "K19",
    /// Openings and sigmas among three or more parties: a fresh sharing of zero is added.
    K20 = "K20",
    /// MAC check: all parties commit to their sigmas and then open them; one check at a time for each alpha.
    K21 = "K21",
    /// TinyTable: every opened index and entry is checked before an output mask opens.
    K22 = "K22",
    /// Stock: all parties have the same one, for this field and these peers; nobody uses values that any
    /// party took.
    K23 = "K23",
    /// Outputs to one party: their receiver checks them.
    K24 = "K24",
}
