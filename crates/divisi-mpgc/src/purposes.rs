//! What linear garbling draws beside what its layers draw.

divisi_core::purposes! {
    /// The public polynomial of a label.
    POLYNOMIAL = "mpgc polynomial", All, Bits(64);
}
