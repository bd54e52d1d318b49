//! What keys, ciphertexts and their decryption draw.

divisi_core::purposes! {
    /// The key of a party's sampler.
    SAMPLER_SEED = "bgv seed", One, Bits(128);
    /// What a sampler makes its numbers of.
    SAMPLER = "bgv sampler", One, Bits(64);
    /// Shares of the key, and the v of encryptions.
    TERNARY = "bgv ternary", One, Ternary;
    /// Errors.
    ERRORS = "bgv errors", One, Centred(10_500);
    /// Floods, in thousandths of their deviation.
    FLOOD = "bgv flood", One, Centred(1_000_000_000);
    /// Polynomials that all parties have in common.
    COMMON = "bgv common", All, Bits(64);
}
