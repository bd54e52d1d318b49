//! What depends on which draw, against the list in `tests/it/nets/masks.txt`: for each purpose and file the
//! steps whose messages are others if a draw is, and nothing else. A step that forgets a mask no longer
//! stands there, although its outputs are right; so it is with a share of zero that nobody adds, and with a
//! coefficient that does not reach a check. The inputs of parties stand there, too, with the steps that carry
//! them.
//!
//! The census of parts makes these runs, under doubt: nobody stops when a check fails. Runs in which a party
//! stops for another reason are left out.

use crate::PartyId;
use crate::draws::DrawPlace;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// With the value `write` the list is written anew.
const VARIABLE: &str = "DIVISI_NETS";
const LIST: &str = "tests/it/nets/masks.txt";
/// What the list calls the inputs of parties.
const INPUTS: &str = "inputs";
/// No line is longer, unless one step is.
const WIDTH: usize = 108;
const HEAD: &str =
    "# Which messages depend on which draw (docs/nets.md): a purpose, the file that draws, and the steps whose
# messages are others if such a draw is, and nothing else. Written by
# DIVISI_NETS=write cargo test --test it nets::draws
";

/// Digests of what each party sent in a run, by strand, step and peer.
pub(super) type Sent = Vec<BTreeMap<(u32, &'static str, PartyId), [u8; 32]>>;

/// The steps whose messages depend on something.
#[derive(Default)]
pub(super) struct Masks(BTreeMap<String, BTreeSet<&'static str>>);

impl Masks {
    /// Adds the steps whose messages differ in two runs, which differ by a draw at this place, or by inputs.
    pub fn add(&mut self, place: Option<DrawPlace>, one: &Sent, other: &Sent) {
        let what = place.map_or_else(
            || INPUTS.to_owned(),
            |place| {
                let file = place.caller.file();
                format!("{}, {}", place.of, file.rsplit_once("/src/").map_or(file, |(_, file)| file))
            },
        );
        for (one, other) in one.iter().zip(other) {
            for key in one.keys().chain(other.keys()).filter(|key| one.get(key) != other.get(key)) {
                self.0.entry(what.clone()).or_default().insert(key.1);
            }
        }
    }

    fn list(&self) -> String {
        let mut list = HEAD.to_owned();
        for (what, steps) in &self.0 {
            let _ = write!(list, "\n{what}");
            let mut column = usize::MAX;
            for step in steps {
                if column.saturating_add(step.len()) > WIDTH {
                    list.push_str("\n   ");
                    column = 3;
                }
                let _ = write!(list, " {step}");
                column += step.len() + 1;
            }
            list.push('\n');
        }
        list
    }

    /// What differs from the list in a package's folder.
    pub fn judge(&self, folder: &str) -> Vec<String> {
        let (made, file) = (self.list(), Path::new(folder).join(LIST));
        if std::env::var_os(VARIABLE).is_some_and(|value| value == "write")
            && let Err(e) = std::fs::write(&file, &made)
        {
            return vec![format!("{}: {e}", file.display())];
        }
        differences(&std::fs::read_to_string(&file).unwrap_or_default(), &made)
    }
}

/// The steps of a list, by what they depend on.
fn read(list: &str) -> BTreeSet<(&str, &str)> {
    let blocks = list.split("\n\n").skip(1).map(|block| block.split_once('\n').unwrap_or((block, "")));
    blocks.flat_map(|(what, steps)| steps.split_whitespace().map(move |step| (what, step))).collect()
}

fn differences(written: &str, made: &str) -> Vec<String> {
    let (written, made) = (read(written), read(made));
    let told = |does: &'static str| {
        move |(what, step): &(&str, &str)| {
            format!("{step} {does} on: {what}; {LIST} says otherwise: if that is right, {VARIABLE}=write")
        }
    };
    let no_more = written.difference(&made).map(told("does not depend"));
    no_more.chain(made.difference(&written).map(told("depends"))).collect()
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
