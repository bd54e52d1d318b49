//! What garbling draws.

use crate::checks;

divisi_core::purposes! {
    /// The key of a party's labels and other fresh values.
    FRESH_SEED = "garble seed", One, Bits(128);
    /// A party's labels and other fresh values.
    FRESH = "garble fresh", One, Bits(128);
    /// The labels of results of ANDs in the paper's form, made of fresh values.
    LABELS = "garble labels of results", One, Bits(128);
    /// The key of the bits s of HaAND.
    HAAND_SEED = "garble seed of haand", One, Bits(128);
    /// The bits s of HaAND, each the lowest of a byte.
    HAAND = "garble haand", One, Bits(8);
    /// A party's part of the factor of the zero check.
    FACTOR = "garble factor", One [checks::W15], Bits(128);
    /// What a coin gives for each of its uses.
    OF_COIN = "garble coin", All, Bits(128);
    /// The coefficients of triples in the zero check.
    COEFFICIENTS = "garble coefficients", All [checks::W15], Bits(128);
}
