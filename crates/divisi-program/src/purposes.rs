//! What programs draw, and what is drawn for examples. The name of what pairs draw is that of its derivation.

divisi_core::purposes! {
    /// Masks of inputs.
    INPUT = "program.input", Pair, Bits(64);
    /// Inputs of an application for which the user has none.
    EXAMPLES = "program examples", One, Bits(64);
    /// Shares of the inputs of operations that are measured.
    SHARES = "program shares", One, Bits(64);
}
