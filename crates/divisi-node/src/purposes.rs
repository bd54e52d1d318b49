//! What servers draw from coins.

divisi_core::purposes! {
    /// The IV of a message.
    IV = "node iv", All, Bits(8);
    /// The id of a stored key.
    KEY_ID = "node key id", All, Bits(128);
}
