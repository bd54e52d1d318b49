//! What modes and MACs among three parties draw.

divisi_core::purposes! {
    /// Nonces of messages.
    NONCES = "symphony nonces", All, Bits(96);
    /// Two of the three components of an input of a party.
    COMPONENTS = "symphony components", One, Bits(8);
}
