//! What a call does, by its name.

/// What a call does that a weakening is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Draws,
    Sends,
    Opens,
    Tosses,
    Commits,
    Compares,
    Hashes,
    Enters,
}

use Act::{Commits, Compares, Draws, Enters, Hashes, Opens, Sends, Tosses};

/// Names of functions, alone or as their first word.
const WORDS: [(Act, &[&str]); 8] = [
    (
        Draws,
        &[
            "prg",
            "key",
            "entropy",
            "uniform",
            "sample",
            "random",
            "mask",
            "masks",
            "flood",
            "zero_share",
            "pad",
            "pads",
            "expand",
            "stream",
            "seed",
            "seeds",
            "draw",
            "fresh",
            "salt",
            "tweak",
            "fill_bytes",
            "ternary",
            "gaussian",
            "binomial",
        ],
    ),
    (
        Sends,
        &["send", "broadcast", "exchange", "shift", "give", "tell", "share", "reshare", "pass", "forward"],
    ),
    (Opens, &["open", "reveal", "reconstruct", "release"]),
    (Tosses, &["coin", "coins", "toss", "challenge"]),
    (Commits, &["commit", "decommit"]),
    (
        Compares,
        &[
            "require",
            "compare",
            "demand",
            "same",
            "agree",
            "observe",
            "check",
            "verify",
            "matches",
            "ensure",
            "settle",
            "admit",
            "is_zero",
            "well_formed",
            "opened",
            "permit",
            "allow",
            "equal",
            "ct_eq",
            "prove",
        ],
    ),
    (Hashes, &["hash", "digest", "finalize", "finalize_xof", "update", "derive", "mix", "absorb"]),
    (
        Enters,
        &[
            "record",
            "owe",
            "note",
            "enter",
            "append",
            "product",
            "products",
            "take_over",
            "hand_over",
            "zeroize",
            "erase",
            "wipe",
        ],
    ),
];

/// What a call of this name does.
pub fn act(name: &str) -> Option<Act> {
    let is =
        |word: &str| name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    WORDS.iter().find(|(_, words)| words.iter().any(|word| is(word))).map(|(act, _)| *act)
}

impl Act {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Draws => "draw",
            Sends => "send",
            Opens => "opening",
            Tosses => "toss",
            Commits => "commitment",
            Compares => "comparison",
            Hashes => "hash",
            Enters => "entry",
        }
    }
}
