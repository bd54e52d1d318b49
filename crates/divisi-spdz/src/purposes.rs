//! What masked tables, MASCOT and the checks of MACs draw.

use crate::checks;

divisi_core::purposes! {
    /// The key of a party's factors of products.
    OWN_SEED = "spdz seed", One, Bits(128);
    /// A party's factors of products.
    OWN = "spdz own", One, Bits(64);
    /// What combines the products of MASCOT: r and r^.
    COMBINE = "spdz combine", All [checks::K18], Bits(64);
    /// The factors s of the sacrifice.
    SACRIFICE = "spdz sacrifice", All [checks::K19], Bits(64);
    /// The coefficients chi of a check of MACs.
    MACS = "spdz macs", All [checks::K4], Bits(64);
    /// Sharings of zero among the parties.
    ZERO = "spdz zero", Pair [checks::K20], Bits(64);
    /// Sharings of zero in messages to clients.
    CLIENT_ZERO = "spdz client zero", Pair, Bits(64);
    /// The matrix that tells whether bytes are zero.
    VANISHING_BYTES = "spdz vanishing bytes", All, Bits(8);
    /// The matrix that tells whether bits are zero.
    VANISHING_BITS = "spdz vanishing bits", All, Bits(8);
    /// A client's challenge, expanded.
    CHALLENGE = "spdz challenge", All, Bits(8);
    /// Bytes whose sum over all parties nobody knows.
    JOINT = "spdz joint", One, Bits(8);
    /// Where the search for the decomposition of a table begins: numbers that everybody knows.
    DECOMPOSITION = "spdz decomposition", Anyone, Bits(8);
}
