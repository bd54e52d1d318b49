//! Each public enum of the libraries is `#[non_exhaustive]`, or stands here with the reason why whoever
//! matches it may rely on its values (CONTRIBUTING, "Public enums").
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The reasons.
const ALL_THERE_IS: &str = "its values are all there can be";
const STANDARD: &str = "a standard has these and no others";
const CONTRACT: &str = "exit codes and programs rely on it";
const NOT_OVERLOOKED: &str = "who matches it must not overlook a new one";
const TYPE: &str = "it has no values: it stands for a type";
const FOR_TESTS: &str = "it is there for tests alone";

/// The enums that a full `match` takes.
const CLOSED: [(&str, &str, &[&str]); 27] = [
    // gates, and where a bit is after a run: whoever evaluates a circuit does all of them
    ("divisi-circuit", NOT_OVERLOOKED, &["Format", "Gate", "GateStep", "LinearGate"]),
    ("divisi-circuit", ALL_THERE_IS, &["BitOrder", "End"]),
    ("divisi-core", ALL_THERE_IS, &["AbortOrRefusal", "Direction"]),
    ("divisi-core", FOR_TESTS, &["Mark", "Operator", "MessageDirection"]),
    ("divisi-garble", FOR_TESTS, &["BitSource", "TripleLie"]),
    // what a call is asked for, each with results of its own
    ("divisi-mixed", NOT_OVERLOOKED, &["Asked"]),
    // whoever looks keys up describes the parameters of it to the peers
    ("divisi-mpgc", NOT_OVERLOOKED, &["LookupMethod"]),
    ("divisi-net", ALL_THERE_IS, &["Pin", "WaitOutcome"]),
    // who a peer is decides what it may do
    ("divisi-net", NOT_OVERLOOKED, &["Peer"]),
    ("divisi-node", CONTRACT, &["ErrorKind"]),
    // a policy that admits clients decides about each kind of request; an operator sees each state
    ("divisi-node", NOT_OVERLOOKED, &["OrderState", "What"]),
    ("divisi-ot", ALL_THERE_IS, &["Base", "Bits"]),
    ("divisi-ot", TYPE, &["Checked", "SemiHonest"]),
    // statements and values of the language of programs: whoever runs one does all of them
    ("divisi-program", NOT_OVERLOOKED, &["Action", "Arg", "Constant", "Entries", "ValueKind"]),
    ("divisi-rep3", ALL_THERE_IS, &["Passes", "Security"]),
    // a comparison that did not end well; vectors of one, two, three factors, each with calls of its own
    ("divisi-rep3", NOT_OVERLOOKED, &["Agreement", "Dimensions", "FactoredOneHots"]),
    ("divisi-rep3", FOR_TESTS, &["Lie", "Weakness"]),
    // a key in a state that somebody does not know must not be used
    ("divisi-store", NOT_OVERLOOKED, &["KeyState"]),
    ("divisi-symmetric", STANDARD, &["KeySize", "Sha2", "Sha3", "Strength", "TagLength"]),
    ("divisi-symmetric", STANDARD, &["OutputLength", "Variant", "WrapForm"]),
    ("divisi-symmetric", ALL_THERE_IS, &["GcmText"]),
    // a text whose tag was wrong has no plaintext
    ("divisi-symmetric", NOT_OVERLOOKED, &["GcmOutcome"]),
    ("divisi-symphony", ALL_THERE_IS, &["OwnedText", "Text"]),
    ("divisi-symphony", NOT_OVERLOOKED, &["Outcome"]),
    ("divisi", STANDARD, &["DesKeys"]),
    ("divisi", ALL_THERE_IS, &["Expected", "Sink", "TextSource", "Ways"]),
    // outputs that contradict each other are no outputs
    ("divisi", NOT_OVERLOOKED, &["Ended"]),
];

/// The public enums of a text, and whether each is marked.
fn enums(text: &str) -> Vec<(String, bool)> {
    let (mut found, mut marked) = (Vec::new(), false);
    for line in text.lines().map(str::trim_start) {
        if let Some(rest) = line.strip_prefix("pub enum ") {
            let name = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((name, marked));
        }
        // attributes and comments stand between the mark and the enum
        marked = line == "#[non_exhaustive]" || marked && (line.starts_with('#') || line.starts_with("//"));
    }
    found
}

fn take(folder: &Path, found: &mut BTreeMap<String, bool>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            take(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            for (name, marked) in enums(&fs::read_to_string(&path).unwrap()) {
                // of two of one name each has to be marked
                *found.entry(name).or_insert(true) &= marked;
            }
        }
    }
}

#[test]
fn each_public_enum_is_open_or_says_why_not() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut wrong, mut all) = (Vec::new(), 0);
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let krate = folder.file_name().unwrap().to_str().unwrap().to_owned();
        // the program's library is for the program
        if !folder.join("src/lib.rs").exists() || krate == "divisi-cli" {
            continue;
        }
        let mut found = BTreeMap::new();
        take(&folder.join("src"), &mut found);
        all += found.len();
        let closed = CLOSED.iter().filter(|(of, ..)| *of == krate).flat_map(|(.., names)| *names);
        let closed: BTreeSet<&str> = closed.copied().collect();
        for (name, marked) in &found {
            match (*marked, closed.contains(name.as_str())) {
                (false, false) => wrong.push(format!("{krate}: {name} is not marked, and has no reason")),
                (true, true) => wrong.push(format!("{krate}: {name} is marked, and has a reason not to be")),
                _ => {}
            }
        }
        let gone = closed.into_iter().filter(|name| !found.contains_key(*name));
        wrong.extend(gone.map(|name| format!("{krate}: there is no {name} any more")));
    }
    assert!(all > 80, "enums are found: {all}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(CLOSED.iter().all(|(_, reason, _)| reason.len() > 10));
}

#[test]
fn marks_are_read_from_the_text() {
    let text = "#[non_exhaustive]\n#[derive(Clone)]\npub enum A {}\n\npub enum B<'a> {\n    X(&'a u8),\n}\n\
                #[derive(Debug)]\n#[non_exhaustive]\n// why\npub enum C {}\nenum D {}\n";
    let found = enums(text);
    assert_eq!(found, [("A".to_owned(), true), ("B".to_owned(), false), ("C".to_owned(), true)]);
}
