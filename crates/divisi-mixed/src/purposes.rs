//! What programs of bits and numbers draw. The names of what pairs draw are those of its derivation.

divisi_core::purposes! {
    /// The key of a party's own randomness.
    OWN_SEED = "mixed seed", One, Bits(128);
    /// A party's own randomness.
    OWN = "mixed own", One, Bits(64);
    /// Masks of inputs of the party of a pair that has the lower number.
    INPUTS_OF_LOWER = "inputs of the lower", Pair, Bits(64);
    /// Masks of inputs of the party of a pair that has the higher number.
    INPUTS_OF_HIGHER = "inputs of the higher", Pair, Bits(64);
}
