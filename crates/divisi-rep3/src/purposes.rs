//! What the three parties draw. The names of what pairs draw are those of its derivation.

use crate::checks;

divisi_core::purposes! {
    /// Sharings of zero.
    ZERO = "rep3 F_zero", Pair [checks::A3], Bits(64);
    /// Components of random values.
    RAND = "rep3 F_rand", Pair [checks::A3], Bits(8);
    /// Components of coins.
    COIN = "rep3 F_coin", Pair [checks::A3], Bits(128);
    /// Components of inputs, and the key under which holders compare them.
    INPUT = "rep3 input", Pair [checks::A24], Bits(8);
    /// Components of keys that are stored, and the key that gives them.
    KEPT = "rep3 kept", Pair, Bits(8);
    /// The coefficients of a verification.
    COEFFICIENTS = "rep3 coefficients", All [checks::A8], Bits(64);
    /// Key of the labels, Delta and salt of a call.
    GARBLED_SEED = "rep3 garbled seed", Pair, Bits(128);
    /// Delta of a call.
    GARBLED_DELTA = "rep3 garbled delta", Pair, OddOrEven;
    /// Labels of a call.
    GARBLED_LABELS = "rep3 garbled labels", Pair, Bits(64);
    /// Key of the bits of r of a call.
    GARBLED_MASK = "rep3 garbled mask", Pair, Bits(128);
    /// The bits of r of a call.
    GARBLED_BITS = "rep3 garbled bits", Pair, Bits(64);
}
