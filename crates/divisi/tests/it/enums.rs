//! Each public enum of the libraries is `#[non_exhaustive]`, or stands here with the reason why whoever
//! matches it may rely on its values (CONTRIBUTING, "Public enums").

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

/// The enums that a full `match` takes: crate, reason, and each by the path of its module.
const CLOSED: [(&str, &str, &[&str]); 31] = [
    // gates, and where a bit is after a run: whoever evaluates a circuit does all of them
    ("divisi-circuit", NOT_OVERLOOKED, &["bristol::syntax::Format", "bristol::syntax::Gate"]),
    ("divisi-circuit", NOT_OVERLOOKED, &["slot::LinearGate", "stream::GateStep"]),
    ("divisi-circuit", ALL_THERE_IS, &["bristol::known::BitOrder", "stream::End"]),
    ("divisi-core", ALL_THERE_IS, &["abort::AbortOrRefusal", "security::Security", "traits::Direction"]),
    (
        "divisi-core",
        FOR_TESTS,
        &["taint::Mark", "testing::harness::MessageDirection", "testing::operators::Operator"],
    ),
    ("divisi-garble", FOR_TESTS, &["adversary::TripleLie", "lab::BitSource"]),
    // what a call is asked for, each with results of its own
    ("divisi-mixed", NOT_OVERLOOKED, &["together::Asked"]),
    // whoever looks keys up describes the parameters of it to the peers
    ("divisi-mpgc", NOT_OVERLOOKED, &["lookup::LookupMethod"]),
    ("divisi-net", ALL_THERE_IS, &["config::Pin", "duplex::WaitOutcome"]),
    // who a peer is decides what it may do
    ("divisi-net", NOT_OVERLOOKED, &["connection::Peer"]),
    ("divisi-node", CONTRACT, &["error::ErrorKind"]),
    // a policy that admits clients decides about each kind of request; an operator sees each state
    ("divisi-node", NOT_OVERLOOKED, &["admit::What", "server::operators::OrderState"]),
    ("divisi-ot", ALL_THERE_IS, &["abit::produce::Bits", "setup::Base"]),
    ("divisi-ot", TYPE, &["pads::Checked", "pads::SemiHonest"]),
    // statements and values of the language of programs: whoever runs one does all of them
    ("divisi-program", NOT_OVERLOOKED, &["program::Action", "program::Arg", "program::Constant"]),
    ("divisi-program", NOT_OVERLOOKED, &["plain::Entries", "program::ValueKind"]),
    ("divisi-rep3", ALL_THERE_IS, &["passes::Passes"]),
    // a comparison that did not end well; vectors of one, two, three factors, each with calls of its own
    ("divisi-rep3", NOT_OVERLOOKED, &["input::Agreement"]),
    ("divisi-rep3", NOT_OVERLOOKED, &["ohverture::dimensions::Dimensions"]),
    ("divisi-rep3", NOT_OVERLOOKED, &["ohverture::lookups::FactoredOneHots"]),
    // a key in a state that somebody does not know must not be used
    ("divisi-store", NOT_OVERLOOKED, &["key::KeyState"]),
    ("divisi-symmetric", STANDARD, &["aes::KeySize", "sha2::Sha2", "sha3::Sha3", "algorithm::Strength"]),
    ("divisi-symmetric", STANDARD, &["mac::kmac::OutputLength", "mode::gcm::limits::TagLength"]),
    ("divisi-symmetric", STANDARD, &["mode::whole::stealing::Variant", "mode::whole::wrap::WrapForm"]),
    ("divisi-symmetric", ALL_THERE_IS, &["mode::gcm::batch::GcmText"]),
    // a text whose tag was wrong has no plaintext
    ("divisi-symmetric", NOT_OVERLOOKED, &["mode::gcm::batch::GcmOutcome", "mode::gcm::many::Outcome"]),
    ("divisi-symphony", ALL_THERE_IS, &["many::OwnedText", "short::Text"]),
    ("divisi", STANDARD, &["engine::job::cipher::DesKeys"]),
    ("divisi", ALL_THERE_IS, &["file::Sink", "file::TextSource"]),
    ("divisi", ALL_THERE_IS, &["kat::vector::Expected", "kat::vector::Ways"]),
    // outputs that contradict each other are no outputs
    ("divisi", NOT_OVERLOOKED, &["engine::together::Ended"]),
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

/// The public enums of a folder of modules, whose path is `module`, each by its own path.
fn take(folder: &Path, module: &str, found: &mut BTreeMap<String, bool>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let inside = match name {
            "lib" | "mod" => module.to_owned(),
            name => format!("{module}{name}::"),
        };
        if path.is_dir() {
            take(&path, &inside, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            for (name, marked) in enums(&fs::read_to_string(&path).unwrap()) {
                let known = found.insert(format!("{inside}{name}"), marked);
                assert!(known.is_none(), "{inside} has two public enums {name}: one needs a file of its own");
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
        take(&folder.join("src"), "", &mut found);
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

#[test]
fn two_enums_of_one_name_are_two() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    fs::write(folder.path().join("lib.rs"), "pub enum Way {}\n").unwrap();
    fs::write(folder.path().join("a/mod.rs"), "#[non_exhaustive]\npub enum Way {}\n").unwrap();
    fs::write(folder.path().join("a/b.rs"), "pub enum Way {}\n").unwrap();
    let mut found = BTreeMap::new();
    take(folder.path(), "", &mut found);
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        [("Way".to_owned(), false), ("a::Way".to_owned(), true), ("a::b::Way".to_owned(), false),]
    );
}
