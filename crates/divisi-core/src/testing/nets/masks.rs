//! What depends on which draw, against the list in `tests/it/nets/masks.txt`: for each purpose and file the
//! steps whose messages are others if a draw is, and nothing else. A step that forgets a mask no longer
//! stands there, although its outputs are right; so it is with a share of zero that nobody adds, and with a
//! coefficient that does not reach a check. The inputs of parties stand there, too, with the steps that carry
//! them.
//!
//! The census of parts makes these runs, under doubt: nobody stops when a check fails. Runs in which a party
//! stops for another reason are left out.

use super::lists::{self, VARIABLE};
use super::parts::Happened;
use crate::PartyId;
use crate::draws::DrawPlace;
use std::collections::{BTreeMap, BTreeSet};

const LIST: &str = "tests/it/nets/masks.txt";
/// What the list calls the inputs of parties.
const INPUTS: &str = "inputs";
/// The head of the steps of which some message depends on inputs and on no draw.
const BARE: &str = "inputs and no draw";
const HEAD: &str =
    "# Which messages depend on which draw (docs/nets.md): a purpose, the file that draws, and the steps whose
# messages are others if such a draw is, and nothing else. `places:N` says that N lines there draw, `low:N`
# that N draws are used, but not the highest bit of their last part, `uneven:N` that at N lines other messages
# depend on the first part of a draw than on its last part. Messages that depend on inputs and on no draw hide
# nothing. Written by
# DIVISI_NETS=write cargo test --test it nets::draws
";

/// Digests of what each party sent in a run, by strand, step and peer.
pub(super) type Sent = Vec<BTreeMap<(u32, &'static str, PartyId), [u8; 32]>>;

/// A party, and the strand, step and peer of what it sends.
pub(super) type Message = (usize, (u32, &'static str, PartyId));

/// What differs in two runs; nothing if a party stopped.
pub(super) fn changed(one: &Happened, other: &Happened) -> Vec<Message> {
    if other.ends.iter().any(|(end, _)| end.is_err()) {
        return Vec::new();
    }
    let each = one.sent.iter().zip(&other.sent).enumerate();
    let differ = each.flat_map(|(party, (one, other))| {
        let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
        keys.into_iter().filter(|key| one.get(key) != other.get(key)).map(move |key| (party, *key))
    });
    differ.collect()
}

/// How a list begins to tell the number of draws of which the highest bit is not used.
const LOW: &str = "low:";

/// How it begins to tell the number of places that draw, if there are several.
const PLACES: &str = "places:";

/// How it begins to tell the number of places at which values are drawn whose parts serve several purposes.
const UNEVEN: &str = "uneven:";

/// The steps whose messages depend on something.
#[derive(Default)]
pub(super) struct Masks {
    steps: BTreeMap<String, BTreeSet<&'static str>>,
    /// The places that draw.
    places: BTreeMap<String, BTreeSet<String>>,
    /// The number of draws of which the highest bit is not used.
    low: BTreeMap<String, usize>,
    /// The lines at which other messages depend on the first part of a draw than on its last part.
    uneven: BTreeMap<String, BTreeSet<String>>,
}

/// What a list calls a place.
fn name(place: DrawPlace) -> String {
    let file = place.caller.file();
    format!("{}, {}", place.of, file.rsplit_once("/src/").map_or(file, |(_, file)| file))
}

impl Masks {
    /// Adds the steps whose messages differ in two runs, which differ by a draw at this place, or by inputs.
    pub fn add(&mut self, place: Option<DrawPlace>, one: &Happened, other: &Happened) {
        let what = place.map_or_else(|| INPUTS.to_owned(), name);
        for (_, (_, step, _)) in changed(one, other) {
            self.steps.entry(what.clone()).or_default().insert(step);
        }
    }

    /// Adds a place at which other messages depend on the first part of a draw than on its last part.
    pub fn add_uneven(&mut self, place: DrawPlace) {
        self.uneven.entry(name(place)).or_default().insert(place.caller.to_string());
    }

    /// Adds steps of which a message depends on inputs and on no draw.
    pub fn add_bare(&mut self, messages: Vec<Message>) {
        for (_, (_, step, _)) in messages {
            self.steps.entry(BARE.to_owned()).or_default().insert(step);
        }
    }

    /// Adds a place that draws.
    pub fn add_place(&mut self, place: DrawPlace) {
        self.places.entry(name(place)).or_default().insert(place.caller.to_string());
    }

    /// Adds a draw of which the highest bit is not used, but others are.
    pub fn add_low(&mut self, place: DrawPlace) {
        *self.low.entry(name(place)).or_default() += 1;
    }

    fn list(&self) -> String {
        let mut list = HEAD.to_owned();
        let places: BTreeSet<&String> = self.steps.keys().chain(self.low.keys()).collect();
        for what in places {
            let several = self.places.get(what).map(BTreeSet::len).filter(|count| *count > 1);
            let uneven = self.uneven.get(what).map(BTreeSet::len);
            let counts = [(PLACES, several), (LOW, self.low.get(what).copied()), (UNEVEN, uneven)];
            let counts = counts.iter().filter_map(|(of, count)| count.map(|count| format!("{of}{count}")));
            let steps = self.steps.get(what).into_iter().flatten().map(|step| (*step).to_owned());
            lists::block(&mut list, what, &counts.chain(steps).collect::<Vec<_>>(), "");
        }
        list
    }

    /// What differs from the list in a package's folder.
    pub fn judge(&self, folder: &str) -> Vec<String> {
        lists::judge(folder, LIST, &self.list(), differences)
    }
}

/// The steps of a list, by what they depend on.
fn read(list: &str) -> BTreeSet<(&str, &str)> {
    let blocks = list.split("\n\n").skip(1).map(|block| block.split_once('\n').unwrap_or((block, "")));
    blocks.flat_map(|(what, steps)| steps.split_whitespace().map(move |step| (what, step))).collect()
}

fn differences(written: &str, made: &str) -> Vec<String> {
    let (written, made) = (read(written), read(made));
    let told = |found: bool| {
        move |(what, step): &(&str, &str)| {
            let verb = |yes: &'static str, no: &'static str| if found { yes } else { no };
            let says = if let Some(count) = step.strip_prefix(PLACES) {
                format!("{} {count} places: {what}", verb("it is drawn at", "it is not drawn at"))
            } else if let Some(count) = step.strip_prefix(LOW) {
                format!("{count} draws {} their highest bit: {what}", verb("do not use", "do not leave out"))
            } else if let Some(count) = step.strip_prefix(UNEVEN) {
                let verb = verb("other", "not other");
                format!("{verb} messages depend on the last part than on the first, {count} lines: {what}")
            } else {
                format!("{step} {} on: {what}", verb("depends", "does not depend"))
            };
            format!("{says}; {LIST} says otherwise: if that is right, {VARIABLE}=write")
        }
    };
    let no_more = written.difference(&made).map(told(false));
    no_more.chain(made.difference(&written).map(told(true))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let list = |steps: &str| format!("{HEAD}\na mask, a/b.rs\n    {steps}\n");
        assert_eq!(differences(&list("x::y/give x::y/take"), &list("x::y/take\n    x::y/give")), [""; 0]);
        let found = differences(&list("x::y/give x::y/take"), &list("x::y/give"));
        let [one] = &found[..] else { panic!("{found:?}") };
        assert!(one.starts_with("x::y/take does not depend on: a mask, a/b.rs;"), "{one}");
        let found = differences(HEAD, &list("x::y/give"));
        assert!(matches!(&found[..], [one] if one.starts_with("x::y/give depends on: a mask")), "{found:?}");
    }
}
