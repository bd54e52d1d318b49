//! What oblivious transfer and all above it draw.

use crate::checks;

divisi_core::purposes! {
    /// The key of a party's random bits.
    BITS_SEED = "ot seed of bits", One, Bits(128);
    /// A party's random bits.
    BITS = "ot bits", One, Bits(128);
    /// Delta of a set-up for labels.
    DELTA = "ot delta", One [checks::W1], OddOrEven;
    /// Delta of a set-up over a field: as many bits of it as the field has.
    DELTA_OF_FIELD = "ot delta of a field", One, Bits(8);
    /// Delta', the key of pads.
    DELTA_OF_PADS = "ot delta of pads", One, Bits(128);
    /// The sender's scalar of base OTs.
    BASE_SENDER = "ot base sender", One, Bits(512);
    /// The key of what a receiver of base OTs draws.
    BASE_RECEIVER_SEED = "ot base receiver's seed", One, Bits(256);
    /// A receiver's choices, then its scalars.
    BASE_RECEIVER = "ot base receiver", One, Bits(128);
    /// The group element whose logarithm nobody knows.
    BASE_ELEMENT = "ot base element", Pair, Bits(512);
    /// What hides the keys of base OTs.
    BASE_PAD = "ot base pad", Pair, Bits(128);
    /// Both keys k_0 and k_1 of each base OT, at its sender.
    BASE_KEYS = "ot base keys", One, Bits(128);
    /// The keys of the permutations of trees.
    PERMUTATIONS = "ot permutations", Pair, Bits(128);
    /// The roots of trees.
    ROOTS = "ot roots", One, Bits(128);
    /// The key of a session's hash.
    HASH_KEY = "ot hash", All, Bits(128);
    /// The key of the hash of a name.
    NAMED_HASH_KEY = "ot hash of a name", All, Bits(128);
    /// What hides a long message of a correlation: one of the two keys of a transfer, expanded.
    LONG_PAD = "ot long pad", Pair, Bits(64);
    /// The order of what goes into buckets.
    SHUFFLE = "ot shuffle", All, Bits(64);
}
