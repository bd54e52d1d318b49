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
    Takes,
    Reads,
    Counts,
}

use Act::{Commits, Compares, Counts, Draws, Enters, Hashes, Opens, Reads, Sends, Takes, Tosses};

/// Names of functions, alone or as their first words, by what they do; apart by spaces.
const WORDS: [(Act, &str); 11] = [
    (
        Draws,
        "prg key entropy uniform sample random mask masks flood zero_share pad pads expand expanded \
         stream seed seeds draw drawn fresh salt tweak fill_bytes ternary gaussian binomial rand \
         add_zero add_drawn add_random randomise next_word next_words next_element next_elements \
         element elements errors shuffle",
    ),
    (Sends, "send broadcast exchange shift give tell share reshare pass forward"),
    (Opens, "open reveal reconstruct release"),
    (Tosses, "coin coins toss challenge first_coin coin_ahead"),
    (Commits, "commit decommit"),
    (
        Compares,
        "require compare demand same agree observe check verify matches ensure settle admit is_zero \
         well_formed opened permit permits allow equal ct_eq prove confirm barrier accept accepts fits \
         holds verdict",
    ),
    (
        Hashes,
        "hash digest finalize finalize_xof update derive mix absorb extend_from_slice word put \
         keyed_hash new_keyed component_digest combinations to_compare",
    ),
    (
        Enters,
        "record owe note enter append product products take_over hand_over pay spend poison erase \
         wipe whole overwrite shorten cut copy_from_slice",
    ),
    (Takes, "take_last tail split_off"),
    (Counts, "size passes least_tag"),
    (Reads, "from_le_bytes from_be_bytes from_low_bits from_uniform"),
];

/// What a call of this name does.
pub fn act(name: &str) -> Option<Act> {
    let is =
        |word: &str| name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    WORDS.iter().find(|(_, words)| words.split(' ').any(is)).map(|(act, _)| *act)
}

/// Whoever has one of these in its name is drawn from when something is filled.
const STREAMS: [&str; 10] =
    ["prg", "stream", "source", "reader", "sampler", "own", "expand", "expansion", "xof", "rand"];

/// What counts or names, and is never large.
const COUNTS: [&str; 8] = ["len()", " as ", "number", "count", "index", "step", "strand", ".id"];

/// What a method of this name does, which has other meanings, too: what it is called on tells, and with how
/// many arguments.
pub fn act_on(receiver: &str, name: &str, arguments: usize) -> Option<Act> {
    match (name, arguments) {
        ("words", 1) if !receiver.is_empty() => Some(Draws),
        ("fill", 1) if receiver.is_empty() => Some(Draws),
        // the bits of security that a check has
        ("min", 1) if receiver.contains("rho") => Some(Counts),
        ("bits", 2) if ["source", "rows"].iter().any(|of| receiver.contains(of)) => Some(Draws),
        ("fill" | "bits", 1) if STREAMS.iter().any(|stream| receiver.contains(stream)) => Some(Draws),
        ("open" | "receive", _) if receiver.ends_with("coins") => Some(Tosses),
        ("take" | "pop" | "copy", 1..) => Some(Takes),
        // what is sealed, and what is bound to it
        ("encrypt", 3) => Some(Hashes),
        // counts of a set-up, which others are added to
        ("with", 1) if receiver.ends_with("setup") => None,
        ("bytes" | "list" | "number" | "with" | "with_lists", 1..) => Some(Hashes),
        ("to_le_bytes", 0) if COUNTS.iter().all(|count| !receiver.contains(count)) => Some(Reads),
        ("extend" | "insert" | "push", _) if receiver.starts_with("self.") => Some(Enters),
        // differences of what must be equal
        ("add" | "add_masked", _) if ["wrong", "difference"].iter().any(|of| receiver.ends_with(of)) => {
            Some(Enters)
        }
        _ => None,
    }
}

/// Whether this is of what is called like a draw or a hash, and is none: bounds on noise; how many bytes a
/// key has; circuits that are drawn; numbers of an answer in JSON; and keys of a map, of which nobody keeps a
/// part, though one may be that of before.
pub fn draws_nothing(file: &str, what: &str) -> bool {
    let lies_in = |places: &[&str]| places.iter().any(|place| file.contains(place));
    let is_of = |draws: &[&str]| draws.iter().any(|draw| what.contains(draw));
    let whole = ["leaves out", "does", "takes the value of before", "takes one value"];
    lies_in(&["/parameters/"]) && is_of(&["the draw "])
        || lies_in(&["divisi-gateway/", "/adapter/"]) && is_of(&["the hash number"])
        || lies_in(&["divisi-symmetric/", "divisi-engine/", "/adapter/"])
            && is_of(&["the draw key_bytes", "the draw drawn"])
        || lies_in(&["divisi-gateway/"])
            && is_of(&["the draw key"])
            && !whole.iter().any(|how| what.starts_with(how))
}

/// Methods that say whether something is done: all of them, and none but the first.
pub const DECIDE: [&str; 5] = ["recorded", "records", "owes", "first", "is_of"];

/// Fields that tell one thing from another.
pub const NAMES: [&str; 20] = [
    "unit",
    "row",
    "first",
    "number",
    "index",
    "count",
    "closed",
    "rests_on",
    "opening",
    "session",
    "strand",
    "gate",
    "step",
    "id",
    "context",
    "used",
    "taken",
    "from",
    "public",
    "engine_id",
];

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
            Takes => "taking",
            Reads => "number",
            Counts => "count",
        }
    }
}
