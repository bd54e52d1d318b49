//! What every session draws, whatever protocol it runs.

use crate::checks;

crate::purposes! {
    /// A party's part of the id of a session, which it tells all others.
    NONCE = "session nonce", One [checks::M0_5], Bits(256);
    /// A party's part of the key of a pair, which it tells the other of the two.
    CONTRIBUTION = "session contribution", One [checks::M0_1], Bits(256);
    /// The last link of a chain of coins.
    LINK = "coin link", One [checks::M0_2], Bits(256);
    /// What an opened link adds to a coin.
    SHARE_OF_COIN = "coin share", All [checks::M0_2], Bits(128);
    /// A coin.
    COIN = "coin", All [checks::M0_2], Bits(128);
    /// What hides the payload of a commitment.
    COMMITMENT = "commitment nonce", One, Bits(256);
}
