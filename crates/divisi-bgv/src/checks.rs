//! The checks of threshold encryption, by their ids, beside those of the layers below.

pub use divisi_core::checks::*;

divisi_core::checks! {
    /// Mixed mode: every hop adds a fresh encryption of zero, or floods, to both components, even if its
    /// signs change nothing.
    G1 = "G1",
    /// Mixed mode: floods are as wide as the bounds on the noise that they hide demand.
    G2 = "G2",
    /// Mixed mode: the party that refreshes a ciphertext gets masked answers, and an encryption of each mask.
    G3 = "G3",
    /// Mixed mode: every party floods its own partial decryption before it sends it.
    G4 = "G4",
    /// Mixed mode: noise fits the modulus at every level, and the whole modulus fits the ring.
    G5 = "G5",
    /// Mixed mode: a received polynomial has its length, and coefficients below their primes.
    G10 = "G10",
    /// Mixed mode: the partial decryptions of a session are counted, and end at the number for which floods
    /// are wide enough.
    G12 = "G12",
    /// Mixed mode: no public polynomial is used for two messages under one key share.
    G13 = "G13",
}
